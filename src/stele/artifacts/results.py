"""Results on disk, `results/{benchmark}/{model}/{setting}.json`: reading one file or all as a table, and the manifest.

A result holds unrounded fractions in [0, 1] by metric and language, and their average as the benchmark defines it. The
file holds the mean over seeds; `pt{n}-ft{m}.json` in the folder of the same name holds one pair of seeds. The
manifest of a folder of results lists every file with its digest, and the ancestors of each result.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from pydantic import BaseModel, Field, FiniteFloat, ValidationError

from stele.artifacts import records
from stele.artifacts.record_shape import MANIFEST, SEAL, check_seal, rebuild, seal
from stele.errors import Damaged, SteleError
from stele.files.atomic import atomic_write_json
from stele.files.digests import digest, sha256
from stele.files.reading import read_json
from stele.files.strict import explain

if TYPE_CHECKING:
    import pandas


class RunKey(NamedTuple):
    """Key of a result: a model under a setting of a benchmark.

    >>> key = RunKey("mrtydi", "msm", "zero_shot_marco")
    >>> key.path, key.name
    ('mrtydi/msm/zero_shot_marco', 'msm/zero_shot_marco/mrtydi')
    """

    benchmark: str
    model: str
    setting: str

    @property
    def path(self) -> str:
        """Path of the result below the results folder, without a suffix."""
        return "/".join(self)

    @property
    def name(self) -> str:
        """Name of the row in the context of a table: MODEL/SETTING/BENCHMARK."""
        return f"{self.model}/{self.setting}/{self.benchmark}"


COLUMNS = ["benchmark", "model", "setting", "seeds", "metric", "language", "value", "n", "labels", "std"]


class Deviations(BaseModel):
    """Standard deviations over seeds, None for one seed."""

    languages: dict[str, FiniteFloat | None] = {}
    average: FiniteFloat | None = None


class BySeed(BaseModel):
    """Values of the single seeds behind a mean, in the order of the result's `seeds`."""

    languages: dict[str, list[FiniteFloat]] = {}


class Guess(BaseModel):
    """Chance score by language, and standard errors over queries of the result minus chance."""

    languages: dict[str, FiniteFloat] = {}
    errors: dict[str, FiniteFloat] = {}


class Metric(BaseModel):
    """Values of one metric by language, their average as the benchmark defines it, and queries by language (`n`)."""

    languages: dict[str, FiniteFloat]
    average: FiniteFloat | None = None
    n: dict[str, Annotated[int, Field(ge=0, lt=1 << 53)]] = {}
    std: Deviations = Deviations()
    values: BySeed = BySeed()
    guess: Guess = Guess()


class Seeds(BaseModel):
    """Pretraining seed and fine-tuning seed of a result."""

    pretraining: int
    finetuning: int


class Result(BaseModel):
    """Contents of one result file; other keys of the file (provenance, counts) are ignored."""

    benchmark: str
    model: str
    setting: str
    metrics: dict[str, Metric] = Field(min_length=1)
    labels: list[str] = []
    seeds: Seeds | list[Seeds] | None = None
    diverged: dict[str, str] = Field({}, description="seeds (`pt0-ft1`) whose pretraining diverged -> reason")

    @property
    def seed_names(self) -> list[str]:
        """Seed pairs of the result as in file names, e.g. `pt0-ft1`; [] if it has none."""
        pairs = self.seeds if isinstance(self.seeds, list) else [self.seeds] if self.seeds else []
        return [f"pt{pair.pretraining}-ft{pair.finetuning}" for pair in pairs]

    @property
    def has_diverged(self) -> bool:
        """Whether the pretraining of every seed of this result diverged."""
        return bool(self.diverged) and self.diverged.keys() >= {*self.seed_names}


def read_result(path: Path | str) -> Result:
    """Reads one result. Raises SteleError for a damaged or half-written file, FileNotFoundError for a missing one."""
    if not Path(path).exists():
        raise FileNotFoundError(path)
    value = read_json(path, "result", "remove it and run again")
    try:
        result = Result.model_validate(value)
    except ValidationError as error:
        raise SteleError(f"{explain(error, Result, f'{path}: not a result')}; remove it and run again") from None
    if value.get("content") != digest(value["metrics"]):
        what = "are not those that were scored" if "content" in value else "have no digest"
        raise Damaged(f"{path}: its values {what}; {rebuild([Path(path)])}")
    check_seal(value, Path(path))
    return result


def read_placed(path: Path, aliases: Mapping[str, Mapping[str, str]]) -> Result:
    """Reads `{benchmark}/{model}/{setting}.json`. Raises SteleError if the file holds the result of another row.

    `aliases`: benchmark -> short name -> setting; a copy under a short name holds the result of the full setting.
    """
    result = read_result(path)
    benchmark, model, setting = *path.parts[-3:-1], path.stem
    settings = {setting, aliases.get(benchmark, {}).get(setting)}
    if (result.benchmark, result.model) != (benchmark, model) or result.setting not in settings:
        raise SteleError(
            f"{path}: holds the result of {result.benchmark}/{result.model}/{result.setting}, "
            "not the one that its path names; remove it and try again"
        )
    return result


