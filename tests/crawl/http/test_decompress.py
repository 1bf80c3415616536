"""Inflating: all the forms servers send, in any slicing, and never ahead of the reader."""

import gzip
import zlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapersky.crawl.http.decompress import MAX_MEMBERS, PIECE_BYTES, BadCompression, Inflater, TruncatedCompression


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


FORMS = {
    "gzip": ("gzip", gzip.compress),
    "two members": ("gzip", lambda data: gzip.compress(data[: len(data) // 2]) + gzip.compress(data[len(data) // 2 :])),
    "junk behind": ("gzip", lambda data: gzip.compress(data) + b"\0\0junk"),
    "zlib": ("deflate", zlib.compress),
    "raw deflate": ("deflate", raw_deflate),
    "identity": ("identity", bytes),
}


@given(st.sampled_from(sorted(FORMS)), st.binary(max_size=2000), st.integers(1, 400), st.integers(1, 100))
def test_every_form_inflates_to_what_was_packed_in_any_slices(form: str, data: bytes, step: int, times: int) -> None:
    coding, pack = FORMS[form]
    packed = pack(data * times)
    inflater = Inflater(coding)
    pieces = [piece for at in range(0, len(packed), step) for piece in inflater.feed(packed[at : at + step])]
    inflater.finish()
    assert b"".join(pieces) == data * times


@given(st.sampled_from(["gzip", "deflate"]), st.binary(max_size=3000))
def test_any_bytes_inflate_or_end_in_one_of_two_errors(coding: str, data: bytes) -> None:
    inflater = Inflater(coding)
    with suppress(BadCompression, TruncatedCompression):
        for piece in inflater.feed(data):
            assert len(piece) <= PIECE_BYTES
        inflater.finish()


def test_nothing_is_inflated_ahead_of_the_reader() -> None:
    pieces = Inflater("gzip").feed(gzip.compress(b"\0" * 10_000_000))
    assert len(next(pieces)) == PIECE_BYTES


@pytest.mark.parametrize("form", ["gzip", "zlib", "raw deflate"])
def test_a_truncated_body_is_not_complete(form: str) -> None:
    coding, pack = FORMS[form]
    inflater = Inflater(coding)
    list(inflater.feed(pack(b"hello world " * 100)[:-6]))
    with pytest.raises(TruncatedCompression):
        inflater.finish()


def test_a_million_empty_members_are_refused() -> None:
    with pytest.raises(BadCompression, match="members"):
        list(Inflater("gzip").feed(gzip.compress(b"") * (MAX_MEMBERS + 1)))


def test_an_empty_body_is_complete_whatever_its_header_says() -> None:
    inflater = Inflater("gzip")
    assert list(inflater.feed(b"")) == []
    inflater.finish()


def test_an_empty_member_yields_an_empty_piece_so_that_other_tasks_may_run() -> None:
    assert list(Inflater("gzip").feed(gzip.compress(b"") * 3 + gzip.compress(b"x"))) == [b"", b"", b"", b"x"]
