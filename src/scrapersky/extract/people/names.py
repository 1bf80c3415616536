"""Names of people: whether a text is one, judged by its form, its title and its words, without the page around it."""

import re
from functools import lru_cache

from scrapersky.extract.document.context import WORD
from scrapersky.extract.people.candidate import Name
from scrapersky.extract.people.uncased.scripts import UNCASED_LETTER
from scrapersky.extract.text import fold_word
from scrapersky.extract.word_lists import AffixSet, grouped_alternatives, load_names, load_table, load_words, word_set

GIVEN = load_names("given_names")
FAMILY = load_names("surnames")
TITLES = frozenset(fold_word(word).rstrip(".") for word in load_words("people", "titles"))
VIETNAMESE = load_words("name_parts", "family_first", "vietnamese")
CREDENTIALS = frozenset(word.replace(".", "") for word in load_words("people", "credentials"))
PARTICLES = load_words("people", "particles")
ORDINARY = load_words("people", "ordinary")
ORGANISATIONS = load_words("people", "organisations")
PLACE_OR_FAMILY = load_words("people", "organisations", "family_names")  # Hannah Lane may be a person
FAMILY_PARTICLES = word_set("van von der den ter ten 't ’t la los las")  # before a word, which is then a family name
ROLES = AffixSet(word for words in load_table("people")["roles"].values() for word in words.split())
# Turkish letters: nurse* is no role in Nurşen. The words of other languages do not have them.
TURKISH_ROLES = AffixSet(" ".join(load_table("people")["roles"][one] for one in ("tr", "az")).split())
TURKISH_LETTER = re.compile(r"[şğıİŞĞ]")
ROLE_PHRASES = tuple(load_table("people")["role_phrases"]["phrases"])
# Used with any name, so they are weaker evidence than a doctor's title.
COURTESY_TITLES = frozenset(
    (
        "mr",
        "mrs",
        "ms",
        "miss",
        "mx",
        "herr",
        "frau",
        "hr",
        "fr",
        "m",
        "mme",
        "mlle",
        "sr",
        "sra",
        "srta",
        "sig",
        "dona",
        "doña",
        "d",
        "d.a",
        "da",
        "pan",
        "pani",
        "пан",
        "пані",
        "г-н",
        "г-жа",
        "κ",
        "κα",
        "κος",
        "κυριος",
        "κυρια",
        "heer",
        "mevrouw",
        "meneer",
        "sayin",
        "thay",
        "pak",
        "bu",
        "bapak",
        "ibu",
        "chi",
        "ong",
        "mm",
        "mmes",
        "monsieur",
        "madame",
        "mademoiselle",
        "senor",
        "senora",
        "senorita",
        "senhor",
        "senhora",
        "signorina",
        "fru",
        "herrn",
        "doamna",
        "domnul",
        "gospod",
        "gospa",
        "slecna",
    )
)
SHORT_TITLES = frozenset(
    ("dr", "mr", "ms", "hr", "fr", "pd", "ir", "ra", "mw", "ks", "δρ", "κα")
)  # without a dot as well
ARTICLES = word_set("le la les el los las il lo gli the der die das den de")
CAPITAL_TITLES = frozenset(
    ("HL", "DI", "CA", "BS", "WP", "ZA", "ZÄ", "Dª")
)  # a Finnish dentist, an Austrian engineer …
# Given names that are ordinary words in other languages; they need evidence beside them.
GIVEN_ELSEWHERE = word_set("per dan dane art avril tage uma love")
# Before these endings they are given names: Per Olsgård. Not: Per Fax, Dane Kontaktowe.
FAMILY_ELSEWHERE = re.compile(
    r"[^\W\d_]{3}(?:gard|gaard|lund|berg|dahl|strom|vik|holm|[qk]u?vist|gren|haug|moen|bakken|rud|sson)$"
)
MAX_NAME = 60

