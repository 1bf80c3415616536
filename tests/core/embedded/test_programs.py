"""The user that root runs the embedded PostgreSQL as."""

import pwd
from pathlib import Path

import pytest

from scrapersky.core.embedded import programs
from scrapersky.core.errors import BadSetting

LOCKED = "useradd: cannot lock /etc/passwd; try again later."


@pytest.fixture
def users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without the user; `useradd` is locked out at its first two calls."""
    created, calls = tmp_path / "created", tmp_path / "calls"
    program = tmp_path / "useradd"
    program.write_text(f"""#!/bin/sh
echo "$@" >> {calls}
if [ "$(/usr/bin/wc -l < {calls})" -lt 3 ]; then echo "{LOCKED}" >&2; exit 1; fi
: > {created}
""")
    program.chmod(0o755)

    def getpwnam(name: str) -> str:
        if not created.exists():
            raise KeyError(name)
        return name

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(pwd, "getpwnam", getpwnam)
    monkeypatch.setattr(programs, "is_root", lambda: True)
    monkeypatch.setattr(programs, "USER_RETRY_SECONDS", 0)
    return tmp_path


def test_the_user_is_created_once_the_file_of_users_is_free(users: Path) -> None:
    programs.prepare_system_user()
    programs.prepare_system_user()
    assert (users / "calls").read_text().splitlines() == ["-s /bin/sh pgserver"] * 3


def test_a_user_that_another_process_has_just_created_will_do(users: Path) -> None:
    (users / "useradd").write_text(f"#!/bin/sh\n: > {users}/created\nexit 9\n")
    programs.prepare_system_user()


def test_a_user_that_cannot_be_created_is_told_with_the_cure(users: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "MAX_USER_ATTEMPTS", 2)
    with pytest.raises(BadSetting, match=r"cannot lock /etc/passwd.*set DATABASE_URL"):
        programs.prepare_system_user()
    (users / "useradd").unlink()
    with pytest.raises(BadSetting, match="useradd is not installed"):
        programs.prepare_system_user()
