"""Values per query and seed that a folder of results holds, `results/` or one of the same layout, read once.

Seeds are those of pretraining, each the mean over its seeds of fine-tuning. Where nothing is pretrained, they are those
of fine-tuning; where nothing is trained (term matching, an encoder as it was published) no seed has a part in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stele.artifacts import records
from stele.artifacts.results import read_result, result_files
from stele.artifacts.row import Row
from stele.catalogue import read_yaml
from stele.claims.judging import trainings
from stele.claims.judging.estimate import PRETRAINING, Scored, scored
from stele.errors import SteleError
from stele.evaluation.evaluate import evaluator
from stele.files.strict import Strict, validate
from stele.papers.table_parts import CellSource, Seeds
from stele.significance import scores

PRETRAINING_COST = "cpu_seconds"  # the metric that says what the pretraining behind a row took
TRAINS = ("finetune", "answer", "rerank", "calibrate")  # jobs that a seed of fine-tuning has a part in


class Absent(NamedTuple):
    """Why a value is not there; `needed`: it can be built, so that it is missed."""

    reason: str
    needed: bool = True


class Language(NamedTuple):
    """The values of one metric in one language: float64 [S, n] by seed, of the queries of these numbers (int [n])."""

    queries: np.ndarray
    values: np.ndarray


class System(NamedTuple):
    """A row of results by metric and language; `seeds` are the names of its S seeds, none where no seed has a part.

    diverged: of which seeds the pretraining came to nothing and why, "" where of none.
    """

    seeds: tuple[str, ...]
    metrics: dict[str, dict[str, Language]]
    labels: frozenset[str]
    diverged: str = ""


class Runs:
    """A folder of results. `chosen` takes some seeds alone; `left_out` is row -> why it cannot be built there."""

    def __init__(self, folder: Path, chosen: Seeds | None = None, left_out: dict[str, str] | None = None):
        self.folder, self.chosen, self.left_out = folder, chosen, left_out or {}
        # (benchmark, language) -> query -> its number
        self._queries: dict[tuple[str, str], dict[tuple[str, str], int]] = {}
        self.system = cache(self._system)
        self.scored = cache(self._scored)
        self.value = cache(self._value)

    def files(self, row: Row) -> list[Path]:
        """The results of a row's seeds."""
        paths = sorted(self.folder.glob(f"{row.path}/pt*-ft*.json"))
        return [path for path in paths if self.chosen is None or chosen(path.stem, self.chosen)]

    def _system(self, row: Row) -> System | Absent:
        paths = self.files(row)
        if not paths:
            return self._counted(row, self.folder / f"{row.path}.json")
        found = [records.read_record(path) for path in paths]
        if not any(record.get("queries") for record in found):
            return self._counted(row, paths[0])
        groups = by_seed([path.stem for path in paths], found)
        read = [scores.read(path)[0] for path in paths]
        metrics = {
            metric: self._metric(row, read, metric, [indices for _, indices in groups])
            for metric in read[0].values
            if all(metric in one.values for one in read)
        }
        labels = frozenset(label for record in found for label in record.get("labels", ()))
        return System(tuple(name for name, _ in groups if name), metrics, labels, divergence(groups, found))

    def _counted(self, row: Row, path: Path) -> System | Absent:
        """What has no queries: a count of a dataset's or a model's parts, the same for all seeds."""
        if not path.is_file() or isinstance(records.read_record(path).get("seeds"), list):
            return self._absent(row)
        result, none = read_result(path), np.zeros(0, dtype=int)
        metrics = {
            name: {code: Language(none, np.array([[value]])) for code, value in metric.languages.items()}
            for name, metric in result.metrics.items()
        }
        return System((), metrics, frozenset(result.labels), divergence([("", [0])], [{"diverged": result.diverged}]))

    def _metric(
        self, row: Row, read: Sequence[scores.Scores], metric: str, groups: Sequence[Sequence[int]]
    ) -> dict[str, Language]:
        first = read[0]
        orders = [_order(first, one) for one in read]
        by_file = np.stack([one.values[metric][0, order] for one, order in zip(read, orders, strict=True)])
        values = np.stack([by_file[indices].mean(axis=0) for indices in groups])
        names, counts = np.array(first.languages), ~np.isnan(values).any(axis=0)
        languages = {}
        for name in dict.fromkeys(first.languages):
            of = np.flatnonzero((names == name) & counts)
            if len(of) > 1:  # the variance over a single query is nobody's to know
                keys = [first.keys[index] for index in of]
                languages[name] = Language(self._numbers(row.benchmark, name, keys), values[:, of])
        return languages

    def _numbers(self, benchmark: str, language: str, keys: Iterable[tuple[str, str]]) -> np.ndarray:
        """The numbers of queries, the same for all systems of a benchmark."""
        known = self._queries.setdefault((benchmark, language), {})
        return np.array([known.setdefault(key, len(known)) for key in keys])

    def languages(self, reference: CellSource) -> list[str] | Absent:
        """The languages of a value that its row has results in."""
        system = self.system(reference.result)
        if isinstance(system, Absent):
            return system
        if reference.metric not in system.metrics:
            return Absent(f"{reference.result.path} has no {reference.metric}")
        present = [code for code in reference.languages if code in system.metrics[reference.metric]]
        return present or Absent(f"{reference.result.path} has no {', '.join(reference.languages)}", needed=False)

    def _scored(self, row: Row, metric: str, language: str) -> Scored:
        """One language of a system that has it."""
        found = self.system(row).metrics[metric][language]
        if not len(found.queries):
            return Scored((row.benchmark, language), found.values[:, 0], found.queries, np.zeros(0))
        return scored((row.benchmark, language), found.values, found.queries, evaluator(metric).finish())

    def _value(self, reference: CellSource) -> float | Absent:
        """The number itself, the mean over seeds; also of what has no queries (counts, sizes, costs)."""
        if reference.metric == PRETRAINING_COST:
            return self._cost(reference.result)
        path = self.folder / f"{reference.result.path}.json"
        if not path.is_file():
            return self._absent(reference.result)
        known = read_result(path).metrics.get(reference.metric)
        present = [known.languages[code] for code in reference.languages if known and code in known.languages]
        if not present:
            wanted = f"{reference.metric} of {', '.join(reference.languages)}"
            return Absent(f"{reference.result.path} has no {wanted}", needed=False)
        return float(np.mean(present))

    def _cost(self, row: Row) -> float | Absent:
        """CPU-seconds of the pretrainings that a row comes from, a seed on average, by what is kept of them."""
        paths = self.files(row)
        if not paths:
            return self._absent(row)
        kept = trainings.kept(self.folder)
        seconds = [
            sum(kept[digest].get("cpu_seconds", 0.0) for digest in record.get(records.ANCESTRY, {}) if digest in kept)
            for record in map(records.read_record, paths)
        ]
        known = all(seconds)
        return float(np.mean(seconds)) if known else Absent(f"{row.path}: no cost of its pretraining", needed=False)

    def _absent(self, row: Row) -> Absent:
        reason = self.left_out.get(row.name)
        return Absent(f"{row.path}: {reason}", needed=False) if reason else Absent(row.path)


