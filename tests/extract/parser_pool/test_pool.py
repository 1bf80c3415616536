"""The parser pool: a page can end its own process only."""

import asyncio
import os
import pickle
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest
import uvloop

from scrapersky.core.vocabularies import HiddenReason
from scrapersky.extract.contacts import read_contacts
from scrapersky.extract.document.charset import EncodedPage
from scrapersky.extract.document.model import Document
from scrapersky.extract.document.parse import parse_page
from scrapersky.extract.parser_pool.child import pack_result
from scrapersky.extract.parser_pool.pool import LARGE_BYTES, ParserCannotStart, ParserPool, PoisonPage, ReaderFault
from scrapersky.extract.parser_pool.process import UntrustedResult, unpickle
from scrapersky.extract.results import Contacts
from tests.factories import hostile_readers

PAGE = b"<p>Hello</p>"


@asynccontextmanager
async def small_pool(size: int = 1, **limits: float) -> AsyncIterator[ParserPool]:
    """Open a pool with small limits, and check that it leaves no process."""
    settings = {"cpu_seconds": 0.3, "wall_seconds": 20.0, "memory_mb": 300, "max_result_mb": 1.0} | limits
    async with ParserPool(size, preload=("tests.factories.hostile_readers",), **settings) as pool:  # type: ignore[arg-type]
        seen = set(pool.process_ids)
        yield pool
        seen |= set(pool.process_ids)
    async with asyncio.timeout(240):
        while any(map(is_running, seen)):  # the kernel ends a killed process when it is scheduled
            await asyncio.sleep(0.01)


