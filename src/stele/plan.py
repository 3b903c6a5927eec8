"""The plan: from the configuration and the catalogue to paths, inputs and params of every job. Nothing is built here.

The rules of the workflow ask the plan and hold no logic of their own. A path that a rule makes is spelt once, below.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from stele import catalogue
from stele.catalogue import datasets
from stele.config import Config, load_scale, resolve_scale
from stele.errors import SteleError, unknown


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

    def log(self, path: str) -> str:
        return f"logs/{self.scale_folder}/{path}.log"

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
        """Where a model that is not trained here comes from: {"repo", "revision"} or {"path"}."""
        model = self.model(key)
        checkpoint = model.get("checkpoint")
        if checkpoint in (None, "train", "released"):
            folder = self.released_folder(key)
            return {"path": folder} if folder else {}
        if Path(checkpoint).expanduser().is_dir():
            return {"path": str(Path(checkpoint).expanduser())}
        return {"checkpoint": checkpoint, "revision": model.get("revision", "main")}

    def model_problem(self, key: str) -> tuple[str, str] | None:
        """(state, reason) when a model cannot be built, else None. State: `not built` or `unavailable`."""
        model = self.model(key)
        if self.is_trained(key):
            return self.model_problem(model["base"])
        if self.checkpoint_source(key):
            return None
        if "released" in model:
            released = model["released"]
            reason = (
                f"the authors' weights are not on a hub: fetch {released['where']} and give its folder as "
                f"user_data: {{{released['dataset']}: FOLDER}}"
            )
            return "unavailable", reason
        return "not built", f"{key} has no recipe yet"

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
        return bool(self.sizes["generated"])

    def pretraining_recipe(self, key: str) -> dict[str, Any]:
        """A model's recipe: the catalogue's, what the scale forces, the model's override, the scale's for the model."""
        model = self.model(key)
        name = model["recipe"]
        recipes = catalogue.load("recipes")["pretraining"]
        if name not in recipes:
            raise unknown("recipe", name, recipes, f"models.{key}.recipe")
        override = model.get("override", {})
        recipe = {**recipes[name], **self.sizes["pretraining"].get(name, {})}
        for wrong in override.keys() - recipes[name].keys():
            raise unknown("recipe key", wrong, recipes[name], f"models.{key}.override")
        recipe |= {**override, **self.sizes["models"].get(key, {}), "threads": self.sizes["threads"]}
        recipe["languages"] = self._training_languages(recipe["languages"])
        if "equal_compute_to" in recipe:
            recipe["equal_compute_to"] = self.objective_recipe(recipe["equal_compute_to"])
        return recipe

    def objective_recipe(self, key: str) -> dict[str, Any]:
        """A model's recipe without what only the plan reads: what the pretraining command is given."""
        return {name: value for name, value in self.pretraining_recipe(key).items() if name != "mining"}

    def _training_languages(self, languages: Iterable[str] | str) -> list[str]:
        in_scale = self.sizes["languages"]
        chosen = catalogue.load("recipes")["languages"][languages] if isinstance(languages, str) else list(languages)
        return [code for code in chosen if in_scale is None or code in in_scale]

    def finetuning_recipe(self, name: str) -> dict[str, Any]:
        recipes = catalogue.load("recipes")["finetuning"]
        if name not in recipes:
            raise unknown("fine-tuning recipe", name, recipes)
        return {**recipes[name], **self.sizes["finetuning"].get(name, {}), "threads": self.sizes["threads"]}

    def pairs_recipe(self, method: str) -> dict[str, Any]:
        recipes = catalogue.load("recipes")["pairs"]
        if method not in recipes:
            raise unknown("mining recipe", method, recipes)
        return {**recipes[method], **self.sizes["pairs"].get(method, {})}

    # --- benchmarks and data ----------------------------------------------------------------------------------------
    def benchmark(self, name: str) -> dict[str, Any]:
        return catalogue.get("benchmarks", name)

    def is_users(self, datasets: Iterable[str]) -> bool:
        """Whether the user named one of these datasets: it is then used whole, at every scale."""
        return any(dataset in self.config.user_data for dataset in datasets)

    def languages(self, benchmark: str) -> list[str]:
        """The languages of a benchmark that are built: in scale (all, when the user gave its data) and asked for."""
        entry = self.benchmark(benchmark)
        whole = self.is_users(entry["data"])
        in_scale = None if whole else self.sizes["languages"]
        # a benchmark's own list is what the papers' tables show; a user's own data are taken with all their languages
        data_set = datasets.dataset(entry["judgments"][0])
        own = datasets.languages_of(data_set) if whole and entry.get("whole") else entry["languages"]
        asked = self.config.languages
        return [c for c in own if (in_scale is None or c in in_scale) and (asked is None or c in asked)]

    def data(self, names: Iterable[str], languages: Iterable[str]) -> dict[str, str]:
        """`dataset:part` -> record, for the parts that some languages need."""
        languages = list(languages)
        return {f"{n}:{p}": self.dataset(n, p) for n in names for p in datasets.parts(datasets.dataset(n), languages)}

    def data_problem(self, names: Iterable[str]) -> str | None:
        """Why a dataset cannot be had (a licence, a drive), None when all can."""
        reasons = (
            datasets.availability({"dataset": name, **datasets.dataset(name)}, self.config.user_data.get(name))
            for name in names
            # the generated internet has all, licensed ones in a folder of their own
            if name in self.config.user_data or not self.generated
        )
        return next((reason for reason in reasons if reason), None)

    def user_folder(self, dataset: str) -> str | None:
        """The local folder of a dataset: the user's; for walled generated data, the generated one."""
        if dataset in self.config.user_data:
            return self.config.user_data[dataset]
        if self.generated and datasets.dataset(dataset)["wall"] != "none":
            return self.resources(f"user_data/{dataset}")
        return None

    def dataset_languages(self, dataset: str) -> list[str]:
        """The languages whose files a dataset of one part fetches."""
        own = datasets.languages_of(datasets.dataset(dataset))
        in_scale = None if dataset in self.config.user_data else self.sizes["languages"]
        return [code for code in own if in_scale is None or code in in_scale]

    # --- fine-tuning ------------------------------------------------------------------------------------------------
    def setting_recipe(self, benchmark: str, setting: str) -> str | None:
        settings = catalogue.load("settings")["settings"]
        if benchmark not in settings:
            raise unknown("benchmark", benchmark, settings)
        if setting not in settings[benchmark]:
            raise unknown("setting", setting, settings[benchmark], f"results/{benchmark}")
        return settings[benchmark][setting]

    def training_set(self, name: str) -> dict[str, Any]:
        return catalogue.get("training_sets", name)

    def training_languages(self, name: str) -> list[str]:
        """The languages of a training set's parts; everything in scale, whatever `languages:` evaluates."""
        own = self.training_set(name).get("languages", [])
        return [c for c in own if self.sizes["languages"] is None or c in self.sizes["languages"]]

    def training_data(self, recipe: str) -> dict[str, str]:
        """`dataset:part` -> record of all that a fine-tuning reads (training and selection)."""
        resolved = self.finetuning_recipe(recipe)
        found: dict[str, str] = {}
        for name in {resolved["training_set"], resolved.get("dev_set") or resolved["training_set"]}:
            found |= self.data(self.training_set(name)["data"], self.training_languages(name))
        return dict(sorted(found.items()))

    def chain(self, recipe: str | None) -> list[str]:
        """The fine-tuning recipes a recipe goes through, first to last."""
        if recipe is None:
            return []
        return [*self.chain(self.finetuning_recipe(recipe).get("start")), recipe]

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

    def row_problem(self, benchmark: str, model: str, setting: str) -> tuple[str, str] | None:
        """(state, reason) when a row of a table cannot be built: `not built`, `unavailable` or `not in scale`."""
        if model not in self.models:
            return "not built", f"no rule builds {model} yet"
        settings = catalogue.load("settings")["settings"]
        if benchmark not in settings or setting not in settings[benchmark]:
            return "not built", f"no rule builds {benchmark}/{setting} yet"
        problem = self.model_problem(model)
        if problem:
            return problem
        needed = list(self.benchmark(benchmark)["data"])
        for recipe in self.chain(settings[benchmark][setting]):
            needed += self.training_set(self.finetuning_recipe(recipe)["training_set"])["data"]
        reason = self.data_problem(needed)
        if reason:
            return "unavailable", reason
        if not self.languages(benchmark):
            return "not in scale", f"no language of {benchmark} is built"
        return None

    def corpus(self, language: str) -> str:
        """The corpus of a language's pretraining text: CC-100, or the named substitute for a language it lacks."""
        return catalogue.get("languages", language).get("cc100_substitute", {"corpus": "cc100"})["corpus"]

    # --- downloads ----------------------------------------------------------------------------------------------------
    def leaves(self, benchmark: str, model: str, setting: str) -> set[str]:
        """The records of all datasets and checkpoints that a result needs."""
        found = {*self.data(self.benchmark(benchmark)["data"], self.languages(benchmark)).values()}
        found |= {*self.data(self.benchmark(benchmark).get("judgments", []), self.languages(benchmark)).values()}
        for recipe in self.chain(self.setting_recipe(benchmark, setting)):
            found |= {*self.training_data(recipe).values()}
        while self.is_trained(model):
            recipe = self.pretraining_recipe(model)
            found |= {self.dataset(self.corpus(language), language) for language in recipe["languages"]}
            found.add(self.checkpoint(self.tokenizer(model)))
            model = self.model(model)["base"]
        return found | {self.checkpoint(model)}


def pretraining_seed(seeds: str) -> str:
    """The pretraining seed in "pt0-ft1": "0"."""
    return seeds.removeprefix("pt").partition("-")[0]


def finetuning_seed(seeds: str) -> str:
    """The fine-tuning seed in "pt0-ft1": "1"."""
    return seeds.rpartition("ft")[2]


def make_plan(config: Config) -> Plan:
    """The plan of a validated configuration; the scale is resolved here and nowhere else."""
    scale, why = resolve_scale(config)
    sizes = load_scale(scale)
    if config.languages and sizes["languages"] is not None and not config.user_data:
        missing = [code for code in config.languages if code not in sizes["languages"]]
        if missing:
            valid = ", ".join(sizes["languages"])
            raise SteleError(f"languages: {', '.join(missing)} not in scale {scale!r}, which has {valid}")
    return Plan(config, scale, why, sizes)
