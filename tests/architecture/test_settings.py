"""Every setting is documented, read, checked, and shown without its secrets."""

import ast
import json
import math
import re
from io import StringIO
from pathlib import Path

import pytest
from dotenv import dotenv_values
from pydantic import SecretStr

import scrapersky
from scrapersky.api.settings_catalog import MASK, every_setting, shown
from scrapersky.bootstrap import read_settings
from scrapersky.cli.printing import settings_pages
from scrapersky.core.errors import BadSetting
from scrapersky.core.settings import Environment, Settings, load
from scrapersky.engine.tuning import Tuning
from scrapersky.pipeline import build_pipeline
from tests.architecture.setting_effects import EFFECTS
from tests.cli.conftest import Command, command

__all__ = ["command"]  # a fixture

ROOT = Path(__file__).parents[2]
SOURCES = Path(scrapersky.__file__).parent
LINE = build_pipeline({})
DEFAULTS = every_setting(Environment({}, None), LINE)

# The seeds' names and defaults: interval in minutes, batch, instances.
SEEDS = {
    "DEEP_SCAN_SCHEDULER_": (5, 10, 1),
    "DOMAIN_EXTRACTION_SCHEDULER_": (2, 20, 1),
    "DOMAIN_SCHEDULER_": (1, 50, 3),
    "DOMAIN_SITEMAP_SCHEDULER_": (1, 10, 1),
    "SITEMAP_IMPORT_SCHEDULER_": (1, 20, 1),
    "PAGE_CURATION_SCHEDULER_": (1, 10, 1),
}


def read_from(owner: str, *skipped: str) -> set[str]:
    """What is read in the sources as `….<something called owner>.NAME`."""
    found: set[str] = set()
    for path in SOURCES.rglob("*.py"):
        if path.relative_to(SOURCES).as_posix() in skipped:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and owner in last_name(node.value):
                found.add(node.attr)
    return found


def last_name(node: ast.expr) -> str:
    """`self._tuning` is called _tuning, `tunings[name]` is called tunings."""
    match node:
        case ast.Subscript():
            return last_name(node.value)
        case ast.Attribute():
            return node.attr
        case ast.Name():
            return node.id
        case _:
            return ""


# -- documented --------------------------------------------------------------------------------------------------------


def test_env_example_is_current() -> None:
    """If not: `scrapersky settings --env-example > .env.example`."""
    assert (ROOT / ".env.example").read_text() == settings_pages.env_example(DEFAULTS)


def test_the_page_of_settings_is_current() -> None:
    """If not: `scrapersky settings --markdown > docs/settings.md`."""
    assert (ROOT / "docs" / "settings.md").read_text() == settings_pages.markdown(DEFAULTS)


def test_every_setting_is_on_both_pages_with_a_description() -> None:
    page, example = (ROOT / "docs" / "settings.md").read_text(), (ROOT / ".env.example").read_text()
    assert [setting.name for setting in DEFAULTS if not setting.description] == []
    assert [setting.name for setting in DEFAULTS if f"| `{setting.name}` |" not in page] == []
    assert [each.name for each in DEFAULTS if f"\n#{each.name}={shown(each.default)}\n" not in example] == []


def test_env_example_uncommented_is_what_is_there_by_itself() -> None:
    text = re.sub(r"^#([A-Z_]+=)", r"\1", (ROOT / ".env.example").read_text(), flags=re.MULTILINE)
    variables = {name: value or "" for name, value in dotenv_values(stream=StringIO(text)).items()}
    assert set(variables) == {setting.name for setting in DEFAULTS}
    assert read_settings(Environment(variables, None), LINE) == read_settings(Environment({}, None), LINE)


def test_the_pages_know_nothing_of_this_machine() -> None:
    for page in (".env.example", "docs/settings.md"):
        assert str(Path.home()) not in (ROOT / page).read_text()


@pytest.mark.parametrize("prefix", SEEDS)
def test_the_seeds_names_have_the_seeds_defaults(prefix: str) -> None:
    default = {setting.name: setting.default for setting in DEFAULTS}
    parts = ("INTERVAL_MINUTES", "BATCH_SIZE", "MAX_INSTANCES")
    assert tuple(default[prefix + part] for part in parts) == SEEDS[prefix]


# -- read --------------------------------------------------------------------------------------------------------------


def test_every_setting_of_the_process_is_read_by_code() -> None:
    assert set(Settings.model_fields) - read_from("settings", "core/settings.py") == set()


def test_every_setting_of_a_workflow_is_read_by_code() -> None:
    # Two properties of a tuning stand for the fields they are made from.
    made_from = {"interval": {"interval_minutes", "interval_seconds"}, "max_batch": {"max_batch_size"}}
    read = read_from("tuning", "engine/tuning.py")
    read |= {field for name in read & made_from.keys() for field in made_from[name]}
    assert set(Tuning.model_fields) - read == set()


