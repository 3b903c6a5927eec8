"""Write the JSON schemas of papers, their tables, figures and claims, generated from their models."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from stele.command import arguments
from stele.files.atomic import atomic_write_json
from stele.papers.claims import claims_schema
from stele.papers.figure import figure_schema
from stele.papers.paper import paper_schema
from stele.papers.table import Table


def schema() -> dict[str, Any]:
    """The JSON schema of `paper_tables/{paper}/table_NN.yaml`."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Table.model_json_schema()}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output", type=arguments.output(".json"), default=Path("paper_tables/schema.json"), help="of tables"
    )
    parser.add_argument(
        "--output-figures", type=Path, default=Path("paper_tables/figure.schema.json"), help="of figures"
    )
    parser.add_argument("--output-papers", type=Path, default=Path("paper_tables/paper.schema.json"), help="of papers")
    parser.add_argument("--output-claims", type=Path, default=Path("paper_tables/claims.schema.json"), help="of claims")


def run(args: argparse.Namespace) -> None:
    atomic_write_json(args.output, schema())
    atomic_write_json(args.output_figures, figure_schema())
    atomic_write_json(args.output_papers, paper_schema())
    atomic_write_json(args.output_claims, claims_schema())
