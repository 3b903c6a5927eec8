"""The rows of the tables: which there are, what each needs from outside, and why one cannot be built."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from stele import catalogue
from stele.catalogue import datasets, hub
from stele.errors import SteleError
from stele.plan.mined import Mined
from stele.plan.plain import ANSERINI, STATISTICS, Plain
from stele.plan.tuned import Tuned

Problem = tuple[str, str]  # a state of tables/states.py, the reason


def row_name(benchmark: str, model: str, setting: str) -> str:
    """A result's name in a table's context."""
    return f"{model}/{setting}/{benchmark}"


class Rows(Mined, Tuned, Plain):
    """The plan with the tables' rows. A row is a (benchmark, model, setting)."""

    # --- why a row cannot be built ----------------------------------------------------------------------------------
    def row_problem(self, benchmark: str, model: str, setting: str) -> Problem | None:
        """(state, reason) when a row of a table cannot be built: `not built`, `unavailable` or `not in scale`."""
        if benchmark == STATISTICS:  # its models are datasets
            reason = None if (problem := self.count_problem(model, setting)) else self.data_problem([model])
            return problem or (("unavailable", reason) if reason else None)
        if model not in self.models:
            return "not built", f"no rule builds {model} yet"
        settings = catalogue.load("settings")["settings"]
        if benchmark not in settings or setting not in settings[benchmark]:
            return "not built", f"no rule builds {benchmark}/{setting} yet"
        if problem := self.kind_problem(benchmark, model, setting) or self.model_problem(model):
            return problem
        for what, names in self.data_groups(benchmark, model, setting).items():
            if reason := self.data_problem(names) or self.mixture_problem(what, names):
                return "unavailable", reason
        if not self.languages(benchmark):
            return "not in scale", f"no language of {benchmark} is built"
        return None

    def model_problem(self, key: str) -> Problem | None:
        """(state, reason) when a model cannot be built, else None: `not built`, `unavailable` or `not in scale`."""
        model = self.model(key)
        if self.is_lexical(key):  # it has no checkpoint; it may need a search engine of the user's
            reason = self.data_problem([ANSERINI] if self.anserini else [])
            return ("unavailable", reason) if reason else None
        if self.is_trained(key):
            of_others = self.model_problem(model["base"]) or self.model_problem(self.tokenizer(key))
            return self.mining_problem(key) or of_others
        if source := self.checkpoint_source(key):
            return self.source_problem(key, source)
        if released := model.get("released"):
            return "unavailable", (
                f"the authors' weights are not on a hub: fetch {released['where']} and give its folder as "
                f"user_data: {{{released['dataset']}: FOLDER}}"
            )
        if model.get("checkpoint") == "released":
            return "unavailable", f"no weights of {key} were released: leave `checkpoint` out of models.{key}"
        return "not built", f"{key} has no recipe yet"

    def source_problem(self, key: str, source: dict[str, Any]) -> Problem | None:
        """`unavailable` and why, when the user's folder of a checkpoint is not there, or an address cannot be one."""
        path, released = source.get("path"), self.model(key).get("released", {}).get("dataset")
        if path and released in self.config.user_data and not Path(path).expanduser().is_dir():
            return "unavailable", f"user_data.{released}: {path} is not a folder"
        try:
            hub.repository(source)
        except SteleError as error:
            return "unavailable", f"models.{key}.checkpoint: {error}"
        return None

    def data_groups(self, benchmark: str, model: str, setting: str) -> dict[str, list[str]]:
        """The datasets that a row reads, in groups of those that must tell of one world, by what reads them."""
        groups = {benchmark: self.row_data(benchmark, setting)}
        for recipe in self.chain(self.setting_recipe(benchmark, setting)):
            groups |= {f"training set {name}": self.training_set(name)["data"] for name in self.training_sets(recipe)}
            if mined := self.mined_set(recipe):
                groups[f"hard negatives of {mined}"] = self.mined_sets(mined)
        return groups | self.pretraining_groups(model)

    def pretraining_groups(self, model: str) -> dict[str, list[str]]:
        """The corpora that a model and those that it starts from are pretrained on, by what reads them."""
        groups = {}
        while self.is_trained(model):
            groups[f"pretraining of {model}"] = sorted({dataset for dataset, _ in self.texts(model)})
            model = self.model(model)["base"]
        return groups

    def data_problem(self, names: Iterable[str]) -> str | None:
        """Why a dataset cannot be had (a licence, a drive), None when all can."""
        reasons = (
            datasets.availability({"dataset": name, **datasets.dataset(name)}, self.users_folder(name))
            for name in names
            # the generated internet has all, licensed ones in a folder of their own
            if self.users_folder(name) or not self.generated
        )
        return next((reason for reason in reasons if reason), None)

    def mixture_problem(self, what: str, names: Iterable[str]) -> str | None:
        """Why datasets that belong together do not fit: some are the user's, the others generated, of another world."""
        own = [name for name in self.of_the_world(names) if self.users_folder(name)]
        lacking = [name for name in self.of_the_world(names) if name not in own]
        if not (self.generated and own and lacking):
            return None
        wanted = ", ".join(f"{name}: YOUR_FOLDER" for name in lacking)
        return (
            f"{what}: {', '.join(own)} is yours, but {', '.join(lacking)} would be generated, which is about another "
            f"world. Add to config.yaml: user_data: {{{wanted}}}"
        )

    # --- downloads --------------------------------------------------------------------------------------------------
    def leaves(self, benchmark: str, model: str, setting: str) -> set[str]:
        """The records of all datasets and checkpoints that a result needs."""
        if benchmark == STATISTICS:
            return {*self.counted_data(model).values()}
        found = {*self.data(self.row_data(benchmark, setting), self.languages(benchmark)).values()}
        for recipe in self.chain(self.setting_recipe(benchmark, setting)):
            found |= {*self.training_data(recipe).values()}
            if mined := self.mined_set(recipe):
                found |= {*self.mining_data(mined).values()}
        return found | self.model_leaves(model)

    def model_leaves(self, model: str) -> set[str]:
        """The records of the checkpoints that a model comes from, and of the text that it is pretrained on."""
        if self.is_lexical(model):
            return {self.anserini} if self.anserini else set()
        found = set()
        while self.is_trained(model):
            found |= {self.dataset(*text) for text in self.texts(model)}
            found.add(self.checkpoint(self.tokenizer(model)))
            model = self.model(model)["base"]
        return found | {self.checkpoint(model)}

    def downloads(self) -> list[str]:
        """The records of all that the chosen tables and the user's own models need from outside, each once."""
        rows = [self.leaves(*row) for row in self.rows() if self.row_problem(*row) is None]
        models = [self.model_leaves(model) for model in self.config.models if self._can_be_had(model)]
        return sorted(set().union(*rows, *models))

    def _can_be_had(self, model: str) -> bool:
        groups = self.pretraining_groups(model).values()
        return self.model_problem(model) is None and not any(map(self.data_problem, groups))

    # --- tables -----------------------------------------------------------------------------------------------------
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
        from stele.papers.targets import table_rows

        return {key: table_rows(path, self.config.recompute, self.extra_rows(key)) for key, path in self.specs.items()}

    def extra_rows(self, table: str) -> list[str]:
        """The models that get a row of their own in a table without standing in its spec."""
        from stele.papers.table import load_spec
        from stele.papers.targets import accepts_rows

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

    def problems(self, table: str) -> dict[tuple[str, str, str], Problem]:
        """The rows of a table that cannot be built, with why."""
        found = {row: self.row_problem(*row) for row in self._targets[table]}
        return {row: problem for row, problem in found.items() if problem}

    def table_results(self, table: str) -> list[str]:
        """The results that a table waits for: its rows that can be built."""
        rows, own = [row for row in self._targets[table] if self.row_problem(*row) is None], self.table_seeds(table)
        by_seed = [path for row, seeds in own.items() for path in self.seed_results(row, seeds)]
        return sorted([*by_seed, *(self.result(*row) for row in rows if row not in own)])

    def seed_results(self, row: tuple[str, str, str], seeds: Iterable[str]) -> list[str]:
        """The files of single seeds of a row."""
        return [self.results("/".join((*row, f"{name}.json"))) for name in seeds]

    def table_seeds(self, table: str) -> dict[tuple[str, str, str], list[str]]:
        """The rows of a table with seeds of its own that it reads by seed -> those seeds.

        They are those that are fine-tuned. Of a kind that the table does not name the seeds are the configuration's.
        """
        from stele.papers.table import load_spec

        own, ours = load_spec(self.specs[table]).seeds, self.config.seeds
        found = {}
        for benchmark, model, setting in self._targets[table] if own.names() else ():
            row = benchmark, model, setting
            if self.row_problem(*row) is None and self.setting_recipe(benchmark, setting) is not None:
                found[row] = own.names(ours.pretraining if self.is_trained(model) else [0], ours.finetuning)
        return found

    def seed_files(self) -> dict[str, str]:
        """The files of single seeds that tables read -> the names of their rows."""
        own = [found for table in self.specs for found in self.table_seeds(table).items()]
        return {path: row_name(*row) for row, seeds in own for path in self.seed_results(row, seeds)}

    def table_context(self) -> dict[str, Any]:
        """What a table must know beside the results: scale, languages, why rows cannot be built, rows of one's own."""
        problems = {row: self.row_problem(*row) for row in self.rows()}
        added: dict[str, list[str]] = {}
        seeds: dict[str, dict[str, list[str]]] = {}
        for table in self.specs:
            paper, _, number = table.partition("/")
            name = f"{paper}/{int(number)}"
            if own := self.table_seeds(table):
                seeds[name] = {row_name(*row): names for row, names in own.items()}
            for model in self.extra_rows(table):
                added.setdefault(model, []).append(name)
        return {
            "scale": self.scale_folder,
            "languages_in_scale": {b: self.languages(b) for b in catalogue.load("benchmarks")},
            "recompute": self.config.recompute,
            "rows": {row_name(*row): {"state": p[0], "reason": p[1]} for row, p in problems.items() if p},
            "table_seeds": seeds,
            "extra_rows": [{"model": m, "label": self.model(m)["label"], "tables": t} for m, t in added.items()],
        }
