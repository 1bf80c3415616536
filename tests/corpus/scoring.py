"""Precision, recall and F1 of contacts on labelled pages, as counts; no value leaves this module."""

import json
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from scrapersky.extract.contacts import read_contacts
from scrapersky.extract.document.charset import decode
from scrapersky.extract.results import Contacts

FIELDS = ("emails", "phones", "socials", "people")
TITLES = frozenset(("dr", "dra", "prof", "mr", "mrs", "ms", "herr", "frau", "mgr", "mvdr", "med", "msc", "rev", "ing"))


@dataclass
class Score:
    """Counts per field."""

    right: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)

    def f1(self, name: str) -> float:
        """Return the harmonic mean of precision and recall."""
        right, errors = self.right[name], self.wrong[name] + self.missed[name]
        return 2 * right / (2 * right + errors) if right or errors else 1.0

    def add(self, name: str, found: set[Any], true: set[Any], neutral: set[Any]) -> None:
        """Count one page."""
        found = found - (neutral - true)
        self.right[name] += len(found & true)
        self.wrong[name] += len(found - true)
        self.missed[name] += len(true - found)


def score(folder: Path, region: bool = True) -> Score:
    """Score every labelled page of a folder."""
    result = Score()
    for line in (folder / "labels.jsonl").read_text("utf-8").splitlines():
        label = json.loads(line)
        html = decode((folder / label["file"]).read_bytes()).text
        contacts = read_contacts(html, url=label.get("url", ""), region=label["region"] if region else None)
        compare(result, contacts, label)
    return result


def compare(result: Score, contacts: Contacts, label: dict[str, Any]) -> None:
    """Count the fields of one page."""
    neutral = label.get("neutral", {})
    lower = str.lower
    result.add(
        "emails",
        {email.address for email in contacts.emails},
        set(map(lower, label["emails"])),
        set(map(lower, neutral.get("emails", []))),
    )
    result.add(
        "phones",
        {phone.number for phone in contacts.phones if phone.kind != "fax"},
        set(label["phones"]),
        {*label["fax"], *neutral.get("phones", [])},
    )
    socials = [url for urls in label["socials"].values() for url in (urls if isinstance(urls, list) else [urls])]
    ignored = {"whatsapp", "telegram"}
    result.add(
        "socials",
        {_path(social.url) for social in contacts.socials if social.platform not in ignored},
        set(map(_path, socials)),
        set(map(_path, neutral.get("socials", []))),
    )
    people = [_words(person.name) for person in contacts.people]
    true = [_words(person["name"]) for person in label["people"]]
    unjudged = [_words(name) for name in neutral.get("people", [])]
    _count_people(result, people, true, unjudged)


def _count_people(
    result: Score, found: list[frozenset[str]], true: list[frozenset[str]], neutral: list[frozenset[str]]
) -> None:
    left = list(dict.fromkeys(true))
    for words in dict.fromkeys(found):
        match = next((one for one in left if _same(words, one)), None)
        if match is not None:
            left.remove(match)
            result.right["people"] += 1
        elif not any(_same(words, one) or words <= one for one in [*neutral, *true]):
            result.wrong["people"] += 1
    result.missed["people"] += len(left)


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    return one == other or (len(one & other) >= 2 and (one <= other or other <= one))


def _words(name: str) -> frozenset[str]:
    folded = unicodedata.normalize("NFKD", name.partition(",")[0]).casefold()
    plain = "".join(one if one.isalnum() else " " for one in folded if not unicodedata.combining(one))
    return frozenset(word for word in plain.split() if word not in TITLES and len(word) > 1)


def _path(url: str) -> str:
    parts = urlsplit(url if "//" in url else f"https://{url}")
    host = parts.netloc.lower().removeprefix("www.").replace("twitter.com", "x.com")
    return host + unquote(parts.path).lower().rstrip("/") + (f"?{parts.query}" if "profile.php" in parts.path else "")
