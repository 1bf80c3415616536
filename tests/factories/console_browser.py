"""Browsers for the tests of the console: cookies, headers as Chromium sends them, and pages as their elements."""

from html.parser import HTMLParser
from typing import Any

import httpx
from argon2 import PasswordHasher
from fastapi import FastAPI
from sqlalchemy import select

from scrapersky.core.database import Database
from scrapersky.models import User
from tests.factories.api_application import find_or_create_tenant

PASSWORD = "correct horse battery staple"
OWN = {"Sec-Fetch-Site": "same-origin", "Accept": "text/html"}  # of a form of ours
VOID = {"input", "meta", "link", "br", "wbr", "hr", "img"}
# Elements whose end tag the start or the end of others implies.
IMPLIED = {"td": {"td", "th", "tr", "/tr", "/tbody"}, "tr": {"tr", "/tbody"}}
IMPLIED["th"] = IMPLIED["td"]
QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)  # a login renews it


def browser_of(app: FastAPI, base: str = "http://localhost:8000", **headers: str) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app, client=("127.0.0.1", 4711))
    return httpx.AsyncClient(transport=transport, base_url=base, headers={**OWN, **headers})


async def create_person(database: Database, role: str, tenant: str, name: str) -> None:
    """Create a user with PASSWORD, unless there is one of this name."""
    async with database.engine_session() as session:
        tenant_id = await find_or_create_tenant(session, tenant)
    async with database.session(tenant_id) as session:
        if await session.scalar(select(User).where(User.name == name, User.tenant_id == tenant_id)) is None:
            session.add(User(tenant_id=tenant_id, name=name, role=role, password_hash=QUICK.hash(PASSWORD)))


async def log_in(browser: httpx.AsyncClient, name: str, tenant: str = "default", **fields: str) -> httpx.Response:
    answer = await browser.post("/console/login", data={"name": name, "tenant": tenant, "password": PASSWORD, **fields})
    assert answer.status_code == 303, answer.text
    return answer


class Element:
    """An element of a page: its tag, attributes, and the text within it."""

    def __init__(self, tag: str, attributes: dict[str, str], within: "Element | None") -> None:
        self.tag, self.attributes, self.within, self.text = tag, attributes, within, ""

    def __getitem__(self, name: str) -> str:
        return self.attributes[name]

    def get(self, name: str) -> str | None:
        return self.attributes.get(name)

    def is_in(self, tag: str) -> bool:
        return self.tag == tag or (self.within is not None and self.within.is_in(tag))


class Page(HTMLParser):
    """The elements of a page; a tag that is closed by another one is a fault."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self.feed(text)
        self.close()
        assert not self._open, f"{self._open[-1].tag} is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"{tag} repeats an attribute: {names}"
        self._end_implied(tag)
        element = Element(tag, {name: value or "" for name, value in attrs}, self._open[-1] if self._open else None)
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def _end_implied(self, tag: str) -> None:
        while self._open and tag in IMPLIED.get(self._open[-1].tag, ()):
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        self._end_implied(f"/{tag}")
        assert self._open, f"</{tag}> closes nothing"
        assert self._open[-1].tag == tag, f"</{tag}> closes {self._open[-1].tag}"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    def all(self, tag: str, **attributes: Any) -> list[Element]:
        found = [one for one in self.elements if one.tag == tag]
        return [
            one
            for one in found
            if all(one.get(name.strip("_").replace("_", "-")) == value for name, value in attributes.items())
        ]

    def one(self, tag: str, **attributes: Any) -> Element:
        found = self.all(tag, **attributes)
        assert len(found) == 1, f"{len(found)} {tag} {attributes}"
        return found[0]

    @property
    def text(self) -> str:
        return " ".join(self.one("body").text.split())
