"""`scrapersky sitemap`: files, sites and bad input, each with its sentence and its exit code."""

import asyncio
import gzip
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from scrapersky.cli import main
from scrapersky.cli.printing import sitemap
from tests.factories.sitemap_site import HOSTS, serving
from tests.factories.sitemaps import record, urlset

A, B = "https://example.com/a", "https://example.com/b"
TWO = urlset(record(A, "<lastmod>2024-05-06</lastmod>"), record(B))


@pytest.fixture
def run(monkeypatch, capsys):
    """The command in this process: exit code, standard output, standard error."""

    def run_command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["scrapersky", "sitemap", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return run_command


def test_a_file_is_printed_url_by_url(run, tmp_path):
    (tmp_path / "s.xml").write_text(TWO)

    code, out, err = run(str(tmp_path / "s.xml"))

    assert (code, out) == (0, f"{A}\n{B}\n")
    assert err == "2 URLs from 1 sitemap (urlset).\n"


@pytest.mark.parametrize("body", [gzip.compress(TWO.encode()), f"{A}\n{B}\n".encode(), TWO.encode("utf-16")])
def test_a_file_is_told_by_its_content_not_by_its_name(run, tmp_path, body):
    (tmp_path / "sitemap.dat").write_bytes(body)

    assert run(str(tmp_path / "sitemap.dat"))[:2] == (0, f"{A}\n{B}\n")


def test_json_is_one_document(run, tmp_path):
    (tmp_path / "s.xml").write_text(TWO)

    code, out, err = run(str(tmp_path / "s.xml"), "--json")

    document = json.loads(out)
    assert (code, err) == (0, "")
    assert [url["loc"] for url in document["urls"]] == [A, B]
    assert document["urls"][0]["lastmod"] == "2024-05-06T00:00:00+00:00"
    assert (document["outcome"], document["kind"], document["count"], document["partial"]) == ("found", "urlset", 2, [])


def test_json_of_nothing_is_a_document_too(run, tmp_path):
    (tmp_path / "s.xml").write_text("<html></html>")

    code, out, _ = run(str(tmp_path / "s.xml"), "--json")

    document = json.loads(out)
    assert (code, document["urls"], document["outcome"]) == (1, [], "none")
    assert "HTML" in document["misses"][0]["why"]


def test_a_limit_stops_and_says_so(run, tmp_path):
    (tmp_path / "s.xml").write_text(TWO)

    code, out, err = run(str(tmp_path / "s.xml"), "--limit", "1")

    assert (code, out) == (0, f"{A}\n")
    assert "Stopped at the limit of 1." in err


def test_relative_urls_in_a_file_need_a_base(run, tmp_path):
    (tmp_path / "s.xml").write_text(urlset(record("/a")))

    assert "Skipped without a usable URL: 1." in run(str(tmp_path / "s.xml"))[2]
    assert run(str(tmp_path / "s.xml"), "--base", "https://example.com/s.xml")[1] == f"{A}\n"


def test_standard_input_is_read(run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(TWO.encode())))

    assert run("-")[:2] == (0, f"{A}\n{B}\n")


def test_an_index_file_says_that_it_is_one(run, tmp_path):
    (tmp_path / "s.xml").write_text(f"<sitemapindex><sitemap><loc>{A}</loc></sitemap></sitemapindex>")

    assert "these are sitemaps, not pages" in run(str(tmp_path / "s.xml"))[2]


def test_a_cut_file_gives_what_it_has_and_is_called_partial(run, tmp_path):
    (tmp_path / "s.xml").write_text(TWO[: TWO.index(B)])

    code, out, err = run(str(tmp_path / "s.xml"))

    assert (code, out) == (4, f"{A}\n")
    assert "Partial: " in err
    assert "ends in the middle of an entry" in err


@pytest.mark.parametrize(
    ("body", "why"),
    [(b"", "empty"), (b"PK\x03\x04" + b"\0" * 99, "ZIP"), (bytes(range(256)), "no sitemap"), (b"<html><p>", "HTML")],
)
def test_a_file_that_is_no_sitemap_says_what_it_is(run, tmp_path, body, why):
    (tmp_path / "s.xml").write_bytes(body)

    code, out, err = run(str(tmp_path / "s.xml"))

    assert (code, out) == (1, "")
    assert why in err


def test_a_missing_file_is_a_sentence(run, tmp_path):
    code, out, err = run(str(tmp_path / "nope.xml"), "--json")

    assert (code, out) == (2, "")
    assert f"There is no file {tmp_path / 'nope.xml'}." in err


def test_a_url_without_scheme_gets_one_proposed(run):
    code, _, err = run("example.com/sitemap.xml")

    assert code == 2
    assert "write https://example.com/sitemap.xml" in err


