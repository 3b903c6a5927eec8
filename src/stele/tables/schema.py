"""Write the JSON schemas of papers, their tables, figures and claims, generated from their models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from stele.command.arguments import Job, ends_in
from stele.files.atomic import atomic_write_json
from stele.papers.claims import claims_schema
from stele.papers.figure import figure_schema
from stele.papers.paper import paper_schema
from stele.papers.table import Table


def schema() -> dict[str, Any]:
    """The JSON schema of `paper_tables/{paper}/table_NN.yaml`."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Table.model_json_schema()}


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
    atomic_write_json(args.output, schema())
    atomic_write_json(args.output_figures, figure_schema())
    atomic_write_json(args.output_papers, paper_schema())
    atomic_write_json(args.output_claims, claims_schema())
