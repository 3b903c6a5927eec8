"""Write the manifest of a folder of results: every file with its digest, and what each result was made from.

`stele tables verify` checks a folder against its manifest, wherever the folder has been copied to.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from stele.artifacts import results
from stele.command import arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--results-dir", type=Path, default=Path("results"), help="(default: %(default)s)")
    parser.add_argument("--output", type=arguments.output(".json"), help="default: manifest.json in the folder")


def run(args: argparse.Namespace) -> None:
    results.write_manifest(args.results_dir, args.output)
