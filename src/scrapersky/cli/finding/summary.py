"""The result of a search: exit code, tables and sentences."""

from collections.abc import Iterator, Mapping
from typing import Any

import typer

from scrapersky.actions.searches.request_search import SearchCost
from scrapersky.cli.finding.progress import LABELS, describe_wait
from scrapersky.cli.shared.hidden_sites import describe_hidden_sites
from scrapersky.cli.shared.output import READING_WIDTH, format_seconds, print_table, printable
from scrapersky.core.vocabularies import CAMPAIGN, SITES
from scrapersky.store.searches.progress import Wait

FOUND, NOTHING, POSTPONED, REFUSED, STOPPED = 0, 1, 3, 4, 130
MAX_REJECTED_LINES = 10


def exit_code(summary: Mapping[str, Any]) -> int:
    """Return the exit code of a search; docs/find.md lists them."""
    if summary["stopped"]:
        return STOPPED
    if summary["contacts"]:
        return FOUND
    search = summary["steps"]["place_search"]
    if search["failed"] or search["skipped"] or (summary["stopped_by_budget"] and not summary["rows"]):
        return REFUSED
    return POSTPONED if summary["left"] else NOTHING


def cost_sentence(cost: SearchCost) -> str | None:
    """Return what a person should know before the search starts; None if it is free."""
    if cost.estimate is None or not cost.estimate.cents:
        return None
    default = " This is the default: --budget sets another limit." if cost.is_default_budget else ""
    limit = f" It stops before {cost.budget_cents / 100:.2f}.{default}" if cost.budget_cents is not None else ""
    calls = _count(cost.estimate.calls, "call")
    expected = f"Probably {cost.estimate.cents / 100:.2f} at most in the provider's currency, with {calls}."
    return f"{expected}{limit} {cost.estimate.explanation}"


def cost_json(cost: SearchCost) -> dict[str, Any] | None:
    """Return the estimate and the budget for scripts; None if there is no estimate."""
    if cost.estimate is None:
        return None
    return {
        "calls": cost.estimate.calls,
        "cents": cost.estimate.cents,
        "explanation": cost.estimate.explanation,
        "budget_cents": cost.budget_cents,
        "is_default_budget": cost.is_default_budget,
    }


def print_summary(summary: Mapping[str, Any]) -> None:
    """Print the counts of the steps to standard output, and all else to standard error."""
    nothing = _why_nothing(summary)
    if nothing is None:
        _print_tables(summary)
    for sentence in [nothing] if nothing else _found_sentences(summary):
        typer.echo(printable(sentence), err=True)
    for sentence in _end_sentences(summary):
        typer.echo(printable(sentence), err=True)


def _why_nothing(summary: Mapping[str, Any]) -> str | None:
    """Return why no place was found; None if there is something to show."""
    search, places = summary["steps"]["place_search"], summary["steps"]["deep_scan"]
    if summary["contacts"] or summary["provider"] == SITES or any(places.values()):
        return None
    if search["failed"] or search["skipped"]:
        reasons = (one["reason"] for one in summary["reasons"] if one["step"] == "place_search")
        verb = "failed" if search["failed"] else "could not be made"
        return f"The search {verb}: {next(reasons, 'the reason is unknown.')}"
    if search["waiting"] or search["working"]:
        return "The search has not been made yet."
    if summary["stopped_by_budget"]:
        return "Nothing was found: the budget does not allow a call."
    if summary["provider"] == CAMPAIGN:
        return f"Nothing was found by the {search['completed']} searches of the campaign. Check their spelling."
    where = f" in {summary['area']}" if summary["area"] else ""
    return (
        f"Nothing was found: {summary['provider']} has no {summary['search']}{where}. "
        "Check the spelling, use a simpler word or a larger area, or another --provider."
    )


