"""Tables as people send them: whatever is wrong costs a row or gets a sentence, never a crash and never the memory."""

import io
import json
import tracemalloc

import pytest

from scrapersky.extract.tabular.lines import MAX_LINE_LENGTH, UnusableTable
from scrapersky.extract.tabular.rows import MAX_FIELD_LENGTH, read_objects, read_table


def rows(content: bytes, form="csv"):
    return [(row.line, dict(row.values), row.error) for row in read_table(io.BytesIO(content), form)]


def values(content: bytes, form="csv"):
    found = rows(content, form)
    assert [trouble for _, _, trouble in found if trouble] == []
    return [value for _, value, _ in found]


@pytest.mark.parametrize("charset", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_encoding_and_delimiter_are_seen(charset, end, delimiter):
    text = end.join([delimiter.join(line) for line in (("name", "city"), ("Café Ähre", "Köln"))]) + end
    assert values(text.encode(charset)) == [{"name": "Café Ähre", "city": "Köln"}]


def test_big_endian_and_old_macintosh_files_are_read():
    assert values(b"\xfe\xff" + "a,b\n1,ä\n".encode("utf-16-be")) == [{"a": "1", "b": "ä"}]
    assert values(b"a,b\r1,2\r3,4\r") == [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]


def test_lines_are_those_of_the_file():
    content = b'name,note\n\nOne,"two\nlines"\n,\nThree,x\n'
    assert [(line, value["name"]) for line, value, _ in rows(content)] == [(3, "One"), (6, "Three")]


def test_an_unclosed_quote_costs_its_own_line_only():
    content = b'name,note\na,"open\nb,fine\nc,fine\n'
    assert rows(content) == [
        (2, {}, f"opens a quote that is not closed within {MAX_FIELD_LENGTH:,} characters"),
        (3, {"name": "b", "note": "fine"}, ""),
        (4, {"name": "c", "note": "fine"}, ""),
    ]


def test_an_unclosed_quote_before_a_million_lines_is_found_soon():
    content = b'name,note\na,"open\n' + b"b,fine\n" * 200_000
    found = rows(content)
    assert (len(found), sum(bool(trouble) for _, _, trouble in found)) == (200_001, 1)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"x" * (MAX_LINE_LENGTH + 1) + b",y", "is longer than 1,000,000 bytes"),
        (b"x" * 10_000_000 + b",y", "is longer than 1,000,000 bytes"),
        (b"x" * (MAX_FIELD_LENGTH + 1) + b",y", "has more than 100,000 characters in 'name'"),
        (b"x" * 200_000 + b",y", "has a field of more than 100,000 characters"),
        (b"a\0b,y", "contains a NUL character"),
        (b"a,b,c", "has 3 cells for 2 columns"),
        (b"a", "has 1 cells for 2 columns"),
        (b"\x81\x8d,y", "is neither UTF-8 nor Windows-1252; save the file as UTF-8"),
    ],
    ids=lambda value: None if isinstance(value, bytes) else value[:20],
)
def test_a_bad_line_is_a_row_with_its_reason(line, why):
    assert rows(b"name,city\n" + line + b"\nb,c\n") == [(2, {}, why), (3, {"name": "b", "city": "c"}, "")]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "empty"),
        (b" \n\n", "empty"),
        (b"\xef\xbb\xbf\n", "empty"),
        (b"PK\x03\x04" + b"\0" * 100, "not text"),
        (bytes(range(256)) * 40, "not text"),
        (b",".join(b"c%d" % n for n in range(2000)) + b"\n1\n", "2,000 columns"),
        (b"x" * 2_000_000, "Line 1 is longer"),
    ],
)
def test_what_is_no_table_gets_a_sentence(content, why):
    with pytest.raises(UnusableTable, match=why):
        rows(content)


def test_json_lines_are_objects_of_anything():
    content = b'{"name": "A", "tags": ["x", "y"], "n": 3, "no": null, "deep": {"a": 1}}\n\n[1]\n{"name": \n'
    assert rows(content, "jsonl") == [
        (1, {"name": "A", "tags": "x; y", "n": "3", "no": "", "deep": '{"a": 1}'}, ""),
        (3, {}, "is not an object"),
        (4, {}, "is not JSON"),
    ]
    assert rows(b"[" * 100_000, "jsonl") == [(1, {}, "is not JSON")]
    assert [row.error for row in read_objects([{"a": "x\0"}, 3])] == [
        "contains a NUL character in 'a'",
        "is not an object",
    ]


@pytest.mark.parametrize("row", ['{"email": "a@b.fi", "email": "c@d.fi"}', '{"x": [{"y": {"email": 1, "email": 1}}]}'])
def test_a_row_that_says_a_thing_twice_is_trouble_of_its_own(row):
    content = f'{row}\n{{"email": "e@f.fi"}}\n'.encode()
    assert rows(content, "jsonl") == [
        (1, {}, "has the key 'email' twice in one object; keep one"),
        (2, {"email": "e@f.fi"}, ""),
    ]


class Endless(io.BytesIO):
    """A file of many megabytes that was never in memory."""

    def __init__(self, line: bytes, times: int):
        super().__init__()
        self._line, self._left = line, times

    def read(self, size=-1):
        self._left -= 1
        return self._line if self._left >= 0 else b""


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_memory_does_not_grow_with_the_file(form):
    line = b"name,city\n" if form == "csv" else json.dumps({"name": "x" * 50}).encode() + b"\n"
    tracemalloc.start()
    try:
        count = sum(1 for _ in read_table(Endless(line * 1_000, 25), form))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count >= 24_999
    assert peak < 1_500_000
