"""Processes without the seconds of their imports: they are forked from one that has imported the application.

The server reads orders from its standard input, a socket: the module to run, its words, environment and directory,
and the files for output, errors and the exit code. When its client closes the socket, it ends.
"""

import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from sqlalchemy.orm import configure_mappers

from scrapersky.asgi import create_app
from scrapersky.core.settings import Environment
from scrapersky.extract.pages.vocabulary import load_vocabulary
from scrapersky.extract.public_suffix import registrable_domain
from tests import ROOT

IMPORTED = ("scrapersky.worker", "scrapersky.cli.find", "scrapersky.cli.finding.run", "uvicorn")
MAX_ORDER_BYTES = 1 << 17
File = IO[str] | None


class ForkServer:
    """The server, as tests use it."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-m", "tests.factories.fork_server"]
        with theirs:
            self._server = subprocess.Popen(command, stdin=theirs.fileno(), stdout=subprocess.DEVNULL, cwd=ROOT)

    def start(
        self, module: str, *words: str, cwd: Path, env: dict[str, str], stdout: File = None, stderr: File = None
    ) -> "ForkedProcess":
        """Run a module as `python -m` does; what it prints goes to the files or nowhere."""
        exit_code, their_exit_code = os.pipe()
        order = json.dumps({"module": module, "words": words, "cwd": str(cwd), "env": env}).encode()
        assert len(order) < MAX_ORDER_BYTES
        with open(os.devnull, "w") as nowhere:
            files = [(stdout or nowhere).fileno(), (stderr or nowhere).fileno(), their_exit_code]
            socket.send_fds(self._socket, [order], files)
        os.close(their_exit_code)
        answer = self._socket.recv(32)
        assert answer, "the fork server has ended"
        return ForkedProcess(int(answer), exit_code)

    def stop(self) -> None:
        self._socket.close()
        self._server.wait(240)


class ForkedProcess:
    """A process that is not a child of ours, with some methods of subprocess.Popen."""

    def __init__(self, pid: int, exit_code: int) -> None:
        self.pid, self._exit_code = pid, exit_code
        self.returncode: int | None = None
        self._reading = threading.Lock()  # several threads may wait; the exit code is read once

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        return self._wait(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; return the exit code. Raises TimeoutExpired."""
        code = self._wait(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _wait(self, timeout: float | None) -> int | None:
        if not self._reading.acquire(timeout=-1 if timeout is None else timeout):
            return self.returncode
        try:
            if self.returncode is None and select.select([self._exit_code], [], [], timeout)[0]:
                self.returncode = int(os.read(self._exit_code, 16))
                os.close(self._exit_code)
            return self.returncode
        finally:
            self._reading.release()


def serve() -> None:
    """Fork for each order; write the exit code of each child that ends. A child returns from here and runs."""
    for name in IMPORTED:
        import_module(name)
    warm_up()
    client = socket.socket(fileno=os.dup(0))
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    exit_codes: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([client.fileno(), woken], [], [])
        if woken in ready:
            os.read(woken, 1024)
            reap(exit_codes)
        if client.fileno() in ready:
            order, files, _, _ = socket.recv_fds(client, MAX_ORDER_BYTES, 3)
            if not order:
                return
            pid = os.fork()
            if not pid:
                for number in (client.detach(), woken, wake, *exit_codes.values()):
                    os.close(number)
                become(json.loads(order), files)
                return
            exit_codes[pid] = files.pop()
            for file in files:
                os.close(file)
            client.send(str(pid).encode())


def warm_up() -> None:
    """Do what each process does once at its start: map the tables, build the routes, load the word lists."""
    configure_mappers()
    create_app(Environment({"DATABASE_URL": "postgresql://localhost/none"}, None))
    load_vocabulary()
    registrable_domain("www.firma.fi")


def reap(exit_codes: dict[int, int]) -> None:
    for pid in list(exit_codes):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            os.write(exit_codes[pid], str(os.waitstatus_to_exitcode(status)).encode())
            os.close(exit_codes.pop(pid))


def become(order: dict[str, Any], files: list[int]) -> None:
    """Run the module in this process, as if it had been started with these words and files."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # also where the tests run under nohup
    for number, file in zip((0, 1, 2), (os.open(os.devnull, os.O_RDONLY), *files[:2]), strict=True):
        os.dup2(file, number)
        os.close(file)
    os.close(files[2])
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    sys.argv = [order["module"], *order["words"]]
    runpy.run_module(order["module"], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    serve()
