"""What the rules ask: inputs and params of every job, one section a rule file. `w` are a job's wildcards."""

from __future__ import annotations

import json
import shlex
from functools import cached_property
from pathlib import Path
from typing import Any

from stele import catalogue
from stele.catalogue import datasets
from stele.catalogue.metrics import metric_parts
from stele.catalogue.user_data import content_digest, listing, part_files
from stele.errors import SteleError, unknown
from stele.files.atomic import digest
from stele.plan.base import pretraining_seed
from stele.plan.figures import Figures

USER_FILES = Path("state/user_files.json")  # what the user's files were when they were read, at any scale


def as_json(value: Any) -> str:
    """A value as compact JSON with sorted keys: equal values are equal params."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def assignments(records: dict[str, str]) -> list[str]:
    """`name=path` for the command line."""
    return [f"{name}={path}" for name, path in records.items()]


def option(flag: str, value: Any) -> str:
    """A flag and its value for the command line; nothing where there is no value."""
    return "" if value is None else f"{flag} {value}"


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
        languages, date = self.part_languages(dataset, part), self.dump_date(dataset)
        source = datasets.resolve(dataset, part, languages, generated=generated, date=date)
        return digest({key: value for key, value in source.items() if key not in datasets.WORDS})

    def dump_date(self, dataset: str) -> str | None:
        """The date that the user wants of a dump; None: the catalogue's, as of all generated ones."""
        generated = self.generated and not self.users_folder(dataset)
        return self.config.dump_date if datasets.is_dated(datasets.dataset(dataset)) and not generated else None

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
            languages = self.part_languages(dataset, part)
            source = datasets.resolve(dataset, part, languages, date=self.dump_date(dataset))
            self._contents[dataset, part] = content_digest(folder, USER_FILES, part_files(listing(folder), source))
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
            self._contents["checkpoint", folder] = content_digest(folder, USER_FILES)
        return self._contents["checkpoint", folder]

    def checkpoint_locations(self, model: str) -> str:
        """Where a checkpoint is taken from, as arguments of its command, quoted."""
        folder = self.checkpoint_source(model).get("path")
        return shlex.join(["--path", folder] if folder else self._mirrors(generated=bool(self.standin_key(model))))

    @property
    def torch_environment(self) -> str:
        return f"../../envs/{'cpu' if self.generated else 'gpu'}.yaml"

    # --- pairs.smk --------------------------------------------------------------------------------------------------
    def counted_pairs(self) -> list[tuple[str, str]]:
        """(mining recipe, record) of all knowledge pairs that the chosen tables' models read."""
        models = {model for _, model, _ in self.rows() if model in self.models and self.is_trained(model)}
        return sorted(set().union(*map(self.knowledge_read, models)))

    def all_statistics(self) -> list[str]:
        """The counts of the knowledge pairs, where a chosen table's model reads any."""
        return [self.results("statistics/knowledge_pairs.md")] if self.counted_pairs() else []

    # --- finetuning.smk ---------------------------------------------------------------------------------------------
    def training_recipe(self, name: str) -> dict[str, Any]:
        """A fine-tuning recipe as its command is given it: training sets with their module and data.

        Without what only the plan reads: the recipes of the models that it starts from and that mine for it.
        """
        recipe = {key: value for key, value in self.finetuning_recipe(name).items() if key not in ("start", "miner")}
        for key in ("training_set", "dev_set"):
            if recipe.get(key):
                entry = self.training_set(recipe[key])
                recipe[key] = {"module": entry["module"], "data": entry["data"]}
        return recipe

    def finetune_input(self, w) -> dict[str, Any]:
        start = self.finetuning_recipe(w.recipe).get("start")
        seed = pretraining_seed(w.seeds)
        encoder = self.finetuned(w.model, start, w.seeds) if start else self.encoder(w.model, seed)
        mined = self.mined_negatives(w)
        return {"encoder": encoder, "data": list(self.training_data(w.recipe).values()), "negatives": mined}

    def finetune_modules(self, recipe: str) -> list[str]:
        return sorted({f"benchmarks.{self.training_set(name)['module']}" for name in self.training_sets(recipe)})

    # --- retrieval.smk ----------------------------------------------------------------------------------------------
    def retrieve_data(self, w) -> dict[str, str]:
        return self.data(self.protocol(w.benchmark, w.setting)["data"], self.languages(w.benchmark))

    def retrieve_input(self, w) -> dict[str, Any]:
        if w.setting in self.vectors_of(w.benchmark):
            raise SteleError(f"results/{w.benchmark}/{w.model}/{w.setting}: ranks nothing; its record is vectors.json")
        return self.encoding_input(w)

    def encode_pairs_input(self, w) -> dict[str, Any]:
        if w.setting not in self.vectors_of(w.benchmark):
            raise unknown("setting of vectors", w.setting, self.vectors_of(w.benchmark), f"results/{w.benchmark}")
        return self.encoding_input(w)

    def encoding_input(self, w) -> dict[str, Any]:
        """The encoder that a row evaluates, and what it encodes."""
        self.model(w.model), self.setting_recipe(w.benchmark, w.setting)  # an unknown name is said with the nearest
        problem = self.row_problem(w.benchmark, w.model, w.setting)
        if problem:
            raise SteleError(f"results/{w.benchmark}/{w.model}/{w.setting}: {problem[0]}: {problem[1]}")
        encoder = self.final_encoder(w.benchmark, w.model, w.setting, w.seeds)
        return {"encoder": encoder, "data": list(self.retrieve_data(w).values())}

    def encoding(self, benchmark: str, model: str, setting: str) -> dict[str, Any]:
        """How vectors are made where the encoder's folder does not say.

        The protocol's lengths, and the pooling of the model or of the one it was trained from, unless the protocol has
        an encoding of its own for large models.
        """
        entry = self.benchmark(benchmark)
        protocol = {**entry["encoding"], **self.sizes["encoding"]}
        root = self.model(self.root(model)).get("encoding", {})
        own = {**root, **self.model(model).get("encoding", {})}
        large = entry.get("large", {})
        if model in large.get("models", []):
            own |= {"pooling": large["pooling"], "layer": self.layer_of(model, large["layer"], large["of"])}
        return {**protocol, **own}

    def layer_of(self, model: str, layer: int, of: int) -> int:
        """A layer of a public model of so many; of its stand-in, which has fewer, that at this share of the depth."""
        key = self.standin_key(model)
        return max(1, round(self._standin_layers(key) * layer / of)) if key else layer

    def _standin_layers(self, key: str) -> int:
        """How many layers a stand-in has: its own, or those of the one that it continues from."""
        recipe = self.standin_recipe(key)
        own = recipe.get("layers") or recipe.get("architecture", {}).get("layers")
        return own or self._standin_layers(recipe["bases"][0])

    def benchmark_modules(self, benchmark: str) -> list[str]:
        return [f"benchmarks.{benchmark}"]

    def keep_index(self, w) -> str:
        if not self.config.keep_index:
            return ""
        return f"--keep-index {self.work(f'index/{w.benchmark}/{w.model}/{w.setting}/{w.seeds}')}"

    # --- scoring.smk ------------------------------------------------------------------------------------------------
    def score_data(self, w) -> dict[str, str]:
        return self.data(self.protocol(w.benchmark, w.setting).get("judgments", []), self.languages(w.benchmark))

    def score_input(self, w) -> dict[str, Any]:
        made = "vectors" if w.setting in self.vectors_of(w.benchmark) else "retrieval"
        retrieval = self.results(f"{w.benchmark}/{w.model}/{w.setting}/{w.seeds}/{made}.json")
        return {"retrieval": retrieval, "data": list(self.score_data(w).values())}

    def scoring_modules(self, benchmark: str, setting: str) -> list[str]:
        used = {metric_parts(name)[0] for name in self.protocol(benchmark, setting)["metrics"]}
        return [*self.benchmark_modules(benchmark), *sorted(f"evaluation.metrics.{name}" for name in used)]

    @cached_property
    def aliases(self) -> dict[str, dict[str, str]]:
        return catalogue.load("settings")["aliases"]

    def canonical_setting(self, benchmark: str, setting: str) -> str:
        """The setting that an alias stands for; an alias of another benchmark is an error."""
        names = self.aliases[benchmark]
        if setting not in names:
            raise unknown("setting", setting, catalogue.setting_names(benchmark), f"results/{benchmark}")
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
