"""Count a dataset's queries by split and language, its languages, passages, judged documents, and their lengths.

It counts in the files themselves, read as the benchmarks read them, and does not trust the catalogue's numbers.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

from stele.artifacts import records
from stele.benchmarks.arguments import data_folders, data_records
from stele.catalogue.datasets import counted_dataset
from stele.command.arguments import Datasets, Job, Some, ends_in, record_as_json
from stele.errors import SteleError
from stele.files.digests import digest
from stele.scoring.statistics import load_counts

EVERYTHING = "all"  # the language of a count over all languages, or of none

JOB = "count dataset"


class CountDataset(Job):
    dataset: str
    """A dataset that a module of stele/scoring/statistics counts, or a test collection."""
    data: Datasets
    lengths: Some[Path] = ()
    """Records of `scoring count_lengths`, one per language."""
    output: Annotated[Path, ends_in(".json"), record_as_json(JOB)]
    """File for the counts, as a result (.json)."""


def run(args: CountDataset) -> None:
    inputs = data_records(args.data)
    datasets = counted_dataset(args.dataset).datasets
    if wrong := sorted(key for key in inputs if key.partition(":")[0] not in datasets):
        raise SteleError(f"--data: {wrong[0]} is no part of {args.dataset}; leave it out")
    counts = load_counts(args.dataset).counts(data_folders(inputs))
    metrics = as_metrics({**counts, **mean_lengths(args.lengths)})
    records.write_record(
        args.output,
        job=JOB,
        inputs=inputs | {f"lengths:{path.stem}": path for path in args.lengths},
        benchmark="statistics",
        model=args.dataset,
        setting="count",
        metrics=metrics,
        content=digest(metrics),
    )


def mean_lengths(paths: Iterable[Path]) -> dict[str, dict[str, float]]:
    """Mean tokens_per_document and tokens_per_judged_document by language, from records of `scoring count_lengths`."""
    means: dict[str, dict[str, float]] = {"tokens_per_document": {}, "tokens_per_judged_document": {}}
    for path in paths:
        record = records.read_record(path)
        for name, documents in zip(means, ("documents", "judged_documents"), strict=True):
            if number := record[documents]["number"]:
                means[name][record["language"]] = record[documents]["tokens"] / number
    return {name: by_language for name, by_language in means.items() if by_language}


def as_metrics(counts: Mapping[str, Mapping[str, float] | int]) -> dict[str, dict]:
    """Turns counts into a result's metrics: integer counts also get a sum over all languages, means do not.

    >>> as_metrics({"queries_test": {"sw": 2, "th": 3}, "languages": 2})["queries_test"]["languages"]
    {'all': 5.0, 'sw': 2.0, 'th': 3.0}
    >>> as_metrics({"tokens_per_document": {"en": 699.2}})["tokens_per_document"]["languages"]
    {'en': 699.2}
    """
    metrics = {}
    for name, count in counts.items():
        by_language = {} if isinstance(count, int) else count
        whole = all(isinstance(number, int) for number in by_language.values())
        total = count if isinstance(count, int) else sum(by_language.values())
        values = {EVERYTHING: float(total)} if whole else {}
        values |= {code: float(number) for code, number in sorted(by_language.items())}
        metrics[name] = {"languages": values, "average": None, "n": {}}
    return metrics
