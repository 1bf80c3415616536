"""Bars drawn as SVG: the rows of a step by their state."""

from collections.abc import Sequence

from markupsafe import Markup

WIDTH, HEIGHT = 240, 8


def stacked_bar(parts: Sequence[tuple[str, int]]) -> Markup:
    """Return a bar whose parts (a CSS class and a count each) fill it in proportion; empty if all counts are 0."""
    total = sum(count for _, count in parts)
    drawn, left = [], 0.0
    for name, count in parts:
        width = WIDTH * count / total if total else 0.0
        if width:
            drawn.append(
                Markup('<rect class="{}" x="{}" width="{}" height="{}"></rect>').format(
                    name, round(left, 2), round(width, 2), HEIGHT
                )
            )
        left += width
    return Markup('<svg class="bar" viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">{}</svg>').format(
        WIDTH, HEIGHT, Markup("").join(drawn)
    )
