"""Verdicts on runs as text for a person, as CSV, and as JSON that other pages are made of."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

from stele.evidence.estimate import FEWEST_SEEDS, UNTRAINED
from stele.evidence.measured import ALPHA
from stele.evidence.verdicts import LOOKS, JudgedClaim, Shown
from stele.files.digests import sha256
from stele.files.formats import write_csv
from stele.papers.claims import FILE

COLUMNS = ("paper", "key", "main", "kind", "places", "text", "print", "state", "mean", "low", "high", "level", "p")
COLUMNS += ("seeds", "look", "bar", "detectable", "seeds_needed", "share", "reason", "built_in", "controls")
COLUMNS += ("left_out", "missing", "diverged")


def as_json(judged: Sequence[JudgedClaim], scale: str, specs: Path, handle: IO[str]) -> None:
    """{scale, labels, rules, papers: {paper: {claims_sha256, states}}, claims: [...]}: differences in a table's unit.

    `claims_sha256` is the digest of the paper's claims.yaml, by which a study shows that it was fixed before.
    """
    papers = {
        paper: {
            "claims_sha256": sha256(specs / paper / FILE if (specs / paper).is_dir() else specs / FILE),
            "states": states([one for one in judged if one.paper == paper]),
        }
        for paper in dict.fromkeys(one.paper for one in judged)
    }
    content = {
        "scale": scale,
        "labels": sorted({label for one in judged for label in one.labels}),
        "rules": {
            "alpha": ALPHA,
            "looks": LOOKS,
            "fewest_seeds": FEWEST_SEEDS,
            "main": "holm",
            "others": "benjamini_hochberg",
        },
        "papers": papers,
        "claims": [facts(one) for one in judged],
    }
    handle.write(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def facts(one: JudgedClaim) -> dict[str, Any]:
    """A claim and its verdict as plain data."""
    claim, verdict = one.claim, one.verdict
    return {
        "paper": one.paper,
        "key": claim.key,
        "main": claim.main,
        "kind": claim.kind,
        "places": claim.places,
        "text": claim.text,
        "print": claim.printed.verdict if claim.printed else None,
        "state": verdict.state,
        "mean": _number(verdict.mean),
        "interval": [_number(limit) for limit in verdict.interval] if verdict.interval else None,
        "level": _number(verdict.level),
        "p": _number(verdict.p),
        "seeds": _seeds(verdict.seeds),
        "look": one.look,
        "bar": one.bar,
        "detectable": _number(verdict.detectable),
        "seeds_needed": verdict.seeds_needed,
        "share": _number(one.share),
        "reason": verdict.reason,
        "built_in": claim.built_in,
        "labels": list(one.labels),
        "controls": [_control(control) for control in one.controls],
        "left_out": list(one.left_out),
        "missing": list(one.missing),
        "diverged": list(one.diverged),
    }


def _control(control: Shown) -> dict[str, Any]:
    return {
        "what": control.what,
        "mean": _number(control.mean),
        "interval": [_number(limit) for limit in control.interval] if control.interval else None,
        "p": _number(control.p),
        "seeds": _seeds(control.seeds),
        "reason": control.reason,
        "diverged": list(control.diverged),
    }


def _number(value: float | None) -> float | None:
    """Ten significant digits, the same on all machines; None for what is no number."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.10g}")


def _seeds(seeds: int) -> int | None:
    """None where no seed has a part in it."""
    return None if seeds == UNTRAINED else seeds


def as_csv(judged: Sequence[JudgedClaim], scale: str, specs: Path, handle: IO[str]) -> None:
    """A row a claim; what is a list in JSON is one text, its entries parted by semicolons."""
    rows = [facts(one) for one in judged]
    for row in rows:
        row["main"] = "yes" if row["main"] else ""
        row["places"] = " ".join(row["places"])
        row["low"], row["high"] = row.pop("interval") or (None, None)
        row["controls"] = "; ".join(_said(control) for control in row["controls"])
        row |= {name: "; ".join(row[name]) for name in ("left_out", "missing", "diverged")}
    write_csv(handle, [COLUMNS, *([_cell(row[name]) for name in COLUMNS] for row in rows)])


def _cell(value: Any) -> Any:
    return "" if value is None else value


def as_text(judged: Sequence[JudgedClaim], scale: str, specs: Path, handle: IO[str]) -> None:
    """A count of states by paper, then the claims of which anything is known."""
    labels = ", ".join(sorted({label for one in judged for label in one.labels})) or "no results"
    handle.write(f"scale {scale or 'not given'}: {labels}\n")
    for paper in dict.fromkeys(one.paper for one in judged):
        of_paper = [one for one in judged if one.paper == paper]
        counted = ", ".join(f"{count} {state}" for state, count in states(of_paper).items())
        handle.write(f"{paper}: {len(of_paper)} claims that can be checked: {counted}\n")
    for one in judged:
        if one.verdict.state != "no data":
            handle.writelines(_lines(one))


def states(judged: Sequence[JudgedClaim]) -> dict[str, int]:
    """State -> how many claims."""
    return dict(sorted(Counter(one.verdict.state for one in judged).items()))


def _lines(one: JudgedClaim) -> list[str]:
    claim, verdict, row = one.claim, one.verdict, facts(one)
    main = ", main" if claim.main else ""
    lines = [
        f"{verdict.state}: {one.paper}/{claim.key} ({claim.kind}{main}; {', '.join(claim.places)})",
        f"  {claim.text}",
    ]
    if row["interval"]:
        lines.append(f"  {_estimate(row)}, level {verdict.level:.3g}, look {one.look}")
    notes = [verdict.reason]
    if verdict.detectable is not None:
        needed = f"{verdict.seeds_needed} seeds" if verdict.seeds_needed else "more queries"
        notes.append(f"could have seen {verdict.detectable:.3g}; to see {one.bar:g} takes {needed}")
    if one.share is not None:
        notes.append(f"{one.share:.0%} of the printed gain")
    if one.left_out:
        notes.append(f"left out: {len(one.left_out)} ({one.left_out[0]})")
    lines += [f"  {note}" for note in [*notes, *one.diverged] if note]
    lines += [f"  control: {_said(control)}" for control in row["controls"]]
    return [f"{line}\n" for line in lines]


def _estimate(row: dict[str, Any]) -> str:
    seeds = "no seeds" if row["seeds"] is None else f"{row['seeds']} seeds"
    low, high = row["interval"]
    p = "" if row["p"] is None else f", p {row['p']:.2g}"
    return f"{row['mean']:+.3g} [{low:+.3g}, {high:+.3g}]{p}, {seeds}"


def _said(control: dict[str, Any]) -> str:
    diverged = "".join(f"; {one}" for one in control["diverged"])
    return f"{control['what']}: {_estimate(control) if control['interval'] else control['reason']}{diverged}"


FORMATS: dict[str, Callable[[Sequence[JudgedClaim], str, Path, IO[str]], None]] = {
    "text": as_text,
    "csv": as_csv,
    "json": as_json,
}
