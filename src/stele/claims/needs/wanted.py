"""The results that claims are judged by: the rows of their cells and controls, seed by seed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from stele.artifacts.row import Row
from stele.errors import unknown
from stele.evidence.needed import references_of
from stele.papers.addresses import load_paper
from stele.papers.claims import FILE, load_claims, papers_with_claims
from stele.papers.table_parts import CellSource
from stele.plan.paths import seed_names
from stele.plan.plan import Plan


class Chosen(NamedTuple):
    """A claim and the values of ours that it and its controls speak of."""

    paper: str
    key: str
    main: bool
    references: frozenset[CellSource]

    @property
    def name(self) -> str:
        return f"{self.paper}/{self.key}"


class Wanted(NamedTuple):
    """The result files of a row, one a seed where it has seeds; or why it cannot be built."""

    files: tuple[str, ...] = ()
    reason: str = ""


def choose(specs: Path, papers: Sequence[str] | None, keys: Sequence[str] | None, main: bool) -> list[Chosen]:
    """The claims that are named, `key` or `paper/key`, or all that something can check."""
    found = []
    for folder in papers_with_claims(specs, list(papers) if papers else None):
        claims, printed = load_claims(folder / FILE), load_paper(folder)
        for claim in claims.claims:
            if claim.checkable and (claim.main or not main):
                found.append(Chosen(claims.paper, claim.key, claim.main, frozenset(references_of(claim, printed))))
    names = {name for claim in found for name in (claim.key, claim.name)}
    for key in keys or ():
        if key not in names:
            raise unknown("claim", key, names)
    return [claim for claim in found if not keys or claim.key in keys or claim.name in keys]


def wanted(plan: Plan, references: Iterable[CellSource]) -> dict[Row, Wanted]:
    """Row -> its results, in order."""
    by_row: dict[Row, set[str]] = defaultdict(set)
    for reference in references:
        by_row[reference.result].update(reference.languages)
    return {row: _wanted(plan, row, by_row[row]) for row in sorted(by_row)}


def _wanted(plan: Plan, row: Row, languages: set[str]) -> Wanted:
    if problem := plan.rows.problem(row):
        return Wanted(reason=": ".join(problem))
    if not plan.rows.counts(row) and not languages & {*plan.rows.languages(row)}:
        return Wanted(reason=f"not in scale: {', '.join(sorted(languages))}")
    files = [plan.paths.seed_result(row, seeds) for seeds in _seeds(plan, row)]
    return Wanted(tuple(files or [plan.paths.result(row)]))


def _seeds(plan: Plan, row: Row) -> list[str]:
    """The configured seeds; of what is fine-tuned but not pretrained here, one of fine-tuning for each of pretraining.

    Its interval comes from fine-tuning alone, and two seeds know little of how much they vary.
    """
    names = plan.rows.seeds(row)
    recipe = plan.protocols.recipe(row.benchmark, row.setting)
    if not names or recipe is None or plan.models.pretraining_of(row.model) is not None:
        return names
    return list(dict.fromkeys([*names, *seed_names([0], plan.settings.config.seeds.pretraining)]))


def claim_results(plan: Plan, main: bool) -> list[str]:
    """What can be built of what the claims, or the main claims alone, of the configured papers are judged by."""
    chosen = choose(Path("paper_tables"), plan.settings.config.papers, None, main)
    rows = wanted(plan, {reference for claim in chosen for reference in claim.references})
    return [path for row in rows.values() for path in row.files]
