"""Every operation that changes something, done once: what the audit must say about it is said here."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import httpx

from tests.factories.line_rows import NOUNS, add, add_line

API = "/api/v3"
PASSWORD = "correct horse battery"
# POST is also how much is asked: these change nothing that people could want to know about.
UNCHANGING = {
    "check_suppressions": "looks values up that are too many for an address",
    "test_destination": "sends an example out and keeps nothing",
    "refresh": "goes on with a login that is written down",
}


@dataclass(frozen=True)
class Ask:
    """A request, and the line of the audit it must leave."""

    method: str
    path: str
    action: str
    subject: str  # how it begins
    body: Any = None
    tells: str = "after"  # before, after, both or neither
    actor: str = "ada"
    client: httpx.AsyncClient | None = None  # who asks, unless it is the admin of the house
    table: str | None = None  # the body is one
    is_new: bool = False  # who asks is nobody yet


@dataclass
class World:
    """What a case may use."""

    client: httpx.AsyncClient
    stranger: httpx.AsyncClient
    admin: Any
    tenant: UUID
    password_hash: str

    async def line(self) -> dict[str, str]:
        return await add_line(self.admin, self.tenant, f"site{uuid4().hex[:8]}")

    async def dead(self) -> dict[str, str]:
        """A place that was given up, and its letter."""
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


Case = Callable[[World], Awaitable[Ask]]
CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


# -- people ------------------------------------------------------------------------------------------------------------


@case
async def login(world: World) -> Ask:
    await world.user("lena")
    body = {"name": "lena", "password": PASSWORD}
    path = f"{API}/auth/login"
    return Ask("POST", path, "login", "session ", body, "neither", "lena", world.stranger)


def _as(world: World, tokens: dict[str, Any]) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    return httpx.AsyncClient(transport=world.client._transport, base_url=world.client.base_url, headers=headers)


@case
async def logout(world: World) -> Ask:
    him = _as(world, await world.logged_in("olga"))
    return Ask("POST", f"{API}/auth/logout", "logout", "session ", None, "neither", "olga", him)


@case
async def end_session(world: World) -> Ask:
    tokens = await world.logged_in("otto")
    path = f"{API}/auth/sessions/{tokens['session_id']}"
    return Ask("DELETE", path, "logout", "session ", None, "neither", "otto", _as(world, tokens))


@case
async def change_password(world: World) -> Ask:
    him = _as(world, await world.logged_in("paul"))
    body = {"current": PASSWORD, "new": "another horse battery"}
    return Ask("POST", f"{API}/auth/password", "change password", "user ", body, "neither", "paul", him)


@case
async def change_user(world: World) -> Ask:
    return Ask("PATCH", f"{API}/users/{await world.user('ulla')}", "change", "user ", {"role": "curator"}, "both")


@case
async def invite_user(world: World) -> Ask:
    return Ask("POST", f"{API}/invitations", "invite", "invitation ", {"role": "viewer"})


@case
async def accept_invitation(world: World) -> Ask:
    link = await world.made("invitations", role="viewer")
    body = {"token": link["token"], "name": "nina", "password": PASSWORD}
    path = f"{API}/invitations/accept"
    return Ask("POST", path, "create", "user ", body, "after", "nina", world.stranger, is_new=True)


@case
async def withdraw_invitation(world: World) -> Ask:
    made = await world.made("invitations", role="viewer")
    return Ask("DELETE", f"{API}/invitations/{made['id']}", "withdraw", "invitation ", None, "neither")


@case
async def create_api_key(world: World) -> Ask:
    return Ask("POST", f"{API}/api-keys", "create", "api key ", {"name": "n8n"})


@case
async def revoke_api_key(world: World) -> Ask:
    made = await world.made("api-keys", name="old")
    return Ask("DELETE", f"{API}/api-keys/{made['id']}", "revoke", "api key ", None, "before")


@case
async def create_tenant(world: World) -> Ask:
    return Ask("POST", f"{API}/tenants", "create", "tenant ", {"name": "acme", "pages_per_day": 5})


@case
async def change_tenant(world: World) -> Ask:
    made = await world.made("tenants", name="emca")
    return Ask("PATCH", f"{API}/tenants/{made['id']}", "change", "tenant ", {"searches_per_day": 3}, "both")


# -- the line ----------------------------------------------------------------------------------------------------------


@case
async def create_search(world: World) -> Ask:
    return Ask("POST", f"{API}/searches", "create", "search ", {"text": "dentists", "area": "Turku"})


@case
async def cancel_search(world: World) -> Ask:
    return Ask("POST", f"{API}/searches/{(await world.line())['searches']}/cancel", "cancel", "search ", None, "both")


def _curation(noun: str) -> Case:
    async def curate(world: World) -> Ask:
        body = {"ids": [(await world.line())[noun]], "curation_status": "Maybe"}
        return Ask("POST", f"{API}/{noun}/curation", "curate", noun, body, "both")

    return curate


CASES |= {f"curate_{noun}": _curation(noun) for noun in NOUNS}


@case
async def create_contact(world: World) -> Ask:
    return Ask("POST", f"{API}/contacts", "create", "contact ", {"email": "eva@example.fi"})


@case
async def change_contact(world: World) -> Ask:
    path = f"{API}/contacts/{(await world.line())['contacts']}"
    return Ask("PATCH", path, "change", "contact ", {"title": "Dentist"}, "both")


@case
async def delete_contact(world: World) -> Ask:
    return Ask("DELETE", f"{API}/contacts/{(await world.line())['contacts']}", "delete", "contact ", None, "before")


@case
async def merge_contacts(world: World) -> Ask:
    body = {"keep": (await world.line())["contacts"], "merge": (await world.line())["contacts"]}
    return Ask("POST", f"{API}/contacts/merge", "merge", "contact ", body, "both")


@case
async def cancel_job(world: World) -> Ask:
    job = await add(world.admin, "job", world.tenant, kind="curation", parameters="{}")
    return Ask("POST", f"{API}/jobs/{job}/cancel", "cancel", "job ", None, "both")


@case
async def scan_sitemap(world: World) -> Ask:
    return Ask("POST", f"{API}/sitemap/scan", "scan", "domain ", {"base_url": "https://molar.fi"})


@case
async def import_rows(world: World) -> Ask:
    path = f"{API}/imports/domains?name=mine"
    return Ask("POST", path, "import", "domains", None, "after", table="domain\nmine.fi\n")


def _submission(noun: str, row: dict[str, str]) -> Case:
    async def submit(world: World) -> Ask:
        return Ask("POST", f"{API}/{noun}/submit", "import", noun, {"items": [row]})

    return submit


SUBMITTED = {
    "places": {"name": "Submitted Dental", "website": "https://submitted.fi"},
    "domains": {"domain": "submitted.fi"},
    "sitemaps": {"url": "https://submitted.fi/sitemap.xml"},
    "pages": {"url": "https://submitted.fi/contact"},
    "contacts": {"email": "sub@submitted.fi"},
}
CASES |= {f"submit_{noun}": _submission(noun, row) for noun, row in SUBMITTED.items()}


# -- who is never written to, and where contacts go --------------------------------------------------------------------


@case
async def add_suppressions(world: World) -> Ask:
    return Ask("POST", f"{API}/suppressions", "suppress", "suppressions", {"values": ["no@example.fi"]})


@case
async def suppress_contacts(world: World) -> Ask:
    body = {"ids": [(await world.line())["contacts"]]}
    return Ask("POST", f"{API}/suppressions/contacts", "suppress", "suppressions", body)


@case
async def delete_suppression(world: World) -> Ask:
    await world.made("suppressions", values=["again@example.fi"])
    row = await world.admin.fetchval("SELECT id FROM suppression WHERE value = 'again@example.fi'")
    return Ask("DELETE", f"{API}/suppressions/{row}", "unsuppress", "suppression ", None, "before")


@case
async def erase_person(world: World) -> Ask:
    email = await world.admin.fetchval(
        "SELECT email FROM contact WHERE id = $1", UUID((await world.line())["contacts"])
    )
    return Ask("POST", f"{API}/erasures", "erase", "erasure", {"email": email, "preview": False})


@case
async def create_destination(world: World) -> Ask:
    body = {"name": "our crm", "kind": "hubspot", "secret": "pat-eu1-of-a-test"}
    return Ask("POST", f"{API}/destinations", "create", "destination ", body)


@case
async def change_destination(world: World) -> Ask:
    path = f"{API}/destinations/{await world.destination()}"
    return Ask("PATCH", path, "change", "destination ", {"name": "other crm"}, "both")


@case
async def remove_destination(world: World) -> Ask:
    return Ask("DELETE", f"{API}/destinations/{await world.destination()}", "remove", "destination ", None, "before")


@case
async def rotate_destination(world: World) -> Ask:
    path, body = f"{API}/destinations/{await world.destination()}/rotate", {"secret": "pat-eu1-the-next"}
    return Ask("POST", path, "rotate", "destination ", body, "neither")


@case
async def retire_destination_secret(world: World) -> Ask:
    hook = await world.made("destinations", name="hook", kind="webhook", url="http://hooks.example/leads")
    await world.made(f"destinations/{hook['id']}/rotate")
    return Ask("POST", f"{API}/destinations/{hook['id']}/retire", "retire", "destination ", None, "neither")


@case
async def create_deliveries(world: World) -> Ask:
    body = {"destination_id": await world.destination(), "ids": [(await world.line())["contacts"]]}
    return Ask("POST", f"{API}/deliveries", "deliver", "destination ", body)


@case
async def cancel_deliveries(world: World) -> Ask:
    destination = await world.destination()
    await world.made("deliveries", destination_id=destination, ids=[(await world.line())["contacts"]])
    body = {"filter": {"destination_id": destination}}
    return Ask("POST", f"{API}/deliveries/cancel", "cancel", "deliveries", body, "both")


# -- the engine --------------------------------------------------------------------------------------------------------


@case
async def run_workflow(world: World) -> Ask:
    return Ask("POST", f"{API}/workflows/deep_scan/run", "run", "deep_scan", None, "neither")


@case
async def pause_workflow(world: World) -> Ask:
    return Ask("POST", f"{API}/workflows/domain_metadata/pause", "pause", "domain_metadata", None, "both")


@case
async def resume_workflow(world: World) -> Ask:
    await world.made("workflows/page_curation/pause")
    return Ask("POST", f"{API}/workflows/page_curation/resume", "resume", "page_curation", None, "both")


@case
async def queue_items(world: World) -> Ask:
    body = {"ids": [(await world.line())["places"]]}
    return Ask("POST", f"{API}/workflows/deep_scan/queue", "queue", "deep_scan", body, "both")


@case
async def retry_items(world: World) -> Ask:
    body = {"ids": [(await world.dead())["places"]]}
    return Ask("POST", f"{API}/workflows/deep_scan/retry", "retry", "deep_scan", body, "both")


def _letters(action: str, *, bulk: bool) -> Case:
    async def move(world: World) -> Ask:
        letter = (await world.dead())["letter"]
        path = f"{API}/dead-letters/{action}" if bulk else f"{API}/dead-letters/{letter}/{action}"
        return Ask("POST", path, action, "deep_scan", {"ids": [letter]} if bulk else None, "both")

    return move


CASES |= {f"{action}_dead_letters": _letters(action, bulk=True) for action in ("retry", "drop")}
CASES |= {f"{action}_dead_letter": _letters(action, bulk=False) for action in ("retry", "drop")}
