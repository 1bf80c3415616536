"""Contact forms: whether visitors of a page can write to the business by a form."""

import re
from collections.abc import Iterator

MAX_FORMS = 20  # of a page
MAX_LENGTH = 100_000  # characters of one form

# Forms with a text area that send no message: comments, reviews, searches, orders, logins.
_OTHER_PURPOSES = re.compile(
    r"comment-?form|wp-comments-post|name=[\"']?(?:comment|review)\b|respond_form|type=[\"']?password|add-to-cart|checkout"
)
_ADDRESS_FIELD = re.compile(
    r"type=[\"']?email|name=[\"'][^\"'<>]{0,60}mail|type=[\"']?tel|name=[\"'][^\"'<>]{0,60}phone"
)
# Forms of widely used services, which a script draws in their place.
_SERVICES = re.compile(
    r"hbspt\.forms\.create|class=[\"'][^\"'<>]{0,200}(?:wpcf7-form|wpforms-form|gform_wrapper|hs-form)"
)


def has_contact_form(html: str) -> bool:
    """Tell whether a page has a form with a text area and a field for the visitor's address, or one of a service."""
    text = html.lower()
    return any(_is_contact_form(form) for form in _forms(text)) or bool(_SERVICES.search(text))


def _forms(text: str) -> Iterator[str]:
    """Yield the forms of a page, from tag to tag; one that is not closed ends with the page."""
    start = text.find("<form")
    for _ in range(MAX_FORMS):
        if start < 0:
            return
        end = text.find("</form", start)
        end = len(text) if end < 0 else end
        yield text[start : min(end, start + MAX_LENGTH)]
        start = text.find("<form", end)


def _is_contact_form(form: str) -> bool:
    has_fields = "<textarea" in form and _ADDRESS_FIELD.search(form) is not None
    return has_fields and _OTHER_PURPOSES.search(form) is None
