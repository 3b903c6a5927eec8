"""Sources of a result card: an unmodified model's results with their records, and the command that repeats them."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stele import catalogue
from stele.artifacts.records import own_checkpoint, read_record
from stele.artifacts.results import Result, read_result
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.languages import Language
from stele.catalogue.schema.models import Model
from stele.errors import SteleError
from stele.published.verdicts import LENGTHS

SCORED = ("retrieval.json", "vectors.json")  # records of a ranking and of compared vectors
REAL, USUAL = "paper", "results_evaluate"  # the default scale and folder of `stele evaluate`


class Evaluated(NamedTuple):
    """A result of one seed, its record, and the record of the job that encoded the texts."""

    result: Result
    record: Mapping[str, Any]
    job: Mapping[str, Any]


class Amount(NamedTuple):
    """Numbers of texts that were encoded and of texts cut to the encoder's length (None: not counted)."""

    texts: int
    cut: int | None

    @property
    def share(self) -> str:
        """The share of cut texts in percent; "< 0.01 %" if it would round to 0."""
        if self.cut is None or not self.texts:
            return "not counted"
        percent = 100 * self.cut / self.texts
        return "< 0.01 %" if 0 < percent < 0.005 else f"{percent:.2f} %"


def read(paths: Sequence[Path]) -> list[Evaluated]:
    """Reads the results of one model. Raises SteleError if they are of several models."""
    evaluated = [_read(path) for path in paths]
    models = {entry.result.model for entry in evaluated}
    if len(models) != 1:
        raise SteleError(f"want the results of one model for a card, found {', '.join(sorted(models))}")
    return evaluated


def _read(path: Path) -> Evaluated:
    folder = path.with_suffix("")
    for name in SCORED:
        if (folder / name).is_file():
            job = read_record(folder / name)
            if "encoding" not in job:
                raise SteleError(f"{folder / name}: no encoder made it; a card needs a model that encodes texts")
            return Evaluated(read_result(path), read_record(path), job)
    raise SteleError(f"{folder}: want {' or '.join(SCORED)}, the record of how the texts were encoded")


def passages(job: Mapping[str, Any]) -> Amount:
    """Number of passages in all collections, or of the windows into which documents were split."""
    pools = {facts["pool"]: facts for facts in job.get("searches", {}).values()}
    counted = []
    for facts in pools.values():
        kind = "windows" if "windows" in facts else "passages"
        counted.append((facts[kind], facts.get(f"cut_{kind}")))
    return _amount([*counted, *_paired(job, "cut_passages")])


def queries(job: Mapping[str, Any]) -> Amount:
    """Number of queries, summed over all searches; a query of several searches counts in each."""
    searched = [(entry["queries"], entry.get("cut_queries")) for entry in job.get("searches", {}).values()]
    return _amount([*searched, *_paired(job, "cut_queries")])


def _paired(job: Mapping[str, Any], cut: str) -> list[tuple[int, int | None]]:
    """Numbers of texts and of cut texts on one side in each language, for vectors that are compared in pairs."""
    return [(facts["pairs"], facts.get(cut)) for facts in job.get("vectors", {}).values()]


def _amount(counted: Sequence[tuple[int, int | None]]) -> Amount:
    cut = [number for _, number in counted]
    return Amount(sum(texts for texts, _ in counted), None if None in cut else sum(number for number in cut if number))


def seconds(job: Mapping[str, Any], clock: str) -> float:
    """Time of a search including the encoding of its collections; `clock` is "wall_seconds" or "cpu_seconds"."""
    return job[clock] + sum(costs[clock] for costs in job.get("encoded_before", {}).values())


def reproduce_command(
    evaluated: Sequence[Evaluated], scale: str, folder: str = "", user_data: Sequence[str] = ()
) -> str:
    """The `stele evaluate` command line; FOLDER is a user's checkpoint, FILE a configuration with `user_data`."""
    words = ["stele", "evaluate", *_model(evaluated[0]), "--benchmarks"]
    words += [entry.result.benchmark for entry in evaluated]
    if languages := _languages(evaluated):
        words += ["--languages", *languages]
    if scale and scale != REAL:
        words += ["--scale", scale]
    if encoding := _encoding(evaluated):
        words += ["--encoding", *encoding]
    if by_path := [name for name in user_data if name in catalogue.added("datasets")]:
        words += ["--data", *(f"FOLDER/{name}" for name in by_path)]
    if len(by_path) < len(user_data):
        words += ["--configfile", "FILE"]
    if folder not in ("", USUAL):
        words += ["--results-dir", folder]
    return shlex.join(words)


def _model(entry: Evaluated) -> list[str]:
    """Arguments for the evaluated model and for the name of its results."""
    name = entry.result.model
    repository = own_checkpoint(entry.record, name).get("repository")
    entry = catalogue.entries(Model).get(name)
    if entry and repository == entry.checkpoint:
        return [name]
    if repository and repository.rpartition("/")[2] == name:
        return [repository]
    return [repository or "FOLDER", "--name", name]


def _languages(evaluated: Sequence[Evaluated]) -> list[str]:
    """Arguments for the chosen languages; empty if every benchmark was evaluated in all of its languages.

    Also empty if one was in a variant such as hin_Latn, which cannot be chosen: the scale left the others out.
    """
    chosen = [
        {*entry.job["languages"]} >= {*catalogue.entry(Benchmark, entry.result.benchmark).languages}
        for entry in evaluated
    ]
    codes = {code for entry in evaluated for pair in entry.job["languages"] for code in pair.split("-")}
    return [] if all(chosen) or codes - catalogue.entries(Language).keys() else sorted(codes)


def _encoding(evaluated: Sequence[Evaluated]) -> list[str]:
    """Arguments for the keys that config.yaml sets for any benchmark; another benchmark may decide them itself."""
    decided = [origins(entry.job) for entry in evaluated]
    chosen = {}
    for entry, origin_of in zip(evaluated, decided, strict=True):
        for key in (key for key, origin in origin_of.items() if origin == "config"):
            # only max_length keeps the shorter lengths of some benchmarks
            partly = key in LENGTHS and any(of_other.get(key) != "config" for of_other in decided)
            chosen["max_length" if partly else key] = entry.job["encoding"][key]
    return [f"{key}={_plain(value)}" for key, value in sorted(chosen.items())]


def _plain(value: object) -> str:
    """Formats a value as `stele evaluate --encoding` reads it, with a line break as \\n."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value).replace("\n", "\\n")


def origins(job: Mapping[str, Any]) -> dict[str, str]:
    """Origin of each key of the encoding: who decided its value."""
    return {key: origin for origin, keys in job.get("encoding_decided_by", {}).items() for key in keys}