def mean_over_seeds(results: Sequence[Result]) -> Result:
    """Averages the results of several seeds over the languages that all have; keeps the single values too."""
    first, metrics = results[0], {}
    for name in first.metrics:
        of_seeds = [result.metrics[name] for result in results if name in result.metrics]
        values = _shared([metric.languages for metric in of_seeds])
        if values and len(of_seeds) == len(results):
            guesses = _shared([metric.guess.languages for metric in of_seeds])
            errors = _shared([metric.guess.errors for metric in of_seeds])
            guess = Guess(languages=_means(guesses), errors=_means(errors))
            by_seed = BySeed(languages=values)
            metrics[name] = Metric(languages=_means(values), n=of_seeds[0].n, values=by_seed, guess=guess)
    labels = sorted({label for result in results for label in result.labels})
    diverged = {seed: why for result in results for seed, why in result.diverged.items()}
    seeds = [result.seeds for result in results if result.seeds]
    return first.model_copy(update={"metrics": metrics, "labels": labels, "seeds": seeds, "diverged": diverged})


def _shared(by_seed: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
    """Values of all seeds, for each language that all have."""
    codes = [code for code in by_seed[0] if all(code in values for values in by_seed)]
    return {code: [values[code] for values in by_seed] for code in codes}


def _means(values: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {code: math.fsum(of_seeds) / len(of_seeds) for code, of_seeds in values.items()}


def result_files(results_dir: Path | str, each_seed: bool = False) -> Iterator[Path]:
    """Yields the result files of a folder in order: means over seeds, or with `each_seed` a file per pair of seeds.

    Raises SteleError if the folder is missing.
    """
    if not Path(results_dir).is_dir():
        raise SteleError(f"{results_dir}: no such folder of results; build some first, e.g. with `make tables`")
    pattern = "*/*/*/pt*-ft*.json" if each_seed else "*/*/*.json"
    for path in sorted(Path(results_dir).glob(pattern)):
        if path.relative_to(results_dir).parts[0] != "tables":
            yield path


def _rows(result: Result) -> Iterator[tuple[Any, ...]]:
    labels = ", ".join(sorted(result.labels))
    for name, metric in sorted(result.metrics.items()):
        head = (result.benchmark, result.model, result.setting, ", ".join(result.seed_names), name)
        for language, value in sorted(metric.languages.items()):
            yield *head, language, value, metric.n.get(language), labels, metric.std.languages.get(language)
        if metric.average is not None:
            yield *head, "average", metric.average, sum(metric.n.values()) or None, labels, metric.std.average


def load_results(results_dir: Path | str = "results", each_seed: bool = False) -> pandas.DataFrame:
    """Loads all results of a folder as a table with one row per value.

    Columns: benchmark, model, setting, seeds (`pt0-ft1`), metric, language (a code, or "average": the benchmark's own),
    value (a fraction, unrounded), n (queries; may be missing), labels, std (over seeds; missing for one seed). Values
    are means over seeds; with `each_seed`, each pair of seeds has its own rows. Copies under a short setting name are
    left out. Raises SteleError if the folder is missing or a file is damaged.

    >>> results = load_results(folder)
    >>> results.query("metric == 'mrr@100'").pivot_table("value", "model", "language")
    language  average   en    sw
    model
    msm         0.375  0.5  0.25
    """
    import pandas

    rows = []
    for path in result_files(results_dir, each_seed):
        result = read_result(path)
        setting = path.parent.name if each_seed else path.stem
        if setting == result.setting:  # skips copies under a short name (`zero_shot.json` of `zero_shot_marco`)
            rows.extend(_rows(result))
    return pandas.DataFrame(rows, columns=COLUMNS).astype({"value": "float64", "n": "Int64", "std": "float64"})


def write_manifest(folder: Path) -> None:
    """Writes the manifest of a folder of results into the folder."""
    record = {"job": "tables manifest", "labels": [], **manifest_of(folder)}
    atomic_write_json(folder / MANIFEST, seal(record))


def manifest_of(folder: Path) -> dict[str, Any]:
    """Manifest: {"files": path -> sha256 and bytes, "results": path -> record without values and ancestry, "ancestry"}.

    Ancestors that many results share are listed once, by digest. A damaged result has its error in place of a record. A
    result of an earlier version, which has no digest, is accepted from now on if it is as the manifest lists it.
    """
    results: dict[str, dict[str, Any]] = {}
    ancestry = {}
    for path in result_files(folder):
        try:
            record = records.read_unsealed(path)
            if SEAL in record:
                check_seal(record, path)
        except SteleError as error:
            record = {"unreadable": str(error)}
        ancestry |= record.pop(records.ANCESTRY, {})
        facts = {key: value for key, value in record.items() if key not in ("metrics", "intervals", "counts")}
        results[path.relative_to(folder).as_posix()] = facts
    return {"files": manifest_files(folder), "results": results, "ancestry": ancestry}


def manifest_files(folder: Path) -> dict[str, dict[str, Any]]:
    """Path below the folder -> sha256 and bytes, for all files except hidden ones and the manifest.

    Linked folders are followed, as where results are read.
    """
    facts = {}
    for name in sorted(glob("**", root_dir=folder, recursive=True)):  # no hidden ones
        path = folder / name
        if path.is_file() and name != MANIFEST:
            facts[name] = {"sha256": sha256(path), "bytes": path.stat().st_size}
    return facts
