"""The people of the business: name candidates are collected, scored, merged and associated with their contacts."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from scrapersky.extract.document.context import snippet
from scrapersky.extract.document.model import Block, Document
from scrapersky.extract.document.structured_data import Thing, property_texts, thing_types
from scrapersky.extract.emails.data_protection_officers import EXTERNAL_OFFICER
from scrapersky.extract.people.associate import IN_TEXT, FoundPerson, associate_contacts
from scrapersky.extract.people.candidate import Name, NameCandidate
from scrapersky.extract.people.candidates import find_name_candidates
from scrapersky.extract.people.labels import is_group_heading, is_name_label
from scrapersky.extract.people.name_titles import add_name_parts, with_declared_parts, with_titles
from scrapersky.extract.people.names import (
    has_patronymic,
    is_family_name,
    is_given_name,
    is_role,
    name_by_form,
    parse_name,
)
from scrapersky.extract.people.scoring.name_columns import find_names_in_columns
from scrapersky.extract.people.scoring.scorer import NameScorer
from scrapersky.extract.people.seniority import title_meaning
from scrapersky.extract.people.uncased.scripts import UNCASED_LETTER
from scrapersky.extract.results import Email, Person, Phone, Rejected

THRESHOLD = 0.56  # more than a known name in a heading among similar ones
MAX_CANDIDATES = 600
SAME_PARAGRAPH = "a person in the same paragraph"
SLOT_TITLE, SLOT_POINTS = "title where others have theirs", 0.2
KNOWN = 0.3  # the score of a known given name
LABELLED = 0.45  # that of a column of names
MAX_GIVEN_NAME = 20
_OF_EITHER = ("email", "phone", "honorific", "degree")  # of two entries of a person: the one that has it
NAME_TAGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
PART_CLASS = re.compile(
    r"(?:^|[\s_-])(?:first-?name|fname|given-?name|vorname|prenom|nombre|voornaam|fornavn|fornamn|etunimi|imie|jmeno|ime"
    r"|nome|last-?name|lname|surname|family-?name|nachname|achternaam|efternavn|efternamn|etternavn|sukunimi|nazwisko"
    r"|prijmeni|cognome)(?:$|[\s_-])"
)
INITIALS = re.compile(r"(?:[^\W\d_]\.?-?){1,2}(?<!\w\w)")


def find_people(
    document: Document,
    things: list[Thing],
    emails: list[Email],
    phones: list[Phone],
    region: str,
    excluded: frozenset[int] = frozenset(),
    host: str = "",
) -> tuple[list[Person], list[Rejected]]:
    """Return the people in the order of the page, and the rejected names; names in `excluded` blocks are rejected."""
    candidates = collect_candidates(document)
    people, rejected = _select_people(document, candidates, excluded, host)
    merged = add_name_parts(document, _merge_people([*people, *_in_structured_data(things)]), region)
    return associate_contacts(document, merged, emails, phones, region), rejected


def collect_candidates(document: Document) -> list[tuple[NameCandidate, Block]]:
    """Return every name candidate with its block; menus are left out, since they name pages."""
    candidates: list[tuple[NameCandidate, Block]] = []
    for block in document.blocks:
        if "nav" in block.zones and _is_menu(document, block):
            continue
        if found := find_name_candidates(block.text, block.parts):
            is_aside = "hidden" in block.zones or "aside" in block.zones
            candidates.extend(
                [
                    (candidate, block)
                    for candidate in found
                    if not _is_role(candidate) and not (is_aside and len(candidate.name.words) == 1)
                ]
            )
            if len(candidates) > MAX_CANDIDATES:
                break
    return _without_roles_between(_join_split_names(document, _without_terms(document, candidates)))


def _without_terms(
    document: Document, candidates: list[tuple[NameCandidate, Block]]
) -> list[tuple[NameCandidate, Block]]:
    """Remove terms of a list whose definitions are names: <dt>원감<dd>표은미."""
    defined = {block.index for _, block in candidates if block.tag == "dd"}
    if not defined:
        return candidates
    return [(one, block) for one, block in candidates if block.tag != "dt" or block.index + 1 not in defined]


def _without_roles_between(candidates: list[tuple[NameCandidate, Block]]) -> list[tuple[NameCandidate, Block]]:
    """Remove unknown words that alternate with known names, line by line: they are roles of no list."""
    known = {block.index for candidate, block in candidates if candidate.is_whole and candidate.name.score >= KNOWN}
    unknown = {
        block.index
        for candidate, block in candidates
        if candidate.is_whole and candidate.name.score < 0 and not candidate.role
    }
    between = {
        index
        for index in unknown
        if index - 1 in known and index - 2 not in known and index + 1 in known and index + 2 not in known
    }
    roles = between | {index for index in unknown if index - 2 in between and index - 1 in known}
    return [(candidate, block) for candidate, block in candidates if block.index not in roles] if roles else candidates


def _join_split_names(
    document: Document, candidates: list[tuple[NameCandidate, Block]]
) -> list[tuple[NameCandidate, Block]]:
    """Replace given and family name in two elements by one candidate, in the block of the second."""
    if document.columns and (columns := find_names_in_columns(document)):
        candidates = _join_columns(columns, candidates)
    pairs = [*_pairs_of_parts(document, candidates), *_pairs_by_class(document)]
    shapes = Counter((first.tag, second.tag) for first, second in pairs)
    joined: dict[int, NameCandidate] = {}
    for first, second in pairs:
        if {first.index, second.index} & joined.keys():
            continue
        if first.node != second.node and not _may_join(first, second, shapes):
            continue
        name = parse_name(f"{first.text} {second.text}")
        if name is not None:
            joined[second.index] = NameCandidate(name._replace(score=max(name.score, 0.2)), True, "")
    if not joined:
        return candidates
    removed = joined.keys() | {index - 1 for index in joined}
    others = [(candidate, block) for candidate, block in candidates if block.index not in removed]
    added = [(candidate, document.blocks[index]) for index, candidate in joined.items()]
    return sorted([*others, *added], key=lambda one: one[1].index)


def _join_columns(
    columns: list[tuple[Block, Block, bool]], candidates: list[tuple[NameCandidate, Block]]
) -> list[tuple[NameCandidate, Block]]:
    """Replace the parts of names in two columns by one candidate, in the block of the second."""
    joined: list[tuple[NameCandidate, Block]] = []
    removed: set[int] = set()
    for first, second, is_given_first in columns:
        text = f"{first.text} {second.text}" if is_given_first else f"{second.text} {first.text}"
        if UNCASED_LETTER.match(text) is not None:
            text = f"{first.text} {second.text}"  # the family name first
        name = parse_name(text) or _uncased_name(text) or name_by_form(text)
        removed.update((first.index, second.index))
        if name is not None:
            joined.append((NameCandidate(name._replace(score=max(name.score, 0.1) + LABELLED), True, ""), second))
    others = [one for one in candidates if one[1].index not in removed]
    return sorted([*others, *joined], key=lambda one: one[1].index)


def _uncased_name(text: str) -> Name | None:
    if UNCASED_LETTER.search(text) is None:
        return None
    from scrapersky.extract.people.uncased.names import parse_uncased_name  # tables that few pages need

    return parse_uncased_name(text)


def _pairs_of_parts(document: Document, candidates: list[tuple[NameCandidate, Block]]) -> Iterator[tuple[Block, Block]]:
    """Yield pairs of neighbours that may be one name: two headings, a given name and a word, a word and a father's."""
    blocks = document.blocks
    for first, second in pairwise(block for block in blocks if block.tag in NAME_TAGS):
        if second.index == first.index + 1 and _is_word(first) and _is_family_part(second):
            yield first, second
    for candidate, block in candidates:
        if not candidate.is_whole or candidate.role or block.tag in NAME_TAGS:
            continue
        after = blocks[block.index + 1] if block.index + 1 < len(blocks) else block
        before = blocks[block.index - 1] if block.index else block
        count = len(candidate.name.words)
        if count == 1 and _is_family_part(after) and _are_side_by_side(document, block, after):
            yield block, after
        elif count > 1 and has_patronymic(candidate.name) and _is_family_before(document, before, block):
            yield before, block
        elif count == 1 and before.node == block.node and is_family_name(before.text):
            yield before, block  # Синеокова, below it Алёна


