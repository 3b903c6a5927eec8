"""Retrieval: how a row's texts are encoded, and the inputs of the jobs that encode and search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stele import catalogue
from stele.artifacts.row import Row
from stele.catalogue.schema.costs import Checkpoint
from stele.errors import SteleError, unknown
from stele.plan.calibration import Calibration
from stele.plan.models import Models
from stele.plan.params import as_json, flags
from stele.plan.paths import Inputs, Paths
from stele.plan.protocols import Protocols
from stele.plan.rows import Rows
from stele.plan.world import World
from stele.recipes.encoding import BENCHMARK, SomeEncoding

ENCODED = {"vectors": "record.json", "numbers": "vectors.npy", "ids": "ids.npy"}  # inputs of a search
PROJECTED = "tatoeba"  # the benchmark whose pairs a figure draws


def row_of(w) -> Row:
    """The row that a job's wildcards name."""
    return Row(w.benchmark, w.model, w.setting)


def projected(w) -> Row:
    """The row whose vectors a projection's wildcards name."""
    return Row(PROJECTED, w.model, w.setting)


def direct(w) -> Row:
    """The row of a benchmark and a model that is evaluated as it is."""
    return Row(w.benchmark, w.model, "direct")


@dataclass(frozen=True, eq=False, repr=False)
class Retrieval:
    paths: Paths
    models: Models
    protocols: Protocols
    world: World
    rows: Rows
    calibrations: Calibration

    # --- how texts are encoded ----------------------------------------------------------------------------------------
    def encodings(self, benchmark: str, model: str) -> dict[str, dict[str, Any]]:
        """How vectors are made, by who says it (`recipes.encoding.ORIGINS`), each key once; a folder may say otherwise.

        A model's own words, or those of the one it was trained from, come before the scale's and the protocol's, unless
        the protocol has a pooling of its own, or an encoding of its own for large models: those that have, or were
        trained from one that has, so many layers. One of today's encoders reads a title and a text as one text, where
        the protocol has them as a pair: that is what papers fine-tune their dual encoders on.
        """
        entry = self.protocols.data.benchmark(benchmark)
        if entry.encoding is None:
            raise SteleError(
                f"benchmark {benchmark}: no encoder makes vectors of its texts; its models are trained for it"
            )
        protocol, scale = entry.encoding.given(), self.paths.settings.sizes.encoding.given()
        root, large = self.models.root(model), entry.large
        said = [(origin, values) for name in dict.fromkeys((model, root)) for origin, values in self.models.says(name)]
        complete = self.models[root].is_complete
        if complete and protocol.get("passage_format") == "title_text_pair":
            protocol = {**protocol, "passage_format": "title_text"}
        if entry.pooling and not complete and any("pooling" in values for _, values in said):
            said.insert(0, (BENCHMARK, {"pooling": entry.pooling}))
        if large and large.of == _public_layers(root) and not complete:
            layer = self.world.layer(root, large.layer, large.of)
            said.insert(0, (BENCHMARK, {"pooling": large.pooling, "layer": layer}))
        by_origin: dict[str, dict[str, Any]] = {}
        decided: set[str] = set()
        for origin, values in (*said, ("scale", scale), (BENCHMARK, protocol)):
            new = {key: value for key, value in values.items() if key not in decided}
            if new:
                by_origin.setdefault(origin, {}).update(new)
            decided |= new.keys()
        return by_origin

    def encoding(self, benchmark: str, model: str) -> SomeEncoding:
        """The same without who says it."""
        return SomeEncoding(**{k: v for values in self.encodings(benchmark, model).values() for k, v in values.items()})

    def encoding_json(self, benchmark: str, model: str) -> str:
        """The same, by who says it, as a command is given it."""
        return as_json(self.encodings(benchmark, model))

    def calibrated_benchmark(self, recipe: str) -> str:
        """The benchmark whose vectors a calibration is learnt of: they are made alike in all that it is for."""
        return self.calibrations.benchmarks(recipe)[0]

    def windows(self, row: Row) -> str:
        """The option by which documents are encoded in windows; none where passages are encoded as they are."""
        own, protocol = self.protocols.windows(row), self.protocols.data.benchmark(row.benchmark).windows
        windows = own or (protocol and protocol.given())
        return flags({"windows": as_json(windows)}) if windows else ""

    def field(self, row: Row) -> str:
        """The option that says which field of topics is the query; none where it is the collection's own."""
        return flags({"field": self.protocols.setting(row.benchmark, row.setting).get("field")})

    # --- jobs ---------------------------------------------------------------------------------------------------------
    def data(self, w) -> dict[str, str]:
        """`dataset:part` -> record of what is encoded or indexed."""
        return self.protocols.searched(row_of(w))

    def languages(self, w) -> list[str]:
        return self.rows.languages(row_of(w))

    def calibration(self, row: Row, seeds: str) -> str:
        """The options by which vectors are calibrated; none where a setting takes them as they are."""
        own = self.protocols.setting(row.benchmark, row.setting)
        if "calibration" not in own:
            return ""
        learnt = self.paths.calibration(row.model, own["calibration"], seeds)
        return flags({"calibration": learnt, "operation": own["operation"]})

    def inputs(self, w) -> Inputs:
        if w.setting in self.protocols.of_kind("vectors", w.benchmark):
            raise SteleError(f"results/{row_of(w).path}: its texts are encoded in pairs; ask for vectors.json")
        # all files are named, since the workflow removes those that no job is going to read
        before = {name: self.encoded_before(w, file) for name, file in ENCODED.items()}
        return {**self.rows.inputs(row_of(w), w.seeds), **{name: paths for name, paths in before.items() if paths}}

    def encoded_before(self, w, file: str) -> list[str]:
        """A file of each of a search's collections that jobs of their own encode, for several benchmarks."""
        benchmark, data = self.protocols.data.benchmark(w.benchmark).collections_of, self.protocols.data
        if not benchmark:
            return []
        path = self.paths.vectors(file)
        names = {"benchmark": benchmark, "model": w.model, "setting": w.setting, "seeds": w.seeds}
        return [path.format(**names, collection=part) for part in data.read_languages(w.benchmark)]

    def vectors(self, w) -> list[str]:
        """The records of the collections that jobs of their own encode; none where the search does it."""
        return self.encoded_before(w, ENCODED["vectors"])

    def collection_inputs(self, w) -> Inputs:
        """Of the encoding of one collection, which several benchmarks search."""
        return {**self.rows.inputs(row_of(w), w.seeds), "data": list(self.collection_data(w).values())}

    def collection_data(self, w) -> dict[str, str]:
        """`dataset:part` -> record of one collection."""
        return self.protocols.data.records(self.protocols.data.benchmark(w.benchmark).data, [w.collection])

    def pair_inputs(self, w) -> Inputs:
        """Of a row whose vectors count, not its rankings."""
        settings = self.protocols.of_kind("vectors", w.benchmark)
        if w.setting not in settings:
            raise unknown("setting of vectors", w.setting, settings, f"results/{w.benchmark}")
        return self.rows.inputs(row_of(w), w.seeds)

    def layer_inputs(self, w) -> Inputs:
        """Of the accuracy by layer: as of the search with the model as it is."""
        return self.rows.inputs(direct(w), w.seeds)

    def projection_inputs(self, w) -> Inputs:
        row = projected(w)
        problem = self.rows.problem(row)
        if problem is None and w.language not in self.rows.languages(row):
            reason = self.rows.left_out(row).get(w.language)
            outside = "not in scale", f"{w.language} is not among the languages of this run"
            problem = ("unavailable", reason) if reason else outside
        if problem:
            raise SteleError(f"projection of {row.name}: {problem[0]}: {problem[1]}")
        return {**self.rows.inputs(row, w.seeds), "data": list(self.projection_data(w).values())}

    def projection_data(self, w) -> dict[str, str]:
        return self.protocols.data.records([PROJECTED], [w.language])

    def kept_index(self, w) -> str | None:
        """The folder in which the index of a search is kept, None where it is not, or where another job makes it."""
        if not self.paths.settings.config.keep_index or self.vectors(w):
            return None
        return self.paths.work(f"index/{row_of(w).path}/{w.seeds}")


def _public_layers(root: str) -> int | None:
    """The layers of a public checkpoint; None of one that the catalogue does not know."""
    known = catalogue.entries(Checkpoint).get(root)
    return known.layers if known else None
