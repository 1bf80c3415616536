"""Rules over the syntax of the sources that no linter has. `python -m tests.architecture.rules`."""

import ast
import copy
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.architecture.frozen_migrations import broken_promises

ROOT = Path(__file__).parents[2]
PLACES = ("src", "migrations", "scripts")
Found = Iterator[tuple[ast.AST, str]]

# Where a rule does not hold, and why: by file, or by file and function. A test refuses what is not needed any more.
ALLOWED: dict[str, dict[str, str]] = {
    "no_built_sql": {
        "src/scrapersky/engine/queue_sql.py": "our own names; built once for each queue, values are bound",
        "src/scrapersky/engine/runtime.py::_poll_once": "puts statements of engine/queue_sql.py side by side",
        "src/scrapersky/worker.py::_is_busy": "the same",
        "src/scrapersky/models/queue.py::items": "conditions of indexes over the names of a declaration",
        "src/scrapersky/core/database.py": "roles and server settings are constants of this module",
        "src/scrapersky/actions/searches/cancel_search.py::_withdraw": "names and conditions of STEPS",
        "src/scrapersky/store/contacts/rows.py::(module)": "names of this module, put together at import",
        "src/scrapersky/store/contacts/upsert.py::_upsert_statement": "the same",
        "src/scrapersky/store/contacts/name_forms.py::(module)": "the same",
        "src/scrapersky/store/contacts/same_person.py::(module)": "the same",
        "src/scrapersky/store/contacts/row_merge.py::set_clause": "the same",
        "src/scrapersky/actions/imports/dry_run.py::_copy_statements": "names of tables and columns of our own models",
        "src/scrapersky/store/leads/columns.py::found_by_queries": "names of tables and columns of this module",
        "src/scrapersky/store/leads/columns.py::_day_of": "the same",
        "src/scrapersky/store/leads/filters.py": "names of this module; values are bound",
        "src/scrapersky/store/leads/statements.py": "the same, of this module and the two beside it",
        "src/scrapersky/store/leads/merged_business.py": "the columns of its own tables",
        "src/scrapersky/store/leads/columns.py::(module)": "conditions of this module and no_contact_reason.py",
        "src/scrapersky/store/contacts/from_provider.py::(module)": "names of this module, put together at import",
        "src/scrapersky/store/deliveries/outbox.py::(module)": "names of core.contact_fields",
        "src/scrapersky/store/deliveries/deliveries.py::(module)": "conditions of store/withheld.py",
        "src/scrapersky/store/listing/export.py": "the same",
        "src/scrapersky/store/privacy/suppressions.py::(module)": "the same",
        "src/scrapersky/store/withheld.py": "aliases and names of our own statements",
        "src/scrapersky/store/listing/lineage.py::(module)": "a part of this module within another",
        "src/scrapersky/store/listing/labels.py::(module)": "tables and names of lineage.py",
        "src/scrapersky/store/listing/find.py::(module)": "tables and names of lineage.py, columns in this module",
        "src/scrapersky/store/listing/lineage.py::_statement": "built once for each noun, of names in this module",
        "src/scrapersky/store/steps.py": "names of this module: the declarations of the line",
        "src/scrapersky/store/line/advance_rules.py::_matching": "names and conditions of STEPS",
        "src/scrapersky/store/line/pages.py::(module)": "the same",
        "src/scrapersky/store/searches/": "the same, put together at import",
        "src/scrapersky/store/line/same_business.py": "columns of queues that store/steps.py declares",
        "src/scrapersky/store/operations/curation_changes.py": "names of tables and columns of our own resources",
        "src/scrapersky/store/operations/workflow_status.py::_of_engine": "the same as in runtime.py",
    },
    "no_http_client": {
        "scripts/lock.py": "asks the package index of pip, when a developer runs it",
        "src/scrapersky/crawl/http/client.py": "this is the guarded client; every other module uses it",
    },
    "no_assembled_pattern": {
        "src/scrapersky/extract/": "assembled of bounded parts; test_rules.py checks every pattern that is compiled",
        "src/scrapersky/crawl/sitemaps/xml_records.py": "the same",
        "src/scrapersky/core/redaction.py::redactor": "alternatives of escaped words, nothing is repeated",
        "src/scrapersky/sandbox/osm/overpass_filters.py::passes": "patterns of our own queries, in the sandbox",
    },
    "no_planted_identity": {
        "src/scrapersky/cli/": "ids in examples and in the sentence that says what one looks like",
        "src/scrapersky/sandbox/sites/style_wix.py::(module)": "an app id that every site of this builder has",
    },
}

