"""Names and roles in scripts without capitals: which text may be one, and the score of its words."""

import re
from functools import lru_cache

from scrapersky.extract.people.candidate import Name
from scrapersky.extract.people.uncased.scripts import (
    ARABIC,
    COMPACT_LETTER,
    GEORGIAN,
    HAN,
    HANGUL,
    HEBREW,
    INDIC,
    KANA,
    THAI,
    UNCASED_LETTER,
)
from scrapersky.extract.word_lists import AffixSet, alternatives, load_names, load_words

MAX_ROLE = 60
MIN_SENTENCE_SPACES = 2
FILE = "people_uncased"
UNKNOWN = -0.1  # a text with the form of a name and no known word
KNOWN = 0.3
TITLED = 0.55
KOREAN_SURNAMES = load_words(FILE, "names", "korean_surnames")
CHINESE_SURNAMES = frozenset("".join(load_words(FILE, "names", "chinese_surnames")))
COMPOUND_SURNAMES = load_words(FILE, "names", "compound_surnames")
JAPANESE_SURNAMES = load_words(FILE, "names", "japanese_surnames")
JAPANESE_ENDINGS = frozenset("".join(load_words(FILE, "names", "japanese_endings")))
# Vowel signs, joiners and dots that are often left out; letters that Arabic and Persian write differently.
UNWRITTEN = "".join(map(chr, (*range(0x64B, 0x653), 0x93C, 0x9BC, 0x200C, 0x200D)))
SPELLINGS = str.maketrans("یکأإآة", "يكاااه", UNWRITTEN)


def plain_spelling(text: str) -> str:
    """Return the text as it is compared: محامٍ is written محام as well, مدیر‌عامل مدیرعامل."""
    return text.translate(SPELLINGS)


GIVEN = frozenset(map(plain_spelling, load_names("given_names_uncased")))
FAMILY = frozenset(map(plain_spelling, load_names("surnames_uncased")))
ORDINARY = frozenset(map(plain_spelling, load_words(FILE, "ordinary")))
ROLES = AffixSet(map(plain_spelling, load_words(FILE, "roles")))
GEORGIAN_ENDINGS = ("შვილი", "ძე", "იანი")
ROLE_INSIDE = re.compile(alternatives(load_words(FILE, "roles_inside")))
ORDINARY_INSIDE = re.compile(alternatives(load_words(FILE, "ordinary", "inside")))
TITLES = [title for key in ("hebrew", "arabic", "thai", "indic") for title in load_words(FILE, "titles", key)]
# Only Thai writes a title and a name as one word.
TITLE = re.compile(
    rf"(?P<title>(?:(?:{alternatives(TITLES)})(?:\s|(?<=[.\"״'׳/])|(?=[{THAI}]))){{1,3}})(?=[{HEBREW}{ARABIC}{THAI}{INDIC}])"
)
_JOINERS = "\u200c\u200d"
HAN_NAME = re.compile(f"[{HAN}]{{2,4}}")
SPACED_NAME = re.compile(f"(?P<family>[{HAN}ヶケツノ]{{1,4}})[ \u3000](?P<given>[{HAN}{KANA}]{{1,5}})")
KANA_NAME = re.compile(f"(?P<family>[{HAN}]{{1,3}})[ \u3000][ぁ-ん]{{2,4}}")
KATAKANA_NAME = re.compile(r"[\u30a1-\u30fa\u30fc]{2,12}(?:[・= ][\u30a1-\u30fa\u30fc]{2,12}){1,2}")
HANGUL_NAME = re.compile(f"[{HANGUL}] ?[{HANGUL}]{{1,3}}")
_WORD = (
    rf"(?:[{HEBREW}][{HEBREW}׳’־]{{1,13}}|[{ARABIC}{_JOINERS}]{{2,14}}|[{INDIC}{_JOINERS}]{{2,18}}"
    rf"|[{GEORGIAN}]{{2,18}})"
)
_PART = rf"{_WORD}[.׳']?"
_INITIAL = r"(?:[\u0b80-\u0dff]{1,3}\.\s?){1,3}"  # of southern India; in Devanagari such a text is a degree
WORDS_NAME = re.compile(rf"{_INITIAL}{_PART}(?: {_PART}){{0,3}}|{_PART}(?:[ -]{_PART}){{1,4}}")
INITIAL = re.compile(_INITIAL)
THAI_NAME = re.compile(f"[{THAI}]{{2,20}} (?:ณ )?[{THAI}]{{2,24}}")
# Reading, Latin name or nickname in brackets behind a name.
BRACKETS = re.compile(r"\s?[（(【\[][^）)】\]]{1,40}[）)】\]]$")
LATIN_BEHIND = re.compile(r"(?<=[^\x00-\x7f])\s?[A-Za-z][A-Za-z .,'’-]{2,40}$")  # 乾 雅人 Inui Masato
DEPARTMENTS = "部科室课課處处组組系院所"
HONORIFIC = re.compile(
    r"(?<=.{2})(?<![中西副任])\s?(?:獸醫師|兽医师|牙醫師|牙医师|中醫師|中医师|선생님|교수님|선생|先生|女士|小姐|姊妹|弟兄|律師|律师|醫師|医师|老師|老师|师傅|師傅|さん|様|氏|님|씨|敬上|敬启|拜上|拝|드림|올림)$"
)
PREFIXES = ("ה", "ו", "ال", "وال", "و", "उप", "सह", "উপ", "সহ", "உப")
GIVEN_NAME = re.compile(rf"{_WORD}|[{THAI}]{{3,14}}")
FOREIGN_NAME = re.compile(f"[{HAN}]{{1,6}}[・·‧][{HAN}]{{1,6}}")  # 巴奈・庫穗
THAI_FORMS_OF_ADDRESS = frozenset(("คุณ", "นาย", "นาง", "นางสาว", "น.ส.", "ครู"))


