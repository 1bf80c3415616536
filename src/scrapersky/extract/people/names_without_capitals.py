"""Names and roles in scripts without capitals: Han, kana, Hangul, Hebrew, Arabic, Thai, Georgian, those of India."""

import re
from functools import lru_cache

from scrapersky.extract.people.candidate import Name, NameCandidate
from scrapersky.extract.word_lists import AffixSet, alternatives, load_words

MAX_TEXT = 2_000
MAX_LINE = 60  # a longer line in these scripts is a sentence
MAX_ROLE = 60
MAX_PIECES = 6
MAX_ROLE_WORDS = 3
MIN_SENTENCE_SPACES = 2
FILE = "people_uncased"
UNKNOWN = -0.1  # a text with the form of a name and no known word
KNOWN = 0.3
TITLED = 0.55

_HAN, _KANA, _HANGUL = r"\u3005\u3400-\u4dbf\u4e00-\u9fff", r"\u3041-\u3096\u30a1-\u30fa\u30fc", r"\uac00-\ud7a3"
_HEBREW, _ARABIC, _THAI = r"\u05d0-\u05ea", r"\u0620-\u0655\u0670-\u06d3", r"\u0e01-\u0e4e"
_INDIC, _GEORGIAN = r"\u0900-\u0dff", r"\u10d0-\u10fa"
UNCASED_LETTER = re.compile(f"[{_HAN}{_KANA}{_HANGUL}{_HEBREW}{_ARABIC}{_THAI}{_INDIC}{_GEORGIAN}]")
COMPACT_LETTER = re.compile(f"[{_HAN}{_KANA}{_HANGUL}{_THAI}]")

KOREAN_SURNAMES = load_words(FILE, "names", "korean_surnames")
CHINESE_SURNAMES = frozenset("".join(load_words(FILE, "names", "chinese_surnames")))
COMPOUND_SURNAMES = load_words(FILE, "names", "compound_surnames")
JAPANESE_SURNAMES = load_words(FILE, "names", "japanese_surnames")
JAPANESE_ENDINGS = frozenset("".join(load_words(FILE, "names", "japanese_endings")))
GIVEN = load_words(FILE, "names", "given")
FAMILY = load_words(FILE, "names", "family")
ORDINARY = load_words(FILE, "ordinary")
ROLES = AffixSet(load_words(FILE, "roles"))
LABELS = load_words(FILE, "labels")

ROLE_INSIDE = re.compile(alternatives(load_words(FILE, "roles_inside")))
ORDINARY_INSIDE = re.compile(alternatives(load_words(FILE, "ordinary", "inside")))
_TITLES = [title for key in ("hebrew", "arabic", "thai", "indic") for title in load_words(FILE, "titles", key)]
TITLE = re.compile(rf"(?P<title>(?:(?:{alternatives(_TITLES)})\s?){{1,3}})(?=[{_HEBREW}{_ARABIC}{_THAI}{_INDIC}])")

