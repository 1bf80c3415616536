"""Name candidates in a line without capitals: alone, beside a role, in a list, in running text."""

import re
from collections.abc import Iterator
from itertools import pairwise

from scrapersky.extract.people.candidate import Name, NameCandidate
from scrapersky.extract.people.uncased.names import (
    DEPARTMENTS,
    FILE,
    GIVEN,
    HANGUL_NAME,
    JAPANESE_ENDINGS,
    KNOWN,
    MAX_ROLE,
    ORDINARY_INSIDE,
    ROLE_INSIDE,
    SPACED_NAME,
    TITLES,
    UNKNOWN,
    compact_score,
    is_uncased_role,
    is_uncased_role_word,
    parse_uncased_name,
    plain_spelling,
    uncased_name,
)
from scrapersky.extract.people.uncased.scripts import ARABIC, COMPACT_LETTER, HAN, HANGUL, HEBREW, INDIC, KANA, THAI
from scrapersky.extract.word_lists import alternatives, load_words

MAX_TEXT = 2_000
MAX_LINE = 60  # a longer line in these scripts is a sentence
MAX_PIECES = 6
MAX_LISTED = 40
MIN_NEWS = 9  # letters of a line about a person: 董事长丁宏伟当选…
MAX_ROLE_WORDS = 3
MAX_ROLE_SPACES = 5
LABELS = load_words(FILE, "labels")
SUPERVISOR = re.compile(r"(?:^|[（(])(?:지도교수|指導教[授員]|指导教师|导师|導師|恩師|師匠)|に師事")
STRONG_ROLE = re.compile(r"(?:役|[社会部課室係次局院園校所店館学塾務医師場]長|理事|監事|代表|教授|顧問|主任)$")
TITLES_ONLY = re.compile(rf"(?:(?:{alternatives(TITLES)})\s?){{1,3}}")
SEPARATOR = re.compile(r"\s?[:：|｜/／、，,،（(）)]\s?|\s[-–—―]\s?")
SEGMENT = re.compile(r"\s?[|｜丨•·]\s?|\s[—–]\s(?=[^:：]{2,25}[:：])")
# An address or a number behind a name, with its label: 电话:0532-85551001.
CONTACT_BEHIND = re.compile(
    r"(?:\s(?:جوال|هاتف|موبايل|موبایل|تلفن|تلفون|ת|טל|נייד|טלפון|โทร|มือถือ|मोबाइल|फोन|মোবাইল|ফোন|手机|电话|電話|手機|携帯|전화|휴대폰|모바일)[.:׳']{0,2}"
    r"|[\s,;(|·–-]{1,3}[^\W\d_]{1,8}\s?[:：]|[\s,;(|·:：–-])\s?(?:[\w.+-]{1,60}@|[+(]?\d(?:[\d\s()./-]{5,18}\d)).{0,200}$"
)
# A form of address inside a line: ติดต่อ คุณปิยะ วงศ์สวัสดิ์.
THAI_CALLED = re.compile(
    f"(?P<title>คุณ|นางสาว|นาย|นาง|ดร\\.|ทพญ?\\.|พญ\\.|นพ\\.)\\s?(?P<name>[{THAI}]{{2,20}} [{THAI}]{{2,24}})"
)
TITLE_AND_SLASH = re.compile(r"(?<![^\s:：–-])([أدم])/\s?(?=\w)")  # أ/ محمود: Mr
COLON = re.compile(r"[:：]")
LISTED = re.compile(r"[、，،／]|,\s")
LABELLED = re.compile(r"[:：]|\s[-–—―]\s")
POST_BEHIND = re.compile(
    rf"(?P<name>[{HAN}]{{2,4}}) ?(?P<role>牧師|牧师|傳道|传道|長老|长老|執事|执事|教授|校長|校长|主任|經理|经理)"
)
BRACKET = re.compile(r"^\s?[（(]([^（）()]{2,40})[）)]")
# 女将の水無瀬千鶴でございます。 院長、山田太郎です。 店主王小莲女士。 관장 김민수입니다.
ROLE_AND_NAME = re.compile(
    rf"(?P<role>{ROLE_INSIDE.pattern})(?:の|・|、|，|は|である|\s|为|是)?(?P<name>"
    rf"[{HAN}]{{1,4}}[ \u3000][{HAN}{KANA}]{{1,4}}?(?=で(?:ございます|す)|と申します|が|は|、|。|（|\(|まで)"
    rf"|[{HAN}]{{3,5}}(?=で(?:ございます|す)|と申します)"
    rf"|[{HAN}]{{2,4}}(?=女士|先生|师傅|師傅|老师|老師|小姐)"
    rf"|[{HANGUL}]{{3,4}}(?=입니다|이라고))"
)
# In sentences: 生产厂长孙立军拥有30年经验。 销售总监为欧阳志远，…
ROLE_IN_SENTENCE = re.compile(
    rf"(?P<role>{ROLE_INSIDE.pattern})[为是]?(?P<name>[{HAN}]{{2,4}})"
    r"(?=[,，。；;、（(]|带领|拥有|毕业|担任|负责|领导|创办|创立|介绍|表示|当选|當選|荣获|榮獲|出席|带队|主持|曾|从事|于|在)"
)
# In running text: a title and the two words behind it.
TITLE_AND_NAME = re.compile(
    r"(?<!\w)(?P<title>ד[\"״]ר|עו[\"״]ד|רו[\"״]ח|פרופ['׳]|د\.|أ\.د\.|डॉ\.|ডা\.|ড\."
    r"|[بل]?(?:السيدة?|الدكتورة?|الأستاذة?|المهندسة?|الشيف)\s|لل(?:سيدة?|دكتورة?|أستاذة?|مهندسة?)\s|آقای\s|خانم\s|دکتر\s|مهندس\s)\s?"
    rf"(?P<name>(?:[{HEBREW}]{{2,14}}|[{ARABIC}]{{2,14}}|[{INDIC}]{{2,18}})"
    rf"\s(?:[{HEBREW}]{{2,14}}(?:-[{HEBREW}]{{2,14}})?|(?:عبد\s)?[{ARABIC}]{{2,14}}(?:\sال[{ARABIC}]{{2,12}})?|[{INDIC}]{{2,18}}))"
    r"(?=$|\s?[,.|(،–-]|\s(?:على|في|من|عبر|عام|سنة|است|در|با|هو|هي|مدير|בשנת|הוא|היא|עם|את|של|אשר)(?!\w))"
)
LATIN_NAME = re.compile(r"[A-Z][a-z]{1,14}(?: [A-Z][a-z]{1,14}){1,3}")
# محفظة القرآن (نساء): نجاة الصنهاجي; الموارد البشرية (منى رجب): …
BRACKETS_AROUND = re.compile(r"[()（）]")
# 영업부 피재호 과장: the department before a name and a role.
DEPARTMENT_BEFORE = re.compile(
    rf"[{HANGUL}{HAN}{KANA}]{{1,8}}(?:부|팀|과|실|국|部|課|科|室|係|处|處|组|組)[ \u3000](?=\S{{2,5}}[ \u3000]\S)"
)
LABEL_BRACKETS = re.compile(r"\s?\((?P<inside>[^()]{1,30})\)(?=\s?[:：])")
HISTORY = re.compile(r"(?:明治|大正|昭和|平成|令和|民國|民国)\s?[\d元一二三四五六七八九十]{1,3}年")
BRACKETED_TITLE = re.compile(rf"[（(](?:{alternatives(TITLES)}){{1,2}}[)）]\s?")  # डॉ. (श्रीमती) अर्पिता नागर
# 010-4836-2917 (배기태 사무국장); 577 90 14 28 – ლანა ვერულიძე
PERSON_OF_NUMBER = re.compile(r"\d[\d\s.-]{6,14}\d\s?[（(–—-]\s?(?P<person>[^()（）–—]{3,40})(?:[)）]|$)")
READING = re.compile(f"[{HANGUL}]{{0,3}}[{HAN}][{HAN}{HANGUL}]{{1,3}}")  # 황보석 皇甫錫
COUNTED = re.compile("[一二三四五六七八九十百千两兩數数多幾几]{1,8}[人名位]$")  # 教師六人
FORMER = re.compile("(?:首任|初代|前任|前|元|歷任|历任|第[一二三四五六七八九十]任|故)$")
MAX_LABEL = 30


