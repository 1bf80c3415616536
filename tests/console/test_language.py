"""Languages: catalogs, plural forms, which language a request gets, and what the modules say."""

import ast
import json
import re
import struct
from collections.abc import Iterator
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path
from uuid import uuid4

from fastapi.routing import APIRoute

from scrapersky.console import language
from scrapersky.console.language import PSEUDO, Language, PseudoTranslations
from scrapersky.console.routes import console_routes
from tests import ROOT
from tests.factories.console_browser import Page
from tests.factories.line_rows import add_line

CONSOLE = ROOT / "src" / "scrapersky" / "console"
TRANSLATES = ("_", "gettext", "ngettext", "counted", "counted_each", "mark")
SAYS = ("redirect",)  # functions that show a text; errors do, too
SENTENCE = re.compile(r"[A-Za-z]{2,} [a-z]{2,}")
DATA = ("bdi", "code", "time", "option", "textarea")  # elements without words of ours


def catalog(messages: dict[str, str]) -> GNUTranslations:
    """A compiled catalog as msgfmt writes it."""
    ids, texts = zip(*sorted((key.encode(), text.encode()) for key, text in messages.items()), strict=True)
    start = 7 * 4 + 16 * len(ids)
    tables, body = b"", b""
    for words in (ids, texts):
        for word in words:
            tables += struct.pack("<2I", len(word), start + len(body))
            body += word + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, len(ids), 28, 28 + 8 * len(ids), 0, 0)
    return GNUTranslations(BytesIO(head + tables + body))


POLISH = (
    "Content-Type: text/plain; charset=UTF-8\n"
    "Plural-Forms: nplurals=3; plural=n==1?0:n%10>=2&&n%10<=4&&(n%100<12||n%100>14)?1:2;\n"
)


async def test_a_catalog_translates_pages_with_its_plural_forms(login, monkeypatch):
    many = "%(count)s search was started.\0%(count)s searches were started."
    polish = catalog({"": POLISH, "Searches": "Wyszukiwania", many: "%(count)s a\0%(count)s b\0%(count)s c"})
    known = {**language.languages(), "pl": Language("pl", polish)}
    monkeypatch.setattr(language, "languages", lambda: known)
    one, plural = many.split("\0")
    assert [polish.ngettext(one, plural, n) % {"count": n} for n in (1, 3, 5)] == ["1 a", "3 b", "5 c"]
    browser = await login("viewer")
    page = Page((await browser.get("/console/searches", headers={"Accept-Language": "fr, pl-PL;q=0.8"})).text)
    assert (page.one("html")["lang"], page.one("h1").text) == ("pl", "Wyszukiwania")
    page = Page((await browser.get("/console/searches", headers={"Accept-Language": "fr"})).text)
    assert (page.one("html")["lang"], page.one("h1").text) == ("en", "Searches")


async def test_the_pseudo_language_is_only_chosen_by_the_cookie_and_reaches_the_modules(login):
    browser = await login("viewer")
    plain = Page((await browser.get("/console/searches", headers={"Accept-Language": PSEUDO})).text)
    assert plain.one("h1").text == "Searches"
    assert plain.one("body").get("data-words") is None  # English modules need no words
    browser.cookies.set("scrapersky-language", PSEUDO)
    page = Page((await browser.get("/console/searches")).text)
    assert page.one("h1").text == "[Seeaarchees]"
    assert json.loads(page.one("body")["data-words"])["live"] == "[liivee]"


def test_the_pseudo_language_is_longer_and_keeps_placeholders():
    said = PseudoTranslations().gettext("%(count)s searches were started, 100%%.")
    assert said % {"count": 3} == "[3 seeaarchees weeree staarteed, 100%.]"
    assert len(said) > 1.2 * len("%(count)s searches were started, 100%%.")


