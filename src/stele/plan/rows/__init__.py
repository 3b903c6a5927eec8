"""Kinds of rows, one a file: why a row cannot be built, what its job reads, its seeds, what it needs from outside.

A setting names its kind in settings.yaml. A kind has `problem(row)`, `inputs(row, seeds)`, `seeds(row)` and
`downloads(row)`; `Rows` asks the kind of a row's setting.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from stele.artifacts.row import Row
from stele.errors import SteleError, unknown
from stele.plan.models import Models, Problem
from stele.plan.per_instance import once
from stele.plan.protocols import Protocols


class Kind(Protocol):
    """What is asked of a kind of row."""

    def problem(self, row: Row) -> Problem | None:
        """(state, reason) when a row cannot be built: `not built`, `unavailable` or `not in scale`."""

    def inputs(self, row: Row, seeds: str) -> dict[str, Any]:
        """What the job reads that makes the row's run, vectors or count."""

    def seeds(self, row: Row) -> list[str]:
        """The seeds of its results, as in the names of their files."""

    def downloads(self, row: Row) -> set[str]:
        """The records of all datasets and checkpoints that it needs."""


@dataclass(frozen=True, eq=False)
class Rows:
    models: Models
    protocols: Protocols
    kinds: Mapping[str, Kind]

    def kind(self, row: Row) -> Kind:
        name = self.protocols.setting(row.benchmark, row.setting)["kind"]
        if name not in self.kinds:
            raise unknown("kind", name, self.kinds, f"settings.yaml: {row.benchmark}.{row.setting}")
        return self.kinds[name]

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

    def inputs(self, row: Row, seeds: str = "") -> dict[str, Any]:
        """What the row's first job reads; a row that cannot be built is an error with the reason."""
        if not self.counts(row):
            self.models[row.model]  # an unknown name is said with the nearest
        self.protocols.setting(row.benchmark, row.setting)
        if problem := self.problem(row):
            raise SteleError(f"results/{row.path}: {problem[0]}: {problem[1]}")
        return self.kind(row).inputs(row, seeds)

    def seeds(self, row: Row) -> list[str]:
        return self.kind(row).seeds(row)

    def downloads(self, row: Row) -> set[str]:
        return self.kind(row).downloads(row)