# Latin, Greek and Cyrillic capitals: the alphabets that have them.
CAPITAL = "".join(chr(code) for code in range(0x41, 0x530) if chr(code).isupper())
SMALL = "".join(chr(code) for code in range(0x61, 0x530) if chr(code).islower())
# Titles with accents and without; n. med. is Polish for a doctor of medicine.
_WRITTEN_TITLES = {*TITLES, *(word.rstrip(".") for word in load_words("people", "titles"))}
_SMALL_WORDS = grouped_alternatives([*PARTICLES, *(word for word in _WRITTEN_TITLES if len(word) > 1)])
_DOTTED_TITLES = grouped_alternatives([word for word in _WRITTEN_TITLES if len(word) > 6 or not word.isalpha()])
# Each word is matched in one way only: by a capital, as most, an abbreviation with its dot, a title or particle before
# a space.
_WORD_OF_NAME = (
    rf"(?:[{CAPITAL}][\w'’.-]{{0,40}}|[{SMALL}]{{1,6}}\.(?=\s|$)|(?:{_SMALL_WORDS}|o[gğ]lu|q[ıi]z[ıi])(?=[\s,]|$)"
    rf"|(?:{_DOTTED_TITLES})\.|d['’][{CAPITAL}][\w'’-]{{1,30}})"
)
# A quick check for a name at the beginning: capitalised words, titles and particles up to the end of the text or to a
# sign that can follow a name; credentials may follow a comma.
NAME_START = re.compile(rf"{_WORD_OF_NAME}(?:\s{_WORD_OF_NAME}){{0,8}}(?=$|\s?[,:(–—―]|\s[-|])")
WORD_BREAK = re.compile(r"[-/'’.]")
NAME_WORD = re.compile(r"(?:[^\W\d_]\.){1,3}(?:[^\W\d_][\w'’-]{1,25})?|[^\W\d_](?:[\w'’-]{0,25}[^\W\d_])?\.?")
INITIAL = re.compile(r"(?:[^\W\d_]\.?-?){1,2}\.?")
GLUED_INITIAL = re.compile(r"(?:[^\W\d_]\.){1,3}[^\W\d_]{2}")
GLUED_TITLE = re.compile(
    r"\b(Dr|Dra|Prof|Rev|med|dent|vet|Mag|Ing|Dipl|Univ|jur|phil|rer|nat|Hr|Fr|Mr|Mrs|Ms|Sr|Sra|Avv|Dott|lek|mgr|inż)\.(?!(?:ssa|ra|ri|na|ta|a|ª)\b)(?=[^\s.,-])"
)
FAMILY_ENDING = re.compile(
    r"(?:sk[iya]|ck[iya]|icz|czyk|czak|ova|eva|ovic|evic|enko|chuk|yan|dze|shvili|poulos|idis|akis|opoulou|nen|sson|sen"
    r"|sdottir|escu|eanu|ez|oglu|elli|etti|ini|auskas|iene|ов|ова|ев|ева|ин|ина|ски|ска|ський|ська|ич|енко|чук|ук|юк|єнко|ян|берг|berg|mans|mann|feld|hardt|stein|bauer|meier|maier|mayer|huber)$"
)


