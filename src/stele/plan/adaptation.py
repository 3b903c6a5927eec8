"""The plan of `stele adapt`: the base encoder, the models trained from it, their rows, and the inputs of its jobs."""

from dataclasses import dataclass

from stele.artifacts.results import RunKey
from stele.catalogue import whole
from stele.catalogue.schema.adaptation import AdaptationRules
from stele.config.model import Adaptation
from stele.errors import SteleError
from stele.plan.paths import HELD_OUT, as_json, pretraining_seed
from stele.plan.pretraining import Pretraining
from stele.plan.rows import Rows
from stele.plan.scoring import Cards

STORE = "mlm"  # its mining recipe reads the documents that all methods and the control train on


@dataclass(frozen=True, eq=False, repr=False)
class AdaptationParts:
    pretraining: Pretraining
    rows: Rows
    cards: Cards

    @property
    def values(self) -> Adaptation:
        """The value of `adapt` in config.yaml. Raises SteleError if the key is missing."""
        if adapt := self.rows.paths.settings.config.adapt:
            return adapt
        raise SteleError("config.yaml: adapt: missing; give --configfile adapt/NAME.yaml, which `stele adapt` writes")

    @property
    def rules(self) -> AdaptationRules:
        """Fixed rules of an adaptation. Commands read them from the catalogue; each job's params list those it uses."""
        return whole(AdaptationRules)

    def trained(self) -> list[str]:
        """The models that are trained: one per method, and the control."""
        return [*self.values.methods, self.values.control]

    def keys(self) -> list[RunKey]:
        """The rows that are compared. Raises SteleError with the reason if one of them cannot be built."""
        names = [self.values.base, *self.trained()]
        return self.cards.untrained_rows(self.values.benchmarks, names)

    def results(self) -> list[str]:
        """The results of all seeds of all rows."""
        return [self.rows.paths.seed_result(row, seeds) for row in self.keys() for seeds in self.rows.seeds(row)]

    def runs(self) -> dict[str, list[str]]:
        """Pretraining seeds by model. The base encoder has a single placeholder seed, since it is not trained."""
        rows = {row.model: row for row in self.keys()}
        return {
            model: list(dict.fromkeys(pretraining_seed(seeds) for seeds in self.rows.seeds(row)))
            for model, row in rows.items()
        }

    def encoders(self) -> dict[str, str]:
        """Records of the pretrained encoders by `model:seed`."""
        runs = self.runs()
        return {
            f"{model}:{seed}": self.rows.models.encoder(model, seed) for model in self.trained() for seed in runs[model]
        }

    def neighbours(self) -> dict[str, str]:
        """Records of each encoder's search for neighbouring sentences, by `model:seed`."""
        return {
            f"{model}:{seed}": self.rows.paths.neighbours(model, seed)
            for model, seeds in self.runs().items()
            for seed in seeds
        }

    def settings(self) -> str:
        """Settings of the comparison behind the verdict, as JSON: methods, benchmarks with metrics, and seeds."""
        benchmarks = {
            name: {"setting": self.cards.setting(name), "metric": self.rows.data.benchmark(name).metrics[0]}
            for name in self.values.benchmarks
        }
        seeds = self.rows.paths.settings.config.seeds.pretraining
        looks = [*(look for look in self.values.looks if look < len(seeds)), len(seeds)]  # also for edited seeds
        return as_json({**self.values.model_dump(), "benchmarks": benchmarks, "seeds": seeds, "looks": looks})

    def leakage(self) -> dict[str, str]:
        """Records of a benchmark's texts that occur in the training documents, by benchmark."""
        return {name: self.rows.paths.leakage(name, self.values.methods[0]) for name in self.values.benchmarks}

    def held_out(self) -> dict[str, str]:
        """Records, by language, of the held-out documents, which no method is trained on."""
        first = self.values.methods[0]
        store = self.pretraining.stores(first).get(STORE) or next(iter(self.pretraining.stores(first).values()))
        return {
            code: self.rows.paths.split(HELD_OUT, self.pretraining.mining.corpus(store, code), code)
            for code in self.pretraining.languages(first)
        }
