"""`scrapersky find --queries` and `scrapersky campaign`: many searches in one command, and every wrong file."""

import csv
import json
import os
from io import BytesIO
from pathlib import Path

import pytest
from openpyxl import Workbook

from scrapersky.actions.searches.campaign_queries import QueryDefaults, read_queries
from scrapersky.cli.finding.query_list import BadQueryFile, read_query_file
from scrapersky.providers.areas.read_search import GivenWhere
from scrapersky.providers.registry import DEFAULT_PROVIDER
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
Dentists,Turku,3
"""
UNCONFIGURED = """what,where,provider
dentists,Turku,google_places
dentists,Turku,nowhere
dentists,Turku,
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
        "line 5: 'Turku': The search does not say what to look for: write \"dentists in Helsinki\".",
        "line 6: 'dentists': The limit is 'many'; use a number from 1 to 1,000,000.",
    ]
    assert f"scrapersky campaign show {told['search_id']}" in said.err
    assert told["equal_lines"] == 1
    assert (told["steps"]["place_search"]["completed"], told["steps"]["place_search"]["skipped"]) == (4, 1)
    assert "No place named 'Atlantis' is known" in told["reasons"][0]["reason"], "before the reasons of web sites"
    with out.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == told["rows"] == await admin.fetchval("SELECT count(DISTINCT id) FROM local_business")

    assert len(rows) > 5
    campaigns = [
        one for one in json.loads((await line("search", "list", "--json")).out) if one["provider"] == "campaign"
    ]
    places = await admin.fetchval("SELECT count(*) FROM place")
    assert [one["result_count"] for one in campaigns] == [places]
    shown = (await line("campaign", "show", told["search_id"])).out
    assert told["search"].rpartition("; ")[2] not in shown, "a digest is for programs"
    listed = json.loads((await line("campaign", "list", "--json")).out)
    assert [row["name"] for row in listed] == ["Finland"]
    shown = json.loads((await line("campaign", "show", told["search_id"], "--queries", "--json")).out)
    assert (shown["searches"]["completed"], len(shown["queries"])) == (4, 5)
    assert "No place named 'Atlantis' is known" in (await line("campaign", "show", told["search_id"], "--queries")).out
    assert (await line("campaign", "rename", told["search_id"], "Suomi")).code == 0
    assert "Suomi" in (await line("campaign", "show", told["search_id"])).out
    assert [(row["status"], row["share_done"]) for row in listed] == [("complete", 1.0)]
    stopped = await line("campaign", "stop", told["search_id"])
    assert (stopped.code, "0 waiting rows" in stopped.out) == (0, True)
    continued = await line("campaign", "continue", told["search_id"])
    assert continued.out.startswith("1 row waits, 1 of its 5 searches"), "the one of Atlantis is tried again"
    await admin.execute(
        "UPDATE page SET page_processing_status = 'Queued', fetched_at = NULL "
        "WHERE page_processing_status = 'Completed'"
    )
    pages = await admin.fetchval("SELECT count(*) FROM page WHERE page_processing_status = 'Queued'")
    stopped = await line("campaign", "stop", told["search_id"])
    assert f"{pages + 1} waiting rows" in stopped.out
    assert [row["status"] for row in json.loads((await line("campaign", "list", "--json")).out)] == ["stopped"]
    assert "stopped" in (await line("campaign", "show", told["search_id"])).out
    continued = await line("campaign", "continue", told["search_id"])
    assert continued.out.startswith(f"{pages + 1} rows wait, ")
    assert [row["status"] for row in json.loads((await line("campaign", "list", "--json")).out)] == ["under way"]
    unknown = await line("campaign", "show", "0190f3a2-7c1e-7e0a-9a51-3f1de2b0c7aa")
    assert (unknown.code, "campaigns with the id" in unknown.err) == (2, True)


def test_a_provider_that_is_not_configured_fails_alone_and_the_choices_are_those_that_are(tmp_path):
    file = tmp_path / "queries.csv"
    file.write_text(UNCONFIGURED)
    found, rejected = read_queries(read_query_file(file), QueryDefaults(AdvanceRules()), [DEFAULT_PROVIDER])
    assert [one.provider for one in found] == [DEFAULT_PROVIDER]
    assert [str(one) for one in rejected] == [
        f"line 2: 'dentists': 'google_places' is not one of {DEFAULT_PROVIDER}. Set PROVIDER_GOOGLE_API_KEY to use it.",
        f"line 3: 'dentists': 'nowhere' is not one of {DEFAULT_PROVIDER}.",
    ]


