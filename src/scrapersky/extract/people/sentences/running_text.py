"""Names in running text: behind a title or a role, before a role or a contact, of people who introduce themselves."""

import re
from collections.abc import Iterator
from itertools import islice

from scrapersky.extract.document.model import DIGIT
from scrapersky.extract.people.candidate import Name, NameCandidate
from scrapersky.extract.people.labels import is_team_heading
from scrapersky.extract.people.names import (
    ARTICLES,
    CAPITAL,
    ORGANISATIONS,
    PARTICLES,
    has_patronymic_inside,
    is_family_name,
    is_given_name,
    is_role,
    is_role_word,
    is_title,
    parse_name,
    split_glued_titles,
)
from scrapersky.extract.people.roles import NEXT_CLAUSE, OUR_WORDS, SENTENCE_WORDS, is_title_line
from scrapersky.extract.people.seniority import Seniority, title_meaning
from scrapersky.extract.people.sentences.work import (
    is_ambiguous_role,
    is_founder_of_before,
    is_of_long_ago,
    is_relative,
    is_work,
    role_of_work,
    says_work,
    words_before,
)
from scrapersky.extract.text import fold_word
from scrapersky.extract.word_lists import AffixSet, alternatives, load_table, load_words, word_set

MAX_IN_PROSE = 40
MAX_TITLES = 61
MAX_WORDS = 5  # of a name
# By first letters, each alternative with a single one, so that the search skips all other letters.
TITLE = re.compile(
    r"(?:Dra?|dra?|D(?:ipl|ott)|P(?:rof|hDr|astora?|farrer(?:in)?)|M(?:gr|UDr|DDr|VDr|ag|aître|me|rs?|s)|A(?:vv|dv)|F(?:ather|rau)"
    r"|JUDr|Ing|R(?:ev|ag)|Geom|Arch|Sensei|Herr|mgr|lek|inż|Д-р|д-р)\b\.?(?=[\s.]?[\s.]?[^\W\d_])"
)
AFTER_TITLE = re.compile(r"[^,;:()\[\]|•·\n\d\"“”„«»!?&/]{3,60}")
CAPITALISED_WORDS = re.compile(
    rf"[{CAPITAL}][\w'’-]{{1,30}}"
    rf"(?:\s(?:(?:v[ao]n\s(?:de[rn]?\s)?|de\s(?:la\s|los\s)?|zu|ter|da|di|del|dos|du|la|le)\s?)?[{CAPITAL}][\w'’-]{{1,30}}){{1,4}}"
)
BRACKET_BEHIND = re.compile(rf"(?P<name>{CAPITALISED_WORDS.pattern})\s\((?P<role>[^()]{{3,40}})\)")
# Jane Roe, our owner, … and: Our owner, Jane Roe, …
CLAUSE_BEHIND = re.compile(r",\s(?P<role>(?:[^,.;:!?()]|\.(?=\s?[a-zà-ÿ])){3,60})(?=\s?[,.;:)]|\s[–—-]\s|$)")
CLAUSE_BEFORE = re.compile(r"(?:^|[.,;:!?]\s)(?P<role>[^,.;:!?()]{3,50}),\s$")
# …, please speak to the vicar, Jane Roe.
ROLE_BEFORE = re.compile(rf"(?<!\w)(?:{alternatives(ARTICLES | OUR_WORDS)})\s(?P<role>[^\W\d_][^,.;:!?()]{{2,40}}),\s$")
COPULAS = word_set(
    "is are ist sind est sont es son è sono é são är er eru jest są je jsou su on ovat zijn este sunt είναι yra ir — –"
)
_IS = rf"\s(?:{alternatives(COPULAS)})\s"
COPULA = re.compile(_IS)
# The clerk is; today the owners are the brothers.
ROLE_IS = re.compile(rf"(?:^|[.,;:!?]\s)(?P<role>[^,.;:!?()]{{3,60}}?){_IS}(?:[^\W\d_A-Z][^\s,.]{{0,11}}\s){{0,2}}$")
WORKS_AS = re.compile(
    r"\s(?:(?:has |recently )?(?:joined|works|started|serves)(?:\s\w{2,8}){0,3}?\sas"
    r"|is|ist|est|es|è|é|är|er|jest|je|on)\s"
    r"(?:(?:an?|the|our|eine?|unsere?|der|die|une?|notre|le|la|una?|nuestr[oa]|el|il|vår|naszym?)\s)?"
    r"(?P<role>[^,.;:!?()]{3,40})(?=[,.;:!?]|\s)"
)
COURTESY_BEFORE = re.compile(
    r"(?<!\w)(?:Monsieur|Madame|M(?:me|lle|rs?|s)?|Herrn?|Frau|Se[nñ]ora?|Sra?|D(?:ra?|oña|on|ott|ott\.ssa|hr)|Sig(?:nora?|\.ra)?|Pani?|Fru|Mevr)\.?\s$"
)
MAX_COURTESY = 12
COURTESY_ENDINGS = frozenset("reuansig.")
MODIFIERS = AffixSet(load_table("people")["work"]["modifiers"].split())
WORDS_FOR_AND = word_set("und and et y e i ja og och en és și a и і ve & +")
MAX_AND = 5  # the longest of them, with the spaces around it
GIVEN_AND = re.compile(rf"(?<!\w)(?P<given>[{CAPITAL}][\w'’-]{{1,20}})\s(?:{alternatives(WORDS_FOR_AND)})\s$")
MAX_GIVEN_NAME = 24
SHORT_ROLE = re.compile(r"(?<![^\W\d_])([^\W\d_]{2,6})\.\s$")
MAX_SHORT_ROLE = 9
KNOWN = 0.3  # the score of a known given name
MAX_APPOSITION = 6  # words
ADJECTIVE_ENDINGS = ("sche", "schen", "scher", "sches", "schem")
MAX_OURS = 4  # words
THINGS = load_words("people", "others", "things")
NEXT_WORD = re.compile(rf"\s([^\W\d_{CAPITAL}][\w-]{{3,30}})(?=[\s,.;])")
LAST_WORD = re.compile(r"[^\W\d_][\w-]{1,30}\s$")
# Behind a name in running text: a number or an address after a few small words.
CONTACT_NEXT = re.compile(
    r"(?!,?\s\d{1,4}[a-z]?\s?[-–,]\s?\d{4,5}\s[^\W\d_])"  # the number of a house and a postal code
    r"[\s,(–:-]{1,3}(?:[^\W\d_A-Z][\w.'’-]{0,14}[.:]?\s){0,6}[(]?\s?(?:[\w.+-]{1,64}@|[+(]?\d[\d\s()/.-]{5,20}\d)"
)
# The words with which people introduce themselves, in lower case.
OWN_NAME = re.compile(
    r"(?<!\w)(?:name is|names are|hei(?:ß|ss)en?|namens|m['’]appelle|(?:me|nos) llam(?:o|amos)"
    r"|(?:mi|ci) chiam(?:o|iamo)|me chamo|meu nome é|heter|hedder|heiti|nazywam się|jmenuji se|volám sa"
    r"|(?:zovem|kazvam) se|казвам се|(?:меня|нас) зовут|мене звати|mă numesc|(?:nimeni|nimemme) on"
    r"|(?:mu|minu) nimi on|ad[ıi]m|με λένε|heet)\s$"
)
_I_AM = r"i am|i['’]m|ich bin|je suis|soy|io sono|eu sou|jestem|jag är|jeg er|ik ben|olen|jsem|vagyok"
I_ALONE_AM = re.compile(rf"(?<!\w)(?:{_I_AM})\s$")  # Behind "we are" a business may follow.
I_AM = re.compile(
    rf"(?<!\w)(?:{_I_AM}"
    r"|we are|we['’]re|wir sind|nous sommes|somos|siamo|jesteśmy|vi är|vi er|wij zijn|olemme|jsme"
    r"|vagyunk|suntem|сме|ми)\s$"
)
# The farm is run by Jane Roe: the verb and the preposition before the name.
RUN_BY = re.compile(
    r"(?<!\w)(?:(?:run|led|headed|managed|owned|directed|chaired) by"
    r"|(?:tenue?s?|dirigée?s?|gérée?s?|exploitée?s?|menée?s?) par"
    r"|(?:dirigid|regentad|gestionad|llevad|gerid|liderad|conduzid)[oa]s? por"
    r"|(?:gestit|dirett|guidat|condott)[oa]i?e? da(?:l|lla|i|gli|lle)?(?: [a-z]{4,10})?"
    r"|(?:gerund|geleid|geleidet|bestuurd) door|(?:drivs|leds|ägs|sköts) av|(?:drives|ledes|eies|ejes) a[vf]"
    r"|prowadzon[yae] przez|prowadzi|kieruje|vede|vedie|provozuje|vezeti|johtaa|pyörittää"
    r"|возглавляет|руководит|ведут?|ведёт|керує|очолює|condus[ăe]? de|(?:dikelola|dipimpin) oleh)\s$"
)
# Whom to ask: please contact Jane Roe, rivolgersi a Jane Roe.
_ASKED = load_table("people")["own_name"]["asked"]
ASK = re.compile(rf"(?<!\w)(?:{alternatives(_ASKED)})\s$")
ASKED_WORDS = frozenset(fold_word(phrase) for phrase in _ASKED if " " not in phrase)
LAST_BEFORE_ASKED = frozenset(phrase.split()[-1] for phrase in _ASKED)
LAST_BEFORE_OWN_NAME = load_words("people", "own_name", "last")
DETERMINERS = load_words("people", "sentence", "our") | ARTICLES
_AND = r"\s(?:und|and|et|y|e|i|a|ja|og|och|en|и|і|та|ve|și|és|&)\s"
_AND_OR = r"\s(?:und|and|et|y|e|i|a|ja|og|och|en|и|і|та|ve|și|és|&|or|oder|ou|o|oppure|of|eller|tai|lub|sau)\s"
AND_NEXT = re.compile(rf"{_AND}(?=[^\W\d_])")
# Between two names of one sentence: and; und seine Frau.
AND_BETWEEN = re.compile(rf"(?:,\s[^,.;:!?]{{3,40}},)?{_AND_OR}(?:[^\W\d_][^\s,.;:!?]{{0,14}}\s){{0,3}}")
# Before a name, with a capital: Hi, I'm Jane Roe. Hier erreichen Sie Jane Roe, where Sie is a given name elsewhere.
BEFORE_NAMES = frozenset(
    ("I'm", "I’m", "Sie", "Die", "Der", "Das", "Par", "Con", "Les", "Our", "Las", "Los", "El", "Il")
)
FROM_PLACE = word_set("from in at din aus bei fra från från iz z ze из с от uit ur ut at en dans u в у")
CONJUNCTIONS = word_set("und and et y e i ja og och en и і та ve si es a oraz sowie")


