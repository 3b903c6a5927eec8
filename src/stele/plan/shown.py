"""Languages of a row that the papers' tables and figures show; other languages need no jobs of their own."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from stele.artifacts.results import RunKey
from stele.papers.figure import load_figure
from stele.papers.paper import PAPER_TABLES
from stele.papers.table import accepts_rows, load_spec, references
from stele.papers.table_parts import CellSource
from stele.plan.models import Models


def added_models(models: Models, spec: Path) -> list[str]:
    """Models of config.yaml that get an extra row in a table although its spec does not name them."""
    name, fits = f"{spec.parent.name}/{int(spec.stem.removeprefix('table_'))}", None
    added = []
    for key, model in models.all.items():
        if "all" in model.tables and fits is None:
            fits = accepts_rows(load_spec(spec))
        if name in model.tables or ("all" in model.tables and fits):
            added.append(key)
    return added


def shown_languages(models: Models) -> dict[RunKey, set[str]]:
    """Languages that the tables and figures of all papers show, by row; a row's jobs do not depend on `papers:`."""
    languages: dict[RunKey, set[str]] = defaultdict(set)
    for value in _values(models):
        languages[value.result] |= {*value.languages}
    return dict(languages)


def _values(models: Models) -> Iterator[CellSource]:
    config = models.settings.config
    elsewhere = [Path(paper) for paper in config.papers if "/" in paper]
    folders = [*sorted(PAPER_TABLES.glob("*/")), *elsewhere]
    for spec in (path for folder in folders for path in sorted(folder.glob("table_*.yaml"))):
        yield from references(load_spec(spec), config.recompute, added_models(models, spec))
    for spec in (path for folder in folders for path in sorted(folder.glob("figure_*.yaml"))):
        yield from load_figure(spec).references()
