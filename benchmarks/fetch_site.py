"""The site both sides fetch: forty invented businesses, 50 KB a page, gzip, keep-alive, from one light process."""

import asyncio
import gzip
import random
import sys

import uvloop

PAGES = 40
HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
)
FIRST = [
    "Aino",
    "Bela",
    "Carla",
    "Dmitri",
    "Elif",
    "Farid",
    "Greta",
    "Hugo",
    "Ines",
    "Jonas",
    "Kaisa",
    "Lars",
    "Mirja",
    "Nils",
    "Olga",
    "Petra",
]
LAST = [
    "Virtanen",
    "Kovacs",
    "Rossi",
    "Ivanov",
    "Yilmaz",
    "Haddad",
    "Weber",
    "Lindqvist",
    "Moreau",
    "Novak",
    "Saarinen",
    "Berg",
    "Korhonen",
]
ROLES = ["Managing Director", "Head of Sales", "Office Manager", "Dentist", "Hygienist", "Receptionist", "Accountant"]
WORDS = [
    "we",
    "care",
    "about",
    "quality",
    "and",
    "time",
    "so",
    "every",
    "visit",
    "begins",
    "with",
    "a",
    "conversation",
    "and",
    "ends",
    "with",
    "a",
    "plan",
    "you",
    "can",
    "follow",
    "our",
    "rooms",
    "are",
    "bright",
    "the",
    "coffee",
    "is",
    "good",
    "and",
    "the",
    "parking",
    "is",
    "free",
    "for",
    "everybody",
    "who",
    "comes",
    "by",
    "car",
    "or",
    "by",
    "bicycle",
]


def page(number: int) -> bytes:
    """Build one page: menu, prose, a team, an address, a footer."""
    chance = random.Random(number)
    domain = f"business{number}.example"

    def prose(words: int) -> str:
        return " ".join(chance.choice(WORDS) for _ in range(words))

    menu = "".join(f'<li class="item"><a href="/section-{n}/page-{n}.html">{prose(2)}</a></li>' for n in range(60))
    team = "".join(
        f'<div class="card"><h3>{first} {last}</h3><p class="role">{chance.choice(ROLES)}</p>'
        f'<a href="mailto:{first.lower()}.{last.lower()}@{domain}">write</a> '
        f'<a href="tel:+35850{chance.randrange(2_000_000, 9_000_000)}">call</a></div>'
        for first, last in zip(chance.sample(FIRST, 6), chance.sample(LAST, 6), strict=True)
    )
    text = "".join(f"<section><h2>{prose(4)}</h2><p>{prose(70)}</p></section>" for _ in range(105))
    return (
        f"<!doctype html><html lang=en><head><meta charset=utf-8><title>Business {number}</title>"
        f'<meta name=description content="{prose(20)}"></head><body><nav><ul>{menu}</ul></nav>{text}'
        f"<main>{team}</main><footer><address>Katu {number}, 00100 Helsinki</address> info@{domain} "
        f"+358 9 {chance.randrange(2_000_000, 9_000_000)} "
        f'<a href="https://www.facebook.com/business{number}">f</a>'
        f'<a href="https://www.linkedin.com/company/business{number}">in</a></footer></body></html>'
    ).encode()


def answers() -> dict[bytes, bytes]:
    """Build the whole response of each path once."""
    made = {}
    for number in range(PAGES):
        body = gzip.compress(page(number), 6)
        made[b"/page/%d" % number] = HEAD % len(body) + body
    made[b"/robots.txt"] = b"HTTP/1.1 200 OK\r\nContent-Length: 24\r\n\r\nUser-agent: *\nDisallow:\n"
    return made


class Site(asyncio.Protocol):
    """Reads a request line, writes the prepared answer. Pages are told apart by what follows the question mark too."""

    def __init__(self, made: dict[bytes, bytes]) -> None:
        self._made = made

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._held = b""

    def data_received(self, data: bytes) -> None:
        self._held += data
        while (end := self._held.find(b"\r\n\r\n")) >= 0:
            path = self._held[: self._held.find(b"\r\n")].split(b" ")[1].partition(b"?")[0]
            self._held = self._held[end + 4 :]
            self._transport.write(self._made[path])  # type: ignore[attr-defined]


async def serve() -> None:
    """Serve until standard input closes."""
    made = answers()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Site(made), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    uvloop.run(serve())