SQL_BEGINS = re.compile(
    r"\s{0,100}(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|CREATE|ALTER|DROP|GRANT|REVOKE|TRUNCATE|NOTIFY|COPY)\s"
)
SQL_WITHIN = re.compile(r"\b(SELECT|FROM|WHERE|ORDER BY|VALUES|RETURNING|JOIN|UNION ALL)\s")
SQL_CALLS = {"text", "execute", "executemany", "fetchrow", "fetchval", "psql", "exec_driver_sql"}
CLIENTS = {
    "aiohttp": {"ClientSession", "request"},
    "httpx": None,  # all of it
    "requests": None,
    "urllib3": None,
    "http.client": None,
    "urllib.request": None,
}
LASTING = re.compile(r"set_config\s{0,3}\([^)]{1,200},\s{0,3}(?:false|f)\s{0,3}\)", re.IGNORECASE)
SETTING = re.compile(r"\s{0,20}SET\s(?!LOCAL\s|CONSTRAINTS\s|TRANSACTION\s)[\w.\" ]{1,60}(?:=|\sTO\s)")
IDENTITY = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
TOKEN = re.compile(
    r"eyJ[\w-]{8,2000}\.|AIza[\w-]{30,50}|\bsk[-_][A-Za-z0-9_-]{16,200}|Bearer [\w.-]{8,2000}|scraper_sky_2024"
)
UNVERIFIED = {"verify", "ssl", "verify_ssl", "check_hostname"}


@dataclass(frozen=True)
class Broken:
    """A place where a rule does not hold."""

    rule: str
    path: str
    function: str
    line: int
    why: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.why} ({self.function})"


def no_built_sql(nodes: list[ast.AST]) -> Found:
    """SQL holds bound values, never text that was put together."""
    for node in nodes:
        if isinstance(node, ast.Call) and _name(node.func) in SQL_CALLS and node.args and _is_built(node.args[0]):
            yield node.args[0], "a statement that is put together; bind its values, or say why in ALLOWED"
        elif _is_built(node) and _reads_like_sql(_literal_parts(node)):
            yield node, "text that reads like SQL is put together; bind its values, or say why in ALLOWED"


def no_http_client(nodes: list[ast.AST]) -> Found:
    """Requests go through crawl.client, which checks every address."""
    for node in nodes:
        if isinstance(node, ast.Import):
            wrong = [alias.name for alias in node.names if CLIENTS.get(alias.name, ()) is None]
        elif isinstance(node, ast.ImportFrom):
            wrong = [alias.name for alias in node.names if _is_client(node.module or "", alias.name)]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            wrong = [node.attr] if node.value.id == "aiohttp" and _is_client("aiohttp", node.attr) else []
        else:
            continue
        for name in wrong:
            yield node, f"{name} opens connections without a check of the address; use crawl.client"


def no_lasting_setting(nodes: list[ast.AST]) -> Found:
    """What one user of a pooled connection sets must be gone before the next one."""
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if LASTING.search(node.value):
                yield node, "set_config(…, false) outlives its transaction; say true"
            elif SETTING.match(node.value):
                yield node, "SET outlives its transaction; say SET LOCAL"


def no_unbounded_pattern(nodes: list[ast.AST]) -> Found:
    """A pattern's repetitions have an end, or give nothing back (`*+`): no text can make it run away."""
    for node in nodes:
        if not (isinstance(node, ast.Call) and _is_of_re(node.func) and node.args):
            continue
        pattern = node.args[0]
        if not (isinstance(pattern, ast.Constant) and isinstance(pattern.value, str | bytes)):
            continue
        if runs_away(pattern.value):
            yield pattern, "a repetition without an end; write {0,n}, or *+ and ++"


def no_assembled_pattern(nodes: list[ast.AST]) -> Found:
    """A pattern is a literal, so that its repetitions can be checked without running it."""
    for node in nodes:
        if not (isinstance(node, ast.Call) and _is_of_re(node.func) and node.args):
            continue
        if not isinstance(node.args[0], ast.Constant | ast.Name):
            yield node.args[0], "an assembled pattern; write it as a literal, or say in ALLOWED how it is checked"


def no_planted_identity(nodes: list[ast.AST]) -> Found:
    """No tenant, user, token or key stands in the code."""
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if IDENTITY.search(node.value):
                yield node, "an id stands in the code; ask the database or a setting for it"
            elif TOKEN.search(node.value):
                yield node, "this looks like a token; read it from a setting"


def no_unverified_tls(nodes: list[ast.AST]) -> Found:
    """Certificates are checked, everywhere."""
    for node in nodes:
        if isinstance(node, ast.keyword) and node.arg in UNVERIFIED and _is_false(node.value):
            yield node.value, f"{node.arg}=False talks to anybody"
        elif isinstance(node, ast.Attribute) and node.attr in ("CERT_NONE", "_create_unverified_context"):
            yield node, f"{node.attr} talks to anybody"
        elif isinstance(node, ast.Assign) and _is_false(node.value):
            for target in node.targets:
                if isinstance(target, ast.Attribute) and target.attr in UNVERIFIED:
                    yield node, f"{target.attr} = False talks to anybody"


RULES: list[Callable[[list[ast.AST]], Found]] = [
    no_built_sql,
    no_http_client,
    no_lasting_setting,
    no_unbounded_pattern,
    no_assembled_pattern,
    no_planted_identity,
    no_unverified_tls,
]


