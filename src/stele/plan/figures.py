"""The figures of the tables' papers: which there are, what each draws, and the files it waits for."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stele.errors import SteleError, unknown
from stele.plan.rows import Rows

if TYPE_CHECKING:
    from stele.papers.figure import Figure
    from stele.papers.targets import Ask


class Figures(Rows):
    """The plan with the figures. A figure asks for rows, as a table does; some kinds draw a file beside a result."""

    @cached_property
    def figure_specs(self) -> dict[str, Path]:
        """`ccp/01` -> the spec's file, for the chosen papers."""
        return {
            f"{paper}/{path.stem.removeprefix('figure_')}": path
            for paper in self.config.papers
            for path in sorted(Path("paper_tables", paper).glob("figure_*.yaml"))
        }

    @cached_property
    def _figures(self) -> dict[str, Figure]:
        from stele.papers.figure import load_figure

        return {key: load_figure(path) for key, path in self.figure_specs.items()}

    @cached_property
    def _asked(self) -> dict[str, list[Ask]]:
        """What each figure asks for."""
        return {key: list(figure.asks()) for key, figure in self._figures.items()}

    @property
    def _drawn(self) -> list[Ask]:
        """All that stands in files beside results."""
        return [asked for key, asks in self._asked.items() if self._figures[key].from_files for asked in asks]

    def rows(self) -> list[tuple[str, str, str]]:
        """All (benchmark, model, setting) that the chosen tables and figures name."""
        of_figures = {asked.result for asks in self._asked.values() for asked in asks}
        return sorted({*super().rows(), *of_figures})

    def table_context(self) -> dict[str, Any]:
        """What tables and figures must know beside the results."""
        models = {asked.model for asked in self._drawn if asked.model in self.models}
        return {**super().table_context(), "seeds": {model: self.seeds(model)[0] for model in sorted(models)}}

    def _file(self, asked: Ask) -> str:
        """The file that a figure draws, of the first seeds: points of several encoders have no mean."""
        from stele.tables.figures.data import file_name

        seeds = self.seeds(asked.model)[0]
        return self.results(f"{asked.benchmark}/{asked.model}/{asked.setting}/{seeds}/{file_name(asked)}.csv")

    def _can_be_built(self, asked: Ask) -> bool:
        if self.row_problem(*asked.result):
            return False
        return bool(set(asked.languages) & set(self.languages(asked.benchmark)))

    def figure_results(self, figure: str) -> list[str]:
        """The results or files that a figure waits for: those that can be built."""
        asks = [asked for asked in self._asked[figure] if self._can_be_built(asked)]
        if self._figures[figure].from_files:
            return sorted({self._file(asked) for asked in asks})
        return sorted({self.result(*asked.result) for asked in asks})

    def figure_files(self) -> dict[str, str]:
        """The files that are built for figures -> what a context calls them."""
        from stele.tables.figures.data import file_key

        return {self._file(asked): file_key(asked) for asked in self._drawn if self._can_be_built(asked)}

    # --- tables.smk -------------------------------------------------------------------------------------------------
    def figure_input(self, w) -> dict[str, Any]:
        figure = f"{w.paper}/{w.number}"
        if figure not in self.figure_specs:
            raise unknown("figure", figure, self.figure_specs)
        return {
            "spec": str(self.figure_specs[figure]),
            "context": self.results("tables/context.json"),
            "results": self.figure_results(figure),
        }

    def all_figures(self) -> list[str]:
        """The figures of the chosen papers, and the map of all cells."""
        names = [f"{paper}/figure_{number}" for paper, _, number in (key.partition("/") for key in self.figure_specs)]
        return [self.results(f"tables/{name}.svg") for name in [*names, "cell_map"]]

    # --- retrieval.smk ----------------------------------------------------------------------------------------------
    def project_input(self, w) -> dict[str, Any]:
        problem = self.row_problem("tatoeba", w.model, w.setting)
        if problem is None and w.language not in self.languages("tatoeba"):
            problem = "not in scale", f"{w.language} is not among the languages of this run"
        if problem:
            raise SteleError(f"projection of tatoeba/{w.model}/{w.setting}: {problem[0]}: {problem[1]}")
        encoder = self.final_encoder("tatoeba", w.model, w.setting, w.seeds)
        return {"encoder": encoder, "data": list(self.project_data(w).values())}

    def project_data(self, w) -> dict[str, str]:
        return self.data(["tatoeba"], [w.language])
