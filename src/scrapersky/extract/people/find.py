"""The people of the business: names that the page treats as persons, with what they do."""

from collections.abc import Iterator
from typing import NamedTuple

from scrapersky.extract import data_protection_officers
from scrapersky.extract.document.context import snippet
from scrapersky.extract.document.model import Block, Document
from scrapersky.extract.document.structured_data import Thing, texts, types
from scrapersky.extract.people import names
from scrapersky.extract.people.candidates import NameCandidate, mentions
from scrapersky.extract.people.scoring import NameScorer
from scrapersky.extract.results import Person, Rejected

THRESHOLD = 0.56  # a known name in a heading among its likes is not yet a person
MAX_CANDIDATES = 600


class FoundPerson(NamedTuple):
    """A person before the same one is merged."""

    person: Person
    words: tuple[str, ...]
    block: int


def find(
    document: Document, things: list[Thing], others: frozenset[int] = frozenset()
) -> tuple[list[FoundPerson], list[Rejected]]:
    """The people in the order of the page, and the names that belong to somebody else, as in the blocks of `others`."""
    seen = _seen(document)
    evidence = NameScorer(document, [block for mention, block in seen if mention.whole and not _is_role(mention)])
    sightings: list[FoundPerson] = []
    rejected: list[Rejected] = []
    named: set[int] = set()
    for mention, block in seen:
        name = mention.name
        title, score = evidence.weigh(name, block, mention.whole, mention.title)
        if block.index in named and mention.whole and name.score >= 0.3:
            score += 0.25  # Dr. Jane Roe & John Roe: one person on the line makes the other one likely
        if score < THRESHOLD:
            continue
        reason = (
            data_protection_officers.REASON if block.index in others else evidence.reason_against(block, mention.whole)
        )
        if reason:
            rejected.append(Rejected("person", name.text, reason, snippet(block.text)))
        else:
            how = "card" if mention.whole else "title in text"
            person = Person(name.text, title, how, snippet(block.text), round(min(score, 0.97), 2))
            sightings.append(FoundPerson(person, name.words, block.index))
            named.add(block.index)
    sightings.extend(_structured(things))
    return _merged(sightings), rejected


def _seen(document: Document) -> list[tuple[NameCandidate, Block]]:
    """Every name with the block it stands in; a menu names pages, not people."""
    seen: list[tuple[NameCandidate, Block]] = []
    for block in document.blocks:
        if "nav" not in block.zones and (found := mentions(block.text, block.parts)):
            seen.extend([(mention, block) for mention in found])
            if len(seen) > MAX_CANDIDATES:
                break
    return seen


def _is_role(mention: NameCandidate) -> bool:
    """Baker and Cook are surnames, too: alone on a line they are what somebody does."""
    return len(mention.name.words) == 1 and not mention.title and names.is_role(mention.name.text)


def _structured(things: list[Thing]) -> Iterator[FoundPerson]:
    for thing in things:
        if "person" not in types(thing):
            continue
        for text in texts(thing.get("name"))[:1]:
            name = names.read(text)
            if name is None or len(name.words) < 2:
                continue
            title = next(iter(texts(thing.get("jobTitle"))), "")
            email = next(iter(texts(thing.get("email"))), "").removeprefix("mailto:").lower()
            confidence = 0.9 if title or email else 0.6
            person = Person(name.text, title, "structured data", snippet(text), confidence, email)
            yield FoundPerson(person, name.words, -1)


# -- the same person twice --------------------------------------------------------------------------------------------


def _merged(sightings: list[FoundPerson]) -> list[FoundPerson]:
    """One entry per person: the fullest name, the first title, the best confidence."""
    merged: list[FoundPerson] = []
    for sighting in sightings:
        for index, known in enumerate(merged):
            if _same(known.words, sighting.words):
                merged[index] = _union(known, sighting)
                break
        else:
            merged.append(sighting)
    return merged


def _same(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    if len(short) == 1:
        return short[0] in long or (len(short[0]) > 3 and short[0].rpartition(".")[2] in long)
    if set(short) <= set(long):
        return True
    # C. Roe and Christine Roe
    return short[-1] == long[-1] and short[0][:1] == long[0][:1] and (len(short[0]) <= 2 or len(long[0]) <= 2)


def _union(known: FoundPerson, other: FoundPerson) -> FoundPerson:
    fuller, less = (other, known) if len(other.person.name) > len(known.person.name) else (known, other)
    person = Person(
        fuller.person.name,
        known.person.title or other.person.title,
        known.person.how,
        known.person.snippet,
        max(known.person.confidence, other.person.confidence),
        fuller.person.email or less.person.email,
        fuller.person.phone or less.person.phone,
    )
    return FoundPerson(person, fuller.words, known.block if known.block >= 0 else other.block)
