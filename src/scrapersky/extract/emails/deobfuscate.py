"""Obfuscated email addresses: Cloudflare, spelled-out signs, shifted and reversed letters, split attributes."""

import base64
import codecs
import re
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import unquote

from scrapersky.extract.document.markup import HIDDEN_MAIL
from scrapersky.extract.document.model import Attributes
from scrapersky.extract.public_suffix import registrable_domain
from scrapersky.extract.word_lists import alternatives, load_table

# Callers look for an @ first; a match begins only at the front of a word, so a long run is read once.
EMAIL = re.compile(
    r"(?<![\w.+%-])\w[\w.+&'-]{0,63}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,6}[^\W\d_](?:[\w-]{0,61}[^\W_])"
)
HEXADECIMAL = re.compile(r"(?:[0-9a-fA-F]{2}){3,200}")
BASE64 = re.compile(r"[A-Za-z0-9+/=_-]{4,200}")
_URL_SAFE = str.maketrans("+/", "-_")
_keys = load_table("emails")["keys"]
LOCAL_KEYS, DOMAIN_KEYS, ENDING_KEYS = (_keys[name].split() for name in ("local", "domain", "ending"))
DOMAIN_ATTRIBUTES = frozenset(f"data-{key}" for key in DOMAIN_KEYS)
SHIFTED_RANGES = ((0x2B, 0x3A), (0x40, 0x5A), (0x61, 0x7A))  # TYPO3 rotates the characters within each of these


@lru_cache(4096)
def is_email_address(text: str) -> bool:
    """Return whether the whole text is one address with an existing ending."""
    return EMAIL.fullmatch(text) is not None and bool(registrable_domain(text.rpartition("@")[2]))


# -- addresses spelled out in text ------------------------------------------------------------------------------------

_obfuscation = load_table("emails")["obfuscation"]
_AT, _DOT = (alternatives(_obfuscation[sign].split()) for sign in ("at", "dot"))
_OPEN, _CLOSE = r"[\[({<|]\s{0,2}", r"\s{0,2}[\])}>|]"
_BRACKETED_DOT = rf"\s{{0,3}}{_OPEN}(?:{_DOT}|\.){_CLOSE}\s{{0,3}}|\s{{1,2}}(?:{_DOT})\s{{1,2}}"
_ANY_DOT = rf"(?:\s{{0,2}}\.\s?|{_BRACKETED_DOT})"
DOT_BETWEEN = re.compile(rf"{_BRACKETED_DOT}|\s{{0,2}}\.\s{{0,2}}", re.I)
# info [at] firma [dot] de: the @ in brackets or between dashes.
BRACKETED_AT = re.compile(
    rf"(?<![\w.+%-])(?P<local>[\w+-]{{1,64}}(?:(?:\.|{_ANY_DOT})[\w+-]{{1,64}}){{0,3}})"
    rf"(?:\s{{0,3}}{_OPEN}(?:{_AT}|@){_CLOSE}\s{{0,3}}|[-_]at[-_])"
    rf"(?P<domain>[\w-]{{1,63}}(?:{_ANY_DOT}[\w-]{{1,63}}){{1,4}})(?![\w@])",
    re.I,
)
# The @ of the pattern above alone: a quick search before the long one.
AT_IN_BRACKETS = re.compile(rf"[\[({{<|_-](?:(?<=[-_])at[-_]|(?<=[\[({{<|])\s{{0,2}}(?:{_AT}|@){_CLOSE})", re.I)


def _spelled_out(at_words: str, dot_words: str) -> re.Pattern[str]:
    """Compile the pattern for: name at firm dot com. The word for the dot is required."""
    domain = rf"(?P<domain>[\w-]{{1,63}}(?:\s(?:{dot_words})\s[\w-]{{1,63}}){{1,3}})"
    return re.compile(rf"(?<![\w.+%-])(?P<local>[\w.+-]{{1,64}})\s(?:{at_words})\s{domain}(?![\w@])", re.I)


