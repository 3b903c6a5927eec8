"""Write the JSON schemas of papers, their tables, figures and claims, generated from their models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from stele.command.arguments import Job, ends_in
from stele.files.atomic import atomic_write_json
from stele.papers.claims import Claims
from stele.papers.figure import Figure
from stele.papers.paper import Paper
from stele.papers.table import Table


class Schema(Job):
    output: Annotated[Path, ends_in(".json")] = Path("paper_tables/schema.json")
    """Schema of tables."""
    output_figures: Path = Path("paper_tables/figure.schema.json")
    """Schema of figures."""
    output_papers: Path = Path("paper_tables/paper.schema.json")
    """Schema of papers."""
    output_claims: Path = Path("paper_tables/claims.schema.json")
    """Schema of claims."""


def run(args: Schema) -> None:
    atomic_write_json(args.output, Table.json_schema())
    atomic_write_json(args.output_figures, Figure.json_schema())
    atomic_write_json(args.output_papers, Paper.json_schema())
    atomic_write_json(args.output_claims, Claims.json_schema())
