"""The people of the business: names that the page treats as persons, with what they do."""

from collections.abc import Iterator
from typing import NamedTuple

from scrapersky.extract import names, patterns
from scrapersky.extract.document import Block, Document
from scrapersky.extract.found import Person, Rejected
from scrapersky.extract.names import Name
from scrapersky.extract.people_evidence import Evidence
from scrapersky.extract.structured import Thing, texts, types
from scrapersky.extract.surroundings import snippet
from scrapersky.extract.text import fold_word

THRESHOLD = 0.56  # a known name in a heading among its likes is not yet a person
MAX_CANDIDATES = 600
MAX_IN_PROSE = 40
MARKED_PARTS = 40
SHORT_LINE = 70  # a longer one names somebody at its beginning or behind a label, if at all
LONG_LINE = 170
LONG_ROW = 700  # names side by side


class Mention(NamedTuple):
    """A name somewhere on the page."""

    name: Name
    block: Block
    whole: bool  # the line, or a marked part of it, is the name
    title: str  # a role on the same line


class Sighting(NamedTuple):
    """A person before the same one is merged."""

    person: Person
    words: tuple[str, ...]
    block: int


def find(document: Document, things: list[Thing]) -> tuple[list[Sighting], list[Rejected]]:
    """The people in the order of the page, and the names that belong to somebody else."""
    mentions = _mentions(document)
    evidence = Evidence(document, [mention.block for mention in mentions if mention.whole])
    sightings: list[Sighting] = []
    rejected: list[Rejected] = []
    named: set[int] = set()
    for mention in mentions:
        title, score = evidence.weigh(mention.name, mention.block, mention.whole, mention.title)
        if mention.block.index in named and mention.whole and mention.name.score >= 0.3:
            score += 0.25  # Dr. Jane Roe & John Roe: one person on the line makes the other one likely
        if score < THRESHOLD:
            continue
        reason = evidence.reason_against(mention.block, mention.whole)
        if reason:
            rejected.append(Rejected("person", mention.name.text, reason, snippet(mention.block.text)))
        else:
            how = "card" if mention.whole else "title in text"
            person = Person(mention.name.text, title, how, snippet(mention.block.text), round(min(score, 0.97), 2))
            sightings.append(Sighting(person, mention.name.words, mention.block.index))
            named.add(mention.block.index)
    sightings.extend(_structured(things))
    return _merged(sightings), rejected


# -- where names can stand --------------------------------------------------------------------------------------------


def _mentions(document: Document) -> list[Mention]:
    found: list[Mention] = []
    for block in document.blocks:
        text = block.text
        if "nav" in block.zones or len(text) < 4:
            continue  # a menu names pages
        if not _may_name(text):
            continue
        if len(text) <= SHORT_LINE or len(block.parts) > 1 or _may_begin(text):
            found.extend(_in_line(block))
        if len(text) > 20:
            found.extend(_titled(block))
        if len(text) > 40:
            found.extend(_introduced(block))
        if len(found) > MAX_CANDIDATES:
            break
    return found


def _may_name(text: str) -> bool:
    """A quick look: two capitals in a row, a title, or a single word beside a sign."""
    if " " not in text or patterns.TWO_CAPITALS.search(text) or patterns.TITLE_IN_TEXT.search(text):
        return True
    return len(text) <= names.MAX_NAME and patterns.SEPARATOR_SIGN.search(text) is not None


def _may_begin(text: str) -> bool:
    """Whether a longer line can be a name and more: it begins with one, has a label, or is a row of them."""
    if ":" in text or names.GATE.match(text) is not None:
        return True
    return len(text) <= LONG_ROW and patterns.ROW_SIGN.search(text) is not None


def _in_line(block: Block) -> list[Mention]:
    """Names that a line consists of: alone, before or behind a role, several side by side, or as its marked part."""
    text = block.text
    found: list[Mention] = []
    if len(text) <= LONG_LINE or (len(text) <= LONG_ROW and patterns.ROW_SIGN.search(text)):
        for segment in patterns.SEGMENT.split(text) if patterns.SEGMENT_SIGN.search(text) else (text,):
            found.extend(_in_segment(segment, block))
    if found or len(block.parts) == 1:
        return found
    for index, part in enumerate(block.parts[: MARKED_PARTS if len(text) <= LONG_ROW else 3]):
        if len(part) > names.MAX_NAME + 40:
            continue
        mentions = _in_segment(part, block)
        if mentions:
            behind = block.parts[index + 1] if index + 1 < len(block.parts) else ""
            role = behind.strip(" ,-–|()") if len(behind) < 160 and names.is_role(behind) else ""
            found.extend(mention._replace(title=mention.title or role) for mention in mentions)
    return found


def _in_segment(segment: str, block: Block) -> list[Mention]:
    segment = segment.strip(" \t-–—•*|,;\"“”„'()")
    if not 4 <= len(segment) <= LONG_LINE:
        return []
    whole = names.read(segment)
    if whole is not None:
        return [Mention(whole, block, True, "")]
    if " " not in segment or (len(segment) > SHORT_LINE and not _may_begin(segment)):
        return []
    if patterns.SEPARATOR_SIGN.search(segment) is None:
        return _behind_role(segment, block)
    pieces = [piece for piece in patterns.SEPARATOR.split(segment, maxsplit=3) if piece]
    if len(pieces) < 2:
        return _behind_role(segment, block)
    return _beside_role(segment, pieces, block)


