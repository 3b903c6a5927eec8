"""Reader of values per query and seed from a folder of results, `results/` or one of the same layout.

A seed is one of pretraining, with values averaged over its seeds of fine-tuning. If nothing is pretrained, it is one of
fine-tuning; if nothing is trained (term matching, an encoder as published), there are no seeds.
"""

from collections.abc import Container, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stele.artifacts import records
from stele.artifacts.results import RunKey, read_result
from stele.claims.judging import trainings
from stele.claims.judging.estimate import PRETRAINING, Scored, scored
from stele.evaluation import paired
from stele.evaluation.metrics import load_metric
from stele.evaluation.scores import Scores
from stele.papers.table_parts import CellSource, Seeds

PRETRAINING_COST = "cpu_seconds"  # the metric of a row's pretraining cost


class Absent(NamedTuple):
    """Reason why a value is absent; `needed` says that it could be built, so that it counts as missing."""

    reason: str
    needed: bool = True


class Language(NamedTuple):
    """Values of one metric in one language, float64 [S, n] by seed, of the queries with the numbers `queries`, int [n].

    by_finetuning: float64 [S, F], means for the F seeds of fine-tuning that all S seeds have, if there are several.
    """

    queries: np.ndarray
    values: np.ndarray
    by_finetuning: np.ndarray | None = None


class System(NamedTuple):
    """A row of results by metric and language; `seeds` names its S seeds and is empty if nothing is trained.

    diverged: the seeds in which pretraining diverged, and why; "" if none did. finetuning: names of the F seeds of
    fine-tuning that all S seeds have; empty if F is below two.
    """

    seeds: tuple[str, ...]
    metrics: dict[str, dict[str, Language]]
    labels: frozenset[str]
    diverged: str = ""
    finetuning: tuple[str, ...] = ()


