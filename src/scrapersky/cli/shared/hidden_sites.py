"""The sentence about sites that show nothing to a plain reader, the same in every command."""

from collections.abc import Mapping

# What one site does, and what several do.
WORDS = {
    "javascript": ("is drawn by JavaScript", "are drawn by JavaScript"),
    "bot_check": ("asks for a bot check", "ask for a bot check"),
    "login": ("asks for a login", "ask for a login"),
    "consent": ("asks for consent first", "ask for consent first"),
    "parked": ("is parked", "are parked"),
    "unfinished": ("is under construction", "are under construction"),
}


def describe_hidden_sites(counts: Mapping[str, int]) -> str | None:
    """Return a sentence such as “12 sites are drawn by JavaScript, 3 ask for a bot check.”; None if there is none."""
    parts: list[str] = []
    for reason, count in counts.items():
        if count:
            noun = "" if parts else "site " if count == 1 else "sites "
            parts.append(f"{count} {noun}{WORDS[reason][count > 1]}")
    return f"{', '.join(parts)}." if parts else None
