"""Verdicts on a paper's claims from a folder of results: families, looks (interim and final analysis), controls.

The main claims of a paper are one family under Holm's procedure, with half of the level at each of two looks. The other
claims are a family under Benjamini and Hochberg's, judged only on the first look's seeds: more are for main claims.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stele.artifacts.records import GENERATED, STAND_IN
from stele.artifacts.results import result_files
from stele.catalogue import read_yaml
from stele.catalogue.models import model_label
from stele.claims.judging import findings, on_runs
from stele.claims.judging.comparisons import Judging, difference, mean_of, signed
from stele.claims.judging.estimate import interval
from stele.claims.judging.family import Case, judge_family
from stele.claims.judging.findings import ALPHA, Verdict
from stele.claims.judging.observed import Runs, is_chosen
from stele.claims.judging.pairs import control_pairs
from stele.errors import SteleError
from stele.files.reading import read_object, reading
from stele.files.strict import Strict, validate
from stele.papers.addresses import PrintedPaper, load_paper
from stele.papers.claims import FILE, Bars, Claim, Control, by_reading, load_claims
from stele.papers.table_parts import Seeds, Target

LOOKS = 2
LOOKS_FILE = "looks.yaml"
FAMILIES = ((True, "holm", ALPHA / LOOKS), (False, "benjamini_hochberg", ALPHA))  # main claims, and the others
FULL_SIZE = "paper"  # margins are only judged at this scale
CONTEXT = Path("tables/context.json")
WITHOUT_P = Case(None, 0.0)  # a claim that was judged without its family
LIMITS = {  # label -> uncertainty that no interval covers
    GENERATED: "All results are of one generated world, whose properties are chosen; in another, verdicts may differ.",
    STAND_IN: "Each checkpoint has one small stand-in, so no interval says what another would change.",
}
SIZES = {"parameters"}  # metrics that say how large a model is
EXCLUDED = ("not built", "unavailable", "not in scale")  # states of rows that the folder cannot have


@dataclass(frozen=True)
class ControlResult:
    """Result of a claim's control: left minus right with a 95 % interval and uncorrected p, or why there is none.

    diverged: as in `Judging`.
    """

    what: str
    mean: float | None = None
    interval: tuple[float, float] | None = None
    p: float | None = None
    seeds: int = 0
    reason: str = ""
    diverged: tuple[str, ...] = ()


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with its verdict on runs, in the unit of its table.

    source: the paper's claims.yaml. share: measured gain / printed gain, for margins. same_as: the claim whose
    comparisons and verdict include this one's, so that both are one finding; "" if there is none.
    """

    judging: Judging
    source: Path
    verdict: Verdict
    look: int
    bar: float | None
    controls: list[ControlResult]
    share: float | None
    same_as: str = ""

    @property
    def claim(self) -> Claim:
        return self.judging.claim


def limits_of(labels: Collection[str]) -> list[str]:
    """Sentences that state what the intervals of results with these labels do not cover."""
    return [limit for label, limit in LIMITS.items() if label in labels]


class Looks(Strict):
    """The two looks at a study: main claims that the first leaves undecided get more seeds and are judged again.

    `looks.yaml` in a folder of results names the seeds of the first look; it is written before others are added:
    `first: {pretraining: [0, 1, 2], finetuning: [0, 1, 2]}`. A kind that is not named has all its seeds.
    Verdicts of both looks follow from the folder alone.
    """

    first: Seeds


def load_looks(folder: Path) -> Looks | None:
    """Reads looks.yaml of a folder of results; None without it: all results are judged in one look."""
    path = folder / LOOKS_FILE
    return validate(Looks, read_yaml(path), str(path)) if path.is_file() else None


def runs_of(folder: Path) -> list[Runs]:
    """Opens a folder's results for each look: the first has only its own seeds, a second, if there are others, has all.

    Raises SteleError if the folder is missing.
    """
    if not folder.is_dir():
        raise SteleError(f"{folder}: no such folder of results; build some first, for example with `make tables`")
    looks, context = load_looks(folder), folder / CONTEXT
    left_out, in_scale = {}, {}
    if context.is_file():
        with reading(context, "context of tables"):
            facts = read_object(context, "context of tables")
            in_scale = facts.get("languages_in_scale", {})
            for name, row in facts.get("rows", {}).items():
                if row["state"] in EXCLUDED:
                    left_out[name] = f"{row['state']}: {row.get('reason', '')}"
    everything = Runs(folder, None, left_out, in_scale)
    if looks is None:
        return [everything]
    others = any(not is_chosen(path.stem, looks.first) for path in result_files(folder, each_seed=True))
    return [Runs(folder, looks.first, left_out, in_scale), *([everything] if others else [])]


