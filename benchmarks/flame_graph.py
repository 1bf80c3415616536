"""A flame graph: sampled stacks drawn as SVG, the width of a box is its share of the samples."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from html import escape

Stacks = Mapping[tuple[str, ...], int]  # the frames from the outermost to the innermost: samples

WIDTH, ROW, TOP = 1600, 16, 28
MIN_PIXELS = 0.4
PIXELS_PER_LETTER = 6.2
COLOURS = ("#f4a261", "#e9c46a", "#e76f51", "#f2b880", "#eaac8b")
_LINE_NUMBER = re.compile(r":\d{1,6}\)$")
_PROCESS = re.compile(r"^process \d{1,10}:.*$")


def read_stacks(text: str, waits: Collection[str] = ()) -> Stacks:
    """Read lines of frames with semicolons and a count, without the stacks whose innermost function waits.

    Line numbers, and the ids and commands of processes, are left out.
    """
    stacks = Counter[tuple[str, ...]]()
    for line in text.splitlines():
        written, _, count = line.rpartition(" ")
        frames = tuple(_LINE_NUMBER.sub(")", _PROCESS.sub("process", frame)) for frame in written.split(";"))
        if not frames[-1].startswith(tuple(waits)):
            stacks[frames] += int(count)
    return stacks


def draw(stacks: Stacks, title: str) -> str:
    """Draw the stacks as an SVG document; a box shows its frame and samples as a tooltip."""
    total = sum(stacks.values())
    boxes = list(_boxes(stacks, 0, 0.0, total))
    height = TOP + ROW * (1 + max((depth for depth, *_ in boxes), default=0))
    drawn = "".join(_rectangle(*box, total) for box in boxes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="monospace" font-size="10">'
        f'<text x="4" y="18" font-size="14">{escape(title)}, {total:,} samples</text>{drawn}</svg>\n'
    )


def _boxes(stacks: Stacks, depth: int, left: float, total: int) -> Iterator[tuple[int, float, int, str]]:
    """Yield depth, left edge, samples and frame of every box that can be seen."""
    inside: dict[str, Counter[tuple[str, ...]]] = {}
    for frames, count in stacks.items():
        if len(frames) > depth:
            inside.setdefault(frames[depth], Counter())[frames] += count
    for frame, members in sorted(inside.items()):
        samples = sum(members.values())
        width = samples / total * WIDTH
        if width >= MIN_PIXELS:
            yield depth, left, samples, frame
            yield from _boxes(members, depth + 1, left, total)
        left += width


def _rectangle(depth: int, left: float, samples: int, frame: str, total: int) -> str:
    width, top = samples / total * WIDTH, TOP + depth * ROW
    letters = int(width / PIXELS_PER_LETTER)
    label = f'<text x="{left + 2:.1f}" y="{top + 11}">{escape(frame[:letters])}</text>' if letters > 2 else ""
    colour = COLOURS[sum(frame.encode()) % len(COLOURS)]
    return (
        f"<g><title>{escape(frame)}: {samples:,} samples, {samples / total:.1%}</title>"
        f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{ROW - 1}" fill="{colour}"/>{label}</g>'
    )
