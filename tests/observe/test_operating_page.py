"""docs/operating.md lists every log event and every metric, and none that does not exist."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from scrapersky.observe.metrics import Metrics

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "scrapersky"
PAGE = ROOT / "docs" / "operating.md"


def section(title: str) -> str:
    """Return the text of one section of the page."""
    return PAGE.read_text().split(f"\n## {title}\n")[1].split("\n## ")[0]


def first_cells(text: str) -> set[str]:
    """Return the names in backticks of the first column of the tables."""
    rows = re.findall(r"^\| (`[^|]*) \|", text, re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([a-z_]+)`", row)}


def logged_events() -> set[str]:
    """Return the event names of all calls of `log` in the sources."""
    return {name for path in SOURCES.rglob("*.py") for name in _events_in(ast.parse(path.read_text()))}


def _events_in(tree: ast.Module) -> Iterator[str]:
    for call in ast.walk(tree):
        match call:
            case (
                ast.Call(func=ast.Attribute(value=ast.Name(id="log"), attr="log"), args=[_, event])
                | ast.Call(func=ast.Attribute(value=ast.Name(id="log")), args=[event])
            ):
                literals = [event.body, event.orelse] if isinstance(event, ast.IfExp) else [event]
                for literal in literals:
                    assert isinstance(literal, ast.Constant), f"{ast.unparse(call)}: an event name is a literal"
                    yield str(literal.value)


def test_every_log_event_is_on_the_page() -> None:
    assert first_cells(section("Log events")) == logged_events()


def test_every_metric_is_on_the_page() -> None:
    families = Metrics().registry.collect()
    suffixes = {"counter": "_total", "info": "_info"}
    names = {f"{family.name}{suffixes.get(family.type, '')}" for family in families}

    assert first_cells(section("Metrics")) == names
