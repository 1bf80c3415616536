"""Reading a sitemap takes bounded memory and time, however large, endless or hostile the file is."""

import gzip
import subprocess
import sys
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterable, Iterator

import pytest

from scrapersky.crawl.sitemaps.entry import SitemapKind
from scrapersky.crawl.sitemaps.hints import html_links
from scrapersky.crawl.sitemaps.read import ReadLimits, SitemapReader, SitemapReport
from tests.factories.sitemaps import read, record, urlset

MEGABYTE = 1024 * 1024
GOOD = "https://example.com/good"


def consume(chunks: Iterable[bytes], limits: ReadLimits | None = None) -> tuple[int, SitemapReport]:
    """Read without keeping; how many entries there were, and the report."""
    reader = SitemapReader("https://example.com/", limits)
    count = 0
    for chunk in chunks:
        for batch in reader.feed(chunk):
            count += len(batch)
        if reader.finished:
            break
    return count + sum(len(batch) for batch in reader.close()), reader.report


MILLION = """
from scrapersky.crawl.sitemaps.read import SitemapReader

def read(count):
    reader = SitemapReader("https://example.com/")
    chunks = [b"<urlset>"]
    for start in range(0, count, 1000):
        numbers = range(start, start + 1000)
        chunks = [*chunks, b"".join(b"<url><loc>https://example.com/%d</loc></url>\\n" % number for number in numbers)]
        for chunk in chunks:
            for batch in reader.feed(chunk):
                pass
        chunks = []
    for last in (*reader.feed(b"</urlset>"), *reader.close()):
        pass
    return reader.report

def peak_kilobytes():
    # Not getrusage: it counts what the parent held before this program began.
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])

read(2000)
before = peak_kilobytes()
report = read(1_000_000)
print(report.entries, report.partial, peak_kilobytes() - before)
"""


def test_a_million_urls_are_read_in_constant_memory():
    told = subprocess.run(
        [sys.executable, "-c", MILLION], capture_output=True, text=True, check=True, timeout=240
    ).stdout

    count, partial, rise_kilobytes = told.split()
    assert (count, partial) == ("1000000", "None")
    assert int(rise_kilobytes) < 5 * 1024


def test_a_gzip_bomb_of_records_stays_small_and_stops_at_the_limit():
    bomb = gzip.compress(b"<urlset>" + b"<url><loc>https://example.com/</loc></url>" * 1_000_000, 1)
    tracemalloc.start()
    count, report = consume([bomb], ReadLimits(max_bytes=8 * MEGABYTE))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert 190_000 < count < 210_000
    assert report.partial == "larger than 8,388,608 bytes"
    assert peak < 4 * MEGABYTE


def zeros_in_gzip(layers: int) -> bytes:
    compressor = zlib.compressobj(9, zlib.DEFLATED, 31)
    pieces = [compressor.compress(b"\0" * MEGABYTE) for _ in range(200)]
    data = b"".join([*pieces, compressor.flush()])
    return gzip.compress(data) if layers == 2 else data


@pytest.mark.parametrize("layers", [1, 2])
def test_a_gzip_bomb_without_markup_is_dropped_after_its_first_bytes(layers):
    tracemalloc.start()
    count, report = consume([zeros_in_gzip(layers)])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert (count, report.kind) == (0, SitemapKind.NONE)
    assert report.bytes_read < MEGABYTE
    assert peak < 4 * MEGABYTE


def test_empty_gzip_members_inside_gzip_are_counted_and_other_tasks_run_after_each(monkeypatch):
    opened = []
    decompressobj = zlib.decompressobj
    monkeypatch.setattr(zlib, "decompressobj", lambda wbits: opened.append(wbits) or decompressobj(wbits))
    reader, steps, most = SitemapReader("https://example.com/"), 0, 0
    before = len(opened)

    for _ in reader.feed(gzip.compress(gzip.compress(b"") * 100_000)):
        steps, most, before = steps + 1, max(most, len(opened) - before), len(opened)

    assert len(opened) < 10_010
    assert most <= 3  # one member of each layer, between two points where other tasks run
    assert steps > 10_000
    list(reader.close())
    assert reader.report.why_none == "the gzip data has more than 10,000 members"


def test_bytes_of_every_layer_count_towards_the_limit():
    # The outer layer grows, the inner one ended at once: nothing reaches the reader.
    body = gzip.compress(gzip.compress(b"") + b"junk" + b"\0" * (20 * MEGABYTE), 1)
    reader = SitemapReader("https://example.com/", ReadLimits(max_bytes=MEGABYTE))
    steps = sum(1 for _ in reader.feed(body))

    assert reader.finished
    assert steps < 100


def endless(piece: bytes) -> Iterator[bytes]:
    yield b"<urlset>"
    while True:
        yield piece


