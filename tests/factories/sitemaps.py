"""Small builders of sitemaps for the tests."""

from dataclasses import dataclass

from scrapersky.crawl.sitemaps.entry import SitemapEntry
from scrapersky.crawl.sitemaps.read import ReadLimits, SitemapReader, SitemapReport, read_sitemap

SITE = "https://example.com/sitemap.xml"
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


@dataclass
class Read:
    """Everything a reading gave."""

    entries: list[SitemapEntry]
    report: SitemapReport

    @property
    def locs(self) -> list[str]:
        return [entry.loc for entry in self.entries]


def read(body: bytes | str, *, url: str | None = SITE, chunk: int = 65_536, limits: ReadLimits | None = None) -> Read:
    """Read a body in chunks of this size."""
    data = body.encode() if isinstance(body, str) else body
    reader = SitemapReader(url, limits)
    chunks = (data[start : start + chunk] for start in range(0, len(data), chunk))
    return Read(list(read_sitemap(chunks, reader)), reader.report)


def urlset(*records: str, head: str = '<?xml version="1.0" encoding="UTF-8"?>\n', root: str = NAMESPACE) -> str:
    """Build a urlset of these records."""
    return f"{head}<urlset {root}>\n" + "\n".join(records) + "\n</urlset>\n"


def record(loc: str, inside: str = "") -> str:
    """Build one url record."""
    return f"  <url>\n    <loc>{loc}</loc>\n{inside}  </url>"