def behind_title(text: str, first: int) -> Iterator[NameCandidate]:
    """Yield the names behind a title in running text; the first title begins at `first`."""
    end = 0
    for match in islice(TITLE.finditer(text, first), MAX_TITLES):
        start = match.start()
        if start < end or (start and text[start - 1].isalnum()):
            continue
        behind = AFTER_TITLE.match(text, start)
        if behind is None:
            continue
        name = _longest_titled_name(behind[0])
        if name is not None and len(name.words) > 1:
            end = start + len(name.text)
            if is_of_long_ago(text, start, behind.start() + behind[0].find(name.text) + len(name.text)):
                continue
            yield NameCandidate(name, False, "")


def _longest_titled_name(text: str) -> Name | None:
    """Return the longest beginning of the text that is a name with a title."""
    words = split_glued_titles(text)[:9]
    stop = 0
    for word in words:
        if not (word[0].isupper() or is_title(word) or fold_word(word) in PARTICLES):
            break
        stop += 1
        if word.endswith(".") and len(word) > 4 and not is_title(word):
            break  # the sentence ends here
    for count in range(min(stop, 8), 1, -1):
        name = parse_name(" ".join(words[:count]).rstrip("."))
        if name is not None and name.title:
            return name
    return None


def in_prose(text: str, begin: int) -> Iterator[NameCandidate]:
    """Yield the names of running text with what the sentence says: our founder Jane Roe. Jane Roe runs the shop."""
    own_name_end = role_end = -1  # where the last introduced name ended, and the last one with a role
    last_role = ""
    may_have_contact = "@" in text or DIGIT.search(text) is not None
    for match in islice(CAPITALISED_WORDS.finditer(text, begin), MAX_IN_PROSE):
        written = _from_given_name(match[0])
        if not _may_have_name(written):
            continue
        start = match.end() - len(written)
        first = _start_of_introduced(text, start)
        bonus = _introduction_score(text, first) or (
            0.6 if own_name_end > 0 and _are_joined(text, own_name_end, start) else 0.0
        )
        if not bonus and may_have_contact and CONTACT_NEXT.match(text, match.end()) is not None:
            bonus = 0.4 if is_given_name(written.partition(" ")[0]) else 0.0  # Ask Jane Roe on 01234 56789
        name = parse_name(written) if bonus else None
        if name is not None and len(name.words) > 1:
            own_name_end = match.end()
            is_worker = says_work(text, start, match.end()) and _is_plain(name)  # the farm is run by Jane Roe
            if 0 < name.score < KNOWN and (
                first < start or I_ALONE_AM.search(text[max(0, start - 24) : start].lower())
            ):
                bonus = 0.5  # I am Jane Roe; we are Jane and John Roe
            score = max(name.score, 0.0) + bonus
            of_work = role_of_work(text, start, match.end()) if is_worker else ""
            role = _apposition(text, start, match.end()) or of_work
            yield NameCandidate(name._replace(score=score), False, role, is_known_role=False, does_work=is_worker)
            continue
        if start - role_end < 6 and (AND_NEXT.match(text, role_end) or text[role_end:start] == ", "):
            name, role = parse_name(written), last_role  # Our owners are Jane Roe and John Doe
        else:
            name, role = _name_with_role(text, written, start)
        if name is not None and role and len(name.words) > 1:
            role_end, last_role = match.end(), role
            yield NameCandidate(name, False, role)
        elif (worker := _worker(text, written, start)) is not None:
            own_name_end = match.end() if worker.does_work else own_name_end
            yield worker


