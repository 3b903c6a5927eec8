"""Retrieval: how a row's texts are encoded, and the inputs of the jobs that encode and search."""

from collections import ChainMap
from dataclasses import dataclass
from typing import Any

from stele import catalogue
from stele.artifacts.results import RunKey
from stele.catalogue.schema.costs import Checkpoint
from stele.errors import SteleError, unknown
from stele.plan.paths import Inputs, as_json, flags
from stele.plan.rows import Rows
from stele.recipes.encoding import BENCHMARK, SomeEncoding

ENCODED = {"vectors": "record.json", "numbers": "vectors.npy", "ids": "ids.npy"}  # inputs of a search
PROJECTED = "tatoeba"  # the benchmark of the figures of projected pairs


def row_of(w) -> RunKey:
    """The row that a job's wildcards name."""
    return RunKey(w.benchmark, w.model, w.setting)


def projected(w) -> RunKey:
    """The row whose vectors a projection's wildcards name."""
    return RunKey(PROJECTED, w.model, w.setting)


@dataclass(frozen=True, eq=False, repr=False)
class Retrieval:
    rows: Rows

    def encodings(self, benchmark: str | None, model: str) -> dict[str, dict[str, Any]]:
        """The keys of a model's encoding by origin. Of several origins with a key, the first one below decides it.

        The encoder's folder comes between 2 and 4, when the encoder is loaded (`stele.encoders.resolve`). With
        `benchmark` None, only the keys that hold for all benchmarks. Raises SteleError for a benchmark whose texts no
        encoder encodes.
        """
        root = self.rows.models.root(model)
        complete = self.rows.models[root].is_complete  # one of today's encoders, evaluated unchanged
        overrides = self.rows.models.encoding_overrides(model)
        entry = self.rows.data.benchmark(benchmark) if benchmark else None
        if entry and entry.encoding is None:
            raise SteleError(
                f"benchmark {benchmark}: its models are trained for the task, so no encoder encodes its texts"
            )
        layers: list[tuple[str, dict[str, Any]]] = []

        # 1. for models that are no complete encoders: the benchmark's own encoding of large ones (which have as many
        #    layers, or were trained from one that has), and its own pooling where another origin has one
        if entry and not complete:
            large, public = entry.large, catalogue.entries(Checkpoint).get(root)
            if large and public and public.layers == large.of:
                layer = self.rows.world.layer(root, large.layer, large.of)
                layers.append((BENCHMARK, {"pooling": large.pooling, "layer": layer}))
            if entry.pooling and any("pooling" in values for _, values in overrides):
                layers.append((BENCHMARK, {"pooling": entry.pooling}))

        # 2. config.yaml and models.yaml, of the model and of the one that it was trained from
        layers += overrides

        # 4. the scale; 5. the protocol, whose pair of title and text is one text to a complete encoder
        if entry:
            protocol = entry.encoding.given()
            if complete and protocol.get("passage_format") == "title_text_pair":
                protocol = {**protocol, "passage_format": "title_text"}
            layers += [("scale", self.rows.paths.settings.sizes.encoding.given()), (BENCHMARK, protocol)]

        by_origin: dict[str, dict[str, Any]] = {}
        decided: set[str] = set()
        for origin, values in layers:
            for key, value in values.items():
                if key not in decided:
                    by_origin.setdefault(origin, {})[key] = value
            decided |= values.keys()
        return by_origin

    def encoding(self, benchmark: str, model: str) -> SomeEncoding:
        """The keys of the encoding that are decided before the encoder's folder is read."""
        return SomeEncoding(**ChainMap(*self.encodings(benchmark, model).values()))

    def windows(self, row: RunKey) -> str:
        """The option --windows, to encode documents in windows; empty if passages are encoded whole."""
        protocol = self.rows.data.benchmark(row.benchmark).windows
        windows = self.rows.protocols.setting(row).get("windows") or (protocol and protocol.given())
        return flags({"windows": as_json(windows)}) if windows else ""

    def field(self, row: RunKey) -> str:
        """The option --field, the field of a topic that is the query; empty for the collection's default field."""
        return flags({"field": self.rows.protocols.setting(row).get("field")})

    def data(self, w) -> dict[str, str]:
        """Records by `dataset:part` of the texts that are encoded or indexed."""
        return self.rows.protocols.searched(row_of(w))

    def calibration(self, row: RunKey, seeds: str) -> str:
        """The options --calibration and --operation; empty if the setting does not calibrate vectors."""
        entry = self.rows.protocols.setting(row)
        if "calibration" not in entry:
            return ""
        learnt = self.rows.paths.calibration(row.model, entry["calibration"], seeds)
        return flags({"calibration": learnt, "operation": entry["operation"]})

    def inputs(self, w) -> Inputs:
        if self._gives_vectors(row_of(w)):
            raise SteleError(f"results/{row_of(w).path}: its texts are encoded in pairs; ask for vectors.json")
        # all files are named, since the workflow removes those that no job is going to read
        before = {name: self.encoded_before(w, file) for name, file in ENCODED.items()}
        return {**self.rows.inputs(row_of(w), w.seeds), **{name: paths for name, paths in before.items() if paths}}

    def encoded_before(self, w, file: str) -> list[str]:
        """Paths of `file` for each collection that a job of its own encodes because several benchmarks search it."""
        benchmark, data = self.rows.data.benchmark(w.benchmark).collections_of, self.rows.data
        if not benchmark:
            return []
        path = self.rows.paths.vectors(file)
        names = {"benchmark": benchmark, "model": w.model, "setting": w.setting, "seeds": w.seeds}
        return [path.format(**names, collection=part) for part in data.read_languages(w.benchmark)]

    def vectors(self, w) -> list[str]:
        """Records of the collections that separate jobs encode; empty if the search encodes them itself."""
        return self.encoded_before(w, ENCODED["vectors"])

    def collection_inputs(self, w) -> Inputs:
        """Inputs of the job that encodes one collection, which several benchmarks search."""
        return {**self.rows.inputs(row_of(w), w.seeds), "data": list(self.collection_data(w).values())}

    def collection_data(self, w) -> dict[str, str]:
        """Records of one collection by `dataset:part`."""
        return self.rows.data.records(self.rows.data.benchmark(w.benchmark).data, [w.collection])

    def pair_inputs(self, w) -> Inputs:
        """Inputs of the job of a row that is scored by its vectors. Raises SteleError if the setting has rankings."""
        if not self._gives_vectors(row_of(w)):
            rows = [row_of(w)._replace(setting=name) for name in self.rows.protocols.settings.get(w.benchmark, {})]
            valid = [row.setting for row in rows if self._gives_vectors(row)]
            raise unknown("setting of vectors", w.setting, valid, f"results/{w.benchmark}")
        return self.rows.inputs(row_of(w), w.seeds)

    def _gives_vectors(self, row: RunKey) -> bool:
        """Whether a row's job gives vectors of pairs instead of rankings."""
        return self.rows.protocols.is_known(row) and self.rows.kind(row).scored == "vectors"

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
        return self.rows.data.records([PROJECTED], [w.language])

    def kept_index(self, w) -> str | None:
        """The folder that keeps the index of a search; None if it is not kept or another job encodes the collection."""
        if not self.rows.paths.settings.config.keep_index or self.vectors(w):
            return None
        return self.rows.paths.work(f"index/{row_of(w).path}/{w.seeds}")
