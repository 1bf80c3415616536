"""The embedded server: in any directory, for any user, after any death, and only ever its own process."""

import os
import random
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import psutil
import pytest

from scrapersky.core.embedded.folders import choose_socket_folder
from scrapersky.core.embedded.postmaster import find_postmaster
from scrapersky.core.embedded.programs import SYSTEM_USER, is_root, prepare_system_user
from scrapersky.core.embedded.server import DidNotStart, EmbeddedServer, last_fatal
from scrapersky.core.errors import BadSetting

START = """
import sys
from pathlib import Path
from scrapersky.core.embedded.server import EmbeddedServer
print("URL", EmbeddedServer(Path(sys.argv[1])).start(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def home() -> Iterator[Path]:
    """A data directory that the server's own user can reach; its server is stopped at the end."""
    with tempfile.TemporaryDirectory(prefix="ss-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder) / "data"
        for postgres in Path(folder).rglob("postmaster.pid"):
            if running := find_postmaster(postgres.parent):
                psutil.Process(running.pid).send_signal(signal.SIGQUIT)
                psutil.Process(running.pid).wait(60)


@pytest.fixture
def server(home: Path) -> Iterator[EmbeddedServer]:
    server = EmbeddedServer(home)
    yield server
    server.release()


def started(home: Path, **more: object) -> subprocess.Popen[str]:
    """Start a process that uses the server until its standard input is closed."""
    return subprocess.Popen(
        [sys.executable, "-c", START, str(home)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more,  # type: ignore[call-overload]
    )  # fmt: skip


def url_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("URL"):
            return line.split(maxsplit=1)[1].strip()
    raise AssertionError(process.communicate()[1])


async def ask(url: str, question: str = "SELECT current_database()") -> object:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(question)
    finally:
        await connection.close()


async def test_the_last_process_to_end_stops_the_server_also_after_others_were_killed(home: Path) -> None:
    first, second, last = started(home), started(home), started(home)
    url = url_of(first)
    assert url_of(second) == url_of(last) == url
    first.kill()
    first.wait()
    second.kill()
    second.wait()
    assert await ask(url) == "scrapersky"
    last.communicate("", timeout=120)
    assert last.returncode == 0
    assert find_postmaster(home / "postgres") is None
    assert not (home / "postgres" / "postmaster.pid").exists()


@pytest.mark.parametrize("name", ["Application Support", 'it\'s, "quoted" & 50% ünï'])
async def test_a_blank_or_a_quote_in_the_path_is_no_obstacle(home: Path, name: str) -> None:
    server = EmbeddedServer(home / name)
    assert await ask(server.start()) == "scrapersky"
    server.release()
    assert find_postmaster(server.home) is None


# -- the socket --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("locale", [{"LC_ALL": "C"}, {"LANG": "xx_YY.UTF-8"}], ids=["plain", "not installed"])
async def test_the_locale_of_the_terminal_decides_nothing(home: Path, locale: dict[str, str]) -> None:
    without = {name: value for name, value in os.environ.items() if name != "LANG" and not name.startswith("LC_")}
    process = started(home, env={**without, **locale})
    url = url_of(process)
    assert await ask(url, "SELECT lower('ÄÖŠЖ')") == "äöšж"
    assert await ask(url, r"SELECT regexp_split_to_array('änna-жанна', '\W+')") == ["änna", "жанна"]
    assert await ask(url, "SHOW lc_messages") == "C"
    process.communicate("", timeout=120)


async def test_the_socket_of_a_long_path_is_in_a_private_folder(home: Path) -> None:
    server = EmbeddedServer(home / ("long" * 25))
    assert await ask(server.start()) == "scrapersky"
    running = find_postmaster(server.home)
    assert running is not None
    assert running.socket_folder is not None
    mode = running.socket_folder.stat().st_mode
    assert stat.S_IMODE(mode) == 0o700, running.socket_folder
    assert stat.S_IMODE((running.socket_folder / ".s.PGSQL.5432").stat().st_mode) == 0o700
    server.release()
    shutil.rmtree(running.socket_folder)


async def test_a_socket_folder_of_another_user_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare_system_user()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(home.parent))
    long = home / ("long" * 25) / "postgres"
    folder = choose_socket_folder(long)
    folder.chmod(0o777)
    with pytest.raises(BadSetting, match="can be used by other users"):
        choose_socket_folder(long)
    folder.rmdir()
    elsewhere = home.parent / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    folder.symlink_to(elsewhere)
    with pytest.raises(BadSetting, match="can be used by other users"):
        choose_socket_folder(long)


def test_a_path_that_is_too_long_for_any_socket_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare_system_user()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(home.parent / ("high" * 30)))
    with pytest.raises(BadSetting, match="too long a path for the socket"):
        choose_socket_folder(home / ("long" * 25) / "postgres")


