"""The models: the catalogue's and the configuration's, where each comes from, and the record of its encoder."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from stele import catalogue
from stele.catalogue import hub
from stele.errors import SteleError, unknown
from stele.plan.paths import Paths
from stele.plan.settings import Settings

Problem = tuple[str, str]  # a state of tables/cells/states.py, the reason


@dataclass(frozen=True, eq=False)
class Models:
    settings: Settings
    paths: Paths

    @cached_property
    def all(self) -> dict[str, dict[str, Any]]:
        """key -> entry: the catalogue's models and the configuration's, merged key by key."""
        merged = {key: dict(entry) for key, entry in catalogue.load("models").items()}
        for key, model in self.settings.config.models.items():
            merged.setdefault(key, {"label": key}).update(model.model_dump(exclude_defaults=True))
        return merged

    def __getitem__(self, key: str) -> dict[str, Any]:
        if key not in self.all:
            raise unknown("model", key, self.all)
        return self.all[key]

    def is_trained(self, key: str) -> bool:
        """Whether a model comes from a pretraining of ours."""
        model = self[key]
        return "recipe" in model and model.get("checkpoint", "train") == "train"

    def is_lexical(self, key: str) -> bool:
        """Whether a model matches words and has no checkpoint."""
        return self[key].get("kind") == "lexical"

    def released(self, key: str) -> str | None:
        """The name of the weights that a model's authors released outside the hub, None where they did not."""
        return self[key].get("released", {}).get("dataset")

    def released_folder(self, key: str) -> str | None:
        """The local folder of such weights, None where nobody gave one."""
        released, users = self.released(key), self.settings.config.user_data
        if released in users:
            return users[released]
        if released and self.settings.generated and released in catalogue.load("standins"):
            return self.paths.resources(f"standins/{released}/{released}")
        return None

    def checkpoint_source(self, key: str) -> dict[str, Any]:
        """Where a model that is not trained here comes from: {"path"}, {"checkpoint", "revision"}, {} for nowhere."""
        model = self[key]
        checkpoint = model.get("checkpoint")
        if checkpoint in (None, "train", "released"):
            folder = self.released_folder(key)
            return {"path": folder} if folder else {}
        if Path(checkpoint).expanduser().is_dir():
            return {"path": str(Path(checkpoint).expanduser())}
        return {"checkpoint": checkpoint, "revision": model.get("revision", "main")}

    def checkpoint_problem(self, key: str) -> Problem | None:
        """Why a checkpoint that is not trained here cannot be built: `unavailable`, or `not built` without a recipe."""
        if source := self.checkpoint_source(key):
            return self._source_problem(key, source)
        model = self[key]
        if released := model.get("released"):
            return "unavailable", (
                f"the authors' weights are not on a hub: fetch {released['where']} and give its folder as "
                f"user_data: {{{released['dataset']}: FOLDER}}"
            )
        if model.get("checkpoint") == "released":
            return "unavailable", f"no weights of {key} were released: leave `checkpoint` out of models.{key}"
        return "not built", f"{key} has no recipe yet"

    def _source_problem(self, key: str, source: dict[str, Any]) -> Problem | None:
        """`unavailable` where the user's folder of a checkpoint is not there, or an address cannot be one."""
        path, released = source.get("path"), self.released(key)
        if path and released in self.settings.config.user_data and not Path(path).expanduser().is_dir():
            return "unavailable", f"user_data.{released}: {path} is not a folder"
        try:
            hub.repository(source)
        except SteleError as error:
            return "unavailable", f"models.{key}.checkpoint: {error}"
        return None

    def root(self, key: str) -> str:
        """The checkpoint that a chain of pretrainings starts from."""
        return self.root(self[key]["base"]) if self.is_trained(key) else key

    def tokenizer(self, key: str) -> str:
        """The model whose tokenizer a model uses; models of one family share it, and so their mined examples."""
        root = self.root(key)
        return self[root].get("tokenizer", root)

    def encoder(self, key: str, seed: int | str) -> str:
        """The record of a model's checkpoint: ours after pretraining with a seed, or a public one."""
        return self.paths.pretrained(key, seed) if self.is_trained(key) else self.paths.checkpoint(key)