class Told(Page):
    """A page, and what it says about an error outside of data."""

    def __init__(self, text: str) -> None:
        self.told = list[str]()
        super().__init__(text)

    def handle_data(self, data: str) -> None:
        super().handle_data(data)
        words = {word for one in self._open for word in (one.get("class") or "").split()}
        if words & {"problem", "card"} and self._open[-1].tag not in DATA:
            self.told.append(data)

    @property
    def plain(self) -> list[str]:
        """What is not translated."""
        return [text.strip() for text in self.told if re.search("[a-z]{2}", without_brackets(text))]


def without_brackets(text: str) -> str:
    while (rest := re.sub(r"\[[^\[\]]*\]", "", text)) != text:
        text = rest
    return text


async def test_every_error_of_every_route_is_translated(login, admin, tenant):
    ids = await add_line(admin, tenant)
    browser = await login("admin")
    browser.cookies.set("scrapersky-language", PSEUDO)
    unknown, table = str(uuid4()), {"noun": "contacts", "table": "name;name\nx;y"}
    answers = [
        await browser.get(f"/console{path}")
        for path in (
            *(
                "/nothing",
                "/contacts?nonsense=1",
                "/contacts?verdict=wrong",
                "/contacts?menu=nonsense",
                "/runs?since=x",
            ),
            *("/contacts?open=x", f"/contacts?open={unknown}", f"/contacts?search_id={unknown}", "/contacts?cursor=x"),
            *("/map?nonsense=1", "/map?box=1,2,3", "/map?west=a", "/queues/nonsense", "/queues/delivery?search_id=x"),
            *("/files/nonsense.csv", "/files/contacts.csv?verdict=wrong", "/audit?since=x", "/contacts/x"),
            *(f"/import/reports/{unknown}", f"/contacts/{unknown}", f"/searches/{unknown}", "/destinations/new?kind=x"),
        )
    ]
    posts = [route for route in console_routes() if isinstance(route, APIRoute) and "POST" in (route.methods or ())]
    for route in posts:
        if route.path.endswith(("/logout", "/theme", "/layout")):  # these take every form
            continue
        template = route.path.replace("{name}", "deep_scan")
        for path in {template.replace("{id}", row) for row in (ids.get(template.split("/")[2], unknown), unknown)}:
            answers += [await browser.post(path, data=sent) for sent in ({}, {"ids": "x", "id": "x", **table})]
            answers.append(await browser.post(path, content=b"\xff", headers={"content-type": "text/plain"}))
    refused = [answer for answer in answers if answer.status_code >= 400]
    assert len(refused) > 100
    for answer in refused:
        page = Told(answer.text)
        asked = (answer.request.method, answer.request.url.path, answer.request.content, answer.status_code)
        assert page.one("html")["lang"] == PSEUDO, asked
        assert page.told, asked
        assert not page.plain, (asked, page.plain)


def sentences(path: Path) -> Iterator[str]:
    """The words of a module that are shown, but not translated: in errors and in notices."""
    tree = ast.parse(path.read_text())
    calls = [one for one in ast.walk(tree) if isinstance(one, ast.Call)]
    names = {call: getattr(call.func, "id", getattr(call.func, "attr", "")) for call in calls}
    translated = {inner for call in calls if names[call] in TRANSLATES for inner in ast.walk(call)}
    shown = [one.exc for one in ast.walk(tree) if isinstance(one, ast.Raise) and one.exc is not None]
    shown += [call for call in calls if names[call] in SAYS]
    inside = (inner for one in shown for inner in ast.walk(one) if inner not in translated)
    texts = (str(one.value) for one in inside if isinstance(one, ast.Constant))
    yield from (text for text in texts if SENTENCE.search(text))


def test_errors_and_notices_of_pages_go_through_gettext():
    modules = (CONSOLE / "answers.py", CONSOLE / "forms.py", *(CONSOLE / "pages").rglob("*.py"))
    loose = {said for path in modules for said in sentences(path)}
    assert loose == {
        "scrapersky import ",  # a command
        *("no boundary", "not whole", "a part without a name"),  # caught in the same module
        "a search that was requested has no row",  # cannot happen
    }