class Runs:
    """Results of a folder. `chosen` restricts the seeds; `left_out` maps a row to why it cannot be built there.

    in_scale: languages that the folder's last run evaluates, by benchmark; a benchmark that is missing has all.
    """

    def __init__(
        self,
        folder: Path,
        chosen: Seeds | None = None,
        left_out: dict[str, str] | None = None,
        in_scale: dict[str, list[str]] | None = None,
    ):
        self.folder, self.chosen, self.left_out, self.in_scale = folder, chosen, left_out or {}, in_scale or {}
        # (benchmark, language) -> question -> its number
        self._queries: dict[tuple[str, str], dict[str, int]] = {}
        self._ancestry = records.read_ancestry(folder)
        self.system = cache(self._system)
        self.scored = cache(self._scored)
        self.value = cache(self._value)

    def files(self, row: RunKey) -> list[Path]:
        """Paths of the results of a row's chosen seeds; without such a training, 0 is its only seed."""
        paths = sorted(self.folder.glob(f"{row.path}/pt*-ft*.json"))
        chosen = [path for path in paths if self.chosen is None or is_chosen(path.stem, self.chosen)]
        if chosen or not paths:
            return chosen
        pretrained, finetuned = trained([path.stem for path in paths], map(records.read_record, paths))
        if finetuned:
            return []
        of_pretraining = Seeds(pretraining=self.chosen.pretraining if pretrained else [])
        return [path for path in paths if is_chosen(path.stem, of_pretraining)]

    def _system(self, row: RunKey) -> System | Absent:
        paths = self.files(row)
        if not paths:
            return self._counted(row, self.folder / f"{row.path}.json")
        results = [records.read_record(path) for path in paths]
        if not any(record.get("queries") for record in results):
            return self._counted(row, paths[0])
        if len({trainings.recipes_digest(record, self._ancestry) for record in results}) > 1:
            return Absent(f"{row.path} (its seeds are of different recipes: build all anew, or remove the old ones)")
        groups = by_seed([path.stem for path in paths], results)
        stacked = paired.read_system(paths)
        finetuning, crossed_files = crossed([path.stem for path in paths], groups)
        of_groups = [indices for _, indices in groups]
        metrics = {metric: self._metric(row, stacked, metric, of_groups, crossed_files) for metric in stacked.values}
        seeds = tuple(name for name, _ in groups if name)
        return System(seeds, metrics, stacked.labels, divergence(groups, results), finetuning)

    def _counted(self, row: RunKey, path: Path) -> System | Absent:
        """Reads a count (of a dataset's or a model's parts), which has no queries and is the same for all seeds."""
        if not path.is_file() or isinstance(records.read_record(path).get("seeds"), list):
            return self._absent(row)
        result, no_queries = read_result(path), np.zeros(0, dtype=int)
        metrics = {
            name: {code: Language(no_queries, np.array([[value]])) for code, value in metric.languages.items()}
            for name, metric in result.metrics.items()
        }
        return System((), metrics, frozenset(result.labels), divergence([("", [0])], [{"diverged": result.diverged}]))

    def _metric(
        self,
        row: RunKey,
        files: Scores,
        metric: str,
        groups: Sequence[Sequence[int]],
        crossed_files: Sequence[Sequence[int]],
    ) -> dict[str, Language]:
        """Averages one metric over each group of files, by language; `crossed_files` as `crossed` returns them."""
        by_file = files.values[metric]
        values = np.stack([by_file[indices].mean(axis=0) for indices in groups])
        names, has_value = np.array(files.languages), ~np.isnan(values).any(axis=0)
        languages = {}
        for name in dict.fromkeys(files.languages):
            places = np.flatnonzero((names == name) & has_value)
            numbers = self._numbers(row.benchmark, name, [files.keys[place] for place in places])
            if len(questions := np.unique(numbers)) > 1:  # a single one has no variance
                of_files = by_file[:, places].mean(axis=1)
                by_finetuning = of_files[np.array(crossed_files)] if crossed_files else None
                of_queries = values[:, places]
                if len(questions) < len(numbers):  # both directions of a pair of languages
                    of_queries = np.stack([paired.per_question(of_seed, numbers) for of_seed in of_queries])
                    numbers = questions
                languages[name] = Language(numbers, of_queries, by_finetuning)
        return languages

    def _numbers(self, benchmark: str, language: str, keys: Iterable[tuple[str, str]]) -> np.ndarray:
        """Numbers of queries: equal for all systems of a benchmark, and for one question wherever it is asked."""
        numbers = self._queries.setdefault(_stratum(benchmark, language), {})
        return np.array([numbers.setdefault(paired.question(query, language), len(numbers)) for _, query in keys])

    def languages(self, reference: CellSource) -> list[str] | Absent:
        """Languages in which a value's row has results, or the reason why it has none."""
        system = self.system(reference.result)
        if isinstance(system, Absent):
            return system
        if reference.metric not in system.metrics:
            return Absent(f"{reference.result.path} has no {reference.metric}")
        present = self._present(reference, system.metrics[reference.metric])
        return present or Absent(f"{reference.result.path} has no {', '.join(reference.languages)}", needed=False)

    def _present(self, reference: CellSource, values: Container[str]) -> list[str]:
        """Languages of a reference that have values and that the folder's last run evaluates."""
        in_scale = self.in_scale.get(reference.result.benchmark, reference.languages)
        return [code for code in reference.languages if code in values and code in in_scale]

    def _scored(self, row: RunKey, metric: str, language: str) -> Scored:
        stratum = _stratum(row.benchmark, language)
        queries, values, by_finetuning = self.system(row).metrics[metric][language]
        if not len(queries):
            return Scored(stratum, values[:, 0], queries, np.zeros(0))
        return scored(stratum, values, queries, load_metric(metric).finish, by_finetuning)

    def _value(self, reference: CellSource) -> float | Absent:
        """Mean over seeds of a value, also of one without queries (a count, size or cost); or why it is absent."""
        if reference.metric == PRETRAINING_COST:
            return self._cost(reference.result)
        path = self.folder / f"{reference.result.path}.json"
        if not path.is_file():
            return self._absent(reference.result)
        metric = read_result(path).metrics.get(reference.metric)
        values = metric.languages if metric else {}
        present = [values[code] for code in self._present(reference, values)]
        if not present:
            wanted = f"{reference.metric} of {', '.join(reference.languages)}"
            return Absent(f"{reference.result.path} has no {wanted}", needed=False)
        return float(np.mean(present))

    def _cost(self, row: RunKey) -> float | Absent:
        """CPU-seconds of pretraining behind a row, averaged over seeds, as recorded with the packed results."""
        paths = self.files(row)
        if not paths:
            return self._absent(row)
        pretrainings = trainings.kept(self.folder)
        seconds = []
        for path in paths:
            ancestry = records.read_record(path).get(records.ANCESTRY, {})
            costs = [pretrainings[key].get("cpu_seconds", 0.0) for key in ancestry if key in pretrainings]
            seconds.append(sum(costs))
        if not all(seconds):
            return Absent(f"{row.path}: no cost of its pretraining", needed=False)
        return float(np.mean(seconds))

    def _absent(self, row: RunKey) -> Absent:
        reason = self.left_out.get(row.name)
        return Absent(f"{row.path}: {reason}", needed=False) if reason else Absent(row.path)


