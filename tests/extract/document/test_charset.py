"""Bytes to text: whose word counts, and that any bytes become clean text."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapersky.extract.document.charset import CODECS, LABELS, decode, prescan

CASES = [
    ("byte order mark over header", b"\xef\xbb\xbf\xc3\xa9", "text/html; charset=koi8-r", "é", "utf-8"),
    ("UTF-16 mark", b"\xff\xfeh\0i\0", "", "hi", "utf-16le"),
    (
        "header over meta",
        "<meta charset=utf-8>é".encode("latin-1"),
        "text/html; charset=latin1",
        "<meta charset=utf-8>é",
        "windows-1252",
    ),
    ("latin1 means windows-1252", b"\x80", "text/html;charset=ISO-8859-1", "€", "windows-1252"),
    ("quoted header", "дом".encode("koi8-r"), 'text/html; charset="KOI8-R"; x=y', "дом", "koi8-r"),
    (
        "meta charset",
        "<meta charset='windows-1251'>дом".encode("cp1251"),
        "",
        "<meta charset='windows-1251'>дом",
        "windows-1251",
    ),
    ("a label that is none is ignored", b"+AGg-", "text/html; charset=utf-7", "+AGg-", "utf-8"),
    ("an unknown label is ignored", "é".encode(), "text/html; charset=x-nonsense", "é", "utf-8"),
    ("a header that lies", b"caf\xe9", "text/html; charset=utf-8", "caf\ufffd", "utf-8"),
    ("overlong UTF-8", b"\xc0\xaf", "text/html; charset=utf-8", "\ufffd\ufffd", "utf-8"),
    ("a surrogate in UTF-8", b"\xed\xa0\x80", "text/html; charset=utf-8", "\ufffd\ufffd\ufffd", "utf-8"),
    ("half a pair in UTF-16", b"\xff\xfe\x00\xd8", "", "\ufffd", "utf-16le"),
    ("UTF-16 without a mark", "<html>".encode("utf-16-le"), "", "<html>", "utf-16le"),
    ("UTF-16 without a mark, other way", "<html>".encode("utf-16-be"), "", "<html>", "utf-16be"),
    ("NUL stays for the cleaner", b"a\0b", "text/html; charset=utf-8", "a\0b", "utf-8"),
    ("no word at all, UTF-8", "日本".encode(), "", "日本", "utf-8"),
    ("Japanese by header", "日本".encode("cp932"), "text/html; charset=Shift_JIS", "日本", "shift_jis"),
    ("Chinese by header", "中文€".encode("gb18030"), "text/html; charset=gb2312", "中文€", "gbk"),
    ("empty", b"", "", "", "utf-8"),
]


@pytest.mark.parametrize(
    ("body", "header", "text", "charset"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_the_encoding_is_chosen_in_the_documented_order(body: bytes, header: str, text: str, charset: str) -> None:
    decoded = decode(body, header)
    assert (decoded.text, decoded.charset) == (text, charset)


@pytest.mark.parametrize(
    ("head", "charset"),
    [
        (b'<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=iso-8859-2">', "iso-8859-2"),
        (b"<!-- <meta charset=koi8-r> --><meta charset=euc-kr>", "euc-kr"),
        (b"<metadata charset=koi8-r>", None),
        (b"<?xml version='1.0' encoding='iso-8859-15'?>", "iso-8859-15"),
        (b"<meta charset=utf-16>", "utf-8"),
        (b"<!-- " + b"x" * 2000 + b"--><meta charset=koi8-r>", None),
        (b"<meta charset", None),
        (b"<meta charset=>", None),
    ],
)
def test_the_first_kilobyte_names_its_encoding(head: bytes, charset: str | None) -> None:
    assert prescan(head) == charset


def test_the_encoding_of_a_german_page_without_declaration_is_detected() -> None:
    text = "Schöne Grüße aus der Bäckerei Müller in Köln, täglich geöffnet für Sie."
    assert decode(text.encode("latin-1")).text == text


def test_every_label_has_a_codec_and_no_other_exists() -> None:
    assert len(LABELS) > 200
    assert all(codecs.lookup(CODECS[name]) for name in LABELS.values())
    assert {"utf-7", "utf7", "idna", "punycode", "rot13", "zip", "base64", "unicode_escape"}.isdisjoint(LABELS)


@given(st.binary(max_size=400), st.sampled_from([None, *CODECS]), st.booleans())
def test_any_bytes_become_text_without_lone_surrogates(body: bytes, name: str | None, in_meta: bool) -> None:
    if name and in_meta:
        body = b"<meta charset=" + name.encode() + b">" + body
    decoded = decode(body, f"text/html; charset={name}" if name and not in_meta else "")
    decoded.text.encode("utf-8")
    assert decoded.charset in CODECS


@given(st.text(max_size=200))
def test_any_content_type_header_is_survived(header: str) -> None:
    assert decode(b"abc", header).charset in CODECS
