"""The command `stele scoring score` on files of a test."""

import json
from pathlib import Path

from stele.scoring import score
from tests.jobs import job


def run(*line) -> None:
    score.run(job(score, list(map(str, line))))


def scored(tmp_path: Path, *line) -> dict:
    run(*line, "--output", tmp_path / "out.json")
    return json.loads((tmp_path / "out.json").read_text())


def trec(rankings: dict) -> str:
    rows = [(q, d, s) for q, hits in rankings.items() for d, s in hits.items()]
    return "".join(f"{q} Q0 {d} {rank} {s} tag\n" for rank, (q, d, s) in enumerate(rows))