HAN_NAME = re.compile(f"[{_HAN}]{{2,4}}")
SPACED_NAME = re.compile(f"(?P<family>[{_HAN}ヶケツノ]{{1,4}})[ \u3000](?P<given>[{_HAN}{_KANA}]{{1,5}})")
KATAKANA_NAME = re.compile(r"[\u30a1-\u30fa\u30fc]{2,12}(?:[・= ][\u30a1-\u30fa\u30fc]{2,12}){1,2}")
HANGUL_NAME = re.compile(f"[{_HANGUL}] ?[{_HANGUL}]{{1,3}}")
_PART = rf"(?:[{_HEBREW}]{{2,14}}|[{_ARABIC}]{{2,14}}|[{_INDIC}]{{2,18}}|[{_GEORGIAN}]{{2,18}})[.׳']?"
WORDS_NAME = re.compile(rf"{_PART}(?:[ -]{_PART}){{1,4}}")
THAI_NAME = re.compile(f"[{_THAI}]{{2,20}} [{_THAI}]{{2,24}}")
# Reading, Latin name or nickname in brackets behind a name.
BRACKETS = re.compile(r"\s?[（(【\[][^）)】\]]{1,40}[）)】\]]$")
SEPARATOR = re.compile(r"\s?[:：|｜/／、，,،（(）)]\s?|\s[-–—―]\s?")
SEGMENT = re.compile(r"\s?[|｜•·]\s?")
# An address or a number behind a name, with its label: 电话:0532-85551001.
CONTACT_BEHIND = re.compile(
    r"(?:[\s,;(|·–-]{1,3}[^\W\d_]{1,8}\s?[:：]|[\s,;(|·:：–-])\s?(?:[\w.+-]{1,60}@|[+(]?\d(?:[\d\s()./-]{5,18}\d)).{0,200}$"
)
LATIN_BEHIND = re.compile(r"(?<=[^\x00-\x7f])\s?[A-Za-z][A-Za-z .,'’-]{2,40}$")  # 乾 雅人 Inui Masato
# A form of address inside a line: ติดต่อ คุณปิยะ วงศ์สวัสดิ์.
THAI_CALLED = re.compile(
    f"(?P<title>คุณ|นางสาว|นาย|นาง|ดร\\.|ทพญ?\\.|พญ\\.|นพ\\.)\\s?(?P<name>[{_THAI}]{{2,20}} [{_THAI}]{{2,24}})"
)
TITLE_AND_SLASH = re.compile(r"(?<![^\s:：–-])([أدم])/\s?(?=\w)")  # أ/ محمود: Mr
COLON = re.compile(r"[:：]")
LABELLED = re.compile(r"[:：]|\s[-–—―]\s")
HONORIFIC = re.compile(r"(?<=.{2})\s?(?:先生|女士|小姐|律師|律师|醫師|医师|老師|老师|さん|様|氏|님|씨)$")
PREFIXES = ("ה", "ו", "ال", "وال", "و")
BRACKET = re.compile(r"^\s?[（(]([^（）()]{2,40})[）)]")
# 女将の水無瀬千鶴でございます。 院長、山田太郎です。 店主王小莲女士。 관장 김민수입니다.
ROLE_AND_NAME = re.compile(
    rf"(?P<role>{ROLE_INSIDE.pattern})(?:の|・|、|，|は|である|\s|为|是)?(?P<name>"
    rf"[{_HAN}]{{1,4}}[ \u3000][{_HAN}{_KANA}]{{1,4}}(?=で(?:ございます|す)|と申します|が|は|、|。)"
    rf"|[{_HAN}]{{3,5}}(?=で(?:ございます|す)|と申します)"
    rf"|[{_HAN}]{{2,4}}(?=女士|先生|师傅|師傅|老师|老師|小姐)"
    rf"|[{_HANGUL}]{{3,4}}(?=입니다|이라고))"
)
# In sentences: 生产厂长孙立军拥有30年经验。 销售总监为欧阳志远，…
ROLE_IN_SENTENCE = re.compile(
    rf"(?P<role>{ROLE_INSIDE.pattern})[为是]?(?P<name>[{_HAN}]{{2,4}})"
    r"(?=[,，。；;、（(]|带领|拥有|毕业|担任|负责|领导|创办|创立|介绍|表示|带队|主持|曾|从事|于|在)"
)
# In running text: a title and the two words behind it.
TITLE_AND_NAME = re.compile(
    r"(?<!\w)(?P<title>ד[\"״]ר|עו[\"״]ד|רו[\"״]ח|פרופ['׳]|د\.|أ\.د\.|डॉ\.|ডা\.|ড\."
    r"|[بل]?(?:السيدة?|الدكتورة?|الأستاذة?|المهندسة?|الشيف)\s|لل(?:سيدة?|دكتورة?|أستاذة?|مهندسة?)\s|آقای\s|خانم\s|دکتر\s|مهندس\s)\s?"
    rf"(?P<name>(?:[{_HEBREW}]{{2,14}}|[{_ARABIC}]{{2,14}}|[{_INDIC}]{{2,18}})"
    rf"\s(?:[{_HEBREW}]{{2,14}}(?:-[{_HEBREW}]{{2,14}})?|[{_ARABIC}]{{2,14}}(?:\sال[{_ARABIC}]{{2,12}})?|[{_INDIC}]{{2,18}}))"
    r"(?=$|\s?[,.|(،–-]|\s(?:على|في|من|عبر|است|در|با|هو|هي|مدير)(?!\w))"
)


def find_uncased_names(text: str, parts: tuple[str, ...] = ()) -> list[NameCandidate]:
    """Return the names in a line, alone or beside a role: 院長 桐島 健一郎. 대표 : 강민재. ד"ר יעל אלמוג."""
    if "/" in text and TITLE_AND_SLASH.search(text) is not None:
        text, parts = TITLE_AND_SLASH.sub(r"\1. ", text), ()
    if len(parts) > 1 and (marked := _in_parts(parts)):
        return marked
    text = CONTACT_BEHIND.sub("", text) if len(text) <= MAX_TEXT else text
    if (told := _in_text(text)) is not None:
        return told
    found: list[NameCandidate] = []
    for segment in SEGMENT.split(text):
        found.extend(_in_segment(segment))
    return found


