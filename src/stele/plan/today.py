"""The tables and the figure of today's encoders: built when they are asked for, beside those of the chosen papers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from stele.artifacts.results import RunKey
from stele.plan.figures import Figures
from stele.plan.models import Problem
from stele.plan.rows import Rows
from stele.plan.tables import Tables
from stele.plan.world import World

TODAY = "today"  # the folder of their specs


@dataclass(frozen=True, eq=False, repr=False)
class RowsOfToday(Rows):
    """Rows that these tables build: at a generated scale none of a public checkpoint that has no stand-in.

    Such a result is still built when it is asked for by name, from the hub.
    """

    world: World

    def problem(self, row: RunKey) -> Problem | None:
        return super().problem(row) or self._without_standin(row.model)

    def _without_standin(self, model: str) -> Problem | None:
        settings, root = self.below.paths.settings, self.models.root(model)
        own = settings.config.models.get(root)
        if not settings.generated or self.world.standin(root) or (own and own.checkpoint):
            return None
        if "checkpoint" not in self.models.checkpoint_source(root):
            return None
        return "not in scale", f"no stand-in for its checkpoint at the scale {settings.scale_folder}"


class Today(NamedTuple):
    """The parts of the plan for them, like those for the papers."""

    tables: Tables
    figures: Figures


def make_today(rows: Rows, world: World) -> Today:
    """The plan of these tables, beside the rows of all others."""
    own, below = RowsOfToday(rows.below, world), rows.below
    tables = Tables(below.paths, below.models, below.protocols, own, (TODAY,))
    return Today(tables, Figures(below.paths, below.protocols, own, (TODAY,)))
