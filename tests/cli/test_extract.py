"""`scrapersky extract` as a person or a script runs it: what it prints, and the code it leaves with."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = "<h1>Kontor</h1><p>info [at] kontor.example</p><p>Puh. 040 418 7306</p><h3>Maria Weber</h3><p>Owner</p>"


def run(*words: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from scrapersky.cli import main; main()", "extract", *map(str, words)],
        env={**os.environ, "CRAWL_FETCH_TIMEOUT_SECONDS": "60"},
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.fixture
def page(tmp_path: Path) -> Path:
    file = tmp_path / "page.html"
    file.write_text(PAGE, "utf-8")
    return file


def test_the_contacts_of_a_page_are_printed_in_lines(page: Path) -> None:
    done = run(page, "--region", "fi", "--url", "https://kontor.example/")
    assert done.returncode == 0
    assert "email    info@kontor.example  (role, written out)" in done.stdout
    assert "phone    +358404187306" in done.stdout
    assert "person   Maria Weber  (Owner)" in done.stdout


def test_a_script_gets_one_json_object(page: Path) -> None:
    told = json.loads(run(page, "--region", "FI", "--json").stdout)
    assert told["emails"][0]["address"] == "info@kontor.example"
    assert told["emails"][0]["snippet"]
    assert told["region"] == "FI"


def test_explain_prints_the_score_of_every_name(page: Path) -> None:
    lines = run(page, "--explain").stdout.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("name     Maria Weber, Owner: "))
    assert lines[start].endswith(", person")
    assert "         +0.35 role beside" in lines[start:]
    names = json.loads(run(page, "--explain", "--json").stdout)["names"]
    assert [(one["name"], one["decision"]) for one in names] == [("Maria Weber", "person")]
    assert round(sum(value for _, value in names[0]["points"]), 2) == names[0]["score"]


def test_a_page_without_contacts_leaves_with_one(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text("<p>nothing here</p>", "utf-8")
    done = run(file)
    assert (done.returncode, done.stdout.strip()) == (1, "No contact found.")


def test_a_batch_is_written_in_its_order_and_a_bad_line_fails_alone(page: Path) -> None:
    batch = page.parent / "in.jsonl"
    rows = [{"site": "a", "page": "1", "file": "page.html", "region": "FI"}, {"site": "b", "page": "2", "file": "gone"}]
    lines = [
        *map(json.dumps, rows),
        "not json",
        json.dumps({"site": "c", "page": "3", "file": "page.html", "region": "QQ"}),
    ]
    batch.write_text("\n".join(lines), "utf-8")
    done = run("--batch", batch, "--out", page.parent / "out.jsonl")
    told = [json.loads(line) for line in (page.parent / "out.jsonl").read_text("utf-8").splitlines()]
    assert done.returncode == 4
    assert "4 pages read, 3 failed" in done.stderr
    assert told[0] == {
        "site": "a",
        "page": "1",
        "emails": ["info@kontor.example"],
        "phones": ["+358404187306"],
        "socials": {},
        "people": [{"name": "Maria Weber", "title": "Owner", "email": "", "phone": ""}],
    }
    assert [row["site"] for row in told] == ["a", "b", "", "c"]
    assert [row.get("error", "")[:7] for row in told] == ["", "line 2:", "line 3:", "line 4:"]


def test_a_batch_finds_its_files_from_where_it_is_run(page: Path) -> None:
    folder = page.parent / "elsewhere"
    folder.mkdir()
    (folder / "in.jsonl").write_text(json.dumps({"site": "a", "page": "1", "file": "page.html"}), "utf-8")
    done = run("--batch", "elsewhere/in.jsonl", "--out", "out.jsonl", cwd=page.parent)
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["gone.html"], "gone.html is not a file."),
        (["."], ". is a directory."),
        (["binary.bin"], "binary.bin is binary data, not a page."),
        (["picture.html"], "picture.html is binary data, not a page."),
        (["empty.html"], "empty.html is empty."),
        (["kontor.example/contact"], "A URL needs http:// or https:// in front."),
        (["page.html", "--region", "QQ"], "QQ is not a region."),
        (["--batch", "page.html"], "Use --batch IN.jsonl together with --out OUT.jsonl"),
        (["--batch", "gone.jsonl", "--out", "out.jsonl"], "gone.jsonl is not a file."),
        ([], "Give a file or a URL"),
    ],
)
def test_bad_input_is_a_sentence_and_code_two(page: Path, words: list[str], sentence: str) -> None:
    (page.parent / "binary.bin").write_bytes(bytes(range(256)) * 8)
    (page.parent / "picture.html").write_bytes(b"\x89PNG\r\n\x1a\n" + b"x" * 100)
    (page.parent / "empty.html").write_text(" \n", "utf-8")
    done = run(*words, cwd=page.parent)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_name_that_does_not_resolve_is_a_sentence() -> None:
    done = run("http://kontor.invalid/")
    assert done.returncode == 3
    assert "kontor.invalid" in done.stderr
    assert "Traceback" not in done.stderr
