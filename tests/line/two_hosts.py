"""Two machines and a little internet: run as a program inside a network namespace of its own, or all on loopback.

In the namespace stands the sandbox; two more namespaces, each joined to it by a cable of its own, are the machines,
with two workers each. They share nothing but the sandbox and PostgreSQL, whose socket is a file. Every namespace ends
with the last process in it, so nothing is left behind whatever happens. Prints what the sandbox counted, as JSON.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
from contextlib import ExitStack
from typing import Any

import uvloop

from scrapersky.sandbox.sandbox import LOOPBACK, Sandbox

NO_NAMESPACE = 77
MACHINES = ("10.77.1.2", "10.77.2.2")
CROSSROADS = "10.77.0.1"
WORKERS_EACH = 2
WORKER = (sys.executable, "-m", "scrapersky", "worker", "--until-idle")


def machine(address: str, stack: ExitStack) -> tuple[str, ...]:
    """A namespace with this address and a way to the crossroads; the words that run a command inside it."""
    # `cat` answers as soon as the namespace is there, keeps it while we hold its input, and ends when we do.
    holder = stack.enter_context(
        subprocess.Popen(["unshare", "--net", "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    holder.stdin.write(b"\n")
    holder.stdin.flush()
    if holder.stdout.readline() != b"\n":
        raise OSError("no second namespace")
    inside = ("nsenter", f"--net=/proc/{holder.pid}/ns/net")
    near, number = address[:-1] + "1", address.split(".")[2]
    far_end, near_end = f"far{number}", f"near{number}"
    run("ip", "link", "add", "name", near_end, "type", "veth", "peer", "name", far_end, "netns", str(holder.pid))
    run("ip", "addr", "add", f"{near}/30", "dev", near_end)
    run("ip", "link", "set", near_end, "up")
    run(*inside, "ip", "addr", "add", f"{address}/30", "dev", far_end)
    run(*inside, "ip", "link", "set", far_end, "up")
    run(*inside, "ip", "route", "add", "default", "via", near)
    return inside


def furnish(stack: ExitStack) -> list[tuple[str, ...]]:
    """The crossroads and both machines; leaves with NO_NAMESPACE where that cannot be done."""
    if {name for _, name in socket.if_nameindex()} != {"lo"}:
        sys.exit(NO_NAMESPACE)  # this is the real network: nothing here may be changed
    try:
        run("ip", "link", "set", "lo", "up")
        run("ip", "addr", "add", f"{CROSSROADS}/32", "dev", "lo")
        return [machine(address, stack) for address in MACHINES]
    except (OSError, subprocess.SubprocessError) as error:
        print(error, file=sys.stderr)
        sys.exit(NO_NAMESPACE)


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=60)


async def count(seed: int, businesses: int, latency: float, machines: list[tuple[str, ...]]) -> dict[str, Any]:
    """Let every worker work until nothing is left, and say what the sandbox saw."""
    address = CROSSROADS if any(machines) else LOOPBACK
    async with Sandbox(seed, businesses, address=address, latency_seconds=latency) as sandbox:
        environment = {**os.environ, **sandbox.environment()}
        workers = [
            await asyncio.create_subprocess_exec(
                *inside, *WORKER, env=environment, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
            )
            for inside in machines
            for _ in range(WORKERS_EACH)
        ]
        said = await asyncio.gather(*(worker.communicate() for worker in workers))
        return {
            "codes": [worker.returncode for worker in workers],
            "said": [text.decode()[-2000:] for _, text in said],
            "hosts": sandbox.traffic.report(),
        }


if __name__ == "__main__":
    options = json.loads(sys.argv[2])
    with ExitStack() as held:
        in_machines: list[tuple[str, ...]] = furnish(held) if sys.argv[1] == "namespaces" else [(), ()]
        report = uvloop.run(count(options["seed"], options["businesses"], options["latency_seconds"], in_machines))
    print(json.dumps({"mode": sys.argv[1], **report}))
