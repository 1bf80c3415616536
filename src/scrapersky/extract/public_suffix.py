"""The registrable domain of a host name, by the public suffix list that the package tldextract carries.

Only its list is read: the package imports an HTTP client, which takes 10 MB and a seventh of a second in each process.
"""

import re
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import idna

RESERVED_ENDINGS = ("example", "test")  # RFC 2606; the sandbox and the tests use them
OTHER_DOTS = str.maketrans("\u3002\uff0e\uff61", "...")
SCHEME = re.compile(r"(?:[a-zA-Z0-9+.-]++:)?//")
BEHIND_AUTHORITY = re.compile(r"[/?#]")
RULE = re.compile(r"^[.*!]*+\w\S*+", re.MULTILINE)
PRIVATE_RULES = "// ===BEGIN PRIVATE DOMAINS==="


class HostParts(NamedTuple):
    """The public suffix of a host and the label before it; "" for what the host does not have."""

    domain: str
    suffix: str

    @property
    def registrable(self) -> str:
        """Both together, or "" if one is missing."""
        return f"{self.domain}.{self.suffix}" if self.domain and self.suffix else ""


class _Rules(NamedTuple):
    """The rules of the list, and the endings of rules, label by label: uk, co.uk."""

    rules: frozenset[str]
    endings: frozenset[str]


@lru_cache(4096)
def registrable_domain(host: str) -> str:
    """Return the registered domain of a host (shop.firma.co.uk -> firma.co.uk), or "" when its ending is unknown."""
    labels = host.lower().strip(".").split(".")
    if len(labels) < 2:
        return ""
    if labels[-1] in RESERVED_ENDINGS:
        return ".".join(labels[-2:])
    return split_host(host).registrable.lower()


def split_host(host: str, *, is_private_kept: bool = False) -> HostParts:
    """Split a host at its public suffix; with private suffixes, such as those of hosting companies."""
    labels = _host_of(host).translate(OTHER_DOTS).split(".")
    start = _suffix_start(labels, _load_rules(is_private_kept))
    return HostParts(labels[start - 1] if start else "", ".".join(labels[start:]))


def _suffix_start(labels: list[str], listed: _Rules) -> int:
    """Return the index of the first label of the public suffix; the number of labels if no rule fits."""
    start, ending = len(labels), ""
    for index in range(len(labels) - 1, -1, -1):
        label = _decoded(labels[index])
        longer = f"{label}.{ending}" if ending else label
        if longer not in listed.endings:
            if f"*.{ending}" in listed.rules:
                return index + 1 if f"!{longer}" in listed.rules else index
            break
        ending = longer
        if longer in listed.rules:
            start = index
    return start


def _host_of(text: str) -> str:
    """Return the host of an address with or without scheme, user, port and path."""
    scheme = SCHEME.match(text)
    authority = BEHIND_AUTHORITY.split(text[scheme.end() :] if scheme else text, maxsplit=1)[0].rpartition("@")[2]
    if authority.startswith("[") and "]" in authority:
        return authority.partition("]")[0] + "]"
    return authority.partition(":")[0].strip().rstrip(".\u3002\uff0e\uff61")


def _decoded(label: str) -> str:
    """Return the label in the letters of the list: xn--j1amh is укр."""
    lowered = label.lower()
    if lowered.startswith("xn--"):
        try:
            return idna.decode(lowered)
        except (UnicodeError, IndexError):
            return lowered
    return lowered


@cache
def _load_rules(is_private_kept: bool) -> _Rules:
    """Read the list of the installed package, without importing it."""
    package = find_spec("tldextract")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("tldextract is not installed: it carries the public suffix list.")
    text = Path(package.origin).with_name(".tld_set_snapshot").read_text("utf-8")
    rules = frozenset(RULE.findall(text if is_private_kept else text.partition(PRIVATE_RULES)[0]))
    return _Rules(rules, frozenset(_endings(rules)))


def _endings(rules: frozenset[str]) -> set[str]:
    endings = set(rules)
    for rule in rules:
        while "." in rule:
            rule = rule.partition(".")[2]
            endings.add(rule)
    return endings
