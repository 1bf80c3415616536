"""Labels of names: Name: Jane Roe, a table head 氏名."""

from functools import lru_cache

from scrapersky.extract.document.context import folded_words
from scrapersky.extract.word_lists import load_words

MAX_LABEL = 40
LABELS = load_words("people", "name_label")


@lru_cache(2048)
def is_name_label(text: str) -> bool:
    """Return whether a text labels a name: Name, Nimi, 氏名."""
    if len(text) > MAX_LABEL:
        return False
    words = folded_words(text)
    return (bool(words) and LABELS.issuperset(words)) or text.strip(" :：") in LABELS