def judge_paper(folder: Path, looks: Sequence[Runs], scale: str = "") -> list[JudgedClaim]:
    """Judges the checkable claims of a paper's folder, in order, on the runs of one look or of both."""
    source = folder / FILE
    claims, paper = load_claims(source), load_paper(folder)
    checkable = [claim for claim in claims.claims if claim.checkable]
    first = _look(source, checkable, paper, claims.bars, looks[0], 1, scale)
    judged = {judgement.claim.key: judgement for judgement in first}
    open_main = [
        key for key, judgement in judged.items() if judgement.claim.main and judgement.verdict.state == "undecided"
    ]
    if open_main and len(looks) > 1:
        main = [claim for claim in checkable if claim.main]  # the same family at both looks
        for later in _look(source, main, paper, claims.bars, looks[1], 2, scale):
            if later.claim.key in open_main:
                judged[later.claim.key] = later
    return _once(list(judged.values()))


def _once(judged: Sequence[JudgedClaim]) -> list[JudgedClaim]:
    """Sets `same_as`: a finding is a main claim's before another's, and of the claim with more comparisons."""
    findings_of: dict[str, list[JudgedClaim]] = {}  # state -> first claim of each finding
    same_as: dict[str, str] = {}
    for judgement in sorted(judged, key=lambda entry: (not entry.claim.main, -len(entry.judging.contrasts))):
        contrasts, standing = judgement.judging.contrasts, findings_of.setdefault(judgement.verdict.state, [])
        same = [other for other in standing if contrasts and contrasts <= other.judging.contrasts]
        if same:
            same_as[judgement.claim.key] = same[0].claim.key
        else:
            standing.append(judgement)
    return [replace(judgement, same_as=same_as.get(judgement.claim.key, "")) for judgement in judged]


def _look(
    source: Path, claims: Sequence[Claim], paper: PrintedPaper, bars: Bars, runs: Runs, look: int, scale: str
) -> list[JudgedClaim]:
    # each claim by itself
    judgings = [Judging(claim, paper, bars, runs, scale == FULL_SIZE) for claim in claims]
    outcomes = [_on_runs(judging) for judging in judgings]
    # then by family; a claim with a verdict already counts in its family without a p-value
    verdicts: dict[int, Verdict] = {n: outcome for n, outcome in enumerate(outcomes) if isinstance(outcome, Verdict)}
    for main, procedure, alpha in FAMILIES:
        family = [n for n, claim in enumerate(claims) if claim.main == main]
        cases = [WITHOUT_P if n in verdicts else outcomes[n] for n in family]
        for n, verdict in zip(family, judge_family(cases, procedure, alpha), strict=True):
            verdicts.setdefault(n, verdict)
    judged = []
    for n, (judging, outcome) in enumerate(zip(judgings, outcomes, strict=True)):
        bar = outcome.bar if isinstance(outcome, Case) else None
        controls = [_control(judging, control) for control in judging.claim.controls if judging.claim.rights]
        share = _share(judging, verdicts[n])
        judged.append(JudgedClaim(judging, source, verdicts[n], look, bar, controls, share))
    return judged


def _on_runs(judging: Judging) -> Case | Verdict:
    """Compares a claim on our runs: a case for its family, which sets the level, or a verdict that needs no level.

    Raises SteleError, which names the claim, for an address that cannot be compared.
    """
    claim = judging.claim
    if by_reading(claim):
        return Verdict("no data", "a reader's verdict: no numbers are named")
    try:
        outcome = getattr(on_runs, claim.kind)(judging)
    except SteleError as error:
        raise SteleError(f"{judging.paper.paper}: claim {claim.key}: {error}") from None
    without_data = isinstance(outcome, Verdict) and outcome.state == "no data"
    of_sizes = any(reference.metric in SIZES for reference in judging.references)
    if of_sizes and not without_data and judging.labels & {GENERATED, STAND_IN}:
        # sizes that a scale sets are no evidence
        return Verdict("no data", "sizes of stand-ins are chosen")
    return outcome


def _share(judging: Judging, verdict: Verdict) -> float | None:
    """Measured gain of a margin as a share of the printed gain; NaN if the printed gain is 0."""
    claim = judging.claim
    if claim.kind != "margin" or verdict.mean is None or judging.full_size:
        return None
    gain = -verdict.mean if claim.amount < 0 else verdict.mean
    return gain / claim.amount if claim.amount else math.nan


def _control(judging: Judging, control: Control) -> ControlResult:
    """Compares the systems of a control, on average over the claim's cells, each pair of systems once."""
    alone = Judging(judging.claim, judging.paper, judging.bars, judging.runs)
    pairs = control_pairs(judging.claim, control, judging.paper)
    usable = [signed(terms, pair.better) for pair, terms in alone.with_terms(pairs, difference)]
    sides = {"with": control.left, "against": control.right}
    what = "; ".join(f"{word} {_changes(target)}" for word, target in sides.items() if target)
    if alone.missing or not usable:
        return ControlResult(what, reason=alone.nothing.reason)
    mean = mean_of(usable)
    p = findings.greater(mean).p
    return ControlResult(what, mean.mean, interval(mean, ALPHA), p, mean.seeds, diverged=tuple(alone.diverged))


def _changes(target: Target) -> str:
    changes = target.model_dump(exclude_unset=True)
    return ", ".join(model_label(value) if key == "model" else f"{key} {value}" for key, value in changes.items())
