"""Migrations that have landed do not change: migrations/landed.sha256 has their hashes, as sha256sum prints them.

What has landed is what a commit contains: a line that was ever committed stays in the file.
"""

import subprocess
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from scrapersky.core.schema.catalog import SchemaCatalog
from scrapersky.core.schema.migrations import head_revision
from tests import ROOT

LANDED = Path("migrations/landed.sha256")
# Lines of revisions that were renamed or changed on their branches, before this was checked.
CHANGED_BEFORE = frozenset(
    {
        "6da88d073374003557be07679d1da648c2cd61e32d3e3a543724656ea5697c51",
        "2ee8734ca287b8796d6a1f89da8279206027ff49306729e50fc9223b638818ab",
        "16918c9a5dfdf90caa5de30c530fb3472739f67565759932779f7512250cf42c",
        "ca8bd4c43d66b5c97f2fc5f59e27e44a306e08b847fe65b1f15b4ea4c79a110e",
    }
)


def broken_promises(root: Path = ROOT) -> Iterator[str]:
    """One sentence for each file that was changed or removed after it landed, or that lacks its line."""
    landed = {line[66:]: line[:64] for line in (root / LANDED).read_text().splitlines()}
    yield from _removed_lines(root, landed)
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


def _removed_lines(root: Path, landed: dict[str, str]) -> Iterator[str]:
    """One sentence for each line that a commit of this history has and the file has not; none without a history."""
    command = ("git", "log", "--format=", "--patch", "--no-ext-diff", "--no-color", "HEAD", "--", LANDED.as_posix())
    try:
        told = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return
    committed = {(line[67:], line[1:65]) for line in told.splitlines() if line[65:67] == "  " and line[0] in "+-"}
    for name, digest in sorted(committed - landed.items()):
        if digest not in CHANGED_BEFORE:
            yield (
                f"The line of {name} with the hash {digest[:12]} was committed and is not in {LANDED} any more. If it "
                "has landed, databases were migrated by it: restore the line and the file, and write a new revision. "
                "If it has not landed yet, fold the commits of your branch into one."
            )
