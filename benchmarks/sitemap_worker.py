"""Reads one file with one reader in a process of its own; prints URLs, CPU seconds and the rise of memory as JSON.

Run as a script by the Python that has the reader installed; imports nothing of this project but the product itself.
"""

import asyncio
import gzip
import json
import logging
import sys
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path

SITEMAP_URL = "https://www.example.com/sitemap.xml"
SMALL = (
    b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    b"<url><loc>https://www.example.com/</loc><lastmod>2025-01-01</lastmod></url></urlset>"
)


def content_of(path: Path) -> bytes:
    """Return the whole decompressed file, which every peer needs."""
    body = path.read_bytes()
    return gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body


def chunks_of(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(65_536):
            yield chunk


def scrapersky(path: Path) -> int:
    """Read with ours: every value as written."""
    from scrapersky.crawl.sitemaps.read import SitemapReader

    reader = SitemapReader(SITEMAP_URL)
    count = 0
    for chunk in chunks_of(path):
        for batch in reader.feed(chunk):
            count += len(batch)
    return count + sum(len(batch) for batch in reader.close())


def scrapersky_objects(path: Path) -> int:
    """Read with ours, with lastmod as an aware time and priority as a number, as some peers give them."""
    from scrapersky.crawl.sitemaps.read import SitemapReader, read_sitemap

    count = 0
    for entry in read_sitemap(chunks_of(path), SitemapReader(SITEMAP_URL)):
        _ = (entry.loc, entry.lastmod, entry.changefreq, entry.priority)
        count += 1
    return count


def scrapy(path: Path) -> int:
    from scrapy.utils.sitemap import Sitemap

    return sum(1 for _ in Sitemap(content_of(path)))


def crawlee(path: Path) -> int:
    from crawlee._utils.sitemap import parse_sitemap

    async def count() -> int:
        # With a url: without one it hashes the whole content for every single URL.
        source = {"type": "raw", "content": content_of(path).decode(), "url": SITEMAP_URL}
        pages: AsyncGenerator[object, None] = parse_sitemap([source], None)
        return len([1 async for _ in pages])

    return asyncio.run(count())


def advertools(path: Path) -> int:
    from advertools import sitemap_to_df

    return len(sitemap_to_df(path.as_uri()))


def trafilatura(path: Path) -> int:
    from trafilatura.sitemaps import SitemapObject

    sitemap = SitemapObject("https://www.example.com", "example.com", [], None)
    sitemap.current_url = SITEMAP_URL
    sitemap.content = content_of(path).decode()
    sitemap.process()
    return len(sitemap.urls)


def usp(path: Path) -> int:
    from usp.fetch_parse import SitemapStrParser

    return sum(1 for _ in SitemapStrParser(content_of(path).decode()).sitemap().all_pages())


def peak_kilobytes() -> int:
    """Return the peak memory of this program; getrusage would include its parent's memory before exec."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0])


READERS: dict[str, Callable[[Path], int]] = {
    "scrapersky": scrapersky,
    "scrapersky, objects": scrapersky_objects,
    "scrapy": scrapy,
    "crawlee": crawlee,
    "advertools": advertools,
    "trafilatura": trafilatura,
    "ultimate-sitemap-parser": usp,
}


def main() -> None:
    """Import and warm up on a small file first, so that only the reading is measured."""
    logging.disable(logging.CRITICAL)
    read, path = READERS[sys.argv[1]], Path(sys.argv[2])
    small = path.parent / "small.xml"
    small.write_bytes(SMALL)
    read(small)
    before = peak_kilobytes()
    started = time.process_time()
    count = read(path)
    spent = time.process_time() - started
    rise = peak_kilobytes() - before
    print(json.dumps({"urls": count, "cpu_seconds": spent, "rise_kilobytes": rise}))


if __name__ == "__main__":
    main()