def _in_parts(parts: tuple[str, ...]) -> list[NameCandidate]:
    """Return the names that are elements of a line, each with the role in the next: <b>王小明</b> <i>经理</i>."""
    found = []
    for part, behind in zip(parts, (*parts[1:], ""), strict=True):
        name = parse_uncased_name(part)
        if name is None:
            continue
        bracket = BRACKET.match(behind)
        role = bracket[1] if bracket is not None else CONTACT_BEHIND.sub("", behind).strip(" ,،-–|")
        if is_uncased_role(role):
            found.append(NameCandidate(name, True, role))
        elif bracket is not None and len(role) <= MAX_ROLE // 2:
            found.append(NameCandidate(name, True, role, is_known_role=False))
    return found


def _in_text(text: str) -> list[NameCandidate] | None:
    """Return the names in running text, behind a title or a role; None if the text is a line."""
    text = text[:MAX_TEXT]
    sentences = ROLE_IN_SENTENCE.finditer(text) if "。" in text and len(text) > MAX_LINE // 2 else ()
    told = [
        NameCandidate(_name(match["name"], KNOWN + 0.1), False, match["role"])
        for match in (*ROLE_AND_NAME.finditer(text), *sentences)
        if ORDINARY_INSIDE.search(match["name"]) is None and _is_told_name(match["name"])
    ]
    if told or (len(text) > MAX_LINE and SEGMENT.search(text) is None):
        titled = TITLE_AND_NAME.finditer(text)
        return told + [NameCandidate(_name(match["name"], KNOWN + 0.3, match["title"]), False, "") for match in titled]
    return None


def _is_told_name(text: str) -> bool:
    """Return whether signs behind a role are a name: with a space, a known family name, or the last sign of a name."""
    if " " in text or "\u3000" in text:
        return True
    score = _compact_score(text)
    return (score is not None and score >= 0) or text[-1] in JAPANESE_ENDINGS or HANGUL_NAME.fullmatch(text) is not None


def _in_segment(text: str) -> list[NameCandidate]:
    if (name := parse_uncased_name(text)) is not None:
        return [NameCandidate(name, True, "")]
    pieces = [piece for piece in SEPARATOR.split(text) if piece]
    found = _beside_role(text, pieces) if len(pieces) > 1 else _around_space(text)
    if not found and (called := THAI_CALLED.search(text)) is not None:
        role = next((piece.strip() for piece in pieces if is_uncased_role(piece)), "")
        found = [NameCandidate(_name(called["name"], KNOWN + 0.1, called["title"]), True, role)]
    return found


def _beside_role(text: str, pieces: list[str]) -> list[NameCandidate]:
    """Return the names among pieces of a line, with the role before or behind: 代表：山田太郎. 김민수 (팀장)."""
    if len(several := [one for piece in pieces for one in _around_space(piece)]) > 1:
        return several  # 이사장 김민수, 이사 박지영
    names = [parse_uncased_name(piece) for piece in pieces[:MAX_PIECES]]
    if "、" in text and (first := _around_space(pieces[0])):
        others = [name for name in names[1:] if name is not None and name.score > UNKNOWN]
        if len(others) == len(pieces) - 1:
            return [*first, *(NameCandidate(name, True, first[0].role) for name in others)]  # 教师 王小明、李大山
    if len(pieces) > 1 and all(name is not None and name.score > UNKNOWN for name in names):
        return [NameCandidate(name, True, "") for name in names if name is not None]  # a row of names
    for index, (piece, name) in enumerate(zip(pieces, names, strict=False)):
        if name is None:
            if is_uncased_role(piece) and (found := _around_space(piece)):
                return found
            continue
        before = pieces[index - 1].strip() if index else ""
        after = pieces[index + 1].strip() if index + 1 < len(pieces) else ""
        if before in LABELS:
            return [NameCandidate(name._replace(score=name.score + KNOWN), True, "")]
        role = next((other for other in (before, after) if other and is_uncased_role(other)), "")
        if role:
            return [NameCandidate(name, True, role)]
        other = before or ("" if COLON.search(text) else after)  # a colon follows a label, not a name
        if other and name.score > UNKNOWN and LABELLED.search(text) and len(other.split()) <= MAX_ROLE_WORDS:
            return [NameCandidate(name, True, other, is_known_role=False)]
    return []