def find_uncased_names(text: str, parts: tuple[str, ...] = ()) -> list[NameCandidate]:
    """Return the names in a line, alone or beside a role: 院長 桐島 健一郎. 대표 : 강민재. ד"ר יעל אלמוג."""
    if SUPERVISOR.search(text) is not None:
        return []  # 미국 연수 (지도교수 박상철): a teacher of the person
    if "/" in text and TITLE_AND_SLASH.search(text) is not None:
        text, parts = TITLE_AND_SLASH.sub(r"\1. ", text), ()
    if len(parts) > 1 and (marked := _in_parts(parts)):
        return marked
    if len(text) <= MAX_TEXT:
        if HISTORY.match(text) is not None:
            return []  # 昭和38年4月（創業者 栗山 義三郎）
        text = BRACKETED_TITLE.sub("", text)
        if (label := LABEL_BRACKETS.search(text)) is not None:
            name = parse_uncased_name(label["inside"])
            if name is not None and name.score > UNKNOWN:
                return [
                    NameCandidate(name, True, text[: label.start()].strip(), is_uncased_role(text[: label.start()]))
                ]
            text = LABEL_BRACKETS.sub("", text)
        if (behind := PERSON_OF_NUMBER.search(text)) is not None and (found := _in_segment(behind["person"])):
            return found
    whole, text = text, CONTACT_BEHIND.sub("", text) if len(text) <= MAX_TEXT else text
    row = SEGMENT.split(whole)
    if len(row) > 1 and len(whole) <= MAX_TEXT:
        row = [CONTACT_BEHIND.sub("", segment).strip() for segment in row]
        return [_with_role_beside(one, row, index) for index, segment in enumerate(row) for one in _in_segment(segment)]
    if listed := _in_list(text):
        return listed
    if (told := _in_text(text)) is not None:
        return told
    found = _in_segment(text)
    if not found and text is not whole and len(whole) > len(text):
        found = _behind_subject(text)
    return found or _behind_titles(whole)


