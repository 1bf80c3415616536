"""Charts: round numbers, a title and a link per mark, the same numbers in the table, nothing to draw."""

import re
from types import SimpleNamespace

import pytest

from scrapersky.console.answers import environment
from scrapersky.console.draw import charts
from scrapersky.console.draw.charts import Chart, ChartMark, ticks
from tests.factories.console_browser import Page

HOSTILE = '"><script>alert(1)</script>'


def draw(chart, kind="draw_bars"):
    template = environment().from_string(
        '<body>{% import "charts.html" as charts %}{{ charts.figure(chart, ' + kind + "(chart)) }}</body>"
    )
    return Page(template.render(chart=chart))


@pytest.mark.parametrize(
    ("largest", "last", "steps"),
    [(0, 1, 1), (0.4, 0.4, 4), (1, 1, 1), (3, 3, 3), (7, 8, 4), (61, 80, 4), (100, 100, 2), (12_345, 15_000, 3)],
)
def test_axes_have_round_numbers(largest, last, steps):
    assert (ticks(largest)[-1], len(ticks(largest)) - 1) == (last, steps)


def test_each_mark_has_a_title_a_link_and_a_row_in_the_table():
    marks = (
        ChartMark("14:00", (8, 1), "/console/runs?a=1", "14:00"),
        ChartMark("14:01", (0, 0)),
        ChartMark("14:02", (3, None), "/x"),
    )
    page = draw(Chart("deep_scan, 1 h", ("done", "failed"), marks))
    assert [one.text for one in page.all("title")] == ["14:00: 8 done, 1 failed", "14:01: 0", "14:02: 3 done"]
    drawn = [one["href"] for one in page.all("a") if one.is_in("svg")]
    assert drawn == ["/console/runs?a=1", "/x"]
    assert all(one["tabindex"] == "-1" for one in page.all("a") if one.is_in("svg"))  # the table has them for keys
    assert [one["href"] for one in page.all("a") if one.is_in("table")] == ["/x", "/console/runs?a=1"]
    assert [one.text for one in page.all("td")] == ["3", "–", "8", "1"]
    heights = [float(one["height"]) for one in page.all("rect", class_="hue-1")]
    assert heights[0] / heights[1] == pytest.approx(8 / 3, rel=0.02)


@pytest.mark.parametrize("kind", ["draw_bars", "draw_lines"])
@pytest.mark.parametrize(
    "marks", [(), (ChartMark("1", (0,)),), (ChartMark("1", (5,)),), (ChartMark("1", (None,)), ChartMark("2", (0.1,)))]
)
def test_nothing_one_point_and_all_zero_are_drawn(kind, marks):
    page = draw(Chart("empty", ("done",), marks), kind)
    assert page.one("svg", class_="plot")
    assert not re.search("nan|inf", str(page.elements[0].text))
    if not any(any(mark.values) for mark in marks):
        assert "nothing in this time" in page.text


def test_a_line_is_interrupted_where_there_is_no_value():
    marks = tuple(ChartMark(str(n), (value,)) for n, value in enumerate((1, 2, None, 4)))
    drawn = draw(Chart("p95", ("p95",), marks), "draw_lines").one("path")["d"]
    assert drawn.count("M") == 2


def test_a_point_without_neighbours_is_a_dot():
    marks = tuple(ChartMark(str(n), (value, None)) for n, value in enumerate((None, 2, None, 4, 4)))
    [dot] = draw(Chart("p95", ("p50", "p95"), marks), "draw_lines").all("circle")
    assert (dot["class"], dot["cx"]) == ("hue-1", "30.0%")


def test_the_last_label_of_the_axis_ends_within_the_chart():
    marks = tuple(ChartMark(str(n), (1,), None, "19 Nov" if n in (0, 27) else "") for n in range(28))
    assert [one["class"] for one in draw(Chart("rows", ("a",), marks)).all("text") if "tick" in one["class"]] == [
        "tick",
        "tick odd end",
    ]


def test_too_many_marks_are_refused():
    with pytest.raises(ValueError, match="longer intervals"):
        Chart("too many", ("a",), tuple(ChartMark(str(n), (1,)) for n in range(charts.MAX_MARKS + 1)))


def test_a_sparkline_is_one_path_with_a_stroke_per_value():
    assert charts.sparkline([0, 5, 10]).count("v-") == 2
    assert charts.sparkline([]).count("v-") == 0


def test_hostile_names_stay_text():
    page = draw(Chart(HOSTILE, (HOSTILE,), (ChartMark(HOSTILE, (1,), "/x", HOSTILE),)))
    assert not page.all("script")
    assert "<script>" in page.text


def test_a_funnel_has_its_numbers_as_links_and_bars_in_proportion():
    def part(status, rows):
        return SimpleNamespace(status=status, word=status.lower(), rows=rows, path=f"/x?{status}")

    steps = [
        SimpleNamespace(label="places", rows=60, path="/places", parts=(part("Completed", 50), part("Error", 10))),
        SimpleNamespace(label="pages", rows=0, path="/pages", parts=(part("Completed", 0),)),
    ]
    template = environment().from_string('<body>{% import "charts.html" as charts %}{{ charts.funnel(steps) }}</body>')
    page = Page(template.render(steps=steps))
    assert [one["width"] for one in page.all("rect")] == ["83.33%", "16.67%"]
    links = [one.text for one in page.all("a") if not one.is_in("svg")]
    assert links == ["60", "50 completed", "10 error"]
    assert page.one("span", class_="zero").text == "0"
