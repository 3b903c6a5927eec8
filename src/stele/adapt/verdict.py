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

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from stele.artifacts import records
from stele.artifacts.results import read_result
from stele.catalogue import whole
from stele.catalogue.schema.adaptation import AdaptationRules
from stele.claims.judging.estimate import FEWEST_SEEDS
from stele.claims.judging.findings import ALPHA
from stele.claims.judging.observed import Runs
from stele.claims.judging.on_adaptation import FAMILY, Row, comparison_facts, judge_looks, rows_of, values_of
from stele.claims.judging.trainings import thinned
from stele.command.arguments import Job, Json, Record, ResultsFolder, Some, ends_in, named_paths, record_as_json
from stele.files.reading import parse_object
from stele.papers.table_parts import Seeds

JOB = "adapt verdict"
PARTS = 8  # points of a loss curve in verdict.json
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
    output: Annotated[Path, ends_in(".json"), record_as_json(JOB)]
    """File to write, verdict.json."""


def run(args: Verdict) -> None:
    settings, rules = parse_object(args.settings, "--settings"), whole(AdaptationRules)
    encoders = named_paths(args.encoders, "--encoders", "MODEL:SEED=RECORD")
    neighbours = named_paths(args.neighbours, "--neighbours", "MODEL:SEED=RECORD")
    leakage = named_paths(args.leakage, "--leakage", "BENCHMARK=RECORD")
    # the verdicts, look by look
    rows = rows_of(settings)
    comparisons = judge_looks(args.results_dir, settings, rows, rules.bar)
    # losses and costs of the trainings
    trainings = [{**_named(key), "folder": str(path.parent), **training_facts(path)} for key, path in encoders.items()]
    neighbour_records = {key: records.read_record(path) for key, path in neighbours.items()}
    of_neighbours = [
        {**_named(key), "languages": record["languages"], "snapshots": record["snapshots"]}
        for key, record in neighbour_records.items()
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
