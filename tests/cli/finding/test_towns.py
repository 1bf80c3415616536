"""The file of `find --towns`: a sentence for each one that cannot be used."""

from pathlib import Path

import pytest

from scrapersky.cli.finding.request import BadFindRequest
from scrapersky.cli.finding.where_options import MAX_TOWNS_BYTES, _read_towns


def test_towns_are_read_one_a_line_and_blank_lines_and_comments_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "towns.txt"
    file.write_bytes("\ufeffTurku\r\n\r\n# a comment\r\n Jyväskylä \n".encode())
    assert _read_towns(file) == ["Turku", "Jyväskylä"]
    file.write_bytes("Turku\nJyväskylä\n".encode("cp1252"))  # as old spreadsheets write
    assert _read_towns(file) == ["Turku", "Jyväskylä"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\n \n", "is not a list of towns: It is empty"),
        (b"PK\x03\x04", "is not a list of towns: It is not text"),
        (b"Turku\n" * (MAX_TOWNS_BYTES // 6 + 2), "larger than"),
        (None, "cannot be read: No such file"),
    ],
)
def test_a_file_that_cannot_be_used_gets_a_sentence(tmp_path: Path, content: bytes | None, sentence: str) -> None:
    file = tmp_path / "towns.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(BadFindRequest, match=sentence):
        _read_towns(file)