def _around_space(text: str) -> list[NameCandidate]:
    """Return the name before or behind a role and a space: 代表取締役 山田太郎. 김민수 대표."""
    words = text.split()
    for count in range(1, len(words)):
        before, after = " ".join(words[:count]), " ".join(words[count:])
        for role, rest in ((before, after), (after, before)):
            name = parse_uncased_name(rest) if is_uncased_role(role) else None
            if name is not None and name.score > UNKNOWN:
                return [NameCandidate(name, True, role)]
    return []


@lru_cache(4096)
def parse_uncased_name(text: str) -> Name | None:
    """Return the name that the whole text may be, with the score of its words, or None."""
    if text.endswith(".") and text.count(" ") >= MIN_SENTENCE_SPACES:
        return None
    text = LATIN_BEHIND.sub("", BRACKETS.sub("", text.strip(' \u3000.,:：-–—•*"“”')))
    called = HONORIFIC.sub("", text)
    is_called = " " in text and " " not in called and called != text  # 粘雅筑 醫師
    if is_called and HAN_NAME.fullmatch(called) and not is_uncased_role(called):
        return _name(called, 0.2, text[len(called) :].strip())
    text = called
    title = ""
    if (match := TITLE.match(text)) is not None and len(text) > match.end() + 2:
        title, text = match["title"].strip(), text[match.end() :]
    if not 2 <= len(text) <= 40 or UNCASED_LETTER.match(text) is None:
        return None
    score = _compact_score(text) if COMPACT_LETTER.match(text) is not None else _words_score(text)
    if score is None:
        return None
    return _name(text, TITLED if title else score, title)


def _compact_score(text: str) -> float | None:
    """Score a text of Han, kana, Hangul or Thai by its form and its family name; None if it is no name."""
    if ROLE_INSIDE.search(text) is not None or ORDINARY_INSIDE.search(text) is not None:
        return None
    if HANGUL_NAME.fullmatch(text):
        length = len(text.replace(" ", ""))
        if text[:2] in COMPOUND_SURNAMES and length > 2:
            return 0.2
        return None if text[0] not in KOREAN_SURNAMES else 0.2 if length == 3 else UNKNOWN
    if (match := SPACED_NAME.fullmatch(text)) is not None:
        known = match["family"] in JAPANESE_SURNAMES
        return KNOWN * known + 0.15 * (text[-1] in JAPANESE_ENDINGS) + UNKNOWN * (not known)
    if HAN_NAME.fullmatch(text):
        return _han_score(text)
    if KATAKANA_NAME.fullmatch(text):
        return UNKNOWN
    if THAI_NAME.fullmatch(text):
        return None if any(word in ORDINARY for word in text.split()) or _is_thai_heading(text) else UNKNOWN
    return None


def _han_score(text: str) -> float | None:
    """Score two to four signs without a space: 王小明, 山田太郎."""
    if text[-1] in "部科室课課處处组組系院所":
        return None  # a department
    if any(len(text) > count and text[:count] in JAPANESE_SURNAMES for count in (2, 3)):
        return 0.2 + 0.1 * (text[-1] in JAPANESE_ENDINGS)
    if text[:2] in COMPOUND_SURNAMES and len(text) > 2:
        return KNOWN
    if text[0] in CHINESE_SURNAMES and len(text) <= 3:
        return 0.1 if len(text) == 3 else 0.0
    return UNKNOWN if len(text) > 2 and text[-1] in JAPANESE_ENDINGS else None


def _is_thai_heading(text: str) -> bool:
    return any(text.startswith(word) for word in ("การ", "ความ", "บริษัท", "ร้าน", "โรง", "คลินิก", "สำนัก", "ติดต่อ", "เกี่ยว"))


def _words_score(text: str) -> float | None:
    """Score two to five words of a script with spaces by its known names; None if it is no name."""
    if WORDS_NAME.fullmatch(text) is None:
        return None
    words = text.split()
    if any(_is_listed(word, ORDINARY) for word in words) or any(map(_is_role_word, words)):
        return None
    given = any(word in GIVEN for word in words[:2])
    family = words[-1] in FAMILY or words[-1].endswith(("შვილი", "ძე", "იანი"))
    return KNOWN * given + 0.1 * family + UNKNOWN * (not given and not family)


def _name(text: str, score: float, title: str = "") -> Name:
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
    return any(map(_is_role_word, text.replace("/", " ").replace("،", " ").replace(",", " ").split()))


def _is_role_word(word: str) -> bool:
    word = word.strip(".:()-–")
    return word in ROLES or any(word.startswith(prefix) and word[len(prefix) :] in ROLES for prefix in PREFIXES)


def _is_listed(word: str, listed: frozenset[str]) -> bool:
    return word in listed or (word.startswith("ה") and len(word) > 3 and word[1:] in listed)
