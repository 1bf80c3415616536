"""No fetch reaches a forbidden address: proved in a network namespace where it would arrive if it were let through."""

import json
import shutil
import subprocess
import sys

import pytest

from tests import ROOT
from tests.hostile.lab import INSIDE, LOOPBACK, NO_NAMESPACE, PRIVATE


def run_lab(mode: str, *before: str) -> subprocess.CompletedProcess[str]:
    command = [*before, sys.executable, "-m", "tests.hostile.lab", mode]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def report() -> dict:
    """Run the lab in a network namespace, or on loopback if this machine allows none; the report has the mode."""
    unshare = shutil.which("unshare")
    if unshare:
        done = run_lab("namespace", unshare, "--map-root-user", "--net", "--mount")
        could_not = done.returncode == NO_NAMESPACE or "unshare" in done.stderr.partition(":")[0]
    if not unshare or could_not:
        done = run_lab("loopback")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def on_loopback() -> dict:
    done = run_lab("loopback")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def refused(report: dict) -> dict[str, tuple[str, str]]:
    return {case: end for case, end in report["cases"].items() if case.startswith(("direct", "redirect ht", "name"))}


@pytest.mark.parametrize("where", ["report", "on_loopback"])
def test_no_canary_is_ever_hit(where: str, request: pytest.FixtureRequest) -> None:
    report = request.getfixturevalue(where)
    expected = [*LOOPBACK, *PRIVATE] if report["mode"] == "namespace" else LOOPBACK
    assert report["proved"] == [address for address in expected if report["ipv6"] or ":" not in address]
    assert report["naive_hits"] == 2, "without a guard the canaries must be hit, else this lab proves nothing"
    assert report["canary_hits"] == 0


@pytest.mark.parametrize("where", ["report", "on_loopback"])
def test_every_forbidden_address_is_refused_with_its_reason(where: str, request: pytest.FixtureRequest) -> None:
    ends = refused(request.getfixturevalue(where))
    assert len(ends) > 80
    # "localhost." is not in every machine's host file: then it is a name that does not exist.
    odd = [case for case, end in ends.items() if end[0] != "BlockedByPolicy" and "localhost.:" not in case]
    assert odd in ([], ["name at connect both.lab"])
    assert all(reason for _, reason in ends.values())


def test_names_with_private_addresses_are_refused_also_when_connecting(report: dict) -> None:
    for name in INSIDE:
        for way in ("name", "name at connect", "redirect to name"):
            kind, reason = report["cases"][f"{way} {name}"]
            assert "(this machine)" in reason or "not a public web site" in reason
            # aiohttp joins two refusals at connect into one error without a class: refused all the same.
            assert kind == "BlockedByPolicy" or (way, name) == ("name at connect", "both.lab"), reason


def test_public_sites_are_fetched_and_a_mixed_name_only_at_its_public_address(report: dict) -> None:
    for name in ("site.lab", "six.lab", "mixed.lab"):
        assert report["cases"][f"open {name}"] == ["Page", f"http://{name}/fine"]


def test_a_redirect_to_another_site_is_stored_under_its_true_host(report: dict) -> None:
    assert report["cases"]["redirect to another host"] == ["Page", "http://other.lab/fine"]


def test_a_name_that_changes_its_address_is_checked_when_connecting(report: dict) -> None:
    if report["mode"] == "loopback":
        assert "rebind first" not in report["cases"]
        return
    assert report["cases"]["rebind first"] == ["Page", "http://rebind.lab/fine"]
    assert report["cases"]["rebind second"][0] == "BlockedByPolicy"
    assert report["cases"]["rebind at connect"][0] == "BlockedByPolicy"


def test_failures_of_name_servers_are_distinguished(report: dict) -> None:
    if report["mode"] == "loopback":
        assert "silent.lab" not in report["cases"]
        return
    assert report["cases"]["missing.lab"] == ["PageNotFound", "There is no host named missing.lab."]
    assert report["cases"]["broken.lab"][0] == "RetryLater"
    assert report["cases"]["silent.lab"][0] == "RetryLater"