def _behind_titles(text: str) -> list[NameCandidate]:
    """Return the names behind a title in a short sentence: للتواصل مع الأستاذة رزان العتيبي على الرقم."""
    titled = TITLE_AND_NAME.finditer(text[:MAX_TEXT]) if text.count(" ") > MAX_ROLE_WORDS else ()
    return [
        NameCandidate(uncased_name(one["name"], KNOWN + 0.3, one["title"]), False, "")
        for one in titled
        if not one["name"].startswith("ال")  # الدكتور المناسب لكم: the doctor who suits you
    ]


def _with_role_beside(candidate: NameCandidate, row: list[str], index: int) -> NameCandidate:
    """Add the role that stands behind a name in a row, else before it: لمى الشهري | مديرة التسويق."""
    for beside in (index + 1, index - 1) if not candidate.role else ():
        if 0 <= beside < len(row) and is_uncased_role(row[beside]) and not _in_segment(row[beside]):
            return candidate._replace(role=row[beside])
    return candidate


def _behind_subject(text: str) -> list[NameCandidate]:
    """Return the known name between a colon and a contact, which was cut off: प्रवेश हेतु संपर्क करें: सुनीता राठौर."""
    colon = COLON.search(text)
    name = parse_uncased_name(SEPARATOR.split(text[colon.end() :].strip())[0]) if colon is not None else None
    if name is None or name.score <= UNKNOWN:
        return []
    return [NameCandidate(name._replace(score=name.score + KNOWN), True, "")]


def _in_parts(parts: tuple[str, ...]) -> list[NameCandidate]:
    """Return the names that are elements of a line, each with the role in the next: <b>王小明</b> <i>经理</i>."""
    found = []
    parts = _without_readings(parts)
    for part, behind in zip(parts, (*parts[1:], ""), strict=True):
        name = parse_uncased_name(part)
        if name is None:
            continue
        bracket = BRACKET.match(behind)
        role = bracket[1] if bracket is not None else CONTACT_BEHIND.sub("", behind).strip(" ,،-–|")
        if is_uncased_role(role):
            found.append(NameCandidate(name, True, role))
        elif (bracket is not None or len(parts) == 2) and 0 < len(role) <= MAX_ROLE // 2 and name.score > UNKNOWN:
            found.append(NameCandidate(name, True, role, is_known_role=False))
    return found


