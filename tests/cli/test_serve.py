"""`scrapersky serve` in a process of its own: it says where it listens, and leaves in good order."""

import asyncio
import json
import signal
import socket
import urllib.error
import urllib.request

from tests.cli.test_worker import SLOW_LINE, parcel, until_in_hand

__all__ = ["parcel"]  # a fixture


def ready(address: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"{address}/health/ready", timeout=240) as answer:
            return answer.status, json.load(answer)["status"]
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.load(refusal)["status"]


async def until_ready(address: str) -> None:
    async with asyncio.timeout(90):
        while (await asyncio.to_thread(ready, address))[0] != 200:
            await asyncio.sleep(0.05)


async def test_ctrl_c_stops_it_in_good_order(fresh_process, database_url, admin) -> None:
    serve = fresh_process("serve", DATABASE_URL=database_url, SCRAPERSKY_PORT="0")
    told = await serve.next_line()
    assert told.startswith("Listening on http://127.0.0.1:")
    await until_ready(told.split()[2])
    serve.tell(signal.SIGINT)
    said = await serve.leave()
    assert said.code == 0, said.err
    assert "Traceback" not in said.err
    assert await admin.fetchval("SELECT count(*) FROM worker") == 0


async def test_it_listens_on_the_port_of_the_setting(process, database_url) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    serve = process("serve", DATABASE_URL=database_url, SCRAPERSKY_PORT=str(port))
    assert f"http://127.0.0.1:{port}" in await serve.next_line()
    await until_ready(f"http://127.0.0.1:{port}")
    serve.tell(signal.SIGTERM)
    assert (await serve.leave()).code == 0


async def test_while_it_drains_it_says_it_is_not_ready(process, database_url, admin, parcel) -> None:
    serve = process("serve", module=SLOW_LINE, DATABASE_URL=database_url, SCRAPERSKY_PORT="0", PACKING="8")
    address = (await serve.next_line()).split()[2]
    await until_ready(address)
    await until_in_hand(admin, parcel)
    serve.tell(signal.SIGTERM)
    async with asyncio.timeout(240):
        while (answer := await asyncio.to_thread(ready, address))[0] == 200:
            await asyncio.sleep(0.02)
    assert answer == (503, "unready")
    said = await serve.leave()
    assert said.code == 0, said.err
    assert await admin.fetchval("SELECT packing_status FROM parcel WHERE id = $1", parcel) == "Completed"
