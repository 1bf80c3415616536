"""Cells of files for spreadsheets: nothing in them runs as a formula, and phone numbers stay text."""

import re
from typing import Any

from scrapersky.extract.phones.spelling import PHONE_COLUMNS, PhoneFormat, spell_phones
from scrapersky.extract.tabular.rows import FORMULA_STARTS

# First characters of texts that are spelled or escaped.
CHECKED = frozenset(("", "+", *(start[0] for start in FORMULA_STARTS)))
# Numbers in E.164 or in groups of digits, several with "; " between them: no operator follows the plus sign.
_PHONES = re.compile(r"\+[0-9][0-9 ]*+(?:; \+[0-9][0-9 ]*+)*+")


def safe_cell(value: Any, column: str = "", phone_format: PhoneFormat = "international") -> Any:
    """Spell phone numbers, and escape a text that a spreadsheet would run as a formula."""
    if not isinstance(value, str) or (value[:1] not in CHECKED and column not in PHONE_COLUMNS):
        return value  # most cells
    spelled = spell_phones(value, phone_format, column)
    return f"'{value}" if spelled.startswith(FORMULA_STARTS) and not _PHONES.fullmatch(spelled) else spelled
