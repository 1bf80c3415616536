"""Host names of the sandbox: invented, unique, and holding the number of their business."""

from scrapersky.sandbox.world.slugs import slug

LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
TAIL = 4
SIZE: int = len(LETTERS) ** TAIL
# Odd and no multiple of 3: so it has an inverse, and neighbours in the world are no neighbours in the alphabet.
FACTOR = 611_953
INVERSE: int = pow(FACTOR, -1, SIZE)


def host_of(noun: str, word: str, seed: int, number: int, ending: str) -> str:
    """Build the domain of a business: words of its name, then its encoded number."""
    return f"{slug(noun)}-{slug(word)}-{_tail(seed, number)}.{ending}"


def number_of(host: str, seed: int) -> int | None:
    """Decode the number of the business from a domain."""
    tail = host.partition(".")[0].rpartition("-")[2]
    if len(tail) != TAIL or not tail.isascii() or not tail.isalnum():
        return None
    return (int(tail, 36) - seed) * INVERSE % SIZE


def _tail(seed: int, number: int) -> str:
    left = (number * FACTOR + seed) % SIZE
    letters = ""
    for _ in range(TAIL):
        left, place = divmod(left, len(LETTERS))
        letters = LETTERS[place] + letters
    return letters