def _are_joined(text: str, end: int, start: int) -> bool:
    """Return whether two names are joined: Jane Roe and her son John Roe. Not: Jane Roe and I founded Roe Roofing."""
    return AND_BETWEEN.fullmatch(text, end, start) is not None and not is_work(text[end:start].split()[-1])


def _may_have_name(written: str) -> bool:
    """Return whether capitalised words are a name, or are one without a role before it."""
    if parse_name(written) is not None:
        return True
    words = written.split()
    return len(words) > MAX_WORDS or (len(words) > 2 and is_role_word(fold_word(words[0])))


def _worker(text: str, written: str, start: int) -> NameCandidate | None:
    """Return a known name, or one of whom the sentence says what they do: the page decides whether they are a person.

    Nobody is returned beside a year of long ago: the founder of 1952.
    """
    words, end = written.split(), start + len(written)
    is_listed = is_given_name(words[0])
    first = _start_with_given_name(text, start) if is_listed else start
    does_work = is_relative(_word_before(text, first)) or says_work(text, first, end)
    if not (is_listed or does_work) or is_of_long_ago(text, first, end) or is_founder_of_before(text, words[0], end):
        return None
    name = parse_name(written)
    if name is None or len(name.words) == 1 or not (is_listed or _is_plain(name)):
        return None
    score = max(name.score, KNOWN * bool(name.title)) if does_work else min(name.score, KNOWN)
    role = (_apposition(text, start, end) or role_of_work(text, first, end)) if does_work else ""
    return NameCandidate(name._replace(score=score), False, role, is_known_role=False, does_work=does_work)


