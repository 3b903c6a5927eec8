"""Judge a kept adaptation again: `python evidence/real/judge.py FOLDER`.

FOLDER is what `stele claims pack results_adapt/NAME FOLDER` keeps: values per query and verdict.json.
Every comparison is worked out anew from the values, printed, and held against the kept verdict.
"""

import sys
from pathlib import Path

from stele.adapt.verdict import judge_looks, rows_of
from stele.artifacts import records
from stele.errors import SteleError

ROUNDING = 1e-6  # values per query are kept as float32


def main() -> None:
    folder = Path(sys.argv[1])
    kept = records.read_record(folder / "verdict.json")
    again = judge_looks(folder, kept, rows_of(kept), kept["rules"]["bar"])
    for comparison, before in zip(again, kept["comparisons"], strict=True):
        print(comparison.sentence)
        mean = comparison.verdict.mean
        if comparison.state != before["state"] or abs(mean - before["mean"]) > ROUNDING:
            raise SystemExit(f"the kept verdict says otherwise: {before['sentence']}")


if __name__ == "__main__":
    try:
        main()
    except SteleError as error:
        raise SystemExit(str(error)) from None
