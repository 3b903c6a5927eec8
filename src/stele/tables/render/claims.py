"""The claims of a paper on its page: each with its verdict on print, the verdict of our runs, and the cells it is of.

What runs say comes from `stele claims judge` as data; a page without it shows print alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from stele.artifacts.records import GENERATED
from stele.claims.check import Judged, judge_paper
from stele.claims.judging.on_print import printed_gain
from stele.files.reading import read_object
from stele.papers.addresses import PrintedPaper, PrintedValue, load_paper, printed_at
from stele.tables.render.claim_parts import CellLink, Comparison, DrawnClaim, PaperClaims
from stele.tables.render.whisker import Difference, reach, whisker

SHOWN = 12  # cells of a claim; their number stands with them
ORDER = {
    "print": ("holds", "fails", "undecided", "not checkable"),
    "runs": ("supported", "no effect", "reversed", "undecided", "floor", "no data"),
}
PLACES = {"s": "section ", "t": "Table ", "f": "Figure "}


def draw_claims(
    folder: Path, boxes: Mapping[tuple[str, str], tuple[str, str]], verdicts: Path | None = None
) -> PaperClaims:
    """The claims of the paper whose specs are in `folder`.

    boxes: (`table 5`, a cell's address) -> (the id of its box, its title). verdicts: what `stele claims judge` wrote.
    """
    paper = load_paper(folder)
    found = read_object(verdicts, "verdicts of claims") if verdicts else {}
    facts = {row["key"]: row for row in found.get("claims", []) if row["paper"] == paper.paper}
    judged = list(judge_paper(folder))
    differences = {key: _difference(row) for key, row in facts.items() if row["interval"]}
    scale = reach([*differences.values(), *(one for row in facts.values() for one in _controls(row).values())])
    drawn = [_draw(one, paper, boxes, facts.get(one.claim.key), scale, found.get("scale", "")) for one in judged]
    readers: dict[str, list[DrawnClaim]] = {}
    for claim, one in zip(drawn, judged, strict=True):
        for link in links(one, paper, boxes):
            readers.setdefault(link.box or link.href.removeprefix("#"), []).append(claim)
    counts = {"print": Counter(one.print for one in drawn), "runs": Counter(one.runs for one in drawn if one.runs)}
    return PaperClaims(
        main=[one for one in drawn if one.main],
        others=[one for one in drawn if not one.main],
        counts={name: {state: count[state] for state in ORDER[name] if count[state]} for name, count in counts.items()},
        scale=found.get("scale", ""),
        labels=found.get("labels", []),
        readers=readers,
    )


def _draw(
    judged: Judged,
    paper: PrintedPaper,
    boxes: Mapping[tuple[str, str], tuple[str, str]],
    row: Mapping[str, Any] | None,
    scale: float,
    scale_name: str,
) -> DrawnClaim:
    claim = judged.claim
    cells = links(judged, paper, boxes)
    return DrawnClaim(
        id=f"claim-{claim.key}",
        key=claim.key,
        text=claim.text,
        places=", ".join(map(place, claim.places)),
        kind=claim.kind,
        main=claim.main,
        print=judged.verdict,
        why=judged.why,
        runs=row["state"] if row else "",
        where=_where(row, scale_name) if row else "",
        diverged=bool(row and row.get("diverged")),
        facts={name: text for name, text in _facts(claim, row or {}).items() if text},
        comparisons=list(_comparisons(row, printed_gain(claim, paper) if claim.checkable else None, scale)),
        cells=cells[:SHOWN],
        more=max(0, len(cells) - SHOWN),
    )


def _where(row: Mapping[str, Any], scale: str) -> str:
    """Of what a verdict on runs is: the scale, and whether the data are generated; "" where neither is known."""
    known = row["state"] != "no data" and "labels" in row
    data = (GENERATED if GENERATED in row["labels"] else "real data") if known else ""
    return ", ".join(filter(None, (f"scale {scale}" if scale else "", data)))


def place(name: str) -> str:
    """A place in words: `s3.2` is section 3.2, `t5` Table 5, `A.2` appendix A.2."""
    if name[0] in PLACES and name[1:2].isdigit():
        return PLACES[name[0]] + name[1:]
    return f"appendix {name}" if name[0].isupper() else name.replace("footnote", "footnote ")


def links(judged: Judged, paper: PrintedPaper, boxes: Mapping[tuple[str, str], tuple[str, str]]) -> list[CellLink]:
    """The cells and figures that a claim is of, each once, in printed order."""
    if judged.error:
        return []
    values = [value for address in judged.claim.addresses() for value in printed_at(address, paper)]
    return list(dict.fromkeys(_links(values, boxes)))


def _links(values: Iterable[PrintedValue], boxes: Mapping[tuple[str, str], tuple[str, str]]) -> Iterable[CellLink]:
    for value in values:
        kind, number = value.place.split()
        if kind == "figure":
            yield CellLink(f"Figure {number}", href=f"#f{int(number):02d}")
        elif box := boxes.get((value.place, "/".join(value.parts))):
            yield CellLink(f"Table {number}: {box[1]}", box=box[0])


def _facts(claim: Any, row: Mapping[str, Any]) -> dict[str, str]:
    """What else is known of a claim: name -> text; an empty text is left out."""
    share = row.get("share")
    diverged = [said for one in (row, *row.get("controls", [])) for said in one.get("diverged", [])]
    seeds_needed = row.get("seeds_needed") or "more queries than these have"
    return {
        "why our runs say so": row.get("reason", ""),
        "diverged": "; ".join(dict.fromkeys(diverged)),
        "uncorrected p": "" if row.get("p") is None else f"{row['p']:.3g}",
        "seeds": str(row.get("seeds") or ""),
        "could have been seen": "" if row.get("detectable") is None else f"a difference of {row['detectable']:.3g}",
        "seeds that it takes": "" if row.get("detectable") is None else str(seeds_needed),
        "share of the printed gain": "" if share is None else f"{share:.0%}",
        "left out": "; ".join(row.get("left_out", [])[:SHOWN]),
        "missing": "; ".join(row.get("missing", [])[:SHOWN]),
        "put into the generated world": claim.built_in or "",
        "known contradiction": claim.issue or "",
    }


def _difference(row: Mapping[str, Any], bar: float | None = None, printed: float | None = None) -> Difference:
    return Difference(row["mean"], *row["interval"], bar=bar, printed=printed)


def _controls(row: Mapping[str, Any]) -> dict[str, Difference]:
    return {control["what"]: _difference(control) for control in row["controls"] if control["interval"]}


def _comparisons(row: Mapping[str, Any] | None, printed: float | None, scale: float) -> Iterable[Comparison]:
    """The claim's own estimate, then those of its controls below it."""
    if not row or not row["interval"]:
        return
    own = _difference(row, row["bar"], printed)
    yield Comparison(whisker(own, scale), own.said)
    for what, one in _controls(row).items():
        yield Comparison(whisker(one, scale), one.said, what)