def _start_with_given_name(text: str, start: int) -> int:
    """Return where the names begin: Jane and John Roe."""
    given = given_name_before_and(text, start)
    return given.start() if given is not None and is_given_name(given["given"]) else start


def _start_of_introduced(text: str, start: int) -> int:
    """Return where the names begin of people who introduce themselves: We are Jane and John Roe."""
    given = given_name_before_and(text, start)
    return given.start() if given is not None and are_introduced(text, given) else start


def are_introduced(text: str, given: re.Match[str]) -> bool:
    """Return whether a couple introduces itself. Not a firm of two families: We are Walker & Miller Law."""
    second = text[given.end() :].partition(" ")[0]
    if "&" in given[0] or (is_family_name(given["given"]) and is_family_name(second)):
        return False
    return introduces_self(text, given.start())


def given_name_before_and(text: str, at: int) -> re.Match[str] | None:
    """Return the capitalised word with an "and" that ends here: Jane and."""
    last = text[max(0, at - MAX_AND) : at].split()[-1:]
    if not last or last[0] not in WORDS_FOR_AND:
        return None
    return GIVEN_AND.search(text, max(0, at - MAX_GIVEN_NAME - 6), at)


def with_brackets(text: str) -> list[NameCandidate]:
    """Return the names of a list with brackets in running text: Our team: Jane Roe (cook), John Doe (till)."""
    found = []
    for match in islice(BRACKET_BEHIND.finditer(text), MAX_IN_PROSE):
        name = parse_name(_from_given_name(match["name"]))
        if name is not None and len(name.words) > 1 and is_title_line(match["role"]):
            found.append(NameCandidate(name, False, match["role"], is_known_role=is_role(match["role"])))
    is_list = len(found) > 1 and (
        sum(one.is_known_role for one in found) * 3 >= len(found)
        or is_team_heading(text.partition(found[0].name.text)[0])
    )
    known = [one._replace(name=one.name._replace(score=max(one.name.score, 0.2) + 0.1)) for one in found]
    return known if is_list else []


