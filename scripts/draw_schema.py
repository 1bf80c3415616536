"""Print a picture of the tables and their foreign keys, as SVG. `make schema` writes it to docs/schema.svg."""

import sys
from dataclasses import dataclass
from html import escape

from sqlalchemy import ForeignKey, Table

from scrapersky.models import Base

# Where the tables stand: columns from left to right, tables from top to bottom.
COLUMNS = [
    [
        "tenant",
        "user",
        "api_key",
        "session",
        "invitation",
        "job",
        "suppression",
        "audit",
        "idempotency_key",
        "curation_action",
        "curation_change",
        "saved_view",
        "exported_lead",
        "spending",
    ],
    [
        "search",
        "campaign_search",
        "schedule",
        "search_run",
        "search_place",
        "search_business",
        "search_domain",
        "search_contact",
        "search_journal",
        "search_progress",
    ],
    ["place", "local_business", "match_key", "business_domain", "domain", "sitemap_file", "page", "contact"],
    ["dead_letter", "quota_usage", "quota_reschedule", "spending", "unanswered_call", "destination", "delivery"],
    [
        "workflow_control",
        "worker",
        "run",
        "maintenance",
        "alarm",
        "host_limit",
        "rate_limit",
        "retention",
        "provider_cooldown",
        "provider_response",
        "fetched_body",
    ],
]
WIDTH, GAP_X, GAP_Y, LINE, MARGIN = 170, 90, 22, 18, 20
STYLE = """\
text { font: 12px sans-serif; fill: #222 }
.name { font-weight: bold }
.box { fill: #fff; stroke: #555 }
.tenant { fill: #dbe9f6; stroke: #555 }
.key { fill: none; stroke: #888 }
.optional { stroke-dasharray: 4 3 }"""
LEGEND = (
    "A line leads from a foreign key to the table that it refers to; dashed: the key may be null.",
    "Blue: the rows belong to a tenant (tenant_id refers to tenant).",
)


@dataclass(frozen=True)
class Box:
    """A table in the picture: its name, and a line for each foreign key except tenant_id."""

    table: Table
    column: int
    x: int
    y: int

    @property
    def keys(self) -> list[ForeignKey]:
        """The foreign keys that are drawn as lines."""
        return [key for column in self.table.columns if column.name != "tenant_id" for key in column.foreign_keys]

    @property
    def height(self) -> int:
        """The height of the box."""
        return LINE * (1 + len(self.keys)) + 8


def place_tables() -> dict[str, Box]:
    """Return the box of each table. Raises ValueError for a table without a place in COLUMNS."""
    tables = Base.metadata.tables
    placed = [name for names in COLUMNS for name in names]
    if set(placed) != set(tables):
        raise ValueError(f"COLUMNS of scripts/draw_schema.py and the models differ: {set(placed) ^ set(tables)}")
    boxes = {}
    for column, names in enumerate(COLUMNS):
        y = MARGIN
        for name in names:
            boxes[name] = Box(tables[name], column, MARGIN + column * (WIDTH + GAP_X), y)
            y += boxes[name].height + GAP_Y
    return boxes


def draw_box(box: Box) -> list[str]:
    """Draw a table: its name and its foreign keys."""
    kind = "tenant" if "tenant_id" in box.table.columns else "box"
    lines = [f'<rect class="{kind}" x="{box.x}" y="{box.y}" width="{WIDTH}" height="{box.height}" rx="3"/>']
    lines.append(f'<text class="name" x="{box.x + 8}" y="{box.y + 16}">{escape(box.table.name)}</text>')
    for number, key in enumerate(box.keys, start=1):
        lines.append(f'<text x="{box.x + 8}" y="{box.y + 16 + number * LINE}">{escape(key.parent.name)}</text>')
    return lines


def draw_keys(box: Box, boxes: dict[str, Box]) -> list[str]:
    """Draw a curve from each foreign key of a table to the table that it refers to."""
    lines = []
    for number, key in enumerate(box.keys, start=1):
        target = boxes[key.column.table.name]
        start_y, end_y = box.y + 12 + number * LINE, target.y + 12
        if target.column < box.column:
            start_x, end_x = box.x, target.x + WIDTH
            bend, back = -GAP_X // 2, GAP_X // 2
        elif target.column > box.column:
            start_x, end_x = box.x + WIDTH, target.x
            bend, back = GAP_X // 2, -GAP_X // 2
        else:  # a bow to the right, the wider the longer
            start_x = end_x = box.x + WIDTH
            bend = back = min(14 + abs(end_y - start_y) // 4, GAP_X + 10)
        kind = "key optional" if key.parent.nullable else "key"
        path = f"M{start_x} {start_y}C{start_x + bend} {start_y} {end_x + back} {end_y} {end_x} {end_y}"
        label = f"{box.table.name}.{key.parent.name} → {target.table.name}"
        lines.append(f'<path class="{kind}" d="{path}" marker-end="url(#arrow)"><title>{escape(label)}</title></path>')
    return lines


def draw() -> str:
    """Return the picture of all tables of the models."""
    boxes = place_tables()
    width = 2 * MARGIN + len(COLUMNS) * (WIDTH + GAP_X) - GAP_X
    height = max(box.y + box.height for box in boxes.values()) + 3 * MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}">',
            f"<style>\n{STYLE}\n</style>",
            '<marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            '<path d="M0 0L8 4L0 8z" fill="#888"/></marker>',
            '<rect width="100%" height="100%" fill="#fff"/>',
            *(line for box in boxes.values() for line in draw_keys(box, boxes)),
            *(line for box in boxes.values() for line in draw_box(box)),
            *(
                f'<text x="{MARGIN}" y="{height - 14 - LINE * number}">{escape(line)}</text>'
                for number, line in enumerate(reversed(LEGEND))
            ),
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    sys.stdout.write(draw())
