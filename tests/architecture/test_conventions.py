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
VERBS = set((Path(__file__).parent / "verbs.txt").read_text().split())
MAX_FUNCTION_LINES = 60
MAX_MODULES = 15
# One module per table, per command, and the parts of one engine: lists that people read by name.
LARGE_FOLDERS = {"models", "cli", "engine", "core"}
# Folders of tests that are grouped by what they need.
BY_NEED = {"browser", "deploy", "architecture", "corpus", "factories", "faults", "hostile", "line"}
# Words that once stood for things the field has names for.
PRIVATE_WORDS = re.compile(
    r"(?<![a-z])(house|desk|purse|crew|courier|kin|wish|pocket|hand_out|stations?|mishap|manners|remembered|turned_down"
    r"|taken_back|most|fewest)(?![a-z])",
    re.IGNORECASE,
)

Function = ast.FunctionDef | ast.AsyncFunctionDef
Trees = dict[Path, ast.Module]


@pytest.fixture(scope="module", name="trees")
def _trees() -> Trees:
    """The syntax of every module: while these tests run only, because millions of objects slow every collection."""
    return {path: ast.parse(path.read_text()) for path in MODULES}


def functions(trees: Trees) -> Iterator[tuple[Path, Function]]:
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, Function):
                yield path, node


def place(path: Path, node: ast.AST) -> str:
    return f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"


def is_property(function: Function) -> bool:
    return any("property" in ast.unparse(decorator) for decorator in function.decorator_list)


def test_a_module_opens_with_a_sentence(trees: Trees) -> None:
    sentences = {path: (ast.get_docstring(tree) or "").split("\n\n")[0] for path, tree in trees.items()}
    wrong = [str(path) for path, sentence in sentences.items() if not sentence.endswith((".", "?", ":"))]
    assert wrong == [], "the first sentence of the docstring says what the module is"


def test_the_docstring_of_a_function_begins_with_a_verb(trees: Trees) -> None:
    wrong = [
        f"{place(path, function)} {function.name}: {docstring.splitlines()[0]}"
        for path, function in functions(trees)
        if (docstring := ast.get_docstring(function)) and not is_property(function)
        if re.split(r"\W", docstring, maxsplit=1)[0] not in VERBS
    ]
    assert wrong == [], "begin with an imperative verb; tests/architecture/verbs.txt lists those in use"


def test_no_function_is_long(trees: Trees) -> None:
    long = [
        f"{place(path, function)} {function.name}"
        for path, function in functions(trees)
        if (function.end_lineno or 0) - function.lineno >= MAX_FUNCTION_LINES
    ]
    assert long == []


def test_no_two_public_classes_have_one_name(trees: Trees) -> None:
    found: dict[str, list[str]] = defaultdict(list)
    for path, tree in trees.items():
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


def test_names_use_the_words_of_the_field(trees: Trees) -> None:
    found = set()
    for path, tree in trees.items():
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