def _print_tables(summary: Mapping[str, Any]) -> None:
    steps = [
        (LABELS[name], counts["completed"], counts["skipped"], counts["failed"])
        for name, counts in summary["steps"].items()
    ]
    print_table(["step", "done#", "skipped#", "failed#"], steps)
    if summary["reasons"]:
        reasons = [
            (LABELS[reason["step"]], reason["status"].lower(), reason["reason"], reason["rows"])
            for reason in summary["reasons"]
        ]
        print_table(["step", "", "reason", "rows#"], reasons, pipe_width=READING_WIDTH)


def _found_sentences(summary: Mapping[str, Any]) -> Iterator[str]:
    first = summary["first_contact_seconds"]
    after = "" if first is None else f", the first after {format_seconds(first)}"
    counted = {"emails": "email", "phones": "phone", "people": "person", "domains": "web site"}
    emails, phones, people, sites = (_count(summary[name], noun) for name, noun in counted.items())
    yield f"{emails}, {phones} and {people} of {sites} in {format_seconds(summary['seconds'])}{after}."
    if summary["verdicts"]:
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in summary["verdicts"].items() if count)
        yield f"Of the addresses, {verdicts}."
    if hidden := describe_hidden_sites(summary["hidden"]):
        yield hidden


def _count(number: int, noun: str) -> str:
    plural = "people" if noun == "person" else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


def _end_sentences(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield what happened to the file, the cost, and what is left to do."""
    if summary["kept"]:
        yield f"{summary['file']} existed before and was kept."
    elif not summary["written"]:
        yield f"{summary['file']} was not written: it would have no row."
    elif not summary["rows"]:
        yield f"{summary['file']} was written without rows."
    elif summary["file"] is not None:  # else the file was temporary
        yield f"{summary['rows']} {'row' if summary['rows'] == 1 else 'rows'} in {summary['file']}."
    if summary["bill"]["cost_cents"] or summary["bill"]["budget_cents"] is not None:
        yield _bill_sentence(summary["bill"])
    if summary["notes"]:
        yield summary["notes"]
    if summary["provider"] == CAMPAIGN and summary["stopped_by_budget"]:
        yield "The budget ended before all searches were complete: the same command with a larger --budget continues."
    if summary["cancelled_by"]:
        yield f"Cancelled by {summary['cancelled_by']}."
    if summary["left"] and not summary["stopped"]:
        yield from summary["held"]
        yield from (f"Postponed {describe_wait(Wait(**wait))}" for wait in summary["waiting"])
        left, (they, them) = summary["left"], ("it is", "it") if summary["left"] == 1 else ("they are", "them")
        yield ("1 row is left" if left == 1 else f"{left} rows are left") + (
            f"; the same command continues with {them}, and waits for {them} with a larger --idle-timeout."
            if summary["continues"]
            else f"; {they} deleted with the database of the demo."
        )
    if equal := summary["equal_lines"]:
        yield "1 line is equal to another." if equal == 1 else f"{equal} lines are equal to others."
    yield from (f"not used: {line}" for line in summary["rejected_lines"][:MAX_REJECTED_LINES])
    if (more := len(summary["rejected_lines"]) - MAX_REJECTED_LINES) > 0:
        yield f"not used: {more} more lines; --json lists all of them."
    if summary["stopped"]:
        yield "Stopped: the same command continues where this one ended."


def _bill_sentence(bill: Mapping[str, Any]) -> str:
    budget, details = bill["budget_cents"], bill["details_count"]
    of_budget = f", budget {budget / 100:.2f}" if budget is not None else ""
    of_details = f", {details} of them for details ({bill['details_cents'] / 100:.2f})" if details else ""
    unknown = bill["unanswered_calls"]
    of_unknown = (
        f" The answers of {unknown} calls were lost; they are in the cost, for they may be billed." if unknown else ""
    )
    cost = f"Cost {bill['cost_cents'] / 100:.2f} in the provider's currency{of_budget}"
    return f"{cost}: {_count(bill['call_count'], 'call')}{of_details}.{of_unknown}"