CYRILLIC_FAMILY = re.compile(r"(?<=[^\W\d_]{3})(?:ов|ова|ев|ева|енко|ский|ская|чук|дзе|швили)$")
# Franz Roe sen., Tomáš Roe ml.: the elder or the younger of a family.
ELDER_OR_YOUNGER = re.compile(r"\s(?:sen|jun|sr|jr|ml|st)\.?$", re.I)
# Szűcsné dr. Roe Réka: the title of a wife stands behind the name of her husband.
TITLE_OF_WIFE = re.compile(r"(?<=né) dr\. (?=[^\W\d_a-z])")
# Мария Сергеевна, Ivan Petrovich, Rəşad oğlu: the name of the father, so the word before it is a given name.
VIETNAMESE_MIDDLE = frozenset(("Thị", "Văn"))
PATRONYMIC = re.compile(
    r"(?:(?:ов|ев|ёв)(?:ич|на)|(?:ьич|иничн|ильичн)а?|(?:ів|їв)на|(?:ов|йов|ев)ич|овна|евна|[oei]v(?:ich|ych|na)"
    r"|оглы|кызы|қызы|улы|ұлы|qizi|ogly|oglu|kyzy)$"
)
TWO_INITIALS = re.compile(r"[^\W\d_]\.-?[^\W\d_]\.")
MIN_FAMILY = 2
MIN_WITH_ENDING = 7  # letters of a family name with the ending of one, which begins as a role does
MAX_FORM = 4  # words
MAX_PLAIN_WORD = 27  # letters that NAME_WORD takes
MAX_SYLLABLES, MAX_SYLLABLE = 4, 6  # of a Vietnamese name, and their letters
MAX_PLACE_OR_FAMILY = 4  # words
MIN_SENTENCE_END = 4  # letters and dot: a shorter word is an abbreviation
MIN_ACRONYM, MAX_ACRONYM = 3, 5
CHILD_WORDS = frozenset(("oglu", "qizi", "ogly", "kyzy", "оглы", "кызы"))  # Rauf oğlu: son of Rauf
# Av., Uzm., Dipl.-Ing.: an abbreviation in front of two more words is a title, whatever the language.
ABBREVIATION = re.compile(r"[^\W\d_]{2,6}\.(?:-?[^\W\d_]{1,6}\.?){0,3}")
NOT_TITLES = load_words("people", "not_titles")
# Behind a comma: F.A.C.S., MRCVS, M.Ed.: a credential by its form.
CREDENTIAL_FORM = re.compile(
    r"(?:[^\W\d_]{1,4}\.){1,5}[^\W\d_]{0,4}|[A-ZÀ-Þ][A-ZÀ-Þa-z&-]{0,3}[A-ZÀ-Þ]{1,4}"
    r"|[BMD](?:Phil|Pharm|Ed|Sc|Eng|Arch|Psych|Com|Med)"
)


BRACKETS = re.compile(r"\([^()]{1,30}\)")
VIETNAMESE_ADDRESS = frozenset(("Cô", "Thầy", "Chị", "Anh"))
# Titles of two words in front of a Vietnamese name: Luật sư Nguyễn Thị Bích Ngọc.
VIETNAMESE_TITLE = re.compile(
    r"(?:(?:Luật|Bác|Tiến|Thạc|Giáo|Kiến trúc|Kỹ|Dược|Nha|Nghệ|Cử|Y)\s(?:sư|sĩ|sỹ|nhân)\.?\s"
    r"|(?:Cô|Thầy|Chị|Anh)\s(?:giáo\s)?){1,3}(?=[^\W\d_])"
)


@lru_cache(8192)
def parse_name(text: str) -> Name | None:
    """Return the name that the whole text is, or None."""
    if not 2 < len(text) <= MAX_NAME + 40:
        return None
    if text[-1] in ".rntl" and text[-4:].strip(".").islower():
        text = ELDER_OR_YOUNGER.sub("", text)
    if "né dr. " in text:
        text = TITLE_OF_WIFE.sub(" ", text)
    phrase = VIETNAMESE_TITLE.match(text) if not text.isascii() else None
    spoken = phrase[0].split() if phrase is not None else []
    text = text[phrase.end() :] if phrase is not None else text.removeprefix("The ")
    if spoken and spoken[0] not in VIETNAMESE_ADDRESS and not _begins_name(text):
        return None  # Bác sĩ Răng Hàm Mặt: a dentist
    if NAME_START.match(text) is None:
        return None
    text, _, behind = text.partition(",")
    words = text.split()
    credentials = behind.strip()
    if credentials and not _are_credentials(credentials):
        if not _is_given_behind(words, credentials.split()):
            return None
        words, credentials = [*credentials.split(), *words], ""
        text = " ".join(words)
    if not _may_be_name(words):
        return None
    if "." in text:
        words = split_glued_titles(text)
    if len(words) > 9:
        return None
    titles, words = _split_titles(words)
    titles = [*spoken, *titles]
    while len(words) > 1 and _is_credential(words[-1]):
        credentials = f"{words.pop()} {credentials}".strip()
    if words[-1][-1] == "." and len(words[-1]) > MIN_SENTENCE_END and words[-1].count(".") == 1:
        words[-1] = words[-1][:-1]  # the end of a sentence
    folded = tuple([fold_word(word).strip(".") for word in words])
    if not _has_name_form(words, folded):
        return None
    if len(folded) == 1 and not titles and folded[0] not in GIVEN:
        return None  # a single word must be a known given name
    if len(words) == 1 and words[0].isupper() and _is_credential(words[0]):
        return None  # dipl. Arch. ETH
    if len(folded) == 2 and (folded[0] == folded[1] or _is_abbreviated_term(words)):
        return None  # two buttons; P. IVA
    if "in" in words and words[words.index("in") + 1 :][0][0].isupper():
        return None  # Avvocata in Bologna; but Jan in 't Veld
    score = _score(words, folded, titles, credentials)
    return Name(" ".join(words), folded, " ".join(titles), credentials, score) if score > -0.5 else None


