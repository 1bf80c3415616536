"""The real application over a real database, with the example line of parcels."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from scrapersky.asgi import create_app
from scrapersky.core.settings import Environment
from scrapersky.engine.pipeline import Pipeline
from scrapersky.sandbox.parcels import parcel_line

LINE = "/api/v3/workflows"


def environment(url: str, **variables: str) -> Environment:
    return Environment(
        {
            "DATABASE_URL": url,
            "SCHEDULER_POLL_SECONDS": "0.1",
            "SCHEDULER_LINGER_SECONDS": "0",
            "SCHEDULER_GRACE_SECONDS": "1",
            **variables,
        },
        None,
    )


@asynccontextmanager
async def served(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the application while it is open; an exception that reaches the server fails the test."""
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost:8000") as client,
    ):
        yield client


def app_over(url: str, *, run_engine: bool = False, pipeline: Pipeline | None = None, **variables: str) -> FastAPI:
    return create_app(environment(url, **variables), run_engine=run_engine, pipeline=pipeline or parcel_line())


@pytest.fixture
def app(database_url: str) -> FastAPI:
    """The application without its engine: nothing moves unless the test moves it."""
    return app_over(database_url)


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with served(app) as client:
        yield client


def is_problem(answer: httpx.Response, status: int) -> dict[str, Any]:
    """The problem document of an answer, checked for what every one has."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    assert problem["status"] == status
    assert problem["title"]
    assert problem["request_id"] == answer.headers["x-request-id"]
    assert "Traceback" not in answer.text
    return problem


async def add_parcels(admin: Any, tenant: Any, count: int, status: str = "New", **columns: Any) -> list[str]:
    """Parcels in one state of the packing queue; their ids in order."""
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
    """Parcels that were given up, with their dead letters, as the engine leaves them; the ids of the letters."""
    rows = await add_parcels(admin, tenant, count, "Error", packing_error=error, packing_attempts=3)
    letters = await admin.fetch(
        "INSERT INTO dead_letter (tenant_id, queue, row_id, attempts, error_type, message) "
        "SELECT $1, 'parcel.packing', unnest($2::uuid[]), 3, split_part($3, ':', 1), $3 RETURNING id",
        tenant,
        rows,
        error,
    )
    return [str(row["id"]) for row in letters]
