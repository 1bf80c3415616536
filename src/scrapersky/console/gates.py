"""The request of a page: the login behind its cookie, its form, and where it may lead next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import Depends, Request

from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http.authorization import CurrentActor
from scrapersky.api.http.browser_cookie import CONSOLE, is_console_path
from scrapersky.console.alarms import active_alarms
from scrapersky.core.errors import BadRequest
from scrapersky.core.roles import Role
from scrapersky.store.audit.record import Actor
from scrapersky.store.operations.alarms import ActiveAlarm

MAX_FIELDS = 1_100  # of a form: a page of rows has 200 at most, a selection 1,000


class BadForm(BadRequest):
    """The form could not be read."""


@dataclass(frozen=True)
class SentFields:
    """The fields of a form; a field may occur several times."""

    values: Mapping[str, list[str]]

    def get(self, name: str) -> str:
        """Return the value of a field without surrounding spaces; empty if it was not sent."""
        return (self.values.get(name) or [""])[-1].strip()

    def all(self, name: str) -> list[str]:
        """Return every value of a field."""
        return list(self.values.get(name, ()))


@dataclass(frozen=True)
class PageRequest:
    """A request of a person who is logged in."""

    request: Request
    application: WebApplication
    actor: Actor
    tenant: str
    alarms: Sequence[ActiveAlarm] = ()  # what needs attention, for the operator tenant

    def may(self, role: str) -> bool:
        """Return whether the person has this role."""
        return Role(self.actor.role).covers(Role(role))

    @property
    def may_control(self) -> bool:
        """Whether the person may pause and run workflows: an operator of the operator tenant."""
        return self.actor.is_operator and self.may("operator")

    @property
    def address(self) -> str:
        """The path and the query of this page."""
        query = self.request.url.query
        return f"{self.request.url.path}?{query}" if query else self.request.url.path


async def page_request(request: Request, application: CurrentApplication, actor: CurrentActor) -> PageRequest:
    """Return the request with its login; an error page finds it in the scope."""
    is_page = actor.is_operator and request.method == "GET" and "console-part" not in request.headers
    alarms = await active_alarms(request, application) if is_page else ()
    asked = PageRequest(request, application, actor, request.scope["identity"].tenant, alarms)
    request.scope["page_request"] = asked
    return asked


CurrentPage = Annotated[PageRequest, Depends(page_request)]


async def read_form(request: Request) -> SentFields:
    """Read the form in the body. Raises BadForm."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/x-www-form-urlencoded":
        raise BadForm("Send the form as application/x-www-form-urlencoded.")
    try:
        pairs = parse_qsl((await request.body()).decode(), keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError:
        raise BadForm(f"The form is not UTF-8, or has more than {MAX_FIELDS:,} fields.") from None
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value.replace("\0", ""))
    return SentFields(values)


SentForm = Annotated[SentFields, Depends(read_form)]


def own_path(path: str) -> str:
    """Return the path if it is one of the console, else the first page: a link must not lead to another site."""
    is_clean = path.isprintable() and path.isascii() and "\\" not in path and "//" not in path.partition("?")[0]
    return path if is_clean and is_console_path(path.partition("?")[0]) and len(path) < 2_000 else CONSOLE
