"""Roles as texts: what a line beside a name says, without labels, addresses and sentences."""

import re
from functools import lru_cache

from scrapersky.extract.document.context import WORD, folded_words
from scrapersky.extract.document.model import DIGIT, SIX_DIGITS
from scrapersky.extract.people.names import is_credential_line, is_role
from scrapersky.extract.people.seniority import title_meaning
from scrapersky.extract.text import fold
from scrapersky.extract.word_lists import alternatives, load_table, load_words

MAX_ROLE = 200
MAX_TITLE_WORDS = 12
MAX_TWO_ROLES = 6  # words
MAX_CUSTOMER = 40
SENTENCE_WORDS = load_words("people", "sentence")
OUR_WORDS = load_words("people", "sentence", "our")
LABELS = load_words("people", "role_label")
SINCE = load_words("people", "customers", "since")
CUSTOMERS = load_words("people", "customers")
NO_LETTER = re.compile(r"[\d\s!-/:-@\[-`{-~]")
POSTAL_LINE = re.compile(r"(?<!\d)\d{4,6}(?!\d)|\d-\d{1,4}(?:-\d|$)")
MAX_EDUCATION = 110
MAX_SHORT_ROLE = 3
MIN_TITLE_WORD = 3  # letters of the longest word of a title in small letters
# Parts of words about studies, folded.
EDUCATION = re.compile(
    r"universit|uniwersyt|univerzit|universid|egyetem|университет|університет|absolwent|absolvent|graduate|licenciad|laurea"
    r"|titulad|promoti|rocznik|mezunu|выпускник|окончил|akademi|faculty of|facult|ecole(?<=\becole)\b|studied|alumn"
    r"|stopien|uczen|eleve de|colegiul|liceul|hochschule|promovier|studium|specjalizacji|usamv"
    r"|지도교수|연수|수료|指導教|导师|導師|卒業|毕业|畢業|大学|大學|졸업|대학교|جامع|خريج|בוגר|אוניברסיט|دانشگاه|كلية|विश्वविद्यालय|বিশ্ববিদ্যালয়|มหาวิทยาลัย"
)
CONJUNCTION = re.compile(r"(?:und|and|et|y|e|i|oraz|sowie|och|og|ja|en|a|и)\s", re.I)
HIDDEN_ADDRESS = "[email"  # Cloudflare writes it in place of a hidden address

