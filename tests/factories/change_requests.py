"""A request for every operation that changes something, with the audit entry that it must leave."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import httpx

from tests.factories.line_rows import NOUNS, add, add_line

API = "/api/v3"
PASSWORD = "correct horse battery"
# Operations that use POST and change nothing that is audited.
NOT_AUDITED = {
    "check_suppressions": "checks more values than a query could hold",
    "look_at_table": "reads a table and stores nothing",
    "change_preferences": "how pages look for one person",
    "refresh": "continues a session whose login is audited",
}


@dataclass(frozen=True)
class ChangeRequest:
    """A request, and the audit entry that it must leave."""

    method: str
    path: str
    action: str
    subject: str  # how it begins
    body: Any = None
    recorded: str = "after"  # before, after, both or neither
    actor: str = "ada"
    client: httpx.AsyncClient | None = None  # the client, unless it is that of the admin of the operator tenant
    table: str | None = None  # the body, as CSV
    is_new: bool = False  # the actor is created by the request


@dataclass
class ChangeContext:
    """What a case may use."""

    client: httpx.AsyncClient
    stranger: httpx.AsyncClient
    admin: Any
    tenant: UUID
    password_hash: str

    async def line(self) -> dict[str, str]:
        return await add_line(self.admin, self.tenant, f"site{uuid4().hex[:8]}")

    async def dead(self) -> dict[str, str]:
        """Add a place that failed, and its dead letter."""
        ids = await self.line()
        await self.admin.execute(
            "UPDATE place SET deep_scan_status = 'Error', deep_scan_error = 'gone' WHERE id = $1", UUID(ids["places"])
        )
        letter = await self.admin.fetchval(
            "INSERT INTO dead_letter (tenant_id, queue, row_id, attempts, error_type, message) "
            "VALUES ($1, 'place.deep_scan', $2, 3, 'Gone', 'gone') RETURNING id",
            self.tenant,
            UUID(ids["places"]),
        )
        return {**ids, "letter": str(letter)}

    async def user(self, name: str) -> str:
        statement = (
            "INSERT INTO \"user\" (tenant_id, name, role, password_hash) VALUES ($1, $2, 'viewer', $3) RETURNING id"
        )
        return str(await self.admin.fetchval(statement, self.tenant, name, self.password_hash))

    async def made(self, path: str, **body: Any) -> dict[str, Any]:
        answer = await self.client.post(f"{API}/{path}", json=body)
        assert answer.status_code < 300, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def destination(self) -> str:
        name = f"crm {uuid4().hex[:6]}"
        return str((await self.made("destinations", name=name, kind="hubspot", secret="pat-eu1-of-a-test"))["id"])

    async def logged_in(self, name: str) -> dict[str, Any]:
        await self.user(name)
        answer = await self.stranger.post(f"{API}/auth/login", json={"name": name, "password": PASSWORD})
        tokens: dict[str, Any] = answer.json()
        return tokens


Case = Callable[[ChangeContext], Awaitable[ChangeRequest]]
CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


# -- accounts ----------------------------------------------------------------------------------------------------------


@case
async def login(context: ChangeContext) -> ChangeRequest:
    await context.user("lena")
    body = {"name": "lena", "password": PASSWORD}
    path = f"{API}/auth/login"
    return ChangeRequest("POST", path, "login", "session ", body, "neither", "lena", context.stranger)


def _as(context: ChangeContext, tokens: dict[str, Any]) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    return httpx.AsyncClient(transport=context.client._transport, base_url=context.client.base_url, headers=headers)


@case
async def logout(context: ChangeContext) -> ChangeRequest:
    him = _as(context, await context.logged_in("olga"))
    return ChangeRequest("POST", f"{API}/auth/logout", "logout", "session ", None, "neither", "olga", him)


@case
async def end_session(context: ChangeContext) -> ChangeRequest:
    tokens = await context.logged_in("otto")
    path = f"{API}/auth/sessions/{tokens['session_id']}"
    return ChangeRequest("DELETE", path, "logout", "session ", None, "neither", "otto", _as(context, tokens))


@case
async def change_password(context: ChangeContext) -> ChangeRequest:
    him = _as(context, await context.logged_in("paul"))
    body = {"current": PASSWORD, "new": "another horse battery"}
    return ChangeRequest("POST", f"{API}/auth/password", "change password", "user ", body, "neither", "paul", him)


@case
async def change_user(context: ChangeContext) -> ChangeRequest:
    return ChangeRequest(
        "PATCH", f"{API}/users/{await context.user('ulla')}", "change", "user ", {"role": "curator"}, "both"
    )


@case
async def end_user_sessions(context: ChangeContext) -> ChangeRequest:
    return ChangeRequest("DELETE", f"{API}/users/{await context.user('rosa')}/sessions", "end sessions", "user ")


@case
async def invite_user(context: ChangeContext) -> ChangeRequest:
    return ChangeRequest("POST", f"{API}/invitations", "invite", "invitation ", {"role": "viewer"})


@case
async def accept_invitation(context: ChangeContext) -> ChangeRequest:
    link = await context.made("invitations", role="viewer")
    body = {"token": link["token"], "name": "nina", "password": PASSWORD}
    path = f"{API}/invitations/accept"
    return ChangeRequest("POST", path, "create", "user ", body, "after", "nina", context.stranger, is_new=True)


@case
async def withdraw_invitation(context: ChangeContext) -> ChangeRequest:
    made = await context.made("invitations", role="viewer")
    return ChangeRequest("DELETE", f"{API}/invitations/{made['id']}", "withdraw", "invitation ", None, "neither")


@case
async def create_api_key(context: ChangeContext) -> ChangeRequest:
    return ChangeRequest("POST", f"{API}/api-keys", "create", "api key ", {"name": "n8n"})


@case
async def revoke_api_key(context: ChangeContext) -> ChangeRequest:
    made = await context.made("api-keys", name="old")
    return ChangeRequest("DELETE", f"{API}/api-keys/{made['id']}", "revoke", "api key ", None, "before")


@case
async def create_tenant(context: ChangeContext) -> ChangeRequest:
    return ChangeRequest("POST", f"{API}/tenants", "create", "tenant ", {"name": "acme", "pages_per_day": 5})


@case
async def change_tenant(context: ChangeContext) -> ChangeRequest:
    made = await context.made("tenants", name="emca")
    return ChangeRequest("PATCH", f"{API}/tenants/{made['id']}", "change", "tenant ", {"searches_per_day": 3}, "both")


# -- the pipeline ------------------------------------------------------------------------------------------------------


@case
async def create_search(context: ChangeContext) -> ChangeRequest:
    return ChangeRequest("POST", f"{API}/searches", "create", "search ", {"text": "dentists", "area": "Turku"})


@case
async def cancel_search(context: ChangeContext) -> ChangeRequest:
    return ChangeRequest(
        "POST", f"{API}/searches/{(await context.line())['searches']}/cancel", "cancel", "search ", None, "both"
    )


@case
async def continue_search(context: ChangeContext) -> ChangeRequest:
    search = (await context.made("searches", text="dentists", area="Espoo"))["search"]
    await context.made(f"searches/{search['id']}/cancel")
    path = f"{API}/searches/{search['id']}/continue"
    return ChangeRequest("POST", path, "request again", f"search {search['id']}", {}, "both")


CAMPAIGN = {"queries": [{"what": "dentists", "where": "Turku"}, {"what": "dentists", "where": "Espoo"}]}


@case
async def create_campaign(context: ChangeContext) -> ChangeRequest:
    return ChangeRequest("POST", f"{API}/campaigns", "create", "campaign ", CAMPAIGN)


def _of_campaign(verb: str, action: str, body: Any) -> Case:
    async def change(context: ChangeContext) -> ChangeRequest:
        campaign = (await context.made("campaigns", **CAMPAIGN))["campaign"]
        noun = "campaign" if verb == "continue" else "search"
        return ChangeRequest(
            "POST", f"{API}/campaigns/{campaign['id']}/{verb}", action, f"{noun} {campaign['id']}", body, "both"
        )

    return change


CASES |= {
    "stop_campaign": _of_campaign("stop", "cancel", None),
    "continue_campaign": _of_campaign("continue", "continue", {}),
    "rename_campaign": _of_campaign("rename", "rename", {"name": "Finland"}),
}


@case
async def create_schedule(context: ChangeContext) -> ChangeRequest:
    body = {"search_id": (await context.made("searches", text="dentists", area="Vaasa"))["search"]["id"], "every": "1d"}
    return ChangeRequest("POST", f"{API}/schedules", "create", "schedule ", body)


def _of_schedule(method: str, verb: str, action: str, recorded: str) -> Case:
    async def change(context: ChangeContext) -> ChangeRequest:
        search = (await context.made("searches", text="dentists", area="Vaasa"))["search"]["id"]
        made = await context.made("schedules", search_id=search, cron="0 6 * * 1", time_zone="Europe/Helsinki")
        path = f"{API}/schedules/{made['id']}{verb}"
        return ChangeRequest(method, path, action, f"schedule {made['id']}", None, recorded)

    return change


CASES |= {
    "pause_schedule": _of_schedule("POST", "/pause", "pause", "both"),
    "resume_schedule": _of_schedule("POST", "/resume", "resume", "both"),
    "remove_schedule": _of_schedule("DELETE", "", "remove", "before"),
}


def _curation(noun: str) -> Case:
    async def curate(context: ChangeContext) -> ChangeRequest:
        body = {"ids": [(await context.line())[noun]], "curation_status": "Maybe"}
        return ChangeRequest("POST", f"{API}/{noun}/curation", "curate", noun, body, "both")

    return curate


CASES |= {f"curate_{noun}": _curation(noun) for noun in NOUNS}


@case
async def undo_curation_action(context: ChangeContext) -> ChangeRequest:
    body = {"ids": [(await context.line())["places"]], "curation_status": "Maybe"}
    done = await context.made("places/curation", **body)
    return ChangeRequest("POST", f"{API}/undo/{done['action_id']}", "undo", "places", None, "both")


@case
async def save_view(context: ChangeContext) -> ChangeRequest:
    body = {"noun": "contacts", "name": "To write", "query": "curation_status=New", "shared": True}
    return ChangeRequest("POST", f"{API}/views", "save", "view ", body)


@case
async def delete_view(context: ChangeContext) -> ChangeRequest:
    view = await context.made("views", noun="places", name="All", query="")
    return ChangeRequest("DELETE", f"{API}/views/{view['id']}", "delete", f"view {view['id']}", None, "before")


@case
async def create_contact(context: ChangeContext) -> ChangeRequest:
    return ChangeRequest("POST", f"{API}/contacts", "create", "contact ", {"email": "eva@example.fi"})


@case
async def put_business_website(context: ChangeContext) -> ChangeRequest:
    path = f"{API}/businesses/{(await context.line())['businesses']}/website"
    return ChangeRequest("PUT", path, "set website", "business ", {"website": "https://molar-dental.fi/"}, "both")


@case
async def join_businesses(context: ChangeContext) -> ChangeRequest:
    one, other = (await context.line())["businesses"], (await context.line())["businesses"]
    body = {"business": one, "other": other}
    return ChangeRequest("POST", f"{API}/businesses/join", "join", "business ", body, "both")


@case
async def split_business(context: ChangeContext) -> ChangeRequest:
    one, other = sorted([(await context.line())["businesses"], (await context.line())["businesses"]])
    await context.admin.execute("UPDATE local_business SET same_as_id = $1 WHERE id = $2", UUID(one), UUID(other))
    return ChangeRequest("POST", f"{API}/businesses/{other}/split", "split", "business ", None, "both")


@case
async def change_contact(context: ChangeContext) -> ChangeRequest:
    path = f"{API}/contacts/{(await context.line())['contacts']}"
    return ChangeRequest("PATCH", path, "change", "contact ", {"title": "Dentist"}, "both")


@case
async def delete_contact(context: ChangeContext) -> ChangeRequest:
    return ChangeRequest(
        "DELETE", f"{API}/contacts/{(await context.line())['contacts']}", "delete", "contact ", None, "before"
    )


@case
async def merge_contacts(context: ChangeContext) -> ChangeRequest:
    body = {"keep": (await context.line())["contacts"], "merge": (await context.line())["contacts"]}
    return ChangeRequest("POST", f"{API}/contacts/merge", "merge", "contact ", body, "both")


@case
async def split_contact(context: ChangeContext) -> ChangeRequest:
    contact = (await context.line())["contacts"]
    await context.admin.execute(
        """UPDATE contact SET title = 'CEO', sources = '{"title": {"url": "https://molar.fi/imprint"}}'"""
    )
    return ChangeRequest("POST", f"{API}/contacts/{contact}/split", "split", "contact ", None, "both")


@case
async def cancel_job(context: ChangeContext) -> ChangeRequest:
    job = await add(context.admin, "job", context.tenant, kind="curation", parameters="{}")
    return ChangeRequest("POST", f"{API}/jobs/{job}/cancel", "cancel", "job ", None, "both")


@case
async def scan_sitemap(context: ChangeContext) -> ChangeRequest:
    return ChangeRequest("POST", f"{API}/sitemap/scan", "scan", "domain ", {"base_url": "https://molar.fi"})


@case
async def import_rows(context: ChangeContext) -> ChangeRequest:
    path = f"{API}/imports/domains?name=mine"
    return ChangeRequest("POST", path, "import", "domains", None, "after", table="domain\nmine.fi\n")


def _submission(noun: str, row: dict[str, str]) -> Case:
    async def submit(context: ChangeContext) -> ChangeRequest:
        return ChangeRequest("POST", f"{API}/{noun}/submit", "import", noun, {"items": [row]})

    return submit


SUBMITTED = {
    "places": {"name": "Submitted Dental", "website": "https://submitted.fi"},
    "domains": {"domain": "submitted.fi"},
    "sitemaps": {"url": "https://submitted.fi/sitemap.xml"},
    "pages": {"url": "https://submitted.fi/contact"},
    "contacts": {"email": "sub@submitted.fi"},
}
CASES |= {f"submit_{noun}": _submission(noun, row) for noun, row in SUBMITTED.items()}


# -- suppressions and deliveries --------------------------------------------------------------------


@case
async def add_suppressions(context: ChangeContext) -> ChangeRequest:
    return ChangeRequest("POST", f"{API}/suppressions", "suppress", "suppressions", {"values": ["no@example.fi"]})


@case
async def suppress_contacts(context: ChangeContext) -> ChangeRequest:
    body = {"ids": [(await context.line())["contacts"]]}
    return ChangeRequest("POST", f"{API}/suppressions/contacts", "suppress", "suppressions", body)


@case
async def delete_suppression(context: ChangeContext) -> ChangeRequest:
    await context.made("suppressions", values=["again@example.fi"])
    row = await context.admin.fetchval("SELECT id FROM suppression WHERE value = 'again@example.fi'")
    return ChangeRequest("DELETE", f"{API}/suppressions/{row}", "unsuppress", "suppression ", None, "before")


@case
async def erase_person(context: ChangeContext) -> ChangeRequest:
    email = await context.admin.fetchval(
        "SELECT email FROM contact WHERE id = $1", UUID((await context.line())["contacts"])
    )
    return ChangeRequest("POST", f"{API}/erasures", "erase", "erasure", {"email": email, "preview": False})


@case
async def create_destination(context: ChangeContext) -> ChangeRequest:
    body = {"name": "our crm", "kind": "hubspot", "secret": "pat-eu1-of-a-test"}
    return ChangeRequest("POST", f"{API}/destinations", "create", "destination ", body)


@case
async def change_destination(context: ChangeContext) -> ChangeRequest:
    path = f"{API}/destinations/{await context.destination()}"
    return ChangeRequest("PATCH", path, "change", "destination ", {"name": "other crm"}, "both")


@case
async def remove_destination(context: ChangeContext) -> ChangeRequest:
    return ChangeRequest(
        "DELETE", f"{API}/destinations/{await context.destination()}", "remove", "destination ", None, "before"
    )


@case
async def test_destination(context: ChangeContext) -> ChangeRequest:
    path = f"{API}/destinations/{await context.destination()}/test"
    return ChangeRequest("POST", path, "test", "destination ")


@case
async def rotate_destination(context: ChangeContext) -> ChangeRequest:
    path, body = f"{API}/destinations/{await context.destination()}/rotate", {"secret": "pat-eu1-the-next"}
    return ChangeRequest("POST", path, "rotate", "destination ", body, "neither")


@case
async def retire_destination_secret(context: ChangeContext) -> ChangeRequest:
    hook = await context.made("destinations", name="hook", kind="webhook", url="http://hooks.example/leads")
    await context.made(f"destinations/{hook['id']}/rotate")
    return ChangeRequest("POST", f"{API}/destinations/{hook['id']}/retire", "retire", "destination ", None, "neither")


@case
async def create_deliveries(context: ChangeContext) -> ChangeRequest:
    body = {"destination_id": await context.destination(), "ids": [(await context.line())["contacts"]]}
    return ChangeRequest("POST", f"{API}/deliveries", "deliver", "destination ", body)


@case
async def cancel_deliveries(context: ChangeContext) -> ChangeRequest:
    destination = await context.destination()
    await context.made("deliveries", destination_id=destination, ids=[(await context.line())["contacts"]])
    body = {"filter": {"destination_id": destination}}
    return ChangeRequest("POST", f"{API}/deliveries/cancel", "cancel", "deliveries", body, "both")


# -- the engine --------------------------------------------------------------------------------------------------------


@case
async def run_workflow(context: ChangeContext) -> ChangeRequest:
    return ChangeRequest("POST", f"{API}/workflows/deep_scan/run", "run", "deep_scan", None, "neither")


@case
async def pause_workflow(context: ChangeContext) -> ChangeRequest:
    return ChangeRequest("POST", f"{API}/workflows/domain_metadata/pause", "pause", "domain_metadata", None, "both")


@case
async def resume_workflow(context: ChangeContext) -> ChangeRequest:
    await context.made("workflows/page_curation/pause")
    return ChangeRequest("POST", f"{API}/workflows/page_curation/resume", "resume", "page_curation", None, "both")


@case
async def queue_items(context: ChangeContext) -> ChangeRequest:
    body = {"ids": [(await context.line())["places"]]}
    return ChangeRequest("POST", f"{API}/workflows/deep_scan/queue", "queue", "deep_scan", body, "both")


@case
async def release_items(context: ChangeContext) -> ChangeRequest:
    place = (await context.line())["places"]
    held = "deep_scan_status = 'Processing', deep_scan_due_at = now() + interval '1 hour'"
    await context.admin.execute(f"UPDATE place SET {held} WHERE id = $1", UUID(place))
    return ChangeRequest("POST", f"{API}/workflows/deep_scan/release", "release", "deep_scan", {"ids": [place]}, "both")


@case
async def retry_items(context: ChangeContext) -> ChangeRequest:
    body = {"ids": [(await context.dead())["places"]]}
    return ChangeRequest("POST", f"{API}/workflows/deep_scan/retry", "retry", "deep_scan", body, "both")


def _letters(action: str, *, bulk: bool) -> Case:
    async def move(context: ChangeContext) -> ChangeRequest:
        letter = (await context.dead())["letter"]
        path = f"{API}/dead-letters/{action}" if bulk else f"{API}/dead-letters/{letter}/{action}"
        return ChangeRequest("POST", path, action, "deep_scan", {"ids": [letter]} if bulk else None, "both")

    return move


CASES |= {f"{action}_dead_letters": _letters(action, bulk=True) for action in ("retry", "drop")}
CASES |= {f"{action}_dead_letter": _letters(action, bulk=False) for action in ("retry", "drop")}
