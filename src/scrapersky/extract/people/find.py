"""The people of the business: name candidates are collected, scored, merged and associated with their contacts."""

from collections.abc import Iterable, Iterator

from scrapersky.extract.document.context import snippet
from scrapersky.extract.document.model import Block, Document
from scrapersky.extract.document.structured_data import Thing, property_texts, thing_types
from scrapersky.extract.emails.data_protection_officers import EXTERNAL_OFFICER
from scrapersky.extract.people.associate import FoundPerson, associate_contacts
from scrapersky.extract.people.candidates import find_name_candidates
from scrapersky.extract.people.names import NameCandidate, is_role, parse_name
from scrapersky.extract.people.scoring import NameScorer
from scrapersky.extract.results import Email, Person, Phone, Rejected

THRESHOLD = 0.56  # more than a known name in a heading among similar ones
MAX_CANDIDATES = 600


def find_people(
    document: Document,
    things: list[Thing],
    emails: list[Email],
    phones: list[Phone],
    region: str,
    excluded: frozenset[int] = frozenset(),
) -> tuple[list[Person], list[Rejected]]:
    """Return the people in the order of the page, and the rejected names; names in `excluded` blocks are rejected."""
    candidates = _collect_candidates(document)
    people, rejected = _select_people(document, candidates, excluded)
    merged = _merge_people([*people, *_in_structured_data(things)])
    return associate_contacts(document, merged, emails, phones, region), rejected


def _collect_candidates(document: Document) -> list[tuple[NameCandidate, Block]]:
    """Return every name candidate with its block; menus are left out, since they name pages."""
    candidates: list[tuple[NameCandidate, Block]] = []
    for block in document.blocks:
        if "nav" not in block.zones and (found := find_name_candidates(block.text, block.parts)):
            candidates.extend([(candidate, block) for candidate in found])
            if len(candidates) > MAX_CANDIDATES:
                break
    return candidates


def _select_people(
    document: Document, candidates: list[tuple[NameCandidate, Block]], excluded: frozenset[int]
) -> tuple[list[FoundPerson], list[Rejected]]:
    """Return the candidates with a sufficient score as people, or as rejected with the reason."""
    name_blocks = [block for candidate, block in candidates if candidate.is_whole and not _is_role(candidate)]
    scorer = NameScorer(document, name_blocks)
    people: list[FoundPerson] = []
    rejected: list[Rejected] = []
    blocks_with_people: set[int] = set()
    for candidate, block in candidates:
        name = candidate.name
        title, score = scorer.score(candidate, block)
        if block.index in blocks_with_people and candidate.is_whole and name.score >= 0.3:
            score += 0.25  # Dr. Jane Roe & John Roe: a person on the line makes a second one likely
        if score < THRESHOLD:
            continue
        is_excluded = block.index in excluded
        reason = EXTERNAL_OFFICER if is_excluded else scorer.rejection_reason(block, candidate.is_whole)
        if reason:
            rejected.append(Rejected("person", name.text, reason, snippet(block.text)))
        else:
            how = "card" if candidate.is_whole else "title in text"
            person = Person(name.text, title, how, snippet(block.text), round(min(score, 0.97), 2))
            people.append(FoundPerson(person, name.words, block.index))
            blocks_with_people.add(block.index)
    return people, rejected


def _is_role(candidate: NameCandidate) -> bool:
    """Return whether the candidate is a role: Baker and Cook are surnames, too, but alone on a line they are roles."""
    return len(candidate.name.words) == 1 and not candidate.role and is_role(candidate.name.text)


def _in_structured_data(things: list[Thing]) -> Iterator[FoundPerson]:
    for thing in things:
        if "person" not in thing_types(thing):
            continue
        for text in property_texts(thing.get("name"))[:1]:
            name = parse_name(text)
            if name is None or len(name.words) < 2:
                continue
            title = next(iter(property_texts(thing.get("jobTitle"))), "")
            email = next(iter(property_texts(thing.get("email"))), "").removeprefix("mailto:").lower()
            confidence = 0.9 if title or email else 0.6
            person = Person(name.text, title, "structured data", snippet(text), confidence, email)
            yield FoundPerson(person, name.words, -1)


def _merge_people(people: Iterable[FoundPerson]) -> list[FoundPerson]:
    """Merge entries of the same person: the longest name, the first title, the highest confidence."""
    merged: list[FoundPerson] = []
    for person in people:
        for index, known in enumerate(merged):
            if _is_same_name(known.words, person.words):
                merged[index] = _merge_two(known, person)
                break
        else:
            merged.append(person)
    return merged


def _is_same_name(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    if len(short) == 1:
        return short[0] in long or (len(short[0]) > 3 and short[0].rpartition(".")[2] in long)
    if set(short) <= set(long):
        return True
    # C. Roe and Christine Roe
    return short[-1] == long[-1] and short[0][:1] == long[0][:1] and (len(short[0]) <= 2 or len(long[0]) <= 2)


def _merge_two(known: FoundPerson, other: FoundPerson) -> FoundPerson:
    longer, shorter = (other, known) if len(other.person.name) > len(known.person.name) else (known, other)
    person = Person(
        longer.person.name,
        known.person.title or other.person.title,
        known.person.how,
        known.person.snippet,
        max(known.person.confidence, other.person.confidence),
        longer.person.email or shorter.person.email,
        longer.person.phone or shorter.person.phone,
    )
    return FoundPerson(person, longer.words, known.block if known.block >= 0 else other.block)
