"""Jobs: long actions with their progress, and the decisions of the last day that can be undone."""

from typing import Any

from starlette.responses import Response

from scrapersky.api.http.browser_cookie import CONSOLE
from scrapersky.api.line import undo
from scrapersky.api.operations import jobs
from scrapersky.api.resources.rows import list_page
from scrapersky.api.schemas.fields import RowId
from scrapersky.api.schemas.jobs import JobSummary
from scrapersky.console.answers import page, redirect
from scrapersky.console.fresh import forget, fresh
from scrapersky.console.gates import CurrentPage
from scrapersky.console.language import gettext as _
from scrapersky.console.language import mark

HERE = f"{CONSOLE}/jobs"
OPEN = ("pending", "processing")
ACTIONS_SHOWN = 20
FRESH_SECONDS = 1.0
IN_WORDS = {
    "curation": mark("Set %(rows)s %(noun)s to %(decision)s"),
    "delivery": mark("Queue %(rows)s contacts for delivery"),
    "undo": mark("Undo a decision about %(rows)s %(noun)s"),
    "retry": mark("Retry %(rows)s dead letters"),
    "drop": mark("Drop %(rows)s dead letters"),
    "sitemap_scan": mark("Scan %(site)s for sitemaps"),
    "import": mark("Import %(noun)s"),
}


async def show(asked: CurrentPage) -> Response:
    """Draw the jobs, the latest first, and the decisions of the last day."""
    sent = asked.request.query_params
    query = jobs.API.query.model_validate(
        {"sort": "-updated_at", "cursor": sent.get("cursor") or None, "limit": 50, "count": False}
    )

    async def read() -> tuple[Any, Any]:
        found = await list_page(asked.application, asked.actor, jobs.API.resource, JobSummary, query)
        return found, await undo.list_undoable(asked.application, asked.actor, ACTIONS_SHOWN)

    listing, actions = await fresh(asked.request, ("jobs", asked.actor.tenant_id, query.cursor), FRESH_SECONDS, read)
    is_open = any(job.state in OPEN for job in listing.items)
    return page(
        asked,
        "jobs.html",
        listing=listing,
        actions=actions.items,
        is_open=is_open,
        in_words=in_words,
        results=results,
        here=HERE,
        open_states=OPEN,
    )


async def cancel(row_id: RowId, asked: CurrentPage) -> Response:
    """Cancel a job; what it has done stays."""
    await jobs.cancel_job(row_id, asked.application, asked.actor)
    forget(asked.request)
    return redirect(asked, HERE, _("The job was cancelled: what it has done stays."))


def in_words(job: JobSummary) -> str:
    """Return what a job does, in words."""
    given = job.parameters
    words = {
        "rows": f"{given.get('matched', 0):,}",
        "noun": given.get("resource"),
        "decision": given.get("curation_status"),
    }
    words["site"] = given.get("domain") or given.get("base_url") or _("a web site")
    said = IN_WORDS.get(job.kind)
    return _(said) % words if said else job.kind.replace("_", " ").capitalize()


def results(job: JobSummary) -> list[tuple[str, int]]:
    """Return the counts of a job that are not zero."""
    counted = (job.result or {}).items()
    return [(name.replace("_", " "), value) for name, value in counted if isinstance(value, int) and value]
