"""Say what claims still need: results missing by row and seed, and what these cost, at any scale.

    stele claims plan --paper msm kept --main --scale study --seeds 5 2
    stele claims plan --claim msm/hierarchical_loss --format csv

Nothing is built. The rows are those of the claims' cells and controls; config.yaml says everything else. Costs are
those of `stele cluster cost`: hours within a factor of two. Results of another scale do not count as there.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stele.artifacts.row import Row
from stele.catalogue import read_yaml
from stele.config.model import parse_config
from stele.errors import unknown
from stele.evidence.needed import references_of
from stele.files.csv_files import write_csv
from stele.files.markdown import table
from stele.files.paths import read_stamp
from stele.papers.addresses import load_paper
from stele.papers.claims import FILE, load_claims, papers_with_claims
from stele.papers.targets import Reference
from stele.plan.plan import Plan, make_plan

COLUMNS = ("paper", "key", "main", "row", "state", "missing", "reason")


class Chosen(NamedTuple):
    """A claim and the values of ours that it and its controls speak of."""

    paper: str
    key: str
    main: bool
    references: frozenset[Reference]

    @property
    def name(self) -> str:
        return f"{self.paper}/{self.key}"


class Need(NamedTuple):
    """What a row still needs: result files that are missing; or why it cannot be built."""

    missing: tuple[str, ...] = ()
    reason: str = ""

    @property
    def state(self) -> str:
        return "cannot be built" if self.reason else "missing" if self.missing else "there"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--claim", nargs="+", metavar="[PAPER/]KEY", help="default: all of the papers")
    parser.add_argument("--paper", nargs="+", metavar="PAPER", help="default: all that have claims")
    parser.add_argument("--main", action="store_true", help="main claims alone")
    parser.add_argument("--scale", help="default: as a run would choose")
    parser.add_argument("--seeds", type=int, nargs=2, metavar=("P", "F"), help="so many of pretraining, of fine-tuning")
    parser.add_argument("--config", type=Path, default=Path("config.yaml"), help="(default: %(default)s)")
    parser.add_argument("--specs", type=Path, default=Path("paper_tables"), help="(default: %(default)s)")
    parser.add_argument("--format", choices=("text", "csv"), default="text", help="(default: %(default)s)")


def run(args: argparse.Namespace) -> None:
    chosen = choose(args.specs, args.paper, args.claim, args.main)
    given = overrides(args.scale, args.seeds)
    plan = make_plan(parse_config({**read_yaml(args.config), **given}))
    needs = needed(plan, {reference for claim in chosen for reference in claim.references})
    if args.format == "csv":
        write_csv(sys.stdout, [COLUMNS, *rows(chosen, needs)])
        return
    print(summary(plan, chosen, needs))
    if targets := sorted({path for need in needs.values() for path in need.missing}):
        print(cost(targets, args.config, given, plan))


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


def overrides(scale: str | None, seeds: Sequence[int] | None) -> dict[str, Any]:
    """The keys of config.yaml that the arguments replace."""
    numbers = {"pretraining": list(range(seeds[0])), "finetuning": list(range(seeds[1]))} if seeds else None
    return {key: value for key, value in (("scale", scale), ("seeds", numbers)) if value}


def needed(plan: Plan, references: Iterable[Reference]) -> dict[Row, Need]:
    """Row -> what it needs, in order."""
    by_row: dict[Row, set[str]] = defaultdict(set)
    for reference in references:
        by_row[reference.result].update(reference.languages)
    return {row: _need(plan, row, by_row[row]) for row in sorted(by_row)}


def _need(plan: Plan, row: Row, languages: set[str]) -> Need:
    if problem := plan.rows.problem(row):
        return Need(reason=": ".join(problem))
    if not plan.rows.counts(row) and not languages & {*plan.rows.languages(row)}:
        return Need(reason=f"not in scale: {', '.join(sorted(languages))}")
    files = [plan.paths.seed_result(row, seeds) for seeds in plan.rows.seeds(row)] or [plan.paths.result(row)]
    return Need(tuple(path for path in files if _other_scale(plan) or not Path(path).is_file()))


def _other_scale(plan: Plan) -> bool:
    """Whether the folder of results holds those of another scale."""
    return read_stamp(Path(plan.settings.config.results_dir)) not in (None, plan.settings.scale)


def rows(chosen: Sequence[Chosen], needs: dict[Row, Need]) -> list[list[str]]:
    """A line for each claim and each of its rows."""
    return [
        [claim.paper, claim.key, "yes" if claim.main else "", row.path, needs[row].state, *_said(needs[row])]
        for claim in chosen
        for row in sorted({reference.result for reference in claim.references})
    ]


def _said(need: Need) -> tuple[str, str]:
    return " ".join(Path(path).stem for path in need.missing), need.reason


def summary(plan: Plan, chosen: Sequence[Chosen], needs: dict[Row, Need]) -> str:
    """How many claims need what, then the rows that are missing and those that cannot be built."""
    needing = [claim for claim in chosen if any(needs[one.result].missing for one in claim.references)]
    nothing = [claim for claim in chosen if all(needs[one.result].reason for one in claim.references)]
    claims_of: dict[Row, int] = defaultdict(int)
    for claim in chosen:
        for row in {reference.result for reference in claim.references}:
            claims_of[row] += 1
    missing = {row: need for row, need in needs.items() if need.missing}
    files = sum(len(need.missing) for need in missing.values())
    complete = len(chosen) - len(needing) - len(nothing)
    lines = [
        f"Scale {plan.settings.scale} ({plan.settings.why}): {len(chosen)} claims. {len(needing)} need results, "
        f"{len(nothing)} have none that can be built there, {complete} have all."
    ]
    if missing:
        listed = [[row.path, _said(need)[0], str(claims_of[row])] for row, need in missing.items()]
        lines += [f"{files} results of {len(missing)} rows are missing:", table(["row", "seeds", "claims"], listed)]
    if lost := {row: need.reason for row, need in needs.items() if need.reason}:
        lines += ["\n".join(["Not to be had there:", *(f"- {row.path}: {why}" for row, why in lost.items())])]
    return "\n\n".join(lines)


def cost(targets: Sequence[str], config: Path, given: dict[str, Any], plan: Plan) -> str:
    """What it costs to build the targets and all that they still need, by stage."""
    from stele.cluster import cost_table, settings
    from stele.cluster.planned_jobs import planned
    from stele.cost.work import device

    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / "given.yaml"  # on a command line numbers in a list would be texts
        own.write_text(json.dumps(given), encoding="utf-8")
        _, jobs = planned([*targets, "--configfile", str(config), str(own)], _other_scale(plan), leave_out="")
    return "\n" + cost_table.by_stage(jobs, device(settings.read().gpu_model))
