"""Reads a robots.txt: only the groups for our agent, within limits that keep it cheap to parse and to hold."""

import re
from codecs import BOM_UTF8
from dataclasses import dataclass

from protego import Protego

MAX_RULES = 4_000  # for our agent; a check compares a URL with each of them
MAX_RULE_LENGTH = 2_048  # a URL is not longer
MAX_RULES_LENGTH = 131_072  # of all rules together
MAX_SITEMAPS = 1_000
# The memory of one parsed rule, measured: a plain one, one with wildcards, and one that is parsed in two ways.
PLAIN_BYTES, WILDCARD_BYTES, DOLLAR_BYTES = 300, 850, 1_800

# The spellings that Protego accepts. Other lines have no meaning, and by RFC 9309 they do not end a group either.
_DIRECTIVE = re.compile(
    rb"^[ \t]{0,100}(?:(?P<agent>user[- ]?agent)|(?P<sitemap>sitemaps?|site-map)"
    rb"|(?P<rule>allow|disallow|dissallow|dissalow|disalow|diasllow|disallaw|crawl[- ]delay))"
    rb"(?:[ \t]{0,100}:|[ \t])[ \t]{0,100}(?P<value>[^#\n]{0,2049})",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class RobotsFile:
    """The rules of a robots.txt for one agent, parsed, and its Sitemap lines."""

    rules: Protego
    rule_count: int
    sitemaps: tuple[str, ...]
    size: int  # in memory, estimated

    def allows(self, url: str) -> bool:
        """Return whether the agent may fetch this URL."""
        return bool(self.rules.can_fetch(url, "*"))

    @property
    def crawl_delay_seconds(self) -> float:
        """The delay that the file requests between two requests; 0 without one."""
        return self.rules.crawl_delay("*") or 0.0


def read_robots(body: bytes, agent: str) -> RobotsFile:
    """Read the rules for this agent, or those for all agents if the file does not name it.

    The groups of other agents are skipped, so a file that names thousands of them costs no more than one group.
    """
    groups = _Groups(agent.strip().lower())
    sitemaps: dict[str, None] = {}
    for line in _DIRECTIVE.finditer(body.removeprefix(BOM_UTF8).replace(b"\r", b"\n")):
        value = line["value"].decode("utf-8", "replace").strip()
        if line["agent"]:
            groups.name(value.lower())
        elif line["rule"]:
            groups.add(line["rule"].decode("ascii"), value)
        elif value and len(sitemaps) < MAX_SITEMAPS:
            sitemaps[value] = None
    text = "\n".join(["User-agent: *", *groups.rules])
    size = sum(map(_weight, groups.rules)) + sum(map(len, sitemaps))
    return RobotsFile(Protego.parse(text), len(groups.rules), tuple(sitemaps), size)


def _weight(rule: str) -> int:
    kind = DOLLAR_BYTES if "$" in rule else WILDCARD_BYTES if "*" in rule else PLAIN_BYTES
    return kind + len(rule)


class _Groups:
    """Collects the rules of the groups that name the agent most exactly."""

    def __init__(self, agent: str) -> None:
        self.rules: list[str] = []
        self._agent = agent
        self._length = 0
        self._best = 0  # the score of the groups in `rules`
        self._score = 0  # of the current group
        self._has_rules = True  # a User-agent line begins a new group after a rule

    def name(self, named: str) -> None:
        """Take a User-agent line: several in a row name one group."""
        if self._has_rules:
            self._score, self._has_rules = 0, False
        self._score = max(self._score, self._match(named))

    def add(self, field: str, value: str) -> None:
        """Take a rule of the current group."""
        self._has_rules = True
        if not self._score or self._score < self._best:
            return
        if self._score > self._best:
            self.rules, self._length, self._best = [], 0, self._score
        is_room = len(self.rules) < MAX_RULES and self._length + len(value) <= MAX_RULES_LENGTH
        if is_room and value and len(value) <= MAX_RULE_LENGTH:
            self.rules.append(f"{field}: {value}")
            self._length += len(value)

    def _match(self, named: str) -> int:
        """Return how exactly a name fits: the length of a token that begins a word of ours, 1 for all agents."""
        if named == "*":
            return 1
        token = named.replace("*", "")
        at = self._agent.find(token) if token else -1
        while at > 0 and (self._agent[at - 1].isalnum() or self._agent[at - 1] in "-_"):
            at = self._agent.find(token, at + 1)
        return 1 + len(token) if at >= 0 else 0
