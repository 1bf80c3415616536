"""The secret of a house: derived keys, sealed values, and what does not do as a secret."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from scrapersky.core.errors import BadSetting
from scrapersky.core.secrets.vault import Vault, open_vault
from scrapersky.core.settings import Environment, load

SECRET = "7hQpZr0vW2x9Lk4mNb8tYc6dFg1sJa3e"


def settings(tmp_path, **variables):
    return load(Environment({"SCRAPERSKY_DATA_DIR": str(tmp_path), **variables}, None))


def test_a_sealed_value_comes_out_again_and_looks_like_nothing(tmp_path):
    vault = open_vault(settings(tmp_path, SCRAPERSKY_SECRET_KEY=SECRET))
    sealed = vault.seal("pat-eu1-secret")
    assert "secret" not in sealed
    assert vault.open(sealed) == "pat-eu1-secret"


def test_another_secret_opens_nothing_and_says_why():
    sealed = Vault(b"a" * 32).seal("key")
    with pytest.raises(BadSetting, match="SCRAPERSKY_SECRET_KEY"):
        Vault(b"b" * 32).open(sealed)


def test_tokens_are_not_signed_with_the_secret_itself():
    vault = Vault(SECRET.encode())
    assert len(vault.signing_key) == 32
    assert vault.signing_key != SECRET.encode()


@pytest.mark.parametrize("weak", ["short", "a" * 64, "changeme" * 8])
def test_a_weak_secret_is_refused(tmp_path, weak):
    with pytest.raises(BadSetting, match="random bytes"):
        open_vault(settings(tmp_path, SCRAPERSKY_SECRET_KEY=weak))


def test_production_needs_a_secret(tmp_path):
    with pytest.raises(BadSetting, match="SCRAPERSKY_SECRET_KEY is not set"):
        open_vault(settings(tmp_path, SCRAPERSKY_ENVIRONMENT="production"))


def test_development_makes_its_own_once_for_all_processes(tmp_path):
    home = tmp_path / "new"
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: open_vault(settings(home)).signing_key, range(8)))
    assert len(keys) == 1
    assert (home / "secret-key").stat().st_mode & 0o077 == 0
    assert [path.name for path in home.iterdir()] == ["secret-key"]


def test_keys_are_derived_by_hkdf_so_that_older_tokens_and_values_stay_valid():
    standard = HKDF(SHA256(), 32, salt=None, info=b"scrapersky tokens").derive(SECRET.encode())
    assert Vault(SECRET.encode()).signing_key == standard
