"""Retrieval: how a row's texts are encoded, and the inputs of the jobs that encode and search."""

from __future__ import annotations

from dataclasses import dataclass

from stele.artifacts.row import Row
from stele.errors import SteleError, unknown
from stele.plan.models import Models
from stele.plan.paths import Inputs, Paths
from stele.plan.protocols import Protocols
from stele.plan.rows import Rows
from stele.plan.world import World
from stele.recipes.encoding import SomeEncoding

PROJECTED = "tatoeba"  # the benchmark whose pairs a figure draws


def row_of(w) -> Row:
    """The row that a job's wildcards name."""
    return Row(w.benchmark, w.model, w.setting)


@dataclass(frozen=True, eq=False)
class Retrieval:
    paths: Paths
    models: Models
    protocols: Protocols
    world: World
    rows: Rows

    # --- how texts are encoded ----------------------------------------------------------------------------------------
    def encoding(self, benchmark: str, model: str) -> SomeEncoding:
        """How vectors are made where the encoder's folder does not say.

        The protocol's lengths, and the pooling of the model or of the one it was trained from, unless the protocol has
        an encoding of its own for large models.
        """
        entry = self.protocols.data.benchmark(benchmark)
        protocol = {**entry.encoding.given(), **self.paths.settings.sizes.encoding.given()}
        own = {**self.models[self.models.root(model)].encoding.given(), **self.models[model].encoding.given()}
        large = entry.large
        if large and model in large.models:
            own |= {"pooling": large.pooling, "layer": self.world.layer(model, large.layer, large.of)}
        return SomeEncoding(**{**protocol, **own})

    def modules(self, benchmark: str) -> list[str]:
        """The module that reads a benchmark."""
        return [f"benchmarks.{benchmark}"]

    # --- jobs ---------------------------------------------------------------------------------------------------------
    def data(self, w) -> dict[str, str]:
        """`dataset:part` -> record of what is encoded or indexed."""
        return self.protocols.searched(row_of(w))

    def inputs(self, w) -> Inputs:
        if w.setting in self.protocols.of_kind("vectors", w.benchmark):
            raise SteleError(f"results/{row_of(w).path}: ranks nothing; its record is vectors.json")
        return self.rows.inputs(row_of(w), w.seeds)

    def pair_inputs(self, w) -> Inputs:
        """Of a row whose vectors count, not its rankings."""
        settings = self.protocols.of_kind("vectors", w.benchmark)
        if w.setting not in settings:
            raise unknown("setting of vectors", w.setting, settings, f"results/{w.benchmark}")
        return self.rows.inputs(row_of(w), w.seeds)

    def projection_inputs(self, w) -> Inputs:
        row = Row(PROJECTED, w.model, w.setting)
        problem = self.rows.problem(row)
        if problem is None and w.language not in self.protocols.data.languages(PROJECTED):
            problem = "not in scale", f"{w.language} is not among the languages of this run"
        if problem:
            raise SteleError(f"projection of {row.name}: {problem[0]}: {problem[1]}")
        encoder = self.rows.inputs(row, w.seeds)["encoder"]
        return {"encoder": encoder, "data": list(self.projection_data(w).values())}

    def projection_data(self, w) -> dict[str, str]:
        return self.protocols.data.records([PROJECTED], [w.language])

    def kept_index(self, w) -> str | None:
        """The folder in which the index of a search is kept, None where it is not."""
        if not self.paths.settings.config.keep_index:
            return None
        return self.paths.work(f"index/{row_of(w).path}/{w.seeds}")
