"""A worker killed between the effect at the receiver and its own commit: the second try is known by its id."""

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from scrapersky.core.secrets.vault import Vault
from scrapersky.sandbox.sandbox import Sandbox
from tests.factories.fork_server import ForkedProcess, ForkServer

KEY = "n3Jw9vQzB1xYk5TtLr8sHd2mPf6GcVaE"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
PATIENCE_SECONDS = 150


@pytest.fixture
def start(database_url: str, tmp_path: Path, fork_server: ForkServer) -> Iterator[object]:
    """Start a real worker that lives in the sandbox."""
    started: list[ForkedProcess] = []

    def worker(sandbox: Sandbox, lease_seconds: int) -> ForkedProcess:
        environment = {
            **os.environ,
            **sandbox.environment(),
            "DATABASE_URL": database_url,
            "SCRAPERSKY_SECRET_KEY": KEY,
            "SCRAPERSKY_DATA_DIR": str(tmp_path),
            "DELIVERY_SCHEDULER_LEASE_SECONDS": str(lease_seconds),
            "SCHEDULER_POLL_INTERVAL_SECONDS": "0.1",
        }
        started.append(fork_server.start("scrapersky", "worker", cwd=tmp_path, env=environment))
        return started[-1]

    yield worker
    for process in started:
        process.kill()
        process.wait()


async def queue_one(admin, tenant, kind: str, url: str, secret: str) -> None:
    sealed = Vault(KEY.encode()).seal(secret)
    await admin.execute(
        "WITH d AS (INSERT INTO destination (tenant_id, name, kind, url, secret) VALUES ($1, 'd', $2, $3, $4) "
        "RETURNING id), c AS (INSERT INTO contact (tenant_id, identity, email) VALUES ($1, 'a', 'anna@molar.fi') "
        "RETURNING id) "
        "INSERT INTO delivery (tenant_id, destination_id, contact_id, delivery_status) "
        "SELECT $1, d.id, c.id, 'Queued' FROM d, c",
        tenant,
        kind,
        url,
        sealed,
    )


async def until_delivered(admin) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await admin.fetchval("SELECT delivery_status FROM delivery") != "Completed":
            await asyncio.sleep(0.05)


async def until_dead(process: ForkedProcess) -> int:
    return await asyncio.to_thread(process.wait, PATIENCE_SECONDS)


async def test_the_second_try_carries_the_same_id_and_has_no_second_effect(admin, tenant, start):
    async with Sandbox(7, 10) as sandbox:
        receiver = sandbox.hooks.add("/leads", SECRET)
        await queue_one(admin, tenant, "webhook", f"{sandbox.hooks_url}/leads", SECRET)
        doomed = start(sandbox, lease_seconds=3)
        take = receiver.take

        def take_and_kill(request):
            answer = take(request)  # the effect is there; the answer never reaches the worker
            if doomed.poll() is None:
                doomed.send_signal(signal.SIGKILL)
                doomed.wait()
            return answer

        receiver.take = take_and_kill
        assert await until_dead(doomed) == -signal.SIGKILL
        assert len(receiver.effects) == 1
        assert await admin.fetchval("SELECT delivered_at FROM delivery") is None
        start(sandbox, lease_seconds=60)
        await until_delivered(admin)
    assert len(receiver.seen) == 2
    assert len(set(receiver.seen)) == len(receiver.effects) == 1
    assert await admin.fetchval("SELECT delivery_attempts FROM delivery") == 2


async def test_a_crm_has_the_contact_once(admin, tenant, start):
    async with Sandbox(7, 10) as sandbox:
        await queue_one(admin, tenant, "hubspot", sandbox.hubspot_url, sandbox.hubspot.token)
        doomed = start(sandbox, lease_seconds=3)
        answer = sandbox.hubspot.answer

        def answer_and_kill(request):
            said = answer(request)
            if doomed.poll() is None:
                doomed.send_signal(signal.SIGKILL)
                doomed.wait()
            return said

        sandbox.hubspot.answer = answer_and_kill
        assert await until_dead(doomed) == -signal.SIGKILL
        start(sandbox, lease_seconds=60)
        await until_delivered(admin)
    assert sandbox.hubspot.batches == [1, 1]
    assert len(sandbox.hubspot.contacts) == 1
    assert await admin.fetchval("SELECT external_id FROM delivery") == "101"