@lru_cache(4096)
def parse_uncased_name(text: str) -> Name | None:
    """Return the name that the whole text may be, with the score of its words, or None."""
    if text.endswith(".") and text.count(" ") >= MIN_SENTENCE_SPACES:
        return None
    text = LATIN_BEHIND.sub("", BRACKETS.sub("", text.strip(' \u3000.,:：-–—•*"“”')))
    called = HONORIFIC.sub("", text)
    is_called = " " in text and " " not in called and called != text  # 粘雅筑 醫師
    if is_called and HAN_NAME.fullmatch(called) and not is_uncased_role(called):
        return uncased_name(called, 0.2, text[len(called) :].strip())
    text = called
    title = ""
    if (match := TITLE.match(text)) is not None and len(text) > match.end() + 2:
        title, text = match["title"].strip(), text[match.end() :]
    if not 2 <= len(text) <= 40 or UNCASED_LETTER.match(text) is None or any(map(str.isdigit, text)):
        return None
    score = compact_score(text) if COMPACT_LETTER.match(text) is not None else _words_score(text)
    if score is None:
        return _given_name(text, title) if title else None
    return uncased_name(text, TITLED if title else score, title)


def _given_name(text: str, title: str) -> Name | None:
    """Return the given name that stands alone behind a title: คุณปุ้ย, ทพญ. ศศิประภา, السيد بوشتى."""
    plain = plain_spelling(text)
    if GIVEN_NAME.fullmatch(text) is None or _is_listed(plain, ORDINARY) or is_uncased_role(text):
        return None
    is_post = plain not in GIVEN and COMPACT_LETTER.match(text) is not None and title not in THAI_FORMS_OF_ADDRESS
    return None if is_post or _is_thai_heading(text) else uncased_name(text, KNOWN if plain in GIVEN else 0.1, title)


def compact_score(text: str) -> float | None:
    """Score a text of Han, kana, Hangul or Thai by its form and its family name; None if it is no name."""
    if ROLE_INSIDE.search(text) is not None:
        return None
    family = _japanese_family(text)
    if (kana := KANA_NAME.fullmatch(text)) is not None and (family or ORDINARY_INSIDE.search(kana["family"]) is None):
        return KNOWN * bool(family) + 0.1  # 笠原 みのり
    if ORDINARY_INSIDE.search(text, len(family)) is not None:
        return None  # 中村 is a family name, although 村 is a village
    if FOREIGN_NAME.fullmatch(text):
        return 0.1
    if HANGUL_NAME.fullmatch(text):
        length = len(text.replace(" ", ""))
        if text[:2] in COMPOUND_SURNAMES and length > 2:
            return 0.2
        return None if text[0] not in KOREAN_SURNAMES else 0.2 if length == 3 else UNKNOWN
    if (match := SPACED_NAME.fullmatch(text)) is not None:
        if match["family"][-1] in DEPARTMENTS and not family:
            return None  # 后勤科 税
        if match["family"] in CHINESE_SURNAMES or match["family"] in COMPOUND_SURNAMES:
            return max(0.2, KNOWN * bool(family))
        return KNOWN * bool(family) + 0.15 * (text[-1] in JAPANESE_ENDINGS) + UNKNOWN * (not family)
    if HAN_NAME.fullmatch(text):
        return _han_score(text)
    if KATAKANA_NAME.fullmatch(text):
        return UNKNOWN
    if THAI_NAME.fullmatch(text):
        return None if any(word in ORDINARY for word in text.split()) or _is_thai_heading(text) else UNKNOWN
    return None


