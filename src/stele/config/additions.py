"""What config.yaml adds to the catalogue: languages, datasets, benchmarks and settings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from stele import catalogue
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.datasets import Dataset
from stele.catalogue.schema.languages import Language
from stele.catalogue.user_documents import neutral_language
from stele.errors import SteleError, unknown
from stele.files.strict import Values

if TYPE_CHECKING:
    from stele.config.model import Config
    from stele.config.sources import Sources

HELPERS = {"arguments", "load", "reader", "types"}  # modules of stele/benchmarks that read no benchmark


def additions(config: Config) -> dict[str, Values]:
    """What a configuration adds to files of the catalogue; languages that nobody describes get neutral entries."""
    languages = {code: entry.given() for code, entry in config.add_languages.items()}
    described = {*catalogue.entries(Language), *languages}
    for benchmark in config.add_benchmarks.values():
        codes = {code for language in benchmark.languages for code in language.split("-")}
        languages |= {code: neutral_language(code).given() for code in codes - described}
    return {
        "languages": languages,
        "datasets": {name: entry.given() for name, entry in config.add_datasets.items()},
        "benchmarks": {name: entry.given() for name, entry in config.add_benchmarks.items()},
        "settings": dict(config.add_settings),
    }


def check_additions(config: Config, where: Sources) -> None:
    """Refuses what the catalogue has already, and names that it does not have."""
    for kind in (Language, Dataset, Benchmark):
        key, known = f"add_{kind.FILE}", catalogue.entries(kind)
        for name in getattr(config, key).keys() & known.keys():
            what = known[name].name if kind is Language else known[name].title
            raise SteleError(f"{where(key, name)}: the catalogue has it ({what}); leave it out")
    paths = (catalogue.FOLDER.parent / "benchmarks").glob("[a-z]*.py")  # not imported
    modules = sorted({path.stem for path in paths} - HELPERS)
    datasets = {*catalogue.entries(Dataset), *config.add_datasets}
    for name, benchmark in config.add_benchmarks.items():
        for dataset in (*benchmark.data, *benchmark.judgments):
            _check("dataset", dataset, datasets, where("add_benchmarks", name, "data"))
        _check("module", benchmark.module or name, modules, where("add_benchmarks", name))
        if name not in config.add_settings:
            example = f"add_settings: {{{name}: {{direct: {{kind: dense}}}}}}"
            raise SteleError(f"{where('add_benchmarks', name)}: it has no settings; say some, as {example}")
    for name, settings in config.add_settings.items():
        _check("benchmark", name, {*catalogue.entries(Benchmark), *config.add_benchmarks}, where("add_settings", name))
        for setting in settings.keys() & catalogue.load("settings")["settings"].get(name, {}).keys():
            raise SteleError(f"{where('add_settings', name, setting)}: the catalogue has it; give it another name")


def _check(kind: str, name: str, valid: Iterable[str], place: str) -> None:
    if name not in (names := list(valid)):
        raise unknown(kind, name, names, place)