def _from_given_name(written: str) -> str:
    """Return capitalised words from the given name on, with a role before it: Ask Jane Roe, Owner Jane Roe."""
    words = written.split()
    if len(words) > 2 and words[0] in BEFORE_NAMES:
        written = " ".join(words := words[1:])
    if is_given_name(words[0]):
        return written
    if len(words) > 2 and fold_word(words[0]) in ASKED_WORDS:
        return " ".join(words[1:])  # Email Jane Roe at
    first = next((i for i in range(1, len(words) - 1) if words[i][0].isupper() and is_given_name(words[i])), 0)
    if any(fold_word(word) in ORGANISATIONS for word in words[:first]):
        return written  # Museum Jane Roe
    if first and is_role_word(fold_word(words[first - 1])):
        first -= 1
    is_clear = first == 1 or words[first - 1].islower()
    return " ".join(words[first:]) if is_clear else written


def _name_with_role(text: str, written: str, start: int) -> tuple[Name | None, str]:
    """Return a name of running text with the role beside it; a name of no list only beside the head of a business."""
    words, end = written.split(), start + len(written)
    start = _start_with_given_name(text, start)
    if start > 1 and text[start - 2] in COURTESY_ENDINGS:
        courtesy = COURTESY_BEFORE.search(text[max(0, start - MAX_COURTESY) : start])
        start -= len(courtesy[0]) if courtesy is not None else 0  # his manager, Mr Jane Roe
    role = _apposition(text, start, end) or _role_of_clause(text, start) or _joined_as(text, end)
    before, behind = _role_phrase_before(text, start), _role_word_behind(text, end)
    if before.endswith(ADJECTIVE_ENDINGS):
        before = ""  # das psychiatrische Krisentelefon Nordnot
    is_adjacent = behind != "" or (before.islower() and not is_ambiguous_role(before.partition(" ")[0]))
    if not role:
        while len(words) > 2 and is_role_word(fold_word(words[0])):
            before = words.pop(0)  # German capitalises its nouns
        role = before or behind or _role_of_ours(text, start, end)
    name = parse_name(" ".join(words[:MAX_WORDS])) if role else None
    if name is None or is_of_long_ago(text, start, end):
        return None, ""
    is_known = name.score >= KNOWN or (name.score > 0 and has_patronymic_inside(name))
    is_ours = is_role(role) and _is_ours(text, start)
    if not is_known and is_given_name(words[0]) and name.score >= 0.1:
        return None, ""
    if not is_known and (start == 0 or not _is_plain(name) or not (is_adjacent or _is_head(role) or is_ours)):
        return None, ""
    return name._replace(score=max(name.score, KNOWN)), role


