"""A few things that only a real server and real sockets can show."""

import asyncio
import json
import socket
import threading
from contextlib import asynccontextmanager

import uvicorn

from tests.factories.api_application import app_over


@asynccontextmanager
async def listening(app):
    """The port of a real server on loopback."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, http="httptools", ws="none", log_config=None))
        serving = asyncio.create_task(server.serve([listener]))
        try:
            while not server.started:
                await asyncio.sleep(0.01)
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            await serving


async def say(port, request):
    """What the server answers to these bytes: the status and the document."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    await writer.drain()
    async with asyncio.timeout(90):
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(next(line.split(b":")[1] for line in head.splitlines() if line.lower().startswith(b"content-len")))
        body = await reader.readexactly(length)
    writer.close()
    return int(head.split()[1]), json.loads(body)


def post(path, key, *headers):
    who = f"Authorization: Bearer {key}"
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", who, "Content-Type: application/json", *headers, "", ""]
    return "\r\n".join(lines).encode()


async def test_hostile_requests_are_answered_and_the_next_one_is_served(database_url, key_for):
    path, key = "/api/v3/workflows/packing/queue", await key_for("admin")
    async with listening(app_over(database_url)) as port:
        chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        status, problem = await say(port, post(path, key, "Transfer-Encoding: chunked") + chunk * 16)
        assert (status, problem["detail"]) == (413, "The body may have at most 1,000,000 bytes.")
        assert (await say(port, post(path, key, "Content-Length: 99999999")))[0] == 413
        assert (await say(port, post(path, key, "Content-Length: 0", *(f"X-{n}: 1" for n in range(5000)))))[0] == 431
        assert (await say(port, post(path, key, "Content-Length: 2") + b"{]"))[0] == 400
        assert (await say(port, post("/api/v3/workflows/%00/run", key, "Content-Length: 0")))[0] == 422
        assert (await say(port, post("/api/v3/workflows/%ff%2e%2e/run", key, "Content-Length: 0")))[0] == 422
        status, problem = await say(port, post("/api/v3/workflows/packing/run", key, "Content-Length: 0"))
        assert (status, problem) == (202, {"workflow": "packing", "workers": 0})


async def test_requests_wait_neither_for_models_nor_for_the_openapi_document(app, client, monkeypatch):
    def build(*_: object, **__: object) -> None:
        raise AssertionError("a model is built on the event loop")

    monkeypatch.setattr("fastapi.routing.create_model_field", build)
    monkeypatch.setattr("fastapi.dependencies.utils.create_model_field", build)
    for path in ("/health/live", "/api/v3/searches", "/console/login", "/unknown"):
        assert (await client.get(path)).status_code < 500
    threads, build_document = set(), app.openapi
    monkeypatch.setattr(app, "openapi", lambda: threads.add(threading.get_ident()) or build_document())
    answers = await asyncio.gather(*(client.get("/api/v3/openapi.json") for _ in range(3)))
    assert {len(answer.json()["paths"]) for answer in answers} != {0}
    assert len(threads) == 1, "it is built once"
    assert threading.get_ident() not in threads, "in another thread than that of the event loop"


async def test_a_request_that_ends_early_does_not_end_the_building_of_the_openapi_document(app, client, monkeypatch):
    begun, ended, builds, build_document = threading.Event(), threading.Event(), [], app.openapi

    def build():
        begun.set()
        builds.append(ended.wait(60))
        return build_document()

    monkeypatch.setattr(app, "openapi", build)
    first = asyncio.create_task(client.get("/api/v3/openapi.json"))
    assert await asyncio.to_thread(begun.wait, 60)
    first.cancel()
    await asyncio.wait([first])
    ended.set()
    assert (await client.get("/api/v3/openapi.json")).json()["paths"]
    assert builds == [True]
