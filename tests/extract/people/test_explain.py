"""Why a name of a page was taken or not: points, titles by their place, lines that were not tried."""

from scrapersky.extract.people.explain import NOT_TRIED, explain_names

CARDS = [
    ("Anna Berg", "Geschäftsführerin"),
    ("Jonas Roth", "Zauberei mit Holz"),
    ("Ines Wolf", "Schreinerin"),
    ("kim q.", "Werkstatt"),
]
PAGE = "<title>Team</title><h1>Team</h1>" + "".join(
    f"<div class=card><h3>{name}</h3><p>{title}</p></div>" for name, title in CARDS
)


def test_a_title_of_no_list_is_shown_with_its_place() -> None:
    shown = {one.name: one for one in explain_names(PAGE)}
    assert shown["Jonas Roth"].title == "Zauberei mit Holz"
    assert "title where others have theirs" in dict(shown["Jonas Roth"].points)
    assert "title where others have theirs" not in dict(shown["Anna Berg"].points)


def test_a_short_line_in_the_place_of_names_is_shown_as_not_tried() -> None:
    shown = {one.name: one.decision for one in explain_names(PAGE)}
    assert shown["kim q."] == NOT_TRIED
    assert shown["Anna Berg"] == "person"
    assert "Werkstatt" not in shown


def test_a_line_of_a_member_is_not_tried_although_the_page_has_no_name() -> None:
    shown = explain_names("<title>Wir</title><div class=member><b>juno</b></div><p>Willkommen bei uns.</p>")
    assert [(one.name, one.decision) for one in shown] == [("juno", NOT_TRIED)]
