"""Addresses out of their disguises: Cloudflare, written-out signs, shifted and reversed letters, split attributes."""

import base64
import codecs
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import unquote

from scrapersky.extract import public_suffix, regexes, word_lists
from scrapersky.extract.document.markup import HIDDEN_MAIL
from scrapersky.extract.document.model import Attributes

_obfuscation = word_lists.table("emails")["obfuscation"]
_AT = word_lists.alternatives(_obfuscation["at"].split())
_DOT = word_lists.alternatives(_obfuscation["dot"].split())
AT_IN_WORDS = regexes.at_in_words(_AT)
WRITTEN_OUT = regexes.written_out(_AT, _DOT)
# "At this point in time" is no address: the English at takes the English dot.
PLAIN_WORDS = regexes.plain_words("at", "dot|punkt")
NAMED_SIGNS = tuple(f" {word} " for word in _obfuscation["named"].split())
NAMED_WORDS = regexes.plain_words(word_lists.alternatives([sign.strip() for sign in NAMED_SIGNS]), _DOT)
DOT_BETWEEN = regexes.dot_between(_DOT)
_keys = word_lists.table("emails")["keys"]
LOCAL_KEYS, DOMAIN_KEYS, ENDING_KEYS = (_keys[name].split() for name in ("local", "domain", "ending"))


DOMAIN_ATTRIBUTES = frozenset(f"data-{key}" for key in DOMAIN_KEYS)
LONG_TEXT = 5_000
BRACKETS = ("(", "[", "{", "<", "|")
SPELLED = ("at-", "at_", " at ", " AT ")
FOR_AT = ("＠", "★", "☆", "●", "■", "◆", "◎")
SIGNS = (*BRACKETS, *SPELLED, *FOR_AT, *NAMED_SIGNS)  # without one of them nothing is written out


def is_address(candidate: str) -> bool:
    """Whether the whole text is one address whose ending exists."""
    match = regexes.EMAIL.fullmatch(candidate)
    return match is not None and bool(public_suffix.registrable_domain(candidate.rpartition("@")[2]))


def cloudflare(code: str) -> str:
    """The address behind data-cfemail: the first byte is the key of all the others."""
    if not regexes.HEXADECIMAL.fullmatch(code):
        return ""
    key, *letters = bytes.fromhex(code)
    return bytes(letter ^ key for letter in letters).decode("utf-8", "replace")


def written_out(text: str) -> Iterator[tuple[str, int]]:
    """Addresses such as info [at] firma [dot] de, with their position; a plain " at " alone is never one."""
    if AT_IN_WORDS.search(text):
        for match in WRITTEN_OUT.finditer(text):
            yield _joined(match["local"], match["domain"]), match.start()
    if " at " in text.lower():
        for match in PLAIN_WORDS.finditer(text):
            yield _joined(match["local"], match["domain"]), match.start()
    if _names_sign(text):
        for match in NAMED_WORDS.finditer(text):
            yield _joined(match["local"], match["domain"]), match.start()
    if _has_sign_for_at(text):
        for match in regexes.SIGN_FOR_AT.finditer(text):
            yield f"{match[1]}@{match[2]}", match.start()
    if "@" in text:
        for match in regexes.DOT_AFTER_AT.finditer(text):
            yield DOT_BETWEEN.sub(".", match[1]), match.start()


def backwards(word: str) -> str:
    """The address that a reversed word stands for, or nothing."""
    return word[::-1] if is_address(word[::-1]) else ""


def turned(word: str) -> str:
    """The address that a reversed or ROT13 attribute stands for. Not for text: logo@2x.png would become one in .cat."""
    rotated = codecs.encode(word, "rot13")
    return backwards(word) or (rotated if is_address(rotated) else "") or backwards(rotated)


def shifted(cipher: str) -> str:
    """The address of a mailto: whose characters were moved by a fixed number within their ranges (TYPO3)."""
    for offset in range(-25, 26):
        plain = "".join(_shift(character, offset) for character in cipher)
        if plain.startswith("mailto:"):
            return plain.removeprefix("mailto:")
    return ""


