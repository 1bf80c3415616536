"""Migrations that have landed do not change: migrations/landed.sha256 has their hashes, as sha256sum prints them."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from scrapersky.core.migrations import head_revision
from scrapersky.core.schema_catalog import SchemaCatalog
from tests import ROOT

LANDED = Path("migrations/landed.sha256")


def broken_promises(root: Path = ROOT) -> Iterator[str]:
    """One sentence for each file that was changed or removed after it landed, or that lacks its line."""
    landed = {line[66:]: line[:64] for line in (root / LANDED).read_text().splitlines()}
    present = {
        path.relative_to(root).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in sorted((root / "migrations").glob("*/*"))
        if path.suffix in (".py", ".sql")
    }
    for name, digest in present.items():
        line = f"{digest}  {name}"
        if name not in landed:
            yield f"{name} is new: add this line to {LANDED}:\n{line}"
        elif landed[name] != digest:
            yield (
                f"{name} differs from its line in {LANDED}. If it has landed, databases were migrated by it: undo the "
                f"change and write a new revision. If it has not landed yet, replace its line by:\n{line}"
            )
    catalog = SchemaCatalog.read(root / "migrations")
    if catalog.revision != head_revision():
        yield f"migrations/catalog.txt is of revision {catalog.revision}, not {head_revision()}: run `make schema`."
    for name in landed.keys() - present.keys():
        yield f"{name} is in {LANDED} and gone. If it has landed, restore it; otherwise remove its line."