def test_every_setting_has_a_test_that_observes_its_effect() -> None:
    """A new setting needs a line in setting_effects.py."""
    prefixes = tuple(workflow.settings_prefix for workflow in LINE)
    every = {
        f"*_{setting.name.removeprefix(prefix)}" if (prefix := own_prefix(setting.name, prefixes)) else setting.name
        for setting in DEFAULTS
    }
    assert EFFECTS.keys() == every


def own_prefix(name: str, prefixes: tuple[str, ...]) -> str | None:
    """The longest prefix of a workflow's settings that the name begins with."""
    return max((prefix for prefix in prefixes if name.startswith(prefix)), key=len, default=None)


@pytest.mark.parametrize("name", EFFECTS)
def test_the_test_of_an_effect_exists_and_its_file_names_the_setting(name: str) -> None:
    file, _, test = EFFECTS[name].partition("::")
    source = (ROOT / file).read_text()
    functions = {node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)}
    functions |= {node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.AsyncFunctionDef)}
    assert test in functions
    words = (name, name.lower()) if not name.startswith("*_") else (name[1:], name[2:].lower())
    assert any(word in source for word in words)


# -- checked -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("SCRAPERSKY_PORT", "70000", "SCRAPERSKY_PORT=70000 is invalid: it should be less than or equal to 65535"),
        ("SCRAPERSKY_LOG_LEVEL", "loud", "SCRAPERSKY_LOG_LEVEL=loud is invalid"),
        ("SCRAPERSKY_DATABASE_POOL_SIZE", "many", "SCRAPERSKY_DATABASE_POOL_SIZE=many is invalid"),
        (
            "SCHEDULER_POLL_INTERVAL_SECONDS",
            "0",
            "SCHEDULER_POLL_INTERVAL_SECONDS=0 is invalid: it should be greater than 0",
        ),
        ("SCHEDULER_INTERVAL_SECONDS", "-5", "SCHEDULER_INTERVAL_SECONDS=-5 is invalid"),
        ("SCHEDULER_SYSTEM_USER_ID", "me", "SCHEDULER_SYSTEM_USER_ID=me is invalid"),
        (
            "DEEP_SCAN_SCHEDULER_BATCH_SIZE",
            "-1",
            "BATCH_SIZE=-1 is invalid: it should be greater than or equal to 1",
        ),
        ("DEEP_SCAN_SCHEDULER_INTERVAL_MINUTES", "0", "INTERVAL_MINUTES=0 is invalid: it should be greater than 0"),
        ("SCHEDULER_MAX_CYCLE_SECONDS", "inf", "SECONDS=inf is invalid: it should be less than or equal to 2000000"),
        ("DEEP_SCAN_SCHEDULER_LEASE_SECONDS", "inf", "it should be less than or equal to 2000000"),
        ("CRAWL_MAX_PAGE_BYTES", "9" * 20, "it should be less than or equal to 1000000000000"),
        ("CRAWL_ALLOWED_PORTS", "80;443", "it should be: ports that may be fetched from, comma separated (it does not"),
        (
            "SCRAPERSKY_METRICS_TOKEN",
            "short",
            "SCRAPERSKY_METRICS_TOKEN=******** is invalid: it should have at least 24",
        ),
        ("SCRAPERSKY_MAP_TILES_ATTRIBUTION", "x" * 201, "is invalid: it should have at most 200 characters"),
        ("DEEP_SCAN_SCHEDULER_MAX_BATCH_SIZE", "5", "MAX_BATCH_SIZE at least as large as BATCH_SIZE"),
        ("SCRAPERSKY_DATADIR", "x", "SCRAPERSKY_DATADIR is not a setting. Did you mean SCRAPERSKY_DATA_DIR?"),
        (
            "SCHEDULER_SHUTDOWN_GRACE",
            "3",
            "SCHEDULER_SHUTDOWN_GRACE is not a setting. Did you mean SCHEDULER_SHUTDOWN_GRACE_SECONDS?",
        ),
        ("DEEP_SCAN_SCHEDULER_BATCHSIZE", "3", "Did you mean DEEP_SCAN_SCHEDULER_BATCH_SIZE?"),
        ("DESTINATION_ALLOWED_PRIVATE_NETWORK", "10.0.0.5", "Did you mean DESTINATION_ALLOWED_PRIVATE_NETWORKS?"),
        ("SITE_SEARCH_BRAVE_KEY", "3", "SITE_SEARCH_BRAVE_KEY is not a setting"),
        ("CRAWL_ZZZZZZZZZZZZ", "3", "is not a setting. `scrapersky settings` lists all of them."),
        ("SITEMAP_SCHEDULER_BATCH_SIZE", "3", "it was split: use DEEP_SCAN_SCHEDULER_, DOMAIN_EXTRACTION_SCHEDULER_"),
    ],
)
def test_a_wrong_setting_stops_the_start_with_its_name_and_the_cure(name: str, value: str, told: str) -> None:
    with pytest.raises(BadSetting) as refusal:
        read_settings(Environment({name: value}, None), LINE)
    assert told in str(refusal.value)
    assert name.partition("_SCHEDULER_")[0] in str(refusal.value)


