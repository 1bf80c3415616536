"""Users and tenants at the command line: the first admin, keys, quotas, and passwords that never are an argument."""

import asyncio
import io
import json
import urllib.parse
import urllib.request

import pytest

from scrapersky.core.secrets.tokens import hash_secret, split_key
from tests.cli.conftest import Command

PASSWORD = "correct horse battery"


@pytest.fixture
def typing(monkeypatch: pytest.MonkeyPatch):
    """What comes by standard input, as from a script."""
    return lambda line: monkeypatch.setattr("sys.stdin", io.StringIO(line))


async def test_a_user_is_created_listed_changed_and_disabled(line: Command, typing, admin) -> None:
    typing(f"{PASSWORD}\n")
    said = await line("user", "create", "ada", "--role", "admin")
    assert (said.code, said.out) == (0, "ada is admin of default.\n")
    assert PASSWORD not in said.out + said.err
    kept = await admin.fetchval("SELECT password_hash FROM \"user\" WHERE name = 'ada'")
    assert kept.startswith("$argon2id$")
    assert (await line("user", "create", "bot", "--no-password")).code == 0
    assert (await line("user", "role", "bot", "curator")).code == 0
    assert (await line("user", "disable", "bot")).out == "bot is disabled.\n"
    listed = json.loads((await line("user", "list", "--json")).out)
    assert [(one["name"], one["role"], one["state"], one["keys"]) for one in listed] == [
        ("ada", "admin", "active", 0),
        ("bot", "curator", "disabled", 0),
    ]
    assert "bot" in (await line("user", "list")).out
    actions = await admin.fetch("SELECT action, origin, subject FROM audit ORDER BY id")
    assert [row["action"] for row in actions] == ["create", "create", "change", "change"]
    assert {row["origin"] for row in actions} == {"cli"}


async def test_a_key_is_printed_once_and_can_be_used(line: Command, admin) -> None:
    await line("user", "create", "bot", "--role", "operator", "--no-password")
    said = await line("user", "key", "bot", "--scope", "read", "--scope", "operate", "--days", "30")
    assert said.code == 0
    prefix, secret = split_key(said.out.strip()) or ("", "")
    row = await admin.fetchrow("SELECT secret_hash, scopes, expires_at FROM api_key WHERE prefix = $1", prefix)
    assert row["secret_hash"] == hash_secret(secret)
    assert row["scopes"] == ["read", "operate"]
    assert row["expires_at"] is not None
    said = await line("user", "key", "bot", "--scope", "admin")
    assert (said.code, said.out) == (2, "")
    assert "does not include admin" in said.sentence


@pytest.mark.parametrize("password", ["", "short", "x" * 1025, "a tab\tin the middle"])
async def test_an_unsuitable_password_is_refused(line: Command, typing, password: str, admin) -> None:
    typing(f"{password}\n")
    said = await line("user", "create", "ada")
    assert (said.code, said.out) == (2, "")
    assert "12 to 1,024 printable characters" in said.sentence
    assert await admin.fetchval("SELECT count(*) FROM \"user\" WHERE name = 'ada'") == 0


async def test_a_password_is_no_argument(line: Command) -> None:
    said = await line("user", "create", "ada", "--password", PASSWORD)
    assert said.code == 2
    assert "No such option" in said.err


async def test_a_new_password_ends_every_login(line: Command, typing, admin) -> None:
    await line("user", "create", "ada", "--role", "admin", "--no-password")
    await admin.execute(
        "INSERT INTO session (tenant_id, user_id, token_hash, family_hash, expires_at, seen_at, origin) "
        "SELECT tenant_id, id, 'x', 'f', now() + interval '1 day', now(), '' FROM \"user\" WHERE name = 'ada'"
    )
    typing(f"{PASSWORD}\n")
    assert (await line("user", "password", "ada")).out == "ada has a new password.\n"
    assert await admin.fetchval("SELECT revoked_at FROM session") is not None


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("user", "disable", "nobody"), "has no user named 'nobody'"),
        (("user", "list", "--tenant", "nowhere"), "has no tenant 'nowhere'"),
        (("user", "role", "ada", "viewer"), "ada is the last admin"),
        (("user", "disable", "ada"), "ada is the last admin"),
        (("user", "create", "ada", "--no-password"), "'ada' is in use"),
        (("tenant", "create", "default"), "'default' is in use"),
        (("tenant", "set", "nowhere", "--disable"), "has no tenant 'nowhere'"),
        (("tenant", "set", "default", "--disable"), "default is the last active operator"),
        (("tenant", "set", "default", "--no-operator"), "default is the last active operator"),
        (("tenant", "set", "default", "--pages-per-day", "many"), "--pages-per-day many is not a whole number"),
        (("tenant", "set", "default", "--pages-per-day", "-1"), "--pages-per-day -1 is not a whole number"),
        (("tenant", "set", "default", "--pages-per-day", "99999999999"), "99999999999 is not a whole number"),
    ],
)
async def test_a_change_that_is_not_possible_gets_a_sentence(line: Command, words, sentence: str) -> None:
    await line("user", "create", "ada", "--role", "admin", "--no-password")
    said = await line(*words)
    assert (said.code, said.out) == (2, "")
    assert sentence in said.sentence