def _is_head(role: str) -> bool:
    return title_meaning(role).seniority <= Seniority.CHIEF


def _is_ours(text: str, at: int) -> bool:
    """Return whether the clause before a name says that the business has the role: Our foreman, Jane Roe."""
    before = CLAUSE_BEFORE.search(text[max(0, at - 60) : at])
    words = [fold_word(word) for word in before["role"].split()] if before is not None else []
    return not OUR_WORDS.isdisjoint(words[:2]) and not any(word in THINGS or is_ambiguous_role(word) for word in words)


def _role_of_ours(text: str, start: int, end: int) -> str:
    """Return the words of no list between "our" and a name, with commas around it: Notre maître de chai, Jane Roe, …"""
    if text[end : end + 1] != "," or text[start - 2 : start] != ", ":
        return ""
    before = CLAUSE_BEFORE.search(text[max(0, start - 60) : start])
    words = before["role"].split() if before is not None else []
    place = next((index for index, word in enumerate(words[:2]) if fold_word(word) in OUR_WORDS), -1)
    rest = words[place + 1 :] if place >= 0 else []
    if any(fold_word(word) in THINGS for word in rest):
        return ""  # Our sister company, Harlow Roofing, …
    return " ".join(rest) if 1 <= len(rest) <= MAX_OURS and rest[0].islower() else ""


def _is_plain(name: Name) -> bool:
    """Return whether a name of no list has the form of most names: two or three words, none in capitals."""
    return 2 <= len(name.words) <= 3 and not any(word.isupper() for word in name.text.split())


def _word_before(text: str, at: int) -> str:
    words = text[max(0, at - 40) : at].split() if text[at - 1 : at].isspace() else []
    before = LAST_WORD.search(f"{words[-1].rstrip(',')} ") if words else None  # my husband, John Roe
    return before[0].strip() if before is not None else ""


def _role_phrase_before(text: str, at: int) -> str:
    """Return the role directly before a name: the owner Jane Roe, dal capo officina Jane Roe; or ""."""
    if (
        text[at - 2 : at - 1] == "."
        and (short := SHORT_ROLE.search(text[max(0, at - MAX_SHORT_ROLE) : at])) is not None
    ):
        return short[1] if is_role_word(fold_word(short[1])) else ""  # Garage Roe, Inh. Jane Roe
    words = words_before(text, at, 3) if text[at - 2 : at - 1] != "," else []
    if words and words[-1] in LAST_BEFORE_ASKED:
        return ""  # for bookings please contact Jane Roe
    for index, word in enumerate(words):
        if is_role_word(fold_word(word)):
            rest = words[index:]
            if fold_word(rest[-1]) in FROM_PLACE:
                return ""  # social workers from Roeville
            is_phrase = len(rest) == 1 or (word.islower() and not any(map(_is_no_noun, rest[1:])))
            if is_phrase and index and fold_word(words[index - 1]) in MODIFIERS:
                rest = words[index - 1 :]  # the deputy manager Jane Roe
            return " ".join(rest) if is_phrase else words[-1] if is_role_word(fold_word(words[-1])) else ""
    return ""