def _pairs_by_class(document: Document) -> Iterator[tuple[Block, Block]]:
    """Yield neighbours whose classes say that they are the parts of a name: first-name, last-name."""
    blocks = document.blocks
    for first, second in pairwise(blocks):
        if first.node < 0 or second.node < 0 or first.node == second.node or " " in first.text:
            continue
        names = document.nodes[first.node].names
        if names and PART_CLASS.search(names) is not None and _are_side_by_side(document, first, second):
            other = document.nodes[second.node].names
            if other and other != names and (PART_CLASS.search(other) or "name" in other) and _is_family_part(second):
                yield first, second


def _is_family_before(document: Document, before: Block, block: Block) -> bool:
    """Return whether a line is the family name of the given and the father's name below it."""
    is_beside = before.node == block.node or _are_side_by_side(document, before, block)
    return is_family_name(before.text) or (is_beside and _is_word(before) and before.text.istitle())


def _is_word(block: Block) -> bool:
    return " " not in block.text and len(block.text) < MAX_GIVEN_NAME and not is_role(block.text)


def _is_family_part(block: Block) -> bool:
    return block.text.count(" ") < 2 and len(block.text) < 2 * MAX_GIVEN_NAME and not is_role(block.text)


def _are_side_by_side(document: Document, one: Block, other: Block) -> bool:
    nodes = document.nodes
    return one is not other and (one.node == other.node or nodes[one.node].parent == nodes[other.node].parent)


