"""`scrapersky fetch` as a person or a script runs it: what it prints, and the code it leaves with."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from tests.hostile.odd_web import OddWeb, Visitor


async def private_robots(visitor: Visitor) -> None:
    await visitor.answer(b"User-agent: *\nDisallow: /cookie\n")


@pytest.fixture(scope="module")
def web() -> Iterator[OddWeb]:
    """The odd web in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    web = OddWeb(routes={"/robots.txt": private_robots})
    asyncio.run_coroutine_threadsafe(web.__aenter__(), loop).result(60)
    yield web
    asyncio.run_coroutine_threadsafe(web.__aexit__(), loop).result(60)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(60)


def run(web: OddWeb, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    settings = {
        "CRAWL_HOST_OVERRIDES": f"odd.example={web.place}",
        "CRAWL_ALLOWED_PRIVATE_NETWORKS": web.place,
        "CRAWL_FETCH_TIMEOUT_SECONDS": "60",
    }
    return subprocess.run(
        [sys.executable, "-c", "from scrapersky.cli import main; main()", "fetch", *words],
        env={**os.environ, **settings, **variables},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_a_page_is_reported_with_its_way_size_and_charset(web: OddWeb) -> None:
    done = run(web, "http://odd.example/to/fine")
    assert done.returncode == 0
    for told in ("301  http://odd.example/to/fine", "200  http://odd.example/fine", "19 bytes", "utf-8", "allowed by"):
        assert told in done.stdout
    assert "private_network_allowed" in done.stderr


def test_a_script_gets_one_json_object(web: OddWeb) -> None:
    told = json.loads(run(web, "http://odd.example/to/fine", "--json").stdout)
    assert (told["outcome"], told["status"], told["final_url"]) == ("fetched", 200, "http://odd.example/fine")
    assert told["redirects"] == [{"url": "http://odd.example/to/fine", "status": 301}]
    assert told["charset"] == "utf-8"


def test_the_headers_alone(web: OddWeb) -> None:
    done = run(web, "http://odd.example/fine", "--head")
    assert done.returncode == 0
    assert "0 bytes" in done.stdout
    assert "Content-Type: text/html" in done.stdout


def test_the_body_alone(web: OddWeb) -> None:
    assert run(web, "http://odd.example/fine", "--body").stdout == "<title>fine</title>\n"


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["http://odd.example/busy"], 3, "Try again after 120 s"),
        (["http://odd.example/hang/before"], 3, "needs longer than 1 s"),
        (["http://odd.example/missing"], 4, "404 Not Found"),
        (["http://odd.example/bomb/brotli"], 5, "did not offer"),
        (["http://odd.example/cookie"], 6, "asks robots not to fetch"),
        (["http://127.0.0.1/"], 6, "this machine"),
        (["odd.example"], 6, "begins with http:// or https://"),
        (["http://[broken/"], 6, "is not a web address"),
        ([], 2, "argument"),
    ],
)
def test_what_cannot_be_fetched_is_a_sentence_and_a_code(
    web: OddWeb, words: list[str], code: int, sentence: str
) -> None:
    done = run(web, *words, CRAWL_FETCH_TIMEOUT_SECONDS="1" if "needs longer" in sentence else "60")
    assert (done.returncode, done.stdout) == (code, "")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_name_that_does_not_exist_is_a_sentence(web: OddWeb) -> None:
    done = run(web, "http://no-such-name.invalid/")
    assert done.returncode in (3, 4)  # gone, or, on a machine without any name server, later
    assert "no-such-name.invalid" in done.stderr


def test_a_failure_as_json(web: OddWeb) -> None:
    done = run(web, "http://odd.example/busy", "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["outcome"], told["status"], told["retry_after_seconds"]) == (
        3,
        "retry_later",
        429,
        120,
    )


def test_robots_txt_can_be_left_out(web: OddWeb) -> None:
    assert run(web, "http://odd.example/cookie", "--no-robots").returncode == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CRAWL_ALLOWED_PRIVATE_NETWORKS", "everything"),
        ("CRAWL_FETCH_TIMEOUT_SECONDS", "-1"),
    ],
)
def test_a_wrong_setting_is_named_with_its_cure(web: OddWeb, name: str, value: str) -> None:
    done = run(web, "http://odd.example/fine", **{name: value})
    assert done.returncode == 2
    assert name in done.stderr
    assert "Traceback" not in done.stderr
