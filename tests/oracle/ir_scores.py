"""Scores of ir_measures on runs and judgments in TREC's formats, as JSON: measure -> query -> value.

Run by the interpreter of envs/oracle.lock.txt (`make oracle`); nothing of Stele is imported:

    python ir_scores.py --run runs/fa.trec.gz --qrels qrels.fas.gains.txt --measures nDCG@20 R@100
"""

import argparse
import gzip
import json
from pathlib import Path

import ir_measures


def text(path: Path) -> str:
    """What a file says, packed or not."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as handle:
        return handle.read()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--qrels", type=Path, required=True)
    parser.add_argument("--measures", nargs="+", required=True)
    args = parser.parse_args()
    judged = list(ir_measures.read_trec_qrels(text(args.qrels)))
    run = list(ir_measures.read_trec_run(text(args.run)))
    scores: dict[str, dict[str, float]] = {name: {} for name in args.measures}
    for found in ir_measures.iter_calc(map(ir_measures.parse_measure, args.measures), judged, run):
        scores[str(found.measure)][found.query_id] = found.value
    print(json.dumps(scores))


if __name__ == "__main__":
    main()
