"""A name in a text, before the page around it has been looked at."""

from typing import NamedTuple


class Name(NamedTuple):
    """A name and the score of its words."""

    text: str  # without titles and credentials
    words: tuple[str, ...]  # folded
    title: str  # Dr. med. …
    credentials: str
    score: float


class NameCandidate(NamedTuple):
    """A name in a text."""

    name: Name
    is_whole: bool  # the name is the whole line, or a marked part of it
    role: str  # on the same line
    is_known_role: bool = True  # False: the text beside the name is in no list of roles
    does_work: bool = False  # the sentence says what the person does for the business
