"""The models: the catalogue's and the configuration's, where each comes from, the record of its encoder, stand-ins."""

from __future__ import annotations

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
from stele.errors import SteleError, unknown
from stele.files.digests import digest
from stele.files.reading import read_note
from stele.files.strict import validate
from stele.plan.paths import Inputs, Paths
from stele.plan.settings import Settings, cached_method
from stele.recipes.encoding import SPEC_FILE
from stele.recipes.pretraining import snapshot_step
from stele.recipes.standins import Recipe, parse_recipe

MANIFEST = "manifest.json"  # of a stand-in's files, as the generated internet has them
Problem = tuple[str, str]  # a state of tables/values/lookup.py, the reason


@dataclass(frozen=True, eq=False, repr=False)
class Models:
    settings: Settings
    paths: Paths

    @cached_property
    def all(self) -> dict[str, ModelKeys]:
        """key -> entry: the catalogue's models and the configuration's, merged key by key, and so their overrides."""
        merged: dict[str, ModelKeys] = {**catalogue.entries(Model)}
        for key, model in self.settings.config.models.items():
            known = merged.get(key, ModelKeys(label=key)).model_dump(exclude_unset=True)
            of_recipe = known.get("override", {}) if model.recipe in (None, known.get("recipe")) else {}
            changes = {**model.model_dump(exclude_defaults=True), "override": {**of_recipe, **model.override}}
            merged[key] = validate(ModelKeys, known | changes, f"models.{key}")
        return merged

    def __getitem__(self, key: str) -> ModelKeys:
        if key not in self.all:
            raise unknown("model", key, self.all)
        return self.all[key]

    def encoding_overrides(self, key: str, *, of_root: bool = True) -> list[tuple[str, dict[str, Any]]]:
        """(origin, values) of a model's encoding, config.yaml before models.yaml.

        With `of_root` the pooling of its training's recipe and the values of the model that it starts from follow.
        """
        overrides = []
        for name in dict.fromkeys((key, self.root(key)) if of_root else (key,)):
            known, user_model = catalogue.entries(Model).get(name), self.settings.config.models.get(name)
            overrides.append(("config", dict(user_model.encoding) if user_model else {}))
            overrides.append(("models", known.encoding.given() if known else {}))
            trained = self.pretraining_of(key) if of_root and name == key else None
            if trained and "pooling" in self[trained].override:
                overrides.append(("config", {"pooling": self[trained].override["pooling"]}))
        return overrides

    def is_trained(self, key: str) -> bool:
        """Whether a model has a pretraining of ours."""
        model = self[key]
        return model.recipe is not None and model.checkpoint in (None, "train")

    def pretraining_of(self, key: str) -> str | None:
        """The model whose pretraining of ours a model is of: itself, or that of which it is a snapshot; or None."""
        model = self[key]
        origin = model.snapshot_of if model.snapshot_of and model.checkpoint is None else key
        return origin if self.is_trained(origin) else None

    @cached_method
    def snapshot_step(self, key: str) -> int | None:
        """The step after which a model is a snapshot; None where it is one of the last step, or none."""
        model = self[key]
        if model.epoch is None or self.pretraining_of(key) in (None, key):
            return None
        recipe = recipes.pretraining(model.snapshot_of, self[model.snapshot_of], self.settings.sizes)
        return snapshot_step(recipe, model.epoch, f"models.{key}.epoch")

    @cached_property
    def snapshots(self) -> list[str]:
        """The models that are snapshots and not the last step's."""
        return [key for key in self.all if self.snapshot_step(key) is not None]

    @property
    def snapshot_constraint(self) -> str:
        """What the wildcard `model` may be in the rule of snapshots: a regular expression."""
        return "|".join(map(re.escape, self.snapshots))

    def is_lexical(self, key: str) -> bool:
        """Whether a model matches words and has no checkpoint."""
        return self[key].kind == "lexical"

    def released(self, key: str) -> str | None:
        """The name of the weights that a model's authors released outside the hub, None where they did not."""
        released = self[key].released
        return released and released.dataset

    def released_folder(self, key: str) -> str | None:
        """The local folder of such weights, None where nobody gave one."""
        released, users = self.released(key), self.settings.config.user_data
        if released in users:
            return users[released]
        if released and self.settings.generated and released in catalogue.load("standins"):
            return self.paths.resources(f"standins/{released}/{released}")
        return None

    def checkpoint_source(self, key: str) -> dict[str, str]:
        """Where a model that is not trained here comes from: {"path"}, {"checkpoint", "revision"}, {} for nowhere."""
        model = self[key]
        checkpoint = model.checkpoint
        if checkpoint in (None, "train", "released"):
            folder = self.released_folder(key)
            return {"path": folder} if folder else {}
        if Path(checkpoint).expanduser().is_dir():
            return {"path": str(Path(checkpoint).expanduser())}
        return {"checkpoint": checkpoint, "revision": self._revision(key, checkpoint)}

    def _revision(self, key: str, checkpoint: str) -> str:
        """The hub revision of a checkpoint; of a stand-in the one that it is published as."""
        if self.settings.generated and catalogue.load("standins").get(key, {}).get("repo") == checkpoint:
            return "main"
        return self[key].revision or "main"

    def checkpoint_problem(self, key: str) -> Problem | None:
        """Why a checkpoint that is not trained here cannot be built.

        `unavailable`, `not in scale` for one that is too large, or `not built` without a recipe.
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
        """Why a checkpoint of the catalogue is too large for the scale; one that the user names never is."""
        most, sizes = self.settings.sizes.encoder_weights, catalogue.entries(Checkpoint).get(key)
        millions = sizes.weights / 1e6 if sizes else 0.0
        if most is None or millions <= most or key in self.settings.config.models:
            return None
        return f"{key} has {millions:.0f} million weights; scale {self.settings.scale} has encoders of at most {most:g}"

    def _source_problem(self, key: str, source: dict[str, str]) -> Problem | None:
        """`unavailable` where the user's folder of a checkpoint is not there, or an address cannot be one."""
        path, released = source.get("path"), self.released(key)
        if path and released in self.settings.config.user_data and not Path(path).expanduser().is_dir():
            return "unavailable", f"user_data.{released}: {path} is not a folder"
        try:
            hub.repository(source)
        except SteleError as error:
            return "unavailable", f"models.{key}.checkpoint: {error}"
        return None

    def is_real(self, key: str) -> bool:
        """Whether a checkpoint is no stand-in of the generated internet, nor was trained from one."""
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
        """Whether texts become vectors by a model as it is, as far as is known: a plain folder needs to be told how."""
        folder = Path(self.checkpoint_source(key).get("path", ""))
        if self.pretraining_of(key) or not (folder / hub.CONFIG).is_file():
            return True
        stated = any((folder / name).is_file() for name in (hub.MODULES, SPEC_FILE))
        return stated or any("pooling" in values for _, values in self.encoding_overrides(key))

    def standin_problem(self, section: str, recipe: str | None, key: str) -> Problem | None:
        """`unavailable` where a recipe whose sizes were chosen for stand-ins would train a real checkpoint."""
        root = self.root(key)
        if recipe is None or not self.settings.sized_for_standins(section, recipe) or not self.is_real(root):
            return None
        return "unavailable", (
            f"the sizes of {recipe} at scale {self.settings.scale} were chosen for generated stand-ins, and {root} is "
            "a real checkpoint; give a scale for real ones (one_gpu, paper, or a file of your own)"
        )

    def root(self, key: str) -> str:
        """The checkpoint that a chain of pretrainings starts from."""
        trained = self.pretraining_of(key)
        return self.root(self[trained].base) if trained else key

    def tokenizer(self, key: str) -> str:
        """The model whose tokenizer a model uses; models of one family share it, and so their mined examples."""
        root = self.root(key)
        return self[root].tokenizer or root

    def encoder(self, key: str, seed: int | str) -> str:
        """The record of a model's checkpoint: ours after pretraining with a seed, or in it, or a public one."""
        if not (trained := self.pretraining_of(key)):
            return self.paths.checkpoint(key)
        return self.paths.pretrained(trained if self.snapshot_step(key) is None else key, seed)

    def snapshot_inputs(self, w) -> Inputs:
        """The pretraining that a snapshot is taken of."""
        return {"encoder": self.paths.pretrained(self[w.model].snapshot_of, w.pt)}


