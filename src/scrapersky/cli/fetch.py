"""`scrapersky fetch URL`: the response of a site, its redirects, or why it cannot be fetched."""

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scrapersky.cli.shared.application import run_async
from scrapersky.cli.shared.options import AsJson
from scrapersky.cli.shared.output import printable

if TYPE_CHECKING:
    from scrapersky.core.settings import Settings
    from scrapersky.crawl.errors import FetchError
    from scrapersky.crawl.page import FetchedPage

TAB = "\t"


def fetch(
    url: Annotated[str, typer.Argument(help="The URL, with http:// or https://.")],
    head: Annotated[bool, typer.Option("--head", help="Send a HEAD request.")] = False,
    body: Annotated[bool, typer.Option("--body", help="Print the text of the page only.")] = False,
    as_json: AsJson = False,
    robots: Annotated[bool, typer.Option("--robots/--no-robots", help="Obey robots.txt.")] = True,
) -> None:
    """Fetch one page as the crawler does.

    Example: scrapersky fetch https://example.com/contact --body

    Exit codes: 0 fetched, 2 wrong usage or setting, 3 try again later, 4 not found, 5 cannot be fetched, 6 not allowed.
    """
    from scrapersky.core.logging_setup import configure_logs
    from scrapersky.core.settings import Environment, load
    from scrapersky.crawl.errors import FetchError

    settings = load(Environment())
    configure_logs(settings)
    obeyed = robots and settings.crawl_obey_robots
    try:
        page = run_async(_fetch(settings.model_copy(update={"crawl_obey_robots": obeyed}), url, head))
    except FetchError as error:
        typer.echo(json.dumps(_failure(url, error)) if as_json else _failure_text(error), err=not as_json)
        raise typer.Exit(_outcome(error)[1]) from None
    if body:
        lines = (printable(line, keep=TAB) for line in page.text.splitlines())
        typer.echo("\n".join(lines) if sys.stdout.isatty() else page.text)
    elif as_json:
        typer.echo(json.dumps(_success(page, obeyed)))
    else:
        typer.echo("\n".join(_success_lines(page, obeyed)))


async def _fetch(settings: "Settings", url: str, head: bool) -> "FetchedPage":
    from scrapersky.crawl.crawler import open_crawler

    async with open_crawler(settings) as crawler:
        return await crawler.fetch(url, method="HEAD" if head else "GET")


def _success(page: "FetchedPage", obeyed: bool) -> dict[str, Any]:
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
        "robots": _robots_text(obeyed),
    }


def _failure(url: str, error: "FetchError") -> dict[str, Any]:
    return {
        "outcome": _outcome(error)[0],
        "url": url,
        "final_url": error.url,
        "status": error.status,
        "redirects": [asdict(hop) for hop in error.redirects],
        "reason": error.reason,
        "retry_after_seconds": _retry_after(error),
    }


def _outcome(error: "FetchError") -> tuple[str, int]:
    """Return the name of an error and its exit code; 2 is wrong usage, as in all commands."""
    from scrapersky.crawl.errors import BlockedByPolicy, PageNotFound, PermanentFetchError

    match error:
        case PageNotFound():
            return "gone", 4
        case PermanentFetchError():
            return "give_up", 5
        case BlockedByPolicy():
            return "blocked_by_policy", 6
        case _:
            return "retry_later", 3


def _success_lines(page: "FetchedPage", obeyed: bool) -> list[str]:
    headers = page.headers.items()
    return [
        *(f"  {hop.status}  {hop.url}" for hop in page.redirects),
        f"  {page.status}  {page.final_url}",
        "",
        f"  time     {page.seconds * 1000:.0f} ms",
        f"  size     {len(page.body)} bytes, {page.raw_bytes} transferred",
        f"  charset  {page.charset}",
        f"  robots   {_robots_text(obeyed)}",
        "",
        *(f"  {printable(name, keep=TAB)}: {printable(value, keep=TAB)}" for name, value in headers),
    ]


def _failure_text(error: "FetchError") -> str:
    hops = [f"  {hop.status}  {hop.url}" for hop in error.redirects]
    after = _retry_after(error)
    wait = f" Try again after {after:.0f} s." if after is not None else ""
    return "\n".join([*hops, f"{error.title} {printable(error.reason, keep=TAB)}{wait}"])


def _retry_after(error: "FetchError") -> float | None:
    from scrapersky.crawl.errors import RetryLater

    after = error.after if isinstance(error, RetryLater) else None
    return None if after is None else after.total_seconds()


def _robots_text(obeyed: bool) -> str:
    return "allowed by robots.txt" if obeyed else "robots.txt was ignored"
