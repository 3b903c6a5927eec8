"""The figures of the chosen papers: their specs, the values that each draws, and the files that it depends on."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from stele.artifacts.results import RunKey
from stele.errors import SteleError, check_known
from stele.papers.figure import Figure, file_key, file_name, load_figure
from stele.papers.names import unknown_names
from stele.papers.paper import paper_folder
from stele.papers.table_parts import CellSource
from stele.plan.paths import Inputs
from stele.plan.rows import Rows
from stele.plan.tables import spec_inputs


@dataclass(frozen=True, eq=False, repr=False)
class Figures:
    """Figures depend on rows, as tables do; some kinds of figure draw a file that is stored next to a result."""

    rows: Rows
    chosen: tuple[str, ...]

    @cached_property
    def specs(self) -> dict[str, Path]:
        """Spec files of the figures of the chosen papers, by name ("ccp/01")."""
        return {
            f"{folder.name}/{path.stem.removeprefix('figure_')}": path
            for folder in map(paper_folder, self.chosen)
            for path in sorted(folder.glob("figure_*.yaml"))
        }

    @cached_property
    def _figures(self) -> dict[str, Figure]:
        return {key: load_figure(path) for key, path in self.specs.items()}

    @cached_property
    def _values(self) -> dict[str, list[CellSource]]:
        """The values that each figure draws. Raises SteleError for unknown names in a figure."""
        values = {key: list(figure.references()) for key, figure in self._figures.items()}
        placed = [(str(self.specs[key]), value) for key, of_figure in values.items() for value in of_figure]
        if problems := unknown_names(placed, self.rows.models.all):
            raise SteleError("\n".join(problems))
        return values

    @property
    def _from_files(self) -> list[CellSource]:
        """All values that are read from files next to results."""
        return [value for key, values in self._values.items() if self._figures[key].from_files for value in values]

    def all_rows(self) -> set[RunKey]:
        return {value.result for values in self._values.values() for value in values}

    def first_seeds(self) -> dict[str, str]:
        """Seeds whose encoder is drawn, by row: only the first, since points of several encoders have no mean."""
        rows = sorted({value.result for value in self._from_files if self.rows.is_known(value.result)})
        return {row.name: seeds[0] for row in rows if (seeds := self.rows.seeds(row))}

    def _file(self, value: CellSource) -> str:
        seeds = self.rows.seeds(value.result)[:1]  # none: a count
        return self.rows.paths.results("/".join([value.result.path, *seeds, f"{file_name(value)}.csv"]))

    def _can_be_built(self, value: CellSource) -> bool:
        if self.rows.problem(value.result):
            return False
        return bool(set(value.languages) & set(self.rows.languages(value.result)))

    def results(self, figure: str) -> list[str]:
        """Paths of the results or files that a figure depends on; those that cannot be built are left out."""
        values = [value for value in self._values[figure] if self._can_be_built(value)]
        if self._figures[figure].from_files:
            return sorted({self._file(value) for value in values})
        return sorted({self.rows.paths.result(value.result) for value in values})

    def result_files(self) -> dict[str, str]:
        """Names, in the context file, of the files that are built for figures, by path."""
        return {self._file(value): file_key(value) for value in self._from_files if self._can_be_built(value)}

    def inputs(self, w) -> Inputs:
        figure = f"{w.paper}/{w.number}"
        check_known("figure", figure, self.specs, f"papers [{', '.join(self.chosen)}]")
        return {**spec_inputs(self.specs[figure]), "context": self.rows.paths.context, "results": self.results(figure)}

    def drawn(self) -> list[str]:
        """Paths of all figures, as SVG."""
        return [self.rows.paths.results(f"tables/{name.replace('/', '/figure_')}.svg") for name in self.specs]

    def files(self) -> list[str]:
        """Paths of all figures and of the map of all table cells."""
        return [*self.drawn(), self.rows.paths.results("tables/cell_map.svg")]