def _japanese_family(text: str) -> str:
    """Return the known Japanese family name, of two signs or more or before a space, at the beginning, or ""."""
    if (match := SPACED_NAME.fullmatch(text)) is not None:
        return match["family"] if match["family"] in JAPANESE_SURNAMES else ""
    known = (text[:count] for count in (3, 2) if len(text) > count and text[:count] in JAPANESE_SURNAMES)
    return next(known, "")


def _han_score(text: str) -> float | None:
    """Score two to four signs without a space: 王小明, 山田太郎."""
    if text[-1] in DEPARTMENTS or text[-1] in "學学病":
        return None  # a department, a subject
    if _japanese_family(text):
        return 0.2 + 0.1 * (text[-1] in JAPANESE_ENDINGS)
    if text[:2] in COMPOUND_SURNAMES and len(text) > 2:
        return KNOWN
    if text[0] in CHINESE_SURNAMES and len(text) <= 3:
        return 0.1 if len(text) == 3 else 0.0
    return UNKNOWN if len(text) > 2 and text[-1] in JAPANESE_ENDINGS else None


# What headings begin with that look like two words of a name.
THAI_HEADINGS = (
    *(
        "การ",
        "ความ",
        "บริษัท",
        "ร้าน",
        "โรง",
        "คลินิก",
        "สำนัก",
        "ติดต่อ",
        "เกี่ยว",
        "คณะ",
        "ภาค",
        "มหา",
        "แผนก",
        "ฝ่าย",
        "พิเศษ",
        "วิชา",
    ),
    *("หลักสูตร", "สมาคม", "ราชวิทยาลัย", "ชมรม"),
)


def _is_thai_heading(text: str) -> bool:
    return any(
        text.startswith(word)
        for word in ("การ", "ความ", "บริษัท", "ร้าน", "โรง", "คลินิก", "สำนัก", "ติดต่อ", "เกี่ยว", *THAI_HEADINGS)
    )


def _words_score(text: str) -> float | None:
    """Score two to five words of a script with spaces by its known names; None if it is no name."""
    if WORDS_NAME.fullmatch(text) is None:
        return None
    words = plain_spelling(text).split()
    # حداد is a smith and a family name; behind a given name it is the latter.
    unclear = words[:-1] if words[0] in GIVEN else words
    if any(_is_listed(word, ORDINARY) for word in words) or any(map(is_uncased_role_word, unclear)):
        return None
    given = any(word in GIVEN for word in words[:2])
    family = words[-1] in FAMILY or words[-1].endswith(GEORGIAN_ENDINGS) or INITIAL.match(text) is not None
    return KNOWN * given + 0.1 * family + UNKNOWN * (not given and not family)


def uncased_name(text: str, score: float, title: str = "") -> Name:
    return Name(text, _words(text), title, "", score)


def _words(text: str) -> tuple[str, ...]:
    """Return the words of a name; the family name is split off where no space does: 山田太郎, 김민수."""
    words = tuple(text.split())
    if len(words) > 1 or COMPACT_LETTER.match(text) is None:
        return words
    for count in (3, 2):
        if len(text) > count and (text[:count] in JAPANESE_SURNAMES or text[:count] in COMPOUND_SURNAMES):
            return text[:count], text[count:]
    return text[0], text[1:]


@lru_cache(4096)
def is_uncased_role(text: str) -> bool:
    """Return whether a short text in one of these scripts names a role."""
    if len(text) > MAX_ROLE:
        return False
    if COMPACT_LETTER.search(text) is not None and ROLE_INSIDE.search(text) is not None:
        return True
    return any(map(is_uncased_role_word, text.replace("/", " ").replace("،", " ").replace(",", " ").split()))


def is_uncased_role_word(word: str) -> bool:
    word = plain_spelling(word.strip(".:()-–"))
    return word in ROLES or any(word.startswith(prefix) and word[len(prefix) :] in ROLES for prefix in PREFIXES)


def _is_listed(word: str, listed: frozenset[str]) -> bool:
    return word in listed or (word.startswith("ה") and len(word) > 3 and word[1:] in listed)
