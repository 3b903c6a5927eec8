"""Export results as MTEB's result files, as the model-index of a model card, or as a CSV of all values.

stele evaluate export --format mteb --to FOLDER        # FOLDER/{owner__name}/{revision}/{task}.json
stele evaluate export --format model_index --model me5_small > index.yaml
stele evaluate export --format csv > results.csv
"""

import logging
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from stele import catalogue
from stele.artifacts.record_shape import NO_DIGEST
from stele.artifacts.records import (
    GENERATED,
    LIMITED,
    STAND_IN,
    encoding_notes,
    own_checkpoint,
    own_encoding,
    read_record,
)
from stele.artifacts.results import COLUMNS, Result, load_results, read_placed, result_files
from stele.benchmarks._files import name_in_files
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.published import MtebTask, PublishedBenchmark
from stele.command.arguments import Job, ResultsFolder
from stele.errors import SteleError, check_known
from stele.files.atomic import atomic_write_json
from stele.files.formats import write_csv
from stele.files.paths import inside
from stele.files.reading import read_object, reading

log = logging.getLogger(__name__)
WITHHELD = (GENERATED, STAND_IN, LIMITED, NO_DIGEST)  # labels of results that are not exported as a model's numbers
SETTING = "direct"
NO_REVISION = "no_revision_available"  # MTEB's name for the revision of a local folder


class Measured(NamedTuple):
    """A result of an unmodified checkpoint on real data, with its repository (or a folder's key) and revision.

    encoding: keys of its encoding that config.yaml sets, so that the numbers differ from those of its defaults.
    notes: remarks on its encoding, such as a folder's prompts that were not used.
    """

    path: Path
    result: Result
    repository: str
    revision: str
    encoding: dict[str, Any]
    notes: Sequence[str]

    @property
    def note(self) -> str:
        """Remarks that must go with the numbers, on one line; "" if there are none."""
        notes = [" ".join(note.splitlines()) for note in self.notes]
        if self.encoding:
            keys = ", ".join(f"{key}: {value!r}" for key, value in self.encoding.items())
            notes.insert(0, f"config.yaml sets {keys}")
        return f"{self.result.benchmark} of {self.repository}: {'; '.join(notes)}" if notes else ""


class Export(Job):
    results_dir: ResultsFolder = Path("results")
    format: Literal["mteb", "model_index", "csv"]
    """Format of the exported results."""
    model: str | None = None
    """Model to export, a key of models.yaml or config.yaml; default: all models."""
    to: Path | None = None
    """Folder to write to, with --format mteb."""


def run(args: Export) -> None:
    if (args.format == "mteb") != (args.to is not None):
        raise SteleError("--to FOLDER: is required with --format mteb and not allowed with other formats")
    if args.format == "csv":
        table = load_results(args.results_dir)
        if args.model is not None:
            check_known("model", args.model, {*table["model"]}, str(args.results_dir))
            table = table[table["model"] == args.model]
        write_csv(sys.stdout, [COLUMNS, *table.astype(object).where(table.notna(), "").to_numpy().tolist()])
        return
    results = list(measured(args.results_dir, args.model))
    if not results:
        raise SteleError(
            f"{args.results_dir}: no result of an unmodified checkpoint on complete real data, setting {SETTING}"
        )
    refuse_twins(results)
    if args.format == "mteb":
        write_mteb(results, args.to)
    else:
        sys.stdout.write(model_index(results))


def measured(results_dir: Path, model: str | None) -> Iterator[Measured]:
    """Yields the results in a folder that unmodified checkpoints have on complete real data."""
    aliases = catalogue.load("settings")["aliases"]
    for path in result_files(results_dir):
        result = read_placed(path, aliases)
        if model not in (None, result.model) or result.setting != SETTING or set(WITHHELD) & set(result.labels):
            continue
        record = read_record(path)
        if checkpoint := own_checkpoint(record, result.model):
            name, revision = checkpoint.get("repository"), checkpoint.get("revision")
            notes = encoding_notes(record)
            yield Measured(path, result, name or result.model, revision or NO_REVISION, own_encoding(record), notes)


def refuse_twins(results: Sequence[Measured]) -> None:
    """Raises SteleError if two models have results of one checkpoint on one benchmark; one would pass for the other."""
    first: dict[tuple[str, str], str] = {}
    for _, result, repository, *_ in results:
        other = first.setdefault((repository, result.benchmark), result.model)
        if other != result.model:
            raise SteleError(
                f"{result.benchmark}: {other} and {result.model} are both {repository}; choose one with --model"
            )


