"""Models of the catalogue and of config.yaml: their checkpoints, the records of their encoders, and stand-ins."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from stele import catalogue
from stele.artifacts.integrity import RECORD
from stele.artifacts.records import STAND_IN
from stele.catalogue import hub, recipes
from stele.catalogue.datasets import dataset, languages_of
from stele.catalogue.schema.costs import Checkpoint
from stele.catalogue.schema.languages import Language
from stele.catalogue.schema.models import Model, ModelKeys
from stele.errors import SteleError, check_known
from stele.files.digests import digest
from stele.files.reading import read_note
from stele.files.strict import validate
from stele.plan.paths import Paths
from stele.plan.settings import Settings, cached_method
from stele.recipes.encoding import SPEC_FILE
from stele.recipes.pretraining import snapshot_step
from stele.recipes.standins import Recipe, parse_recipe

MANIFEST = "manifest.json"  # lists the files of a stand-in in the generated internet
# datasets whose languages the generated internet reads from datasets.yaml; other languages are in its code
OF_CATALOGUE = (
    "fasttext_aligned",
    "miracl_corpus",
    "miracl_train",
    "mmarco",
    "smart_shuffling",
    "translated_marco",
    "uncorpus",
)
Problem = tuple[str, str]  # a state of tables/values/lookup.py, its reason


@dataclass(frozen=True, eq=False, repr=False)
class Models:
    settings: Settings
    paths: Paths

    @cached_property
    def all(self) -> dict[str, ModelKeys]:
        """Entries of all models by key: config.yaml merged into the catalogue key by key, overrides likewise.

        A scale's changes of a model come between the two. A checkpoint of the catalogue under another key is as
        complete an encoder as there.
        """
        merged: dict[str, ModelKeys] = {**catalogue.entries(Model)}
        of_scale = self.settings.sizes.models
        for key in of_scale.keys() & merged.keys():
            override = {**merged[key].override, **of_scale[key]}
            merged[key] = merged[key].model_copy(update={"override": override})
        trained_on = {model.checkpoint: model.trained_on for model in merged.values() if model.checkpoint}
        for key, model in self.settings.config.models.items():
            new = ModelKeys(
                label=key,
                trained_on=trained_on.get(model.checkpoint),
                recipe=model.recipe,
                override=of_scale.get(key, {}),
            )
            known = merged.get(key, new).model_dump(exclude_unset=True)
            if model.checkpoint not in (None, known.get("checkpoint")):
                known.pop("revision", None)  # the revision of another repository
            of_recipe = known.get("override", {}) if model.recipe in (None, known.get("recipe")) else {}
            changes = {**model.model_dump(exclude_defaults=True), "override": {**of_recipe, **model.override}}
            merged[key] = validate(ModelKeys, known | changes, f"models.{key}")
        return merged

    def __getitem__(self, key: str) -> ModelKeys:
        check_known("model", key, self.all)
        return self.all[key]

    def encoding_overrides(self, key: str, *, of_root: bool = True) -> list[tuple[str, dict[str, Any]]]:
        """(origin, values) pairs that set a model's encoding, config.yaml before models.yaml.

        With `of_root`, the pooling of its pretraining is between the two, and the values of the models that it starts
        from follow.
        """
        overrides = []
        for name in self._line(key) if of_root else (key,):
            known, user_model = catalogue.entries(Model).get(name), self.settings.config.models.get(name)
            overrides.append(("config", dict(user_model.encoding) if user_model else {}))
            if of_root and self.is_trained(name):
                pooling = recipes.pretraining(name, self[name], self.settings.sizes).get("pooling")
                overrides.append(("config", {"pooling": pooling} if pooling else {}))
            overrides.append(("models", known.encoding.given() if known else {}))
        return overrides

    def _line(self, key: str) -> list[str]:
        """A model, the one that it is a snapshot of, and those that it starts from, the root last, each once."""
        line = [key]
        while trained := self.pretraining_of(line[-1]):
            line += [trained, self[trained].base]
        return list(dict.fromkeys(line))

    def is_trained(self, key: str) -> bool:
        """Whether a model is pretrained by this workflow."""
        model = self[key]
        return model.recipe is not None and model.checkpoint in (None, "train")

    def pretraining_of(self, key: str) -> str | None:
        """The model whose pretraining here yields this one: itself, or the model it is a snapshot of; else None."""
        model = self[key]
        origin = model.snapshot_of if model.snapshot_of and model.checkpoint is None else key
        return origin if self.is_trained(origin) else None

    @cached_method
    def snapshot_step(self, key: str) -> int | None:
        """The training step at which a snapshot is taken; None for the last step and for models without snapshot."""
        model = self[key]
        if model.epoch is None or self.pretraining_of(key) in (None, key):
            return None
        recipe = recipes.pretraining(model.snapshot_of, self[model.snapshot_of], self.settings.sizes)
        return snapshot_step(recipe, model.epoch, f"models.{key}.epoch")

    @cached_property
    def snapshots(self) -> list[str]:
        """The models that are snapshots of a step before the last."""
        return [key for key in self.all if self.snapshot_step(key) is not None]

    @property
    def snapshot_constraint(self) -> str:
        """Regular expression for the wildcard `model` in the rule of snapshots."""
        return "|".join(map(re.escape, self.snapshots))

    def is_lexical(self, key: str) -> bool:
        """Whether a model matches terms, as BM25 does, and so has no checkpoint."""
        return self[key].kind == "lexical"

    def released(self, key: str) -> str | None:
        """Dataset name of the weights that a model's authors released outside the hub; None if there are none."""
        released = self[key].released
        return released and released.dataset

    def checkpoint_source(self, key: str) -> dict[str, str]:
        """Source of a model that is not trained here: {"path"}, {"checkpoint", "revision"}, or {} if there is none."""
        model = self[key]
        checkpoint = model.checkpoint
        if checkpoint in (None, "train", "released"):  # weights that were released outside the hub
            released, users = self.released(key), self.settings.config.user_data
            if released in users:
                return {"path": users[released]}
            is_standin = self.settings.generated and released in catalogue.load("standins")
            return {"path": self.paths.resources(f"standins/{released}/{released}")} if is_standin else {}
        if (folder := Path(checkpoint).expanduser()).is_dir():
            return {"path": str(folder)}
        is_standin = self.settings.generated and catalogue.load("standins").get(key, {}).get("repo") == checkpoint
        revision = None if is_standin else model.revision
        return {"checkpoint": checkpoint, "revision": revision or "main"}

    def checkpoint_problem(self, key: str) -> Problem | None:
        """(state, reason) if a checkpoint that is not trained here is not available, else None.

        The state is `unavailable`, `not in scale` for one that is too large, or `not built` without a recipe.
        """
        if reason := self._too_large(key):
            return "not in scale", reason
        if source := self.checkpoint_source(key):
            return self._source_problem(key, source)
        model = self[key]
        if model.unavailable:
            return "unavailable", model.unavailable
        if model.snapshot_of:
            return "unavailable", f"a snapshot of {model.snapshot_of}, which is not pretrained here"
        if released := model.released:
            return "unavailable", (
                f"the authors' weights are not on a hub: fetch {released.where} and give its folder as "
                f"user_data: {{{released.dataset}: FOLDER}}"
            )
        if model.checkpoint == "released":
            return "unavailable", f"no weights of {key} were released: leave `checkpoint` out of models.{key}"
        return "not built", f"{key} has no recipe yet"

    def _too_large(self, key: str) -> str | None:
        """The reason why a catalogue checkpoint is too large for the scale, else None; the user's own never are."""
        most, sizes = self.settings.sizes.encoder_weights, catalogue.entries(Checkpoint).get(key)
        millions = sizes.weights / 1e6 if sizes else 0.0
        if most is None or millions <= most or key in self.settings.config.models:
            return None
        return f"{key} has {millions:.0f} million weights; scale {self.settings.scale} takes at most {most:g} million"

    def _source_problem(self, key: str, source: dict[str, str]) -> Problem | None:
        """`unavailable` with the reason if the user's checkpoint folder is missing or a hub address is malformed."""
        path, released = source.get("path"), self.released(key)
        if path and released in self.settings.config.user_data and not Path(path).expanduser().is_dir():
            return "unavailable", f"user_data.{released}: {path} is not a folder"
        try:
            hub.repository(source)
        except SteleError as error:
            return "unavailable", f"models.{key}.checkpoint: {error}"
        return None

    def is_real(self, key: str) -> bool:
        """Whether a checkpoint is real: neither a stand-in of the generated internet nor trained from one."""
        standins, config = catalogue.load("standins"), self.settings.config
        user_model = config.models.get(key)
        chosen = user_model is not None and user_model.checkpoint not in (None, "released")
        if self.settings.generated and not chosen and self.released(key) not in config.user_data:
            return (self.released(key) or key) not in standins
        source = self.checkpoint_source(key)
        if "path" in source:
            folder = Path(source["path"])
            labels = read_note(folder / RECORD, labels=list).get("labels", [])
            return STAND_IN not in labels and not (folder / MANIFEST).is_file()
        return source.get("checkpoint") not in {standin.get("repo") for standin in standins.values()}

    def has_pooling(self, key: str) -> bool:
        """Whether a model's pooling is known. False only for a plain transformers folder without a stated pooling."""
        folder = Path(self.checkpoint_source(key).get("path", ""))
        if self.pretraining_of(key) or not (folder / hub.CONFIG).is_file():
            return True
        stated = any((folder / name).is_file() for name in (hub.MODULES, SPEC_FILE))
        return stated or any("pooling" in values for _, values in self.encoding_overrides(key))

    def standin_problem(self, section: str, recipe: str | None, key: str) -> Problem | None:
        """`unavailable` with the reason if a recipe sized for stand-ins would train a real checkpoint, else None."""
        root = self.root(key)
        if recipe is None or not self.settings.sized_for_standins(section, recipe) or not self.is_real(root):
            return None
        return "unavailable", (
            f"the sizes of {recipe} at scale {self.settings.scale} were chosen for generated stand-ins, and {root} is "
            "a real checkpoint; give a scale for real ones (one_gpu, paper, or a file of your own)"
        )

    def root(self, key: str) -> str:
        """The model whose public checkpoint a chain of pretrainings starts from."""
        trained = self.pretraining_of(key)
        return self.root(self[trained].base) if trained else key

    def tokenizer(self, key: str) -> str:
        """The model whose tokenizer a model uses. Models that share a tokenizer share mined examples."""
        root = self.root(key)
        return self[root].tokenizer or root

    def encoder(self, key: str, seed: int | str) -> str:
        """Record of a model's checkpoint: after pretraining with a seed, a snapshot of that, or the public one."""
        if not (trained := self.pretraining_of(key)):
            return self.paths.checkpoint(key)
        return self.paths.pretrained(trained if self.snapshot_step(key) is None else key, seed)


