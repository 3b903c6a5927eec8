"""Speed of reading and scoring a run against polars and ranx, in one run.

    python tests/speed/bench_scoring.py                     # 13,000 queries x 100 hits

The peer (it needs polars) reads the file with polars, makes a ranx Run from the frame and evaluates; ours reads it,
puts it into canonical order (which ranx does not) and scores. Both are warm: numba has compiled before. Prints a line
of JSON: seconds of both, the ratio ours / peer (bar: 0.5), both values of each metric, which must agree as no scores
are tied, and the seconds that the command takes from its start with a warm cache (bar: 3).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SOURCE = Path(__file__).resolve().parents[2] / "src"
sys.path.insert(0, str(SOURCE))
METRICS = ("mrr@100", "recall@100")
COLUMNS = ["q_id", "Q0", "doc_id", "rank", "score", "tag"]


def write_files(folder: Path, queries: int, depth: int, seed: int = 0) -> None:
    """A run without ties and its judgments, two passages a query of which one is often retrieved."""
    rng = np.random.default_rng(seed)
    with open(folder / "run.txt", "w") as run, open(folder / "qrels.txt", "w") as qrels:
        for query in range(queries):
            passages = rng.choice(1_000_000, depth, replace=False)
            scores = np.float32(100) - np.arange(depth, dtype=np.float32) - rng.random(dtype=np.float32)
            rows = zip(passages.tolist(), scores.tolist(), strict=True)
            run.write("".join(f"q{query} Q0 {p}#{p % 9} {r} {s:.9g} t\n" for r, (p, s) in enumerate(rows, 1)))
            right = int(passages[rng.integers(depth)])
            qrels.write(f"q{query} 0 {right}#{right % 9} 1\nq{query} 0 x{query} 1\n")


def ours(folder: Path) -> dict[str, float]:
    from stele.evaluation.evaluate import evaluate
    from stele.evaluation.metrics import load_metric
    from stele.scoring.system_files.systems import given_outputs, read_case

    case = read_case("mrtydi", {"mrtydi": {"sw": folder / "qrels.txt"}}, given_outputs([f"sw={folder / 'run.txt'}"]))
    actual = evaluate(case, {name: load_metric(name) for name in METRICS}, "macro").metrics
    return {name: one["average"] for name, one in actual.items()}


def peer(folder: Path) -> dict[str, float]:
    import polars
    import ranx

    texts = {"column_1": polars.String, "column_3": polars.String, "column_5": polars.Float64}
    frame = polars.read_csv(
        folder / "run.txt", separator=" ", has_header=False, new_columns=COLUMNS, schema_overrides=texts
    )
    frame = frame.select("q_id", "doc_id", "score").to_pandas().astype({"q_id": object, "doc_id": object})
    run = ranx.Run.from_df(frame)
    qrels = ranx.Qrels.from_file(str(folder / "qrels.txt"), kind="trec")
    return {name: float(value) for name, value in ranx.evaluate(qrels, run, list(METRICS)).items()}


def timed(function, *given) -> tuple[float, dict[str, float]]:
    start = time.perf_counter()
    actual = function(*given)
    return time.perf_counter() - start, actual


def start_up(folder: Path) -> float:
    """Seconds of the whole command on a run of one query."""
    (folder / "one.txt").write_text("q0 Q0 x0 1 1.0 t\n")
    line = ["scoring", "score", "mrtydi", "--run", f"sw={folder}/one.txt", "--data", f"mrtydi:sw={folder}/qrels.txt"]
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "stele", *line],
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    return time.perf_counter() - start


def measure(queries: int, depth: int, repetitions: int) -> dict:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, queries, depth)
        peer(folder), ours(folder), start_up(folder)  # compiled and cached
        times: dict[str, list[float]] = {"ours": [], "peer": []}
        for _ in range(repetitions):  # in turns, so that other work on the machine meets both
            for label, function in (("ours", ours), ("peer", peer)):
                seconds, values = timed(function, folder)
                times[label].append(seconds)
                times[f"{label} values"] = values
        medians = {label: statistics.median(times[label]) for label in ("ours", "peer")}
        return {
            "queries": queries,
            "depth": depth,
            "ours_s": round(medians["ours"], 3),
            "peer_s": round(medians["peer"], 3),
            "ratio": round(medians["ours"] / medians["peer"], 3),
            "start_s": round(min(start_up(folder) for _ in range(3)), 2),
            "ours": times["ours values"],
            "peer": times["peer values"],
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=13_000)
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--repetitions", type=int, default=5)
    args = parser.parse_args()
    print(json.dumps(measure(args.queries, args.depth, args.repetitions)))


if __name__ == "__main__":
    main()
