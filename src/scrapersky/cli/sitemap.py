"""`scrapersky sitemap URL|FILE`: every URL of a sitemap or of a whole site, and what could not be read and why."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
import uvloop

from scrapersky.cli.printing.patient_fetcher import PatientWeb
from scrapersky.cli.printing.sitemap import Output, Progress
from scrapersky.core.errors import BadRequest
from scrapersky.core.logging_setup import configure_logs
from scrapersky.core.settings import Environment, Settings, load
from scrapersky.crawl.crawler import open_crawler
from scrapersky.crawl.sitemaps.discover import discover
from scrapersky.crawl.sitemaps.entry import SitemapEntry, SitemapKind
from scrapersky.crawl.sitemaps.read import SitemapReader
from scrapersky.crawl.sitemaps.result import (
    FoundBy,
    FoundSitemap,
    Miss,
    MissKind,
    SearchLimits,
    SearchOutcome,
    SitemapSearch,
    SitePolicy,
)

# 2 is wrong usage or a wrong setting, as everywhere.
EXIT_NONE, EXIT_FAILED, EXIT_PARTIAL = 1, 3, 4
_BEAT_SECONDS = 0.5
_CHUNK_BYTES = 65_536


class UnreadableFile(BadRequest):
    """The file cannot be read."""


def sitemap(
    target: Annotated[str, typer.Argument(help="A site or sitemap with http(s)://, a file (xml, txt, gz), or -.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Stop after this many URLs.")] = None,
    base: Annotated[
        str | None, typer.Option(help="The address of FILE: what relative URLs in it are relative to.")
    ] = None,
    max_sitemaps: Annotated[int, typer.Option(min=1, help="How many sitemaps of a site are read at most.")] = 200,
    same_site: Annotated[SitePolicy, typer.Option(help="How far a sitemap may lead to others.")] = SitePolicy.DOMAIN,
    robots: Annotated[bool, typer.Option("--robots/--no-robots", help="Honour robots.txt.")] = True,
) -> None:
    """Print the URLs of a sitemap file, of a sitemap on the web, or of all sitemaps of a site.

    Exit codes: 0 everything, 1 no sitemap, 2 wrong usage or setting, 3 failed (worth another try), 4 only a part.
    """
    output = Output(target, as_json=as_json, limit=limit, progress=Progress())
    if target.lower().startswith(("http://", "https://")):
        settings = load(Environment())
        configure_logs(settings)
        settings = settings.model_copy(update={"crawl_obey_robots": robots and settings.crawl_obey_robots})
        search = uvloop.run(_search(settings, target, SearchLimits(max_fetches=max_sitemaps, policy=same_site), output))
    else:
        search = _read_file(target, base, output)
    output.finish(search)
    raise typer.Exit(_exit_code(search))


async def _search(settings: Settings, url: str, limits: SearchLimits, output: Output) -> SitemapSearch:
    async with open_crawler(settings) as crawler:
        beat = asyncio.create_task(_beat(output))
        try:
            return await discover(url, PatientWeb(crawler, limits.read), limits, output.take)
        finally:
            beat.cancel()


async def _beat(output: Output) -> None:
    """Keep the progress alive while nothing arrives."""
    while True:
        await asyncio.sleep(_BEAT_SECONDS)
        output.beat()


def _read_file(name: str, base: str | None, output: Output) -> SitemapSearch:
    reader = SitemapReader(base)
    wanted = True
    for batch in _batches(name, reader):
        if not output.take(name, batch):
            wanted = False
            break
    report, search = reader.report, SitemapSearch(name)
    if reader.kind is SitemapKind.NONE:
        kind = MissKind.FAILED if report.partial else MissKind.NONE
        search.misses.append(Miss(name, FoundBy.GIVEN, kind, f"It is {report.why_none}."))
    else:
        partial = report.partial if wanted else None
        skipped = dict(report.skipped)
        search.sitemaps.append(
            FoundSitemap(
                name,
                name,
                reader.kind,
                FoundBy.GIVEN,
                entries=report.entries if wanted else None,
                skipped=skipped,
                partial=partial,
            )
        )
    return search


def _batches(name: str, reader: SitemapReader) -> Iterator[list[SitemapEntry]]:
    for chunk in _chunks(name):
        yield from reader.feed(chunk)
        if reader.finished:
            break
    yield from reader.close()


def _chunks(name: str) -> Iterator[bytes]:
    if name == "-":
        while chunk := sys.stdin.buffer.read(_CHUNK_BYTES):
            yield chunk
        return
    path = Path(name)
    try:
        if path.is_dir():
            raise UnreadableFile(f"{name} is a directory; name one file in it.")
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                yield chunk
    except FileNotFoundError:
        cure = "" if name.startswith((".", "/")) else f" If it is an address, write https://{name}."
        raise UnreadableFile(f"There is no file {name}.{cure}") from None
    except (OSError, ValueError) as error:
        raise UnreadableFile(f"{name}: {getattr(error, 'strerror', None) or error}.") from None


def _exit_code(search: SitemapSearch) -> int:
    if search.outcome is SearchOutcome.FOUND:
        return EXIT_PARTIAL if search.partial else 0
    return EXIT_NONE if search.outcome is SearchOutcome.NONE else EXIT_FAILED