@dataclass(frozen=True, eq=False, repr=False)
class World:
    """The generated internet: stand-ins for public checkpoints, and the facts that generated texts depend on."""

    settings: Settings
    paths: Paths
    models: Models

    def standin(self, model: str) -> str | None:
        """Stand-in for a model's checkpoint at a generated scale; None if the user's or a public one is used."""
        standins, config = catalogue.load("standins"), self.settings.config
        released, user_model = self.models.released(model), config.models.get(model)
        if released in config.user_data or (user_model and user_model.checkpoint not in (None, "released")):
            return None
        key = released if released in standins else model
        return key if self.settings.generated and key in standins else None

    def bases(self, w) -> list[str]:
        """Records of the stand-ins from which a stand-in is trained."""
        return [self.paths.standin(base) for base in self.recipe(w.key).bases]

    @cached_method
    def recipe(self, key: str) -> Recipe:
        """Training recipe of a stand-in with the scale's changes, as its command takes it."""
        standins, sizes = catalogue.load("standins"), self.settings.sizes
        check_known("standin", key, standins, "catalogue/standins.yaml")
        forced = {**sizes.standins.get(key, {}), "threads": sizes.threads}
        return parse_recipe({**standins[key], **forced}, f"standins.yaml: {key}")

    def language_facts(self) -> str:
        """Digest of the facts about the generated languages and the languages that lend them cognates, and no others.

        The languages of NeuCLIRBench are generated at every scale.
        """
        table, facts = catalogue.entries(Language), {}
        todo = [*(self.settings.sizes.languages or ()), *languages_of(dataset("neuclir_corpus"), table)]
        while todo:
            code = todo.pop()
            if code in table and code not in facts:
                facts[code] = table[code].given()
                todo += table[code].world.cognates if table[code].world else ()
        return digest(facts)

    def dataset_languages(self) -> str:
        """Digest of the generated languages, with their numbers of files, of the datasets in OF_CATALOGUE."""
        facts, generated = {}, {*(self.settings.sizes.languages or ())}
        for name in OF_CATALOGUE:
            shards = next((file.shards for file in dataset(name).files if file.shards), {})
            codes = [code for code in languages_of(dataset(name)) if generated.issuperset(code.split("-"))]
            facts[name] = {code: shards.get(code) for code in codes}
        return digest(facts)

    def layer(self, model: str, layer: int, of: int) -> int:
        """Layer number `layer` of a public model with `of` layers; for its stand-in, the layer at the same share."""
        key = self.standin(model)
        return max(1, round(self._layers(key) * layer / of)) if key else layer

    def _layers(self, key: str) -> int:
        """Number of layers of a stand-in: its own, or that of the stand-in from which it is trained."""
        recipe = self.recipe(key)
        return recipe.own_layers or self._layers(recipe.bases[0])