# -- its own process only ----------------------------------------------------------------------------------------------


def as_server_user() -> dict[str, object]:
    return {"user": SYSTEM_USER, "group": SYSTEM_USER, "extra_groups": []} if is_root() else {}


@pytest.fixture
def stranger(home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A living process of the server's user that is not a server."""
    prepare_system_user()
    process = subprocess.Popen(["sleep", "600"], cwd="/", **as_server_user())  # type: ignore[call-overload]
    yield process
    process.kill()
    process.wait()


def write_pid(file: Path, pid: int, home: Path, socket_folder: Path) -> None:
    file.write_text(f"{pid}\n{home}\n{int(time.time()) - 600}\n5432\n{socket_folder}\n\n  123 456\nready   \n")


async def test_a_stale_pid_file_with_the_number_of_another_process(
    server: EmbeddedServer, stranger: subprocess.Popen[bytes]
) -> None:
    server.start()
    server.release()
    socket_lock = server.home / ".s.PGSQL.5432.lock"
    for file in (server.home / "postmaster.pid", socket_lock):
        write_pid(file, stranger.pid, server.home, server.home)
    assert find_postmaster(server.home) is None
    assert await ask(server.start()) == "scrapersky"
    assert find_postmaster(server.home) is not None
    server.release()
    assert find_postmaster(server.home) is None
    assert stranger.poll() is None, "the other process lives"


async def test_a_stale_pid_file_that_appears_while_the_server_is_used_kills_nobody(
    server: EmbeddedServer, stranger: subprocess.Popen[bytes]
) -> None:
    server.start()
    running = find_postmaster(server.home)
    assert running is not None
    psutil.Process(running.pid).kill()
    psutil.wait_procs([psutil.Process(running.pid)] if psutil.pid_exists(running.pid) else [], timeout=60)
    write_pid(server.home / "postmaster.pid", stranger.pid, server.home, server.home)
    server.release()
    assert stranger.poll() is None, "the other process lives"


def test_a_postgres_of_another_directory_is_another_process(server: EmbeddedServer, home: Path) -> None:
    server.start()
    running = find_postmaster(server.home)
    assert running is not None
    other = home / "other"
    other.mkdir()
    write_pid(other / "postmaster.pid", running.pid, other, other)
    assert find_postmaster(other) is None
    lines = (server.home / "postmaster.pid").read_text().splitlines()
    lines[2] = str(int(lines[2]) - 3600)  # written an hour before the process began
    copy = home / "copy"
    copy.symlink_to(server.home)
    assert find_postmaster(copy) == running, "a link to the same directory"
    saved = (server.home / "postmaster.pid").read_text()
    (server.home / "postmaster.pid").write_text("\n".join(lines) + "\n")
    assert find_postmaster(server.home) is None
    (server.home / "postmaster.pid").write_text(saved)


# -- killed at any moment ----------------------------------------------------------------------------------------------


async def test_killed_at_any_moment_of_the_first_start_the_directory_works_the_next_time(home: Path) -> None:
    moments = random.Random(7)
    for turn in range(4):
        folder = home / str(turn)
        first = started(folder, start_new_session=True)
        deadline = time.monotonic() + 60
        while not any(folder.glob("postgres*")) and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(moments.uniform(0, 1.5))  # a random moment is the subject of this test
        for victim in [*psutil.Process(first.pid).children(recursive=True), psutil.Process(first.pid)]:
            if turn % 2 == 0 or victim.pid != first.pid:  # all of them, or the programs of PostgreSQL only
                try:
                    victim.kill()
                except psutil.NoSuchProcess:
                    continue
        if turn % 2 == 0:
            first.kill()
        first.communicate("", timeout=120)
        again = started(folder)
        assert await ask(url_of(again)) == "scrapersky"
        again.communicate("", timeout=120)
        assert [path.name for path in folder.glob("postgres.unfinished*")] == []


async def test_what_an_interrupted_older_version_left_is_put_aside(server: EmbeddedServer) -> None:
    server.home.mkdir(parents=True)
    (server.home / "PG_VERSION").write_text("18\n")
    (server.home / "base").mkdir()
    assert await ask(server.start()) == "scrapersky"
    assert [path.name.startswith("postgres.incomplete-") for path in server.home.parent.glob("postgres.incomp*")] == [
        True
    ]


def test_the_directory_of_another_version_is_named(server: EmbeddedServer) -> None:
    (server.home / "global").mkdir(parents=True)
    (server.home / "global" / "pg_control").write_text("")
    (server.home / "PG_VERSION").write_text("16\n")
    with pytest.raises(BadSetting, match="a database of PostgreSQL 16, not 18"):
        server.start()


async def test_a_server_that_died_is_started_again(server: EmbeddedServer) -> None:
    url = server.start()
    running = find_postmaster(server.home)
    assert running is not None
    assert server.revive() is False
    psutil.Process(running.pid).kill()
    deadline = time.monotonic() + 60
    while True:
        try:
            if server.revive():
                break
        except DidNotStart:  # processes of the former server keep the directory for a moment
            assert time.monotonic() < deadline
            time.sleep(0.1)
    assert await ask(url) == "scrapersky"


# -- sentences ---------------------------------------------------------------------------------------------------------


def test_the_last_fatal_error_of_the_log_is_in_the_sentence(server: EmbeddedServer) -> None:
    server.start()
    server.release()
    (server.home / "postgresql.auto.conf").write_text("shared_buffers = '99999GB'\n")
    with pytest.raises(DidNotStart, match=r"FATAL: configuration file .* contains errors"):
        server.start()


def test_routine_lines_are_not_the_reason(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(
        "2026-01-01 LOG:  starting\n"
        '2026-01-01 PANIC:  could not write to file "pg_wal/xlogtemp.7": No space left on device\n'
        "2026-01-01 FATAL:  the database system is starting up\n"
        "2026-01-01 FATAL:  terminating connection due to administrator command\n"
    )
    assert last_fatal(log) == 'PANIC: could not write to file "pg_wal/xlogtemp.7": No space left on device'
    assert last_fatal(log, start=log.stat().st_size) is None
    assert last_fatal(tmp_path / "none") is None


def test_a_directory_that_cannot_be_written_is_named(home: Path) -> None:
    home.write_text("a file")
    with pytest.raises(BadSetting, match=r"cannot hold a database \(File exists\)"):
        EmbeddedServer(home).start()


async def test_a_second_user_of_the_machine_has_a_server_of_its_own(home: Path, server: EmbeddedServer) -> None:
    server.start()
    other, user = Path(tempfile.mkdtemp(prefix="ss-")), 65534 if is_root() else os.getuid()
    runner = START
    if is_root():  # only root can act as another user; without it the second server has another home
        os.chown(other, user, user)
        become = f"import os\nos.setgroups([]); os.setgid({user}); os.setuid({user})\n"
        runner = START.replace("print(", f"{become}print(")  # after the imports: that user may not read this Python
    environment = {**os.environ, "HOME": str(other), "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", runner, str(other / "data")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd="/",
    )  # fmt: skip
    assert "host=" in url_of(process)
    running = find_postmaster(other / "data" / "postgres")
    assert running is not None
    assert psutil.Process(running.pid).uids().real == user
    process.communicate("", timeout=120)
    assert find_postmaster(other / "data" / "postgres") is None
    assert find_postmaster(server.home) is not None
    shutil.rmtree(other)


def test_the_server_listens_on_no_network_address(server: EmbeddedServer) -> None:
    server.start()
    running = find_postmaster(server.home)
    assert running is not None
    kinds = {connection.family for connection in psutil.Process(running.pid).net_connections("all")}
    assert kinds <= {socket.AF_UNIX}
