"""The tables of the chosen papers: their rows, those that can be built, and the results that each table depends on."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from stele.artifacts.results import RunKey
from stele.errors import SteleError, check_known
from stele.papers.names import unknown_names
from stele.papers.paper import CLAIMS, CORRECTIONS, FILE, paper_folder
from stele.papers.table import load_spec, references
from stele.plan.models import Problem
from stele.plan.paths import Inputs
from stele.plan.rows import Rows
from stele.plan.settings import cached_method


def short_name(table: str) -> str:
    """The name of a table without leading zeros.

    >>> short_name("msm/09")
    'msm/9'
    """
    paper, _, number = table.partition("/")
    return f"{paper}/{int(number)}"


def spec_inputs(spec: Path) -> Inputs:
    """The files that define a table or figure: its spec, and its paper's name and citation if there is that file."""
    about = spec.with_name(FILE)
    return {"spec": str(spec), **({"paper": str(about)} if about.is_file() else {})}


@dataclass(frozen=True, eq=False, repr=False)
class Tables:
    rows: Rows
    chosen: tuple[str, ...]

    @property
    def folders(self) -> dict[str, Path]:
        """Folders of the chosen papers by key."""
        return {folder.name: folder for folder in map(paper_folder, self.chosen)}

    @cached_property
    def specs(self) -> dict[str, Path]:
        """Spec files of the chosen papers' tables by name ("msm/09"). Raises SteleError for a paper without tables."""
        specs = {}
        for paper, folder in self.folders.items():
            files = sorted(folder.glob("table_*.yaml"))
            if not files:
                raise SteleError(f"papers: {paper}: {folder}/ has no table_*.yaml yet")
            specs |= {f"{paper}/{path.stem.removeprefix('table_')}": path for path in files}
        return specs

    @property
    def claims(self) -> list[str]:
        """Paths of the chosen papers' claims, which are shown on the papers' pages."""
        return [str(folder / CLAIMS) for folder in self.folders.values() if (folder / CLAIMS).is_file()]

    @property
    def papers_with_claims(self) -> list[str]:
        """Folders of the chosen papers that have claims; by the slash at its end `my_paper/` is a path and no key."""
        return [f"{Path(path).parent}/" for path in self.claims]

    @property
    def corrections(self) -> list[str]:
        """Paths of the files with corrections of claims."""
        return [str(folder / CORRECTIONS) for folder in self.folders.values() if (folder / CORRECTIONS).is_file()]

    @cached_method
    def rows_of(self, table: str) -> list[RunKey]:
        """The rows of a table, including those of the user's own models. Raises SteleError for unknown names in it."""
        table_spec, config = load_spec(self.specs[table]), self.rows.paths.settings.config
        values = [*references(table_spec, config.recompute, self.extra_rows(table))]
        if problems := unknown_names(((str(self.specs[table]), value) for value in values), self.rows.models.all):
            raise SteleError("\n".join(problems))
        return sorted({value.result for value in values})

    @cached_method
    def extra_rows(self, table: str) -> list[str]:
        """Models of config.yaml that get an extra row in a table although its spec does not name them."""
        return self.rows.added_models(self.specs[table])

    def all_rows(self) -> set[RunKey]:
        return {row for table in self.specs for row in self.rows_of(table)}

    def problems(self, table: str) -> dict[RunKey, Problem]:
        """The rows of a table that cannot be built, each with its problem."""
        problems = {row: self.rows.problem(row) for row in self.rows_of(table)}
        return {row: problem for row, problem in problems.items() if problem}

    def results(self, table: str) -> list[str]:
        """Paths of the results that a table depends on: those of its rows that can be built."""
        seeds_of_rows = self.seeds(table)
        rows = [row for row in self.rows_of(table) if self.rows.problem(row) is None]
        by_seed = [self.rows.paths.seed_result(row, name) for row, seeds in seeds_of_rows.items() for name in seeds]
        return sorted([*by_seed, *(self.rows.paths.result(row) for row in rows if row not in seeds_of_rows)])

    @cached_method
    def seeds(self, table: str) -> dict[RunKey, list[str]]:
        """Seeds by row, for the rows of a table that by its spec have other seeds than the configuration's.

        If the spec names only pretraining or only fine-tuning seeds, the others are those of the configuration.
        """
        named = {kind: seeds for kind, seeds in load_spec(self.specs[table]).seeds.given().items() if seeds}
        chosen = self.rows.paths.settings.config.seeds.model_copy(update=named)
        rows = [row for row in self.rows_of(table) if named and self.rows.problem(row) is None]
        seeds = {row: self.rows.seeds(row, chosen) for row in rows}
        return {row: names for row, names in seeds.items() if names != self.rows.seeds(row)}

    def seed_files(self) -> dict[str, str]:
        """Names of rows by path, for the results of single seeds that tables read."""
        rows = [item for table in self.specs for item in self.seeds(table).items()]
        return {self.rows.paths.seed_result(row, name): row.name for row, seeds in rows for name in seeds}

    def inputs(self, w) -> Inputs:
        table = f"{w.paper}/{w.number}"
        check_known("table", table, self.specs, f"papers [{', '.join(self.chosen)}]")
        return {**spec_inputs(self.specs[table]), "context": self.rows.paths.context, "results": self.results(table)}

    def files(self, ending: str = "md") -> list[str]:
        """Paths of all tables in one format."""
        return [self.rows.paths.table(table, ending) for table in self.specs]
