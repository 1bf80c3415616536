"""The addresses of a page, in every form they are written in, told apart from what only looks alike."""

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

from scrapersky.extract import data_protection_officers, regexes
from scrapersky.extract.document.context import snippet
from scrapersky.extract.document.model import Block, Document, Link, Marked
from scrapersky.extract.document.structured_data import Thing, texts
from scrapersky.extract.emails import classify as email_judging
from scrapersky.extract.emails import deobfuscate
from scrapersky.extract.emails import scripts as email_scripts
from scrapersky.extract.results import Email, Rejected

MAX_CANDIDATES = 500
SMALL_SCRIPT = 20_000


class EmailCandidate(NamedTuple):
    """An address as found, before it is judged."""

    address: str
    how: str
    snippet: str
    block: Block | None
    behind: str = ""  # the address that the link shows instead


CONFIDENCE = {
    "text": 0.95,
    "mailto": 0.9,
    "structured data": 0.85,
    "cloudflare": 0.95,
    "written out": 0.9,
    "attributes": 0.85,
    "turned": 0.8,
    "shifted": 0.85,
    "script": 0.75,
    "spaced": 0.7,
}


def find(
    document: Document, things: list[Thing], host: str = "", others: frozenset[int] = frozenset()
) -> tuple[list[Email], list[Rejected]]:
    """The addresses of the business, and those that are not, each with its reason; `others` are blocks of others."""
    found: dict[str, Email] = {}
    rejected: dict[str, Rejected] = {}
    judge = email_judging.EmailClassifier(document, host)
    for candidate, _ in zip(_candidates(document, things), range(MAX_CANDIDATES), strict=False):
        address = email_judging.normalise_email(candidate.address)
        if address in found or not deobfuscate.is_address(address):
            continue
        reason = judge.reason_against(address, candidate.block) or _covered(candidate, judge)
        if not reason and candidate.block is not None and candidate.block.index in others:
            reason = data_protection_officers.REASON
        if reason:
            rejected.setdefault(address, Rejected("email", address, reason, candidate.snippet))
            continue
        confidence = CONFIDENCE[candidate.how]
        if candidate.block is not None and "hidden" in candidate.block.zones:
            confidence -= 0.2
        found[address] = Email(address, judge.kind(address), candidate.how, candidate.snippet, round(confidence, 2))
    return list(found.values()), [one for address, one in rejected.items() if address not in found]


def _covered(candidate: EmailCandidate, judge: email_judging.EmailClassifier) -> str:
    """A link or code left from before, behind a visible address that is the better one."""
    shown = email_judging.normalise_email(candidate.behind)
    if (
        shown
        and shown != email_judging.normalise_email(candidate.address)
        and not judge.reason_against(shown, candidate.block)
    ):
        return "hidden behind another address"
    return ""


def _candidates(document: Document, things: list[Thing]) -> Iterator[EmailCandidate]:
    # Most signs are nowhere on the page, so no block has to be asked for them.
    signs = [sign for sign in ("@", *deobfuscate.SIGNS) if sign in document.text]
    for each in document.blocks:
        for sign in signs:
            if sign in each.text:
                yield from _in_text(each)
                break
    for link in document.links:
        if link.href[:6].lower() in ("mailto", "javasc") or "email-protection#" in link.href:
            yield from _in_link(document, link)
    for element in document.marked:
        if "data-cfemail" in element.attributes or "onclick" in element.attributes:
            yield from _in_element(element, document.first_block(element.node))
        elif address := deobfuscate.from_attributes(element.attributes, element.tag):
            block = document.first_block(element.node)
            yield EmailCandidate(address, "attributes", _near(block), block)
    for script in document.scripts:
        # A script longer than that is a bundled program, not somebody hiding an address.
        if 0 < len(script.text) <= email_scripts.MAX_SOURCE and "json" not in script.type and _may_build(script.text):
            yield from _in_script(script.text, None)
    for thing in things:
        for address in texts(thing.get("email")):
            address = address.removeprefix("mailto:")
            yield EmailCandidate(
                address, "structured data", snippet(" ".join([*texts(thing.get("name")), address])), None
            )


