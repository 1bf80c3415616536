"""Output of `scrapersky sitemap`: URLs or one JSON document on standard output, all else on standard error."""

import json
import sys
import time
from dataclasses import asdict
from typing import Any

import typer
from rich.console import Console
from rich.status import Status

from scrapersky.cli.shared.output import printable
from scrapersky.crawl.sitemaps.entry import SitemapEntry, SitemapKind
from scrapersky.crawl.sitemaps.result import SearchOutcome, SitemapSearch

QUIET_SECONDS = 2.0


class SitemapProgress:
    """Progress after the first two seconds: a live line on a terminal, plain lines elsewhere."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._live: Status | None = None
        self._next = time.monotonic() + QUIET_SECONDS

    def show(self, text: str) -> None:
        """Show the current progress."""
        if self._live is not None:
            self._live.update(text)
        elif time.monotonic() >= self._next:
            # URLs that are printed to the same terminal show the progress already.
            if self._console.is_terminal and not sys.stdout.isatty():
                self._live = self._console.status(text)
                self._live.start()
            elif not sys.stdout.isatty():
                typer.echo(text, err=True)
            self._next = time.monotonic() + QUIET_SECONDS

    def stop(self) -> None:
        """Remove the live line."""
        if self._live is not None:
            self._live.stop()


class Output:
    """Prints entries as they arrive, without keeping them, and the summary at the end."""

    def __init__(self, source: str, *, as_json: bool, limit: int | None, progress: SitemapProgress) -> None:
        self._source = source
        self._as_json = as_json
        self._limit = limit
        self._progress = progress
        self._count = 0
        self._sitemaps: set[str] = set()

    def take(self, sitemap: str, batch: list[SitemapEntry]) -> bool:
        """Print these entries; return False when the limit is reached."""
        if self._limit is not None:
            batch = batch[: self._limit - self._count]
        if batch:
            self._sitemaps.add(sitemap)
            lines = (
                self._json_lines(sitemap, batch) if self._as_json else "".join(f"{printable(e.loc)}\n" for e in batch)
            )
            sys.stdout.write(lines)
            self._count += len(batch)
        self.show_progress()
        return self._limit is None or self._count < self._limit

    def show_progress(self) -> None:
        """Show the number of URLs so far."""
        self._progress.show(f"{_plural(self._count, 'URL')} from {_plural(len(self._sitemaps), 'sitemap')} so far")

    def finish(self, search: SitemapSearch) -> None:
        """Print the summary: what was found, what was not, and why."""
        self._progress.stop()
        if self._as_json:
            sys.stdout.write(self._opening() + "\n], " + json.dumps(self._summary(search))[1:] + "\n")
            return
        sys.stdout.flush()
        typer.echo("\n".join(self._sentences(search)), err=True)

    def _opening(self) -> str:
        """Return the start of the document before the first entry; an early error then prints no half document."""
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
            outcome = {SearchOutcome.NONE: "No sitemap.", SearchOutcome.FAILED: "Failed."}[search.outcome]
            tried = [f"  {printable(miss.url)} ({miss.found_by}): {printable(miss.why)}" for miss in search.misses[:20]]
            return [f"{outcome} {printable(search.why)}", *tried]
        kinds = ", ".join(dict.fromkeys(str(found.kind) for found in search.sitemaps if found.kind is not None))
        skipped = sum(sum(found.skipped.values()) for found in search.sitemaps)
        sentences = [f"{_plural(self._count, 'URL')} from {_plural(len(search.sitemaps), 'sitemap')} ({kinds})."]
        if kinds == SitemapKind.INDEX and self._count:
            sentences.append("The file is an index: these are sitemaps, not pages.")
        if self._limit_reached():
            sentences.append(f"Stopped at the limit of {self._limit:,}.")
        if skipped:
            sentences.append(f"Skipped without a usable URL: {skipped:,}.")
        sentences += [f"Partial: {printable(reason)}." for reason in search.partial[:20]]
        sentences += [f"Not read: {printable(miss.url)}: {printable(miss.why)}" for miss in search.misses[:20]]
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
