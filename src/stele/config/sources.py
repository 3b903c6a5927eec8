"""The files that a configuration is merged from, so that errors name the right one, and its catalogue additions."""

import os
import re
from collections.abc import Iterable
from typing import Any, Protocol

from stele import catalogue
from stele.catalogue import read_yaml
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.datasets import Dataset
from stele.catalogue.schema.languages import Language
from stele.catalogue.user_documents import neutral_language
from stele.errors import SteleError, check_known
from stele.files.paths import PARTS
from stele.files.strict import Values
from stele.registry import module_names

LANGUAGE = "[A-Za-z0-9_]+(-[A-Za-z0-9_]+)*"  # a language, or a benchmark's pair of languages
HELPERS = {"arguments", "load", "reader", "types"}  # modules of stele/benchmarks that are no reader


class Sources:
    """The files of a configuration (config.yaml, `--configfile`, `--config`); later files win, key by key.

    >>> where = Sources([("config.yaml", {"offline": False}), ("mine.yaml", {"models": {"a": {}}})])
    >>> where("models", "a", "base"), where("offline"), where("seeds")
    ('mine.yaml: models.a.base', 'config.yaml: offline', 'config.yaml: seeds')
    """

    def __init__(self, files: Iterable[tuple[str, Values]]) -> None:
        self.files = list(files)

    def __call__(self, *key: str | int) -> str:
        return f"{self.name(*key)}: {'.'.join(map(str, key))}"

    def name(self, *key: str | int) -> str:
        """The file that sets a key: of the files with the longest part of the key's path, the last one."""
        deepest, last = max((_depth(values, key), n) for n, (_, values) in enumerate(self.files))
        return self.files[last if deepest else 0][0]


def _depth(values: Any, key: tuple[str | int, ...]) -> int:
    """Number of leading parts of a key's path that exist in some values."""
    for depth, part in enumerate(key):
        try:
            values = values[part]
        except (KeyError, IndexError, TypeError):
            return depth
    return len(key)


def read_sources(workflow) -> Sources:
    """Rereads the files that Snakemake merged. Raises SteleError for a duplicate key, which Snakemake accepts."""
    of_command_line = list(workflow.overwrite_configfiles)  # --configfile
    of_workflow = [path for path in workflow.configfiles if path not in of_command_line]
    files = [(os.path.relpath(path), read_yaml(path)) for path in [*of_workflow, *of_command_line]]
    return Sources([*files, ("--config", workflow.config_settings.config)])


# --- what config.yaml adds to the catalogue: languages, datasets, benchmarks and settings -----------------------------
class Additions(Protocol):
    """The keys of config.yaml that add entries to the catalogue."""

    add_languages: dict[str, Language]
    add_datasets: dict[str, Dataset]
    add_benchmarks: dict[str, Benchmark]
    add_settings: dict[str, dict[str, Values]]


def additions(config: Additions) -> dict[str, Values]:
    """Entries that a configuration adds to catalogue files; languages without description get neutral entries."""
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


def check_additions(config: Additions, where: Sources) -> None:
    """Refuses additions that the catalogue has already, and references to names that do not exist."""
    for kind in (Language, Dataset, Benchmark):
        key, known = f"add_{kind.FILE}", catalogue.entries(kind)
        for name in getattr(config, key).keys() & known.keys():
            what = known[name].name if kind is Language else known[name].title
            raise SteleError(f"{where(key, name)}: the catalogue has it already ({what}); leave it out")
    for name in config.add_benchmarks.keys() & PARTS:
        raise SteleError(f"{where('add_benchmarks', name)}: results_dir has a folder {name}/ of its own; rename it")
    for name, dataset in config.add_datasets.items():
        for key in ("languages", "codes"):
            _check_codes(getattr(dataset, key), where("add_datasets", name, key))
    for name, benchmark in config.add_benchmarks.items():
        for key in ("languages", "documents_in"):
            _check_codes(getattr(benchmark, key), where("add_benchmarks", name, key))
    modules = {*module_names("stele.benchmarks")} - HELPERS
    datasets = {*catalogue.entries(Dataset), *config.add_datasets}
    for name, benchmark in config.add_benchmarks.items():
        for key in ("data", "judgments"):
            for dataset in (names := getattr(benchmark, key)):
                check_known("dataset", dataset, datasets, where("add_benchmarks", name, key))
            if not names:
                raise SteleError(f"{where('add_benchmarks', name, key)}: empty; name at least one dataset")
        check_known("module", benchmark.module or name, modules, where("add_benchmarks", name))
        if name not in config.add_settings:
            example = f"add_settings: {{{name}: {{direct: {{kind: dense}}}}}}"
            raise SteleError(f"{where('add_benchmarks', name)}: it has no settings; add some, e.g. {example}")
    for name, settings in config.add_settings.items():
        check_known(
            "benchmark", name, {*catalogue.entries(Benchmark), *config.add_benchmarks}, where("add_settings", name)
        )
        shipped = catalogue.shipped("catalogue/settings.yaml")
        used_names = {**shipped["settings"].get(name, {}), **shipped["aliases"].get(name, {})}  # an alias is taken too
        for setting in settings.keys() & used_names.keys():
            raise SteleError(f"{where('add_settings', name, setting)}: the catalogue has it; give it another name")


def _check_codes(codes: Iterable[str] | None, place: str) -> None:
    """Refuses a language code (or pair) that could not be part of a path or of a command line."""
    for code in codes or ():
        if not re.fullmatch(LANGUAGE, code):
            raise SteleError(f"{place}: found {code!r}; want a code of letters, digits and _, or a pair as fr-en")
