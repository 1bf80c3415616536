"""Shares that come out exactly: of every hundred businesses each gets one card of a shuffled deck."""

import random
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

Card = TypeVar("Card")


def build_pool(shares: Mapping[Card, int]) -> tuple[Card, ...]:
    """Build a list with as many entries of each kind as its share."""
    return tuple(card for card, count in shares.items() for _ in range(count))


def draw(seed: int, name: str, cards: Sequence[Card], number: int) -> Card:
    """Return the entry of this number; the list is shuffled again in each round."""
    turn, place = divmod(number, len(cards))
    return cards[_order(seed, name, turn, len(cards))[place]]


@lru_cache(4096)
def _order(seed: int, name: str, turn: int, size: int) -> list[int]:
    order = list(range(size))
    random.Random(f"{seed} {name} {turn}").shuffle(order)
    return order