@dataclass(frozen=True, eq=False, repr=False)
class World:
    """The generated internet: stand-ins for public checkpoints, and the facts that generated texts depend on."""

    settings: Settings
    paths: Paths
    models: Models

    def standin(self, model: str) -> str | None:
        """The stand-in for a model's checkpoint at a generated scale, None where the user's or a public one is used."""
        standins, config = catalogue.load("standins"), self.settings.config
        released, own = self.models.released(model), config.models.get(model)
        if released in config.user_data or (own and own.checkpoint not in (None, "released")):
            return None
        key = released if released in standins else model
        return key if self.settings.generated and key in standins else None

    def bases(self, w) -> list[str]:
        """The records of the stand-ins that one is trained from."""
        return [self.paths.standin(base) for base in self.recipe(w.key).bases]

    @cached_method
    def recipe(self, key: str) -> Recipe:
        """How a stand-in is made, with what the scale forces: what the command is given."""
        standins, sizes = catalogue.load("standins"), self.settings.sizes
        if key not in standins:
            raise unknown("standin", key, standins, "catalogue/standins.yaml")
        forced = {**sizes.standins.get(key, {}), "threads": sizes.threads}
        return parse_recipe({**standins[key], **forced}, f"standins.yaml: {key}")

    def language_facts(self) -> str:
        """A digest of the facts about the generated languages and those that lend them words; of no other language.

        NeuCLIRBench's are generated at every scale.
        """
        table, facts = catalogue.entries(Language), {}
        todo = [*(self.settings.sizes.languages or ()), *languages_of(dataset("neuclir_corpus"), table)]
        while todo:
            code = todo.pop()
            if code in table and code not in facts:
                facts[code] = table[code].given()
                todo += table[code].world.cognates if table[code].world else ()
        return digest(facts)

    # --- layers -------------------------------------------------------------------------------------------------------
    def layer(self, model: str, layer: int, of: int) -> int:
        """A layer of a public model of so many; of its stand-in, which has fewer, that at this share of the depth."""
        key = self.standin(model)
        return max(1, round(self._layers(key) * layer / of)) if key else layer

    def _layers(self, key: str) -> int:
        """How many layers a stand-in has: its own, or those of the one that it continues from."""
        recipe = self.recipe(key)
        return recipe.own_layers or self._layers(recipe.bases[0])
