"""The rules over the syntax: each catches what it is for, lets the right way pass, and holds in the whole project."""

import subprocess
import sys

import pytest

from tests.architecture import rules
from tests.architecture.rules import ALLOWED, ROOT, RULES, broken_in, broken_in_project, covers, is_allowed

WRONG = {
    "no_built_sql": [
        "text(f\"SELECT 1 FROM place WHERE name = '{name}'\")",
        'session.execute("select 1 order by " + column)',
        'connection.fetchval("DELETE FROM place WHERE id = %s" % row_id)',
        'QUERY = "UPDATE place SET name = {}".format(name)',
        'FIND = "SELECT 1 FROM {table}"\ndef find(table): return FIND.format(table=table)',
        'query = f"WITH found AS (SELECT 1) {rest}"',
        'query = base + " WHERE x = 1 ORDER BY " + column',
    ],
    "no_http_client": [
        "import httpx",
        "import urllib.request",
        "from urllib.request import urlopen",
        "from urllib import request",
        "from aiohttp import ClientSession",
        "import aiohttp\nsession = aiohttp.ClientSession()",
        "from requests import get",
    ],
    "no_lasting_setting": [
        "text(\"SELECT set_config('app.tenant_id', :tenant, false)\")",
        "connection.execute(\"SET app.tenant_id = 'x'\")",
        'connection.execute("SET ROLE TO scrapersky_app")',
        "connection.execute(\"SET SESSION statement_timeout = '1s'\")",
    ],
    "no_unbounded_pattern": [
        r"import re; re.compile(r'[\w.+-]+@\w+')",
        r"import re; re.sub(r'\s+$', '', text)",
        r"import re; re.search('<!--.*?-->', text)",
        r"import re; re.search('((?:a|b){0,3}c)*d', text)",
        r"import re; re.match(b'a*b', text)",
    ],
    "no_assembled_pattern": [r"import re; re.match(f'{word}{{1,3}}', text)", "import re; re.compile('a' + word)"],
    "no_planted_identity": [
        'TENANT = "550e8400-e29b-41d4-a716-446655440000"',
        'if token == "scraper_sky_2024": pass',
        'KEY = "AIza' + "x" * 35 + '"',
        'HEADERS = {"Authorization": "Bearer abcdefgh123"}',
        'JWT = "eyJhbGciOiJIUzI1NiJ9.e30.x"',
    ],
    "no_unverified_tls": [
        "client(verify=False)",
        "session.get(url, ssl=False)",
        "context.check_hostname = False",
        "context.verify_mode = ssl.CERT_NONE",
    ],
}
RIGHT = {
    "no_built_sql": [
        'text("SELECT 1 FROM place WHERE name = :name")',
        'raise BadRequest(f"Select {name} from the list, or leave it out.")',
        'log.info("x" + name)',
        "ROLE = \"app\"\nACT = f\"SELECT set_config('role', '{ROLE}', true)\"",
        'connection.fetchval("SELECT 1 WHERE id = $1", row_id)',
        'SEE = "UPDATE {table} SET seen = now()"\nSEE_KEY = text(SEE.format(table="api_key"))',
    ],
    "no_http_client": ["import aiohttp\nerror = aiohttp.ClientError", "from urllib.parse import urlsplit"],
    "no_lasting_setting": [
        "text(\"SELECT set_config('app.tenant_id', :tenant, true)\")",
        'connection.execute("SET LOCAL lock_timeout = 0")',
        'x = mapped_column(ForeignKey("a.id", ondelete="SET NULL"))',
        'text("UPDATE place SET name = :name")',
    ],
    "no_unbounded_pattern": [
        r"import re; re.compile(r'[\w.+-]{1,64}@\w{1,63}')",
        r"import re; re.compile(r'[^<>]*+>')",
        "import re; re.fullmatch(PATTERN, text)",
    ],
    "no_assembled_pattern": ["import re; re.compile('a{1,3}')", "import re; re.fullmatch(PATTERN, text)"],
    "no_planted_identity": ["TENANT = settings.tenant_id", 'scheme = "Bearer"'],
    "no_unverified_tls": ["client(verify=True)", "context.verify_mode = ssl.CERT_REQUIRED"],
}


@pytest.mark.parametrize(("rule", "source"), [(rule, source) for rule in WRONG for source in WRONG[rule]])
def test_a_rule_catches_what_it_is_for(rule: str, source: str) -> None:
    assert [broken.rule for broken in broken_in(source, "x.py")] == [rule]


@pytest.mark.parametrize(("rule", "source"), [(rule, source) for rule in RIGHT for source in RIGHT[rule]])
def test_a_rule_lets_the_right_way_pass(rule: str, source: str) -> None:
    assert rule not in [broken.rule for broken in broken_in(source, "x.py")]


def test_every_rule_has_samples_of_both_kinds() -> None:
    names = {rule.__name__ for rule in RULES}
    assert names == set(WRONG) == set(RIGHT)


def test_the_project_keeps_its_rules() -> None:
    assert [str(broken) for broken in broken_in_project() if not is_allowed(broken)] == []


def test_no_exception_is_allowed_that_nothing_needs() -> None:
    found = broken_in_project()
    for rule, places in ALLOWED.items():
        for allowance, reason in places.items():
            assert len(reason) > 7, f"{allowance} needs a reason"
            assert any(broken.rule == rule and covers(allowance, broken) for broken in found), f"{allowance} needs none"


def test_an_exception_for_one_function_is_none_for_another_one() -> None:
    (broken,) = broken_in('def other():\n    text(f"SELECT {x}")', "src/scrapersky/store/listing/lineage.py")
    assert not is_allowed(broken)


CHECK_COMPILED_PATTERNS = """
import importlib, pkgutil, re, sys
compile_pattern, compiled = re.compile, []

def record(pattern, flags=0):
    if sys._getframe(1).f_globals["__name__"].startswith("scrapersky."):
        compiled.append(pattern)
    return compile_pattern(pattern, flags)

re.compile = record
from scrapersky import crawl, extract
for package in (crawl, extract):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
from scrapersky.crawl.sitemaps.xml_records import common_record, free_record
from scrapersky.extract.business.technologies import load_signatures
load_signatures(), common_record("", "url"), free_record("", "url")
from tests.architecture import rules
from tests.architecture.rules import runs_away
print(len(compiled), [pattern for pattern in compiled if runs_away(pattern)])
"""


def test_every_pattern_that_extract_and_crawl_compile_is_bounded() -> None:
    command = [sys.executable, "-c", CHECK_COMPILED_PATTERNS]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    count, _, unbounded = done.stdout.strip().partition(" ")
    assert unbounded == "[]"
    assert int(count) > 150


def test_the_command_of_make_check_prints_what_is_broken(monkeypatch, capsys) -> None:
    assert "-m tests.architecture.rules" in (ROOT / "Makefile").read_text()
    assert (rules.main(), capsys.readouterr().out) == (0, "")
    (broken,) = broken_in("import httpx", "src/scrapersky/other.py")
    monkeypatch.setattr(rules, "broken_in_project", lambda: (broken,))
    assert (rules.main(), capsys.readouterr().out) == (1, f"{broken}\n")
