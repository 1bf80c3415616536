"""Migrations that have landed do not change."""

import shutil
from pathlib import Path

from tests import ROOT
from tests.architecture.frozen_migrations import LANDED, broken_promises

INITIAL = "migrations/versions/2026-11-15-1200_initial.py"


def test_no_landed_migration_was_changed() -> None:
    assert not list(broken_promises()), "\n".join(broken_promises())


def test_a_changed_removed_or_new_file_is_named_with_the_cure(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "migrations", tmp_path / "migrations", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / INITIAL).write_text("changed")
    (tmp_path / "migrations/sql/roles.sql").unlink()
    (tmp_path / "migrations/versions/2030-01-01-0000_new.py").write_text("new")
    removed, changed, new = sorted(broken_promises(tmp_path))
    assert "roles.sql is in migrations/landed.sha256 and gone" in removed
    assert f"{INITIAL} differs from its line" in changed
    assert "write a new revision" in changed
    said, line = new.splitlines()
    assert "_new.py is new: add this line" in said
    with (tmp_path / LANDED).open("a") as landed:
        landed.write(f"{line}\n")
    assert len(list(broken_promises(tmp_path))) == 2