def from_attributes(attributes: Attributes, tag: str = "") -> str:
    """An address that lies in one attribute, or in pieces in several."""
    if tag == HIDDEN_MAIL:
        whole = "@".join(_from_base64(attributes.get(name, "")) for name in ("first", "last"))
        return whole if is_address(whole) else ""
    if not _speak_of_mail(tuple(attributes)):
        return ""
    values = {name.removeprefix("data-"): value for name, value in attributes.items() if name.startswith("data-")}
    for name, value in values.items():
        if "mail" in name and 5 < len(value) <= 400:
            whole = unwrapped(value)
            if whole:
                return whole
    local, domain = _first(values, LOCAL_KEYS), _first(values, DOMAIN_KEYS)
    ending = _first(values, ENDING_KEYS)
    if not local or not domain:
        return ""
    candidate = f"{local}@{domain}.{ending.lstrip('.')}" if ending else f"{local}@{domain}"
    return candidate if is_address(candidate) else ""


@lru_cache(4096)  # the same few sets of names come on every page
def _speak_of_mail(names: tuple[str, ...]) -> bool:
    return not DOMAIN_ATTRIBUTES.isdisjoint(names) or any("mail" in name for name in names)


def unwrapped(value: str) -> str:
    """The address in an attribute: as it is, percent-encoded, written out, turned, base64 or Cloudflare's."""
    value = unquote(value).strip().removeprefix("mailto:")
    if is_address(value):
        return value
    for candidate, _ in written_out(value):
        if is_address(candidate):
            return candidate
    if "@" in value:
        return turned(value)
    if regexes.HEXADECIMAL.fullmatch(value) and is_address(cloudflare(value)):
        return cloudflare(value)
    return from_base64(value)


def from_base64(value: str) -> str:
    """The address that was hidden as base64, or nothing."""
    plain = _from_base64(value).removeprefix("mailto:")
    return plain if is_address(plain) else ""


def _from_base64(value: str) -> str:
    bare = value.rstrip("=")
    if not regexes.BASE64.fullmatch(value) or len(bare) % 4 == 1:
        return ""
    raw = base64.urlsafe_b64decode(bare.translate(_URL_SAFE) + "=" * (-len(bare) % 4))
    return raw.decode("utf-8", "replace")


_URL_SAFE = str.maketrans("+/", "-_")
# TYPO3 turns the characters round within these ranges.
_RANGES = ((0x2B, 0x3A), (0x40, 0x5A), (0x61, 0x7A))


def _shift(character: str, offset: int) -> str:
    for low, high in _RANGES:
        if low <= ord(character) <= high:
            return chr((ord(character) + offset - low) % (high - low + 1) + low)
    return character


def _joined(local: str, domain: str) -> str:
    return f"{DOT_BETWEEN.sub('.', local)}@{DOT_BETWEEN.sub('.', domain)}"


def _first(values: Attributes, keys: list[str]) -> str:
    return next((values[key].strip() for key in keys if values.get(key)), "")


def may_be_written_out(text: str) -> bool:
    """A quick look whether the text can hold a written-out address at all."""
    if len(text) >= LONG_TEXT:
        return False
    for sign in BRACKETS:
        if sign in text:
            if regexes.BRACKETED_SIGN.search(text) is not None:
                return True
            break
    for sign in SPELLED:
        if sign in text:
            if regexes.SPELLED_SIGN.search(text) is not None:
                return True
            break
    return _names_sign(text) or _has_sign_for_at(text)


def _names_sign(text: str) -> bool:
    """Whether a word for the @ stands in the text, as it is called in some language."""
    for sign in NAMED_SIGNS:  # noqa: SIM110  # a generator takes twice as long
        if sign in text:
            return True
    return False


def _has_sign_for_at(text: str) -> bool:
    return not text.isascii() and any(sign in text for sign in FOR_AT)
