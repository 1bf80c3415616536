"""Options of commands that write leads: one for each filter, the columns, the sort."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

import typer

from scrapersky.cli.shared.option_sets import with_options
from scrapersky.cli.shared.options import FILE_PANEL
from scrapersky.core.errors import BadRequest
from scrapersky.store.leads.filters import LEAD_FILTERS, Filters, LeadFilter

if TYPE_CHECKING:
    from scrapersky.core.settings import Settings
    from scrapersky.destinations.files.lead_file import LeadFile
    from scrapersky.extract.phones.spelling import PhoneFormat
    from scrapersky.store.leads.read import LeadQuery

FILE_HELP = "The file: .csv, .tsv, .xlsx, .json, .jsonl or .parquet; - for standard output."
FilterOptions = Annotated[Filters, "those of LEAD_FILTERS that were given; with_lead_filters replaces this parameter"]
ColumnNames = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="NAMES",
        help="The columns and their order, such as business,email,city; an unknown one lists all.",
        show_default="all",
        rich_help_panel=FILE_PANEL,
    ),
]
SortKeys = Annotated[
    str | None,
    typer.Option(
        "--sort",
        metavar="NAMES",
        help="Columns to sort by, such as -rating,city; - is descending; an unknown one lists all.",
        show_default="business",
        rich_help_panel=FILE_PANEL,
    ),
]
FormatName = Annotated[
    Literal["csv", "tsv", "xlsx", "json", "jsonl", "parquet"] | None,
    typer.Option(
        "--format",
        help="The format.",
        show_default="that of its name; csv for -",
        rich_help_panel=FILE_PANEL,
    ),
]
_PANEL = "Filters of leads; all must match, any value of an option that is repeated"


class BadLeadFilter(BadRequest):
    """The filter of leads is invalid."""


@dataclass(frozen=True)
class LeadOptions:
    """Which leads a command writes, and how."""

    out: Path
    per: Literal["business", "contact"] = "business"
    prefer: str | None = None  # functions whose contacts are the best; None means those of the setting
    phone_format: "PhoneFormat | None" = None
    filters: Filters = field(default_factory=dict)
    columns: str | None = None
    sort: str | None = None
    form: str | None = None

    @property
    def is_standard_output(self) -> bool:
        """Whether the rows go to standard output, so that nothing else may."""
        return str(self.out) == "-"

    def file(self, own: Iterable[str] = ()) -> "LeadFile":
        """Return the file, with columns of the user's own. Raises BadRequest if it cannot be written, or for an unknown
        column or sort key."""
        from scrapersky.destinations.files.lead_file import LeadFile
        from scrapersky.store.leads.read import chosen_columns, parse_sort

        parse_sort(self.per, self.sort)
        return LeadFile(self.out, chosen_columns(self.per, self.columns, own), self.phone_format, self.form)

    def query(self, settings: "Settings", searches: tuple[UUID, ...]) -> "LeadQuery":
        """Return what the statements need. Raises BadRequest for an unknown function or sort key."""
        from scrapersky.store.leads.read import LeadQuery, parse_sort, preferred_functions

        preferred = preferred_functions(self.prefer, settings.preferred_functions)
        return LeadQuery(searches, self.per, preferred, self.filters, parse_sort(self.per, self.sort))


def _option(each: LeadFilter) -> Any:
    """Return the annotation of a filter: a flag, a number, a text, or a list of texts."""
    kind: Any = {"flag": bool, "rating": float}.get(each.kind, str)
    name = each.options or f"--{each.name.replace('_', '-')}"
    text = f"{each.help[0].upper()}{each.help[1:]}."
    option = typer.Option(name, help=text, show_default=False, rich_help_panel=_PANEL)
    return Annotated[(list[kind] if each.several else kind) | None, option]


def parse_lead_filters(given: dict[str, Any]) -> Filters:
    """Return the values of the filters that were given, checked as those of the API. Raises BadLeadFilter."""
    values = {name: value for name, value in given.items() if value is not None and value != []}
    if not values:
        return {}
    from pydantic import ValidationError

    from scrapersky.api.line.lead_rows import LeadFilterQuery, set_lead_filters

    values = {name: _READ.get(LEAD_FILTERS[name].kind, lambda value: value)(value) for name, value in values.items()}
    try:
        return set_lead_filters(LeadFilterQuery.model_validate(values))
    except ValidationError as error:
        problem = error.errors()[0]
        option = str(problem["loc"][0]).replace("_", "-")
        raise BadLeadFilter(f"--{option} {str(problem.get('input'))[:60]!r}: {_reason(problem)}.") from None


def _reason(problem: Any) -> str:
    """Return why a value is refused, and what a command takes instead."""
    if cure := _CURES.get(LEAD_FILTERS[str(problem["loc"][0])].kind):
        return cure
    return str(problem["msg"]).removeprefix("Value error, ")


def _moment(text: str) -> str:
    """Return a day as the timestamp of its beginning in UTC; any other text as it is."""
    return f"{text}T00:00:00Z" if len(text) == len("2026-11-15") else text


def _countries(texts: list[str]) -> list[str]:
    """Return the codes of countries, which may be given by name. Raises BadLeadFilter."""
    from scrapersky.extract.countries import country_code

    codes = {text: country_code(text) for text in texts}
    for text, code in codes.items():
        if code is None:
            raise BadLeadFilter(f"There is no country {text[:40]!r}: give its name, or its code such as FI or US.")
    return [code for code in codes.values() if code]


_CURES = {
    "moment": "write a day like 2026-11-15, or a time like 2026-11-15T12:00:00Z",
    "language": "write the code of the language, such as fi for Finnish, en for English or de for German",
}
# Kinds of filters that people may write in more ways than the API takes.
_READ: dict[str, Callable[[Any], Any]] = {"moment": _moment, "country": _countries}


# Gives a command the options of all filters; its parameter `filters` receives the values of those given.
with_lead_filters = with_options(
    "filters", {name: _option(each) for name, each in LEAD_FILTERS.items()}, lambda given, _: parse_lead_filters(given)
)