# The start of an address, a web site or a number behind a role.
CONTACT_BEHIND_ROLE = re.compile(r"\S{0,80}@|\bwww\.|[+(]?\d(?:\D{0,4}\d){5}")
# The label of a number that was cut off: …, tel. kom.
TRAILING_LABEL = re.compile(
    r"(?:[\s,;|(–-]{1,3}(?:tel|telefon|phone|s|sími|símar|mob|mobil|mobile|gsm|kom|cell|cel|puh|tlf|tfn|fax|e-?mail|mail|web)\b[.:]{0,2}){1,3}\s?$",
    re.I,
)
# The number of a register behind a role: Director – CRM 21877; Physiotherapist (HCPC PH88412).
REGISTER_BEHIND = re.compile(
    r"[\s,(|–—-]{1,3}(?:[A-ZÀ-ÞА-Я]{2,8}[\s./:-]{0,3}){1,2}(?:[Nn][or°º.]{1,2}\s?)?(?:[A-Z]{1,3}[\s-]?)?\d[\d./-]{2,12}(?:[/-]?[A-Z])?\)?$"
)
# The same before a role: CRO-SP 21877 | Physiotherapist.
REGISTER_BEFORE = re.compile(
    r"[A-ZÀ-ÞА-Я]{2,8}(?:[\s./-][A-Z]{1,3})?[\s./:-]{1,3}\d[\d./-]{2,12}(?:-?[A-Z])?\s?[|–—·•,-]\s?(?=[^\W\d_])"
)
REGISTER = re.compile(r"[A-ZÀ-ÞА-Я]{2,8}(?:[\s./-][A-Z]{2})?[\s:.nNºo°]{0,4}\d[\d./-]{3,12}(?:-?[A-Z])?")
_AT = alternatives(load_table("emails")["obfuscation"]["at"].split())
# umělecký šéf, roe [zavináč] divadlo [tečka] cz
SPELLED_ADDRESS = re.compile(
    rf"[\s,;:–-]{{1,3}}[\w.+-]{{2,40}}\s?[\[({{]\s?(?:{_AT})\s?[\])}}]\s?[\w-]{{2,40}}\s?(?:\.|[\[({{]).{{0,80}}$",
    re.I,
)
REPRESENTED_BY = re.compile(
    r"(?:vertreten durch|vertretungsberechtigt\w{0,3}|represented by|représentée? par|rappresentat[oa] da)"
    r"\s?:?\s?(?:den|die|der|das|the|le|la)?\s?",
    re.I,
)
# Not a title, but what one can ask about: For bookings: Jane Roe.
SUBJECT = re.compile(
    r"(?:For|Für|Pour|Per|Para|Voor|För|Pentru|За|Для|Για|Untuk|Dla|Pro|Zur|Zum|Bei)\s(?=\w)"
    r"|(?:לפרטים|לבירור|לבירורים|לתיאום|להזמנות|להרשמה|לפניות|לשאלות|לקביעת)\s"
    r"|(?:للاستفسار|للحجز|للتواصل|لحجز)\s|.{1,60}(?:हेतु|के लिए|জন্য|\siçin)$"
)
ARTICLE = re.compile(r"^(?:The|Les?|La|Los|Las|El|Il|Gli|Der|Die|Das)\s(?=\w)")
ONLY_THEN = re.compile(
    r"(?:nur|only|solo|só|apenas|seulement|uniquement|alleen|tylko|pouze|iba|csak|doar|numai|vain|ainult|endast|bara|bare|kun|только|лише|само|μόνο|yalnızca|sadece)\s",
    re.I,
)
CLAUSE = re.compile(r"[^.,;:!?()–|]{3,100}")
LABEL = re.compile(r"^([^\W\d_][\w .-]{1,20})\s?[:：]\s?(?=\S)")
# Paul is an osteopath whose …: the words behind the verb and the article, up to the next clause.
IS_A = re.compile(
    r"(?:(?:\bis|\bwas|['’]s|\bhas been|\b(?:works|serves) as)\s(?:also\s|currently\s)?(?:an?|the|our)\s"
    r"|(?:\bist|\barbeitet als)\s(?:auch\s)?(?:eine?|unsere?|der|die|gelernter?|ausgebildeter?)\s"
    r"|\best\s(?:une?\s|notre\s|la\s|le\s)?|\bes\s(?:una?\s|nuestr[oa]\s|la\s|el\s)?|\bè\s(?:una?\s|il\s|la\s)?"
    r"|\bé\s(?:uma?\s|a\s|o\s)?|\bis\s(?:een|onze|de)\s|\b(?:är|er)\s(?:en\s|ett\s|et\s|vår\s|vores\s)?|\b(?:jest|je|on)\s)"
    r"(?P<role>[^\W\d_][\w'’-]{2,30}(?:\s[^\W\d_][\w'’-]{1,30}){0,3})"
)
NEXT_CLAUSE = re.compile(
    r"\s(?:who|whose|which|that|with|from|at|in|and|for|by|of|since|der|die|das|mit|aus|in|bei|und|seit|qui|dont|avec|de|du|à|et|depuis|que|con|en|y|desde|che|con|di|a|e|da|met|uit|bij|som|med|från|fra|z|w|od|s|v)\s.{0,200}$"
)


@lru_cache(4096)
def role_text(role: str) -> str:
    """Return a role without its label, and without the address or number behind it on the same line."""
    has_digit = DIGIT.search(role) is not None
    if "@" in role or "www." in role or (has_digit and SIX_DIGITS.search(role)):
        role = TRAILING_LABEL.sub("", CONTACT_BEHIND_ROLE.split(role, maxsplit=1)[0])
    role = role.partition(HIDDEN_ADDRESS)[0]
    if "[" in role or "(" in role:
        role = SPELLED_ADDRESS.sub("", role)
    if has_digit:
        role = REGISTER_BEHIND.sub("", REGISTER_BEFORE.sub("", role))
    label = LABEL.match(role)
    if label is not None and any(word in LABELS for word in folded_words(label[1])):
        role = role[label.end() :]
    if SUBJECT.match(role) is not None:
        return ""
    lowered = role.lower()
    if "vertret" in lowered or "sent" in lowered:
        role = REPRESENTED_BY.sub("", role)
    role = ARTICLE.sub("", role)
    sentence = role.partition(". ")[0]
    if sentence != role and not sentence[-1:].isdigit() and is_role(sentence) and not _has_senior(role, sentence):
        role = sentence  # Clinical director. Member no. 1234. But: Dipl. designer, apprentice in the 2. year
    return _balanced(role[:MAX_ROLE].strip(' ,;:：-–|/."“”„«»'))