def _begins_name(text: str) -> bool:
    first = text.partition(" ")[0]
    return fold_word(first) in VIETNAMESE or is_given_name(first)


def name_by_form(text: str) -> Name | None:
    """Return two to four capitalised words as a name, whatever the words: for a place where only names stand."""
    words = text.split()
    folded = tuple([fold_word(word).strip(".") for word in words])
    if not 2 <= len(words) <= MAX_FORM or not _has_name_form(words, folded) or not ORGANISATIONS.isdisjoint(folded):
        return None
    return Name(text, folded, "", "", 0.0)


def _is_abbreviated_term(words: list[str]) -> bool:
    """Return whether an initial stands before an acronym: P. IVA, C. F."""
    return (
        len(words[1]) <= MIN_ACRONYM
        and words[1].isupper()
        and _is_initial(words[0])
        and fold_word(words[1]) not in FAMILY
    )


def _is_given_behind(family: list[str], given: list[str]) -> bool:
    """Return whether a name is written with the family name first: Roe, Anna. Not: Berlin, Potsdam; Anna, Berta."""
    if (
        not 1 <= len(family) <= 2
        or len(given) > 2
        or (_is_listed(plain := fold_word(family[0]), GIVEN) and plain not in FAMILY)
    ):
        return False
    return all(word[:1].isupper() and fold_word(word).strip(".") in GIVEN for word in given)


def _may_be_name(words: list[str]) -> bool:
    """Check the first and the last word quickly: most capitalised lines are headings with ordinary words."""
    if not words:
        return False
    first = fold_word(words[0]).strip(".")
    if len(words) == 1 and (
        (first not in GIVEN and "." not in words[0])  # neither a given name nor a title glued to a name
        or (len(words[0]) < 5 and words[0].isupper())
    ):
        return False
    if len(words) == 3 and words[1] in VIETNAMESE_MIDDLE:
        return True
    if first in TITLES or (len(words) > 2 and _is_abbreviation(words[0])):
        return True
    last = fold_word(words[-1]).strip(".")
    if _is_behind_particle(words) and first in GIVEN:
        return True
    if first in ORGANISATIONS or (last in ORGANISATIONS and not (last in PLACE_OR_FAMILY and first in GIVEN)):
        return False
    if _is_vietnamese(words, first):
        return True
    is_month = first in GIVEN and (
        _is_given_elsewhere(first, last)
        or _is_known(last)
        or not words[0].isascii()
        or any(map(_is_initial, words[1:-1]))
    )
    if first in ORDINARY and len(first) > 1 and not is_month:
        return False  # Julio C. Roe, but not Julio Verano
    return last not in ORDINARY or len(last) == 1 or last in FAMILY or last in PLACE_OR_FAMILY


def _is_vietnamese(words: list[str], first: str) -> bool:
    """Return whether three or four syllables with an accent begin with a Vietnamese family name: Mai Khánh Vy."""
    return (
        first in VIETNAMESE
        and 3 <= len(words) <= MAX_SYLLABLES
        and not " ".join(words).isascii()
        and all(len(word) <= MAX_SYLLABLE and word[0].isupper() for word in words)
    )


def _is_behind_particle(words: list[str]) -> bool:
    """Return whether the last word is a family name by the particle before it: Ingrid van der Laan."""
    return len(words) > 2 and not FAMILY_PARTICLES.isdisjoint(words[1:-1])


def has_patronymic(name: Name) -> bool:
    """Return whether the last word of a name is that of the father: Maria Sergeevna."""
    return PATRONYMIC.search(name.words[-1]) is not None


def has_patronymic_inside(name: Name) -> bool:
    """Return whether a word of a name behind the first is that of the father: Inga Borisovna Orlova."""
    return any(PATRONYMIC.search(word) for word in name.words[1:])