def _may_join(first: Block, second: Block, shapes: Counter[tuple[str, str]]) -> bool:
    """Return whether two elements are parts of one name: the second is none by itself, and others are split alike."""
    alone = parse_name(second.text)
    if alone is not None and alone.score >= KNOWN and not has_patronymic(alone):
        return False
    if first.tag in NAME_TAGS and first.tag > second.tag:
        return False  # <h5>Collection, below it <h3>Jane Roe
    return shapes[first.tag, second.tag] > 1 or (second.tag in NAME_TAGS and is_given_name(first.text))


def _is_menu(document: Document, block: Block) -> bool:
    """Return whether a block in an element named as a menu is one: it is in <nav>, or it is a link."""
    if block.tag in ("li", "ul", "nav") or block.index in document.linked_blocks:
        return True
    return any(node.tag == "nav" for node in document.with_ancestors(block.node))


class ScoredCandidate(NamedTuple):
    """A name candidate with its points and, if it is rejected in spite of them, the reason."""

    candidate: NameCandidate
    block: Block
    title: str
    points: list[tuple[str, float]]
    score: float  # the sum of the points
    reason: str


def score_candidates(
    scorer: NameScorer, candidates: list[tuple[NameCandidate, Block]], excluded: frozenset[int]
) -> list[ScoredCandidate]:
    """Score every candidate on its page, in the order of the page."""
    scored: list[ScoredCandidate] = []
    blocks_with_people: set[int] = set()
    rows = _rows_of_names(scorer, candidates)
    for candidate, block in candidates:
        title, points = scorer.score(candidate, block)
        is_beside = block.index in blocks_with_people and candidate.name.score >= KNOWN
        if candidate.is_whole and (is_beside or block.index in rows):
            points.append(("a person on the same line", 0.25))  # Dr. Jane Roe & John Roe
        if candidate.does_work and block.index in blocks_with_people:
            points.append((SAME_PARAGRAPH, 0.3))
        score, reason = sum([value for _, value in points]), ""
        if score >= THRESHOLD:
            is_excluded = block.index in excluded
            reason = EXTERNAL_OFFICER if is_excluded else scorer.rejection.reason(candidate, block, title)
            if not reason:
                blocks_with_people.add(block.index)
        scored.append(ScoredCandidate(candidate, block, title, points, score, reason))
    return [_with_people_behind(one, scorer, excluded, blocks_with_people) for one in scored]


