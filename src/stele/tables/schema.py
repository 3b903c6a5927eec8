"""Write the JSON schemas of papers, their tables, figures and claims, generated from their models."""

from pathlib import Path

from stele.command.arguments import Job
from stele.errors import SteleError
from stele.files.atomic import atomic_write_json
from stele.files.reading import read_note
from stele.papers.claims import Claims
from stele.papers.figure import Figure
from stele.papers.paper import Paper
from stele.papers.table import Table

SCHEMAS = {
    "schema.json": Table,
    "figure.schema.json": Figure,
    "paper.schema.json": Paper,
    "claims.schema.json": Claims,
}


class Schema(Job):
    to: Path = Path("paper_tables")
    """Folder to write the schemas to."""


def run(args: Schema) -> None:
    for name, model in SCHEMAS.items():
        if (path := args.to / name).is_file() and read_note(path).get("title") != model.__name__:
            raise SteleError(f"{path}: exists, and is not the schema of {model.__name__}; give another folder")
    for name, model in SCHEMAS.items():
        atomic_write_json(args.to / name, model.json_schema())
