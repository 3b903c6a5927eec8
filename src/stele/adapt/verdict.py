"""Judge adapted encoders on benchmarks: against the original encoder, and against MLM with the same compute.

    stele adapt verdict --settings JSON --results-dir results_adapt/NAME --encoders MODEL:SEED=RECORD ...
        --neighbours MODEL:SEED=RECORD ... --leakage BENCHMARK=RECORD ... --output verdict.json

`stele adapt` runs it last. Verdicts come from differences per query over seeds, as those on the papers' claims do
(docs/evidence.md); all comparisons of an adaptation are one family under Holm's procedure. verdict.json also has the
losses and costs of the trainings, and how often neighbours of held-out sentences are found.

A look is a number of seeds at which verdicts are given. Look k has the level alpha / 2^k, so that all looks together
keep alpha however often seeds are added; a comparison that is decided at one look stays decided.

`warnings` list reasons to doubt a verdict: trainings that went wrong, documents that were left out or look wrong, and
texts of the benchmarks that occur in the training documents.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from stele.artifacts import records
from stele.artifacts.results import RunKey, read_result
from stele.catalogue import whole
from stele.catalogue.schema.adaptation import AdaptationRules
from stele.claims.judging import findings
from stele.claims.judging.estimate import FEWEST_SEEDS, Term, combine, interval, seeds_needed
from stele.claims.judging.family import Case, extreme, judge_family
from stele.claims.judging.findings import ALPHA
from stele.claims.judging.observed import Absent, Runs
from stele.claims.judging.trainings import thinned
from stele.command.arguments import Job, Json, Record, ResultsFolder, Some, ends_in
from stele.errors import SteleError
from stele.files.formats import amount
from stele.files.reading import parse_object
from stele.papers.table_parts import Seeds

JOB = "adapt verdict"
FAMILY = "holm"
STATES = {"supported": "better", "reversed": "worse"}  # other states have the names used for claims
TOP = 1.0  # largest value of every metric
PARTS = 8  # points of a loss curve in verdict.json
SMALLEST = "a difference of interest"  # one point: the bar of adaptation.yaml
OF_A_TRAINING = ("steps", "losses", "chance", "diverged", "unlearnt", "cpu_seconds", "wall_seconds", "device")


class Verdict(Job):
    settings: Json
    """Values of the key `adapt` of config.yaml, with the settings of each benchmark."""
    results_dir: ResultsFolder
    encoders: Some[str]
    """Records of all trainings, as MODEL:SEED=RECORD."""
    neighbours: Some[str]
    """Records of `adapt neighbours`, as MODEL:SEED=RECORD."""
    leakage: Some[str]
    """Records of `corpora leakage`, as BENCHMARK=RECORD."""
    documents: Some[Record]
    """Records of `corpora documents`, one per language."""
    output: Annotated[Path, ends_in(".json")]
    """File to write, verdict.json."""


def run(args: Verdict) -> None:
    clock = records.start()
    settings, rules = parse_object(args.settings, "--settings"), whole(AdaptationRules)
    encoders, neighbours = records_of(args.encoders), records_of(args.neighbours)
    leakage = records_of(args.leakage)
    # the verdicts, look by look
    rows = rows_of(settings)
    comparisons = judge_looks(args.results_dir, settings, rows, rules.bar)
    # losses and costs of the trainings
    trainings = [{**_named(key), "folder": str(path.parent), **training_facts(path)} for key, path in encoders.items()]
    found = {key: records.read_record(path) for key, path in neighbours.items()}
    of_neighbours = [
        {**_named(key), "languages": record["languages"], "snapshots": record["snapshots"]}
        for key, record in found.items()
    ]
    # the user's documents
    documents = [records.read_record(path) for path in args.documents]
    numbers: Counter[str] = Counter()
    for record in documents:
        numbers[record["language"]] += record["documents"]
    leaked = {benchmark: records.read_record(path)["counts"] for benchmark, path in leakage.items()}
    notes = [note for record in documents for note in record.get("notes", [])]
    records.write_record(
        args.output,
        job=JOB,
        inputs={
            **encoders,
            **{f"neighbours:{key}": path for key, path in neighbours.items()},
            **{f"leakage:{key}": path for key, path in leakage.items()},
            **{f"documents:{n}": path for n, path in enumerate(args.documents, 1)},
        },
        clock=clock,
        **{key: settings[key] for key in ("base", "methods", "control", "benchmarks", "looks", "seeds", "command")},
        budget={key: settings[key] for key in ("hours", "step_seconds")},
        rules={"alpha": ALPHA, "family": FAMILY, "bar": rules.bar, "fewest_seeds": FEWEST_SEEDS},
        comparisons=[comparison_facts(comparison) for comparison in comparisons],
        values=values_of(args.results_dir, settings["seeds"], rows),
        trainings=trainings,
        neighbours=of_neighbours,
        leakage=leaked,
        documents=dict(numbers),
        warnings=[*problems(trainings), *notes, *leaks(leaked), *unjudged(args.results_dir, settings["seeds"], rows)],
        content=[comparison_facts(comparison) for comparison in comparisons],
    )
    for comparison in comparisons:
        print(comparison.sentence)


def records_of(assignments: Sequence[str]) -> dict[str, Path]:
    """Parses KEY=RECORD texts into paths of records by key (`MODEL:SEED`, or a benchmark)."""
    parts = [text.partition("=") for text in assignments]
    return {key: Path(path) for key, _, path in parts}


def _named(key: str) -> dict[str, Any]:
    model, _, seed = key.rpartition(":")
    return {"model": model, "seed": int(seed)}


def training_facts(path: Path) -> dict[str, Any]:
    """Facts of a pretraining from its record; `above_chance` lists tasks whose final loss is worse than guessing."""
    record = records.read_record(path)
    losses, chance = record.get("losses", {}), record.get("chance", {})
    curve = thinned(path.parent / "curve.csv", PARTS)
    above = sorted(task for task in losses.keys() & chance.keys() if losses[task] > chance[task])
    return {
        **{key: record[key] for key in OF_A_TRAINING if key in record},
        "labels": record["labels"],
        "above_chance": above,
        "curve": {task: losses for task, losses in curve.items() if task in chance},
    }


# --- warnings ---------------------------------------------------------------------------------------------------------
def problems(trainings: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yields warnings about each model's trainings: divergence, tasks that learnt nothing, losses above chance."""
    of_model: dict[tuple[str, str], list[str]] = {}
    for training in trainings:
        model, seed, unlearnt = training["model"], f"seed {training['seed']}", training.get("unlearnt") or {}
        if training.get("diverged"):
            of_model.setdefault((model, "diverged"), []).append(f"{seed}: {training['diverged']}")
            continue
        for task, reason in unlearnt.items():
            of_model.setdefault((model, f"{task} learnt nothing"), []).append(f"{seed}: {reason}")
        for task in training["above_chance"]:
            if task not in unlearnt:
                loss, chance = training["losses"][task], training["chance"][task]
                what = f"the loss of {task} ended above that of a guess"
                of_model.setdefault((model, what), []).append(f"{seed}: {loss:.2f}, by chance {chance:.2f}")
    for (model, what), seeds in of_model.items():
        yield f"{model}: {what} ({'; '.join(seeds)})"


