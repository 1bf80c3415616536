"""A worker serves its metrics and its health on a port of its own."""

import asyncio
import json
import re
import signal
import socket
import urllib.error
import urllib.request

import pytest

from scrapersky import __version__

TOKEN = "a-metrics-token-of-the-tests"
ANY_PORT = {"SCRAPERSKY_WORKER_PORT": "0", "SCRAPERSKY_METRICS_TOKEN": TOKEN}


async def port_of(worker) -> int:
    await worker.until_said("worker_http_started")
    [line] = [line for line in worker.err.splitlines() if "worker_http_started" in line]
    return int(json.loads(line)["port"])


def get(port: int, path: str, token: str | None = None) -> tuple[int, str]:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=240) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read().decode()


async def until_ready(port: int) -> None:
    async with asyncio.timeout(90):
        while (await asyncio.to_thread(get, port, "/health/ready"))[0] != 200:
            await asyncio.sleep(0.05)


async def test_a_worker_serves_probes_and_metrics_and_nothing_else(process, database_url) -> None:
    worker = process("worker", DATABASE_URL=database_url, **ANY_PORT)
    port = await port_of(worker)
    await until_ready(port)
    assert await asyncio.to_thread(get, port, "/health/live") == (200, '{"status":"alive"}')
    assert (await asyncio.to_thread(get, port, "/metrics"))[0] == 401
    assert (await asyncio.to_thread(get, port, "/api/v3/places", TOKEN))[0] == 404
    async with asyncio.timeout(240):
        while True:
            status, text = await asyncio.to_thread(get, port, "/metrics", TOKEN)
            if re.search(rf'^scrapersky_workers{{version="{__version__}"}} 1.0$', text, re.MULTILINE):
                break
            await asyncio.sleep(0.05)
    assert status == 200
    assert 'scrapersky_build_info{python="3.' in text
    assert "process_resident_memory_bytes " in text
    assert 'scrapersky_queue_rows{state="ready",workflow="deep_scan"} 0.0' in text
    assert 'scrapersky_http_requests_total{method="GET",route="/health/live",status="200"} 1.0' in text
    assert 'route="/api/v3/places"' not in text, "a path without a route is not a label"
    worker.tell(signal.SIGTERM)
    said = await worker.leave()
    assert (said.code, "Traceback" in said.err) == (0, False)


async def test_a_second_worker_takes_the_next_port(process, database_url) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        first = taken.getsockname()[1]
        worker = process("worker", DATABASE_URL=database_url, SCRAPERSKY_WORKER_PORT=str(first))
        assert first < await port_of(worker) < first + 10
        worker.tell(signal.SIGTERM)
        assert (await worker.leave()).code == 0


@pytest.mark.parametrize(
    ("setting", "event"),
    [({"SCRAPERSKY_WORKER_HTTP": "false"}, None), ({"SCRAPERSKY_WORKER_HOST": "::ffff"}, "worker_http_unavailable")],
)
async def test_without_a_port_a_worker_works(process, database_url, setting, event) -> None:
    production = {
        "SCRAPERSKY_ENVIRONMENT": "production",
        "SCRAPERSKY_SECRET_KEY": "0123456789abcdef0123456789abcdef",
        "SCRAPERSKY_LOG_FORMAT": "json",
    }
    said = await process("worker", "--until-idle", DATABASE_URL=database_url, **production, **setting).leave()
    assert said.code == 0, said.err
    assert "worker_http_started" not in said.err
    assert event is None or event in said.err


async def test_in_development_a_worker_listens_on_this_machine_only(process, database_url) -> None:
    said = await process("worker", DATABASE_URL=database_url, SCRAPERSKY_WORKER_HOST="0.0.0.0").leave()
    assert said.code == 2
    assert "SCRAPERSKY_WORKER_HOST=0.0.0.0 accepts other machines" in said.sentence
