"""The page to extract contacts from: a file, or a URL fetched by the crawler."""

from pathlib import Path

from scrapersky.core.errors import BadRequest
from scrapersky.core.settings import Settings
from scrapersky.crawl.crawler import open_crawler
from scrapersky.extract.contacts import read_contacts
from scrapersky.extract.document.charset import decode, prescan
from scrapersky.extract.parser_pool.pool import ParserPool
from scrapersky.extract.people.explain import ExplainedName, explain_names
from scrapersky.extract.phones.region import is_region
from scrapersky.extract.results import Contacts

MAX_PAGE_BYTES = 20_000_000
PRELOAD = ("scrapersky.extract.contacts",)  # modules that a parser process imports at its start
BINARY = (b"%PDF-", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"PK\x03\x04", b"\x1f\x8b", b"\x7fELF", b"RIFF")


class BadPage(BadRequest):
    """The page cannot be read."""


class BadRegion(BadRequest):
    """The region is unknown."""


async def extract_page(
    settings: Settings, target: str, url: str, region: str | None, explain: bool = False
) -> tuple[Contacts, str, list[ExplainedName]]:
    """Return the contacts of a file or URL, the URL of the page and, if asked for, its names with their points.

    Raises BadPage or FetchError.
    """
    if target.lower().startswith(("http://", "https://")):
        html, final_url = await _fetch(settings, target)
        url = url or final_url
    else:
        html = read_page(Path(target))
    async with ParserPool(size=1, preload=PRELOAD) as pool:
        contacts = await pool.run(read_contacts, html, url=url, region=region)
        return contacts, url, await pool.run(explain_names, html, url) if explain else []


def check_region(region: str) -> str | None:
    """Return the region in upper case, or None if it is empty. Raises BadRegion."""
    if not region:
        return None
    if not is_region(region.upper()):
        raise BadRegion(f"{region} is not a region. Use the two letters of a country, such as FI.")
    return region.upper()


def read_page(path: Path) -> str:
    """Return the text of a file. Raises BadPage."""
    if path.is_dir():
        raise BadPage(f"{path} is a directory. Name a file in it.")
    try:
        with path.open("rb") as file:
            body = file.read(MAX_PAGE_BYTES + 1)
    except FileNotFoundError:
        cure = "A URL needs http:// or https:// in front." if "." in str(path) else "Check the name."
        raise BadPage(f"{path} is not a file. {cure}") from None
    except OSError as error:
        raise BadPage(f"{path} cannot be read: {error.strerror or error}.") from None
    if len(body) > MAX_PAGE_BYTES:
        raise BadPage(f"{path} is larger than {MAX_PAGE_BYTES // 1_000_000} MB, the maximum of a page.")
    if not body.strip():
        raise BadPage(f"{path} is empty.")
    if _is_binary(body):
        raise BadPage(f"{path} is binary data, not a page.")
    return decode(body).text


async def _fetch(settings: Settings, url: str) -> tuple[str, str]:
    """Return the text of a page and its final URL."""
    async with open_crawler(settings) as crawler:
        page = await crawler.fetch(url)
    if not page.text.strip():
        raise BadPage(f"{page.final_url} is empty.")
    return page.text, page.final_url


def _is_binary(body: bytes) -> bool:
    if body.startswith(BINARY):
        return True
    is_utf_16 = body.startswith((b"\xff\xfe", b"\xfe\xff")) or (prescan(body) or "").startswith("utf-16")
    return not is_utf_16 and body[:4096].count(b"\0") > 4
