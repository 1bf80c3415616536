"""One reader over many pages in a process of its own: prints bytes, CPU seconds and contacts as JSON."""

import gc
import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

Reader = Callable[[str], int]


def scrapersky() -> Reader:
    """Extract everything: emails, E.164 phones, social profiles, people, addresses, each with its evidence."""
    from scrapersky.extract.contacts import read_contacts
    from scrapersky.extract.people.seniority import title_meaning

    title_meaning("director")  # loads the tables of titles, once in the life of a worker

    def read(html: str) -> int:
        contacts = read_contacts(html)
        return len(contacts.emails) + len(contacts.phones) + len(contacts.socials) + len(contacts.people)

    return read


def scrapersky_parse() -> Reader:
    """Parse the page only."""
    from scrapersky.extract.document.parse import parse_page

    return lambda html: len(parse_page(html).links)


def beautifulsoup() -> Reader:
    """Extract as a typical script does: soup, text, three regular expressions."""
    from bs4 import BeautifulSoup

    email = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
    phone = re.compile(r"\+?\d[\d\s().-]{7,16}\d")
    social = re.compile(r"(?:facebook|instagram|linkedin|youtube|twitter|x)\.com/")

    def read(html: str) -> int:
        soup = BeautifulSoup(html, "lxml")
        text = soup.get_text(" ")
        links = [str(link["href"]) for link in soup.find_all("a", href=True)]
        return len(email.findall(text)) + len(phone.findall(text)) + sum(1 for link in links if social.search(link))

    return read


READERS = {"scrapersky": scrapersky, "scrapersky, page only": scrapersky_parse, "BeautifulSoup, naive": beautifulsoup}


def main() -> None:
    """Read the pages of a folder once."""
    read = READERS[sys.argv[1]]()
    pages = [path.read_text("utf-8", errors="replace") for path in sorted(Path(sys.argv[2]).rglob("*.html"))]
    # Every second page is read first and not counted: a worker lives for thousands of pages, and fills its tables once.
    for html in pages[::2]:
        read(html)
    # As in a parser process (see parsing_child.py): what lives for ever is not looked at again.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)
    counted = pages[1::2]
    started = time.process_time()
    contacts = sum(read(html) for html in counted)
    seconds = time.process_time() - started
    size = sum(len(html.encode()) for html in counted)
    print(json.dumps({"pages": len(counted), "bytes": size, "cpu_seconds": seconds, "contacts": contacts}))


if __name__ == "__main__":
    main()
