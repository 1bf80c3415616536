"""Work measured in counts that are the same on every machine: calls of functions, and steps of a regular expression."""

import re
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

Result = TypeVar("Result")


def count_calls(function: Callable[..., Result], *args: object, **options: object) -> tuple[int, Result]:
    """Count the calls of Python and C functions while the function runs; return them with its result."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        result = function(*args, **options)
    finally:
        sys.setprofile(None)
    return calls, result


class TooManySteps(Exception):
    """A pattern has needed more steps than allowed."""


def count_steps(pattern: re.Pattern[str], text: str, limit: int) -> int:
    """Count the steps of a backtracking search for all matches in the text. Raises TooManySteps above the limit."""
    return _Matcher(pattern, text, limit).count()


class _Matcher:
    """Follows a pattern as the standard library does, element by element, and counts them."""

    def __init__(self, pattern: re.Pattern[str], text: str, limit: int) -> None:
        self.tree: Any = re._parser.parse(pattern.pattern, pattern.flags)
        self.flags = pattern.flags & (re.I | re.S | re.M)
        self.text = text
        self.limit = limit
        self.steps = 0
        self.single: dict[int, re.Pattern[str]] = {}

    def count(self) -> int:
        """Search the text from its beginning to its end."""
        place = 0
        while place <= len(self.text):
            end = next(self._sequence(list(self.tree), 0, place), None)
            place = max(place + 1, end or 0)
        return self.steps

    def _sequence(self, items: list[Any], index: int, place: int) -> Iterator[int]:
        if index == len(items):
            yield place
            return
        for end in self._item(items[index], place):
            yield from self._sequence(items, index + 1, end)

    def _item(self, item: Any, place: int) -> Iterator[int]:
        self.steps += 1
        if self.steps > self.limit:
            raise TooManySteps
        kind, value = str(item[0]), item[1]
        if kind in ("MAX_REPEAT", "MIN_REPEAT"):
            yield from self._repeat(value[0], int(value[1]), list(value[2]), place, kind == "MAX_REPEAT")
        elif kind == "BRANCH":
            for branch in value[1]:
                yield from self._sequence(list(branch), 0, place)
        elif kind == "SUBPATTERN":
            yield from self._sequence(list(value[3]), 0, place)
        elif kind in ("ASSERT", "ASSERT_NOT"):
            yield from self._look(value[0], value[1], place, kind == "ASSERT")
        elif kind == "AT":
            yield from self._at(str(value), place)
        elif place < len(self.text) and self._is_one(item, self.text[place]):
            yield place + 1

    def _repeat(self, least: int, most: int, items: list[Any], place: int, greedy: bool) -> Iterator[int]:
        if least <= 0 and not greedy:
            yield place
        if most > 0:
            for end in self._sequence(items, 0, place):
                if end > place:
                    yield from self._repeat(least - 1, most - 1, items, end, greedy)
        if least <= 0 and greedy:
            yield place

    def _look(self, direction: int, inner: Any, place: int, wanted: bool) -> Iterator[int]:
        start = place if direction > 0 else place - inner.getwidth()[0]
        found = start >= 0 and next(self._sequence(list(inner), 0, start), None) is not None
        if found is wanted:
            yield place

    def _at(self, position: str, place: int) -> Iterator[int]:
        around = self.text[max(0, place - 1) : place + 1]
        is_boundary = sum(letter.isalnum() or letter == "_" for letter in around) == 1
        holds = {
            "AT_BEGINNING": place == 0,
            "AT_BEGINNING_STRING": place == 0,
            "AT_END": place == len(self.text),
            "AT_BOUNDARY": is_boundary,
        }[position]
        if holds:
            yield place

    def _is_one(self, item: Any, letter: str) -> bool:
        """Return whether one character matches; compiled once for each element of the pattern."""
        key = id(item)
        if key not in self.single:
            state = re._parser.State()
            state.flags = int(self.flags | re.U)
            state.str = ""
            one = re._parser.SubPattern(state, [item])
            self.single[key] = _compile(one)
        return self.single[key].fullmatch(letter) is not None


def _compile(tree: Any) -> re.Pattern[str]:
    return re._compiler.compile(tree, tree.state.flags)  # type: ignore[attr-defined]
