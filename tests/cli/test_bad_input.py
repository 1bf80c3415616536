"""Everything that can be wrong when a command starts: one sentence on standard error, exit code 2, no traceback."""

import socket
import time
from pathlib import Path

import pytest

from scrapersky.core.uuid7 import new_id
from tests.cli.conftest import Command

NEEDS_DATABASE = [
    ("worker",),
    ("status",),
    ("run", "deep_scan"),
    ("queue", "deep_scan", str(new_id())),
    ("retry", "deep_scan", "--all"),
    ("pause", "deep_scan"),
    ("resume", "deep_scan"),
    ("migrate",),
    ("serve",),
]
READS_SETTINGS = [*NEEDS_DATABASE, ("settings",)]


def first_word(words: tuple[str, ...]) -> str:
    return words[0]


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


ID = "0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa"


async def test_an_unknown_workflow(line: Command) -> None:
    for words in [("run",), ("queue", "--where-status", "New"), ("retry", "--all"), ("pause",), ("resume",)]:
        said = await line(words[0], "deep_scam", *words[1:])
        assert (said.code, said.out) == (2, ""), words
        assert said.sentence.startswith("There is no workflow of this name. 'deep_scam' is not one of ")
        assert "deep_scan, site_search, domain_extraction" in said.sentence


async def test_an_unknown_tenant(line: Command) -> None:
    for word in ("queue", "retry"):
        said = await line(word, "deep_scan", str(new_id()), "--tenant", "nobody")
        assert said.code == 2
        assert said.sentence == "There is no such tenant. This database has no tenant 'nobody'."


@pytest.mark.parametrize("word", ["queue", "retry"])
async def test_a_bad_id(command: Command, word: str) -> None:
    said = await command(word, "deep_scan", "17")
    assert said.code == 2
    assert said.sentence == "An id is invalid. '17' does not look like 0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa."


@pytest.mark.parametrize("words", [("queue",), ("queue", str(new_id()), "--where-status", "New"), ("retry",)])
async def test_ids_or_all_but_not_both_nor_neither(command: Command, words: tuple[str, ...]) -> None:
    said = await command(words[0], "deep_scan", *words[1:])
    assert said.code == 2
    assert "Give either the ids of rows or" in said.sentence


@pytest.mark.parametrize("value", ["101", "-1", "soon"])
async def test_a_priority_out_of_range(command: Command, value: str) -> None:
    said = await command("queue", "deep_scan", str(new_id()), "--priority", value)
    assert (said.code, said.out) == (2, "")
    assert "--priority" in said.err


async def test_a_port_that_is_taken(command: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = await command("serve", SCRAPERSKY_PORT=str(port))
    assert (said.code, said.out) == (2, "")
    assert f"SCRAPERSKY_PORT={port} cannot be listened on (Address already in use)" in said.sentence


async def test_serving_other_machines_in_development_is_refused(command: Command) -> None:
    said = await command("serve", SCRAPERSKY_HOST="0.0.0.0")
    assert (said.code, said.out) == (2, "")
    assert "SCRAPERSKY_ENVIRONMENT=production" in said.sentence


@pytest.mark.parametrize("words", READS_SETTINGS, ids=first_word)
async def test_a_wrong_setting(command: Command, words: tuple[str, ...]) -> None:
    said = await command(*words, DEEP_SCAN_SCHEDULER_BATCH_SIZE="-1")
    assert (said.code, said.out) == (2, "")
    assert said.sentence.startswith("A setting has a value that cannot work. DEEP_SCAN_SCHEDULER_BATCH_SIZE=-1")


@pytest.mark.parametrize("words", NEEDS_DATABASE, ids=first_word)
async def test_a_database_that_is_not_there(command: Command, words: tuple[str, ...], closed_port: int) -> None:
    waits = ("--wait-seconds", "1") if words[0] in ("serve", "worker") else ()
    said = await command(*words, *waits, DATABASE_URL=f"postgresql://line:hush@127.0.0.1:{closed_port}/line")
    assert (said.code, said.out) == (2, "")
    assert f"127.0.0.1:{closed_port}/line does not respond" in said.sentence
    assert "hush" not in said.err


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("nonsense", "DATABASE_URL is not a URL. It looks like postgresql://user:password@host:5432/name."),
        ("mysql://db/line", "DATABASE_URL starts with mysql://, but only postgresql:// is understood."),
    ],
)
async def test_a_database_url_that_is_none(command: Command, url: str, told: str) -> None:
    said = await command("status", DATABASE_URL=url)
    assert (said.code, said.out) == (2, "")
    assert said.sentence == f"A setting has a value that cannot work. {told}"


