"""The conventions of the sources that no linter checks: names, docstrings, sizes, folders."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import ROOT

SOURCES = ROOT / "src" / "scrapersky"
MODULES = sorted(SOURCES.rglob("*.py"))
TREES = {path: ast.parse(path.read_text()) for path in MODULES}
VERBS = set((Path(__file__).parent / "verbs.txt").read_text().split())
MAX_FUNCTION_LINES = 60
MAX_MODULES = 16
# One module per table, per command, and the parts of one engine: lists that people read by name.
LARGE_FOLDERS = {"models", "cli", "engine", "core", "console/pages"}  # of console/pages, one module is one screen
# Folders of tests that are grouped by what they need.
BY_NEED = {"browser", "deploy", "architecture", "corpus", "factories", "faults", "hostile", "line"}
# Words that once stood for things the field has names for.
PRIVATE_WORDS = re.compile(
    r"(?<![a-z])(house|desk|purse|crew|courier|kin|wish|pocket|hand_out|stations?|mishap|manners|remembered|turned_down"
    r"|taken_back|most|fewest)(?![a-z])",
    re.IGNORECASE,
)

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions() -> Iterator[tuple[Path, Function]]:
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, Function):
                yield path, node


def place(path: Path, node: ast.AST) -> str:
    return f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"


def is_property(function: Function) -> bool:
    return any("property" in ast.unparse(decorator) for decorator in function.decorator_list)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCES)))
def test_a_module_opens_with_a_sentence(path: Path) -> None:
    sentence = (ast.get_docstring(TREES[path]) or "").split("\n\n")[0]
    assert sentence.endswith((".", "?", ":")), "the first sentence of the docstring says what the module is"


def test_the_docstring_of_a_function_begins_with_a_verb() -> None:
    wrong = [
        f"{place(path, function)} {function.name}: {docstring.splitlines()[0]}"
        for path, function in functions()
        if (docstring := ast.get_docstring(function)) and not is_property(function)
        if re.split(r"\W", docstring, maxsplit=1)[0] not in VERBS
    ]
    assert wrong == [], "begin with an imperative verb; tests/architecture/verbs.txt lists those in use"


def test_no_function_is_long() -> None:
    long = [
        f"{place(path, function)} {function.name}"
        for path, function in functions()
        if (function.end_lineno or 0) - function.lineno >= MAX_FUNCTION_LINES
    ]
    assert long == []


def test_no_two_public_classes_have_one_name() -> None:
    found: dict[str, list[str]] = defaultdict(list)
    for path, tree in TREES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(place(path, node))
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_a_folder_has_about_a_dozen_modules() -> None:
    counts = {
        str(folder.relative_to(SOURCES)): len([path for path in folder.glob("*.py") if path.stem != "__init__"])
        for folder in {path.parent for path in MODULES}
    }
    assert {name: count for name, count in counts.items() if count > MAX_MODULES and name not in LARGE_FOLDERS} == {}


def test_the_folders_of_the_tests_are_those_of_the_sources() -> None:
    tests = ROOT / "tests"
    folders = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")}
    strange = [
        str(folder)
        for folder in folders
        if folder.parts and folder.parts[0] not in BY_NEED and not (SOURCES / folder).is_dir()
    ]
    assert sorted(strange) == ["api/security"]  # attacks on the whole API


def test_names_use_the_words_of_the_field() -> None:
    found = set()
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            match node:
                case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    pass
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                    pass
                case _:
                    continue
            if PRIVATE_WORDS.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)):
                found.add(f"{place(path, node)} {name}")
    assert sorted(found) == []