async def test_a_command_makes_the_other_searches_of_its_file(process, sandbox, database_url, tmp_path):
    variables = {**sandbox.environment(), "DATABASE_URL": database_url, "PROVIDER_GOOGLE_API_KEY": ""}
    file, out = tmp_path / "queries.csv", tmp_path / "leads.csv"
    file.write_text(UNCONFIGURED)
    words = ("find", "--queries", str(file), "--out", str(out), "--json", "--idle-timeout", "0")
    said = await process(*words, **variables, CRAWL_PARSER_PROCESSES="1").leave(240)
    told = json.loads(said.out)
    assert [line.split(":")[0] for line in told["rejected_lines"]] == ["line 2", "line 3"]
    assert sum(told["steps"]["place_search"].values()) == 1


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
    found, rejected = read_queries(read_query_file(file), QueryDefaults(AdvanceRules()), [DEFAULT_PROVIDER])
    assert [(one.text, one.area) for one in found] == [("dentists", "Turku")]
    assert [one.line for one in rejected] == [4]
    assert "area is missing" in rejected[0].reason


def test_queries_may_be_an_array_of_json(tmp_path):
    file = tmp_path / "q.json"
    file.write_text('[{"what": "dentists", "city": "Turku", "limit": 5}, 7, {"what": "dentists"}]')
    found, rejected = read_queries(read_query_file(file), QueryDefaults(AdvanceRules()), [DEFAULT_PROVIDER])
    assert [(one.text, one.area, one.limit) for one in found] == [("dentists", "Turku", 5)]
    assert str(rejected[0]) == "line 2: '7': It is not an object."
    assert [one.line for one in rejected] == [2, 3]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("empty.txt", b"", "empty.txt cannot be used: It is empty. Write one query per line"),
        ("queries.json", b'{"what": "dentists"}', "not an array of objects in JSON"),
        ("towns.json", b'[{"town": "Turku"}]', "no column `what`; there are town"),
        (
            "nameless.csv",
            b"a,b\n1,2\n",
            "there are a, b. Known columns are what, where, region, country, prov",
        ),
        ("blank.txt", b"# only a comment\n", "has no query"),
        ("large.txt", b"dentists in Turku\n" * 600_000, "larger than 5 MB"),
        ("picture.csv", b"\x89PNG\r\n\x1a\n" + bytes(100), "not text"),
        ("broken.xlsx", b"no workbook", "not an Excel workbook"),
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


def test_the_town_of_a_line_is_preferred_to_the_one_for_all(tmp_path):
    file = tmp_path / "queries.txt"
    file.write_text("dentists in Turku\nhammaslääkärit Oulu\ndentists, Pori\ndentists\n")
    for given in (GivenWhere(("Helsinki",)), GivenWhere(near="Helsinki", radius="2km")):
        found, _ = read_queries(read_query_file(file), QueryDefaults(AdvanceRules(), where=given), [DEFAULT_PROVIDER])
        assert [one.where.names for one in found] == [("Turku",), ("Oulu",), ("Pori",), ("Helsinki",)]
        assert [one.where.radius_metres for one in found[:3]] == [None, None, None]


def test_a_table_may_name_region_and_country_of_each_line(tmp_path):
    file = tmp_path / "queries.csv"
    file.write_text(
        "Keyword,City,State,Country\ndentists,Springfield,Illinois,US\ndentists in Turku,,,Finland\n"
        "dentists,,Ohio,\ndentists,Turku,,Atlantis\ndentists,,,Finland\n"
    )
    defaults = QueryDefaults(AdvanceRules(), where=GivenWhere(country="SE"))
    found, rejected = read_queries(read_query_file(file), defaults, [DEFAULT_PROVIDER])
    assert [(one.where.names, one.where.country) for one in found] == [
        (("Springfield, Illinois",), "US"),
        (("Turku",), "FI"),
        (("Ohio",), "SE"),
    ]
    assert [one.line for one in rejected] == [5, 6]
    assert "There is no country 'Atlantis'" in rejected[0].reason
    assert "area is missing" in rejected[1].reason


def test_a_limit_of_a_spreadsheet_and_a_pipe_are_read(tmp_path):
    read_end, write_end = os.pipe()
    with os.fdopen(write_end, "w") as stream:
        stream.write("what,where,limit\ndentists,Turku,5.0\ndentists,Oulu,5.5\n")
    written = read_query_file(Path(f"/dev/fd/{read_end}"))
    os.close(read_end)
    found, rejected = read_queries(written, QueryDefaults(AdvanceRules()), [DEFAULT_PROVIDER])
    assert [(one.area, one.limit) for one in found] == [("Turku", 5)]
    assert [str(one) for one in rejected] == [
        "line 3: 'dentists': The limit is '5.5'; use a number from 1 to 1,000,000."
    ]


def test_a_line_that_is_too_long_fails_alone(tmp_path):
    file = tmp_path / "queries.txt"
    file.write_text("a" * 1_100_000 + "\ndentists in Turku\n")
    found, rejected = read_queries(read_query_file(file), QueryDefaults(AdvanceRules()), [DEFAULT_PROVIDER])
    assert [one.area for one in found] == ["Turku"]
    assert [str(one) for one in rejected] == ["line 1: It is longer than 1,000,000 bytes."]