@pytest.mark.parametrize("words", NEEDS_DATABASE, ids=first_word)
async def test_a_data_directory_that_is_a_file(command: Command, words: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "not-a-directory"
    file.touch()
    said = await command(*words, SCRAPERSKY_DATA_DIR=str(file))
    assert (said.code, said.out) == (2, "")
    assert f"SCRAPERSKY_DATA_DIR={file} cannot hold a database" in said.sentence
    assert said.sentence.endswith("Name a writable directory.")


async def test_a_migration_from_the_future(line: Command, admin) -> None:
    await admin.execute("UPDATE alembic_version SET version_num = 'of_a_later_version'")
    for words in NEEDS_DATABASE:
        said = await line(*words)
        assert (said.code, said.out) == (2, ""), words
        assert said.sentence.startswith("The database was migrated by a newer scrapersky.")
        assert "cannot run on revision of_a_later_version. Upgrade scrapersky" in said.sentence


async def test_a_data_directory_that_cannot_be_made(command: Command) -> None:
    said = await command("status", SCRAPERSKY_DATA_DIR="/proc/nowhere/at/all")
    assert (said.code, said.out) == (2, "")
    assert "SCRAPERSKY_DATA_DIR=/proc/nowhere/at/all cannot hold a database" in said.sentence


@pytest.fixture
async def empty_url(server) -> str:
    name = f"empty_{time.monotonic_ns()}"
    await server.execute(f"CREATE DATABASE {name}")
    return server.url(name)


async def test_a_database_that_was_never_migrated(command: Command, empty_url: str) -> None:
    for words in (words for words in NEEDS_DATABASE if words != ("migrate",)):
        said = await command(*words, DATABASE_URL=empty_url)
        assert (said.code, said.out) == (2, ""), words
        assert said.sentence.startswith("The database has not been migrated for this scrapersky.")
        assert "Run `scrapersky migrate` first." in said.sentence
    migrated = await command("migrate", DATABASE_URL=empty_url)
    assert migrated.code == 0
    assert migrated.out.startswith("applied initial\n")
    again = await command("migrate", DATABASE_URL=empty_url)
    assert (again.code, again.out) == (0, "already up to date\n")
    told = await command("migrate", "--json", DATABASE_URL=empty_url)
    assert told.out == '{\n  "applied": [],\n  "reverted": [],\n  "up_to_date": true\n}\n'
    assert (await command("status", DATABASE_URL=empty_url)).code == 0


async def test_an_unknown_command_names_the_similar_one(command: Command) -> None:
    said = await command("statsu")
    assert said.code == 2
    assert "No such command 'statsu'. Did you mean 'status'?" in said.err


@pytest.mark.parametrize("option", ["--domains", "--queries"])
async def test_the_file_that_a_search_is_read_from_is_not_replaced(line: Command, tmp_path: Path, option: str) -> None:
    given = tmp_path / "mine.csv"
    given.write_text("what,website\ndentists in Turku,molar.fi\n")
    said = await line("find", option, str(given), "--out", "mine.csv")
    assert said.code == 2
    assert f"--out would replace {given}" in said.sentence
    assert given.read_text() == "what,website\ndentists in Turku,molar.fi\n"


async def test_a_day_that_is_none_is_refused_with_one_that_is(command: Command) -> None:
    for option in ("--found-since", "--changed-since", "--seen-since"):
        said = await command("find", "dentists in Turku", option, "yesterday")
        assert said.code == 2
        assert said.sentence == (
            f"The filter of leads is invalid. {option} 'yesterday': write a day like 2026-11-15, or a time like "
            "2026-11-15T12:00:00Z."
        )


async def test_a_wrong_radius_is_all_that_the_sentence_is_about(command: Command) -> None:
    said = await command("find", "dentists", "--near", "60.45,22.26", "--radius", "0")
    assert said.code == 2
    assert said.sentence == "The search is unclear. A radius of 0 m cannot be searched; 50 m to 200 km can."


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--language", "finnish"), "--language 'finnish': write the code of the language, such as fi for Finnish"),
        (("--columns", "business,business"), "'business' is named twice: leave it out once."),
        (("--sort", "city,-city"), "'city' is named twice: leave it out once."),
    ],
)
@pytest.mark.parametrize("command_words", [("find", "dentists", "in", "Turku"), ("export", "leads", "--search", ID)])
async def test_a_choice_of_leads_that_cannot_be_meant(
    command: Command, command_words: tuple[str, ...], words: tuple[str, ...], told: str
) -> None:
    said = await command(*command_words, *words)
    assert said.code == 2
    assert told in said.sentence
