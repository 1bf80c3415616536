"""The files in deploy/: their linters accept them, and they fit the program."""

import re
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml

from scrapersky.core.database import Database
from scrapersky.core.settings import Settings, setting_names
from scrapersky.engine.tuning import tuning_names
from scrapersky.pipeline import build_pipeline
from tests import ROOT
from tests.deploy.tools import DEPLOY, run_tool

COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
OURS = ("migrate", "api", "worker")
KUBERNETES = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
OBJECTS = [one for file in KUBERNETES for one in yaml.safe_load_all(file.read_text())]
PODS = {
    one["metadata"]["name"]: one["spec"]["template"]["spec"] for one in OBJECTS if "template" in one.get("spec", {})
}
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
GRACE_SECONDS = Settings.model_fields["shutdown_grace_seconds"].default
YAML_RULES = (
    "{extends: default, rules: {line-length: {max: 120}, document-start: disable, braces: disable, brackets: disable}}"
)


def known_settings() -> set[str]:
    prefixes = [workflow.settings_prefix for workflow in build_pipeline({})]
    return {*setting_names(), *(name for prefix in prefixes for name in tuning_names(prefix))}


def test_the_linters_accept_every_file(tmp_path: Path) -> None:
    run_tool("yamllint", "--strict", "-d", YAML_RULES, ".")
    run_tool("hadolint", "Dockerfile")
    run_tool("kubernetes-validate", "--strict", *(str(file) for file in KUBERNETES))
    run_tool("check-jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yaml")
    program = Path(sys.executable).with_name("scrapersky")
    for unit in UNITS:
        (tmp_path / unit.name).write_text(unit.read_text().replace("/opt/scrapersky/bin/scrapersky", str(program)))
    run_tool("systemd-analyze", "verify", *(str(tmp_path / unit.name) for unit in UNITS))


def test_base_images_are_pinned_by_digest() -> None:
    base = re.search(r"^ARG BASE=(.*)$", (DEPLOY / "Dockerfile").read_text(), re.M)
    assert base is not None
    for image in (base[1], COMPOSE["services"]["postgres"]["image"].removesuffix("}")):
        assert re.search(r":[\d.]+-(slim-)?bookworm@sha256:[0-9a-f]{64}$", image), image


@pytest.mark.parametrize("name", OURS)
def test_compose_passes_every_setting_to_every_service(name: str) -> None:
    service = COMPOSE["services"][name]
    assert service["env_file"] == [{"path": "settings.env", "required": False}]
    assert service["environment"].keys() <= known_settings()


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_every_container_is_confined(name: str) -> None:
    service = COMPOSE["services"][name]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["mem_limit"]
    assert service["logging"]["options"]["max-size"]
    if name in OURS:
        assert service["read_only"] is True
        assert "cap_add" not in service


def test_only_migrations_know_the_owner_of_the_tables() -> None:
    owners = [name for name in OURS if "MIGRATION_DATABASE_URL" in COMPOSE["services"][name]["environment"]]
    assert owners == ["migrate"]
    for name in ("api", "worker"):
        assert "POSTGRES_PASSWORD" not in str(COMPOSE["services"][name])
    secrets = {pod: str(spec).count("scrapersky-owner") for pod, spec in PODS.items()}
    assert secrets == {"scrapersky-api": 0, "scrapersky-worker": 0, "scrapersky-migrate": 1}


def test_a_process_gets_more_time_to_stop_than_its_grace_period() -> None:
    for name in ("api", "worker"):
        assert float(COMPOSE["services"][name]["stop_grace_period"].removesuffix("s")) > GRACE_SECONDS
        assert PODS[f"scrapersky-{name}"]["terminationGracePeriodSeconds"] > GRACE_SECONDS
    for unit in UNITS:
        text = unit.read_text()
        stop = re.search(r"^TimeoutStopSec=(\d+)$", text, re.MULTILINE)
        assert "Type=oneshot" in text or (stop and int(stop[1]) > GRACE_SECONDS), unit.name


@pytest.mark.parametrize("name", PODS)
def test_every_pod_is_confined_and_gets_every_setting(name: str) -> None:
    pod = PODS[name]
    [container] = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["resources"]["limits"]["memory"]
    assert {"configMapRef": {"name": "scrapersky"}} in container["envFrom"]
    assert {"secretRef": {"name": "scrapersky"}} in container["envFrom"]


@pytest.mark.parametrize("name", ["api", "worker"])
def test_pods_are_probed_on_the_port_that_they_serve(name: str) -> None:
    [container] = PODS[f"scrapersky-{name}"]["containers"]
    port = Settings.model_fields["port" if name == "api" else "worker_port"].default
    assert container["ports"] == [{"name": "http", "containerPort": port}]
    assert container["livenessProbe"]["httpGet"] == {"path": "/health/live", "port": "http"}
    assert container["readinessProbe"]["httpGet"] == {"path": "/health/ready", "port": "http"}
    host = "SCRAPERSKY_HOST" if name == "api" else "SCRAPERSKY_WORKER_HOST"
    assert {"name": host, "value": "0.0.0.0"} in container["env"]


def test_the_values_of_kubernetes_are_settings() -> None:
    names = {key for one in OBJECTS for key in {**one.get("data", {}), **one.get("stringData", {})}}
    assert names <= known_settings()


def test_the_units_name_settings_and_read_a_file_of_settings() -> None:
    for unit in UNITS:
        text = unit.read_text()
        assert set(re.findall(r"^Environment=(\w+)=", text, re.MULTILINE)) <= known_settings()
        assert "EnvironmentFile=/etc/scrapersky/settings.env" in text
        assert "CapabilityBoundingSet=\n" in text
        assert re.search(r"^MemoryMax=\d+M$", text, re.MULTILINE)


def test_the_image_holds_what_running_needs_and_nothing_of_the_machine() -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    copied = {
        word for line in re.findall(r"^COPY (?!--from)(.*) \S+$", dockerfile, re.MULTILINE) for word in line.split()
    }
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert {f"!{name}" for name in copied} == {line for line in ignored if line.startswith("!")}
    assert all((ROOT / name).exists() for name in copied)
    assert "*" in ignored
    assert "requirements-dev.lock" not in dockerfile
    assert dockerfile.count("--require-hashes") == 2


@pytest.mark.parametrize(
    "password", ["p@ss", "p/ss", "a@b/c:d", "@", "p@ss/w@rd", "with blank", "q%40", "50%", "p:w", "ä@ö"]
)
def test_a_password_with_any_character_works_in_a_url(password: str) -> None:
    database = Database(f"postgresql://scrapersky:{password}@postgres:5432/line?sslmode=disable", Settings())
    parts = urlsplit(database.dsn)
    assert (parts.username, parts.hostname, parts.port, parts.path) == ("scrapersky", "postgres", 5432, "/line")
    assert unquote(parts.password or "") == (unquote(password) if password == "q%40" else password)


def test_an_at_in_the_query_is_no_part_of_the_password() -> None:
    database = Database("postgresql://line:secret@db/line?application_name=a@b", Settings())
    assert (database.url.password, database.url.host) == ("secret", "db")


def test_a_worker_and_the_api_have_health_checks() -> None:
    assert ":9464/health/ready" in str(COMPOSE["services"]["worker"]["healthcheck"])
    assert ":8000/health/ready" in str(COMPOSE["services"]["api"]["healthcheck"])
