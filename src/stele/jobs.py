"""What the rules ask: inputs and params of every job, one section a rule file. `w` are a job's wildcards."""

from __future__ import annotations

import json
import shlex
from functools import cached_property
from typing import Any

from stele import catalogue
from stele.catalogue import datasets
from stele.catalogue.metrics import metric_parts
from stele.catalogue.user_data import listing, part_files, sampled_digest
from stele.errors import SteleError, unknown
from stele.figures import Figures
from stele.outputs import digest
from stele.plan import pretraining_seed


def as_json(value: Any) -> str:
    """A value as compact JSON with sorted keys: equal values are equal params."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def assignments(records: dict[str, str]) -> list[str]:
    """`name=path` for the command line."""
    return [f"{name}={path}" for name, path in records.items()]


class Jobs(Figures):
    """The plan with the answers that the rules need."""

    # --- world.smk --------------------------------------------------------------------------------------------------
    def standin_key(self, model: str) -> str | None:
        """The stand-in for a model's checkpoint at a generated scale, None where the user's or a public one is used."""
        standins = catalogue.load("standins")
        released = self.model(model).get("released", {}).get("dataset")
        own = self.config.models.get(model)
        if released in self.config.user_data or (own and own.checkpoint not in (None, "released")):
            return None
        key = released if released in standins else model
        return key if self.generated and key in standins else None

    def standin_bases(self, w) -> list[str]:
        return [self.standin(base) for base in catalogue.get("standins", w.key).get("bases", [])]

    def standin_recipe(self, key: str) -> dict[str, Any]:
        entry = catalogue.get("standins", key)
        return {**entry, **self.sizes["standins"].get(key, {}), "threads": self.sizes["threads"]}

    def standin_modules(self, key: str) -> list[str]:
        """The module that makes stand-ins of a kind."""
        return [f"world.standins.{self.standin_recipe(key)['kind']}"]

    def language_facts(self) -> str:
        """A digest of the facts about the generated languages and those that lend them words; of no other language."""
        table, todo, found = catalogue.load("languages"), [*(self.sizes["languages"] or ())], {}
        while todo:
            code = todo.pop()
            if code in table and code not in found:
                found[code] = table[code]
                todo += table[code].get("world", {}).get("cognates", {})
        return digest(found)

    # --- sources.smk ------------------------------------------------------------------------------------------------
    def _mirrors(self, generated: bool) -> list[str]:
        """Where downloads are looked for: generated ones in the generated mirror, never in the network."""
        mirrors = [*([self.resources("mirror")] if generated else []), *self.config.mirrors]
        offline = generated or self.config.offline
        return [*(["--mirrors", *mirrors] if mirrors else []), *(["--offline"] if offline else [])]

    def dataset_input(self, w) -> dict[str, str]:
        return {"manifest": self.manifest} if self.generated and not self.users_folder(w.dataset) else {}

    def dataset_entry(self, dataset: str, part: str) -> str:
        """A digest of what the catalogue says of a part: its files and counts, not the words about it.

        The command reads the entry itself.
        """
        generated = self.generated and not self.users_folder(dataset)
        source = datasets.resolve(dataset, part, self.part_languages(dataset, part), generated=generated)
        return digest({key: value for key, value in source.items() if key not in datasets.WORDS})

    def part_languages(self, dataset: str, part: str) -> list[str]:
        return self.dataset_languages(dataset) if part == "all" else [part]

    @cached_property
    def _contents(self) -> dict[tuple[str, str], str]:
        """Digests of the user's files: they are read once a run."""
        return {}

    def user_content(self, dataset: str, part: str) -> str:
        """A digest of the user's files that a part of a dataset is taken from, never of where they lie."""
        folder = self.users_folder(dataset)
        if not folder:
            return ""
        if (dataset, part) not in self._contents:
            source = datasets.resolve(dataset, part, self.part_languages(dataset, part))
            self._contents[dataset, part] = sampled_digest(folder, part_files(listing(folder), source))
        return self._contents[dataset, part]

    def dataset_locations(self, dataset: str) -> str:
        """Where a dataset is taken from, as arguments of its command, quoted."""
        generated = self.generated and not self.users_folder(dataset)
        folder = self.data_folder(dataset)
        places = ["--user-data", folder] if folder else self._mirrors(generated)
        return shlex.join([*(["--manifest", self.manifest] if generated else []), *places])

    def checkpoint_input(self, w) -> dict[str, Any]:
        key = self.standin_key(w.model)
        return {"standin": self.standin(key)} if key else {}

    def checkpoint_params(self, model: str) -> dict[str, Any]:
        """Where a checkpoint is from, without the folder: that one is a location."""
        source = self.checkpoint_source(model)
        problem = self.model_problem(model)
        if problem:
            raise SteleError(f"{model}: {problem[0]}: {problem[1]}")
        return {k: v for k, v in source.items() if k != "path"} | {"licence": self.model(model).get("licence")}

    def checkpoint_content(self, model: str) -> str:
        """A digest of the user's folder of a checkpoint, never of where it lies."""
        folder = self.checkpoint_source(model).get("path")
        if not folder or self.standin_key(model):
            return ""
        if ("checkpoint", folder) not in self._contents:
            self._contents["checkpoint", folder] = sampled_digest(folder)
        return self._contents["checkpoint", folder]

    def checkpoint_locations(self, model: str) -> str:
        """Where a checkpoint is taken from, as arguments of its command, quoted."""
        folder = self.checkpoint_source(model).get("path")
        return shlex.join(["--path", folder] if folder else self._mirrors(generated=bool(self.standin_key(model))))

    # --- pretraining.smk --------------------------------------------------------------------------------------------
    def pretrain_pairs(self, w) -> dict[str, str]:
        """`store:language` -> record of the mined examples."""
        recipe = self.pretraining_recipe(w.model)
        tokenizer = self.tokenizer(w.model)
        return {
            f"{store}:{language}": self.work(f"pairs/{mining}/{tokenizer}/{language}/record.json")
            for store, mining in recipe["mining"].items()
            for language in recipe["languages"]
        }

    def documents(self, w) -> list[str]:
        """The records of a language's documents, all shards of them."""
        corpus = self.corpus(w.part)
        folder = f"documents/{corpus}/{w.part}"
        if corpus != "wikipedia":
            return [self.work(f"{folder}/record.json")]
        return [self.work(f"{folder}/{n}/record.json") for n in range(1, self.sizes["shards"].get(corpus, 1) + 1)]

    def pretrain_input(self, w) -> dict[str, Any]:
        if not self.is_trained(w.model):
            raise SteleError(
                f"{w.model} is not pretrained here: {self.checkpoint_source(w.model) or 'it has no recipe'}"
            )
        return {"base": self.encoder(self.model(w.model)["base"], w.pt), "pairs": list(self.pretrain_pairs(w).values())}

    def objective_modules(self, model: str) -> list[str]:
        recipe = self.pretraining_recipe(model)
        same_compute = recipe.get("equal_compute_to", recipe)["objective"]
        names = sorted({recipe["objective"], same_compute, "mlm"})
        return [f"training.{kind}.{name}" for kind in ("objectives", "recipes") for name in names]

    @property
    def torch_environment(self) -> str:
        return f"../../envs/{'cpu' if self.generated else 'gpu'}.yaml"

    # --- finetuning.smk ---------------------------------------------------------------------------------------------
    def training_recipe(self, name: str) -> dict[str, Any]:
        """A fine-tuning recipe as its command is given it: training sets with their module and data, no `start`."""
        recipe = {key: value for key, value in self.finetuning_recipe(name).items() if key != "start"}
        for key in ("training_set", "dev_set"):
            if recipe.get(key):
                entry = self.training_set(recipe[key])
                recipe[key] = {"module": entry["module"], "data": entry["data"]}
        return recipe

    def finetune_input(self, w) -> dict[str, Any]:
        start = self.finetuning_recipe(w.recipe).get("start")
        seed = pretraining_seed(w.seeds)
        encoder = self.finetuned(w.model, start, w.seeds) if start else self.encoder(w.model, seed)
        return {"encoder": encoder, "data": list(self.training_data(w.recipe).values())}

    def finetune_modules(self, recipe: str) -> list[str]:
        return sorted({f"benchmarks.{self.training_set(name)['module']}" for name in self.training_sets(recipe)})

    # --- retrieval.smk ----------------------------------------------------------------------------------------------
    def retrieve_data(self, w) -> dict[str, str]:
        return self.data(self.benchmark(w.benchmark)["data"], self.languages(w.benchmark))

    def retrieve_input(self, w) -> dict[str, Any]:
        self.model(w.model), self.setting_recipe(w.benchmark, w.setting)  # an unknown name is said with the nearest
        problem = self.row_problem(w.benchmark, w.model, w.setting)
        if problem:
            raise SteleError(f"results/{w.benchmark}/{w.model}/{w.setting}: {problem[0]}: {problem[1]}")
        encoder = self.final_encoder(w.benchmark, w.model, w.setting, w.seeds)
        return {"encoder": encoder, "data": list(self.retrieve_data(w).values())}

    def encoding(self, benchmark: str, model: str, setting: str) -> dict[str, Any]:
        """How vectors are made where the encoder's folder does not say.

        The protocol's lengths, and the pooling of the model or of the one it was trained from.
        """
        protocol = {**self.benchmark(benchmark)["encoding"], **self.sizes["encoding"]}
        root = self.model(self.root(model)).get("encoding", {})
        return {**protocol, **root, **self.model(model).get("encoding", {})}

    def benchmark_modules(self, benchmark: str) -> list[str]:
        return [f"benchmarks.{benchmark}"]

    def keep_index(self, w) -> str:
        if not self.config.keep_index:
            return ""
        return f"--keep-index {self.work(f'index/{w.benchmark}/{w.model}/{w.setting}/{w.seeds}')}"

    # --- scoring.smk ------------------------------------------------------------------------------------------------
    def score_data(self, w) -> dict[str, str]:
        return self.data(self.benchmark(w.benchmark).get("judgments", []), self.languages(w.benchmark))

    def score_input(self, w) -> dict[str, Any]:
        retrieval = self.results(f"{w.benchmark}/{w.model}/{w.setting}/{w.seeds}/retrieval.json")
        return {"retrieval": retrieval, "data": list(self.score_data(w).values())}

    def scoring_modules(self, benchmark: str) -> list[str]:
        used = {metric_parts(name)[0] for name in self.benchmark(benchmark)["metrics"]}
        return [*self.benchmark_modules(benchmark), *sorted(f"scoring.metrics.{name}" for name in used)]

    @cached_property
    def aliases(self) -> dict[str, dict[str, str]]:
        return catalogue.load("settings")["aliases"]

    def canonical_setting(self, benchmark: str, setting: str) -> str:
        """The setting that an alias stands for; an alias of another benchmark is an error."""
        names = self.aliases[benchmark]
        if setting not in names:
            raise unknown("setting", setting, catalogue.load("settings")["settings"][benchmark], f"results/{benchmark}")
        return names[setting]

    # --- tables.smk -------------------------------------------------------------------------------------------------
    def table_input(self, w) -> dict[str, Any]:
        table = f"{w.paper}/{w.number}"
        if table not in self.specs:
            raise unknown("table", table, self.specs)
        return {
            "spec": str(self.specs[table]),
            "context": self.results("tables/context.json"),
            "results": self.table_results(table),
        }

    def all_tables(self) -> list[str]:
        return [self.results(f"tables/{key.partition('/')[0]}/table_{key.partition('/')[2]}.md") for key in self.specs]
