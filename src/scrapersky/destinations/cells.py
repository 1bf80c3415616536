"""Cells of files for spreadsheets: nothing in them runs as a formula, and phone numbers stay text."""

import re
from typing import Any

from scrapersky.extract.phones.spelling import PhoneFormat, spell_phones
from scrapersky.extract.tabular.rows import FORMULA_STARTS

# Numbers in E.164 or in groups of digits, several with "; " between them: no operator follows the plus sign.
_PHONES = re.compile(r"\+[0-9][0-9 ]*+(?:; \+[0-9][0-9 ]*+)*+")


def safe_cell(value: Any, column: str = "", phone_format: PhoneFormat = "international") -> Any:
    """Spell phone numbers, and escape a text that a spreadsheet would run as a formula."""
    if not isinstance(value, str):
        return value
    spelled = spell_phones(value, phone_format, column)
    return f"'{value}" if spelled.startswith(FORMULA_STARTS) and not _PHONES.fullmatch(spelled) else spelled
