"""What `scrapersky sitemap` prints: URLs or one JSON document to standard output, everything else to standard error."""

import json
import sys
import time
from dataclasses import asdict
from typing import Any

import typer
from rich.console import Console
from rich.status import Status

from scrapersky.crawl.sitemaps.entry import SitemapEntry, SitemapKind
from scrapersky.crawl.sitemaps.result import SearchOutcome, SitemapSearch

_QUIET_SECONDS = 2.0


class Progress:
    """Says how far it came when it takes longer than two seconds: a live line on a terminal, plain lines elsewhere."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._live: Status | None = None
        self._next = time.monotonic() + _QUIET_SECONDS

    def tell(self, told: str) -> None:
        """The state of things now."""
        if self._live is not None:
            self._live.update(told)
        elif time.monotonic() >= self._next:
            # URLs that run over the same terminal are progress enough.
            if self._console.is_terminal and not sys.stdout.isatty():
                self._live = self._console.status(told)
                self._live.start()
            elif not sys.stdout.isatty():
                typer.echo(told, err=True)
            self._next = time.monotonic() + _QUIET_SECONDS

    def stop(self) -> None:
        """Take the live line away."""
        if self._live is not None:
            self._live.stop()


class Output:
    """Prints entries as they come, so that nothing is kept, and the summary at the end."""

    def __init__(self, source: str, *, as_json: bool, limit: int | None, progress: Progress) -> None:
        self._source = source
        self._as_json = as_json
        self._limit = limit
        self._progress = progress
        self._count = 0
        self._sitemaps: set[str] = set()

    def take(self, sitemap: str, batch: list[SitemapEntry]) -> bool:
        """Print these entries; false when the limit is reached."""
        if self._limit is not None:
            batch = batch[: self._limit - self._count]
        if batch:
            self._sitemaps.add(sitemap)
            lines = self._json_lines(sitemap, batch) if self._as_json else "".join(f"{_shown(e.loc)}\n" for e in batch)
            sys.stdout.write(lines)
            self._count += len(batch)
        self.beat()
        return self._limit is None or self._count < self._limit

    def beat(self) -> None:
        """Show how far it came."""
        self._progress.tell(f"{_plural(self._count, 'URL')} from {_plural(len(self._sitemaps), 'sitemap')} so far")

    def finish(self, search: SitemapSearch) -> None:
        """The summary: what was found, what not, and why."""
        self._progress.stop()
        if self._as_json:
            sys.stdout.write(self._opening() + "\n], " + json.dumps(self._summary(search))[1:] + "\n")
            return
        sys.stdout.flush()
        typer.echo("\n".join(self._sentences(search)), err=True)

    def _opening(self) -> str:
        """The beginning of the document; not before there is something to say, so that an error stands alone."""
        return "" if self._count else f'{{"source": {json.dumps(self._source)}, "urls": ['

    def _json_lines(self, sitemap: str, batch: list[SitemapEntry]) -> str:
        return (self._opening() or ",") + ",".join("\n" + json.dumps(_entry(sitemap, entry)) for entry in batch)

    def _summary(self, search: SitemapSearch) -> dict[str, Any]:
        return {
            "outcome": search.outcome,
            "why": search.why,
            "kind": search.sitemaps[0].kind if search.sitemaps else "none",
            "count": self._count,
            "limit_reached": self._limit_reached(),
            "partial": search.partial,
            "sitemaps": [asdict(found) for found in search.sitemaps],
            "misses": [{**asdict(miss), "retry_after": _seconds(miss.retry_after)} for miss in search.misses],
        }

    def _limit_reached(self) -> bool:
        return self._limit is not None and self._count >= self._limit

    def _sentences(self, search: SitemapSearch) -> list[str]:
        if search.outcome is not SearchOutcome.FOUND:
            told = {SearchOutcome.NONE: "No sitemap.", SearchOutcome.FAILED: "Failed."}[search.outcome]
            tried = [f"  {_shown(miss.url)} ({miss.how}): {_shown(miss.why)}" for miss in search.misses[:20]]
            return [f"{told} {_shown(search.why)}", *tried]
        kinds = ", ".join(dict.fromkeys(str(found.kind) for found in search.sitemaps if found.kind is not None))
        skipped = sum(sum(found.skipped.values()) for found in search.sitemaps)
        sentences = [f"{_plural(self._count, 'URL')} from {_plural(len(search.sitemaps), 'sitemap')} ({kinds})."]
        if kinds == SitemapKind.INDEX and self._count:
            sentences.append("The file is an index: these are sitemaps, not pages.")
        if self._limit_reached():
            sentences.append(f"Stopped at the limit of {self._limit:,}.")
        if skipped:
            sentences.append(f"Skipped for want of a usable URL: {skipped:,}.")
        sentences += [f"Partial: {_shown(reason)}." for reason in search.partial[:20]]
        sentences += [f"Not read: {_shown(miss.url)}: {_shown(miss.why)}" for miss in search.misses[:20]]
        return sentences


def _entry(sitemap: str, entry: SitemapEntry) -> dict[str, Any]:
    lastmod = entry.lastmod
    return {
        "loc": entry.loc,
        "lastmod": lastmod.isoformat() if lastmod is not None else None,
        "lastmod_text": entry.lastmod_text,
        "changefreq": entry.changefreq,
        "priority": entry.priority,
        "extensions": [
            {"kind": each.kind, "fields": [list(pair) for pair in each.fields]} for each in entry.extensions
        ],
        "sitemap": sitemap,
    }


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _seconds(after: Any) -> float | None:
    return None if after is None else float(after.total_seconds())


def _shown(text: str) -> str:
    """The text as it may stand on a terminal, without anything that moves a cursor."""
    return text if text.isprintable() else "".join(char if char.isprintable() else "?" for char in text)