def leaks(counts: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Iterator[str]:
    """Yields a warning for each kind of benchmark text that occurs in the training documents."""
    for benchmark, kinds in counts.items():
        for kind, of_kind in kinds.items():
            if matches := of_kind["exact"] + of_kind["near"]:
                how = f"{of_kind['exact']} as they are, {of_kind['near']} nearly"
                yield f"{matches} of the {of_kind['texts']} {kind} of {benchmark} stand in the documents ({how})"


def unjudged(folder: Path, seeds: list[int], rows: Sequence[Row]) -> Iterator[str]:
    """Yields a warning for each benchmark with languages of one query, which has no variance and so no part here."""
    runs = Runs(folder, Seeds(pretraining=seeds))
    left_out: dict[str, set[str]] = {}
    for row in rows:
        scored = read_result(runs.files(row.key)[0]).metrics[row.metric].languages
        judged = runs.system(row.key).metrics[row.metric]
        left_out.setdefault(row.benchmark, set()).update(scored.keys() - judged.keys())
    for benchmark, codes in left_out.items():
        if codes:
            yield f"{benchmark}: scores and verdicts leave out {', '.join(sorted(codes))}, with one query each"


# --- comparisons ------------------------------------------------------------------------------------------------------
def comparison_facts(comparison: Comparison) -> dict[str, Any]:
    """A comparison's entry in verdict.json."""
    verdict = comparison.verdict
    return {
        **comparison.row.facts,
        "against": comparison.against,
        "state": comparison.state,
        "reason": verdict.reason,
        "mean": verdict.mean,
        "interval": list(comparison.interval) if comparison.interval else None,
        "level": verdict.level,
        "p": verdict.p if comparison.interval else None,
        "seeds": verdict.seeds,
        "look": comparison.look,
        "detectable": verdict.detectable,
        "seeds_needed": comparison.seeds_needed,
        "sentence": comparison.sentence,
    }


class Row(NamedTuple):
    """One model evaluated on one benchmark in one setting, by one metric."""

    benchmark: str
    model: str
    setting: str
    metric: str

    @property
    def key(self) -> RunKey:
        return RunKey(self.benchmark, self.model, self.setting)

    @property
    def facts(self) -> dict[str, str]:
        return {"benchmark": self.benchmark, "model": self.model, "metric": self.metric}


@dataclass(frozen=True)
class Comparison:
    """The difference between a method and the model it is compared with, and its verdict at a look (from 1)."""

    row: Row
    against: str
    case: Case
    verdict: findings.Verdict
    look: int

    @property
    def state(self) -> str:
        return STATES.get(self.verdict.state, self.verdict.state)

    @property
    def at_extreme(self) -> bool:
        """Whether the comparison is undecided because both models score at an end of the scale, whatever the seeds."""
        return bool(self.case.extreme and self.verdict.reason)

    @property
    def seeds_needed(self) -> int | None:
        """Number of seeds, above the present one, needed to decide at the next look; None if seeds cannot decide.

        The next look has half of this one's level, unless this one has too few seeds to count as a look.
        """
        verdict = self.verdict
        if self.case.finding is None or verdict.detectable is None or self.at_extreme:
            return None
        level = verdict.level if verdict.seeds < FEWEST_SEEDS else verdict.level / 2
        needed = seeds_needed(self.case.finding.shown, self.case.bar, level)
        return needed and max(needed, verdict.seeds + 1)

    @property
    def interval(self) -> tuple[float, float] | None:
        """Confidence interval of the difference; None with a single seed, whose variance is unknown."""
        limits = self.verdict.interval
        return limits if self.verdict.seeds > 1 and limits and all(map(math.isfinite, limits)) else None

    @property
    def sentence(self) -> str:
        """The verdict as an English sentence."""
        verdict, head = self.verdict, f"{self.row.model} on {self.row.benchmark}: "
        if verdict.mean is None:
            return f"{head}no data against {self.against}: {verdict.reason}"
        words = {"better": "better than", "worse": "worse than", "no effect": "no different from"}
        text = (
            f"{head}{words.get(self.state, 'undecided against')} {self.against}, {self.row.metric} {verdict.mean:+.4f}"
        )
        if self.interval:
            text += " [{:+.4f}, {:+.4f}]".format(*self.interval)
        if self.state == "undecided":
            text += f" ({self._what_would_tell()})"
        return text

    def _what_would_tell(self) -> str:
        """What an undecided comparison would need to detect the smallest difference of interest, in words."""
        verdict = self.verdict
        if self.seeds_needed:
            return f"about {self.seeds_needed} seeds would tell {SMALLEST}; now {verdict.seeds}"
        if self.at_extreme or verdict.detectable is None:
            return verdict.reason
        return f"only more queries would tell {SMALLEST}, seeds only a larger one; now {amount(verdict.seeds, 'seed')}"


def rows_of(settings: Mapping[str, Any]) -> list[Row]:
    """Rows of all models on all benchmarks, ordered by benchmark."""
    return [
        Row(benchmark, model, of["setting"], of["metric"])
        for benchmark, of in settings["benchmarks"].items()
        for model in (settings["base"], *settings["methods"], settings["control"])
    ]


def judge_looks(folder: Path, settings: Mapping[str, Any], rows: Sequence[Row], bar: float) -> list[Comparison]:
    """Verdicts on the results in a folder: for each comparison, that of the first look that decides it, else the last.

    A look at n seeds reads the first n of `settings["seeds"]`.
    """
    methods = [row for row in rows if row.model in settings["methods"]]
    sides = [(row, against) for row in methods for against in (settings["base"], settings["control"])]
    decided: dict[tuple[Row, str], Comparison] = {}
    for look, seeds in enumerate(settings["looks"], 1):
        runs = Runs(folder, Seeds(pretraining=settings["seeds"][:seeds]))
        cases = [case_of(runs, row, against, bar) for row, against in sides]
        verdicts = judge_family(cases, FAMILY, ALPHA / 2**look)
        for (row, against), case, verdict in zip(sides, cases, verdicts, strict=True):
            before = decided.get((row, against))
            if before is None or before.verdict.state in ("undecided", "no data"):
                decided[row, against] = Comparison(row, against, case, verdict, look)
    return list(decided.values())


def case_of(runs: Runs, row: Row, against: str, bar: float) -> Case:
    """The case that a method beats `against`; no finding without results. Raises SteleError if queries differ."""
    terms = [term_of(runs, row, 1.0), term_of(runs, row._replace(model=against), -1.0)]
    if None in terms:
        return Case(None, bar)
    if queries_of(runs, row) != queries_of(runs, row._replace(model=against)):
        raise SteleError(
            f"{row.key.path}: scored in other languages or on other queries than {against}; score both on the same"
        )
    scores = [abs(combine([term]).mean) for term in terms]
    estimate = combine(terms)
    return Case(findings.greater(estimate), bar, extreme=extreme(scores, TOP, bar), compared=(row, against))


def queries_of(runs: Runs, row: Row) -> dict[str, set[int]]:
    """Numbers of the scored queries by language."""
    languages = runs.system(row.key).metrics[row.metric]
    return {code: set(language.queries.tolist()) for code, language in languages.items()}


def term_of(runs: Runs, row: Row, weight: float, language: str | None = None) -> Term | None:
    """A row's mean over its languages, or its score in one, as a weighted term; None if it has no result."""
    system = runs.system(row.key)
    if isinstance(system, Absent) or not system.metrics.get(row.metric):
        return None
    codes = system.metrics[row.metric] if language is None else [language]
    languages = [runs.scored(row.key, row.metric, code) for code in codes]
    return Term(weight, languages, system.seeds, system.finetuning)


def values_of(folder: Path, seeds: list[int], rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Each row's scores over these seeds: the mean over languages with a 95 % interval, and each language's score.

    Only these seeds count, since the folder may hold results of an earlier adaptation. Raises SteleError without any.
    """
    runs, values = Runs(folder, Seeds(pretraining=seeds)), []
    for row in rows:
        system, term = runs.system(row.key), term_of(runs, row, 1.0)
        if isinstance(system, Absent):
            raise SteleError(f"{folder}: no result to judge: {system.reason}; build the verdict with Snakemake")
        if term is None:
            raise SteleError(f"{folder / row.key.path}: no language has {row.metric} of at least two queries")
        estimate = combine([term])
        has_error = estimate.error > 0 and len(system.seeds) != 1  # of a trained model it takes two seeds
        values.append(
            {
                **row.facts,
                "seeds": list(system.seeds),
                "mean": estimate.mean,
                "interval": list(interval(estimate, ALPHA)) if has_error else None,
                "languages": {code: float(of.values.mean()) for code, of in system.metrics[row.metric].items()},
                "queries": {code: len(of.queries) for code, of in system.metrics[row.metric].items()},
                "labels": sorted(system.labels),
                "diverged": system.diverged,
            }
        )
    return values
