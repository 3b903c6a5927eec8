"""Check the names in values of tables and figures: models, benchmarks, settings, metrics and languages."""

from collections.abc import Collection, Iterable, Iterator

from stele import catalogue
from stele.catalogue import datasets, recipes
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.datasets import Dataset
from stele.errors import unknown
from stele.papers.table_parts import CellSource

DRAWN_FILES = ("lengths", "projection")  # metrics of figures that are files beside the result


def unknown_names(values: Iterable[tuple[str, CellSource]], models: Collection[str]) -> list[str]:
    """Describes unknown names in values of tables and figures, each once with its first place and the nearest name.

    `values` are pairs (place, value); `models` are all known keys, the catalogue's and the user's.
    """
    first_places: dict[CellSource, str] = {}
    for place, value in values:
        first_places.setdefault(value, place)
    problems: dict[str, str] = {}
    for value, place in first_places.items():
        for error in _unknown_names(value, models):
            problems.setdefault(error, f"{place}: {error}")
    return [*problems.values()]


def _unknown_names(value: CellSource, models: Collection[str]) -> Iterator[str]:
    benchmarks = catalogue.entries(Benchmark)
    if value.benchmark not in benchmarks:
        yield str(unknown("benchmark", value.benchmark, benchmarks))
        return
    entry, known = benchmarks[value.benchmark], catalogue.load("settings")
    settings, short_names = (known[key].get(value.benchmark, {}) for key in ("settings", "aliases"))
    if not entry.data:  # counts: their "models" may be datasets, collections or mined pairs
        models = {*models, *catalogue.entries(Dataset), *benchmarks, *recipes.names("pairs")}
    yield from _unknown("model", [value.model], models, value.benchmark)
    if value.setting not in settings:
        yield str(unknown("setting", value.setting, settings, value.benchmark, short_names))
    metrics = settings.get(value.setting, {}).get("metrics") or entry.metrics
    yield from _unknown("metric", [value.metric], [*metrics, *DRAWN_FILES], value.benchmark)
    languages = {*entry.languages, *datasets.evaluated_in(entry)}
    yield from _unknown("language", value.languages, languages, value.benchmark)


def _unknown(kind: str, names: Iterable[str], valid: Collection[str], benchmark: str) -> Iterator[str]:
    yield from (str(unknown(kind, name, valid, benchmark)) for name in names if name not in valid)