def is_running(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


async def test_results_are_returned_unchanged() -> None:
    html = "<html lang=fi><title>Hei</title><p>Soita <a href='tel:+358401234567'>meille</a>"
    async with ParserPool(1) as pool:
        page = await pool.run(parse_page, html)
    assert page == parse_page(html)
    assert isinstance(page, Document)


def test_a_member_of_an_enum_is_a_plain_value_in_every_version_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Python 3.11.0 to 3.11.3 pickle it: by a call of getattr, which the parent refuses."""
    monkeypatch.setattr(HiddenReason, "__reduce_ex__", lambda self, protocol: (getattr, (type(self), self.name)))
    with pytest.raises(UntrustedResult, match="getattr"):
        unpickle(pickle.dumps(HiddenReason.JAVASCRIPT))
    found = Contacts(hidden=HiddenReason.JAVASCRIPT)
    assert unpickle(pack_result(found)) == found


async def test_a_page_is_decoded_by_the_child() -> None:
    body = "<p>Grüße an büro@kontor.example</p>".encode("cp1252")
    async with ParserPool(1, preload=("scrapersky.extract.contacts",)) as pool:
        page = EncodedPage(body, "text/html; charset=windows-1252")
        assert await pool.run(read_contacts, page) == read_contacts(body.decode("cp1252"))


async def test_large_pages_leave_one_process_to_the_others(tmp_path: Path) -> None:
    large = EncodedPage(b"x" * (LARGE_BYTES + 1))
    async with small_pool(2) as pool:
        stalled = [
            asyncio.create_task(pool.run(hostile_readers.mark_and_stall, tmp_path / str(number), large))
            for number in range(2)
        ]
        while not any(tmp_path.iterdir()):
            await asyncio.sleep(0.01)
        assert await pool.run(hostile_readers.count, PAGE) == len(PAGE)
        assert len(list(tmp_path.iterdir())) == 1
        for task in stalled:
            task.cancel()
        await asyncio.gather(*stalled, return_exceptions=True)


@pytest.mark.parametrize(
    ("reader", "reason"),
    [
        (hostile_readers.spin, "The page used more than 0.3 s of processor time."),
        (hostile_readers.stall, "The page took longer than 0.5 s."),
        (hostile_readers.hog, "The page needed more than 300 MB of memory."),
        (hostile_readers.abort, "The page crashed the parser (SIGABRT)."),
        (hostile_readers.segfault, "The page crashed the parser (SIGSEGV)."),
        (hostile_readers.leave, "The page ended the parser (exit code 3)."),
        (hostile_readers.hang_up, "The page crashed the parser (SIGKILL)."),
        (hostile_readers.return_too_much, "The page gave a result larger than 1 MB."),
    ],
)
async def test_a_poison_page_fails_with_its_reason(reader: Callable[[bytes], None], reason: str) -> None:
    async with small_pool(wall_seconds=0.5 if reader is hostile_readers.stall else 20) as pool:
        with pytest.raises(PoisonPage) as caught:
            await pool.run(reader, PAGE)
        assert str(caught.value) == reason
        assert await pool.run(hostile_readers.count, PAGE) == len(PAGE)


async def test_the_fallback_parser_gets_one_attempt() -> None:
    async with small_pool() as pool:
        assert await pool.run(hostile_readers.spin_unless_lxml, PAGE) == "lxml"
        assert await pool.run(hostile_readers.fail_unless_lxml, PAGE) == "lxml"
        assert (pool.counts.retried, pool.counts.given_up, pool.counts.killed) == (2, 0, 1)


async def test_if_the_fallback_fails_too_both_reasons_are_reported() -> None:
    async with small_pool() as pool:
        with pytest.raises(PoisonPage) as caught:
            await pool.run(hostile_readers.spin_then_crash, PAGE)
    assert str(caught.value) == (
        "The page used more than 0.3 s of processor time; tried once more, it crashed the parser (SIGABRT)."
    )


@pytest.mark.parametrize(
    ("reader", "reason"),
    [
        (hostile_readers.fail, "The reader raised ValueError: no such thing."),
        (hostile_readers.recurse, "The reader raised RecursionError: maximum recursion depth exceeded"),
    ],
)
async def test_an_error_of_the_reader_is_reported_and_ends_no_process(
    reader: Callable[[bytes], None], reason: str
) -> None:
    async with small_pool() as pool:
        before = pool.process_ids
        with pytest.raises(ReaderFault) as caught:
            await pool.run(reader, PAGE)
        assert str(caught.value).startswith(reason)
        assert pool.process_ids == before


async def test_a_poison_page_does_not_affect_other_pages() -> None:
    finished: list[str] = []

    async def note(name: str, reading: Awaitable[object]) -> object:
        try:
            return await reading
        finally:
            finished.append(name)

    async with small_pool(2) as pool:
        poison = asyncio.create_task(note("poison", pool.run(hostile_readers.spin, PAGE)))
        pages = [bytes(length) for length in range(200)]
        lengths = await asyncio.gather(*(note("page", pool.run(hostile_readers.count, page)) for page in pages))
        with pytest.raises(PoisonPage):
            await poison
    assert lengths == [len(page) for page in pages]
    assert finished == ["page"] * 200 + ["poison"]


async def test_every_page_gets_its_own_result_while_others_crash() -> None:
    async with small_pool(2) as pool:
        pages = [bytes(length) for length in range(60)]
        readings = [
            pool.run(hostile_readers.abort if len(page) % 20 == 7 else hostile_readers.count, page) for page in pages
        ]
        answers = await asyncio.gather(*readings, return_exceptions=True)
    for page, answer in zip(pages, answers, strict=True):
        assert isinstance(answer, PoisonPage) if len(page) % 20 == 7 else answer == len(page)


async def test_a_child_is_recycled_after_its_pages() -> None:
    async with small_pool(pages_per_child=3) as pool:
        pids = Counter([await pool.run(hostile_readers.own_pid) for _ in range(7)])
        assert sorted(pids.values()) == [1, 3, 3]
        assert pool.counts.recycled == 2


async def test_a_child_killed_between_pages_is_replaced() -> None:
    async with small_pool() as pool:
        (pid,) = pool.process_ids
        os.kill(pid, signal.SIGKILL)
        assert await pool.run(hostile_readers.own_pid) != pid


async def test_cancelling_kills_the_child_and_frees_its_place(tmp_path: Path) -> None:
    connected: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Future()
    address = str(tmp_path / "wire")
    server = await asyncio.start_unix_server(lambda *wire: connected.set_result(wire), address)
    async with server, small_pool(wall_seconds=60) as pool:
        (pid,) = pool.process_ids
        reading = asyncio.create_task(pool.run(hostile_readers.report_and_stall, address))
        wire, writer = await connected
        assert await wire.readexactly(7) == b"reading"

        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading

        assert await wire.read() == b""  # the child is gone: its end of the wire is closed
        assert await pool.run(hostile_readers.own_pid) != pid
        writer.close()


async def test_cancelling_a_waiting_page_does_not_affect_others(tmp_path: Path) -> None:
    async with small_pool() as pool:
        first = asyncio.create_task(pool.run(hostile_readers.spin_unless_lxml, PAGE))
        waiting = asyncio.create_task(pool.run(hostile_readers.count, PAGE))
        await asyncio.sleep(0)
        waiting.cancel()
        assert await first == "lxml"
        assert await pool.run(hostile_readers.count, PAGE) == len(PAGE)


async def test_children_ignore_ctrl_c_and_sigterm() -> None:
    async with small_pool() as pool:
        (pid,) = pool.process_ids
        os.kill(pid, signal.SIGINT)
        os.kill(pid, signal.SIGTERM)
        assert await pool.run(hostile_readers.own_pid) == pid
        assert await pool.run(hostile_readers.ignored_signals) == [True, True]
        assert os.getsid(pid) == pid


async def test_children_inherit_no_secrets_and_no_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://planted:secret@localhost/db")
    async with small_pool(2) as pool:
        environment = await pool.run(hostile_readers.environment)
        files = await pool.run(hostile_readers.open_files)
    assert "DATABASE_URL" not in environment
    assert "planted" not in repr(environment)
    assert files == ["0:socket", "1:/dev/null"]


@pytest.mark.parametrize(
    "reader",
    [
        hostile_readers.return_code,
        hostile_readers.return_command,
        hostile_readers.return_huge_object,
        hostile_readers.send_garbage,
        hostile_readers.send_empty_response,
    ],
)
async def test_a_result_cannot_make_the_parent_run_code(reader: Callable[[], object]) -> None:
    async with small_pool() as pool:
        (pid,) = pool.process_ids
        with pytest.raises(PoisonPage, match="untrusted result"):
            await pool.run(reader)
        assert await pool.run(hostile_readers.own_pid) != pid


async def test_a_second_process_starts_when_the_first_is_busy() -> None:
    async with small_pool(2) as pool:
        one_by_one = [await pool.run(hostile_readers.own_pid) for _ in range(3)]
        assert pool.process_ids == [one_by_one[0]] == list(set(one_by_one))
        at_once = await asyncio.gather(*(pool.run(hostile_readers.own_pid) for _ in range(2)))
        assert sorted(pool.process_ids) == sorted(at_once)
        assert pool.counts.started == 2


async def test_limits_too_tight_for_the_start_raise_at_once() -> None:
    with pytest.raises(ParserCannotStart, match="8 MB"):
        async with ParserPool(2, memory_mb=8):
            pass


async def test_a_module_that_cannot_be_imported_raises_at_once(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ParserCannotStart):
        async with ParserPool(1, preload=("tests.no_such_module",)):
            pass
    assert "no_such_module" in capfd.readouterr().err


async def test_a_closed_pool_starts_nothing() -> None:
    async with small_pool() as pool:
        pass
    with pytest.raises(ParserCannotStart, match="closed"):
        await pool.run(hostile_readers.count, PAGE)


async def test_closing_ends_the_page_in_flight() -> None:
    pool = ParserPool(1, preload=("tests.factories.hostile_readers",))
    await pool.__aenter__()
    (pid,) = pool.process_ids
    reading = asyncio.create_task(pool.run(hostile_readers.stall, PAGE))
    await asyncio.sleep(0)
    await pool.close()
    with pytest.raises(ParserCannotStart):
        await reading
    assert not is_running(pid)


def deep_page() -> str:
    return "<div>" * 100_000 + "text"


def many_attributes_page() -> str:
    return "<p " + " ".join(f"a{number}=1" for number in range(100_000)) + ">text</p>"


def many_tags_page() -> str:
    return "<b>x</b>" * 250_000


def long_title_page() -> str:
    return "<title>" + "x" * 5_000_000


@pytest.mark.parametrize("make", [deep_page, many_attributes_page, many_tags_page, long_title_page])
@pytest.mark.parametrize("parser", ["turbohtml", "lxml"])
async def test_extreme_pages_end_within_their_limits(make: Callable[[], str], parser: str) -> None:
    html = make()
    async with ParserPool(2, cpu_seconds=0.8, wall_seconds=60, memory_mb=512) as pool:
        monster = asyncio.create_task(pool.run(parse_page, html, parser=parser))  # type: ignore[arg-type]
        neighbours = await asyncio.gather(*(pool.run(parse_page, f"<title>{number}") for number in range(20)))
        (outcome,) = await asyncio.gather(monster, return_exceptions=True)
        assert isinstance(outcome, Document | PoisonPage), outcome
        assert [page.title for page in neighbours] == [str(number) for number in range(20)]
        assert pool.counts.killed <= 2  # one for each attempt
        assert pool.counts.started <= 2 + pool.counts.killed


PARENT = """
import asyncio, sys
from scrapersky.extract.parser_pool.pool import ParserPool
from tests.factories import hostile_readers

async def main():
    async with ParserPool(2, cpu_seconds=1, wall_seconds=1.0) as pool:
        print(*await asyncio.gather(*(pool.run(hostile_readers.own_pid) for _ in range(2))), flush=True)
        await pool.run(hostile_readers.stall)

asyncio.run(main())
"""


@pytest.mark.parametrize("death", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_child_outlives_its_parent(death: signal.Signals) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert parent.stdout is not None
    children = [psutil.Process(int(pid)) for pid in parent.stdout.readline().split()]
    assert len(children) == 2

    parent.send_signal(death)
    parent.wait(timeout=90)

    _, alive = psutil.wait_procs(children, timeout=90)
    assert alive == []
    parent.stdout.close()


def test_the_pool_runs_on_uvloop_too() -> None:
    async def read() -> list[object]:
        async with small_pool(2) as pool:
            readings = (pool.run(hostile_readers.count, PAGE), pool.run(hostile_readers.abort, PAGE))
            return list(await asyncio.gather(*readings, return_exceptions=True))

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        length, poison = runner.run(read())
    assert length == len(PAGE)
    assert isinstance(poison, PoisonPage)
