"""What it costs to classify an address, and to send a page through a parser process.

python -m benchmarks.pages
"""

import random
import resource
import statistics
import time
from collections.abc import Callable

import uvloop

from scrapersky.extract.pages.classify import classify_page
from scrapersky.extract.parser_pool.pool import ParserPool
from scrapersky.extract.site_metadata import read_metadata

ROUNDS = 3
ADDRESSES = 1_000_000
PAGES = 3_000
WORDS = (
    *(
        "red",
        "blue",
        "shoe",
        "dental",
        "implant",
        "how",
        "to",
        "choose",
        "the",
        "best",
        "guide",
        "for",
        "your",
        "garden",
    ),
    *("green", "lamp", "table", "city", "helsinki", "2024", "review", "tips", "home", "kontakt", "team", "leistungen"),
    *("preise", "yhteystiedot", "about", "contact", "hammaslaakari", "remontti", "hinnasto", "vuokra", "asunto"),
)
FOLDERS = ("", "", "", "products/", "blog/2024/", "en/", "fi/palvelut/", "category/news/", "team/", "shop/item/")
ENDINGS = ("", "/", "/", ".html", ".php", "?id=7")


def make_addresses(count: int) -> list[str]:
    """Generate URLs as sitemaps have them, the same in every run."""
    dice = random.Random(1)
    addresses = []
    for number in range(count):
        slug = "-".join(dice.choices(WORDS, k=dice.randint(1, 8)))
        addresses.append(
            f"https://www.example{number % 50}.org/{dice.choice(FOLDERS)}{slug}-{number % 977}{dice.choice(ENDINGS)}"
        )
    return addresses


def make_page() -> str:
    """Build a page of 50 KB: a head, text cards with links, a footer with contacts."""
    card = (
        "<div class='card'><h3>Gentle care for the whole family</h3><p>We take our time, explain every step and find "
        "the treatment that suits you; the first visit is a talk.</p><a href='/treatments/{0}'>Read more</a></div>"
    )
    footer = "<footer><p>Call +358 9 1234567 or write to info@example.org.</p></footer>"
    head = "<html lang=en><title>Dental</title><link rel=icon href=/i.png><meta name=generator content='Hugo 0.12'>"
    return head + "".join(card.format(number) for number in range(50_000 // len(card))) + footer


def median(measure: Callable[[], float]) -> float:
    return statistics.median(measure() for _ in range(ROUNDS))


def classifying(addresses: list[str]) -> float:
    """Measure CPU microseconds per URL."""
    before = time.process_time()
    for address in addresses:
        classify_page(address)
    return (time.process_time() - before) / len(addresses) * 1e6


async def sending() -> tuple[float, float]:
    """Measure the wall time and our CPU time of sending a trivial 50 KB page to a parser process."""
    page = bytes(50_000)
    async with ParserPool(1, pages_per_child=PAGES * 10) as pool:
        await pool.run(len, page)
        walls, cpus = [], []
        for _ in range(ROUNDS):
            wall, cpu = time.perf_counter(), time.process_time()
            for _ in range(PAGES):
                await pool.run(len, page)
            walls.append((time.perf_counter() - wall) / PAGES * 1e6)
            cpus.append((time.process_time() - cpu) / PAGES * 1e6)
    return statistics.median(walls), statistics.median(cpus)


def reading(html: str) -> float:
    """Measure CPU milliseconds for all metadata and contacts of a page."""
    before = time.process_time()
    for _ in range(100):
        read_metadata(html, "https://www.example.org/")
    return (time.process_time() - before) * 10


def main() -> None:
    """Print the figures."""
    addresses = make_addresses(ADDRESSES)
    print(f"classify: {median(lambda: classifying(addresses)):.2f} us of CPU per address ({ADDRESSES:,} addresses)")
    wall, cpu = uvloop.run(sending())
    child = resource.getrusage(resource.RUSAGE_CHILDREN)
    theirs = (child.ru_utime + child.ru_stime) / (PAGES * ROUNDS) * 1e6
    print(
        f"parser process: {wall:.0f} us per page of 50 KB; CPU {cpu:.0f} us here, {theirs:.0f} us there, start included"
    )
    html = make_page()
    read_metadata(html, "https://www.example.org/")
    print(f"metadata and contacts: {median(lambda: reading(html)):.2f} ms of CPU per page of {len(html) // 1000} KB")
    print(f"memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB at most, addresses included")


if __name__ == "__main__":
    main()
