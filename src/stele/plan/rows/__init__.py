"""Kinds of rows: for each, why a row cannot be built, the inputs of its job, its seeds and the data that it reads.

A setting names its kind in settings.yaml. Each module of this package lists its kinds in `KINDS`; `Rows` looks up the
kind of a row's setting.
"""

from __future__ import annotations

import importlib
import re
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from stele.artifacts.results import RunKey
from stele.catalogue import recipes
from stele.catalogue.schema import choice
from stele.config.model import Seeds
from stele.errors import SteleError, check_known
from stele.files.strict import Strict, Values, validate
from stele.papers.figure import load_figure
from stele.papers.paper import PAPER_TABLES
from stele.papers.table import accepts_rows, load_spec, references
from stele.plan.availability import Availability
from stele.plan.calibration import Calibration
from stele.plan.data import Data
from stele.plan.finetuning import Finetuning
from stele.plan.models import Models, Problem, World
from stele.plan.paths import Inputs, Paths, Reads
from stele.plan.protocols import Protocols
from stele.plan.settings import cached_method
from stele.registry import names_held


@dataclass(frozen=True, eq=False, repr=False)
class Kind(ABC):
    """A kind of row: the rule that makes the runs of its rows, and methods that tell what a row needs.

    Setting   type of its entries in settings.yaml
    rule      the rule that makes its runs, or reports why it cannot
    scored    name of the record that is scored, without suffix; None: the job of `rule` counts and gives the result
    encodes   whether its rows evaluate the vectors of an encoder, as result cards show
    counts    whether its rows count datasets; a dataset's name then takes the place of the model's
    """

    rows: Rows

    Setting: ClassVar[type[Strict]]
    rule: ClassVar[str]
    scored: ClassVar[str | None] = "retrieval"
    encodes: ClassVar[bool] = False
    counts: ClassVar[bool] = False

    @abstractmethod
    def problem(self, row: RunKey) -> Problem | None:
        """(state, reason) if a row cannot be built, else None: `not built`, `unavailable` or `not in scale`."""

    def left_out(self, row: RunKey) -> dict[str, str]:
        """Languages in scale in which a row is not evaluated, each with the reason."""
        return {}

    @abstractmethod
    def inputs(self, row: RunKey, seeds: str) -> Inputs:
        """Inputs of the job that makes the row's run, vectors or count."""

    @abstractmethod
    def seeds(self, row: RunKey, pretraining: list[int], finetuning: list[int]) -> list[str]:
        """Names of a row's seeds, as in its file names; 0 for a training that it does not have."""

    @abstractmethod
    def reads(self, row: RunKey) -> Reads:
        """Records of all datasets that a row needs; a step must not mix real and generated data."""

    def checkpoints(self, row: RunKey) -> set[str]:
        """Models whose public checkpoints a row needs."""
        if not self.rows.models[row.model].has_encoder:
            return set()
        return self.rows.availability.checkpoints(row.model, self.rows.protocols.recipe(row))


def kind_named(name: str) -> type[Kind]:
    modules = names_held(__name__, "KINDS")
    check_known("kind of row", name, modules)
    return importlib.import_module(f"{__name__}.{modules[name]}").KINDS[name]


class Settings(Strict):
    """Contents of settings.yaml: entries by benchmark and setting, and short names (aliases) of settings."""

    settings: dict[str, dict[str, Values]]
    aliases: dict[str, dict[str, str]]


# keys of settings that name a recipe -> section of recipes.yaml
RECIPES = {"recipe": "finetuning", "reranking": "reranking", "answering": "answering", "calibration": "calibration"}


