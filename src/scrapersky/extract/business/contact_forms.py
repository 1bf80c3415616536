"""Whether a page has a form to write to the business."""

from scrapersky.extract import regexes
from scrapersky.extract.document.model import Document, Form

EMBEDDED = ("typeform.com/to/", "jotform.com/", "docs.google.com/forms/", "forms.office.com/", "share.hsforms.com/")


def has_contact_form(document: Document, frames: tuple[str, ...] = ()) -> bool:
    """Whether any form of the page, or a form service in a frame, takes a message."""
    if any(_takes_messages(form) for form in document.forms):
        return True
    return any(service in frame.lower() for frame in frames for service in EMBEDDED)


def _takes_messages(form: Form) -> bool:
    """A message field and somebody to answer; not a search, a login, a newsletter or a comment."""
    called = f"{form.names} {form.action}"[:600]
    if any(field.type.lower() == "password" for field in form.fields) or regexes.OTHER_FORM.search(called):
        return False
    names = [f"{field.name} {field.placeholder}" for field in form.fields]
    has_message = any(field.tag == "textarea" for field in form.fields) or any(map(regexes.MESSAGE_FIELD.search, names))
    has_mail = any(field.type.lower() == "email" for field in form.fields) or any(map(regexes.MAIL_FIELD.search, names))
    if has_message:
        return has_mail or bool(regexes.CONTACT_FORM.search(called)) or len(form.fields) >= 3
    return has_mail and len(form.fields) >= 3 and bool(regexes.CONTACT_FORM.search(called))
