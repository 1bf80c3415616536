"""STEPS says the same about the line as the pipeline, the rules and the tables."""

import pytest

from scrapersky.pipeline import build_pipeline
from scrapersky.store.steps import DELIVERY, ROWS_OF_SEARCH, STEPS, STOPPED, AdvanceRules, step_after

NAMES = [step.workflow for step in STEPS]


def test_the_steps_are_the_workflows_of_the_pipeline_in_their_order() -> None:
    line = [(workflow.name, workflow.model, workflow.table, workflow.queue) for workflow in build_pipeline({})]
    assert line == [(step.workflow, step.model, step.table, step.queue) for step in (*STEPS, DELIVERY)]


def test_each_workflow_feeds_the_step_after_it() -> None:
    feeds = {workflow.name: workflow.feeds for workflow in build_pipeline({})}
    assert feeds == dict(zip([*NAMES, DELIVERY.workflow], [*NAMES[1:], None, None], strict=True))


def test_each_step_but_the_first_has_a_rule_and_a_cancelled_search_has_none_on() -> None:
    options = {"permanently_closed", "page_kinds", "pages_per_site", "browser"}
    assert set(AdvanceRules.model_fields) - options == set(NAMES[1:])
    assert {STOPPED.value_of(step) for step in STEPS[1:]} == {"off"}


@pytest.mark.parametrize("step", STEPS[1:], ids=NAMES[1:])
def test_the_values_of_a_rule_are_off_all_and_those_of_the_step(step) -> None:
    schema = AdvanceRules.model_json_schema()["properties"][step.workflow]
    assert set(schema["enum"]) == {"off", "all", *step.rule_values}


def test_every_table_of_the_line_knows_the_rows_of_a_search() -> None:
    assert {step.table for step in STEPS} == set(ROWS_OF_SEARCH)


def test_the_step_after_the_last_does_not_exist() -> None:
    assert step_after("place_search").workflow == "deep_scan"
    with pytest.raises(IndexError):
        step_after(NAMES[-1])