def _beside_role(segment: str, pieces: list[str], block: Block) -> list[Mention]:
    """Jane Roe, owner. Owner: Jane Roe. Jane Roe (owner). Jane Roe, John Doe."""
    rest = segment[len(pieces[0]) :].strip(" ,:()-–—―")
    first = names.read(pieces[0])
    if first is not None and (names.is_role(rest) or first.title):
        return [Mention(first, block, True, rest if len(rest) < 120 else "")]
    last = names.read(rest) or names.read(pieces[1]) or names.read(pieces[-1])
    if last is not None and names.is_role(pieces[0]):
        return [Mention(last, block, True, segment[: segment.find(last.text)].strip(" ,:()-–—―"))]
    if first is None:
        return []
    row = [name for piece in pieces if (name := names.read(piece)) is not None]
    return [Mention(name, block, True, "") for name in (row if len(row) > 1 else [first])]


def _behind_role(segment: str, block: Block) -> list[Mention]:
    """The Chairwoman Jane Roe, Pastor Jim: a role word or two, then the name."""
    words = segment.split()
    if not 3 <= len(words) <= 7 or not (words[-1][0].isupper() and words[-2][0].isupper()):
        return []
    for count in range(len(words) - 2, 0, -1):
        if names.is_role_word(fold_word(words[count - 1]).strip(".,:")):
            name = names.read(" ".join(words[count:]))
            if name is not None and name.score >= 0.3:
                return [Mention(name, block, True, " ".join(words[:count]))]
            return []
    return []


def _titled(block: Block) -> Iterator[Mention]:
    """Names behind a title in running text."""
    text = block.text
    end = 0
    for count, match in enumerate(patterns.TITLE_IN_TEXT.finditer(text)):
        start = match.start()
        if count > 60 or start < end or (start and text[start - 1].isalnum()):
            continue
        behind = patterns.AFTER_TITLE.match(text, start)
        if behind is None:
            continue
        name = _longest(behind[0])
        if name is not None and len(name.words) > 1:
            end = start + len(name.text)
            yield Mention(name, block, False, "")


def _introduced(block: Block) -> Iterator[Mention]:
    """Names behind a role in running text: our founder Jane Roe. Only known names, for prose is full of capitals."""
    text = block.text
    for count, match in enumerate(patterns.CAPITALS_IN_A_ROW.finditer(text)):
        if count >= MAX_IN_PROSE:
            return
        words = match[0].split()
        if fold_word(words[0]) not in names.GIVEN and fold_word(words[1]) not in names.GIVEN:
            continue
        before = patterns.LAST_WORD.search(text[max(0, match.start() - 40) : match.start()])
        role = before[0].strip() if before is not None else ""
        while len(words) > 2 and names.is_role_word(fold_word(words[0])):
            role = words.pop(0)  # German writes its nouns with capitals
        if fold_word(words[0]) not in names.GIVEN or not names.is_role_word(fold_word(role)):
            continue
        name = names.read(" ".join(words[:4]))
        if name is not None and len(name.words) > 1 and name.score >= 0.4:
            yield Mention(name, block, False, role)


def _longest(text: str) -> Name | None:
    """The longest beginning of the text that is a name: stop where the sentence goes on."""
    words = patterns.GLUED_TITLE.sub(r"\1. ", text).split()[:9]
    stop = 0
    for word in words:
        if not (word[0].isupper() or names.is_title(word) or fold_word(word) in names.PARTICLES):
            break
        stop += 1
        if word.endswith(".") and len(word) > 4 and not names.is_title(word):
            break  # the sentence ends here
    for count in range(min(stop, 8), 1, -1):
        name = names.read(" ".join(words[:count]).rstrip("."))
        if name is not None and name.title:
            return name
    return None


def _structured(things: list[Thing]) -> Iterator[Sighting]:
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
            yield Sighting(person, name.words, -1)


# -- the same person twice --------------------------------------------------------------------------------------------


def _merged(sightings: list[Sighting]) -> list[Sighting]:
    """One entry per person: the fullest name, the first title, the best confidence."""
    merged: list[Sighting] = []
    for sighting in sightings:
        for index, known in enumerate(merged):
            if _same(known.words, sighting.words):
                merged[index] = _union(known, sighting)
                break
        else:
            merged.append(sighting)
    return merged


def _same(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    if set(one) == set(other):
        return True
    short, long = sorted((one, other), key=len)
    if len(short) == 1:
        return short[0] in long or (len(short[0]) > 3 and short[0].rpartition(".")[2] in long)
    if set(short) <= set(long):
        return True
    # C. Roe and Christine Roe
    return short[-1] == long[-1] and short[0][:1] == long[0][:1] and (len(short[0]) <= 2 or len(long[0]) <= 2)


def _union(known: Sighting, other: Sighting) -> Sighting:
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
    return Sighting(person, fuller.words, known.block if known.block >= 0 else other.block)
