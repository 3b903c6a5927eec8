"""Speed of judging all claims of the five papers on results of the study's size.

    python tests/speed/bench_claims.py                        # 5 x 2 seeds, 300 queries in each of 12 languages

Makes a folder of random results of every row that a claim speaks of, then times `stele claims judge` on it as a process
of its own. Prints a line of JSON: rows, files, how they were made, wall and CPU seconds (bar: 60 s on two cores), and
how many claims came to which state.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]


def rows(specs: Path, papers: list[str] | None) -> dict[Any, tuple[set[str], set[str]]]:
    """Row -> the metrics and the languages that claims read of it."""
    from stele.claims.judging.pairs import references_of
    from stele.papers.addresses import load_paper
    from stele.papers.claims import load_claims, papers_with_claims

    wanted: dict[Any, tuple[set[str], set[str]]] = {}
    for folder in papers_with_claims(specs, papers):
        paper = load_paper(folder)
        for claim in load_claims(folder / "claims.yaml").claims:
            for reference in references_of(claim, paper):
                metrics, languages = wanted.setdefault(reference.result, (set(), set()))
                metrics.add(reference.metric)
                languages.update(reference.languages)
    return wanted


def make(folder: Path, wanted: dict, seeds: tuple[int, int], queries: int, languages: int) -> int:
    """Writes random results; the number of files of values per query."""
    from tests.claims.made_results import write_system

    generator, files = np.random.default_rng(0), 0
    for row, (metrics, codes) in wanted.items():
        if row.benchmark in ("statistics", "parameters"):
            continue
        names = [code for code in sorted(codes)[:languages] for _ in range(queries)]
        shape = (*seeds, len(names))
        scored = [name for name in sorted(metrics) if name != "parameters"]
        level = generator.uniform(0.2, 0.4)
        values = {name: np.clip(generator.normal(level, 0.2, shape), 0.01, 1) for name in scored}
        if values:
            write_system(folder, row.path, values, names)
            files += seeds[0] * seeds[1]
    return files


def measure(papers: list[str] | None, seeds: tuple[int, int], queries: int, languages: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as scratch:
        folder, wanted = Path(scratch, "results"), rows(ROOT / "paper_tables", papers)
        begun = time.perf_counter()
        files = make(folder, wanted, seeds, queries, languages)
        made = time.perf_counter() - begun
        command = [sys.executable, "-m", "stele", "claims", "judge", str(folder), "--format", "json"]
        command += ["--specs", str(ROOT / "paper_tables"), *(["--paper", *papers] if papers else [])]
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        shown = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout
        wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    claims = json.loads(shown)["claims"]
    return {
        "rows": len(wanted),
        "files": files,
        "made_s": round(made, 1),
        "claims": len(claims),
        "states": dict(Counter(claim["state"] for claim in claims)),
        "wall_s": round(wall, 1),
        "cpu_s": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paper", nargs="+")
    parser.add_argument("--seeds", type=int, nargs=2, default=(5, 2), metavar=("PRETRAINING", "FINETUNING"))
    parser.add_argument("--queries", type=int, default=300, help="a language")
    parser.add_argument("--languages", type=int, default=12, help="of a benchmark, at most")
    args = parser.parse_args()
    print(json.dumps(measure(args.paper, tuple(args.seeds), args.queries, args.languages)))