def _is_no_noun(word: str) -> bool:
    folded = fold_word(word)
    return not word.islower() or folded in SENTENCE_WORDS or folded in CONJUNCTIONS or is_work(folded)


def _role_word_behind(text: str, end: int) -> str:
    """Return the role in small letters directly behind a name: Bakos Tünde fogorvos; or ""."""
    word = NEXT_WORD.match(text, end)
    is_role_behind = word is not None and is_role_word(fold_word(word[1])) and not is_ambiguous_role(word[1])
    return word[1] if word is not None and is_role_behind else ""


def _role_of_clause(text: str, at: int) -> str:
    """Return the role of a clause that ends with the name: The clerk is Jane Roe. Our owner, Jane Roe."""
    before = text[max(0, at - 100) : at]
    if COPULAS.isdisjoint(before.split()[-3:]):  # at most two words stand between the verb and the name
        return ""
    clause = ROLE_IS.search(before)
    return _role_phrase(clause["role"]) if clause is not None else ""


def _joined_as(text: str, end: int) -> str:
    """Return the role as which a person works: Jane Roe has joined us as practice nurse. Jane Roe is our cook."""
    behind = WORKS_AS.match(text, end)
    return _role_phrase(f"a {NEXT_CLAUSE.sub('', behind['role'] + ' ')}") if behind is not None else ""


def _role_phrase(text: str) -> str:
    """Return the words from the first role word, or capitalised word of a title, on: Today the owner is."""
    words = text.split()
    for index, word in enumerate(words):
        folded = fold_word(word).strip(".,")
        if is_role_word(folded) or (index and word[0].isupper() and folded not in DETERMINERS):
            rest = words[index:]
            is_role_phrase = len(rest) <= MAX_APPOSITION and any(is_role_word(fold_word(one)) for one in rest)
            return " ".join(rest) if is_role_phrase else ""
    return ""


def _apposition(text: str, start: int, end: int) -> str:
    """Return the role that stands behind or before a name in running text, between commas, or ""."""
    behind = CLAUSE_BEHIND.match(text, end) if text[end : end + 1] == "," else None
    before = None
    if text[start - 2 : start] == ", ":
        clauses = text[max(0, start - 60) : start]
        before = CLAUSE_BEFORE.search(clauses) or ROLE_BEFORE.search(clauses)
    if behind is not None:
        words = NEXT_CLAUSE.sub("", f"{behind['role']} ").split()
        if words and fold_word(words[0]) in DETERMINERS:
            words = words[1:]
        if words and fold_word(words[0]) in CONJUNCTIONS:
            words = []  # Our owner, Jane Roe, and the cook
        if words and len(words) <= MAX_APPOSITION and any(is_role_word(fold_word(word)) for word in words[:3]):
            return " ".join(words)
    if before is None:
        return ""
    clause = before["role"]  # son is a verb in Spanish and no verb in French: par son gérant, Jane Roe
    return _role_phrase(COPULA.split(clause, maxsplit=1)[0]) or _role_phrase(clause)


def introduces_self(text: str, at: int) -> bool:
    """Return whether the words before a name are those of somebody who says who they are: I am, my name is."""
    before = text[max(0, at - 24) : at].lower()
    return OWN_NAME.search(before) is not None or I_AM.search(before) is not None


def _introduction_score(text: str, at: int) -> float:
    """Score the words before a name: 0.6 for "my name is" in many languages, 0.3 for "I am" and for "ask"."""
    before = text[max(0, at - 24) : at].lower()
    last = before[before.rfind(" ", 0, -1) + 1 : -1]
    if last in LAST_BEFORE_ASKED and ASK.search(before) is not None:
        return 0.3
    if last not in LAST_BEFORE_OWN_NAME:
        return 0.0
    if OWN_NAME.search(before) is not None:
        return 0.6
    return 0.3 if I_AM.search(before) is not None or RUN_BY.search(before) is not None else 0.0
