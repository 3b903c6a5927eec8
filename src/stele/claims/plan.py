"""List the results that claims still need, by row and seed, and their cost, at any scale.

    stele claims plan --paper msm kept --main --scale study --seeds 5 2
    stele claims plan --claim msm/hierarchical_loss

Nothing is built. The claims' cells and controls name the rows; config.yaml says everything else. Costs are estimated as
by `stele cluster cost`: hours within a factor of two. Results of another scale count as missing.
"""

import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stele.artifacts.results import RunKey
from stele.catalogue import read_yaml
from stele.claims.judging.pairs import references_of
from stele.command.arguments import Job, Some, SpecsFolder
from stele.config.model import parse_config
from stele.errors import check_known
from stele.files.formats import amount, table
from stele.files.paths import read_stamp
from stele.papers.addresses import load_paper
from stele.papers.claims import FILE, load_claims, papers_with_claims
from stele.papers.paper import PAPER_TABLES
from stele.papers.table_parts import CellSource
from stele.plan.paths import seed_names
from stele.plan.plan import Plan


class ClaimSelection(NamedTuple):
    """A claim, `paper/key`, and the sources of our values for its cells and its controls."""

    name: str
    references: frozenset[CellSource]

    @property
    def rows(self) -> list[RunKey]:
        return sorted({reference.result for reference in self.references})


class Need(NamedTuple):
    """Result files of a row, one per seed if it has seeds, and the missing ones; or why the row cannot be built."""

    files: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    reason: str = ""

    @property
    def seeds(self) -> str:
        """Names of the missing seeds, joined by blanks."""
        return " ".join(Path(path).stem for path in self.missing)


class PlanClaims(Job):
    claim: Some[str] | None = None
    """Claims to plan, as [PAPER/]KEY; default: all claims of the papers."""
    paper: Some[str] | None = None
    """Papers whose claims are planned; default: all papers that have claims."""
    main: bool = False
    """Plan only the papers' main claims."""
    scale: str | None = None
    """Scale to plan; default: the scale that a run would choose."""
    seeds: tuple[int, int] | None = None
    """Numbers of seeds of pretraining and of fine-tuning; default: the seeds of --config."""
    config: Path = Path("config.yaml")
    """Configuration to plan."""
    specs: SpecsFolder = PAPER_TABLES


def run(args: PlanClaims) -> None:
    # the chosen claims, and the plan of config.yaml, overridden by the arguments
    claims = choose(args.specs, args.paper, args.claim, args.main)
    changes: dict[str, Any] = {"scale": args.scale} if args.scale else {}
    if args.seeds:
        pretraining, finetuning = args.seeds
        changes["seeds"] = {"pretraining": list(range(pretraining)), "finetuning": list(range(finetuning))}
    plan = Plan(parse_config({**read_yaml(args.config), **changes}))
    # the jobs of their rows
    needs = needed(plan, {reference for claim in claims for reference in claim.references})
    print(summary(plan, claims, needs))
    if targets := sorted({path for need in needs.values() for path in need.missing}):
        print(cost(targets, args.config, changes, plan))


def choose(specs: Path, papers: Sequence[str] | None, keys: Sequence[str] | None, main: bool) -> list[ClaimSelection]:
    """Selects the checkable claims named in `keys`, as `key` or `paper/key`; all of them if `keys` is empty.

    Raises SteleError for an unknown paper or claim.
    """
    claims = []
    for folder in papers_with_claims(specs, list(papers) if papers else None):
        paper, printed = load_claims(folder / FILE), load_paper(folder)
        for claim in paper.claims:
            if claim.checkable and (claim.main or not main):
                references = frozenset(references_of(claim, printed))
                claims.append(ClaimSelection(f"{paper.paper}/{claim.key}", references))
    names = {name for claim in claims for name in _names(claim)}
    for key in keys or ():
        check_known("claim", key, names)
    return [claim for claim in claims if not keys or _names(claim) & {*keys}]


def _names(claim: ClaimSelection) -> set[str]:
    return {claim.name, claim.name.partition("/")[2]}


