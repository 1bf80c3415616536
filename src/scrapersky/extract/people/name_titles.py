"""What stands around a name: the form of address, the degrees, and the name in Latin letters beside another script."""

import re
from dataclasses import replace

from scrapersky.extract.document.model import Document
from scrapersky.extract.document.structured_data import Thing, property_texts
from scrapersky.extract.people.associate import FoundPerson
from scrapersky.extract.people.candidate import Name
from scrapersky.extract.people.name_parts import FILE, SUFFIXES, split_name
from scrapersky.extract.people.names import is_role, parse_name
from scrapersky.extract.results import Person
from scrapersky.extract.text import fold_word
from scrapersky.extract.word_lists import alternatives, load_words

HONORIFICS = load_words(FILE, "honorifics") | load_words(FILE, "honorifics", "before")
BEHIND = re.compile(rf"\s?({alternatives(load_words(FILE, 'honorifics', 'behind'))})(?!\w)")
LATIN = r"[A-ZÀ-Þ][\w'’.-]{0,25}(?:,? [A-ZÀ-Þ][\w'’.-]{0,25}){1,3}"
LATIN_BESIDE = re.compile(rf"\s?[（(【\[/／|｜・–—-]\s?({LATIN})\s?(?:[）)】\]/／|｜–—]|$)|\s?({LATIN})$")
LATIN_LINE = re.compile(LATIN)
MAX_LATIN = 60


def with_titles(person: Person, name: Name, line: str) -> Person:
    """Add the form of address and the degrees around the name, in the line that has it."""
    words = name.title.split()
    forms = [word for word in words if is_honorific(word)]
    if not name.title and not line.isascii():
        behind = BEHIND.match(line, line.find(name.text) + len(name.text)) if name.text in line else None
        forms = [behind[1]] if behind is not None else []
    degrees = " ".join(word for word in words if not is_honorific(word))
    behind_name = [word for word in name.credentials.replace(",", " ").split() if not _is_suffix(word)]
    if not forms and not degrees and not behind_name:
        return person
    return replace(person, honorific=" ".join(forms), degree=", ".join(filter(None, (degrees, *behind_name))))


def with_declared_parts(person: Person, thing: Thing) -> Person:
    """Add the parts of the name that structured data declares."""
    given, family, prefix, suffix = (
        next(iter(property_texts(thing.get(name))), "").strip()
        for name in ("givenName", "familyName", "honorificPrefix", "honorificSuffix")
    )
    if given and family and set(f"{given} {family}".split()) <= set(person.name.split()):
        person = replace(person, first_name=given, last_name=family)
    forms = [word for word in prefix.split() if is_honorific(word)]
    degrees = ", ".join(filter(None, (" ".join(word for word in prefix.split() if word not in forms), suffix)))
    return replace(person, honorific=person.honorific or " ".join(forms), degree=person.degree or degrees)


def add_name_parts(document: Document, people: list[FoundPerson], region: str) -> list[FoundPerson]:
    """Add first and last name and the Latin name to the people of a page; a person's Latin name is no second person."""
    people = [_with_latin_name(document, found) for found in people]
    if latin := {found.person.name_latin for found in people if found.person.name_latin}:
        titles = {found.person.name: found.person.title for found in people}
        people = [_with_title(found, titles) for found in people if found.person.name not in latin]
    return [found._replace(person=_with_parts(found.person, document.language, region)) for found in people]


def is_honorific(word: str) -> bool:
    """Return whether a title is a form of address: Herr, Ms, السيد."""
    return fold_word(word).rstrip(".").replace(".", "") in HONORIFICS or word in HONORIFICS


def _with_title(found: FoundPerson, titles: dict[str, str]) -> FoundPerson:
    """Take the title of the entry with the Latin name, if the person has none."""
    title = found.person.title or titles.get(found.person.name_latin, "")
    return found._replace(person=replace(found.person, title=title))


def _with_parts(person: Person, language: str, region: str) -> Person:
    if person.first_name or person.last_name:
        return person
    has_title = bool(person.honorific or person.degree)
    first_name, last_name = split_name(person.name, language, region, has_title=has_title)
    return replace(person, first_name=first_name, last_name=last_name) if first_name or last_name else person


def _with_latin_name(document: Document, found: FoundPerson) -> FoundPerson:
    """Find the Latin name behind a name in another script, on its line or alone on the next one."""
    name = found.person.name
    if found.block < 0 or name[0] < "\u0370":
        return found
    line = document.blocks[found.block].text
    at = line.find(name)
    beside = LATIN_BESIDE.match(line, at + len(name)) if at >= 0 else None
    written = (beside[1] or beside[2]) if beside is not None else _next_line(document, found.block)
    if not written or not _is_name(written, 0.0 if beside is None else -0.5):
        return found
    return found._replace(person=replace(found.person, name_latin=written))


def _next_line(document: Document, block: int) -> str:
    following = document.blocks[block + 1].text if block + 1 < len(document.blocks) else ""
    return following if len(following) <= MAX_LATIN and LATIN_LINE.fullmatch(following) else ""


def _is_name(text: str, min_score: float) -> bool:
    if is_role(text):
        return False
    name = parse_name(text.replace(",", ""))
    return name is not None and len(name.words) > 1 and name.score > min_score


def _is_suffix(word: str) -> bool:
    return fold_word(word).strip(".") in SUFFIXES
