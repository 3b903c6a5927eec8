"""What the rules ask: inputs and params of every job, one section a rule file. `w` are a job's wildcards."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from stele import catalogue
from stele.catalogue import datasets
from stele.catalogue.user_data import sampled_digest
from stele.errors import SteleError, unknown
from stele.fingerprint import package_modules
from stele.outputs import digest
from stele.plan import Plan, pretraining_seed


def as_json(value: Any) -> str:
    """A value as compact JSON with sorted keys: equal values are equal params."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def assignments(records: dict[str, str]) -> list[str]:
    """`name=path` for the command line."""
    return [f"{name}={path}" for name, path in records.items()]


def row_name(benchmark: str, model: str, setting: str) -> str:
    """A result's name in a table's context."""
    return f"{model}/{setting}/{benchmark}"


class Jobs(Plan):
    """The plan with the answers that the rules need."""

    # --- world.smk --------------------------------------------------------------------------------------------------
    def standin_key(self, model: str) -> str | None:
        """The stand-in for a model's checkpoint at a generated scale, None where the real one is used."""
        standins = catalogue.load("standins")
        released = self.model(model).get("released", {}).get("dataset")
        key = released if released in standins else model
        if not self.generated or key not in standins:
            return None
        return None if self.config.models.get(model) and self.config.models[model].checkpoint else key

    def standin_bases(self, w) -> list[str]:
        return [self.standin(base) for base in catalogue.get("standins", w.key).get("bases", [])]

    def standin_recipe(self, key: str) -> dict[str, Any]:
        entry = catalogue.get("standins", key)
        return {**entry, **self.sizes["standins"].get(key, {}), "threads": self.sizes["threads"]}

    # --- sources.smk ------------------------------------------------------------------------------------------------
    def _mirrors(self) -> str:
        mirrors = list(self.config.mirrors)
        if self.generated:
            mirrors.insert(0, self.resources("mirror"))
        offline = self.config.offline or self.generated
        return " ".join([*(["--mirrors", *mirrors] if mirrors else []), *(["--offline"] if offline else [])])

    def dataset_input(self, w) -> dict[str, str]:
        users = w.dataset in self.config.user_data
        return {"manifest": self.manifest} if self.generated and not users else {}

    def dataset_entry(self, dataset: str) -> str:
        """A digest of what the catalogue says of a dataset; the command reads the entry itself."""
        return digest(datasets.dataset(dataset))

    def part_languages(self, dataset: str, part: str) -> list[str]:
        return self.dataset_languages(dataset) if part == "all" else [part]

    def user_content(self, dataset: str) -> str:
        """A digest of the user's files, never of where they lie."""
        if dataset not in self.config.user_data:
            return ""
        return sampled_digest(self.config.user_data[dataset])

    def dataset_locations(self, dataset: str) -> str:
        folder = self.user_folder(dataset)
        if folder:
            manifest = f"--manifest {self.manifest} " if dataset not in self.config.user_data else ""
            return f"{manifest}--user-data {folder}"
        return (f"--manifest {self.manifest} " if self.generated else "") + self._mirrors()

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
        folder = self.checkpoint_source(model).get("path")
        if not folder or self.standin_key(model):
            return ""
        return sampled_digest(folder)

    def checkpoint_locations(self, model: str) -> str:
        folder = self.checkpoint_source(model).get("path")
        return f"--path {folder}" if folder else self._mirrors()

    def downloads(self) -> list[str]:
        """The records of all that the chosen tables need from outside, each once."""
        found: set[str] = set()
        for benchmark, model, setting in self.rows():
            if self.row_problem(benchmark, model, setting) is None:
                found |= self.leaves(benchmark, model, setting)
        return sorted(found)

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

    def documents(self, w) -> str:
        """The record of a language's documents."""
        shard = {"cc100": "", "wikipedia": "1/"}[corpus := self.corpus(w.part)]
        return self.work(f"documents/{corpus}/{w.part}/{shard}record.json")

    def pretrain_input(self, w) -> dict[str, Any]:
        if not self.is_trained(w.model):
            raise SteleError(
                f"{w.model} is not pretrained here: {self.checkpoint_source(w.model) or 'it has no recipe'}"
            )
        return {"base": self.encoder(self.model(w.model)["base"], w.pt), "pairs": list(self.pretrain_pairs(w).values())}

    def objective_modules(self, model: str) -> list[str]:
        recipe = self.pretraining_recipe(model)
        same_compute = recipe.get("equal_compute_to", recipe)["objective"]
        return [f"training.objectives.{name}" for name in sorted({recipe["objective"], same_compute, "mlm"})]

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
        resolved = self.finetuning_recipe(recipe)
        sets = {resolved["training_set"], resolved.get("dev_set") or resolved["training_set"]}
        return sorted({f"benchmarks.{self.training_set(name)['module']}" for name in sets})

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
        return [*self.benchmark_modules(benchmark), *package_modules("scoring.metrics")]

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
    @cached_property
    def specs(self) -> dict[str, Path]:
        """`msm/09` -> the spec's file, for the chosen papers."""
        found = {}
        for paper in self.config.papers:
            files = sorted(Path("paper_tables", paper).glob("table_*.yaml"))
            if not files:
                raise SteleError(f"papers: {paper}: paper_tables/{paper}/ has no table yet")
            found |= {f"{paper}/{path.stem.removeprefix('table_')}": path for path in files}
        return found

    @cached_property
    def _targets(self) -> dict[str, list[tuple[str, str, str]]]:
        """The (benchmark, model, setting) of each table."""
        from stele.tables.targets import table_rows

        return {key: table_rows(path, self.config.recompute, self.extra_rows(key)) for key, path in self.specs.items()}

    def extra_rows(self, table: str) -> list[str]:
        """The models that get a row of their own in a table without standing in its spec."""
        from stele.tables.spec import load_spec
        from stele.tables.targets import accepts_rows

        paper, _, number = table.partition("/")
        names = {f"{paper}/{int(number)}", table}
        found = []
        for key, model in self.models.items():
            asked = set(model.get("tables", []))
            if names & asked or ("all" in asked and accepts_rows(load_spec(self.specs[table]))):
                found.append(key)
        return found

    def rows(self) -> Iterable[tuple[str, str, str]]:
        """All (benchmark, model, setting) that the chosen tables name."""
        return sorted({row for rows in self._targets.values() for row in rows})

    def table_results(self, table: str) -> list[str]:
        """The results that a table waits for: its rows that can be built."""
        return sorted(self.result(*row) for row in self._targets[table] if self.row_problem(*row) is None)

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

    def table_context(self) -> dict[str, Any]:
        """What a table must know beside the results: scale, languages, why rows cannot be built, rows of one's own."""
        problems = {row: self.row_problem(*row) for row in self.rows()}
        added: dict[str, list[str]] = {}
        for table in self.specs:
            paper, _, number = table.partition("/")
            for model in self.extra_rows(table):
                added.setdefault(model, []).append(f"{paper}/{int(number)}")
        return {
            "scale": self.scale_folder,
            "languages_in_scale": {b: self.languages(b) for b in catalogue.load("benchmarks")},
            "recompute": self.config.recompute,
            "rows": {row_name(*row): {"state": p[0], "reason": p[1]} for row, p in problems.items() if p},
            "extra_rows": [{"model": m, "label": self.model(m)["label"], "tables": t} for m, t in added.items()],
        }
