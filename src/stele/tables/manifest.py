"""Write the manifest of a folder of results: every file with its digest, and the inputs of each result.

`stele tables verify` checks a folder against its manifest, wherever the folder has been copied to.
"""

from pathlib import Path

from stele.artifacts import results
from stele.command.arguments import Job, ResultsFolder


class Manifest(Job):
    results_dir: ResultsFolder = Path("results")


def run(args: Manifest) -> None:
    results.write_manifest(args.results_dir)