def _in_element(element: Marked, block: Block | None) -> Iterator[EmailCandidate]:
    if code := element.attributes.get("data-cfemail"):
        shown = next(iter(regexes.EMAIL.findall(element.text)), "")
        yield EmailCandidate(deobfuscate.cloudflare(code), "cloudflare", _near(block), block, shown)
    if click := element.attributes.get("onclick"):
        yield from _in_script(click, block)


def _in_text(block: Block) -> Iterator[EmailCandidate]:
    text = block.text
    if "@" in text:
        taken = False
        for match in regexes.EMAIL.finditer(text):
            taken = taken or deobfuscate.is_address(match[0])
            yield EmailCandidate(match[0], "text", snippet(text, match.start()), block)
        if not taken:
            yield from _odd_at(block)
    if deobfuscate.may_be_written_out(text):
        for address, at in deobfuscate.written_out(text):
            yield EmailCandidate(address, "written out", snippet(text, at), block)


def _odd_at(block: Block) -> Iterator[EmailCandidate]:
    """Words with an @ that are no address as they stand: turned letters, or white space around the sign."""
    for match in regexes.AT_WORD.finditer(block.text):
        if plain := deobfuscate.backwards(match[0]):
            yield EmailCandidate(plain, "turned", snippet(block.text, match.start()), block)
    for match in regexes.SPACED_AT.finditer(block.text):
        # "see us @ www.firma.com" is a sentence; an address stands alone or behind a label.
        alone = match.start() == 0 or block.text[: match.start()].rstrip().endswith(":")
        if alone and not match[2].lower().startswith("www."):
            yield EmailCandidate(f"{match[1]}@{match[2]}", "spaced", snippet(block.text, match.start()), block)


def _in_link(document: Document, link: Link) -> Iterator[EmailCandidate]:
    href = link.href
    lowered = href[:200].lower()
    block = document.blocks[link.block] if link.block < len(document.blocks) else None
    shown = next(iter(regexes.EMAIL.findall(link.text)), "") if "@" in link.text else ""
    where = link.text or link.label or _near(block)
    if lowered.startswith(("mailto:", "mailto%3a")):
        for address in _in_mailto(href):
            yield EmailCandidate(address, "mailto", where, block, shown)
    elif "email-protection#" in lowered:
        for code in regexes.CLOUDFLARE.findall(href):
            yield EmailCandidate(deobfuscate.cloudflare(code), "cloudflare", where, block, shown)
    elif lowered.startswith("javascript:"):
        for cipher in regexes.SHIFTED.findall(unquote(href)):
            yield EmailCandidate(deobfuscate.shifted(cipher), "shifted", where, block, shown)
        yield from _in_script(unquote(href), block)


def _in_mailto(href: str) -> Iterator[str]:
    """The addresses before the question mark: perhaps several, with a name, or disguised; and who gets a copy."""
    written, _, query = unquote(href.partition(":")[2] or href[9:]).partition("?")
    yield from _directly(written)
    for field in query.split("&"):
        key, _, copied = field.partition("=")
        if key.lower() in ("to", "cc", "bcc", "amp;cc", "amp;bcc"):
            yield from regexes.EMAIL.findall(copied)


def _directly(target: str) -> Iterator[str]:
    direct = [address for address in regexes.EMAIL.findall(target) if deobfuscate.is_address(address)]
    if direct:
        yield from direct
    elif target:
        yield deobfuscate.unwrapped(target)


def _in_script(source: str, block: Block | None) -> Iterator[EmailCandidate]:
    for address in email_scripts.addresses(source):
        yield EmailCandidate(address, "script", snippet(address), block)


def _may_build(source: str) -> bool:
    if "@" in source:
        return True
    signs = ("fromCharCode", "\\x40", "u0040", "atob(", ".reverse(")
    return len(source) < SMALL_SCRIPT and any(sign in source for sign in signs)


def _near(block: Block | None) -> str:
    return snippet(block.text) if block is not None else ""