def _has_senior(role: str, sentence: str) -> bool:
    """Return whether a few words behind the first sentence are a more senior role: Abogada. Socia fundadora."""
    return len(role.split()) <= MAX_TWO_ROLES and title_meaning(role).seniority < title_meaning(sentence).seniority


def _balanced(text: str) -> str:
    """Remove a bracket that has no partner."""
    for opening, closing in (("(", ")"), ("[", "]"), ("（", "）")):
        if text.count(opening) != text.count(closing):
            text = text.replace(opening, " ").replace(closing, " ")
        elif text.startswith(opening) and text.endswith(closing):
            text = text[1:-1]
    return " ".join(text.split()).strip(" ,;:-–|.")


@lru_cache(4096)
def is_sentence(text: str) -> bool:
    """Return whether a text is a sentence or longer than a title."""
    words = folded_words(text)
    if not OUR_WORDS.isdisjoint(words) or CONJUNCTION.match(text):
        return True
    count = len(text.split())  # the signs for vowels of India divide folded words
    if count < 4:
        return False
    if count > MAX_TITLE_WORDS or text[-1] in "!?…。！？" or (text[-1] == "." and count > 5):
        return True
    return count > 4 and not SENTENCE_WORDS.isdisjoint(words)


@lru_cache(4096)
def is_customer(text: str) -> bool:
    """Return whether a short text calls a person a customer: Client since 2019, patient."""
    words = folded_words(text) if len(text) <= MAX_CUSTOMER else ()
    if not words or words[0] not in CUSTOMERS:
        return False
    return len(words) == 1 or words[1] in SINCE or text[len(words[0]) :][:1] in tuple(",-–|/(")


@lru_cache(4096)
def is_title_line(text: str) -> bool:
    """Return whether a line can be the title of the person above: a few words, no contact, no degrees, no sentence."""
    if not 2 <= len(text) <= 90 or "@" in text or SIX_DIGITS.search(text) or text.endswith((":", "?", "!")):
        return False
    if text.startswith(("http", "www.", "[", "“", "„", "«", '"')) or len(NO_LETTER.findall(text)) > 0.4 * len(text):
        return False
    if is_education_line(text) or POSTAL_LINE.search(text) is not None:
        return False
    if ONLY_THEN.match(text) is not None:
        return False  # only on Tuesdays
    label = LABEL.match(text)
    if label is not None and not is_role_label(label[1]):
        return False  # Working days: Monday, Tuesday
    if text.islower() and text.isascii() and max(map(len, WORD.findall(text)), default=0) < MIN_TITLE_WORD:
        return False  # mo, tu, fr
    return len(text.split()) <= 9 and not is_sentence(text)


@lru_cache(4096)
def is_education_line(text: str) -> bool:
    """Return whether a line says where a person has studied: it stands between a name and a role."""
    if is_credential_line(REGISTER_BEHIND.sub("", text) if DIGIT.search(text) is not None else text):
        return True
    if text[-1].isdigit() and REGISTER.fullmatch(text) is not None:
        return True  # OAB/SP 000.117
    if len(text) > MAX_EDUCATION or EDUCATION.search(fold(text)) is None:
        return False
    return len(text.split()) > MAX_SHORT_ROLE or not is_role(text)  # Técnico Universitário


@lru_cache(4096)
def labelled_role(text: str) -> str:
    """Return the role of a line with its label, or "": Designation: Office Staff."""
    label = LABEL.match(text) if len(text) < MAX_EDUCATION else None
    return role_text(text) if label is not None and is_role_label(label[1]) else ""


@lru_cache(2048)
def is_role_label(text: str) -> bool:
    """Return whether a text labels a role: Position, سمت:."""
    words = folded_words(text) if len(text) < MAX_CUSTOMER else ()
    return bool(words) and LABELS.issuperset(words)


def role_in_sentence(text: str) -> str:
    """Return the role that a sentence about a person names: Paul is an osteopath whose … gives osteopath."""
    match = IS_A.search(text[:160])
    if match is None:
        return ""
    role = NEXT_CLAUSE.sub("", f"{match['role']} ").strip()
    return role if is_role(role) and not is_sentence(role) else ""


def first_clause(text: str) -> str:
    """Return the first clause of a longer text if it is a title, else the role that the sentence names, or ""."""
    clause = CLAUSE.match(text)
    first = clause[0].strip() if clause is not None else ""
    if first and is_role(first) and len(first.split()) <= 5 and not is_sentence(f"{first} {first}"):
        return first
    return role_in_sentence(text)