def test_a_directory_is_a_sentence(run, tmp_path):
    code, _, err = run(str(tmp_path))

    assert code == 2
    assert "is a directory" in err


def test_a_name_no_file_can_have_is_a_sentence(run):
    code, _, err = run("a\0b")

    assert code == 2
    assert "The file cannot be read." in err


def test_control_characters_never_reach_the_terminal(run, tmp_path):
    (tmp_path / "s.xml").write_text(urlset(record("https://example.com/&#x202E;&#x1b;[31m")))

    assert run(str(tmp_path / "s.xml"))[1] == "https://example.com/?[31m\n"


def test_a_long_reading_prints_its_progress(run, tmp_path, monkeypatch):
    monkeypatch.setattr(sitemap, "QUIET_SECONDS", 0.0)
    (tmp_path / "s.xml").write_text(TWO)

    assert "2 URLs from 1 sitemap so far" in run(str(tmp_path / "s.xml"))[2]


# -- the web: a server in a thread, the command in a process of its own ------------------------------------------------


@contextmanager
def site_up(answers: Mapping[str, bytes | str | int | tuple[int, str]]) -> Iterator[int]:
    """A site on loopback while the block runs; its port."""
    ready, done = threading.Event(), asyncio.Event()
    place: dict[str, object] = {}

    async def serve() -> None:
        async with serving(answers) as site:
            place.update(port=site.port, loop=asyncio.get_running_loop())
            ready.set()
            await done.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(240)
        yield int(str(place["port"]))
    finally:
        loop = place["loop"]
        assert isinstance(loop, asyncio.AbstractEventLoop)
        loop.call_soon_threadsafe(done.set)
        thread.join(10)


def on_the_web(answers, tmp_path, *arguments: str) -> subprocess.CompletedProcess[str]:
    with site_up(answers) as port:
        environment = {
            "PATH": os.environ["PATH"],
            "CRAWL_ALLOWED_PRIVATE_NETWORKS": f"127.0.0.1:{port}",
            "CRAWL_HOST_OVERRIDES": ",".join(f"{host}=127.0.0.1:{port}" for host in HOSTS),
            "CRAWL_HOST_DELAY_SECONDS": "0.05",
        }
        command = [sys.executable, "-c", "from scrapersky.cli import main; main()", "sitemap", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=240, env=environment, cwd=tmp_path)


INDEX = "<sitemapindex><sitemap><loc>/1.xml</loc></sitemap><sitemap><loc>/2.xml.gz</loc></sitemap></sitemapindex>"
SITE = {
    "/robots.txt": "Sitemap: http://shop.example/index.xml",
    "/index.xml": INDEX,
    "/1.xml": urlset(record("/a")),
    "/2.xml.gz": gzip.compress(urlset(record("/b")).encode()),
}
SHOP_URLS = ["http://shop.example/a", "http://shop.example/b"]


def test_a_site_is_searched_and_all_its_sitemaps_are_read(tmp_path):
    ended = on_the_web(SITE, tmp_path, "http://shop.example/")

    assert (ended.returncode, sorted(ended.stdout.split())) == (0, SHOP_URLS)
    assert "2 URLs from 3 sitemaps (index, urlset)." in ended.stderr


def test_a_sitemap_on_the_web_is_read_as_json(tmp_path):
    ended = on_the_web(SITE, tmp_path, "http://shop.example/index.xml", "--json")

    document = json.loads(ended.stdout)
    assert sorted(url["loc"] for url in document["urls"]) == SHOP_URLS
    assert [found["found_by"] for found in document["sitemaps"]] == ["given", "index", "index"]


def test_sitemaps_beyond_the_budget_make_it_partial(tmp_path):
    ended = on_the_web(SITE, tmp_path, "http://shop.example/index.xml", "--max-sitemaps", "2")

    assert ended.returncode == 4
    assert "Partial: only 2 sitemaps were looked into." in ended.stderr


def test_a_site_without_sitemap_says_where_it_looked(tmp_path):
    ended = on_the_web({"/": "<html></html>", "/sitemap.xml": "<html></html>"}, tmp_path, "http://shop.example")

    assert (ended.returncode, ended.stdout) == (1, "")
    assert "No sitemap." in ended.stderr
    assert "/sitemap.xml (well-known path): It is an HTML page" in ended.stderr


def test_an_unresolvable_name_is_a_failure_with_its_reason(tmp_path):
    ended = on_the_web({}, tmp_path, "http://nobody.invalid/", "--json")

    assert (ended.returncode, json.loads(ended.stdout)["outcome"]) == (3, "failed")
    assert "nobody.invalid" in json.loads(ended.stdout)["why"]