def broken_in(source: str, path: str) -> list[Broken]:
    """Every rule that one file breaks, allowed or not."""
    tree = _spelled_out(ast.parse(source))
    nodes = list(ast.walk(tree))  # once for all rules: that is what takes the time
    return [
        Broken(rule.__name__, path, _function_around(tree, node), getattr(node, "lineno", 0), why)
        for rule in RULES
        for node, why in _outermost(rule(nodes))
    ]


@cache
def broken_in_project() -> tuple[Broken, ...]:
    """Every rule that a file of the project breaks, allowed or not."""
    paths = sorted(path for place in PLACES for path in (ROOT / place).rglob("*.py"))
    return tuple(broken for path in paths for broken in broken_in(path.read_text(), path.relative_to(ROOT).as_posix()))


def is_allowed(broken: Broken) -> bool:
    """Whether ALLOWED has a reason for it."""
    return any(covers(allowance, broken) for allowance in ALLOWED.get(broken.rule, {}))


def covers(allowance: str, broken: Broken) -> bool:
    """A file, a directory (ends with /), or one function of a file (file::function)."""
    path, _, function = allowance.partition("::")
    if function:
        return (path, function) == (broken.path, broken.function)
    return broken.path.startswith(path) if path.endswith("/") else broken.path == path


def runs_away(pattern: str | bytes) -> bool:
    """Whether some repetition has no end and may give back what it took."""
    parsed: Any = re._parser.parse(pattern)  # the only parser of patterns there is
    return _repeats_endlessly(parsed)


def _repeats_endlessly(part: Any) -> bool:
    if isinstance(part, tuple) and len(part) == 2 and str(part[0]) in ("MAX_REPEAT", "MIN_REPEAT"):
        _least, most, inner = part[1]
        return most == re._constants.MAXREPEAT or _repeats_endlessly(inner)
    if isinstance(part, tuple | list) or type(part).__name__ == "SubPattern":
        return any(_repeats_endlessly(inner) for inner in part)
    return False


def _spelled_out(tree: ast.Module) -> ast.Module:
    """The constants of the module stand where their names stood: a template is judged where it is filled."""
    known: dict[str, ast.expr] = {}

    class Spelling(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.expr:
            is_read = isinstance(name.ctx, ast.Load) and name.id in known
            return ast.copy_location(copy.deepcopy(known[name.id]), name) if is_read else name

    for number, node in enumerate(tree.body):  # in their order: what is made of constants is one
        tree.body[number] = spelt = Spelling().visit(node)
        if isinstance(spelt, ast.Assign) and _is_fixed(spelt.value):
            known |= {target.id: spelt.value for target in spelt.targets if isinstance(target, ast.Name)}
    return tree


def _is_built(node: ast.AST) -> bool:
    """Text that is put together of something that is not a constant."""
    return _is_text(node) and not _is_fixed(node)


def _is_text(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=str()) | ast.JoinedStr():
            return True
        case ast.BinOp(op=ast.Add() | ast.Mod()):
            return _is_text(node.left) or _is_text(node.right)
        case ast.Call(func=ast.Attribute(attr="format" | "format_map" | "replace", value=template)):
            return _is_text(template)
        case _:
            return False


def _is_fixed(node: ast.AST) -> bool:
    match node:
        case ast.Constant():
            return True
        case ast.JoinedStr(values=parts):
            return all(_is_fixed(part) for part in parts)
        case ast.FormattedValue(value=part):
            return _is_fixed(part)
        case ast.BinOp():
            return _is_fixed(node.left) and _is_fixed(node.right)
        case ast.Call(func=ast.Attribute(attr="format" | "replace", value=template)):
            return all(_is_fixed(part) for part in [template, *node.args, *(word.value for word in node.keywords)])
        case _:
            return False


def _literal_parts(node: ast.AST) -> str:
    texts = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant))
    return " ".join(text for text in texts if isinstance(text, str))


def _reads_like_sql(text: str) -> bool:
    return bool(SQL_BEGINS.match(text)) or len(set(SQL_WITHIN.findall(text))) > 1


def _outermost(found: Found) -> Found:
    """One complaint for one expression, not one for each of its parts."""
    inside: set[int] = set()
    for node, why in found:
        if id(node) not in inside:
            inside |= {id(part) for part in ast.walk(node)}
            yield node, why


def _function_around(tree: ast.Module, wanted: ast.AST) -> str:
    """The innermost function that holds the node."""
    around = "(module)"
    for node in ast.walk(tree):  # outer ones come first
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and any(part is wanted for part in ast.walk(node)):
            around = node.name
    return around


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _is_client(module: str, name: str) -> bool:
    whole = CLIENTS.get(module, ()) is None or CLIENTS.get(f"{module}.{name}", ()) is None
    return whole or name in (CLIENTS.get(module) or ())


def _is_of_re(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "re"


def _is_false(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def main() -> int:
    """Print every broken rule; return the exit code of `make check`."""
    wrong = [*(broken for broken in broken_in_project() if not is_allowed(broken)), *broken_promises()]
    for broken in wrong:
        print(broken)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