def _stratum(benchmark: str, language: str) -> tuple[str, str]:
    """Key of an independent set of queries: a language's, or a benchmark's if its languages ask the same questions."""
    return benchmark, "" if paired.same_questions(benchmark) else language


def crossed(names: Sequence[str], groups: Sequence[tuple[str, list[int]]]) -> tuple[tuple[str, ...], list[list[int]]]:
    """Seeds of fine-tuning that all groups of files share, and each group's files of them; empty if fewer than two.

    >>> crossed(["pt0-ft0", "pt0-ft1", "pt1-ft0", "pt1-ft1"], [("pt0", [0, 1]), ("pt1", [2, 3])])
    (('ft0', 'ft1'), [[0, 1], [2, 3]])
    >>> crossed(["pt0-ft0", "pt0-ft1", "pt0-ft2", "pt1-ft0", "pt1-ft2"], [("pt0", [0, 1, 2]), ("pt1", [3, 4])])
    (('ft0', 'ft2'), [[0, 2], [3, 4]])
    >>> crossed(["pt0-ft0", "pt0-ft1"], [("ft0", [0]), ("ft1", [1])])
    ((), [])
    """
    of_groups = [{names[index].partition("-")[2]: index for index in indices} for _, indices in groups]
    shared = tuple(seed for seed in of_groups[0] if all(seed in files for files in of_groups))
    if len(groups) < 2 or len(shared) < 2:
        return (), []
    return shared, [[files[seed] for seed in shared] for files in of_groups]


def numbers(name: str) -> tuple[int, int]:
    """Seeds of pretraining and of fine-tuning in a result's name.

    >>> numbers("pt0-ft2")
    (0, 2)
    """
    pretraining, _, finetuning = name.removeprefix("pt").partition("-ft")
    return int(pretraining), int(finetuning)


def is_chosen(name: str, seeds: Seeds) -> bool:
    """Whether both seeds of a result are among `seeds`; a kind of seed that `seeds` does not name is not restricted.

    >>> is_chosen("pt5-ft0", Seeds(pretraining=[0, 1, 2])), is_chosen("pt2-ft9", Seeds(pretraining=[0, 1, 2]))
    (False, True)
    """
    pretraining, finetuning = numbers(name)
    if seeds.pretraining and pretraining not in seeds.pretraining:
        return False
    return not seeds.finetuning or finetuning in seeds.finetuning


def by_seed(names: Sequence[str], results: Sequence[records.Record]) -> list[tuple[str, list[int]]]:
    """Groups files by the seed they are averaged for: (name, indices); the name is "" if nothing was trained.

    >>> pretrained = {"model": "msm", "ancestry": {"a": {"job": "pretrain", "model": "msm"}}}
    >>> by_seed(["pt0-ft0", "pt0-ft1", "pt1-ft0"], [pretrained] * 3)
    [('pt0', [0, 1]), ('pt1', [2])]
    """
    pretrained, finetuned = trained(names, results)
    if not pretrained and not finetuned:
        return [("", list(range(len(names))))]
    groups: dict[str, list[int]] = {}
    for index, (pretraining, finetuning) in enumerate(map(numbers, names)):
        groups.setdefault(f"{PRETRAINING}{pretraining}" if pretrained else f"ft{finetuning}", []).append(index)
    return list(groups.items())


def trained(names: Sequence[str], results: Iterable[records.Record]) -> tuple[bool, bool]:
    """Whether a row's encoder is pretrained here, by itself or as a snapshot, and whether a fine-tuning seed counts."""
    jobs = {facts.get("job") for record in results for facts in record.get(records.ANCESTRY, {}).values()}
    several = len({numbers(name)[0] for name in names}) > 1
    return several or "pretrain" in jobs, bool(jobs & {*trainings.TRAINS})


def divergence(groups: Sequence[tuple[str, list[int]]], results: Sequence[records.Record]) -> str:
    """Describes the seeds in which pretraining diverged, by their records, and why; "" if it diverged in none.

    >>> divergence([("pt0", [0]), ("pt1", [1])], [{}, {"diverged": {"pt1-ft0": "ccp: cosine .99"}}])
    'pretraining diverged in 1 of 2 seeds (pt1): ccp: cosine .99'
    """
    reasons: set[str] = set()
    seeds = []
    for name, indices in groups:
        of_seed = {why for index in indices for why in results[index].get("diverged", {}).values()}
        if of_seed:
            seeds.append(name)
            reasons |= of_seed
    if not seeds:
        return ""
    which = f" in {len(seeds)} of {len(groups)} seeds ({', '.join(seeds)})" if all(seeds) else ""
    return f"pretraining diverged{which}: {'; '.join(sorted(reasons))}"
