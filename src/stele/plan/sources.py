"""Datasets and checkpoints from outside: inputs and params of the jobs that fetch them, and locations."""

from collections import ChainMap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stele import catalogue
from stele.catalogue import datasets, hub, recipes, user_documents
from stele.catalogue.schema.datasets import Part
from stele.catalogue.schema.models import Model
from stele.catalogue.user_data import content_digest, listing, part_files
from stele.errors import SteleError
from stele.files.digests import digest
from stele.plan.data import Data
from stele.plan.models import Models, World
from stele.plan.paths import Inputs, Paths, as_json
from stele.plan.settings import Settings, cached_method

USER_FILES = Path("state/user_files.json")  # digests of the user's files when they were last read, at any scale


@dataclass(frozen=True, eq=False, repr=False)
class Sources:
    settings: Settings
    paths: Paths
    models: Models
    data: Data
    world: World

    def _mirrors(self, generated: bool) -> dict[str, Any]:
        """Options that say where downloads are looked for: generated data in the generated mirror, never online."""
        config = self.settings.config
        mirrors = [*([self.paths.resources("mirror")] if generated else []), *config.mirrors]
        return {"mirrors": mirrors, "offline": generated or config.offline}

    # --- datasets -----------------------------------------------------------------------------------------------------
    def dataset_inputs(self, w) -> Inputs:
        return {"manifest": self.paths.manifest} if self.data.is_generated(w.dataset) else {}

    def dataset_entry(self, dataset: str, part: str) -> str:
        """Digest of the catalogue's facts about a part: its files and counts, without descriptions.

        The command itself reads the entry from the catalogue.
        """
        source = self._source(dataset, part)
        return digest(source.model_dump(exclude_unset=True, exclude=datasets.WORDS))

    def _source(self, dataset: str, part: str) -> Part:
        return self.data.resolve(dataset, part, self.data.part_languages(dataset, part), self.dump_date(dataset))

    def added_source(self, dataset: str, part: str) -> str | None:
        """The part's entry as JSON, for a language in `add_languages`, which the catalogue lacks; else None."""
        if part not in self.settings.config.add_languages:
            return None
        return as_json(self._source(dataset, part).given())

    def dump_date(self, dataset: str) -> str | None:
        """The dump date that the user chose; None for the catalogue's date, and for generated dumps."""
        fields, wanted = datasets.dataset(dataset).fields, self.settings.config.dump_date
        return None if self.data.is_generated(dataset) or wanted == fields.get("date", wanted) else wanted

    @cached_method
    def user_content(self, dataset: str, part: str) -> str:
        """Digest of the contents of the user's files for a part of a dataset, whatever folder they are in."""
        folder = self.data.users_folder(dataset)
        if not folder:
            return ""
        if dataset == user_documents.DATASET:
            files = self.settings.documents[part].files if part in self.settings.documents else ()
            return content_digest(user_documents.place_of(folder)[0], USER_FILES, files)
        return content_digest(folder, USER_FILES, part_files(listing(folder), self._source(dataset, part)))

    def dataset_locations(self, dataset: str) -> dict[str, Any]:
        """Options that locate a dataset: the generated mirror's manifest, the user's folder, or mirrors."""
        generated, folder = self.data.is_generated(dataset), self.data.folder(dataset)
        manifest = {"manifest": self.paths.manifest} if generated else {}
        return manifest | ({"user_data": folder} if folder else self._mirrors(generated))

    # --- checkpoints --------------------------------------------------------------------------------------------------
    def checkpoint_inputs(self, w) -> Inputs:
        key = self.world.standin(w.model)
        return {"standin": self.paths.standin(key)} if key else {}

    def checkpoint_params(self, model: str) -> dict[str, Any]:
        """Params of a checkpoint's job: repository, revision, licence. Raises SteleError if it is not available."""
        if problem := self.models.checkpoint_problem(model):
            raise SteleError(f"{model}: {problem[0]}: {problem[1]}")
        source = {key: value for key, value in self.models.checkpoint_source(model).items() if key != "path"}
        source |= {"licence": self.models[model].licence}
        encoding = ChainMap(*(values for _, values in self.models.encoding_overrides(model, of_root=False)))
        if (weights := encoding.get("weights", "float32")) != "float32":
            source["weights"] = weights
        for twin in catalogue.entries(Model).values():
            if twin.same_weights_as and twin.same_weights_as == source.get("checkpoint"):
                source["instead"] = f"the same weights can be loaded without its code: `checkpoint: {twin.checkpoint}`"
        return source

    @cached_method
    def checkpoint_content(self, model: str) -> str:
        """Digest of the files read from the user's checkpoint folder; does not depend on the folder's place."""
        folder = self.models.checkpoint_source(model).get("path")
        if not folder or self.world.standin(model):
            return ""
        return content_digest(folder, USER_FILES, hub.read_files(listing(folder)))

    def checkpoint_locations(self, model: str) -> dict[str, Any]:
        """Options that locate a checkpoint: the user's folder, else mirrors."""
        folder = self.models.checkpoint_source(model).get("path")
        return {"path": folder} if folder else self._mirrors(generated=bool(self.world.standin(model)))

    def checkpoint_use(self, model: str) -> dict[str, Any]:
        """Options that state the use of a checkpoint, which is checked before its weights are fetched.

        The encoding is given for encoders that are evaluated without training: today's encoders, those whose encoding
        config.yaml sets, and those for which a result card is requested.
        """
        if model in recipes.generator_models():
            return {"generator": True}
        overrides = {
            origin: values for origin, values in self.models.encoding_overrides(model, of_root=False) if values
        }
        direct = self.models[model].is_complete or "config" in overrides or model in self.settings.config.cards
        return {"encoding": as_json(overrides)} if direct else {}