def _with_people_behind(
    one: ScoredCandidate, scorer: NameScorer, excluded: frozenset[int], blocks_with_people: set[int]
) -> ScoredCandidate:
    """Add the points for a person in the same paragraph who is named behind this one."""
    if not one.candidate.does_work or one.score >= THRESHOLD or one.block.index not in blocks_with_people:
        return one
    if any(label == SAME_PARAGRAPH for label, _ in one.points):
        return one
    reason = EXTERNAL_OFFICER if one.block.index in excluded else ""
    score = one.score + 0.3
    if score >= THRESHOLD and not reason:
        reason = scorer.rejection.reason(one.candidate, one.block, one.title)
    return one._replace(points=[*one.points, (SAME_PARAGRAPH, 0.3)], score=score, reason=reason)


def _rows_of_names(scorer: NameScorer, candidates: list[tuple[NameCandidate, Block]]) -> set[int]:
    """Return the blocks with three or more names side by side, most of them known (a third in a team).

    A third is enough behind a label, too: Members: Jane Roe, Zorvan Quist, Ulmi Tarq.
    """
    rows: dict[int, list[float]] = {}
    behind_label: set[int] = set()
    for candidate, block in candidates:
        if candidate.is_whole:
            rows.setdefault(block.index, []).append(candidate.name.score)
            if candidate.role and f"{candidate.role}:" in block.text:
                behind_label.add(block.index)

    def is_in_team(index: int) -> bool:
        return scorer.layout.is_in_team(scorer.blocks[index])

    return {
        index
        for index, scores in rows.items()
        if len(scores) > 1
        and sum(score >= KNOWN for score in scores) * (3 if len(scores) > 2 else 2) >= len(scores)
        and (sum(score >= KNOWN for score in scores) * 2 > len(scores) or index in behind_label or is_in_team(index))
        and (len(scores) > 2 or is_in_team(index))
    }


def _select_people(
    document: Document, candidates: list[tuple[NameCandidate, Block]], excluded: frozenset[int], host: str
) -> tuple[list[FoundPerson], list[Rejected]]:
    """Return the candidates with a sufficient score as people, or as rejected with the reason."""
    if not candidates:
        return [], []
    scorer, scored = score_page(document, candidates, excluded, host)
    likely = [one for one in scored if one.score >= THRESHOLD]
    accepted = [one for one in likely if not one.reason]
    people = [_build_person(one, scorer) for one in accepted]
    return people, [
        Rejected("person", one.candidate.name.text, one.reason, snippet(one.block.text)) for one in likely if one.reason
    ]


def score_page(
    document: Document, candidates: list[tuple[NameCandidate, Block]], excluded: frozenset[int], host: str
) -> tuple[NameScorer, list[ScoredCandidate]]:
    """Score the candidates of a page without lines that are roles; the scorer has learned where titles stand."""
    scorer = NameScorer(document, candidates, host)
    if roles := scorer.slots.roles_among_names():
        candidates = [(candidate, block) for candidate, block in candidates if block.index not in roles]
        scorer = NameScorer(document, candidates, host)
    scored = score_candidates(scorer, candidates, excluded)
    accepted = [one for one in scored if one.score >= THRESHOLD and not one.reason]
    scorer.titles.learn([(one.block, one.title) for one in accepted if one.candidate.is_whole])
    return scorer, [_with_slot(one, scorer, excluded) for one in scored]