def is_family_name(word: str) -> bool:
    """Return whether a word is a known family name or has the ending of one."""
    folded = fold_word(word)
    return folded in FAMILY or FAMILY_ENDING.search(folded) is not None


def is_given_name(word: str) -> bool:
    """Return whether a word or a part of it is a known given name: Gerrit-Jan."""
    return _is_listed(fold_word(word), GIVEN)


@lru_cache(8192)
def is_role(text: str) -> bool:
    """Return whether a short text names a role."""
    if len(text) > 160:
        return False
    words = [word for word in map(fold_word, WORD.findall(text)) if is_role_word(word)]
    if words and (TURKISH_LETTER.search(text) is None or any(word in TURKISH_ROLES for word in words)):
        return True
    if text.isascii():
        return False
    lowered = text.lower()
    if any(phrase in lowered for phrase in ROLE_PHRASES):
        return True
    if UNCASED_LETTER.search(text) is None:
        return False
    from scrapersky.extract.people.uncased.names import is_uncased_role  # tables that few pages need

    return is_uncased_role(text)


@lru_cache(8192)
def is_role_word(word: str) -> bool:
    """Return whether a folded word, or a part of it between slashes or hyphens, names a role."""
    if word in ROLES:
        return True
    if word.isalpha():
        return False
    return any(part in ROLES for part in WORD_BREAK.split(word) if len(part) > 2)


def split_glued_titles(text: str) -> list[str]:
    """Return the words of a text, with a title separated from the name behind it: Dr.Roe."""
    return GLUED_TITLE.sub(r"\1. ", text).split()


def _split_titles(words: list[str]) -> tuple[list[str], list[str]]:
    """Split the titles in front of the name from the name."""
    count = 0
    while count < len(words) - 1 and (
        (is_title(words[count]) and words[count + 1] not in VIETNAMESE_MIDDLE)  # Ông Thị Cẩm: a family name
        or (words[count] == "Me" and count < len(words) - 2 and is_given_name(words[count + 1]))  # maître
        or (count < len(words) - 2 and (_is_abbreviation(words[count]) or _is_unknown_title(words, count)))
    ):
        count += 1
    if count and count == len(words) - 1 and fold_word(words[count - 1]) in GIVEN and words[count - 1][0].isupper():
        count -= 1  # Sri Wahyuningsih: a title elsewhere, a given name before a single word
    return words[:count], words[count:]


def _is_unknown_title(words: list[str], at: int) -> bool:
    """Return whether letters before a known given name are a title: C.P. with dots, DGKP."""
    word, behind = words[at], words[at + 1]
    if word in ("H.", "Hj.") and at and is_title(words[at - 1]):
        return True  # Bapak H. Slamet Riyadi: haji
    if at and word[-1] == "." and word.islower() and is_title(words[at - 1]):
        return True  # Mag. art. Lukas Roe
    if word == "p." and is_given_name(behind):
        return True  # Polish pan, pani
    if word == "D." and at + 3 < len(words):
        return is_given_name(behind)  # don, before a given and two family names
    is_dotted = word.count(".") > 1 and INITIAL.fullmatch(word) is not None
    is_acronym = (
        word.isupper() and 2 < len(word) <= MAX_ACRONYM and not behind.isupper() and not _is_known(fold_word(word))
    )
    if word.isupper() and word.isalpha() and 1 < len(word) <= MAX_ACRONYM and behind[-1] == "." and is_title(behind):
        return True  # AL Mag. Robert Roe: the head of an office
    is_vietnamese = is_acronym and not behind.isascii() and fold_word(behind) in VIETNAMESE  # BS. CKI Trần Thị Roe
    return (is_dotted or is_acronym) and (is_given_name(behind) or is_vietnamese) and fold_word(behind) not in ARTICLES


def _is_abbreviation(word: str) -> bool:
    if "." not in word:
        return False
    plain = fold_word(word).partition(".")[0]
    return ABBREVIATION.fullmatch(word) is not None and plain not in NOT_TITLES and plain not in ORGANISATIONS