# The English at takes an English or German dot only: "at this point in time" is not an address.
ENGLISH_AT = _spelled_out("at", "dot|punkt")
# Names of the @ in other languages: info arroba firma punto es, INFO ARROBA FIRMA PUNTO ES.
NAMED_SIGNS = tuple(
    f" {name} " for word in _obfuscation["named"].split() for name in dict.fromkeys((word, word.upper()))
)
NAMED_AT = _spelled_out(alternatives([sign.strip() for sign in NAMED_SIGNS]), _DOT)
# Japanese pages: the wide @, or another sign that the reader is asked to replace.
REPLACED_SIGNS = ("＠", "★", "☆", "●", "■", "◆", "◎")
REPLACED_AT = re.compile(
    r"(?<![\w.+%-])([a-z0-9][a-z0-9_.+-]{0,63})[＠★☆●■◆◎]((?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,20})(?![a-z0-9@])", re.I
)
# info#firma.cn (将#换成@): the page says which sign stands for the @.
HASH_MEANS_AT = re.compile(
    r"#\s?[”\"'）)]?\s?(?:换成|換成|替换|替換|改为|改為|改成|代替|=|→|->|durch|par|by|with|por|con|na|mit|for|to|an)[^@#]{0,12}@"
    r"|(?<!\w)#(?!\w)[^@#]{0,40}(?<![\w.])@(?!\w)|(?<![\w.])@(?!\w)[^@#]{0,40}(?<!\w)#(?!\w)"
    r"|@[^@#]{0,14}(?:代替|instead|statt|au lieu|=)[^@#]{0,8}#",
    re.I,
)
HASH_AT = re.compile(
    r"(?<![\w.+%#-])([a-z0-9][a-z0-9_.+-]{0,63})#((?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,20})(?![a-z0-9@#])", re.I
)
# user@firma [dot] de
DOT_AFTER_AT = re.compile(
    r"(?<![\w.+%-])([\w.+-]{1,64}@[\w.-]{1,63}\s{0,2}[\[({]\s{0,2}\w{1,6}\s{0,2}[\])}]\s{0,2}[a-z]{2,10})(?![\w@])",
    re.I,
)
# Quick searches for a spelled-out address: a word in brackets; -at-, AT, or at … dot. Each begins with a rare sign.
BRACKETED_SIGN = re.compile(
    r"[\[({<|](?:\s{0,2}(?:a|[^\W\d_]{2,12}(?:-a)?)\s{0,2}[\])}>|]|(?<=[\[({])\s{0,2}[@.]\s{0,2}[\])}])"
)
SPELLED_SIGN = re.compile(r"[-_]at[-_]|\s(?:AT|at)\s[\w-]{1,63}\s")
BRACKETS = ("(", "[", "{", "<", "|")
SPELLED = ("at-", "at_", " at ", " AT ")
SMALL_NAMED_SIGNS = [sign for sign in NAMED_SIGNS if sign.islower()]
ASCII_NAMED_SIGNS = [sign for sign in SMALL_NAMED_SIGNS if sign.isascii()]
MAX_TEXT = 5_000


def signs_of_emails(text: str) -> list[str]:
    """Return the signs that a page has, of which each address has one: the @, and those of spelled-out addresses."""
    signs = [sign for sign in ("@", *BRACKETS) if sign in text]
    lowered, is_ascii = text.lower(), text.isascii()
    # An "at" is between hyphens, or before a dot in words.
    is_glued = ("-" in text and "at-" in lowered) or ("_" in text and "at_" in lowered)
    if is_glued or "dot" in lowered or "punkt" in lowered:
        signs += [sign for sign in SPELLED if sign in text]
    for sign in ASCII_NAMED_SIGNS if is_ascii else SMALL_NAMED_SIGNS:
        if sign in lowered:
            signs += (sign, sign.upper())
    return signs if is_ascii else signs + [sign for sign in REPLACED_SIGNS if sign in text]


def may_be_spelled_out(text: str) -> bool:
    """Check quickly whether the text can contain a spelled-out address."""
    if len(text) >= MAX_TEXT:
        return False
    for sign in BRACKETS:
        if sign in text:
            if BRACKETED_SIGN.search(text) is not None:
                return True
            break
    for sign in SPELLED:
        if sign in text:
            if SPELLED_SIGN.search(text) is not None:
                return True
            break
    return _has_named_sign(text) or _has_replaced_sign(text)


def find_spelled_out(text: str) -> Iterator[tuple[str, int]]:
    """Yield spelled-out addresses with their positions; " at " without a word for the dot is none."""
    patterns = (
        (AT_IN_BRACKETS.search(text), BRACKETED_AT),
        (" at " in text.lower(), ENGLISH_AT),
        (_has_named_sign(text), NAMED_AT),
    )
    for is_possible, pattern in patterns:
        for match in pattern.finditer(text) if is_possible else ():
            if match["local"].rpartition(".")[2].strip().isdigit() and "(a)" in match[0].lower():
                continue  # Art. 13 (a) gdpr.example: a paragraph
            yield f"{DOT_BETWEEN.sub('.', match['local'])}@{DOT_BETWEEN.sub('.', match['domain'])}", match.start()
    if _has_replaced_sign(text):
        for match in REPLACED_AT.finditer(text):
            yield f"{match[1]}@{match[2]}", match.start()
    if "@" in text:
        for match in DOT_AFTER_AT.finditer(text):
            yield DOT_BETWEEN.sub(".", match[1]), match.start()


