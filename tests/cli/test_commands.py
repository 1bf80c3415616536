"""The list of commands and their help, which import nothing that is slow to import."""

import inspect
import json
import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module

import pytest

from scrapersky import __version__
from scrapersky.cli import COMMANDS, load_command
from scrapersky.cli.shared import options
from scrapersky.cli.shared.options import DEFAULT_TENANT
from scrapersky.providers.registry import DEFAULT_PROVIDER
from scrapersky.store.accounts import tenants
from tests import ROOT
from tests.cli.conftest import Command, Said

# Typer itself imports pydantic and rich.
SLOW_PACKAGES = {
    *("sqlalchemy", "asyncpg", "alembic", "aiohttp", "fastapi", "starlette", "uvicorn", "uvloop", "apscheduler"),
    *("pydantic_settings", "structlog", "prometheus_client", "cryptography", "argon2", "jwt"),
    *("lxml", "turbohtml", "tldextract", "phonenumbers", "protego", "dns", "openpyxl", "pyarrow"),
}
MAX_OWN_MODULES = 16  # modules of scrapersky that the help of one command may import

# Prints, for each line of arguments on standard input, the modules that its help imports, one process for all of them.
HELP_IMPORTS = """
import contextlib, io, json, sys
from scrapersky.cli import app
found = {}
for line in sys.stdin:
    for name in [name for name in sys.modules if name.startswith("scrapersky.cli.")]:
        del sys.modules[name]
    before = set(sys.modules)
    with contextlib.redirect_stdout(io.StringIO()):
        app([*line.split(), "--help"], standalone_mode=False)
    found[line.strip()] = sorted(set(sys.modules) - before)
print(json.dumps(found))
"""
SUBCOMMANDS = {name: tuple(subs) for name in COMMANDS if (subs := getattr(load_command(name), "commands", ()))}


def docstring(name: str) -> str:
    function = name.replace("-", "_")
    return inspect.getdoc(getattr(import_module(f"scrapersky.cli.{function}"), function)) or ""


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_shows_the_first_line_of_the_docstring(name: str) -> None:
    assert docstring(name).splitlines()[0] == COMMANDS[name]
    assert "Exit codes: 0 " in docstring(name).replace("\n", " ")


@pytest.mark.parametrize("name", COMMANDS)
async def test_every_command_has_help(command: Command, name: str) -> None:
    said = await command(name, "--help")
    assert said.code == 0
    assert f"Usage: scrapersky {name}" in said.out or f"{name} [OPTIONS]" in said.out
    assert not re.search(r"<(bool|int|float|str|list|path)", said.out), "a type of Python is no word for people"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_shows_an_example(name: str) -> None:
    assert f"scrapersky {name}" in docstring(name)


def test_commands_with_subcommands_are_recognised() -> None:
    assert {"search", "schedule", "business", "dead-letters"} <= SUBCOMMANDS.keys()
    assert {"runs", "diff"} <= set(SUBCOMMANDS["search"])


def test_help_imports_no_slow_package() -> None:
    lines = ["", *COMMANDS, *(f"{name} {sub}" for name, subs in SUBCOMMANDS.items() for sub in subs)]
    done = subprocess.run(
        [sys.executable, "-c", HELP_IMPORTS],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    imported: dict[str, list[str]] = json.loads(done.stdout)

    assert len(imported) == len(lines)
    for line, modules in imported.items():
        assert SLOW_PACKAGES.isdisjoint(module.partition(".")[0] for module in modules), line
        own = [module for module in modules if module.startswith("scrapersky")]
        assert len(own) <= MAX_OWN_MODULES, (line, own)


def test_names_that_help_repeats_are_those_of_the_slow_modules() -> None:
    assert tenants.DEFAULT == DEFAULT_TENANT
    assert options.DEFAULT_PROVIDER == DEFAULT_PROVIDER


async def test_the_version_is_that_of_the_project_file(command: Command) -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

    assert await command("--version") == Said(0, f"{declared}\n", "")
    assert __version__ == declared


COMPLETION_SHELLS = ("bash", "zsh", "fish")


@pytest.mark.parametrize("shell", COMPLETION_SHELLS)
async def test_the_completion_script_is_printed_at_the_top(command: Command, shell: str) -> None:
    # Typer detects the shell by the processes above it unless it is told not to.
    said = await command("--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert said.code == 0
    assert "_SCRAPERSKY_COMPLETE" in said.out


def test_only_the_top_offers_completion() -> None:
    for name in SUBCOMMANDS:
        assert not [option for option in load_command(name).params if "completion" in option.name]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("scrapersky dead", "dead-letters"), ("scrapersky dead-letters re", "retry"), ("scrapersky find --ou", "--out")],
)
def test_commands_subcommands_and_options_are_completed(typed: str, offered: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from scrapersky.cli import app; app(prog_name='scrapersky')"],
        env={
            **os.environ,
            "_SCRAPERSKY_COMPLETE": "complete_bash",
            "COMP_WORDS": typed,
            "COMP_CWORD": str(len(typed.split()) - 1),
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert offered in done.stdout.split()
