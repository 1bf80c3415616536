"""Lines that list people: Jane Roe (cook), John Doe (till). Churchwardens: Jane Roe and John Doe."""

import re

from scrapersky.extract.people.candidate import Name, NameCandidate
from scrapersky.extract.people.labels import is_department
from scrapersky.extract.people.names import is_family_name, is_given_name, is_role, name_by_form, parse_name
from scrapersky.extract.people.roles import is_title_line

MAX_LIST = 500  # characters
MAX_ITEM = 90
LABEL = re.compile(r"(?P<label>[^\W\d_][^:;.()]{2,50}?)\s?[:：]\s")
DASH_LABEL = re.compile(r"(?P<label>[^\W\d_][^:;.,()–—-]{2,40}?)\s[–—-]\s(?=[^,]{3,60},\s)")
DASH = re.compile(r"\s[–—-]\s")
# Signs and words between two people; those inside brackets are removed with the brackets.
SEPARATOR = re.compile(
    r"\s?[,;|•·]\s(?:(?:und|and|et|y|e|i|a|ja|og|och|en|oraz|eta|ir|un)\s)?|\s[/&+]\s"
    r"|\s(?:und|and|et|y|e|i|a|ja|og|och|en|oraz|sowie|sekä|samt|či|or|oder|ou|o|oppure|eller|tai|lub|nebo|vagy|sau|eta|ir|un|și|és|ve|veya|и|или|і|та|και|ή)\s"
)
BRACKETS = re.compile(r"\s?\(([^()]{2,50})\)")
MAY_LIST = re.compile(
    r"\)\s?[,;]\s|;\s|\s(?:sowie|sekä|samt|oraz|eta|ir|un|and|und|et|ja|og|och|y|e|i|en|a|или|и|і|та|και|ve|és|și|[&+/])\s"
)


def find_listed_people(text: str) -> list[NameCandidate]:
    """Return the people of a line that consists of names, with roles in brackets or behind a label; or nothing."""
    if not 8 < len(text) <= MAX_LIST:
        return []
    label = LABEL.match(text)
    if label is None and (dash := DASH_LABEL.match(text)) is not None and is_role(dash["label"]):
        label = dash  # Members – Jane Roe, John Doe
    elif MAY_LIST.search(text) is None and text.count(" - ") + text.count(" – ") < 2 and not _is_row(text, label):
        return []
    role = label["label"].strip() if label is not None else ""
    rest = text[label.end() :] if label is not None else text
    items = _items(DASH.sub(", ", rest) if label is not None and "," not in rest else rest)
    named = [(parse_name(item), bracket) for item, bracket in items]
    people = [(name, bracket) for name, bracket in named if name is not None and len(name.words) > 1]
    if len(people) > 2 and len(people) == len(items) - 1:  # Sá Pessoa among other names: an ordinary word in a name
        named = [(name or name_by_form(item), bracket) for (name, bracket), (item, _) in zip(named, items, strict=True)]
        people = [(name, bracket) for name, bracket in named if name is not None]
    if len(people) < max(2, len(items)) or not _are_likely([name for name, _ in people], is_role(role)):
        return []
    if role and not is_title_line(role):
        return []
    is_known_list = is_role(role) or is_department(role) or any(is_role(one) or is_department(one) for _, one in people)
    if len(people) > 2:  # a line that consists of names
        people = [(name._replace(score=max(name.score, 0.15)), bracket) for name, bracket in people]
    return [NameCandidate(name, True, bracket or role, is_known_role=is_known_list) for name, bracket in people]


def _is_row(text: str, label: re.Match[str] | None) -> bool:
    """Return whether a line has three parts or more between commas that begin with a capital, each of several words."""
    items = text[label.end() if label is not None else 0 :].split(", ")
    return len(items) > 2 and all(" " in item and (item[0].isupper() or item[:4].endswith(". ")) for item in items)


def _items(text: str) -> list[tuple[str, str]]:
    """Return the parts of a list, each with what stands in brackets behind it; nothing if one is too long."""
    brackets: list[str] = []

    def remember(match: re.Match[str]) -> str:
        brackets.append(match[1])
        return f"\x00{len(brackets) - 1}"

    items = []
    for part in SEPARATOR.split(BRACKETS.sub(remember, text).rstrip(" .,;")):
        name, _, place = part.partition("\x00")
        if not 4 <= len(name) <= MAX_ITEM or (place and not place.isdecimal()):
            return []
        items.append((name.strip(), brackets[int(place)] if place else ""))
    return items


def _are_likely(names: list[Name], is_behind_role: bool) -> bool:
    """Return whether a third of the names have a known word (one behind a role), and none an ordinary one."""
    if any(name.score <= -0.3 for name in names):
        return False
    known = sum(
        bool(name.title)
        or is_given_name(name.text.partition(" ")[0])
        or is_family_name(name.text.rpartition(" ")[2])
        or is_given_name(name.text.rpartition(" ")[2])
        for name in names
    )
    return known * 3 >= len(names) or (is_behind_role and known > 0)
