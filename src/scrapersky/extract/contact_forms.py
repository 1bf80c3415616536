"""Contact forms: whether visitors of a page can write to the business by a form."""

import re
from collections.abc import Iterator

MAX_FORMS = 20  # of a page
MAX_LENGTH = 100_000  # bytes of one form

# Forms with a text area that send no message: comments, reviews, searches, orders, logins.
_OTHER_PURPOSES = re.compile(
    r"comment-?form|wp-comments-post|name=[\"']?(?:comment|review)\b|respond_form|type=[\"']?password|add-to-cart|checkout"
)
_ADDRESS_FIELD = re.compile(
    r"type=[\"']?email|name=[\"'][^\"'<>]{0,60}mail|type=[\"']?tel|name=[\"'][^\"'<>]{0,60}phone"
)
# Forms of widely used services, which a script draws in their place.
_SERVICE_SCRIPT = "hbspt.forms.create"
_SERVICE_NAMES = ("wpcf7-form", "wpforms-form", "gform_wrapper", "hs-form")
_SERVICE_CLASS = re.compile(r"class=[\"'][^\"'<>]{0,200}(?:wpcf7-form|wpforms-form|gform_wrapper|hs-form)")


def has_contact_form(html: str) -> bool:
    """Tell whether a page has a form with a text area and a field for the visitor's address, or one of a service."""
    if "extarea" in html or "EXTAREA" in html:
        page = html.encode("utf-8", "replace").lower()  # much faster than the lower case of a text
        if any(_is_contact_form(form.decode("utf-8", "ignore")) for form in _forms(page)):
            return True
    if _SERVICE_SCRIPT in html:
        return True
    # Substring searches are an order faster than the pattern, which is tried at each class of the page.
    if "-form" in html or "gform_wrapper" in html:
        return any(name in html for name in _SERVICE_NAMES) and _SERVICE_CLASS.search(html) is not None
    return False


def _forms(page: bytes) -> Iterator[bytes]:
    """Yield the forms of a page, from tag to tag; one that is not closed ends with the page."""
    start = page.find(b"<form")
    for _ in range(MAX_FORMS):
        if start < 0:
            return
        end = page.find(b"</form", start)
        end = len(page) if end < 0 else end
        yield page[start : min(end, start + MAX_LENGTH)]
        start = page.find(b"<form", end)


def _is_contact_form(form: str) -> bool:
    has_fields = "<textarea" in form and _ADDRESS_FIELD.search(form) is not None
    return has_fields and _OTHER_PURPOSES.search(form) is None
