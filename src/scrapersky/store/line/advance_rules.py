"""The advance rules of searches, read where one step hands rows over to the next."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, Uuid, any_, bindparam, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from scrapersky.models import Domain, Search
from scrapersky.store.steps import AdvanceRules, LineStep, step_after


async def advance(session: AsyncSession, workflow: str, produced: Mapping[UUID, AdvanceRules]) -> list[UUID]:
    """Return the ids of the produced rows that enter the step after `workflow`, by the rules of their searches."""
    step = step_after(workflow)
    by_value: dict[str, list[UUID]] = {}
    for row_id, rules in produced.items():
        by_value.setdefault(rules.value_of(step), []).append(row_id)
    going_on = by_value.get("all", [])
    for value, condition in step.rule_values.items():
        if value in by_value:
            going_on += await _matching(session, step, by_value[value], condition)
    return going_on


async def _matching(session: AsyncSession, step: LineStep, ids: Collection[UUID], condition: str) -> list[UUID]:
    rows = text(f"SELECT t.id FROM {step.table} t WHERE t.id = ANY (:ids) AND {condition.format(row='t')}")  # noqa: S608
    return list(await session.scalars(rows.bindparams(bindparam("ids", list(ids), ARRAY(Uuid())))))


async def rules_of(session: AsyncSession, search_ids: Iterable[UUID | None]) -> Mapping[UUID | None, AdvanceRules]:
    """Return the rules of these searches, read in one query; rows without a search follow the default rules."""
    wanted = {search_id for search_id in search_ids if search_id is not None}
    rules: dict[UUID | None, AdvanceRules] = {None: AdvanceRules(), **dict.fromkeys(wanted, AdvanceRules())}
    if wanted:
        rows = await session.execute(select(Search.id, Search.rules).where(Search.id.in_(wanted)))
        rules |= {row.id: read_rules(row.rules) for row in rows}
    return rules


async def rules_of_domains(session: AsyncSession, domain_ids: Collection[UUID]) -> Mapping[UUID, AdvanceRules]:
    """Return the rules of the searches that own these domains, read in one query."""
    if not domain_ids:
        return {}
    wanted = bindparam("domain_ids", list(domain_ids), ARRAY(Uuid()))
    rules = select(Domain.id, Search.rules).outerjoin(Search, Domain.search_id == Search.id)
    return {row.id: read_rules(row.rules) for row in await session.execute(rules.where(Domain.id == any_(wanted)))}


def read_rules(stored: Mapping[str, Any] | None) -> AdvanceRules:
    """Build the rules from the JSON that is stored with a search."""
    return AdvanceRules.model_validate(stored or {})
