"""A contact form has a text area and a field for the visitor's address; forms for other purposes are none."""

import pytest

from scrapersky.extract.contact_forms import has_contact_form
from scrapersky.extract.contacts import read_contacts

FORM = '<FORM action="/send"><input name="your-email"><Textarea name="message"></textarea></FORM>'


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (FORM, True),
        ("<form><input type=tel><textarea name=viesti></textarea><button>Lähetä</button>", True),
        ('<div class="a gform_wrapper b">', True),
        ('<form id="commentform"><input type="email"><textarea name="comment"></textarea></form>', False),
        ('<form action="/search"><input name="q"></form>', False),
        ('<form><input type="email" name="newsletter"><button>Tilaa</button></form>', False),
        ('<form><input type="email"></form><form><textarea name="note"></textarea></form>', False),
        ("<textarea></textarea><input type=email>", False),
        ("", False),
        ("<form" * 100_000, False),
    ],
)
def test_a_contact_form_is_recognised(html, expected):
    assert has_contact_form(html) is expected


def test_the_contacts_of_a_page_say_whether_it_has_a_form():
    assert read_contacts(f"<html><body><p>Write to us</p>{FORM}</body></html>").has_contact_form
    assert not read_contacts("<html><body><p>info@molar.fi</p></body></html>").has_contact_form
