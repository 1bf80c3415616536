"""Charts drawn as SVG: bars and lines over time, sparklines, and the bars of a funnel.

A drawing is as wide as its place: horizontal measures are percentages, so that text is never stretched. It is hidden
from assistive technology; the table below it (charts.html) has the same numbers and links.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from scrapersky.console.draw.words import number

HEIGHT = 132  # of the plot, in pixels
FOOT = 22  # below it: the labels of the axis
MAX_MARKS = 120
MAX_TICKS = 4
END_PERCENT = 93  # a label further right ends at its mark, so that it is not cut off
GAP_SHARE = 0.2  # of a bar's place
SPARK_WIDTH, SPARK_HEIGHT = 60, 16


@dataclass(frozen=True)
class ChartMark:
    """A place on the horizontal axis: its label, a value per series, and the list of the rows that it counts."""

    label: str
    values: tuple[float | None, ...]
    path: str | None = None
    tick: str = ""  # the text below the axis; most marks have none


@dataclass(frozen=True)
class Chart:
    """What is drawn: the names of the series and the marks, in the order of time."""

    caption: str
    series: tuple[str, ...]
    marks: tuple[ChartMark, ...]
    axis: str = "time"  # the heading of the labels in the table
    written: Callable[[Any], str] = number

    def __post_init__(self) -> None:
        if len(self.marks) > MAX_MARKS:
            raise ValueError(f"a chart has {MAX_MARKS} marks at most, not {len(self.marks)}: use longer intervals")

    @property
    def shown(self) -> list[ChartMark]:
        """The marks that have a value; the table lists these."""
        return [mark for mark in self.marks if any(mark.values)]

    def title(self, mark: ChartMark) -> str:
        """Return what a mark says: its label and its values."""
        named = zip(self.series, mark.values, strict=True)
        parts = [f"{self.written(value)} {name}" for name, value in named if value]
        return f"{mark.label}: {', '.join(parts) or self.written(0)}"


def ticks(largest: float) -> list[float]:
    """Return round numbers from 0 to the first one that is not below the largest value."""
    if largest <= 0:
        return [0, 1]
    size = 10.0 ** (len(f"{int(largest)}") - 1) if largest >= 1 else 0.001
    while True:
        for factor in (0.1, 0.2, 0.5, 1, 2, 5):
            step = size * factor
            if step * MAX_TICKS >= largest and (step >= 1 or largest < 1):
                count = -(-largest // step)
                return [_plain(step * n) for n in range(int(count) + 1)]
        size *= 10


def bars(chart: Chart) -> Markup:
    """Draw a stacked bar per mark; each is a link to its rows."""
    scale = ticks(max((sum(value or 0 for value in mark.values) for mark in chart.marks), default=0))
    width = 100 / max(len(chart.marks), 1)
    drawn = []
    for place, mark in enumerate(chart.marks):
        left, rects, below = place * width, [], 0.0
        for series, value in enumerate(mark.values, 1):
            if value:
                height = HEIGHT * value / scale[-1]
                rects.append(
                    _rect(f"hue-{series}", left + width * GAP_SHARE / 2, width * (1 - GAP_SHARE), below, height)
                )
                below += height
        drawn.append(_linked(mark, _hit(chart, mark, left, width) + Markup("").join(rects)))
    return _plot(chart, scale, Markup("").join(drawn))


def lines(chart: Chart) -> Markup:
    """Draw a line per series; a mark without a value interrupts it."""
    scale = ticks(max((value for mark in chart.marks for value in mark.values if value), default=0))
    width = 100 / max(len(chart.marks), 1)
    paths = [
        Markup('<path class="hue-{}" d="{}"></path>').format(series + 1, _path(chart, series, width, scale[-1]))
        for series in range(len(chart.series))
    ]
    over = Markup('<svg viewBox="0 0 100 {0}" height="{0}" preserveAspectRatio="none">{1}</svg>').format(
        HEIGHT, Markup("").join(paths)
    )
    hits = [_linked(mark, _hit(chart, mark, place * width, width)) for place, mark in enumerate(chart.marks)]
    return _plot(chart, scale, over + Markup("").join([*_dots(chart, width, scale[-1]), *hits]))


def sparkline(values: Sequence[float]) -> Markup:
    """Draw small bars without axes; the element around them has to say what they mean."""
    largest = max(values, default=0) or 1
    step = SPARK_WIDTH / max(len(values), 1)
    drawn = "".join(
        f"M{round(step * (place + 0.5), 1):g} {SPARK_HEIGHT}v-{max(1, round(value / largest * SPARK_HEIGHT))}"
        for place, value in enumerate(values)
        if value
    )
    return Markup('<svg class="spark" viewBox="0 0 {} {}" aria-hidden="true"><path d="{}"></path></svg>').format(
        SPARK_WIDTH, SPARK_HEIGHT, drawn
    )


def funnel_bar(parts: Sequence[Any], largest: int) -> Markup:
    """Draw the rows of one step, as wide as their share of the largest step; a part has status, word, rows and path."""
    drawn, left = [], 0.0
    for part in parts:
        width = 100 * part.rows / largest if largest else 0.0
        if width:
            rect = Markup('<rect class="{}" x="{}%" width="{}%" height="100%"><title>{} {}</title></rect>').format(
                f"bar-{part.status.lower()}", round(left, 2), round(width, 2), number(part.rows), part.word
            )
            drawn.append(Markup('<a href="{}" tabindex="-1">{}</a>').format(part.path, rect) if part.path else rect)
        left += width
    return Markup('<svg class="funnel-bar" aria-hidden="true">{}</svg>').format(Markup("").join(drawn))


def _plot(chart: Chart, scale: Sequence[float], drawn: Markup) -> Markup:
    grid = [
        Markup('<line x2="100%" y1="{0}" y2="{0}"></line><text class="level" x="-8" y="{1}">{2}</text>').format(
            round(HEIGHT * (1 - level / scale[-1]), 1),
            round(HEIGHT * (1 - level / scale[-1]) + 4, 1),
            chart.written(level),
        )
        for level in scale
    ]
    width = 100 / max(len(chart.marks), 1)
    labels = [
        Markup('<text class="tick{}{}" x="{}%" y="{}">{}</text>').format(
            " odd" if place % 2 else "",
            " end" if (index + 0.5) * width > END_PERCENT else "",
            round((index + 0.5) * width, 2),
            HEIGHT + FOOT - 6,
            mark.tick,
        )
        for place, (index, mark) in enumerate((at, mark) for at, mark in enumerate(chart.marks) if mark.tick)
    ]
    return Markup('<svg class="plot" height="{}" aria-hidden="true">{}</svg>').format(
        HEIGHT + FOOT, Markup("").join([*grid, drawn, *labels])
    )


def _linked(mark: ChartMark, drawn: Markup) -> Markup:
    """Make a mark a link for the pointer; the keyboard has the links of the table."""
    return (
        Markup('<a href="{}" tabindex="-1">{}</a>').format(mark.path, drawn)
        if mark.path and any(mark.values)
        else drawn
    )


def _hit(chart: Chart, mark: ChartMark, left: float, width: float) -> Markup:
    return Markup('<rect class="hit" x="{}%" width="{}%" height="{}"><title>{}</title></rect>').format(
        round(left, 2), round(width, 2), HEIGHT, chart.title(mark)
    )


def _rect(name: str, left: float, width: float, below: float, height: float) -> Markup:
    return Markup('<rect class="{}" x="{}%" width="{}%" y="{}" height="{}"></rect>').format(
        name, round(left, 2), round(width, 2), round(HEIGHT - below - height, 1), round(max(height, 1), 1)
    )


def _path(chart: Chart, series: int, width: float, top: float) -> str:
    drawn, is_open = [], False
    for place, mark in enumerate(chart.marks):
        value = mark.values[series]
        if value is not None:
            point = f"{(place + 0.5) * width:.2f} {HEIGHT * (1 - value / top):.1f}"
            drawn.append(f"{'L' if is_open else 'M'}{point}" if is_open else f"M{point}h.01")
        is_open = value is not None
    return "".join(drawn)


def _dots(chart: Chart, width: float, top: float) -> list[Markup]:
    """Draw the points that have no neighbour: a line through one point is not seen."""
    dots = []
    for series in range(len(chart.series)):
        values = [None, *(mark.values[series] for mark in chart.marks), None]
        for place, (before, value, after) in enumerate(zip(values, values[1:], values[2:], strict=False)):
            if value is not None and before is None and after is None:
                dots.append(
                    Markup('<circle class="hue-{}" cx="{}%" cy="{}" r="3"></circle>').format(
                        series + 1, round((place + 0.5) * width, 2), round(HEIGHT * (1 - value / top), 1)
                    )
                )
    return dots


def _plain(value: float) -> float:
    """Return a whole number as an integer, so that it is written without decimals."""
    rounded = round(value, 6)
    return int(rounded) if rounded == int(rounded) else rounded
