"""The pages for a browser: the start page and the form of an invitation."""

import re
from html.parser import HTMLParser

import pytest

from tests.factories.api_application import client_with

PASSWORD = "correct horse battery staple"


class Page(HTMLParser):
    """The elements of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def links(self) -> list[str]:
        return [str(found[name]) for _, found in self.elements for name in ("href", "action") if name in found]


@pytest.fixture
async def stranger(app, client):
    async with client_with(app, None) as found:
        yield found


async def test_the_first_link_of_serve_opens_a_page_whose_links_work(stranger):
    answer = await stranger.get("/")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "is running here. It is ready." in answer.text
    links = Page(answer.text).links()
    assert {"/start.css", "/health/live", "/health/ready"} <= set(links)
    for link in links:
        assert (await stranger.get(link)).status_code == 200, link


async def test_pages_need_no_script_and_no_inline_style(stranger):
    for path in ("/", "/invitation?token=nothing"):
        answer = await stranger.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe-inline" not in policy
        elements = Page(answer.text).elements
        assert not [tag for tag, found in elements if tag in ("script", "style") or "style" in found]


async def test_an_invalid_token_is_a_page_with_a_sentence(stranger):
    answer = await stranger.get("/invitation?token=nothing")
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    sent = await stranger.post("/invitation", data={"token": "nothing", "name": "eve", "password": PASSWORD})
    assert sent.status_code == 404


@pytest.mark.parametrize("body", [b"", b"\xff=%ff", b"a=1&" * 50, b"token=%3Cscript%3E&name=%22%3E%3Cb%3E&password=x"])
async def test_a_broken_form_is_shown_again_without_repeating_markup(stranger, body):
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = await stranger.post("/invitation", content=body, headers=form)
    assert answer.status_code == 400
    assert not re.search("<script|<b>", answer.text)


async def test_a_page_of_another_site_cannot_send_the_form(stranger):
    answer = await stranger.post("/invitation", data={"token": "x"}, headers={"Origin": "https://evil.example"})
    assert answer.status_code == 403
