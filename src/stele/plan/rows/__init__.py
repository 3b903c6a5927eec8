"""Kinds of rows, one a file: why a row cannot be built, what its job reads, its seeds, what it needs from outside.

A setting names its kind in settings.yaml. A file of this package says in `KINDS` which are its own; `Rows` looks up the
kind of a row's setting.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple, Protocol

from stele.artifacts.row import Row
from stele.catalogue.schema import choice
from stele.errors import SteleError, unknown
from stele.files.strict import Strict, Values, validate
from stele.plan.availability import Availability
from stele.plan.calibration import Calibration
from stele.plan.data import Data
from stele.plan.finetuning import Finetuning
from stele.plan.models import Models, Problem
from stele.plan.paths import Inputs, Paths
from stele.plan.per_instance import once
from stele.plan.protocols import Protocols
from stele.plan.shown import Shown
from stele.plan.sources import Sources
from stele.registry import Registry, module_names


class Below(NamedTuple):
    """The parts of the plan that a kind of row may use."""

    paths: Paths
    models: Models
    data: Data
    protocols: Protocols
    finetuning: Finetuning
    availability: Availability
    sources: Sources
    calibration: Calibration
    shown: Shown


class Kind(Protocol):
    """What a kind of row answers; it is made of the parts below it. `Setting` types its entries of settings.yaml."""

    Setting: type[Strict]

    def problem(self, row: Row) -> Problem | None:
        """(state, reason) when a row cannot be built: `not built`, `unavailable` or `not in scale`."""

    def left_out(self, row: Row) -> dict[str, str]:
        """language of the benchmark that a row is not evaluated in, though it is in scale -> why."""

    def inputs(self, row: Row, seeds: str) -> Inputs:
        """What the job reads that makes the row's run, vectors or count."""

    def seeds(self, row: Row) -> list[str]:
        """The seeds of its results, as in the names of their files."""

    def downloads(self, row: Row) -> set[str]:
        """The records of all datasets and checkpoints that it needs."""


@cache
def _kinds() -> Registry[type[Kind]]:
    """The kinds of all files of this package, by name."""
    kinds: Registry[type[Kind]] = Registry("kind of row")
    for name in module_names(__name__):
        for kind, of_kind in importlib.import_module(f"{__name__}.{name}").KINDS.items():
            kinds.register(kind)(of_kind)
    return kinds


def kind_of(below: Below, row: Row) -> Kind:
    """The kind of a row's setting, for kinds that are made of others."""
    return _kinds().get(below.protocols.setting(row.benchmark, row.setting)["kind"])(below)


class Settings(Strict):
    """settings.yaml: what settings mean, by benchmark and setting, and their short names."""

    settings: dict[str, dict[str, Values]]
    aliases: dict[str, dict[str, str]]


def check_settings(values: Values, where: str) -> None:
    """Refuses a setting that its kind of row does not know so, and a short name of none."""
    typed = validate(Settings, values, where)
    for benchmark, settings in typed.settings.items():
        for name, entry in settings.items():
            at = "settings", benchmark, name
            kind = choice(entry, "kind", _kinds().names(), where, at, required=True)
            own = {key: value for key, value in entry.items() if key != "kind"}
            validate(_kinds().get(kind).Setting, own, where, at, ["kind"])
    for benchmark, aliases in typed.aliases.items():
        for setting in aliases.values():
            if setting not in (valid := typed.settings.get(benchmark, {})):
                raise unknown("setting", setting, valid, f"{where}: aliases.{benchmark}")


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    below: Below

    @cached_property
    def kinds(self) -> Registry[Kind]:
        kinds: Registry[Kind] = Registry("kind of row")
        for name in _kinds().names():
            kinds.register(name)(_kinds().get(name)(self.below))
        return kinds

    @property
    def protocols(self) -> Protocols:
        return self.below.protocols

    @property
    def models(self) -> Models:
        return self.below.models

    def kind(self, row: Row) -> Kind:
        """The kind of a row's setting."""
        return self.kinds.get(self.protocols.setting(row.benchmark, row.setting)["kind"])

    @once
    def problem(self, row: Row) -> Problem | None:
        """(state, reason) when a row of a table cannot be built: `not built`, `unavailable` or `not in scale`."""
        if not (self.counts(row) or row.model in self.models.all):
            return "not built", f"no rule builds {row.model} yet"
        if not self.is_known(row):
            return "not built", f"no rule builds {row.benchmark}/{row.setting} yet"
        return self.kind(row).problem(row)

    def is_known(self, row: Row) -> bool:
        """Whether the model (or the counted dataset) and the setting are names that there are."""
        return (self.counts(row) or row.model in self.models.all) and self.protocols.is_known(
            row.benchmark, row.setting
        )

    def counts(self, row: Row) -> bool:
        """Whether a row's benchmark counts datasets, which stand where others have models."""
        return bool(self.protocols.of_kind("statistics", row.benchmark))

    def inputs(self, row: Row, seeds: str = "") -> Inputs:
        """What the row's first job reads; a row that cannot be built is an error with the reason."""
        if not self.counts(row):
            self.models[row.model]  # an unknown name is said with the nearest
        self.protocols.setting(row.benchmark, row.setting)
        if problem := self.problem(row):
            raise SteleError(f"results/{row.path}: {problem[0]}: {problem[1]}")
        return self.kind(row).inputs(row, seeds)

    def left_out(self, row: Row) -> dict[str, str]:
        """language of the benchmark that a row is not evaluated in, though it is in scale -> why."""
        return self.kind(row).left_out(row) if self.is_known(row) else {}

    def languages(self, row: Row) -> list[str]:
        """The languages that a row is evaluated in."""
        left_out = self.left_out(row)
        return [code for code in self.below.data.languages(row.benchmark) if code not in left_out]

    def seeds(self, row: Row) -> list[str]:
        return self.kind(row).seeds(row)

    def downloads(self, row: Row) -> set[str]:
        return self.kind(row).downloads(row)
