"""Migrations that have landed do not change."""

import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

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


def git(root: Path, *words: str) -> None:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(("git", *who, *words), cwd=root, check=True, capture_output=True)


@pytest.mark.parametrize("in_a_clone", [False, True])
def test_a_landed_file_that_was_changed_together_with_its_line_is_named(tmp_path, in_a_clone):
    """Comparing the file with its line alone would not show it; the history does, also in a clone."""
    root = tmp_path / "tree"
    shutil.copytree(ROOT / "migrations", root / "migrations", ignore=shutil.ignore_patterns("__pycache__"))
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "landed")
    assert not list(broken_promises(root))
    if in_a_clone:
        git(tmp_path, "clone", "--quiet", str(root), "clone")
        root = tmp_path / "clone"
    landed, file = root / LANDED, root / INITIAL
    before = sha256(file.read_bytes()).hexdigest()
    file.write_text("changed")
    landed.write_text(landed.read_text().replace(before, sha256(b"changed").hexdigest()))
    for commit in (False, True):
        if commit:
            git(root, "commit", "--quiet", "--all", "--message", "changed")
        [sentence] = broken_promises(root)
        assert f"The line of {INITIAL} with the hash {before[:12]} was committed" in sentence
    landed.write_text("".join(line for line in landed.read_text().splitlines(True) if INITIAL not in line))
    file.unlink()
    assert len(list(broken_promises(root))) == 2, "both lines that were committed"
