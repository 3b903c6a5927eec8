"""Pretraining: each model's recipe, the texts behind it, and the mined examples that it reads."""

from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import get_args

from stele import catalogue
from stele.catalogue import recipes, user_documents
from stele.catalogue.hub import CONFIG
from stele.catalogue.schema.costs import Checkpoint
from stele.catalogue.schema.models import Model
from stele.files.reading import read_object
from stele.files.strict import Values
from stele.plan.data import Data
from stele.plan.mining import Mining
from stele.plan.models import Models, Problem
from stele.plan.paths import Paths, Reads, as_json, flags
from stele.plan.settings import Settings, cached_method
from stele.recipes.encoding import reserved_positions
from stele.recipes.mining import Corpus
from stele.recipes.pretraining import PretrainingRecipe, parse_recipe


@dataclass(frozen=True, eq=False, repr=False)
class Pretraining:
    settings: Settings
    paths: Paths
    models: Models
    data: Data
    mining: Mining

    @cached_method
    def values(self, model: str) -> Values:
        """The untyped pretraining recipe of a model in all its languages: catalogue, scale and user keys merged."""
        return recipes.pretraining(model, self.models[model], self.settings.sizes)

    @cached_method
    def languages(self, model: str) -> list[str]:
        """The languages of a model's recipe that are built."""
        entry, chosen = self.models[model], self.values(model)["languages"]
        read = {name for name, _ in self._texts(model, chosen)}
        in_scale = self.data.in_scale(read)
        if "languages" not in entry.override and not self.data.is_users(read):
            in_scale = self.settings.sizes.pretraining_languages.get(entry.recipe, in_scale)
        return [code for code in chosen if in_scale is None or code in in_scale]

    @cached_method
    def stores(self, model: str) -> dict[str, str]:
        """Mining recipes of a model's pretraining, by the store of examples that each fills."""
        return parse_recipe(self.values(model), f"models.{model}").mined_stores()

    @cached_method
    def recipe(self, model: str) -> PretrainingRecipe:
        """Pretraining recipe of a model in the languages built; its command takes all but the plan's own keys.

        A model without a language in scale, which cannot be built, has all its languages, since some recipes need one.
        """
        whole = self.values(model)
        values = {**whole, "languages": self.languages(model) or whole["languages"]}
        if (other := values.get("equal_compute_to")) is not None:
            values["equal_compute_to"] = self.recipe(other).given()
        return parse_recipe(values, f"models.{model}")

    def encoding(self, model: str) -> str:
        """The option " --encoding ..." (with the blank) that tells a training what the catalogue says of its base.

        Empty if the base is a catalogue checkpoint that is not a complete encoder: its recipe then has all values.
        """
        base = self.models[model].base
        root = self.models.root(base)
        overrides: dict[str, Values] = {}
        for origin, values in self.models.encoding_overrides(base):
            overrides[origin] = {**values, **overrides.get(origin, {})}
        overrides = {origin: values for origin, values in overrides.items() if values}
        adapt = self.settings.config.adapt
        is_adapted = adapt is not None and base == adapt.base
        is_encoder = self.models[root].is_complete or root not in catalogue.entries(Model) or is_adapted
        return f" {flags({'encoding': as_json(overrides)})}" if overrides and is_encoder else ""

    def attention_window(self, model: str) -> int | None:
        """Width of the sliding-window attention that a pretraining converted the model to; None for full attention."""
        if not (trained := self.models.pretraining_of(model)):
            return None
        windows = self.recipe(trained).sliding_window
        return windows.window if windows else self.attention_window(self.models[trained].base)

    def settings_folders(self, checkpoint: str) -> list[Path]:
        """Folders that may have a checkpoint's config.json: the user's, that of fetched settings, the checkpoint's."""
        users = self.models.checkpoint_source(checkpoint).get("path")
        fetched = Path(self.paths.state(f"checkpoint/{checkpoint}"))
        return [*([Path(users).expanduser()] if users else []), fetched, Path(self.paths.checkpoint(checkpoint)).parent]

    def positions(self, model: str) -> int | None:
        """Most tokens that a model can read, as its conversion, its config.json or the catalogue says; else None."""
        if trained := self.models.pretraining_of(model):
            windows = self.recipe(trained).sliding_window
            return windows.positions if windows else self.positions(self.models[trained].base)
        for file in chain.from_iterable(sorted(of.rglob(CONFIG)) for of in self.settings_folders(model)):
            config = read_object(file)
            if isinstance(most := config.get("max_position_embeddings"), int):
                return most - reserved_positions(config.get("model_type"), config.get("pad_token_id"))
        public, sizes = catalogue.entries(Model).get(model), catalogue.entries(Checkpoint).get(model)
        is_public = public and self.models[model].checkpoint == public.checkpoint and not self.settings.generated
        return sizes.positions if is_public and sizes else None

    def too_long(self, model: str) -> str | None:
        """The reason if a model is trained on longer texts than its base can read, else None."""
        most = self.positions(model)
        for key, length in self.recipe(model).lengths().items():
            if most is not None and length > most:
                base = self.models[model].base
                return f"{base} reads at most {most} tokens, but {model} is trained on texts of {length} (`{key}`)"
        return None

    def modules(self, model: str) -> list[str]:
        """The modules of the objectives that a model's pretraining uses."""
        recipe = self.recipe(model)
        same_compute = recipe.to_equal() or recipe
        names = sorted({recipe.objective, same_compute.objective, "mlm"})
        return [f"training.objectives.{name}" for name in names]

    def _texts(self, model: str, languages: list[str]) -> set[tuple[str, str]]:
        """(dataset, part) of all texts in the given languages from which a model's examples are mined."""
        texts: set[tuple[str, str]] = set()
        for mining in self.stores(model).values():
            texts |= self.mining.datasets(mining, languages)
        return texts

    @cached_method
    def texts(self, model: str) -> list[tuple[str, str]]:
        """(dataset, part) of all texts from which the examples of a model's own pretraining are mined."""
        return sorted(self._texts(model, self.languages(model)))

    @cached_method
    def reads(self, model: str) -> Reads:
        """Records of the corpora that a model and the models that it starts from are pretrained on."""
        if not (trained := self.models.pretraining_of(model)):
            return {}
        texts = {f"{name}:{part}": self.paths.dataset(name, part) for name, part in self.texts(trained)}
        return {f"pretraining of {trained}": texts, **self.reads(self.models[trained].base)}

    def documents(self, model: str) -> list[str]:
        """Records of all documents from which the examples of a model's own pretraining are mined."""
        return [
            record
            for corpus, language in self.texts(model)
            if corpus in get_args(Corpus)
            for record in self.mining.corpora.documents(corpus, language)
        ]

    def problem(self, model: str) -> Problem | None:
        """(state, reason) if a model cannot be pretrained, else None.

        `unavailable`: a real checkpoint at a stand-in scale, or no user documents; `not in scale`: no text is left.
        """
        if problem := self.models.standin_problem("pretraining", self.models[model].recipe, model):
            return problem
        if reason := self.without_documents(model):
            return "unavailable", f"{model}: {reason}"
        reason = self.lacking(model, self.languages(model))
        return ("not in scale", f"{model}: with the languages of its recipe in scale, {reason}") if reason else None

    def without_documents(self, model: str) -> str | None:
        """The reason if the user's documents lack languages that a model's recipe reads, else None."""
        have = self.settings.documents
        lacking = sorted(
            {part for dataset, part in self.texts(model) if dataset == user_documents.DATASET} - have.keys()
        )
        if not lacking:
            return None
        return (
            f"user_data.{user_documents.DATASET} has no text in {', '.join(lacking)}; choose among the languages that "
            f"it has (`override: {{languages: [{', '.join(have)}]}}`)"
        )

    def lacking(self, model: str, languages: list[str]) -> str | None:
        """The reason if the given languages are too few for one of a model's mining recipes, else None."""
        for mining in self.stores(model).values():
            if not self.mining.parts(mining, languages):
                wanted = "two languages" if self.mining.pairs_languages(mining) else "at least one language"
                return f"{mining} needs {wanted} (found {', '.join(languages) or 'none'})"
        return None

    def knowledge_pairs(self, model: str) -> set[tuple[str, str]]:
        """(mining recipe, record) of all knowledge pairs that a model is pretrained on."""
        return {
            (mining, self.paths.knowledge_pairs(mining, part))
            for mining in self.stores(model).values()
            if self.mining.reads_knowledge(mining)
            for part in self.mining.parts(mining, self.languages(model))
        }
