"""Judge the claims of papers on our own runs: a folder of results, `results/` or `evidence/study`.

    stele claims judge                                         # on the results in results/
    stele claims judge evidence/study --paper msm --format csv
    stele claims judge --into results/claims                   # a .json and a .csv of each paper, as `snakemake claims`
    stele claims judge evidence/study --template docs/study.md.j2 > docs/study.md

A verdict is supported, no effect, reversed, undecided, floor or no data, with interval, seeds, control and uncorrected
p (docs/evidence.md). Nothing is built. `looks.yaml` in the folder names the seeds of the first of two analyses.
"""

import json
import math
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import IO, Any, Literal

from stele.claims.judging.estimate import FEWEST_SEEDS, UNTRAINED
from stele.claims.judging.findings import ALPHA
from stele.claims.judging.report import fill, page_facts
from stele.claims.judging.verdicts import LOOKS, JudgedClaim, judge_paper, limits_of, runs_of
from stele.command.arguments import Job, Positional, Some, SpecsFolder
from stele.errors import SteleError
from stele.files.atomic import atomic_file
from stele.files.digests import sha256
from stele.files.formats import amount, write_csv
from stele.files.paths import read_stamp
from stele.files.reading import reading
from stele.papers.claims import papers_with_claims
from stele.papers.paper import PAPER_TABLES

COLUMNS = ("paper", "key", "main", "kind", "places", "text", "print", "state", "mean", "low", "high", "level", "p")
COLUMNS += ("seeds", "look", "bar", "detectable", "seeds_needed", "share", "reason", "built_in", "controls")
COLUMNS += ("left_out", "missing", "diverged", "rival", "closest", "printed_difference", "rivals", "same_as")
COLUMNS += ("corrected",)
BEGINNINGS = {"json": '{\n "scale":', "csv": "paper,key,"}  # of the files that --into writes


class Judge(Job):
    folder: Positional[Path] = Path("results")
    """Folder of results."""
    paper: Some[str] | None = None
    """Papers whose claims are judged; default: all papers that have claims."""
    specs: SpecsFolder = PAPER_TABLES
    format: Literal["text", "csv", "json"] = "text"
    """Format of the verdicts."""
    into: Path | None = None
    """Folder to write {paper}.json and {paper}.csv to, instead of showing the verdicts."""
    template: Path | None = None
    """Jinja template of a page, which is filled with the verdicts and shown."""


def run(args: Judge) -> None:
    judged, scale = judge(args.folder, args.specs, args.paper), read_stamp(args.folder) or ""
    if args.into:
        write_verdicts(judged, scale, args.into)
    elif args.template:
        sys.stdout.write(fill(args.template, page_facts(args.folder, [facts(judgement) for judgement in judged])))
    else:
        FORMATS[args.format](judged, scale, sys.stdout)


def judge(folder: Path, specs: Path, papers: list[str] | None) -> list[JudgedClaim]:
    """Judges the claims of the papers, in order, on a folder of results. Raises SteleError if the folder is missing."""
    looks, scale = runs_of(folder), read_stamp(folder) or ""
    return [claim for paper in papers_with_claims(specs, papers) for claim in judge_paper(paper, looks, scale)]


def write_verdicts(judged: Sequence[JudgedClaim], scale: str, into: Path) -> None:
    """Writes {paper}.json and {paper}.csv of judged claims. Raises SteleError rather than replace any other file."""
    papers = by_paper(judged)
    files = [(paper, ending) for paper in papers for ending in BEGINNINGS]
    for paper, ending in files:
        path = into / f"{paper}.{ending}"
        with reading(path):
            is_other = path.is_file() and not path.read_bytes().startswith(BEGINNINGS[ending].encode())
        if is_other:
            raise SteleError(f"{path}: exists and holds no verdicts, so it is kept; give another folder with --into")
    for paper, ending in files:
        with atomic_file(into / f"{paper}.{ending}", newline="", encoding="utf-8") as handle:
            FORMATS[ending](papers[paper], scale, handle)


