"""Write the JSON schema of table specs, generated from their model (paper_tables/schema.json)."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from stele.outputs import atomic_write_json
from stele.tables.spec import Table


def schema() -> dict[str, Any]:
    """The JSON schema of `paper_tables/{paper}/table_NN.yaml`."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Table.model_json_schema()}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", type=Path, default=Path("paper_tables/schema.json"))


def run(args: argparse.Namespace) -> None:
    atomic_write_json(args.output, schema())
