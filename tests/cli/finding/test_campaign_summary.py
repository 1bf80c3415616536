"""The summary of a campaign whose budget ended."""

import pytest

from scrapersky.cli.finding.summary import print_summary
from scrapersky.store.searches import progress

SENTENCE = "The budget ended before all searches were complete: the same command with a larger --budget continues."
SUMMARY = {
    "provider": "campaign",
    "search": "2 searches",
    "area": None,
    "steps": progress.as_json(progress.NOT_COUNTED),
    "reasons": [],
    **dict.fromkeys(("contacts", "emails", "phones", "people", "domains", "seconds", "rows"), 1),
    **dict.fromkeys(("first_contact_seconds", "verdicts", "notes", "cancelled_by", "kept", "stopped"), None),
    "left": 0,
    "hidden": {},
    "written": True,
    "file": "leads.csv",
    "bill": {"cost_cents": 7, "budget_cents": 7, "details_count": 0, "call_count": 2, "unanswered_calls": 0},
    "equal_lines": 2,
    "rejected_lines": [f"line {number}: it is empty" for number in range(14)],
}


@pytest.mark.parametrize("is_over", [True, False])
def test_a_campaign_whose_budget_ended_says_how_to_continue(capsys, is_over):
    print_summary({**SUMMARY, "stopped_by_budget": is_over})
    assert (SENTENCE in capsys.readouterr().err) == is_over


def test_only_the_first_rejected_lines_are_printed_and_the_others_counted(capsys):
    print_summary({**SUMMARY, "stopped_by_budget": False})
    said = capsys.readouterr().err
    assert said.count("not used: line") == 10
    assert "not used: 4 more lines; --json lists all of them." in said


def test_equal_lines_are_counted_and_one_is_singular(capsys):
    print_summary({**SUMMARY, "stopped_by_budget": False})
    said = capsys.readouterr().err
    assert "2 lines are equal to others." in said
    assert "1 email, 1 phone and 1 person of 1 web site in" in said
    print_summary({**SUMMARY, "stopped_by_budget": False, "equal_lines": 1, "emails": 2, "people": 0, "domains": 3})
    said = capsys.readouterr().err
    assert "1 line is equal to another." in said
    assert "2 emails, 1 phone and 0 people of 3 web sites in" in said
