"""The project as a whole: glossary, decisions, README, links, lock file, tests."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name
from scripts.lock import needed

from scrapersky.core.vocabularies import Curation, Status
from scrapersky.models import Base
from scrapersky.pipeline import build_pipeline
from tests import ROOT
from tests.conftest import LONGEST

MODULES = sorted((ROOT / "src" / "scrapersky").rglob("*.py"))
DOCS = sorted(ROOT.glob("docs/**/*.md")) + [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text()


def tracked() -> list[Path]:
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in names.split("\0") if name and (ROOT / name).is_file()]


def test_the_glossary_knows_every_table():
    missing = [name for name in Base.metadata.tables if f"`{name}`" not in GLOSSARY]
    assert missing == []


def test_the_glossary_knows_every_workflow_its_settings_and_its_column():
    for workflow in build_pipeline({}):
        tuning = workflow.tuning
        defaults = f"{tuning.interval_minutes:g}/{tuning.batch_size}/{tuning.max_instances}"
        assert f"{workflow.settings_prefix} {defaults}" in GLOSSARY
        assert f"`{workflow.table}.{workflow.queue}_status`" in GLOSSARY
        assert f"`workflows/{workflow.name}`" in GLOSSARY


def test_the_glossary_knows_every_word_of_the_vocabularies():
    for words in (Status, Curation):
        assert ", ".join(word.value for word in words) in GLOSSARY


def test_decisions_are_numbered_without_a_gap():
    names = sorted(path.name for path in (ROOT / "docs" / "decisions").glob("*.md"))
    assert [int(name[:4]) for name in names] == list(range(1, len(names) + 1))
    for name in names:
        title = (ROOT / "docs" / "decisions" / name).read_text().splitlines()[0]
        assert title.startswith(f"# {int(name[:4])}. ")


def test_the_readme_is_short_and_its_commands_exist():
    readme = (ROOT / "README.md").read_text()
    assert len(readme.splitlines()) <= 120
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for command in re.findall(r"^\$ make ([a-z-]+)", readme, re.MULTILINE):
        assert command in targets


@pytest.mark.parametrize("path", DOCS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_in_the_pages_lead_somewhere(path):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", path.read_text()):
        assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_no_module_has_a_forbidden_name():
    forbidden = {"utils", "util", "common", "services", "helpers", "helper", "misc"}
    assert [path for path in MODULES if forbidden & {path.stem, *path.relative_to(ROOT).parts}] == []


def test_the_old_job_does_not_exist():
    here = Path(__file__).name
    for path in tracked():
        if path.suffix == ".py" and path.name != here:
            assert "process_pending_jobs" not in path.read_text(), path


def test_every_workflow_is_named_in_the_line():
    page = (ROOT / "docs" / "the-line.md").read_text()
    for workflow in build_pipeline({}):
        assert f"| WF{workflow.number} | {workflow.name} |" in page


def test_no_test_is_skipped_or_expected_to_fail():
    marks = re.compile(r"pytest\.(skip|mark\.(skip|skipif|xfail)|importorskip)")
    here = Path(__file__).name
    found = [
        path.name for path in (ROOT / "tests").rglob("*.py") if path.name != here and marks.search(path.read_text())
    ]
    assert found == []


def test_the_longest_tests_are_where_they_were():
    assert [name for name in LONGEST if not (ROOT / "tests" / name).is_file()] == []


LOCKS = ("requirements.lock", "requirements-build.lock", "requirements-dev.lock")
LOCKED = re.compile(r"([A-Za-z0-9_.-]+==[A-Za-z0-9_.+!-]+)( \\\n    --hash=sha256:[0-9a-f]{64})+\n")


def pins(lock: str) -> dict[str, str]:
    text = (ROOT / lock).read_text()
    found = [one.partition("==") for one in (match[1] for match in LOCKED.finditer(text))]
    assert LOCKED.sub("", re.sub("^#.*\n", "", text, flags=re.MULTILINE)) == "", "run scripts/lock.py"
    return {canonicalize_name(name): version for name, _, version in found}


def test_the_locks_hold_names_versions_and_hashes_only():
    assert all(pins(lock) for lock in LOCKS)


def test_the_locks_agree_and_hold_what_the_project_needs():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    run = [*project["project"]["dependencies"], *(one for name in extras if name != "dev" for one in extras[name])]
    developing = pins("requirements-dev.lock")
    assert needed(run) == pins("requirements.lock").keys(), "run scripts/lock.py"
    assert needed([*run, *extras["dev"]]) <= developing.keys(), "run scripts/lock.py NAME==VERSION"
    for lock in LOCKS:
        assert pins(lock).items() <= developing.items(), lock


def test_the_lock_for_running_has_no_tool_of_developing():
    assert not {"pytest", "mypy", "ruff", "hypothesis", "mkdocs", "coverage"} & pins("requirements.lock").keys()