def write_mteb(results: list[Measured], folder: Path) -> None:
    """Writes results as MTEB's cache has them. Raises SteleError without a task of MTEB, or for another's file."""
    written = 0
    for measured in results:
        about = catalogue.entries(PublishedBenchmark).get(measured.result.benchmark)
        if about is None or about.mteb is None:
            continue
        name = f"{measured.repository.replace('/', '__')}/{measured.revision}/{about.mteb.task}.json"
        path = inside(folder, name, str(measured.path))
        with reading(measured.path, "result of a task of MTEB's"):
            mteb_result = task_result(measured.result, about)
        if path.exists() and read_object(path, "result of MTEB's").get("mteb_version", "") is not None:
            raise SteleError(f"{path}: Stele did not write this file, so it is not replaced; give another folder")
        atomic_write_json(path, mteb_result)
        print(path)
        if measured.note:  # MTEB's file has no place for it
            log.warning("%s; state this where you submit the result", measured.note)
        written += 1
    if not written:
        known = [key for key, about in catalogue.entries(PublishedBenchmark).items() if about.mteb]
        raise SteleError(f"no result is of a benchmark that is a task of MTEB; these benchmarks are {', '.join(known)}")


def task_result(result: Result, about: PublishedBenchmark) -> dict[str, Any]:
    """A result in the form of MTEB's `TaskResult`: scores by subset, with the benchmark's first metric as main score.

    Its MTEB version and times are None, since MTEB did not compute the result.
    """
    main = catalogue.entry(Benchmark, result.benchmark).metrics[0]
    scores = []
    for code in result.metrics[main].languages:
        values = _values(result, code)
        subset, languages = subset_of(code, about.mteb)
        scores.append({**values, "main_score": values[mteb_metric(main)], "hf_subset": subset, "languages": languages})
    head = {"dataset_revision": about.mteb.revision, "task_name": about.mteb.task, "mteb_version": None}
    return {**head, "scores": {about.split: scores}, "evaluation_time": None, "kg_co2_emissions": None}


def _values(result: Result, code: str) -> dict[str, float]:
    """The values in one language by MTEB's metric names."""
    metrics = result.metrics.items()
    return {mteb_metric(name): metric.languages[code] for name, metric in metrics if code in metric.languages}


def mteb_metric(name: str) -> str:
    """MTEB's name for a metric.

    >>> mteb_metric("ndcg@10")
    'ndcg_at_10'
    """
    return name.replace("@", "_at_")


def subset_of(code: str, task: MtebTask) -> tuple[str, list[str]]:
    """MTEB's names for a subset and its languages; for a pair, those of the passages and of the questions.

    >>> task = catalogue.entry(PublishedBenchmark, "belebele").mteb
    >>> subset_of("sw-en", task)
    ('swh_Latn-eng_Latn', ['swh-Latn', 'eng-Latn'])
    """
    if task.languages:
        return code, [task.languages[code]]
    variants = [name_in_files(part, "belebele") for part in code.split("-")]
    return "-".join(variants), [variant.replace("_", "-") for variant in variants]


def model_index(results: list[Measured]) -> str:
    """The `model-index` of model cards as YAML, one entry per model: values as fractions, remarks as comments."""
    import yaml

    models: dict[str, list[dict[str, Any]]] = {}
    for measured in results:
        with reading(measured.path, "result"):
            models.setdefault(measured.repository, []).extend(_card_entries(measured.result))
    index = [{"name": name.rpartition("/")[2], "results": entries} for name, entries in models.items()]
    comments = "".join(f"# {measured.note}\n" for measured in results if measured.note)
    return comments + yaml.safe_dump({"model-index": index}, allow_unicode=True, sort_keys=False)


def _card_entries(result: Result) -> Iterator[dict[str, Any]]:
    about = catalogue.entries(PublishedBenchmark).get(result.benchmark)
    known = catalogue.entries(Benchmark).get(result.benchmark)
    title = known.title if known else result.benchmark  # a set of the user's own, given by its folder
    task = about.mteb if about else None
    dataset = {"type": task.dataset if task else result.benchmark, "name": title}
    if about:
        dataset["split"] = about.split
    if task:
        dataset["revision"] = task.revision
    first = next(iter(result.metrics.values()))
    for code in first.languages:
        metrics = [{"type": name, "value": value} for name, value in _values(result, code).items()]
        config = subset_of(code, task)[0] if task else code
        yield {"task": {"type": "retrieval"}, "dataset": {**dataset, "config": config}, "metrics": metrics}