def test_names_that_are_not_ours_are_left_alone() -> None:
    read_settings(Environment({"PATH": "/bin", "SCRAPER_SKY": "1", "POSTGRES_PASSWORD": "x"}, None), LINE)


def test_an_interval_in_seconds_overrules_every_workflow() -> None:
    found = {
        setting.name: setting for setting in every_setting(Environment({"SCHEDULER_INTERVAL_SECONDS": "3"}, None), LINE)
    }
    for prefix in SEEDS:
        overruled = found[f"{prefix}INTERVAL_SECONDS"]
        assert (overruled.value, overruled.source) == (3, "SCHEDULER_INTERVAL_SECONDS")


# -- where they come from ----------------------------------------------------------------------------------------------


def test_the_environment_wins_over_the_file_and_the_file_over_the_default(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("SCRAPERSKY_PORT=81\nSCRAPERSKY_HOST=::1\nDEEP_SCAN_SCHEDULER_BATCH_SIZE=7\nSCHEDULER_POLL_ONLY=\n")
    environment = Environment({"SCRAPERSKY_PORT": "82"}, file)
    found = {setting.name: (setting.value, setting.source) for setting in every_setting(environment, LINE)}
    assert found["SCRAPERSKY_PORT"] == (82, "environment")
    assert found["SCRAPERSKY_HOST"] == ("::1", ".env")
    assert found["DEEP_SCAN_SCHEDULER_BATCH_SIZE"] == (7, ".env")
    assert found["SCHEDULER_POLL_ONLY"] == (False, "default")


def test_a_wrong_name_in_the_file_stops_the_start_too(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("SCRAPERSKY_PROT=81\n")
    with pytest.raises(BadSetting, match="Did you mean SCRAPERSKY_PORT"):
        read_settings(Environment({}, file), LINE)


# -- told --------------------------------------------------------------------------------------------------------------


def test_a_file_that_is_no_text_stops_the_start_with_a_sentence(tmp_path: Path) -> None:
    env_file = tmp_path / ".env"
    env_file.write_bytes(b"\xff\xfe not text")
    with pytest.raises(BadSetting, match=r"\.env cannot be read"):
        Environment({}, env_file)


async def test_the_command_reads_the_file_of_its_directory_and_masks_secrets(command: Command, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("DATABASE_URL=postgresql://line:hush@db/line\nDEEP_SCAN_SCHEDULER_BATCH_SIZE=50\n")
    table = await command("settings", CRAWL_PROXY_URL="http://me:hush@proxy:3128")
    assert table.code == 0
    lines = {line.split()[0]: line.split()[1:] for line in table.out.splitlines() if line.split()}
    assert lines["DATABASE_URL"] == [MASK, ".env"]
    assert lines["CRAWL_PROXY_URL"] == [MASK, "environment"]
    assert lines["DEEP_SCAN_SCHEDULER_BATCH_SIZE"] == ["50", "10", ".env"]
    document = await command("settings", "--json")
    told = {setting["name"]: setting for setting in json.loads(document.out)}
    assert told["DEEP_SCAN_SCHEDULER_BATCH_SIZE"]["value"] == 50
    assert set(told["DATABASE_URL"]) == {"group", "name", "value", "default", "source", "description"}
    for said in (table, document):
        assert "hush" not in said.out + said.err


async def test_the_pages_do_not_depend_on_what_is_set(command: Command) -> None:
    said = await command("settings", "--env-example", DEEP_SCAN_SCHEDULER_BATCH_SIZE="50")
    assert said.out == (ROOT / ".env.example").read_text()
    page = await command("settings", "--markdown")
    assert page.out == (ROOT / "docs" / "settings.md").read_text()


def test_every_secret_is_kept_as_one() -> None:
    settings = load(Environment({"DATABASE_URL": "postgresql://line:hush@db/line"}, None))
    assert isinstance(settings.database_url, SecretStr)
    assert "hush" not in repr(settings)


def test_no_pattern_of_a_setting_repeats_often() -> None:
    """Each repetition of a bound takes memory of every process: `max_length` limits a length without any."""
    for name, field in Settings.model_fields.items():
        for pattern in (each.pattern for each in field.metadata if getattr(each, "pattern", None)):
            bounds = [int(bound) for bound in re.findall(r"\{\d*,(\d+)\}", pattern)]
            assert math.prod(bounds) <= 300, f"{name}: give {pattern} a max_length instead of the bound."
