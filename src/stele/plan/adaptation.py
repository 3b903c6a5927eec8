"""An adaptation: the encoder as it was, the models trained from it, their rows, and what its jobs read."""

from __future__ import annotations

from dataclasses import dataclass

from stele.artifacts.results import RunKey
from stele.catalogue import whole
from stele.catalogue.schema.adaptation import AdaptationRules
from stele.config.model import Adaptation
from stele.errors import SteleError
from stele.plan.mining import Mining
from stele.plan.models import Models
from stele.plan.paths import HELD_OUT, Inputs, Paths, as_json, pretraining_seed
from stele.plan.pretraining import Pretraining
from stele.plan.retrieval import Retrieval
from stele.plan.rows import Rows
from stele.plan.scoring import Cards

STORE = "mlm"  # whose documents every method and the control read


@dataclass(frozen=True, eq=False, repr=False)
class AdaptationParts:
    paths: Paths
    models: Models
    mining: Mining
    pretraining: Pretraining
    rows: Rows
    cards: Cards
    retrieval: Retrieval

    @property
    def values(self) -> Adaptation:
        """The key `adapt` of config.yaml; without it an error."""
        if adapt := self.paths.settings.config.adapt:
            return adapt
        raise SteleError("config.yaml: adapt: empty; `stele adapt` writes it into adapt/NAME.yaml, for --configfile")

    @property
    def rules(self) -> AdaptationRules:
        """What the commands read themselves: each has what it reads among its params."""
        return whole(AdaptationRules)

    def trained(self) -> list[str]:
        """The models that are trained: one a method, and the control."""
        return [*self.values.methods, self.values.control]

    def keys(self) -> list[RunKey]:
        """The rows that are compared; one that cannot be built is an error that says why."""
        names = [self.values.base, *self.trained()]
        rows = [RunKey(name, model, self.cards.setting(name)) for name in self.values.benchmarks for model in names]
        for row in rows:
            if problem := self.rows.problem(row):
                raise SteleError(f"{row.name}: {', '.join(problem)}")
        return rows

    def results(self) -> list[str]:
        """The results of all seeds of all rows."""
        return [self.paths.seed_result(row, seeds) for row in self.keys() for seeds in self.rows.seeds(row)]

    def runs(self) -> dict[str, list[str]]:
        """model -> its seeds of pretraining; of the encoder as it was one, which says nothing."""
        rows = {row.model: row for row in self.keys()}
        return {
            model: list(dict.fromkeys(pretraining_seed(seeds) for seeds in self.rows.seeds(row)))
            for model, row in rows.items()
        }

    def encoders(self) -> dict[str, str]:
        """`model:seed` -> the record of a pretraining."""
        runs = self.runs()
        return {f"{model}:{seed}": self.models.encoder(model, seed) for model in self.trained() for seed in runs[model]}

    def neighbours(self) -> dict[str, str]:
        """`model:seed` -> the record of the sentences' neighbours that an encoder finds."""
        return {
            f"{model}:{seed}": self.paths.neighbours(model, seed)
            for model, seeds in self.runs().items()
            for seed in seeds
        }

    def settings(self) -> str:
        """What the verdict compares, as JSON."""
        benchmarks = {
            name: {"setting": self.cards.setting(name), "metric": self.cards.data.benchmark(name).metrics[0]}
            for name in self.values.benchmarks
        }
        seeds = self.paths.settings.config.seeds.pretraining
        return as_json({**self.values.model_dump(), "benchmarks": benchmarks, "seeds": seeds})

    def leakage(self) -> dict[str, str]:
        """benchmark -> the record of which of its texts stand in the documents."""
        return {name: self.paths.leakage(name, self.values.methods[0]) for name in self.values.benchmarks}

    # --- held-out documents -------------------------------------------------------------------------------------------
    def held_out(self) -> dict[str, str]:
        """language -> the record of the documents that no method reads."""
        first = self.values.methods[0]
        store = self.pretraining.stores(first).get(STORE) or next(iter(self.pretraining.stores(first).values()))
        return {
            code: self.paths.split(HELD_OUT, self.mining.corpus(store, code), code)
            for code in self.pretraining.languages(first)
        }

    def encoding(self, model: str) -> str:
        """The value of --encoding, of no benchmark."""
        return as_json(self.retrieval.encodings(None, model))

    # --- jobs ---------------------------------------------------------------------------------------------------------
    def inputs(self, w) -> Inputs:
        return {
            "results": self.results(),
            "encoders": list(self.encoders().values()),
            "neighbours": list(self.neighbours().values()),
            "leakage": list(self.leakage().values()),
            "documents": self.pretraining.documents(self.values.methods[0]),
        }
