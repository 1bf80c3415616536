"""Cells of files for spreadsheets: nothing in them runs as a formula, and phone numbers stay text."""

import re
from collections.abc import Iterable
from typing import Any

from scrapersky.extract.phones.spelling import PHONE_COLUMNS, PhoneFormat, spell_phones
from scrapersky.extract.tabular.rows import FORMULA_STARTS

# The columns of days, written 2026-11-16.
DAYS = frozenset({"found_at", "first_seen", "last_seen"})
# First characters of texts that are spelled or escaped.
CHECKED = frozenset(("+", *(start[0] for start in FORMULA_STARTS)))
_BETWEEN = "\x00"  # the cells of a row; no cell has it, since text is cleaned
_CHECKED_CELL = re.compile(r"\x00[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b]")
# Numbers in E.164 or in groups of digits, several with "; " between them: no operator follows the plus sign.
_PHONES = re.compile(r"\+[0-9][0-9 ]*+(?:; \+[0-9][0-9 ]*+)*+")


def may_have_formula(cells: Iterable[Any]) -> bool:
    """Return whether a text among the cells begins with a character that is checked."""
    return _CHECKED_CELL.search(_BETWEEN.join(["", *[cell for cell in cells if cell.__class__ is str]])) is not None


def safe_cell(value: Any, column: str = "", phone_format: PhoneFormat = "international") -> Any:
    """Spell phone numbers, and escape a text that a spreadsheet would run as a formula."""
    if not isinstance(value, str) or (value[:1] not in CHECKED and column not in PHONE_COLUMNS):
        return value  # most cells
    spelled = spell_phones(value, phone_format, column)
    return f"'{value}" if spelled.startswith(FORMULA_STARTS) and not _PHONES.fullmatch(spelled) else spelled
