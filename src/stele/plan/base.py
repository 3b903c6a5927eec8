"""The plan: from the configuration and the catalogue to paths, inputs and params of every job. Nothing is built here.

The rules of the workflow ask the plan and hold no logic of their own. A path that a rule makes is spelt once, below.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from stele import catalogue
from stele.catalogue import datasets
from stele.config.model import Config
from stele.config.scale import load_scale, resolve_scale
from stele.errors import SteleError, unknown
from stele.recipes import merge


@dataclass(frozen=True)
class Plan:
    """What one run builds: `config` as validated, the scale's name, the reason for that scale, its sizes."""

    config: Config
    scale: str
    why: str
    sizes: Mapping[str, Any]

    # --- folders ------------------------------------------------------------------------------------------------
    @property
    def scale_folder(self) -> str:
        """The scale's name as a folder: a file of the user's own is called by its stem."""
        return Path(self.scale).stem

    def resources(self, path: str) -> str:
        return f"resources/{self.scale_folder}/{path}"

    def work(self, path: str) -> str:
        return f"work/{self.scale_folder}/{path}"

    def state(self, path: str) -> str:
        return f"state/{self.scale_folder}/{path}"

    @property
    def logs(self) -> str:
        return f"logs/{self.scale_folder}"

    def log(self, path: str) -> str:
        return f"{self.logs}/{path}.log"

    def timing(self, path: str) -> str:
        """The benchmark file of a job, beside its log."""
        return f"{self.logs}/{path}.benchmark.tsv"

    def results(self, path: str) -> str:
        return f"{self.config.results_dir}/{path}"

    @property
    def manifest(self) -> str:
        return self.resources("mirror/manifest.json")

    def dataset(self, dataset: str, part: str) -> str:
        return self.resources(f"datasets/{dataset}/{part}/record.json")

    def checkpoint(self, model: str) -> str:
        return self.resources(f"checkpoints/{model}/record.json")

    def standin(self, key: str) -> str:
        return self.resources(f"standins/{key}/record.json")

    # --- models ---------------------------------------------------------------------------------------------------
    @cached_property
    def models(self) -> dict[str, dict[str, Any]]:
        """The catalogue's models and the configuration's, merged key by key."""
        merged = {key: dict(entry) for key, entry in catalogue.load("models").items()}
        for key, model in self.config.models.items():
            merged.setdefault(key, {"label": key}).update(model.model_dump(exclude_defaults=True))
        return merged

    def model(self, key: str) -> dict[str, Any]:
        if key not in self.models:
            raise unknown("model", key, self.models)
        return self.models[key]

    def is_trained(self, key: str) -> bool:
        """Whether a model comes from a pretraining of ours."""
        model = self.model(key)
        return "recipe" in model and model.get("checkpoint", "train") == "train"

    def released_folder(self, key: str) -> str | None:
        """The local folder of weights that their authors released outside the hub, None when nobody gave one."""
        released = self.model(key).get("released", {}).get("dataset")
        if released in self.config.user_data:
            return self.config.user_data[released]
        if released and self.generated and released in catalogue.load("standins"):
            return self.resources(f"standins/{released}/{released}")
        return None

    def checkpoint_source(self, key: str) -> dict[str, Any]:
        """Where a model that is not trained here comes from: {"path"}, {"checkpoint", "revision"}, {} for nowhere."""
        model = self.model(key)
        checkpoint = model.get("checkpoint")
        if checkpoint in (None, "train", "released"):
            folder = self.released_folder(key)
            return {"path": folder} if folder else {}
        if Path(checkpoint).expanduser().is_dir():
            return {"path": str(Path(checkpoint).expanduser())}
        return {"checkpoint": checkpoint, "revision": model.get("revision", "main")}

    def root(self, key: str) -> str:
        """The checkpoint that a chain of pretrainings starts from."""
        return self.root(self.model(key)["base"]) if self.is_trained(key) else key

    def tokenizer(self, key: str) -> str:
        """The model whose tokenizer a model uses; models of one family share it, and so their mined examples."""
        root = self.root(key)
        return self.model(root).get("tokenizer", root)

    def encoder(self, key: str, pretraining: int | str) -> str:
        """The record of a model's checkpoint: ours after pretraining, or a public one."""
        return (
            self.work(f"encoders/{key}/pt{pretraining}/record.json") if self.is_trained(key) else self.checkpoint(key)
        )

    # --- recipes --------------------------------------------------------------------------------------------------
    @property
    def generated(self) -> bool:
        """Whether the data come from the generated internet, but for what the user names."""
        return bool(self.sizes["generated"])

    def finetuning_recipe(self, name: str) -> dict[str, Any]:
        return merge.finetuning(name, self.sizes)

    # --- benchmarks and data ----------------------------------------------------------------------------------------
    def benchmark(self, name: str) -> dict[str, Any]:
        return catalogue.get("benchmarks", name)

    def users_folder(self, dataset: str) -> str | None:
        """The user's own folder of a dataset, or of the one that is published together with it."""
        together = datasets.dataset(dataset).get("release")
        return self.config.user_data.get(dataset) or self.config.user_data.get(together)

    def of_the_world(self, names: Iterable[str]) -> list[str]:
        """The datasets among these that tell of the world, real or generated: all but tools."""
        return sorted({name for name in names if not datasets.dataset(name).get("tool")})

    def is_users(self, names: Iterable[str]) -> bool:
        """Whether the user has given all of these datasets: they are then used whole, at every scale."""
        return all(self.users_folder(name) for name in self.of_the_world(names))

    def _languages_in_scale(self, names: Iterable[str]) -> list[str] | None:
        """The languages that a scale allows for some datasets that are used together; None: all."""
        return None if self.is_users(names) else self.sizes["languages"]

    def benchmark_data(self, name: str) -> list[str]:
        """The datasets that a benchmark reads, to retrieve or to score."""
        entry = self.benchmark(name)
        return list(dict.fromkeys([*entry["data"], *entry["judgments"]]))

    def languages(self, benchmark: str) -> list[str]:
        """The languages of a benchmark that are built: in scale (all, when the user gave its data) and asked for."""
        entry = self.benchmark(benchmark)
        if not self.benchmark_data(benchmark):  # a count of parameters is of no language
            return entry["languages"]
        users = self.is_users(self.benchmark_data(benchmark))
        in_scale = None if users else self.sizes["benchmarks"].get(benchmark, self.sizes["languages"])
        # a benchmark's own list is what the papers' tables show; a user's own data are taken with all their languages
        whole = users and entry.get("whole")
        own = datasets.languages_of(datasets.dataset(entry["judgments"][0])) if whole else entry["languages"]
        asked = self.config.languages
        return [c for c in own if (in_scale is None or c in in_scale) and (asked is None or c in asked)]

    def data(self, names: Iterable[str], languages: Iterable[str]) -> dict[str, str]:
        """`dataset:part` -> record, for the parts that some languages need."""
        languages = list(languages)
        return {f"{n}:{p}": self.dataset(n, p) for n in names for p in datasets.parts(datasets.dataset(n), languages)}

    def data_folder(self, dataset: str) -> str | None:
        """The local folder of a dataset: the user's; for walled generated data, the generated one."""
        if folder := self.users_folder(dataset):
            return folder
        if self.generated and datasets.dataset(dataset)["wall"] != "none":
            return self.resources(f"user_data/{dataset}")
        return None

    def dataset_languages(self, dataset: str) -> list[str]:
        """The languages whose files a dataset of one part fetches: all of the user's own; of others those in scale.

        Where each language has files of its own, only those of the languages that are read.
        """
        entry = datasets.dataset(dataset)
        own = datasets.languages_of(entry)
        if self.users_folder(dataset):
            return own
        in_scale = self.sizes["languages"]
        read = self._languages_read(dataset) if datasets.chosen_by_language(entry) else None
        return [c for c in own if (in_scale is None or c in in_scale) and (read is None or c in read)]

    def _languages_read(self, dataset: str) -> set[str] | None:
        """The languages that benchmarks and training sets read of a dataset; None where nothing reads it."""
        benchmarks = [name for name in catalogue.load("benchmarks") if dataset in self.benchmark_data(name)]
        sets = [name for name, entry in catalogue.load("training_sets").items() if dataset in entry["data"]]
        read = [*map(self.languages, benchmarks), *map(self.training_languages, sets)]
        return {code for codes in read for code in codes} if read else None

    # --- fine-tuning ------------------------------------------------------------------------------------------------
    def setting_recipe(self, benchmark: str, setting: str) -> str | None:
        settings = catalogue.load("settings")["settings"]
        if benchmark not in settings:
            raise unknown("benchmark", benchmark, settings)
        if setting not in settings[benchmark]:
            raise unknown("setting", setting, catalogue.setting_names(benchmark), f"results/{benchmark}")
        return settings[benchmark][setting]

    def protocol(self, benchmark: str, setting: str) -> dict[str, Any]:
        """A benchmark's entry; of a setting that looks at vectors, what that one reads and measures in place of it."""
        return {**self.benchmark(benchmark), **self.vectors_of(benchmark).get(setting, {})}

    def vectors_of(self, benchmark: str) -> dict[str, dict[str, Any]]:
        """The settings of a benchmark that look at vectors and not at rankings."""
        return catalogue.load("settings")["vectors"].get(benchmark, {})

    def row_data(self, benchmark: str, setting: str) -> list[str]:
        """The datasets that a benchmark is evaluated with in a setting."""
        entry = self.protocol(benchmark, setting)
        return list(dict.fromkeys([*entry["data"], *entry["judgments"]]))

    def training_set(self, name: str) -> dict[str, Any]:
        return catalogue.get("training_sets", name)

    def training_sets(self, recipe: str) -> list[str]:
        """The sets that a fine-tuning reads: to train, and to choose a checkpoint."""
        resolved = self.finetuning_recipe(recipe)
        return sorted({resolved["training_set"], resolved.get("dev_set") or resolved["training_set"]})

    def training_languages(self, name: str) -> list[str]:
        """The languages of a training set's parts; everything in scale, whatever `languages:` evaluates."""
        entry = self.training_set(name)
        in_scale = self._languages_in_scale(entry["data"])
        return [c for c in entry.get("languages", []) if in_scale is None or c in in_scale]

    def training_data(self, recipe: str) -> dict[str, str]:
        """`dataset:part` -> record of all that a fine-tuning reads (training and selection)."""
        found: dict[str, str] = {}
        for name in self.training_sets(recipe):
            found |= self.data(self.training_set(name)["data"], self.training_languages(name))
        return dict(sorted(found.items()))

    def chain(self, recipe: str | None) -> list[str]:
        """The fine-tuning recipes a recipe goes through, first to last, those whose models mine for it among them."""
        if recipe is None:
            return []
        resolved = self.finetuning_recipe(recipe)
        before = [*self.chain(resolved.get("start")), *self.chain(resolved.get("miner"))]
        return [*dict.fromkeys(before), recipe]

    def finetuned(self, model: str, recipe: str, seeds: str) -> str:
        return self.work(f"finetuned/{model}/{recipe}/{seeds}/record.json")

    # --- results ------------------------------------------------------------------------------------------------------
    def seeds(self, model: str) -> list[str]:
        """The seeds of a result, as in its file names; a model that is not trained here has no pretraining seed."""
        pretraining = self.config.seeds.pretraining if self.is_trained(model) else [0]
        return [f"pt{p}-ft{f}" for p in pretraining for f in self.config.seeds.finetuning]

    def result(self, benchmark: str, model: str, setting: str) -> str:
        return self.results(f"{benchmark}/{model}/{setting}.json")

    def final_encoder(self, benchmark: str, model: str, setting: str, seeds: str) -> str:
        """The record of the encoder that a result evaluates."""
        recipe = self.setting_recipe(benchmark, setting)
        if recipe is None:
            return self.encoder(model, pretraining_seed(seeds))
        return self.finetuned(model, recipe, seeds)


SomePlan = TypeVar("SomePlan", bound=Plan)


def pretraining_seed(seeds: str) -> str:
    """The pretraining seed in "pt0-ft1": "0"."""
    return seeds.removeprefix("pt").partition("-")[0]


def finetuning_seed(seeds: str) -> str:
    """The fine-tuning seed in "pt0-ft1": "1"."""
    return seeds.rpartition("ft")[2]


def make_plan(config: Config, kind: type[SomePlan] = Plan) -> SomePlan:
    """The plan of a validated configuration; the scale is resolved here and nowhere else."""
    scale, why = resolve_scale(config)
    sizes = load_scale(scale)
    if config.languages and sizes["languages"] is not None and not config.user_data:
        missing = [code for code in config.languages if code not in sizes["languages"]]
        if missing:
            valid = ", ".join(sizes["languages"])
            raise SteleError(f"languages: {', '.join(missing)} not in scale {scale!r}, which has {valid}")
    return kind(config, scale, why, sizes)
