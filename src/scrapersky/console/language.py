"""The language of a page: translations by gettext, chosen for each request.

The catalogs are `locale/<language>/LC_MESSAGES/console.mo`; without one the words are English. The pseudo-language
en-XA puts every word in brackets and makes it longer: what stays plain was not translated.
"""

import json
import re
from contextvars import ContextVar
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import Request

from scrapersky.console.assets import assets

ENGLISH, PSEUDO = "en", "en-XA"
COOKIE = "scrapersky-language"
LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,2}")
# Messages of the modules: say("…") with the English text.
IN_MODULE = re.compile(r'\bsay\(\s{0,20}"((?:[^"\\]|\\.){1,300})"')
PLACEHOLDER = re.compile(r"(%(?:\([a-z_]{1,30}\))?[sd%])")
LONGER = str.maketrans({vowel: vowel * 2 for vowel in "aeiouAEIOU"})


class PseudoTranslations(NullTranslations):
    """English in brackets, with doubled vowels; placeholders stay."""

    def gettext(self, message: str) -> str:
        """Return the message in brackets and about 40 % longer; what is in brackets was translated already."""
        if message.startswith("[") and message.endswith("]"):
            return message
        parts = PLACEHOLDER.split(message)
        return "[" + "".join(part if n % 2 else part.translate(LONGER) for n, part in enumerate(parts)) + "]"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        """Return the form for the number, in brackets."""
        return self.gettext(msgid1 if n == 1 else msgid2)


class Language:
    """A language: its code and its translations."""

    def __init__(self, code: str, translations: NullTranslations) -> None:
        self.code, self.translations = code, translations

    def module_words(self) -> str:
        """Return the translated messages of the modules as JSON; empty in English, which they contain."""
        return "" if self.code == ENGLISH else _module_words(self.code)


def gettext(message: str) -> str:
    """Return the message in the language of this request."""
    return current().translations.gettext(message)


def ngettext(one: str, many: str, count: int) -> str:
    """Return the form of the message for the number, in the language of this request."""
    return current().translations.ngettext(one, many, count)


def counted(one: str, many: str, count: int, **values: str) -> str:
    """Return the form of the message for `%(count)s`, which gets its thousands separated, with other values in it."""
    return ngettext(one, many, count) % {"count": f"{count:,}", **values}


def counted_each(first: str, *numbers: tuple[int, str, str], **values: str) -> str:
    """Return the first sentence, and one for each number that is not zero: the number, its message in both forms."""
    return " ".join([first, *(counted(one, many, count, **values) for count, one, many in numbers if count)])


def mark(message: str) -> str:
    """Return the message as it is: it is translated where it is shown. Marks it for the catalogs."""
    return message


@cache
def languages() -> dict[str, Language]:
    """Return English, the pseudo-language, and every language that has a catalog."""
    found = {ENGLISH: Language(ENGLISH, NullTranslations()), PSEUDO: Language(PSEUDO, PseudoTranslations())}
    folder: Traversable = files("scrapersky.console") / "locale"
    for one in folder.iterdir() if folder.is_dir() else ():
        catalog = one / "LC_MESSAGES" / "console.mo"
        if catalog.is_file():
            with catalog.open("rb") as file:
                found[one.name] = Language(one.name, GNUTranslations(file))
    return found


async def choose_language(request: Request) -> None:
    """Take the language of the cookie, or the first that the browser asks for and that has a catalog."""
    set_language(request)


def set_language(request: Request) -> None:
    """Take the language of the request: for answers that no route draws."""
    _current.set(languages()[_wanted(request)])


def current() -> Language:
    """Return the language of this request."""
    return _current.get() or languages()[ENGLISH]


def _wanted(request: Request) -> str:
    known = languages()
    if (chosen := request.cookies.get(COOKIE)) in known:
        return str(chosen)
    asked: list[str] = LANGUAGE.findall(request.headers.get("accept-language", "")[:200])
    for found in asked:
        for code in (found, found.partition("-")[0]):
            if code in known and code != PSEUDO:
                return code
    return ENGLISH


@cache
def _module_words(code: str) -> str:
    texts = (asset.plain.decode() for name, asset in assets().by_name.items() if name.endswith(".js"))
    messages = {found for text in texts for found in IN_MODULE.findall(text)}
    translate = languages()[code].translations.gettext
    return json.dumps({message: translate(message) for message in sorted(messages)}, ensure_ascii=False)


_current: ContextVar[Language | None] = ContextVar("language", default=None)