@pytest.mark.parametrize(
    ("piece", "why"),
    [
        (b"<url><loc>https://example.com/</loc></url>" * 1000, "more than 20,000 URLs"),
        (b"<!-- nothing -->" * 4000, "larger than"),
        (b"<url>" * 10_000, "larger than"),
        (b"<url><loc>" + b"a" * 60_000, "larger than"),
        (b"<url " + b"a" * 60_000, "larger than"),
        (b"<a>" * 20_000, "larger than"),
        (b"<" * 60_000, "larger than"),
        (b"<![CDATA[" * 6_000, "larger than"),
    ],
)
def test_an_endless_file_is_partial_at_a_limit(piece, why):
    count, report = consume(endless(piece), ReadLimits(max_bytes=2 * MEGABYTE, max_entries=20_000))

    assert why in (report.partial or "")
    assert count <= 20_000


def test_a_file_without_entries_for_long_is_dropped():
    count, report = consume(endless(b"<a>" * 20_000), ReadLimits(max_bytes_without_entry=MEGABYTE))

    assert (count, report.partial) == (0, "1,048,576 bytes without a URL")
    assert report.bytes_read < 2 * MEGABYTE


def test_exactly_as_many_urls_as_allowed_are_not_partial():
    assert read(urlset(record(GOOD)), limits=ReadLimits(max_entries=1)).report.partial is None
    assert read(urlset(record(GOOD), record(GOOD)), limits=ReadLimits(max_entries=1)).report.partial is not None


# Each is large, and each would be slow for a pattern that goes back over what it has read.
HOSTILE = {
    "spaces in a loc": record(" " * MEGABYTE + "x"),
    "line breaks in a loc": record("\n" * MEGABYTE + "x"),
    "ampersands": record("https://example.com/" + "&" * MEGABYTE),
    "half references": record("https://example.com/" + "&amp" * (MEGABYTE // 4)),
    "quotes in a tag": '<url a="' * (MEGABYTE // 8),
    "single quotes": "<url a='" + "'\"" * MEGABYTE,
    "attributes": "<url " + 'a="b" ' * (MEGABYTE // 6) + ">",
    "one long attribute": '<url a="' + "x" * MEGABYTE + '">',
    "open tags": "<x>" * (MEGABYTE // 3),
    "open records": "<url>" * (MEGABYTE // 5),
    "open records with loc": "<url><loc>https://example.com/" * (MEGABYTE // 30),
    "records that fail late": ("<url><loc>https://example.com/</loc>" + "<x:y>z" * 50 + "<z/></url>") * 2000,
    "one record of many elements": "<url><loc>https://example.com/</loc>" + "<x:y>z</x:y>" * 80_000 + "</url>",
    "deep": "<url>" + "<x>" * 150_000 + "</x>" * 150_000 + "</url>",
    "comment starts": "<!--" * (MEGABYTE // 4),
    "comment ends": "-->" * (MEGABYTE // 3),
    "comments in a loc": record("https://example.com/" + "a<!---->" * (MEGABYTE // 8)),
    "half CDATA": "<![CDATA[" + "]]" * (MEGABYTE // 2),
    "less-than signs": "<" * MEGABYTE,
    "laughs": '<!DOCTYPE x [<!ENTITY a "' + "&b;" * (MEGABYTE // 3) + '">]>&a;',
    "instructions": "<?x " * (MEGABYTE // 4),
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("chunk", [1400, 65_536])
def test_the_cost_of_a_hostile_file_grows_with_its_size_alone(hostile, chunk):
    quarter = urlset(record(GOOD), hostile[: len(hostile) // 4], head="")
    body = urlset(record(GOOD), hostile, head="")
    found = read(body, chunk=chunk)

    assert_linear(lambda: read(quarter, chunk=chunk), lambda: read(body, chunk=chunk))
    assert found.locs[0] == GOOD
    assert sum(len(extension.fields) for entry in found.entries[:100] for extension in entry.extensions) < 100_000


@pytest.mark.parametrize("part", ["<a ", "<link href='", "<a href=", 'a="', "<a" + " " * 5000])
def test_the_cost_of_hostile_html_grows_with_its_size_alone(part: str) -> None:
    html = part * (262_144 // len(part))
    base = "https://example.com/"
    assert_linear(lambda: html_links(html[: len(html) // 4], base), lambda: html_links(html, base))


def assert_linear(read_quarter: Callable[[], object], read_whole: Callable[[], object]) -> None:
    """Compare the CPU time for a quarter and for the whole: backtracking would cost sixteen times as much, or more."""
    assert any(cpu_seconds(read_whole) < 10 * cpu_seconds(read_quarter) + 0.5 for _ in range(3))


def cpu_seconds(action: Callable[[], object]) -> float:
    """Measure once; a neighbour that shares the core can double it, so its caller compares up to three times."""
    started = time.process_time()
    action()
    return time.process_time() - started


def test_the_reader_reports_when_further_bytes_are_ignored():
    reader = SitemapReader()
    assert list(reader.feed(b"<html><head>" + b" " * 2000)) == [[]]
    assert reader.finished


def test_an_interrupted_reading_keeps_its_entries_and_the_reason():
    reader = SitemapReader("https://example.com/")
    entries = [entry for batch in reader.feed(urlset(record(GOOD)).encode()[:-11]) for entry in batch]
    reader.interrupt("the site went away")
    entries += [entry for batch in reader.close() for entry in batch]

    assert [entry.loc for entry in entries] == [GOOD]
    assert reader.report.partial == "the site went away"
