"""The results of a model as it is, each with its record and that of the job whose output was scored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stele.artifacts.records import read_record
from stele.artifacts.results import Result, read_result
from stele.errors import SteleError

SCORED = ("retrieval.json", "vectors.json")  # of a ranking, of vectors that are compared


class Evaluated(NamedTuple):
    """A result of one seed, its record, and that of the job that encoded."""

    result: Result
    record: Mapping[str, Any]
    job: Mapping[str, Any]


class Amount(NamedTuple):
    """How many texts of a kind were encoded, and how many were longer than the encoder reads (None: not counted)."""

    texts: int
    cut: int | None

    @property
    def share(self) -> str:
        """The share of cut texts in percent."""
        if self.cut is None or not self.texts:
            return "not counted"
        return f"{100 * self.cut / self.texts:.2f} %"


def read(paths: Sequence[Path]) -> list[Evaluated]:
    """The results of one model; those of several are an error."""
    found = [_read(path) for path in paths]
    models = {one.result.model for one in found}
    if len(models) != 1:
        raise SteleError(f"a card is of one model; the results are of {', '.join(sorted(models))}")
    return found


def _read(path: Path) -> Evaluated:
    folder = path.with_suffix("")
    there = [folder / name for name in SCORED if (folder / name).is_file()]
    if not there:
        raise SteleError(f"{folder}: none of {', '.join(SCORED)} is there, by which a card says how texts were encoded")
    return Evaluated(read_result(path), read_record(path), read_record(there[0]))


def passages(job: Mapping[str, Any]) -> Amount:
    """The passages of all collections, or the windows that documents were encoded in."""
    pools = {facts["pool"]: facts for facts in job.get("searches", {}).values()}
    kinds = [
        ("windows", "cut_windows") if "windows" in facts else ("passages", "cut_passages") for facts in pools.values()
    ]
    counted = [(facts[kind], facts.get(cut)) for facts, (kind, cut) in zip(pools.values(), kinds, strict=True)]
    return _amount([*counted, *_paired(job, "cut_passages")])


def queries(job: Mapping[str, Any]) -> Amount:
    """The queries of all searches, one that several ask as often."""
    searched = [(one["queries"], one.get("cut_queries")) for one in job.get("searches", {}).values()]
    return _amount([*searched, *_paired(job, "cut_queries")])


def _paired(job: Mapping[str, Any], cut: str) -> list[tuple[int, int | None]]:
    """Of vectors that are compared in pairs: the texts of a side in each language, and how many were cut."""
    return [(facts["pairs"], facts.get(cut)) for facts in job.get("vectors", {}).values()]


def _amount(counted: Sequence[tuple[int, int | None]]) -> Amount:
    cut = [number for _, number in counted]
    return Amount(sum(texts for texts, _ in counted), None if None in cut else sum(number for number in cut if number))


def seconds(job: Mapping[str, Any], clock: str) -> float:
    """What a search took, by the clock "wall_seconds" or "cpu_seconds", with the encoding of its collections before."""
    return job[clock] + sum(costs[clock] for costs in job.get("encoded_before", {}).values())


def notes(found: Sequence[Evaluated]) -> Iterator[str]:
    """What a reader of the results should know of the encoding, each note once."""
    yield from dict.fromkeys(note for one in found for note in one.job.get("encoding_notes", ()))
