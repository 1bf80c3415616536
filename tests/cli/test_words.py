"""The words themselves: each teaches by its help, and listing them costs next to nothing."""

import inspect
import subprocess
import sys
from importlib import import_module

import pytest

from scrapersky import __version__
from scrapersky.cli import WORDS
from tests.cli.conftest import Command, Said

HEAVY = {"sqlalchemy", "asyncpg", "pydantic", "aiohttp", "uvicorn", "fastapi", "apscheduler", "alembic"}


@pytest.mark.parametrize("word", WORDS)
def test_the_list_says_what_the_command_says(word: str) -> None:
    told = inspect.getdoc(getattr(import_module(f"scrapersky.cli.{word}"), word)) or ""
    assert told.splitlines()[0] == WORDS[word]
    assert "Exit codes: 0 " in told.replace("\n", " ")


@pytest.mark.parametrize("word", WORDS)
async def test_every_word_has_help(command: Command, word: str) -> None:
    said = await command(word, "--help")
    assert said.code == 0
    assert f"Usage: scrapersky {word}" in said.out or f"{word} [OPTIONS]" in said.out


@pytest.mark.parametrize("word", sorted(set(WORDS) - {"fetch", "sitemap", "extract"}))
def test_every_command_of_the_house_shows_an_example(word: str) -> None:
    told = inspect.getdoc(getattr(import_module(f"scrapersky.cli.{word}"), word)) or ""
    assert f"scrapersky {word}" in told


def test_listing_the_words_imports_nothing_heavy() -> None:
    listing = "import sys; from scrapersky.cli import app; app(['--help'], standalone_mode=False); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True, timeout=30)
    assert "worker" in done.stdout
    assert HEAVY.isdisjoint(done.stdout.splitlines()[-1].split())


async def test_the_version_is_told(command: Command) -> None:
    assert await command("--version") == Said(0, f"{__version__}\n", "")