@lru_cache(4096)
def is_title(word: str) -> bool:
    """Return whether a word is a title: Dr., mgr, Frau, Pastor … A single M or H is a title only with its dot."""
    folded = fold_word(word).rstrip(".")
    if folded not in TITLES:
        return False
    is_short = len(folded) <= 2 and folded not in SHORT_TITLES
    return not is_short or word.endswith(".") or word in CAPITAL_TITLES


def _are_credentials(text: str) -> bool:
    """Return whether every word behind the comma of a name is a credential, one of them a known one or a long list."""
    words = text.replace(",", " ").split()
    return all(_is_credential(word) or CREDENTIAL_FORM.fullmatch(word) is not None for word in words)


@lru_cache(4096)
def is_credential_line(text: str) -> bool:
    """Return whether a line has nothing but degrees and memberships: MBBS, MS, FRCS."""
    return (
        len(text) <= MAX_NAME * 2
        and any(map(_is_credential, (plain := BRACKETS.sub("", text)).replace(",", " ").split()))
        and _are_credentials(plain)
    )


@lru_cache(4096)
def _is_credential(word: str) -> bool:
    plain = word.strip(".,()").replace(".", "").lower()
    return plain in CREDENTIALS and (word[:1].isupper() or "." in word or not word.isascii())


def _has_name_form(words: list[str], folded: tuple[str, ...]) -> bool:
    """Return whether these are one to five capitalised words, perhaps with particles in lower case between them."""
    if not 1 <= len(words) <= 6 or len(" ".join(words)) > MAX_NAME:
        return False
    if folded[0] in PARTICLES and words[0][0].islower():
        return False
    if not _is_capitalised(words[-1]) and folded[-1] not in CHILD_WORDS:
        return False
    capitals = max_length = 0
    for word, plain in zip(words, folded, strict=True):
        max_length = max(max_length, len(plain))
        if (plain in PARTICLES or plain in CHILD_WORDS) and not word[0].isupper():
            continue
        if not _is_capitalised(word) or not _is_name_word(word) or (capitals and _ends_sentence(word, words[-1])):
            return False
        capitals += 1
    return 1 <= capitals <= 5 and max_length > 1


def _ends_sentence(word: str, last: str) -> bool:
    """Return whether a sentence ends inside the text: Jane Roe. Photos."""
    return word[-1] == "." and len(word) > MIN_SENTENCE_END + 1 and word is not last and word.count(".") == 1


def _is_capitalised(word: str) -> bool:
    return word[0].isupper() or (word[1:2] in ("'", "’") and word[2:3].isupper())  # d'Ávila


def _is_name_word(word: str) -> bool:
    return (len(word) <= MAX_PLAIN_WORD and word.isalpha()) or NAME_WORD.fullmatch(word) is not None


def _is_initial(word: str) -> bool:
    may_be_one = len(word) <= 2 or "." in word or "-" in word
    return may_be_one and INITIAL.fullmatch(word) is not None


