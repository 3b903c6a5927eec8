"""A dataset of one file, and the command run on it."""

import hashlib
import json
from pathlib import Path

from runs import SourceRun

from stele.catalogue.datasets import mirror_path
from stele.command import cli

HOST = "https://data.example.org/set"
TEXT = "".join(f"line {n}\n" for n in range(1000)).encode()


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def source(**changes) -> dict:
    """A resolved part with one file of 1,000 lines."""
    file = {"path": "corpus.txt", "url": f"{HOST}/corpus.txt", "own_name": True} | changes.pop("file", {})
    return {
        "dataset": "set",
        "part": "all",
        "languages": [],
        "title": "A set",
        "version": "v1",
        "licence": "CC0",
        "wall": "none",
        "files": [file],
        "counts": {"lines": [{"count": "lines", "files": ["corpus.txt"], "expect": 1000}]},
    } | changes


class Run(SourceRun):
    def __init__(self, folder: Path, capsys) -> None:
        super().__init__(folder / "resources/datasets/set/all/record.json", folder / "state", capsys)
        self.folder = folder

    def arguments(self, entry: dict, *flags: str, part: str = "all") -> list[str]:
        where = ["--state", str(self.state), "--output", str(self.output)]
        return ["sources", "dataset", "--dataset", "set", "--part", part, "--source", json.dumps(entry), *where, *flags]

    def __call__(self, entry: dict, *flags: str, part: str = "all") -> int:
        return cli.main(self.arguments(entry, *flags, part=part))


def put(mirror: Path, url: str, data: bytes) -> None:
    path = mirror / mirror_path(url)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
