"""First and last name in scripts without capitals, where the script or the language tells the order."""

import re

from scrapersky.extract.people.uncased.names import (
    CHINESE_SURNAMES,
    COMPOUND_SURNAMES,
    FAMILY,
    GIVEN,
    JAPANESE_SURNAMES,
    KOREAN_SURNAMES,
    plain_spelling,
)
from scrapersky.extract.people.uncased.scripts import COMPACT
from scrapersky.extract.word_lists import load_words

HANGUL_COMPOUNDS = load_words("name_parts", "family_first", "hangul_compounds")
PARTICLES = load_words("name_parts", "uncased", "particles")
GEORGIAN_ENDINGS = tuple(load_words("name_parts", "uncased", "georgian_endings"))

HAN = re.compile(r"[\u3005\u3400-\u4dbf\u4e00-\u9fff]{2,5}")
HANGUL = re.compile(r"[\uac00-\ud7a3]{2,5}")
KATAKANA = re.compile(r"[\u30a1-\u30fa\u30fc・]{1,40}")
HAN_AND_KANA = re.compile(r"([\u3005\u3400-\u4dbf\u4e00-\u9fff]{1,3})([\u3041-\u3096]{2,4})")
FOREIGN_DOT = re.compile(r"[・·‧•=＝]")
# Tamil, Telugu, Kannada, Malayalam, Sinhala: initials and the father's name stand on either side.
SOUTH_INDIAN = re.compile(r"[\u0b80-\u0dff]")
CHINESE_REGIONS = frozenset(("CN", "TW", "HK", "MO", "SG"))

Parts = tuple[str, str]  # first name, last name
UNKNOWN: Parts = ("", "")


def split_uncased(name: str, language: str, region: str) -> Parts:
    """Return first and last name, or two empty texts."""
    if COMPACT.match(name) is None:
        return _by_words(_groups(name.split()))
    if FOREIGN_DOT.search(name) is not None:
        names = [part.strip() for part in FOREIGN_DOT.split(name) if part.strip()]
        return (names[0], names[-1]) if len(names) > 1 else UNKNOWN  # ジョン・スミス
    words = name.split()
    if len(words) == 2:
        both_katakana = all(KATAKANA.fullmatch(word) for word in words)
        return UNKNOWN if both_katakana else (words[1], words[0])
    if len(words) > 2:
        return UNKNOWN
    count = _family_length(name, language, region)
    return (name[count:], name[:count]) if count else UNKNOWN


def _family_length(name: str, language: str, region: str) -> int:
    """Return the number of signs of the family name of a name without spaces; 0 if unknown."""
    if HANGUL.fullmatch(name):
        is_compound = name[:2] in HANGUL_COMPOUNDS and len(name) > 2
        return 2 if is_compound else 1 if name[0] in KOREAN_SURNAMES and len(name) < 5 else 0
    if (match := HAN_AND_KANA.fullmatch(name)) is not None:
        return len(match[1])  # 高橋みなみ
    if HAN.fullmatch(name) is None:
        return 0
    chinese, japanese = _chinese(name), _japanese(name)
    if language == "ja" or (not language and region == "JP"):
        return japanese or (2 if len(name) == 4 else 0)
    if language in ("zh", "ko") or (not language and region in CHINESE_REGIONS):
        return chinese
    return chinese or japanese if not (chinese and japanese) or chinese == japanese else 0


def _chinese(name: str) -> int:
    if name[:2] in COMPOUND_SURNAMES and len(name) in (3, 4):
        return 2
    return 1 if name[0] in CHINESE_SURNAMES and len(name) <= 3 else 0


def _japanese(name: str) -> int:
    return next((count for count in (3, 2, 1) if len(name) > count and name[:count] in JAPANESE_SURNAMES), 0)


def _groups(words: list[str]) -> list[str]:
    """Join particles with the word behind them: محمد, عبد الرحمن."""
    groups: list[str] = []
    pending: list[str] = []
    for index, word in enumerate(words):
        pending.append(word)
        if word not in PARTICLES or index == len(words) - 1:
            groups.append(" ".join(pending))
            pending = []
    return groups


def _by_words(groups: list[str]) -> Parts:
    """Take the last word as family name, unless the lists or the endings tell that the first one is it."""
    if not 2 <= len(groups) <= 5 or any(len(group.strip(".")) < 2 for group in groups):
        return UNKNOWN
    first, last = plain_spelling(groups[0]), plain_spelling(groups[-1])
    is_given, is_family = first in GIVEN and first not in FAMILY, last in FAMILY and last not in GIVEN
    if SOUTH_INDIAN.match(first) and not (is_given or is_family):
        return UNKNOWN
    if _is_family(first) and last in GIVEN and last not in FAMILY:
        return " ".join(groups[1:]), groups[0]
    if first in FAMILY and not is_given and not is_family:
        return UNKNOWN
    return " ".join(groups[:-1]), groups[-1]


def _is_family(word: str) -> bool:
    return (word in FAMILY or word.endswith(GEORGIAN_ENDINGS)) and word not in GIVEN
