"""`scrapersky find --queries` and `scrapersky campaign`: many searches in one command, and every wrong file."""

import csv
import json
from io import BytesIO
from pathlib import Path

import pytest
from openpyxl import Workbook

from scrapersky.actions.campaign_queries import QueryDefaults, read_queries
from scrapersky.cli.finding.query_list import BadQueryFile, read_query_file
from scrapersky.sandbox.sandbox import Sandbox
from scrapersky.store.steps import AdvanceRules

QUERIES = """what,where,limit
dentists,Helsinki,6
restaurants,Helsinki,4
dentists,Turku,3
,Turku,3
dentists,Helsinki,many
dentists,Helsinki,4
dentists,Atlantis,3
"""


@pytest.fixture
async def sandbox():
    async with Sandbox(seed=31, businesses=120) as little_internet:
        yield little_internet


async def test_a_file_of_queries_becomes_one_file_of_leads(process, line, sandbox, database_url, tmp_path, admin):
    variables = {**sandbox.environment(), "DATABASE_URL": database_url, "CRAWL_HOST_DELAY_SECONDS": "0"}
    file, out = tmp_path / "queries.csv", tmp_path / "leads.csv"
    file.write_text(QUERIES)
    words = ("find", "--queries", str(file), "--name", "Finland", "--out", str(out), "--json")
    said = await process(*words, **variables, CRAWL_PARSER_PROCESSES="1").leave(240)
    assert said.code == 0, said.err
    told = json.loads(said.out)
    assert told["rejected_lines"] == [
        "line 5: 'Turku': It is not said what to look for: write \"dentists in Helsinki\".",
        "line 6: 'dentists': The limit is 'many'; use a number from 1 to 1,000,000.",
    ]
    assert f"scrapersky campaign show {told['search_id']}" in said.err
    assert (told["steps"]["place_search"]["completed"], told["steps"]["place_search"]["skipped"]) == (4, 1)
    assert "No place named 'Atlantis' is known" in told["reasons"][0]["reason"], "before the reasons of web sites"
    with out.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == told["rows"] == await admin.fetchval("SELECT count(DISTINCT id) FROM local_business")

    listed = json.loads((await line("campaign", "list", "--json")).out)
    assert [row["name"] for row in listed] == ["Finland"]
    shown = json.loads((await line("campaign", "show", told["search_id"], "--queries", "--json")).out)
    assert (shown["searches"]["completed"], len(shown["queries"])) == (4, 5)
    assert "No place named 'Atlantis' is known" in (await line("campaign", "show", told["search_id"], "--queries")).out
    assert (await line("campaign", "rename", told["search_id"], "Suomi")).code == 0
    assert "Suomi" in (await line("campaign", "show", told["search_id"])).out
    stopped = await line("campaign", "stop", told["search_id"])
    assert (stopped.code, "0 waiting rows" in stopped.out) == (0, True)
    assert (await line("campaign", "continue", told["search_id"])).code == 0
    unknown = await line("campaign", "show", "0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa")
    assert (unknown.code, "campaigns with the id" in unknown.err) == (2, True)


def workbook() -> bytes:
    book, file = Workbook(), BytesIO()
    for row in (["Query", "City", "Limit"], ["dentists", "Turku", 5], [], ["dentists", None, None]):
        book.active.append(row)
    book.save(file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("q.txt", b"# towns\ndentists in Turku\n\ndentists\n"),
        ("q.csv", b"what;where\ndentists;Turku\n;\ndentists;\n"),
        ("q.tsv", b"keyword\tcity\ndentists\tTurku\n\t\ndentists\t\n"),
        ("q.jsonl", b'{"what": "dentists", "where": "Turku"}\n\n\n{"what": "dentists"}\n'),
        ("q.xlsx", workbook()),
    ],
)
def test_a_wrong_line_of_every_format_fails_alone_with_its_number(tmp_path, name, content):
    file = tmp_path / name
    file.write_bytes(content)
    found, rejected = read_queries(read_query_file(file), QueryDefaults(AdvanceRules()))
    assert [(one.text, one.area) for one in found] == [("dentists", "Turku")]
    assert [one.line for one in rejected] == [4]
    assert "area is missing" in rejected[0].reason


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("empty.txt", b"", "It is empty"),
        ("blank.txt", b"# only a comment\n", "has no query"),
        ("large.txt", b"dentists in Turku\n" * 600_000, "larger than 5 MB"),
        ("picture.csv", b"\x89PNG\r\n\x1a\n" + bytes(100), "not text"),
        ("broken.xlsx", b"no workbook", "no workbook of Excel"),
        ("other.jsonl", b'{"town": "Turku"}\n', "no column `what`"),
    ],
)
def test_a_file_that_cannot_be_used_gets_a_sentence(tmp_path, name, content, sentence):
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(BadQueryFile, match=sentence):
        read_query_file(file)


def test_a_missing_file_gets_a_sentence():
    with pytest.raises(BadQueryFile, match="cannot be read: No such file"):
        read_query_file(Path("/nowhere/queries.txt"))