async def test_tenants_are_created_and_get_quotas(line: Command, admin) -> None:
    assert (await line("tenant", "create", "acme", "--searches-per-day", "5")).code == 0
    said = await line("tenant", "set", "acme", "--searches-per-day", "none", "--pages-per-day", "100", "--operator")
    assert "pages per day 100" in said.out
    assert (await line("tenant", "set", "default", "--no-operator")).code == 0
    assert (await line("tenant", "set", "default", "--disable")).code == 0
    listed = {one["name"]: one for one in json.loads((await line("tenant", "list", "--json")).out)}
    assert listed["acme"]["searches_per_day"] is None
    assert listed["acme"]["pages_per_day"] == 100
    assert (listed["acme"]["is_operator"], listed["default"]["is_operator"]) == (True, False)
    assert (listed["acme"]["disabled"], listed["default"]["disabled"]) == (False, True)
    assert "acme" in (await line("tenant", "list")).out
    assert (await line("user", "create", "ada", "--no-password", "--tenant", "acme")).code == 0


async def test_the_first_start_prints_a_link_for_the_first_admin_and_the_next_does_not(
    process, database_url: str
) -> None:
    serve = process("serve", DATABASE_URL=database_url, SCRAPERSKY_PORT="0")
    told = await serve.next_line()
    assert "development accepts local clients only" in told
    link = (await serve.next_line()).split()[-1]
    page = await asyncio.to_thread(open_page, link)
    assert "You become" in page
    address, token = link.split("/console/welcome?token=")
    assert told.rstrip().endswith(f"The console: {address}/console")
    form = {"token": token, "name": "ada", "password": PASSWORD}
    page = await asyncio.to_thread(open_page, f"{address}/console/welcome", form)
    assert "New search" in page
    tokens = await asyncio.to_thread(fetch, f"{address}/api/v3/auth/login", {"name": "ada", "password": PASSWORD})
    assert tokens["access_token"]
    serve.tell(2)
    said = await serve.leave()
    assert token not in said.err
    again = process("serve", DATABASE_URL=database_url, SCRAPERSKY_PORT="0")
    assert (await again.next_line()).startswith("Listening on ")
    again.tell(2)
    assert "link" not in (await again.leave()).out


def open_page(url: str, form: dict[str, str] | None = None) -> str:
    """Open a page as a browser does: a form is sent as one."""
    sent = urllib.parse.urlencode(form).encode() if form else None
    headers = {"Sec-Fetch-Site": "same-origin"}
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with opener.open(urllib.request.Request(url, sent, headers), timeout=90) as answer:
        assert answer.headers["Content-Type"].startswith("text/html")
        return str(answer.read().decode())


def fetch(url: str, body: dict[str, str] | None = None) -> dict[str, str]:
    data = json.dumps(body).encode() if body else None
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=90) as answer:
        found: dict[str, str] = json.load(answer)
    return found


@pytest.mark.parametrize("words", [("serve",), ("worker", "--until-idle"), ("status",), ("user", "list")])
@pytest.mark.parametrize(
    ("missing", "sentence"),
    [
        ({"SCRAPERSKY_SECRET_KEY": ""}, "SCRAPERSKY_SECRET_KEY is not set"),
        ({"SCRAPERSKY_SECRET_KEY": "changeme"}, "32 random bytes"),
        ({"SCRAPERSKY_SECRET_KEY": "secret" * 10}, "32 random bytes"),
        ({"DATABASE_URL": ""}, "DATABASE_URL is not set"),
    ],
)
async def test_production_does_not_start_without_its_secrets(line: Command, words, missing, sentence) -> None:
    whole = {"SCRAPERSKY_ENVIRONMENT": "production", "SCRAPERSKY_SECRET_KEY": "q8Zr2Lw5Tn7Yb4Xc9Vm1Kj6Hg3Fd0SpA"}
    said = await line(*words, **{**whole, "SCRAPERSKY_PORT": "0", **missing})
    assert (said.code, said.out) == (2, "")
    assert sentence in said.sentence
    assert "changeme" not in said.err


@pytest.mark.parametrize("name", ["", "   ", "two\nlines", "x" * 101, "a\x1b[31m"])
async def test_a_name_that_nobody_could_log_in_with_is_refused(line: Command, name: str, admin) -> None:
    for words in (("user", "create", name, "--no-password"), ("tenant", "create", name)):
        said = await line(*words)
        assert (said.code, said.out) == (2, "")
        assert "1 to 100 characters" in said.sentence
    assert await admin.fetchval('SELECT count(*) FROM "user" WHERE NOT is_system') == 0
    assert await admin.fetchval("SELECT count(*) FROM tenant") == 1


async def test_blanks_around_a_name_are_removed(line: Command, admin) -> None:
    assert (await line("user", "create", " bot ", "--no-password")).out == "bot is viewer of default.\n"
    assert await admin.fetchval('SELECT name FROM "user" WHERE NOT is_system') == "bot"
    assert (await line("user", "key", "bot", "--label", "two\nlines")).code == 2
