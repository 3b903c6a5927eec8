"""Write the manifest of a folder of results: every file with its digest, and the inputs of each result.

`stele tables verify` checks a folder against its manifest, wherever the folder has been copied to.
"""

from pathlib import Path
from typing import Annotated

from stele.artifacts import results
from stele.command.arguments import Job, ResultsFolder, ends_in, record_as_json


class Manifest(Job):
    results_dir: ResultsFolder = Path("results")
    output: Annotated[Path, ends_in(".json"), record_as_json("tables manifest")] | None = None
    """File to write; default: manifest.json in the folder of results."""


def run(args: Manifest) -> None:
    results.write_manifest(args.results_dir, args.output)
