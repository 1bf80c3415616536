"""A page as blocks, links and forms, the same with both parsers."""

from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapersky.extract.document.parse import MAX_BLOCKS, MAX_DEPTH, parse_page

PAGE = """<html lang="fi"><head><title> A &amp; B </title><meta name="Description" content="what we do">
<base href="/x/"><link rel="icon" href="/i.png"></head><body>
<nav><a href="/a">Home</a></nav><h1>Big <b>title</b></h1>
<p>one<br>two <a href="mailto:x@y.example" rel="me">mail</a></p>
<div class="site-footer"><p>below</p></div><p style="display: none">hid</p>
<form action="/go" method="POST"><input type="email" name="mail"><textarea name="t">typed</textarea></form>
<script type="application/ld+json">{"a": 1}</script><script>var p = "<p>not text</p>"</script>
<span data-cfemail="00">x</span><blockquote>said</blockquote></body></html>"""


@pytest.mark.parametrize("parser", ["turbohtml", "lxml"])
def test_a_page_is_read_the_same_by_both_parsers(parser: Literal["turbohtml", "lxml"]) -> None:
    page = parse_page(PAGE, parser)
    assert (page.title, page.language, page.base) == ("A & B", "fi", "/x/")
    assert page.meta["description"] == "what we do"
    assert page.text.split("\n") == ["Home", "Big title", "one", "two mail", "below", "hid", "x", "said"]
    assert page.blocks[1].parts == ("Big", "title")
    assert [script.text for script in page.scripts if script.type == "application/ld+json"] == ['{"a": 1}']
    assert [(link.href, link.text, link.rel) for link in page.links] == [
        ("/a", "Home", ""),
        ("mailto:x@y.example", "mail", "me"),
    ]
    assert page.forms[0].action == "/go"
    assert [field.type for field in page.forms[0].fields] == ["email", ""]
    assert page.marked[0].attributes["data-cfemail"] == "00"
    zones = {block.text: block.zones for block in page.blocks}
    assert [set(zones[word]) for word in ("Home", "below", "hid", "said")] == [
        {"nav"},
        {"footer"},
        {"hidden"},
        {"quote"},
    ]


def test_adjacent_elements_are_separate_words_and_single_letters_are_not() -> None:
    page = parse_page("<div><span>Jane Roe</span><span>Owner</span></div><p>in<b>f</b><b>o</b>@x</p>")
    assert page.text == "Jane Roe Owner\ninfo@x"


def test_a_link_knows_the_block_it_begins_in() -> None:
    page = parse_page(PAGE)
    assert page.blocks[page.links[1].block].text == "two mail"


def test_the_nodes_around_a_block_lead_to_the_root() -> None:
    page = parse_page(PAGE)
    assert [node.tag for node in page.with_ancestors(page.blocks[1].node)] == ["h1", "body", "html"]


def test_a_deep_or_endless_page_is_cut_and_names_the_limit() -> None:
    deep = parse_page("<div>" * 5_000 + "x")
    assert max(node.depth for node in deep.nodes) < MAX_DEPTH
    assert "depth" in deep.cut
    wide = parse_page("<p>x" * (MAX_BLOCKS + 10))
    assert len(wide.blocks) == MAX_BLOCKS
    assert "blocks" in wide.cut


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(
        st.text(),
        st.lists(
            st.sampled_from(
                [
                    "<p>",
                    "</p>",
                    "<a href=x>",
                    "</a>",
                    "<table>",
                    "<form>",
                    "<!--",
                    "&#0;",
                    "<svg>",
                    "<title>",
                    "\x00",
                    "\ud800",
                    "x",
                ]
            )
        ).map("".join),
    )
)
def test_no_markup_makes_a_parser_raise(html: str) -> None:
    for parser in ("turbohtml", "lxml"):
        parse_page(html, parser).text.encode("utf-8")
