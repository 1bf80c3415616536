"""The application as route handlers receive it."""

from dataclasses import dataclass, field, fields
from typing import Annotated, Any

from fastapi import Depends, Request

from scrapersky.api.downloads import Downloads
from scrapersky.api.schemas.cursors import Cursors
from scrapersky.bootstrap import Application
from scrapersky.core.schema.migrations import head_revision
from scrapersky.core.secrets.passwords import Passwords
from scrapersky.store.operations.runs import SeriesPoint


@dataclass(frozen=True)
class WebApplication(Application):
    """The objects of a web process: those of every process, and what only requests need."""

    runs_engine: bool  # whether this process works on the queues, or only serves requests
    passwords: Passwords
    signing_key: bytes = field(repr=False)  # signs the access tokens
    cursors: Cursors  # signs the positions in lists
    revision: str  # the newest revision of this code
    downloads: Downloads  # the responses that are being streamed
    # the latest run series, with the end of its validity
    series: dict[tuple[Any, ...], tuple[float, list[SeriesPoint]]] = field(default_factory=dict, repr=False)


def serve_application(application: Application, runs_engine: bool) -> WebApplication:
    """Add the objects that only the web process needs."""
    return WebApplication(
        **{field.name: getattr(application, field.name) for field in fields(application)},
        runs_engine=runs_engine,
        passwords=Passwords(),
        signing_key=application.vault.signing_key,
        cursors=Cursors(application.vault.cursor_key),
        revision=head_revision(),
        downloads=Downloads(application.database),
    )


async def get_application(request: Request) -> WebApplication:
    """Return the application that serves this request."""
    application: WebApplication = request.app.state.application
    return application


CurrentApplication = Annotated[WebApplication, Depends(get_application)]