def _score(words: list[str], folded: tuple[str, ...], titles: list[str], credentials: str) -> float:
    """Score the words: given names and titles count for a person, ordinary words against one."""
    first, last = folded[0], folded[-1]
    given = _is_listed(first, GIVEN)
    family = _is_listed(last, FAMILY) or FAMILY_ENDING.search(last) is not None
    if not given and len(folded) > 1 and _is_listed(last, GIVEN) and _is_listed(first, FAMILY):
        given = family = True  # family name first
    if not given and not family and len(folded) == 2 and last in GIVEN and last not in FAMILY:
        family = not " ".join(words).isascii()  # Lőkös Marianna
    if not given and not family and len(folded) == 2 and CYRILLIC_FAMILY.search(first):
        family = True  # Мырзабеков Әділет: the family name first, and a given name of no list
    if len(folded) > 2 and (PATRONYMIC.search(last) or PATRONYMIC.search(folded[-2])):
        given = family = True  # Petrova Maria Sergeevna, Maria Sergeevna Petrova
    if len(words) > 2 and words[1] in VIETNAMESE_MIDDLE:
        return 0.4  # Mai Thị Sương
    if _is_vietnamese(words, first):
        return 0.4
    if not given and len(folded) > 1 and first in VIETNAMESE and not " ".join(words).isascii():
        given = family = True  # the family name first, and syllables that are in no list
    is_particled = given and _is_behind_particle(words)
    is_place_or_family = given and last in PLACE_OR_FAMILY and len(folded) < MAX_PLACE_OR_FAMILY
    others = folded[:-1] if is_particled or is_place_or_family else folded
    if not titles and (_any_listed(others, ORGANISATIONS) or _begins_with_acronym(words, first, last)):
        return -1
    ordinary = _any_listed(others, ORDINARY) and _ordinary_words(words[: len(others)], others)
    is_sure = given and (family or any(map(_is_initial, words[1:-1])))
    is_sure = is_sure or (_is_given_elsewhere(first, last) and ordinary == [first])
    if ordinary and not titles and not (is_sure and all(_is_known(word) for word in ordinary)):
        return -1
    is_turkish = TURKISH_LETTER.search(" ".join(words)) is not None
    in_roles = [index for index, plain in enumerate(folded) if is_role_word(plain) and not _is_wife(words[index])]
    in_roles = [index for index in in_roles if not is_turkish or folded[index] in TURKISH_ROLES]
    roles = [index for index in in_roles if index]
    # Bakermans, but not Orgelbauer
    has_ending = len(last) > MIN_WITH_ENDING and FAMILY_ENDING.search(last) is not None and not ROLES.has_suffix(last)
    is_family = last in FAMILY or has_ending
    if (0 in in_roles and not given) or (roles and (first in ARTICLES or not (given and is_family))):
        return -1
    score = 0.3 * given + 0.1 * family - 0.1 * (not given and not family)
    if (roles or ordinary or is_place_or_family) and not titles:
        score -= 0.2  # James Baker may be a person; other evidence is needed
    initials = [word for word in words if _is_initial(word)]
    if len(words) > 1 and len(words[0]) > MIN_FAMILY and TWO_INITIALS.fullmatch("".join(words[1:])):
        score = 0.2  # Petrova A. V.
    elif len(words) > 1 and _is_initial(words[-1]):
        score -= 0.15  # Maria S. is the form of reviewers' names
    elif initials and len(words) > len(initials):
        score += 0.1
    if len(folded) == 1 and not GLUED_INITIAL.match(words[0]):
        score -= 0.25
    if any(is_title(title) and fold_word(title).rstrip(".") not in COURTESY_TITLES for title in titles):
        score += 0.66 if len(folded) > 1 else 0.45  # Dr. and any two words are a person
    elif titles:
        score += 0.3
    return score + (0.25 if credentials else 0)


def _is_given_elsewhere(first: str, last: str) -> bool:
    return first in GIVEN_ELSEWHERE and FAMILY_ELSEWHERE.search(last) is not None


def _is_wife(word: str) -> bool:
    """Return whether a Hungarian word is the name of a husband with the ending for a wife: Kertészné Roe Réka."""
    return word.endswith("né") and word[0].isupper()


def _begins_with_acronym(words: list[str], first: str, last: str) -> bool:
    """Return whether the first word is an acronym: USAMV Cluj. Not: ROUX Jean."""
    if not words[0].isupper() or not 2 <= len(words[0]) <= MAX_ACRONYM or words[-1].isupper() or "." in words[0]:
        return False
    return not _is_known(first) and last not in GIVEN


def _ordinary_words(words: list[str], folded: tuple[str, ...]) -> list[str]:
    """Return the ordinary words; one that is a given name with its accents is none: Pär, not par."""
    return [
        plain
        for word, plain in zip(words, folded, strict=True)
        if plain in ORDINARY
        and len(plain) > 1
        and plain not in PARTICLES
        and not (not word.isascii() and plain in GIVEN)
    ]


def _is_known(word: str) -> bool:
    return word in GIVEN or word in FAMILY


def _any_listed(words: tuple[str, ...], listed: frozenset[str]) -> bool:
    """Return whether a word other than a particle or an initial is listed."""
    return not listed.isdisjoint(words) and any(
        word in listed and len(word) > 1 and word not in PARTICLES for word in words
    )


def _is_listed(word: str, names: frozenset[str]) -> bool:
    if word in names:
        return True
    return not word.isalpha() and any(part in names for part in WORD_BREAK.split(word) if len(part) > 2)