def _has_named_sign(text: str) -> bool:
    for sign in NAMED_SIGNS:  # noqa: SIM110  # a generator takes twice as long
        if sign in text:
            return True
    return False


def says_hash_means_at(text: str) -> bool:
    """Return whether the text of a page says that its addresses have a # for the @."""
    return "#" in text and "@" in text and HASH_MEANS_AT.search(text) is not None


def find_with_hash(text: str) -> Iterator[tuple[str, int]]:
    """Yield the addresses with a # for the @, with their positions."""
    for match in HASH_AT.finditer(text):
        yield f"{match[1]}@{match[2]}", match.start()


def _has_replaced_sign(text: str) -> bool:
    return not text.isascii() and any(sign in text for sign in REPLACED_SIGNS)


# -- encoded addresses ------------------------------------------------------------------------------------------------


def decode_cloudflare(code: str) -> str:
    """Decode data-cfemail: every byte is XORed with the first one."""
    if not HEXADECIMAL.fullmatch(code):
        return ""
    key, *letters = bytes.fromhex(code)
    return bytes(letter ^ key for letter in letters).decode("utf-8", "replace")


def decode_reversed(word: str) -> str:
    """Return the address that the word is backwards, or ""."""
    return word[::-1] if is_email_address(word[::-1]) else ""


def decode_reversed_or_rot13(word: str) -> str:
    """Return the address that a reversed or ROT13 attribute is, or "". Not for text: logo@2x.png would become one."""
    rotated = codecs.encode(word, "rot13")
    return decode_reversed(word) or (rotated if is_email_address(rotated) else "") or decode_reversed(rotated)


def decode_shifted(cipher: str) -> str:
    """Decode a mailto: whose characters were shifted by a fixed number within their ranges (TYPO3)."""
    for offset in range(-25, 26):
        plain = "".join(_shift(character, offset) for character in cipher)
        if plain.startswith("mailto:"):
            return plain.removeprefix("mailto:")
    return ""


def _shift(character: str, offset: int) -> str:
    for low, high in SHIFTED_RANGES:
        if low <= ord(character) <= high:
            return chr((ord(character) + offset - low) % (high - low + 1) + low)
    return character


def decode_base64(value: str) -> str:
    """Return the address that was encoded as base64, or ""."""
    plain = _base64_text(value).removeprefix("mailto:")
    return plain if is_email_address(plain) else ""


def _base64_text(value: str) -> str:
    bare = value.rstrip("=")
    if not BASE64.fullmatch(value) or len(bare) % 4 == 1:
        return ""
    raw = base64.urlsafe_b64decode(bare.translate(_URL_SAFE) + "=" * (-len(bare) % 4))
    return raw.decode("utf-8", "replace")


def decode_value(value: str) -> str:
    """Decode an attribute: plain, percent-encoded, spelled out, reversed, ROT13, Cloudflare or base64."""
    value = unquote(value).strip().removeprefix("mailto:")
    if is_email_address(value):
        return value
    for candidate, _ in find_spelled_out(value):
        if is_email_address(candidate):
            return candidate
    if "@" in value:
        return decode_reversed_or_rot13(value)
    if HEXADECIMAL.fullmatch(value) and is_email_address(decode_cloudflare(value)):
        return decode_cloudflare(value)
    return decode_base64(value)


def decode_attributes(attributes: Attributes, tag: str = "") -> str:
    """Return the address in one attribute of an element, or in pieces in several of them, or ""."""
    if tag == HIDDEN_MAIL:
        whole = "@".join(_base64_text(attributes.get(name, "")) for name in ("first", "last"))
        return whole if is_email_address(whole) else ""
    if not _mention_mail(tuple(attributes)):
        return ""
    values = {name.removeprefix("data-"): value for name, value in attributes.items() if name.startswith("data-")}
    for name, value in values.items():
        if "mail" in name and 5 < len(value) <= 400 and (whole := decode_value(value)):
            return whole
    local, domain, ending = (_first(values, keys) for keys in (LOCAL_KEYS, DOMAIN_KEYS, ENDING_KEYS))
    if not local or not domain:
        return ""
    candidate = f"{local}@{domain}.{ending.lstrip('.')}" if ending else f"{local}@{domain}"
    return candidate if is_email_address(candidate) else ""


@lru_cache(4096)  # the same few sets of names occur on every page
def _mention_mail(names: tuple[str, ...]) -> bool:
    return not DOMAIN_ATTRIBUTES.isdisjoint(names) or any("mail" in name for name in names)


def _first(values: Attributes, keys: list[str]) -> str:
    return next((values[key].strip() for key in keys if values.get(key)), "")