def numbers(name: str) -> tuple[int, int]:
    """The two seeds of a result.

    >>> numbers("pt0-ft2")
    (0, 2)
    """
    pretraining, _, finetuning = name.removeprefix("pt").partition("-ft")
    return int(pretraining), int(finetuning)


def chosen(name: str, seeds: Seeds) -> bool:
    """Whether a result's two seeds are among some; a kind that is not named has all.

    >>> chosen("pt5-ft0", Seeds(pretraining=[0, 1, 2])), chosen("pt2-ft9", Seeds(pretraining=[0, 1, 2]))
    (False, True)
    """
    pretraining, finetuning = numbers(name)
    return (not seeds.pretraining or pretraining in seeds.pretraining) and (
        not seeds.finetuning or finetuning in seeds.finetuning
    )


def by_seed(names: Sequence[str], found: Sequence[records.Record]) -> list[tuple[str, list[int]]]:
    """(name of a seed, the files that are averaged for it), from the files' names and records; "" where no seed counts.

    >>> pretrained = {"model": "msm", "ancestry": {"a": {"job": "pretrain", "model": "msm"}}}
    >>> by_seed(["pt0-ft0", "pt0-ft1", "pt1-ft0"], [pretrained] * 3)
    [('pt0', [0, 1]), ('pt1', [2])]
    """
    pairs = [numbers(name) for name in names]
    jobs = {(facts.get("job"), facts.get("model")) for record in found for facts in _ancestry(record)}
    pretrained = len({pretraining for pretraining, _ in pairs}) > 1 or any(
        ("pretrain", record.get("model")) in jobs for record in found
    )
    if not pretrained and not {job for job, _ in jobs} & {*TRAINS}:
        return [("", list(range(len(names))))]
    groups: dict[str, list[int]] = {}
    for index, (pretraining, finetuning) in enumerate(pairs):
        groups.setdefault(f"{PRETRAINING}{pretraining}" if pretrained else f"ft{finetuning}", []).append(index)
    return list(groups.items())


def divergence(groups: Sequence[tuple[str, list[int]]], found: Sequence[records.Record]) -> str:
    """Of which seeds the pretraining came to nothing, by the records of their files, and why; "" where of none.

    >>> divergence([("pt0", [0]), ("pt1", [1])], [{}, {"diverged": {"pt1-ft0": "ccp: cosine .99"}}])
    'pretraining diverged in 1 of 2 seeds (pt1): ccp: cosine .99'
    """
    reasons = {
        name: {why for index in indices for why in found[index].get("diverged", {}).values()}
        for name, indices in groups
    }
    seeds = [name for name, whys in reasons.items() if whys]
    if not seeds:
        return ""
    which = f" in {len(seeds)} of {len(groups)} seeds ({', '.join(seeds)})" if all(seeds) else ""
    return f"pretraining diverged{which}: {'; '.join(sorted(set().union(*reasons.values())))}"


def _ancestry(record: records.Record) -> Iterable[records.Record]:
    return record.get(records.ANCESTRY, {}).values()


def _order(first: scores.Scores, other: scores.Scores) -> np.ndarray:
    """Where the queries of `first` stand in another seed's scores."""
    if other.keys == first.keys:
        return np.arange(len(first.keys))
    places = {key: index for index, key in enumerate(other.keys)}
    if places.keys() != {*first.keys}:
        raise SteleError(f"{other.source}: not the queries of {first.source}; score both again")
    return np.array([places[key] for key in first.keys])


FILE = "looks.yaml"


class Looks(Strict):
    """`first: {pretraining: [0, 1, 2, 3, 4], finetuning: [0, 1]}`; a kind that is not named has all its seeds."""

    first: Seeds


def load_looks(folder: Path) -> Looks | None:
    """The looks of a folder of results; None where there was one look, at all that it holds."""
    path = folder / FILE
    return validate(Looks, read_yaml(path), str(path)) if path.is_file() else None


def second_taken(folder: Path) -> bool:
    """Whether a folder of results holds seeds beside those of its first look."""
    looks = load_looks(folder)
    return looks is not None and any(
        not chosen(path.stem, looks.first) for path in result_files(folder, each_seed=True)
    )