def _with_slot(one: ScoredCandidate, scorer: NameScorer, excluded: frozenset[int]) -> ScoredCandidate:
    """Add points to a name below the threshold in whose slot of titles stands a text: others have theirs there."""
    if not THRESHOLD - SLOT_POINTS <= one.score < THRESHOLD or one.block.index not in scorer.slots.names:
        return one
    if not (title := title_in_slot(one, scorer)):
        return one
    reason = EXTERNAL_OFFICER if one.block.index in excluded else ""
    reason = reason or scorer.rejection.reason(one.candidate, one.block, title)
    points = [*one.points, (SLOT_TITLE, SLOT_POINTS)]
    return one._replace(points=points, score=one.score + SLOT_POINTS, reason=reason)


def title_in_slot(one: ScoredCandidate, scorer: NameScorer) -> str:
    """Return the title that stands where others of the page have theirs, if no role is beside the name; or "".

    A role above it is that of the group or of the former person if the others have theirs below.
    """
    if not one.candidate.is_whole or one.candidate.role:
        return ""
    beside = scorer.roles.beside(one.block)
    if beside and (scorer.roles.precede(one.block) or not scorer.titles.has_role_below(one.block, beside)):
        return ""
    return scorer.titles.title_of(one.block)


def _build_person(one: ScoredCandidate, scorer: NameScorer) -> FoundPerson:
    candidate, block = one.candidate, one.block
    title = title_in_slot(one, scorer) or one.title
    title = title or next((word for word in candidate.name.title.split() if is_role(word)), "")  # Pastor Jane Roe
    how = "card" if candidate.is_whole else IN_TEXT
    person = Person(candidate.name.text, title, how, snippet(block.text), round(min(one.score, 0.97), 2))
    return FoundPerson(with_titles(person, candidate.name, block.text), candidate.name.words, block.index)


def _is_role(candidate: NameCandidate) -> bool:
    """Return whether the candidate is a role: Baker and Cook are surnames, too, but alone on a line they are roles.

    The head of a column of names and the name of a group are none either: Imię i nazwisko, Rada.
    """
    text = candidate.name.text
    if len(candidate.name.words) == 1 and not candidate.role and (is_role(text) or is_group_heading(text)):
        return True
    return is_name_label(text)


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
            yield FoundPerson(with_declared_parts(with_titles(person, name, text), thing), name.words, -1)


def _merge_people(people: Iterable[FoundPerson]) -> list[FoundPerson]:
    """Merge entries of the same person: the longest name, the most senior title, the highest confidence."""
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
    has_initial = INITIALS.fullmatch(short[0]) is not None or INITIALS.fullmatch(long[0]) is not None
    return short[-1] == long[-1] and short[0][:1] == long[0][:1] and has_initial


def _fullness(found: FoundPerson) -> tuple[int, bool]:
    """Return how complete a name is: its length, then whether it is written in small letters."""
    return len(found.person.name), not found.person.name.isupper()


def _more_senior(title: str, other: str) -> str:
    """Return the more senior one of two titles, the first of equally senior ones."""
    if not title or not other or title == other:
        return title or other
    return other if title_meaning(other).seniority < title_meaning(title).seniority else title


def _merge_two(known: FoundPerson, other: FoundPerson) -> FoundPerson:
    longer, shorter = (other, known) if _fullness(other) > _fullness(known) else (known, other)
    first, second = (other, known) if _is_in_text(known) and not _is_in_text(other) else (known, other)
    person = longer.person
    values = {
        "how": first.person.how,
        "snippet": first.person.snippet,
        "title": _more_senior(known.person.title, other.person.title),
        "confidence": max(known.person.confidence, other.person.confidence),
        **{name: getattr(person, name) or getattr(shorter.person, name) for name in _OF_EITHER},
    }
    # Most entries of a person add nothing to the first.
    if changed := {name: value for name, value in values.items() if getattr(person, name) != value}:
        person = replace(person, **changed)
    cards = [block for block in (first.block, *first.cards, second.block, *second.cards) if block >= 0]
    return FoundPerson(person, longer.words, cards[0] if cards else -1, tuple(cards[1:]))


def _is_in_text(found: FoundPerson) -> bool:
    return found.person.how == IN_TEXT
