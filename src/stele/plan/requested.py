"""The requested outputs of a run: tables and figures of papers and of today's encoders, and the downloads for them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from stele import catalogue
from stele.artifacts.results import RunKey
from stele.catalogue.schema.benchmarks import Benchmark
from stele.papers.paper import TODAY
from stele.plan.figures import Figures
from stele.plan.models import Problem
from stele.plan.paths import Inputs
from stele.plan.rows import Rows
from stele.plan.scoring import PUBLISHED
from stele.plan.tables import Tables, short_name


class RowsOfToday(Rows):
    """Rows of the tables of today's encoders. At a generated scale, public checkpoints without stand-in are left out.

    Such a result can still be requested by name; its checkpoint is then downloaded from the hub.
    """

    def problem(self, row: RunKey) -> Problem | None:
        if problem := super().problem(row):
            return problem
        settings, root = self.paths.settings, self.models.root(row.model)
        user_model = settings.config.models.get(root)
        if not settings.generated or self.world.standin(root) or (user_model and user_model.checkpoint):
            return None
        if "checkpoint" not in self.models.checkpoint_source(root):
            return None
        return "not in scale", f"no stand-in for its checkpoint at the scale {settings.scale_folder}"


@dataclass(frozen=True, eq=False, repr=False)
class RequestedOutputs:
    rows: Rows
    tables: Tables
    figures: Figures
    tables_of_today: Tables
    figures_of_today: Figures

    @cached_property
    def all_rows(self) -> list[RunKey]:
        """All rows of the chosen papers' tables and figures."""
        return sorted(self.tables.all_rows() | self.figures.all_rows())

    @cached_property
    def rows_of_today(self) -> list[RunKey]:
        """All rows of the tables and the figure of today's encoders."""
        return sorted(self.tables_of_today.all_rows() | self.figures_of_today.all_rows())

    def results(self) -> dict[str, str]:
        """Maps each result file (of a row, a single seed or a figure) to its name in the context file."""
        rows = {self.rows.paths.result(row): row.name for row in (*self.all_rows, *self.rows_of_today)}
        return rows | self.figures.result_files() | self.tables.seed_files()

    def table_inputs(self, w) -> Inputs:
        """Inputs of a table's job, for the tables of papers and of today's encoders."""
        return self.tables_with(f"{w.paper}/{w.number}").inputs(w)

    def tables_with(self, table: str) -> Tables:
        """The group of tables, papers' or today's encoders', that a table such as `today/01` belongs to."""
        return self.tables_of_today if table.startswith(f"{TODAY}/") else self.tables

    def facts_of_tables(self, paper: str) -> tuple[str, ...]:
        """Fact files that a paper's tables and figures read: published numbers, and which models saw test questions."""
        return (*PUBLISHED, "catalogue/models.yaml", "catalogue/benchmarks.yaml") if paper == TODAY else ()

    def figure_inputs(self, w) -> Inputs:
        """Inputs of a figure's job, for the figures of papers and of today's encoders."""
        return (self.figures_of_today if w.paper == TODAY else self.figures).inputs(w)

    def downloads(self) -> list[str]:
        """Records of all downloads that the chosen tables and the user's own models need, each once."""
        records: set[str] = set()
        for row in self.all_rows:
            if self.rows.problem(row) is None:
                records |= self.rows.downloads(row)
        availability = self.rows.availability
        for model in self.rows.paths.settings.config.models:
            if self.rows.models[model].has_encoder and not availability.model_problem(model):
                reads = availability.pretraining.reads(model)
                if not availability.data_problem(reads):
                    records |= self.rows.fetched(reads, availability.checkpoints(model, None))
        return sorted(records)

    def knowledge_pairs(self) -> list[tuple[str, str]]:
        """(mining recipe, record) of all knowledge pairs that the rows' models are pretrained on."""
        models = self.rows.models
        trained = {models.pretraining_of(row.model) for row in self.all_rows if row.model in models.all} - {None}
        return sorted(set().union(*map(self.rows.availability.pretraining.knowledge_pairs, trained)))

    def statistics(self) -> list[str]:
        """Path of the table of knowledge pair counts, in a list; empty if no chosen row's model reads such pairs."""
        return [self.rows.paths.results("statistics/knowledge_pairs.md")] if self.knowledge_pairs() else []

    def context(self) -> dict[str, Any]:
        """Facts that tables and figures need besides results: scale, reasons for missing rows, the user's own rows."""
        settings, data = self.rows.paths.settings, self.rows.data
        problems_of_today = {row: self.tables_of_today.rows.problem(row) for row in self.rows_of_today}
        # a row that is in a paper too is built for the paper, so the paper's problem counts
        problems = problems_of_today | {row: self.rows.problem(row) for row in self.all_rows}
        every = [*problems]
        extra = {table: of.extra_rows(table) for of in (self.tables, self.tables_of_today) for table in of.specs}
        added = dict.fromkeys(model for models in extra.values() for model in models)
        return {
            "scale": settings.scale_folder,
            "languages_in_scale": {name: data.languages(name) for name in catalogue.entries(Benchmark)},
            "recompute": settings.config.recompute,
            "left_out": {row.name: reasons for row in every if (reasons := self.rows.left_out(row))},
            "rows": {row.name: {"state": p[0], "reason": p[1]} for row, p in problems.items() if p},
            "table_seeds": {
                short_name(table): {row.name: names for row, names in self.tables.seeds(table).items()}
                for table in self.tables.specs
            },
            "extra_rows": [
                {
                    "model": model,
                    "label": self.rows.models[model].label,
                    "tables": [short_name(table) for table, models in extra.items() if model in models],
                }
                for model in added
            ],
            "seeds": self.figures.first_seeds(),
        }
