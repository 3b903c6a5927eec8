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
from stele.claims.needs.wanted import Chosen, choose, wanted
from stele.config.model import parse_config
from stele.files.csv_files import write_csv
from stele.files.markdown import table
from stele.files.paths import read_stamp
from stele.papers.targets import Reference
from stele.plan.plan import Plan, make_plan

COLUMNS = ("paper", "key", "main", "row", "state", "missing", "reason")


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


def overrides(scale: str | None, seeds: Sequence[int] | None) -> dict[str, Any]:
    """The keys of config.yaml that the arguments replace."""
    numbers = {"pretraining": list(range(seeds[0])), "finetuning": list(range(seeds[1]))} if seeds else None
    return {key: value for key, value in (("scale", scale), ("seeds", numbers)) if value}


def needed(plan: Plan, references: Iterable[Reference]) -> dict[Row, Need]:
    """Row -> what it needs, in order."""
    return {row: Need(_missing(plan, files), why) for row, (files, why) in wanted(plan, references).items()}


def _missing(plan: Plan, files: Sequence[str]) -> tuple[str, ...]:
    return tuple(path for path in files if _other_scale(plan) or not Path(path).is_file())


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
    from stele.cluster import settings
    from stele.cluster.cost import by_stage
    from stele.cluster.work import device
    from stele.snakemake_support.patches.planning import planned

    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / "given.yaml"  # on a command line numbers in a list would be texts
        own.write_text(json.dumps(given), encoding="utf-8")
        _, jobs = planned([*targets, "--configfile", str(config), str(own)], _other_scale(plan), leave_out="")
    return "\n" + by_stage(jobs, device(settings.read().gpu_model))
