"""`scrapersky fetch URL`: what a site answers, how it got there, and why not when it does not."""

import json
import sys
from dataclasses import asdict
from typing import Annotated, Any

import typer
import uvloop

from scrapersky.core.logging_setup import configure_logs
from scrapersky.core.settings import Environment, Settings, load
from scrapersky.crawl.crawler import open_crawler
from scrapersky.crawl.errors import BlockedByPolicy, FetchError, PageNotFound, PermanentFetchError, RetryLater
from scrapersky.crawl.page import FetchedPage

# 2 stays what it is everywhere: a wrong option or setting.
EXIT_CODES: dict[type[FetchError], int] = {RetryLater: 3, PageNotFound: 4, PermanentFetchError: 5, BlockedByPolicy: 6}
WORDS = {
    RetryLater: "retry_later",
    PageNotFound: "gone",
    PermanentFetchError: "give_up",
    BlockedByPolicy: "blocked_by_policy",
}


def fetch(
    url: Annotated[str, typer.Argument(help="The address, with http:// or https://.")],
    head: Annotated[bool, typer.Option("--head", help="Ask for the headers only.")] = False,
    body: Annotated[bool, typer.Option("--body", help="Print the text of the page and nothing else.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    robots: Annotated[bool, typer.Option("--robots/--no-robots", help="Honour robots.txt.")] = True,
) -> None:
    """Fetch one page the way the crawler does.

    Exit codes: 0 fetched, 2 wrong usage or setting, 3 try again later, 4 nothing there, 5 cannot be had, 6 not allowed.
    """
    settings = load(Environment())
    configure_logs(settings)
    honoured = robots and settings.crawl_obey_robots
    try:
        page = uvloop.run(_fetched(settings.model_copy(update={"crawl_obey_robots": honoured}), url, head))
    except FetchError as error:
        typer.echo(json.dumps(_failure(url, error)) if as_json else _told(error), err=not as_json)
        raise typer.Exit(EXIT_CODES[type(error)]) from None
    if body:
        typer.echo("\n".join(map(_printable, page.text.splitlines())) if sys.stdout.isatty() else page.text)
    elif as_json:
        typer.echo(json.dumps(_success(page, honoured)))
    else:
        typer.echo("\n".join(_report(page, honoured)))


async def _fetched(settings: Settings, url: str, head: bool) -> FetchedPage:
    async with open_crawler(settings) as crawler:
        return await crawler.fetch(url, method="HEAD" if head else "GET")


def _success(page: FetchedPage, honoured: bool) -> dict[str, Any]:
    return {
        "outcome": "fetched",
        "url": page.url,
        "final_url": page.final_url,
        "status": page.status,
        "redirects": [asdict(hop) for hop in page.redirects],
        "headers": [[name, value] for name, value in page.headers.items()],
        "content_type": page.content_type,
        "charset": page.charset,
        "bytes": len(page.body),
        "raw_bytes": page.raw_bytes,
        "seconds": round(page.seconds, 4),
        "fetched_at": page.fetched_at.isoformat(),
        "robots": _verdict(honoured),
    }


def _failure(url: str, error: FetchError) -> dict[str, Any]:
    after = error.after if isinstance(error, RetryLater) else None
    return {
        "outcome": WORDS[type(error)],
        "url": url,
        "final_url": error.url,
        "status": error.status,
        "redirects": [asdict(hop) for hop in error.redirects],
        "reason": error.reason,
        "retry_after_seconds": None if after is None else after.total_seconds(),
    }


def _report(page: FetchedPage, honoured: bool) -> list[str]:
    hops = [f"  {hop.status}  {hop.url}" for hop in page.redirects]
    return [
        *hops,
        f"  {page.status}  {page.final_url}",
        "",
        f"  time     {page.seconds * 1000:.0f} ms",
        f"  size     {len(page.body)} bytes, {page.raw_bytes} on the wire",
        f"  charset  {page.charset}",
        f"  robots   {_verdict(honoured)}",
        "",
        *(f"  {_printable(name)}: {_printable(value)}" for name, value in page.headers.items()),
    ]


def _told(error: FetchError) -> str:
    hops = [f"  {hop.status}  {hop.url}" for hop in error.redirects]
    after = error.after if isinstance(error, RetryLater) else None
    wait = f" Try again after {after.total_seconds():.0f} s." if after is not None else ""
    return "\n".join([*hops, f"{error.title} {_printable(error.reason)}{wait}"])


def _verdict(honoured: bool) -> str:
    return "allowed by robots.txt" if honoured else "robots.txt was not asked"


def _printable(text: str) -> str:
    """What a terminal can show without being moved, coloured or beeped by a web site."""
    return "".join(char if char.isprintable() or char == "\t" else "?" for char in text)
