"""The estimated cost of a search, as a sentence and as JSON."""

from typing import Any

from scrapersky.actions.request_search import SearchCost


def cost_sentence(cost: SearchCost) -> str | None:
    """Return what a person should know before the search starts; None if it is free."""
    if cost.estimate is None or not cost.estimate.cents:
        return None
    default = " This is the default: --budget sets another limit." if cost.is_default_budget else ""
    limit = f" It stops before {cost.budget_cents / 100:.2f}.{default}" if cost.budget_cents is not None else ""
    expected = f"Probably {cost.estimate.cents / 100:.2f} at most, in {cost.estimate.calls} calls."
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
