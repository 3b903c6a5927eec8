"""Judge a kept adaptation again: `python evidence/real/judge.py FOLDER`.

FOLDER is what `stele claims pack results_adapt/NAME FOLDER` keeps: values per query and verdict.json.
Every comparison is worked out anew from the values, printed, and held against the kept verdict.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stele.artifacts import records
from stele.claims.judging.on_adaptation import comparison_facts, judge_looks, rows_of
from stele.errors import SteleError

KEYS = ("state", "seeds", "seeds_needed")
ROUNDING = 1e-6  # values per query are kept as float32


def main() -> None:
    folder = Path(sys.argv[1])
    kept = records.read_record(folder / "verdict.json")
    again = judge_looks(folder, kept, rows_of(kept), kept["rules"]["bar"])
    for comparison, before in zip(again, kept["comparisons"], strict=True):
        print(comparison.sentence)
        now = comparison_facts(comparison)
        same = all(now[key] == before[key] for key in KEYS)
        if not same or far_apart(numbers(now), numbers(before)):
            raise SystemExit(f"the kept verdict says otherwise: {before['sentence']}")


def numbers(facts: Mapping[str, Any]) -> list[float]:
    """Mean, level and interval of a comparison, of those that it has."""
    return [number for number in (facts["mean"], facts["level"], *(facts["interval"] or ())) if number is not None]


def far_apart(now: list[float], before: list[float]) -> bool:
    return len(now) != len(before) or any(abs(a - b) > ROUNDING for a, b in zip(now, before, strict=True))


if __name__ == "__main__":
    try:
        main()
    except SteleError as error:
        raise SystemExit(str(error)) from None