def by_paper(judged: Sequence[JudgedClaim]) -> dict[str, list[JudgedClaim]]:
    grouped = groupby(judged, key=lambda claim: claim.judging.paper.paper)
    return {paper: list(of_paper) for paper, of_paper in grouped}


# --- formats ----------------------------------------------------------------------------------------------------------
def as_json(judged: Sequence[JudgedClaim], scale: str, handle: IO[str]) -> None:
    """Writes {scale, labels, limits, rules, papers: {paper: {claims_sha256, states, findings}}, claims: [...]}.

    Differences are in a table's unit. `claims_sha256` is the digest of the paper's claims.yaml, which shows that the
    claims were fixed before a study. `findings` counts states without the claims that rest on another's comparison.
    """
    papers = {
        paper: {
            "claims_sha256": sha256(of_paper[0].source),
            "states": states(of_paper),
            "findings": states(findings(of_paper)),
        }
        for paper, of_paper in by_paper(judged).items()
    }
    labels = {label for judgement in judged for label in judgement.judging.labels}
    content = {
        "scale": scale,
        "labels": sorted(labels),
        "limits": limits_of(labels),
        "rules": {
            "alpha": ALPHA,
            "looks": LOOKS,
            "fewest_seeds": FEWEST_SEEDS,
            "main": "holm",
            "others": "benjamini_hochberg",
        },
        "papers": papers,
        "claims": [facts(judgement) for judgement in judged],
    }
    handle.write(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def facts(judgement: JudgedClaim) -> dict[str, Any]:
    """Converts a claim and its verdict to plain data for JSON."""
    claim, verdict, judging = judgement.claim, judgement.verdict, judgement.judging
    unrounded = {
        "paper": judging.paper.paper,
        "key": claim.key,
        "main": claim.main,
        "kind": claim.kind,
        "places": claim.places,
        "text": claim.text,
        "print": claim.printed.verdict if claim.printed else None,
        "state": verdict.state,
        "mean": verdict.mean,
        "interval": verdict.interval,
        "level": verdict.level,
        "p": verdict.p,
        "seeds": _seeds(verdict.seeds),
        "look": judgement.look,
        "bar": judgement.bar,
        "detectable": verdict.detectable,
        "seeds_needed": verdict.seeds_needed,
        "share": judgement.share,
        "reason": verdict.reason,
        "built_in": claim.built_in,
        "labels": sorted(judging.labels),
        "controls": [{**vars(control), "seeds": _seeds(control.seeds)} for control in judgement.controls],
        "left_out": list(judging.left_out),
        "missing": list(judging.missing),
        "diverged": judging.diverged,
        "rival": verdict.rival,
        "closest": verdict.closest and verdict.closest._asdict(),
        "differences": dict(verdict.differences),
        "printed_difference": verdict.printed,
        "rivals": judging.rivals and dict(zip(("ran", "printed"), judging.rivals, strict=True)),
        "same_as": judgement.same_as,
        "corrected": claim.corrected,
    }
    return _rounded(unrounded)


def _rounded(value: Any) -> Any:
    """Rounds all numbers to ten significant digits, which are the same on all machines; None for NaN and infinity."""
    if isinstance(value, float):
        return float(f"{value:.10g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _rounded(of_key) for key, of_key in value.items()}
    return [*map(_rounded, value)] if isinstance(value, list | tuple) else value


def _seeds(seeds: int) -> int | None:
    """Number of seeds; None if nothing was trained, so that no seed has a part in it."""
    return None if seeds == UNTRAINED else seeds


def as_csv(judged: Sequence[JudgedClaim], scale: str, handle: IO[str]) -> None:
    """Writes one row per claim; the entries of a list are joined by semicolons."""
    rows = [facts(judgement) for judgement in judged]
    for row in rows:
        row["main"] = "yes" if row["main"] else ""
        row["places"] = " ".join(row["places"])
        row["low"], row["high"] = row.pop("interval") or (None, None)
        row["controls"] = "; ".join(_control_text(control) for control in row["controls"])
        row |= {name: "; ".join(row[name]) for name in ("left_out", "missing", "diverged")}
        row["closest"] = row["closest"] and f"{row['closest']['name']} {row['closest']['mean']:+.3g}"
        row["rivals"] = row["rivals"] and f"{row['rivals']['ran']} of {row['rivals']['printed']}"
        row |= {name: "" for name, value in row.items() if value is None}
    write_csv(handle, [COLUMNS, *([row[name] for name in COLUMNS] for row in rows)])


def as_text(judged: Sequence[JudgedClaim], scale: str, handle: IO[str]) -> None:
    """Writes the number of claims in each state by paper, then every claim that has data."""
    labels = {label for judgement in judged for label in judgement.judging.labels}
    handle.write(f"scale {scale or 'not given'}: {', '.join(sorted(labels)) or 'no results'}\n")
    handle.writelines(f"{limit}\n" for limit in limits_of(labels))
    for paper, of_paper in by_paper(judged).items():
        counted, once = ", ".join(f"{count} {state}" for state, count in states(of_paper).items()), findings(of_paper)
        repeated = f"; {len(once)} if each comparison counts once" if len(once) < len(of_paper) else ""
        handle.write(f"{paper}: {amount(len(of_paper), 'claim')} that can be checked: {counted}{repeated}\n")
    for judgement in judged:
        if judgement.verdict.state != "no data":
            handle.writelines(_lines(judgement))


def states(judged: Sequence[JudgedClaim]) -> dict[str, int]:
    """Number of claims in each state."""
    return dict(sorted(Counter(judgement.verdict.state for judgement in judged).items()))


def findings(judged: Sequence[JudgedClaim]) -> list[JudgedClaim]:
    """The claims without those that rest on another's comparison and share its verdict."""
    return [judgement for judgement in judged if not judgement.same_as]


def _lines(judgement: JudgedClaim) -> list[str]:
    claim, verdict, row = judgement.claim, judgement.verdict, facts(judgement)
    rivals, left_out = row["rivals"], row["left_out"]
    main = ", main" if claim.main else ""
    lines = [
        f"{verdict.state}: {row['paper']}/{claim.key} ({claim.kind}{main}; {', '.join(claim.places)})",
        f"  {claim.text}",
    ]
    if row["interval"]:
        lines.append(f"  {_estimate_text(row)}, level {verdict.level:.3g}, look {judgement.look}")
    notes = [verdict.reason]
    if verdict.detectable is not None:
        needed = (
            amount(verdict.seeds_needed, "seed") if verdict.seeds_needed else "more queries or seeds of fine-tuning"
        )
        printed = "" if verdict.printed is None else f", the paper prints {verdict.printed:+.3g}"
        notes.append(
            f"smallest detectable difference {verdict.detectable:.3g}{printed}; "
            f"detecting {judgement.bar:g} takes {needed}"
        )
    if rivals and rivals["ran"] < rivals["printed"]:
        notes.append(f"{rivals['ran']} of {rivals['printed']} printed rivals ran")
    if judgement.same_as:
        notes.append(f"one finding with {judgement.same_as}, whose comparisons include it")
    if claim.corrected:
        notes.append(f"corrected: {claim.corrected}")
    if row["share"] is not None:
        notes.append(f"{judgement.share:.0%} of the printed gain")
    if left_out:
        notes.append(f"left out: {len(left_out)} ({left_out[0]})")
    lines += [f"  {note}" for note in [*notes, *row["diverged"]] if note]
    lines += [f"  control: {_control_text(control)}" for control in row["controls"]]
    return [f"{line}\n" for line in lines]


def _estimate_text(row: dict[str, Any]) -> str:
    seeds = "no seeds" if row["seeds"] is None else amount(row["seeds"], "seed")
    low, high = row["interval"]
    p = "" if row["p"] is None else f", p {row['p']:.2g}"
    return f"{row['mean']:+.3g} [{low:+.3g}, {high:+.3g}]{p}, {seeds}"


def _control_text(control: dict[str, Any]) -> str:
    diverged = "".join(f"; {reason}" for reason in control["diverged"])
    return f"{control['what']}: {_estimate_text(control) if control['interval'] else control['reason']}{diverged}"


FORMATS = {"text": as_text, "csv": as_csv, "json": as_json}
