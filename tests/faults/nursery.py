"""Where workers are forked from: a process that has imported everything once, so that each start costs nothing.

It reads one JSON order a line; a child's exit status goes into the file the order names. When its input ends, it
kills every child that is left and goes.
"""

import asyncio
import json
import os
import selectors
import signal
import sys
from pathlib import Path
from typing import Any

from tests.faults import worker_process


def main() -> None:
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    selector = selectors.DefaultSelector()
    selector.register(sys.stdin.buffer, selectors.EVENT_READ)
    selector.register(woken, selectors.EVENT_READ)
    children: dict[int, Path] = {}
    while True:
        for key, _ in selector.select():
            if key.fd == woken:
                os.read(woken, 1024)
                reap(children)
            elif line := sys.stdin.buffer.readline():
                order = json.loads(line)
                pid = fork(order)
                children[pid] = Path(order["exit"])
                print(pid, flush=True)
            else:
                for pid in children:
                    os.kill(pid, signal.SIGKILL)
                return


def fork(order: dict[str, Any]) -> int:
    pid = os.fork()
    if pid:
        return pid
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(log, stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    status = 1
    try:
        if order["clock_skew"]:
            start_with_a_wrong_clock(order)
        asyncio.run(worker_process.run(order["environment"]))
        status = 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def start_with_a_wrong_clock(order: dict[str, Any]) -> None:
    """Become a worker under libfaketime where it is installed; elsewhere shift what Python says of the time."""
    skew = order["clock_skew"]
    for library in Path("/usr/lib").glob("*/faketime/libfaketime.so.1"):
        lie = {"LD_PRELOAD": str(library), "FAKETIME": f"{skew:+d}s", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        command = [sys.executable, "-m", "tests.faults.worker_process"]
        os.execve(sys.executable, command, {**os.environ, **order["environment"], **lie})
    worker_process.shift_the_clock(skew)


def reap(children: dict[int, Path]) -> None:
    for pid in list(children):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            exit_file = children.pop(pid)
            exit_file.with_suffix(".part").write_text(str(os.waitstatus_to_exitcode(status)))
            exit_file.with_suffix(".part").rename(exit_file)
            for left in (f"faketime_shm_{pid}", f"sem.faketime_sem_{pid}"):
                Path("/dev/shm", left).unlink(missing_ok=True)  # whoever is killed leaves his wrong clock behind


if __name__ == "__main__":
    main()