def _without_readings(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Leave out what writes the Korean name before it in Chinese signs."""
    pairs = zip(parts, ("", *parts[:-1]), strict=True)
    return tuple([part for part, before in pairs if not (READING.fullmatch(part) and HANGUL_NAME.fullmatch(before))])


def _in_list(text: str) -> list[NameCandidate]:
    """Return the people of a list, also behind a label: 委員：山田太郎、鈴木花子. Each item has the form of a name."""
    label, colon, rest = text.partition(":" if ":" in text else "：")
    if not colon:
        label, rest = "", text
    if len(label) > MAX_LABEL or len(items := LISTED.split(rest.strip(" ."))) < 2:
        return []
    names = [_listed_name(item) for item in items[:MAX_LISTED]]
    if any(name is None for name in names):
        return []
    is_spaced = len(names) > 2 and all(SPACED_NAME.fullmatch(name.text) for name in names if name)
    if not is_spaced and max(name.score for name in names if name) <= UNKNOWN:
        return []
    role, is_known = label.strip(), is_uncased_role(label)
    return [NameCandidate(name._replace(score=max(name.score, 0.1)), True, role, is_known) for name in names if name]


def _listed_name(text: str) -> Name | None:
    if LATIN_NAME.fullmatch(text.strip()) is not None:
        return uncased_name(text.strip(), 0.1)  # 溫志明、Chan Siu Ming
    return parse_uncased_name(text)


def _in_text(text: str) -> list[NameCandidate] | None:
    """Return the names in running text, behind a title or a role; None if the text is a line."""
    text = text[:MAX_TEXT]
    sentences = ROLE_IN_SENTENCE.finditer(text) if "。" in text or len(text) > MIN_NEWS else ()
    told = [
        NameCandidate(uncased_name(match["name"], KNOWN + 0.1), False, match["role"])
        for match in (*ROLE_AND_NAME.finditer(text), *sentences)
        if ORDINARY_INSIDE.search(match["name"]) is None
        and match["name"][0] not in DEPARTMENTS  # 営業部　榎並
        and _is_told_name(match["name"])
        and FORMER.search(text[: match.start()]) is None
    ]
    is_sentence = text.endswith(".") and text.count(" ") > MAX_ROLE_SPACES
    if told or is_sentence or (len(text) > MAX_LINE and SEGMENT.search(text) is None):
        titled = TITLE_AND_NAME.finditer(text)
        if COMPACT_LETTER.search(text) is None:
            told += _behind_role_words(text)
        return told + [
            NameCandidate(uncased_name(match["name"], KNOWN + 0.3, match["title"]), False, "") for match in titled
        ]
    return None


def _behind_role_words(text: str) -> Iterator[NameCandidate]:
    """Yield the known given names with their family names behind a role: დირექტორი ნინო ქათამაძე."""
    words = text.split()
    for index, word in enumerate(words[:-2]):
        given = words[index + 1]
        if plain_spelling(given) not in GIVEN or not is_uncased_role_word(word):
            continue
        for count in (3, 2):
            rest = words[index + 1 : index + 1 + count]
            name = parse_uncased_name(" ".join(rest).rstrip('.,،;:!?)»“”"')) if _is_one_phrase(rest) else None
            if name is not None and name.score > KNOWN:
                yield NameCandidate(name, False, word)
                break


def _is_one_phrase(words: list[str]) -> bool:
    """Return whether no word but the last one ends with a punctuation mark."""
    return all(word[-1] not in ".,،;:!?)" for word in words[:-1])


def _is_told_name(text: str) -> bool:
    """Return whether signs behind a role are a name: with a space, a known family name, or the last sign of a name."""
    if " " in text or "\u3000" in text:
        return True
    if COUNTED.search(text) is not None:
        return False
    score = compact_score(text)
    return (score is not None and score >= 0) or text[-1] in JAPANESE_ENDINGS or HANGUL_NAME.fullmatch(text) is not None


def _in_segment(text: str) -> list[NameCandidate]:
    if (name := parse_uncased_name(text)) is not None:
        return [NameCandidate(name, True, "")]
    if (post := POST_BEHIND.fullmatch(text)) is not None and (known := parse_uncased_name(post["name"])) is not None:
        return [NameCandidate(known, True, post["role"])]  # 余德康牧師
    role, dot, rest = text.partition("・")
    if dot and is_uncased_role(role):
        text = f"{role}：{rest}"  # 店長・新見 亮太
    pieces = [piece for piece in SEPARATOR.split(text) if piece]
    if (called := THAI_CALLED.match(text)) is not None and not is_uncased_role(called["name"].partition(" ")[2]):
        role = BRACKETS_AROUND.sub("", text[called.end() :]).strip(" ,–-")  # นางสาวอรอนงค์ ใจซื่อ ครูประจำชั้น
        if not role or (len(role) <= MAX_ROLE and is_uncased_role(role)):
            return [NameCandidate(uncased_name(called["name"], KNOWN + 0.1, called["title"]), True, role)]
    found = _beside_role(text, pieces) if len(pieces) > 1 else _around_space(text)
    if not found and (called := THAI_CALLED.search(text)) is not None:
        role = next((piece.strip() for piece in pieces if is_uncased_role(piece)), "")
        found = [NameCandidate(uncased_name(called["name"], KNOWN + 0.1, called["title"]), True, role)]
    return found


def _beside_role(text: str, pieces: list[str]) -> list[NameCandidate]:
    """Return the names among pieces of a line, with the role before or behind: 代表：山田太郎. 김민수 (팀장)."""
    if len(several := [one for piece in pieces for one in _around_space(piece)]) > 1:
        return several  # 이사장 김민수, 이사 박지영
    names = [parse_uncased_name(piece) for piece in pieces[:MAX_PIECES]]
    if LISTED.search(text) is not None and (first := _around_space(pieces[0])):
        others = [name for name in names[1:] if name is not None and name.score >= UNKNOWN]
        if len(others) == len(pieces) - 1:
            return [*first, *(NameCandidate(name, True, first[0].role) for name in others)]  # 教师 王小明、李大山
    if len(pieces) > 1 and all(name is not None and name.score > UNKNOWN for name in names):
        return [NameCandidate(name, True, "") for name in names if name is not None]  # a row of names
    for index, (piece, name) in enumerate(zip(pieces, names, strict=False)):
        if name is None:
            if is_uncased_role(piece) and (found := _around_space(piece)):
                return found
            continue
        is_listed = index > 1 and COLON.search(text) is not None and not is_uncased_role(pieces[0])  # X: 甲, 乙
        before = pieces[index - 1].strip() if index and not is_listed else ""
        after = pieces[index + 1].strip() if index + 1 < len(pieces) else ""
        if before in LABELS:
            role = after if is_uncased_role(after) else ""
            return [NameCandidate(name._replace(score=name.score + KNOWN), True, role)]
        if is_uncased_role(after) and (TITLES_ONLY.fullmatch(before) or f"{before} /" in text):
            before = ""  # المستشار / كريم زهران – رئيس القسم: a form of address
        role = next((other for other in (before, after) if other and is_uncased_role(other)), "")
        if role:
            return [NameCandidate(name, True, role)]
        other = before or ("" if COLON.search(text) else after)  # a colon follows a label, not a name
        if other and name.score > UNKNOWN and LABELLED.search(text) and len(other.split()) <= MAX_ROLE_WORDS:
            return [NameCandidate(name, True, other, is_known_role=False)]
    return []


def _around_space(text: str) -> list[NameCandidate]:
    """Return the name before or behind a role and a space: 代表取締役 山田太郎. 김민수 대표."""
    department = DEPARTMENT_BEFORE.match(text)
    if department is not None and any(map(is_uncased_role, text[department.end() :].split())):
        text = text[department.end() :]
    words = text.split()
    pairs = [
        NameCandidate(name, True, role)
        for role, rest in pairwise(words)
        if is_uncased_role(role) and (name := parse_uncased_name(rest)) is not None and name.score > UNKNOWN
    ]
    if len(pairs) > 1 and len(pairs) * 2 == len(words):
        return pairs  # 主任 钱学文 护士长 温丽华
    for count in range(1, len(words)):
        before, after = " ".join(words[:count]), " ".join(words[count:])
        for role, rest in ((before, after), (after, before)):
            name = parse_uncased_name(rest) if is_uncased_role(role) else None
            if name is None:
                continue
            if role is before and STRONG_ROLE.search(role) is not None and SPACED_NAME.fullmatch(name.text):
                return [NameCandidate(name._replace(score=max(name.score, 0.1)), True, role)]  # 専務取締役 宮坂 早苗
            if name.score > UNKNOWN:
                return [NameCandidate(name, True, role)]
    return []
