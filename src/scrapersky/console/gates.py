"""The request of a page: the login behind its cookie, its form, and where it may lead next."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from scrapersky.api.dependencies import CurrentApplication, WebApplication
from scrapersky.api.http.authorization import CurrentActor, actor_of
from scrapersky.api.http.browser_cookie import CONSOLE, PART, is_console_path
from scrapersky.console.alarms import active_alarms
from scrapersky.console.forms import SentFields, parse_form
from scrapersky.core.preferences import Preferences
from scrapersky.core.roles import Role
from scrapersky.store.audit.record import Actor
from scrapersky.store.operations.alarms import ActiveAlarm


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
    def preferences(self) -> Preferences:
        """How pages look and behave for this person."""
        chosen: Preferences = self.request.scope["identity"].preferences
        return chosen

    @property
    def may_control(self) -> bool:
        """Whether the person may pause and run workflows: an operator of the operator tenant."""
        return self.actor.is_operator and self.may("operator")

    @property
    def is_sandbox(self) -> bool:
        """Whether all data of this installation is invented."""
        return is_sandbox(self.application)

    @property
    def part(self) -> str | None:
        """The part of the page that is asked for; None for the whole page."""
        return self.request.headers.get(PART)

    @property
    def address(self) -> str:
        """The path and the query of this page."""
        query = self.request.url.query
        return f"{self.request.url.path}?{query}" if query else self.request.url.path


def is_sandbox(application: WebApplication) -> bool:
    """Return whether every host name leads to the sandbox: all places, web sites and people are invented."""
    overrides = application.settings.crawl_host_overrides.split(",")
    return any(one.strip().startswith("*=") for one in overrides)


async def page_request(request: Request, application: CurrentApplication, actor: CurrentActor) -> PageRequest:
    """Return the request with its login; an error page finds it in the scope."""
    is_page = actor.is_operator and request.method == "GET" and PART not in request.headers
    alarms = await active_alarms(request, application) if is_page else ()
    asked = PageRequest(request, application, actor, request.scope["identity"].tenant, alarms)
    request.scope["page_request"] = asked
    return asked


def refused_request(request: Request) -> PageRequest | None:
    """Return a request of the console whose login does not allow its route; None without a login."""
    identity = request.scope.get("identity")
    if identity is None or not is_console_path(request.url.path):
        return None
    actor = actor_of(request, identity, "console")
    return PageRequest(request, request.app.state.application, actor, identity.tenant)


CurrentPage = Annotated[PageRequest, Depends(page_request)]


async def read_form(request: Request) -> SentFields:
    """Read the form in the body; a request without a body has no fields. Raises BadForm."""
    if "content-type" not in request.headers and not await request.body():
        return SentFields({})
    return parse_form(request.headers.get("content-type", ""), await request.body())


SentForm = Annotated[SentFields, Depends(read_form)]


def own_path(path: str) -> str:
    """Return the path if it is one of the console, else the first page: a link must not lead to another site."""
    is_clean = path.isprintable() and path.isascii() and "\\" not in path and "//" not in path.partition("?")[0]
    return path if is_clean and is_console_path(path.partition("?")[0]) and len(path) < 2_000 else CONSOLE
