"""Tests of the schema: every start compares it."""

import pytest


@pytest.fixture
def trusted_schema() -> None:
    """Nothing is trusted here."""