def needed(plan: Plan, references: Iterable[CellSource]) -> dict[RunKey, Need]:
    """Result files that each row needs, or the reason why it cannot be built, by row in sorted order."""
    languages: dict[RunKey, set[str]] = defaultdict(set)
    for reference in references:
        languages[reference.result].update(reference.languages)
    return {row: _need(plan, row, languages[row]) for row in sorted(languages)}


def _need(plan: Plan, row: RunKey, languages: set[str]) -> Need:
    problem = plan.rows.problem(row)
    if problem:
        return Need(reason=": ".join(problem))
    if not plan.rows.counts(row) and not languages & {*plan.rows.languages(row)}:
        return Need(reason=f"not in scale: {', '.join(sorted(languages))}")
    files = tuple(plan.paths.seed_result(row, seeds) for seeds in _seeds(plan, row)) or (plan.paths.result(row),)
    other_scale = _other_scale(plan)
    return Need(files, tuple(path for path in files if other_scale or not Path(path).is_file()))


def _other_scale(plan: Plan) -> bool:
    return read_stamp(Path(plan.settings.config.results_dir)) not in (None, plan.settings.scale)


def _seeds(plan: Plan, row: RunKey) -> list[str]:
    """Seeds of a row: the configured ones; a model that is only fine-tuned has at least as many as for pretraining.

    Its interval comes from seeds of fine-tuning alone, and two seeds say little about their variance.
    """
    names = plan.rows.seeds(row)
    recipe = plan.protocols.recipe(row)
    if not names or recipe is None or plan.models.pretraining_of(row.model) is not None:
        return names
    return list(dict.fromkeys([*names, *seed_names([0], plan.settings.config.seeds.pretraining)]))


def claim_results(plan: Plan, main: bool) -> list[str]:
    """Buildable results by which the claims (only main claims if `main`) of the configured papers are judged."""
    papers = plan.tables.papers_with_claims
    claims = choose(PAPER_TABLES, papers, None, main) if papers else []
    needs = needed(plan, {reference for claim in claims for reference in claim.references})
    return [path for need in needs.values() for path in need.files]


def summary(plan: Plan, claims: Sequence[ClaimSelection], needs: dict[RunKey, Need]) -> str:
    """Text with the number of claims that need results, the missing rows, and the rows that cannot be built."""
    incomplete = sum(any(needs[row].missing for row in claim.rows) for claim in claims)
    without = sum(all(needs[row].reason for row in claim.rows) for claim in claims)
    texts = [
        f"Scale {plan.settings.scale} ({plan.settings.why}): {amount(len(claims), 'claim')}. {incomplete} need "
        f"results, {without} have none that can be built there, {len(claims) - incomplete - without} have all."
    ]
    claims_of = Counter(row for claim in claims for row in claim.rows)
    missing = {row: need for row, need in needs.items() if need.missing}
    if missing:
        files = sum(len(need.missing) for need in missing.values())
        listed = [[row.path, need.seeds, str(claims_of[row])] for row, need in missing.items()]
        texts += [
            f"missing: {amount(files, 'result')} of {amount(len(missing), 'row')}",
            table(["row", "seeds", "claims"], listed),
        ]
    unavailable = [f"- {row.path}: {need.reason}" for row, need in needs.items() if need.reason]
    if unavailable:
        texts.append("\n".join(["Not available at this scale:", *unavailable]))
    return "\n\n".join(texts)


def cost(targets: Sequence[str], config: Path, changes: dict[str, Any], plan: Plan) -> str:
    """Estimates by stage the cost of building the targets and everything that they still need."""
    from stele.cluster import settings
    from stele.cluster.cost_page import table_by
    from stele.cluster.work import device
    from stele.snakemake_support.patches.planning import planned

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "changes.yaml"  # on a command line numbers in a list would become strings
        file.write_text(json.dumps(changes), encoding="utf-8")
        _, jobs = planned([*targets, "--configfile", str(config), str(file)], _other_scale(plan), leave_out="")
    return "\n" + table_by("stage", jobs, device(settings.read().gpu_model))