def check_settings(values: Values, where: str, section: str = "settings") -> None:
    """Raises SteleError for a key that a setting's kind of row lacks, an unknown recipe, or an alias of no setting.

    The plan sees an unknown recipe only where a result is missing. `section` is the key of the settings in the file.
    """
    typed = validate(Settings, values, where)
    for benchmark, settings in typed.settings.items():
        for name, entry in settings.items():
            at = section, benchmark, name
            kind = choice(entry, "kind", sorted(names_held(__name__, "KINDS")), where, at, required=True)
            keys_of_kind = {key: value for key, value in entry.items() if key != "kind"}
            validate(kind_named(kind).Setting, keys_of_kind, where, at, ["kind"])
            for key in RECIPES.keys() & entry.keys():
                _check_recipe(key, entry[key], f"{where}: {'.'.join((*at, key))}")
    for benchmark, aliases in typed.aliases.items():
        for setting in aliases.values():
            check_known("setting", setting, typed.settings.get(benchmark, {}), f"{where}: aliases.{benchmark}")


def _check_recipe(key: str, name: str | None, place: str) -> None:
    section = RECIPES[key]
    if name and key == "recipe":  # without a suffix for the training set's language
        name = name.partition("-")[0]
    if name:
        check_known(recipes.KINDS[section], name, recipes.names(section), place)


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """All rows, and the parts of the plan that a kind of row may use."""

    paths: Paths
    models: Models
    data: Data
    protocols: Protocols
    world: World
    finetuning: Finetuning
    availability: Availability
    calibration: Calibration

    def kind(self, row: RunKey) -> Kind:
        return kind_named(self.protocols.setting(row)["kind"])(self)

    @cached_method
    def problem(self, row: RunKey) -> Problem | None:
        """(state, reason) if a table's row cannot be built, else None: `not built`, `unavailable` or `not in scale`."""
        if not (self.counts(row) or row.model in self.models.all):
            return "not built", f"no rule builds {row.model} yet"
        if not self.protocols.is_known(row):
            return "not built", f"no rule builds {row.benchmark}/{row.setting} yet"
        return self.kind(row).problem(row)

    def is_known(self, row: RunKey) -> bool:
        """Whether a row's model (or counted dataset) and setting exist."""
        return (self.counts(row) or row.model in self.models.all) and self.protocols.is_known(row)

    def counts(self, row: RunKey) -> bool:
        """Whether a row's benchmark counts datasets, so that the row's model is the name of a dataset."""
        entries = self.protocols.settings.get(row.benchmark, {}).values()
        return any(kind_named(entry["kind"]).counts for entry in entries)

    def inputs(self, row: RunKey, seeds: str = "") -> Inputs:
        """Inputs of the row's first job. Raises SteleError with the reason if the row cannot be built."""
        if not self.counts(row):
            self.models[row.model]  # raises for an unknown name
        self.protocols.setting(row)
        if problem := self.problem(row):
            raise SteleError(f"results/{row.path}: {problem[0]}: {problem[1]}")
        return self.kind(row).inputs(row, seeds)

    def left_out(self, row: RunKey) -> dict[str, str]:
        return self.kind(row).left_out(row) if self.is_known(row) else {}

    def languages(self, row: RunKey) -> list[str]:
        """The languages that a row is evaluated in."""
        left_out = self.left_out(row)
        return [code for code in self.data.languages(row.benchmark) if code not in left_out]

    def seeds(self, row: RunKey, chosen: Seeds | None = None) -> list[str]:
        """Names of the seeds of a row's results: the configuration's, or others that a table names."""
        seeds = chosen or self.paths.settings.config.seeds
        return self.kind(row).seeds(row, seeds.pretraining, seeds.finetuning)

    def downloads(self, row: RunKey) -> set[str]:
        """Records of all datasets and checkpoints that a row needs."""
        return self.fetched(self.kind(row).reads(row), self.kind(row).checkpoints(row))

    def fetched(self, reads: Reads, models: Iterable[str]) -> set[str]:
        """Records of some data and of the checkpoints of some models, each once."""
        return set(map(self.paths.checkpoint, models)).union(*(records.values() for records in reads.values()))

    def scored(self, row: RunKey, seeds: str) -> str:
        """Record of the output of a row's job, such as its run, which is then scored."""
        return self.paths.results(f"{row.path}/{seeds}/{self.kind(row).scored}.json")

    # --- tables and figures -------------------------------------------------------------------------------------------
    def added_models(self, spec: Path) -> list[str]:
        """Models of config.yaml that get an extra row in a table although its spec does not name them."""
        tables = {key: model.tables for key, model in self.models.all.items() if model.tables}
        names = {f"{spec.parent.name}/{int(spec.stem.removeprefix('table_'))}"}
        if any("all" in chosen for chosen in tables.values()) and accepts_rows(load_spec(spec)):
            names.add("all")
        return [key for key, chosen in tables.items() if names.intersection(chosen)]

    @cached_property
    def shown(self) -> dict[RunKey, set[str]]:
        """Languages that the tables and figures of all papers show, by row; a row's jobs do not depend on `papers:`."""
        config, languages = self.paths.settings.config, defaultdict(set)
        elsewhere = [Path(paper) for paper in config.papers if "/" in paper]
        for folder in (*PAPER_TABLES.glob("*/"), *elsewhere):
            values = [value for path in folder.glob("figure_*.yaml") for value in load_figure(path).references()]
            for spec in folder.glob("table_*.yaml"):
                values += references(load_spec(spec), config.recompute, self.added_models(spec))
            for value in values:
                languages[value.result] |= {*value.languages}
        return languages

    # --- wildcards ----------------------------------------------------------------------------------------------------
    def benchmarks_of(self, rule: str) -> str:
        """Regex of the wildcard `benchmark` for the rule that makes runs; it looks ahead to the setting in the path."""
        return _one_of(self._settings(lambda kind: kind.rule == rule))

    def benchmarks_of_no_other(self, rule: str) -> str:
        """Regex of the wildcard for the rule that also reports unknown names: all runs that no other rule makes."""
        return _excluding(self._settings(lambda kind: kind.rule != rule))

    @property
    def scored_benchmarks(self) -> str:
        """Regex of the wildcard for the rule that scores; it matches unknown names too."""
        return _excluding(self._settings(lambda kind: kind.scored is None))

    @property
    def alias_benchmarks(self) -> str:
        """Regex of the wildcard for paths that name a setting by its alias."""
        return _one_of(self._aliases)

    @property
    def averaged_benchmarks(self) -> str:
        """Regex of the wildcard for paths with a full setting name, of rows with seeds; it matches unknown names."""
        return _excluding([*self._aliases, *self._settings(lambda kind: kind.counts)])

    @property
    def _aliases(self) -> list[tuple[str, str]]:
        return [(benchmark, alias) for benchmark, names in self.protocols.aliases.items() for alias in names]

    def _settings(self, fits: Callable[[type[Kind]], bool]) -> list[tuple[str, str]]:
        """(benchmark, setting) of all settings whose kind fits."""
        return [
            (benchmark, name)
            for benchmark, settings in self.protocols.settings.items()
            for name, entry in settings.items()
            if fits(kind_named(entry["kind"]))
        ]


def _excluding(settings: Iterable[tuple[str, str]]) -> str:
    return f"(?!{_one_of(settings)})[a-z0-9_]+"


def _one_of(settings: Iterable[tuple[str, str]]) -> str:
    """Regex that matches the benchmark in `benchmark/model/setting`, if "/" or a suffix follows the setting.

    >>> re.fullmatch(_one_of([("nq", "direct")]) + "/.*", "nq/msm/direct/pt0-ft0") is not None
    True
    """
    names: dict[str, list[str]] = {}
    for benchmark, setting in settings:
        names.setdefault(benchmark, []).append(re.escape(setting))
    return "|".join(f"{b}(?=/[^/]+/(?:{'|'.join(sorted(set(own)))})[/.])" for b, own in sorted(names.items()))
