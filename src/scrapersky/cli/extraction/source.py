"""Where a page to extract comes from: a file on this machine, or the web through the guarded client."""

from pathlib import Path

from scrapersky.core.errors import BadRequest
from scrapersky.core.settings import Settings
from scrapersky.crawl.crawler import open_crawler
from scrapersky.crawl.http.charset import decode, prescan
from scrapersky.extract.phones.region import is_region

LARGEST_PAGE = 20_000_000
BINARY = (b"%PDF-", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"PK\x03\x04", b"\x1f\x8b", b"\x7fELF", b"RIFF")


class BadPage(BadRequest):
    """There is no page to read."""


class BadRegion(BadRequest):
    """There is no such region."""


def is_url(target: str) -> bool:
    """Whether the target is an address on the web."""
    return target.lower().startswith(("http://", "https://"))


def checked_region(region: str) -> str | None:
    """The region in capitals, None when none was given, or BadRegion."""
    if not region:
        return None
    if not is_region(region.upper()):
        raise BadRegion(f"{region} is not a region. Use the two letters of a country, such as FI.")
    return region.upper()


def page_in(path: Path) -> str:
    """The page in a file as text, or BadPage with the reason."""
    if path.is_dir():
        raise BadPage(f"{path} is a directory. Name a file in it.")
    try:
        with path.open("rb") as file:
            body = file.read(LARGEST_PAGE + 1)
    except FileNotFoundError:
        cure = "An address needs http:// or https:// in front." if "." in str(path) else "Check the name."
        raise BadPage(f"{path} is not a file. {cure}") from None
    except OSError as error:
        raise BadPage(f"{path} cannot be read: {error.strerror or error}.") from None
    if len(body) > LARGEST_PAGE:
        raise BadPage(f"{path} is larger than {LARGEST_PAGE // 1_000_000} MB. That is no page.")
    if not body.strip():
        raise BadPage(f"{path} is empty.")
    if _is_binary(body):
        raise BadPage(f"{path} is not a page but binary data.")
    return decode(body).text


async def fetched(settings: Settings, url: str) -> tuple[str, str]:
    """The page at an address and where it was found in the end."""
    async with open_crawler(settings) as crawler:
        page = await crawler.fetch(url)
    if not page.text.strip():
        raise BadPage(f"{page.final_url} is empty.")
    return page.text, page.final_url


def _is_binary(body: bytes) -> bool:
    if body.startswith(BINARY):
        return True
    marked = body.startswith((b"\xff\xfe", b"\xfe\xff")) or (prescan(body) or "").startswith("utf-16")
    return not marked and body[:4096].count(b"\0") > 4
