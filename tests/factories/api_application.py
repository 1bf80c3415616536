"""The application over a database of the tests, with the example workflows of the sandbox, and clients for it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

import httpx
from fastapi import FastAPI
from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.asgi import create_app
from scrapersky.core.database import Database
from scrapersky.core.roles import Role, scopes_of
from scrapersky.core.secrets.tokens import new_key
from scrapersky.core.settings import Environment
from scrapersky.core.uuid7 import new_id
from scrapersky.engine.pipeline import Pipeline
from scrapersky.models import ApiKey, Tenant, User
from scrapersky.sandbox.example_workflows import example_pipeline
from scrapersky.store.accounts import tenants
from tests.factories.settings import PATIENT

LINE = "/api/v3/workflows"
ME = "ada"  # the admin of the default tenant, the actor of tests unless they choose another
SECRET = "ohPVCqk0SBo9tE3hYlWmZ2x7Fn5RgUa1"  # signs the tokens of these tests
METRICS_TOKEN = "prometheus-may-read-numbers"


def environment(url: str, **variables: str) -> Environment:
    return Environment(
        {
            **PATIENT,
            "DATABASE_URL": url,
            "SCHEDULER_POLL_INTERVAL_SECONDS": "0.1",
            "SCHEDULER_IDLE_TIMEOUT_SECONDS": "0",
            "SCHEDULER_SHUTDOWN_GRACE_SECONDS": "1",
            "SCRAPERSKY_SECRET_KEY": SECRET,
            "SCRAPERSKY_METRICS_TOKEN": METRICS_TOKEN,
            "SCRAPERSKY_RATE_LIMIT_PER_KEY": "0",
            "SCRAPERSKY_RATE_LIMIT_PER_IP": "0",
            **variables,
        },
        None,
    )


@asynccontextmanager
async def served(app: FastAPI, key: str | None = None) -> AsyncIterator[httpx.AsyncClient]:
    """Open the application and yield a client; an exception that reaches the server fails the test.

    The client has the key, or one of an admin of the default tenant.
    """
    async with (
        app.router.lifespan_context(app),
        client_with(app, key or await make_key(app.state.application.database)) as client,
    ):
        yield client


def client_with(app: FastAPI, credential: str | None, host: str = "127.0.0.1") -> httpx.AsyncClient:
    """Return another client of an open application: with a key or a token, or without a credential."""
    headers = {"Authorization": f"Bearer {credential}"} if credential else {}
    transport = httpx.ASGITransport(app, client=(host, 4711))
    return httpx.AsyncClient(transport=transport, base_url="http://localhost:8000", headers=headers)


async def find_or_create_tenant(session: AsyncSession, name: str) -> UUID:
    """Return the id of the tenant of this name; create the tenant if there is none."""
    await session.execute(insert(Tenant).values(id=new_id(), name=name).on_conflict_do_nothing())
    return await tenants.id_of(session, name)


async def make_key(
    database: Database,
    role: str = "admin",
    tenant: str = "default",
    name: str = ME,
    scopes: Sequence[str] | None = None,
    expires_at: datetime | None = None,
) -> str:
    """Create a key; its user and tenant are created if they do not exist."""
    made = new_key()
    async with database.engine_session() as session:
        tenant_id = await find_or_create_tenant(session, tenant)
    async with database.session(tenant_id) as session:
        user = await session.scalar(select(User).where(User.name == name, User.tenant_id == tenant_id))
        user = user or User(tenant_id=tenant_id, name=name, role=role)
        session.add(user)
        await session.flush()
        allowed = scopes_of(Role(user.role)) if scopes is None else list(scopes)
        columns = {"prefix": made.prefix, "secret_hash": made.secret_hash, "expires_at": expires_at}
        session.add(ApiKey(tenant_id=tenant_id, user_id=user.id, name="tests", scopes=allowed, **columns))
    return made.shown


def app_over(url: str, *, run_engine: bool = False, pipeline: Pipeline | None = None, **variables: str) -> FastAPI:
    return create_app(environment(url, **variables), run_engine=run_engine, pipeline=pipeline or example_pipeline())


def is_problem(answer: httpx.Response, status: int) -> dict[str, Any]:
    """Check the members that every problem document has; return the document."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    assert problem["status"] == status
    assert problem["title"]
    assert problem["request_id"] == answer.headers["x-request-id"]
    assert "Traceback" not in answer.text
    return problem


async def add_parcels(admin: Any, tenant: Any, count: int, status: str = "New", **columns: Any) -> list[str]:
    """Add parcels in one state of the packing queue; return their ids in order."""
    names = "".join(f", {name}" for name in columns)
    values = "".join(f", ${n}" for n in range(4, 4 + len(columns)))
    rows = await admin.fetch(
        f"INSERT INTO parcel (tenant_id, packing_status, label{names}) "
        f"SELECT $1, $2, 'parcel ' || n{values} FROM generate_series(1, $3::int) n RETURNING id",
        tenant,
        status,
        count,
        *columns.values(),
    )
    return sorted(str(row["id"]) for row in rows)


async def add_dead(admin: Any, tenant: Any, count: int, error: str = "RuntimeError: the tape tore") -> list[str]:
    """Add failed parcels with their dead letters, as the engine does; return the ids of the letters."""
    rows = await add_parcels(admin, tenant, count, "Error", packing_error=error, packing_attempts=3)
    letters = await admin.fetch(
        "INSERT INTO dead_letter (tenant_id, queue, row_id, attempts, error_type, message) "
        "SELECT $1, 'parcel.packing', unnest($2::uuid[]), 3, split_part($3, ':', 1), $3 RETURNING id",
        tenant,
        rows,
        error,
    )
    return [str(row["id"]) for row in letters]
