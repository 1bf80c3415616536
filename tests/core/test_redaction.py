"""Lines of the log: no secret, no person, no forged second line, however they came in."""

import io
import json
import logging
from typing import Any

import pytest
import structlog
from pydantic import SecretStr

from scrapersky.core.logging_setup import clean_event
from scrapersky.core.redaction import MAX_VALUE_LENGTH, redactor
from tests.conftest import make_settings

PLANTED = {
    "DATABASE_URL": "postgresql://line:plum-p%40ss@db.internal/line",
    "CRAWL_PROXY_URL": "http://out:proxy-pass@proxy:3128",
    "PROVIDER_GOOGLE_API_KEY": "not-shaped-like-a-key",
    "SCRAPERSKY_SECRET_KEY": "Vq3hT9sLw0ZrYp6KmXc2Bn8DgFj4Ea71",
}
SETTINGS = make_settings(PLANTED["DATABASE_URL"], **{k: v for k, v in PLANTED.items() if k != "DATABASE_URL"})


@pytest.fixture
def say():
    """Says something through the real sink, as JSON or as text, and gives back what was written."""

    def say(event, *, as_text=False, level="info", foreign=False, **fields):
        written = io.StringIO()
        handler = logging.StreamHandler(written)
        shared = [structlog.stdlib.add_log_level, structlog.stdlib.add_logger_name]
        handler.setFormatter(
            structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=clean_event(SETTINGS, as_text))
        )
        logger = logging.getLogger("tests.log_lines")
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel("DEBUG")
        if foreign:
            logger.log(logging.getLevelNamesMapping()[level.upper()], event, exc_info=fields.get("exc_info"))
        else:
            wrap: list[Any] = [*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter]
            getattr(structlog.wrap_logger(logger, wrap, wrapper_class=structlog.stdlib.BoundLogger), level)(
                event, **fields
            )
        return written.getvalue()

    return say


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("foreign", [False, True])
@pytest.mark.parametrize(
    "secret",
    [
        *PLANTED.values(),
        "plum-p@ss",
        "plum-p%40ss",
        "proxy-pass",
    ],
)
def test_a_secret_of_the_settings_is_found_wherever_it_stands(say, secret, as_text, foreign):
    text = f"cannot reach {secret} today"
    said = say(text, as_text=as_text, foreign=foreign) if foreign else say("x", as_text=as_text, why={"deep": [text]})
    assert secret not in said
    assert "********" in said


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Authorization: Bearer abc.def-123456", "abc.def-123456"),
        ("{'authorization': 'Basic dXNlcjpwYXNz'}", "dXNlcjpwYXNz"),
        ('{"password": "correct horse"}', "correct"),
        ("POST /login password=hunter22", "hunter22"),
        ("https://x.example/?key=hunter22&q=1", "hunter22"),
        ("https://me:hunter22@x.example/", "hunter22"),
        ("token: hunter22", "hunter22"),
        ("key AIza" + "x" * 35 + " was refused", "AIza"),
        ("ssk_ab12cd34_hunter22hunter22 is none", "hunter22"),
        ("got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "eyJzdWIiOiIxIn0"),
    ],
)
def test_secrets_of_others_are_known_by_their_looks(text, secret):
    masked = redactor(SETTINGS)(text)
    assert secret not in masked
    assert "********" in masked


@pytest.mark.parametrize("name", ["password", "Authorization", "api_key", "session_token", "cookie"])
def test_a_field_with_a_secret_name_is_masked_whole(say, name):
    assert "hunter22" not in say("x", **{name: "hunter22"})
    assert "hunter22" not in say("x", **{name: SecretStr("hunter22")})
    assert "hunter22" not in say("x", headers={name: b"hunter22"})


def test_an_error_with_a_secret_in_its_text_is_masked_too(say):
    try:
        raise ValueError("DATABASE_URL=postgresql://line:plum-p%40ss@db.internal/line does not work")
    except ValueError as error:
        for foreign in (True, False):
            said = say("failed", exc_info=error, level="error", foreign=foreign)
            assert "Traceback" in said
            assert "plum" not in said


def test_people_are_shortened_from_info_up_and_whole_when_debugging(say):
    line = json.loads(say("page_read", title="write to ada.lovelace@analytical.example.org or call"))
    assert line["title"] == "write to a…@analytical.example.org or call"
    assert "ada.lovelace@" in say("page_read", level="debug", title="ada.lovelace@analytical.example.org")


FORGERY = 'x\r\n{"event": "user_made_admin"}\x1b[2K\x9b31m\u2028\u202etxt'


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("foreign", [False, True])
def test_foreign_text_starts_no_log_line_and_sends_no_terminal_codes(say, as_text, foreign):
    said = say(FORGERY, as_text=as_text, foreign=True) if foreign else say("x", as_text=as_text, title=FORGERY)
    assert len(said.rstrip("\n").splitlines()) == 1
    body = said.replace("\x1b[0m", "").replace("\n", "")  # the renderer's own colours
    assert not any(sign in body for sign in ("\r", "\x9b", "\x1b[2K", "\u2028", "\u202e"))


def test_template_and_lookup_strings_are_logged_as_plain_text(say):
    for text in ("${jndi:ldap://x.example/a}", "{{7*7}}", "%s%n%x", "{0.__class__}"):
        assert json.loads(say("x", title=text))["title"] == text


def test_a_long_value_is_cut(say):
    for text in ("a" * 5_000_000, "key=" * 200_000, "a@" * 500_000, "://:" * 300_000, "bearer " * 200_000):
        assert len(say("x", title=text)) < MAX_VALUE_LENGTH * 8
