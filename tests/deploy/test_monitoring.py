"""Alert rules and the dashboard: they name metrics that exist, and Prometheus loads and evaluates them."""

import asyncio
import json
import re
import shutil
import socket
import subprocess
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from scrapersky.observe.metrics import Metrics
from tests.cli.conftest import process  # noqa: F401 - a fixture
from tests.cli.test_worker_http import ANY_PORT, TOKEN, port_of, until_ready
from tests.deploy.tools import DEPLOY, REQUIRED, run_tool

RULES = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yaml").read_text())["groups"][0]["rules"]
DASHBOARD = json.loads((DEPLOY / "grafana" / "scrapersky.json").read_text())
SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count"), "gauge": ("",), "info": ("_info",)}
# What Grafana replaces before it asks Prometheus.
VARIABLES = {"$__rate_interval": "5m", "$job": ".*"}


def expressions() -> Iterator[str]:
    yield from (rule["expr"] for rule in RULES)
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            text = target["expr"]
            for name, value in VARIABLES.items():
                text = text.replace(name, value)
            yield text


def series_names() -> set[str]:
    """The names of all series of this version, from the text that Prometheus reads."""
    families = text_string_to_metric_families(Metrics().render({}, {}).decode())
    return {f"{one.name}{suffix}" for one in families for suffix in SUFFIXES.get(one.type, ("",))} | {"up"}


@pytest.mark.parametrize("expression", sorted(set(expressions())))
def test_every_expression_names_metrics_that_exist(expression: str) -> None:
    used = set(re.findall(r"\b(?:scrapersky|process)_\w+|\bup\b", re.sub(r'"[^"]*"', "", expression)))
    assert used
    assert used <= series_names()


def test_every_alert_says_what_and_what_to_do() -> None:
    assert len({rule["alert"] for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        assert rule["annotations"].keys() == {"summary", "action"}


def test_the_panels_of_the_dashboard_do_not_overlap() -> None:
    cells = [
        (x, y)
        for panel in DASHBOARD["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


def test_promtool_accepts_the_rules_their_tests_and_the_configuration(tmp_path: Path) -> None:
    for file in (DEPLOY / "prometheus").iterdir():
        (tmp_path / file.name).write_text(file.read_text())
    (tmp_path / "metrics-token").write_text(TOKEN)
    rules = {"groups": [{"name": "x", "rules": [{"record": "a:b", "expr": one} for one in expressions()]}]}
    (tmp_path / "expressions.yaml").write_text(yaml.safe_dump(rules))
    run_tool("promtool", "check", "config", "prometheus.yaml", cwd=tmp_path)
    run_tool("promtool", "check", "rules", "--lint=none", "expressions.yaml", cwd=tmp_path)
    run_tool("promtool", "test", "rules", "alerts.test.yaml", cwd=tmp_path)


@pytest.fixture
def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


@pytest.fixture
async def prometheus(process, database_url: str, tmp_path: Path, free_port: int) -> AsyncIterator[str | None]:  # noqa: F811
    """The address of a Prometheus that scrapes a worker with the configuration of deploy/; None if there is none."""
    program = shutil.which("prometheus")
    if program is None:
        assert "prometheus" not in REQUIRED
        yield None
        return
    worker = process("worker", DATABASE_URL=database_url, **ANY_PORT)
    port = await port_of(worker)
    await until_ready(port)
    text = (DEPLOY / "prometheus" / "prometheus.yaml").read_text()
    text = text.replace("127.0.0.1:8000", f"127.0.0.1:{port}").replace(": 15s", ": 1s")
    (tmp_path / "prometheus.yaml").write_text(text)
    (tmp_path / "alerts.yaml").write_text((DEPLOY / "prometheus" / "alerts.yaml").read_text())
    (tmp_path / "metrics-token").write_text(TOKEN)
    address = f"127.0.0.1:{free_port}"
    command = [program, "--config.file=prometheus.yaml", "--storage.tsdb.path=data", f"--web.listen-address={address}"]
    with (tmp_path / "prometheus.log").open("w") as log, subprocess.Popen(command, cwd=tmp_path, stderr=log) as server:
        yield f"http://{address}"
        server.terminate()


def asked(address: str, path: str, **query: str) -> dict:
    with urllib.request.urlopen(f"{address}/api/v1/{path}?{urllib.parse.urlencode(query)}", timeout=240) as answer:
        found: dict = json.load(answer)["data"]
    return found


async def until_scraped(address: str) -> None:
    async with asyncio.timeout(120):
        while True:
            try:
                if (await asyncio.to_thread(asked, address, "query", query="scrapersky_build_info"))["result"]:
                    return
            except OSError:  # it is starting
                pass
            await asyncio.sleep(0.2)


async def test_prometheus_scrapes_a_worker_and_evaluates_every_rule_and_panel(prometheus: str | None) -> None:
    if prometheus is None:
        return
    await until_scraped(prometheus)
    for expression in expressions():
        await asyncio.to_thread(asked, prometheus, "query", query=expression)  # a wrong one is a 400
    [group] = (await asyncio.to_thread(asked, prometheus, "rules"))["groups"]
    assert {rule["name"] for rule in group["rules"]} == {rule["alert"] for rule in RULES}
    assert [rule["name"] for rule in group["rules"] if rule.get("lastError")] == []
    [workers] = (await asyncio.to_thread(asked, prometheus, "query", query="sum(scrapersky_workers)"))["result"]
    assert float(workers["value"][1]) == 1
