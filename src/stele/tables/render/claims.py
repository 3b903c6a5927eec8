"""Claims on a paper's page, each with its verdicts on print and on our runs and with links to its cells.

The verdicts on runs come from a file of `stele claims judge`; a page without it shows only those on print.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from stele.artifacts.records import GENERATED
from stele.claims.check import Judged, judge_paper
from stele.files.reading import read_object, reading
from stele.papers.addresses import PrintedPaper, load_paper, printed_at
from stele.papers.claims import Claim
from stele.papers.table import load_specs
from stele.tables.render.cell_details import Unfolded
from stele.tables.render.claim_words import against, could_be_seen, notes, other_reasons
from stele.tables.render.jinja import ON_PRINT, SEEN, Ready
from stele.tables.render.pictures import Difference, reach, whisker

SHOWN = 12  # reasons that are listed
ORDER = {
    "print": ("holds", "fails", "undecided", "not checkable"),
    "runs": ("supported", "no effect", "reversed", "undecided", "floor", "no data"),
}
ORDER["once"] = ORDER["runs"]
PLACES = {"s": "section ", "t": "Table ", "f": "Figure "}

Boxes = Mapping[tuple[str, str], Unfolded]  # (`table 5`, a cell's address) -> the cell


class CellLink(NamedTuple):
    """A link from a claim to a cell's box, or to a figure, of this `id` on the page."""

    text: str
    id: str
    is_box: bool


@dataclass(frozen=True)
class Comparison:
    """One estimate from our runs in words and as a picture; `what` says how a control differs from the claim."""

    picture: Ready
    words: str
    what: str = ""


@dataclass(frozen=True)
class DrawnClaim:
    """One claim, ready for a page, with its verdict on print and `row`, that on our runs ({} without one)."""

    judged: Judged
    row: Mapping[str, Any]
    facts: dict[str, str]
    comparisons: list[Comparison]
    links: list[CellLink]

    @property
    def about(self) -> Claim:
        return self.judged.claim

    @property
    def id(self) -> str:
        return f"claim-{self.about.key}"

    @property
    def runs(self) -> str:
        """State of the verdict on our runs, "" without one."""
        return self.row.get("state", "")

    @property
    def places(self) -> list[str]:
        """Places of the claim in the paper, in words."""
        return [place(name) for name in self.about.places]


@dataclass(frozen=True)
class PaperClaims:
    """A paper's claims; `judged_runs` is the content of the file of `stele claims judge`, {} without one."""

    claims: list[DrawnClaim]
    judged_runs: Mapping[str, Any]

    @property
    def main(self) -> list[DrawnClaim]:
        return [claim for claim in self.claims if claim.about.main]

    @property
    def sections(self) -> dict[str, list[DrawnClaim]]:
        """Claims that are not main claims, by the section that argues for them, in the order of the paper."""
        sections: dict[str, list[DrawnClaim]] = defaultdict(list)
        for claim in self.claims:
            if not claim.about.main:
                sections[section(claim.about.places)].append(claim)
        return dict(sorted(sections.items(), key=lambda item: _in_paper(item[0])))

    @cached_property
    def counts(self) -> dict[str, dict[str, int]]:
        """Numbers of verdicts: on print, on our runs, and on our runs with each comparison once."""
        ran = [claim for claim in self.claims if claim.runs]
        counts = {
            "print": Counter(claim.judged.verdict for claim in self.claims),
            "runs": Counter(claim.runs for claim in ran),
            "once": Counter(claim.runs for claim in ran if not claim.row.get("same_as")),
        }
        return {name: {state: count[state] for state in ORDER[name] if count[state]} for name, count in counts.items()}

    @cached_property
    def readers(self) -> dict[str, list[DrawnClaim]]:
        """Claims about each cell and figure, by its id on the page."""
        readers: dict[str, list[DrawnClaim]] = {}
        for claim in self.claims:
            for link in claim.links:
                readers.setdefault(link.id, []).append(claim)
        return readers

    @property
    def limits(self) -> list[str]:
        """Sentences on what the intervals do not cover."""
        return self.judged_runs.get("limits", [])

    @property
    def ran(self) -> bool:
        """Whether a claim has a verdict on our runs."""
        return any(state != "no data" for state in self.counts["runs"])

    @property
    def verdicts(self) -> list[str]:
        """Names, as on pages, of all verdicts that its claims have."""
        on_print, on_runs = self.counts["print"], self.counts["runs"]
        return [*map(ON_PRINT.__getitem__, on_print), *map(SEEN.__getitem__, on_runs)]


def draw_claims(folder: Path, boxes: Boxes, verdicts: Path | None = None) -> PaperClaims:
    """Draws the claims of the paper whose specs are in `folder`; `verdicts` is the file of `stele claims judge`."""
    paper, tables = load_paper(folder), {table.number: table for table in load_specs(folder)}
    judged_runs = read_object(verdicts, "verdicts of claims") if verdicts else {}
    with reading(verdicts or folder, "verdicts of claims", "judge them again"):
        rows = {row["key"]: row for row in judged_runs.get("claims", []) if row["paper"] == paper.paper}
        whole = all(key in row for row in rows.values() for key in ("state", "mean", "interval", "bar", "controls"))
        if not whole:
            raise ValueError("found a claim without its state, mean, interval, bar or controls")

        # one scale for all pictures with the same smallest difference of interest, that is in one unit
        by_bar: dict[float, list[Difference]] = defaultdict(list)
        for row in rows.values():
            by_bar[row["bar"]] += [*([_difference(row)] if row["interval"] else []), *_controls(row).values()]
        scales = {bar: reach(differences) for bar, differences in by_bar.items()}

    claims = []
    for judged in judge_paper(folder):
        row = rows.get(judged.claim.key, {})
        rival, missing = "", []
        if row.get("interval") and not judged.error:
            rival = against(judged.claim, row, paper, tables)
            missing = list(notes(row, _covered(judged.claim, row, paper, boxes)))
        facts = {"our runs": _where(row, judged_runs.get("scale", "")), **_facts(judged.claim, row)}
        claim = DrawnClaim(
            judged,
            row,
            {name: text for name, text in facts.items() if text},
            list(_comparisons(row, rival, missing, scales.get(row.get("bar"), 1.0))),
            links(judged, paper, boxes),
        )
        claims.append(claim)
    return PaperClaims(claims, judged_runs)


def _where(row: Mapping[str, Any], scale: str) -> str:
    """Words for the scale of the runs, and for generated data; "" if neither is known."""
    known = row.get("state", "no data") != "no data" and "labels" in row
    data = (GENERATED if GENERATED in row["labels"] else "real data") if known else ""
    return ", ".join(filter(None, (f"scale {scale}" if scale and row else "", data)))


def _covered(claim: Claim, row: Mapping[str, Any], paper: PrintedPaper, boxes: Boxes) -> set[tuple[int, int]]:
    """Numbers of our languages and of the paper's, for averages on a claim's line that ours covers only in part."""
    values = [value for address in claim.addresses() for value in printed_at(address, paper)]
    if claim.quantifier == "each_language" and not all(value.average for value in values):
        return set()
    named = {*re.split("[/: ]+", row.get("rival", ""))}  # the column, if the line has one
    values = [value for value in values if value.parts[-1] in named] or values
    averages = {(value.place, "/".join(value.parts)) for value in values if value.average}
    return {boxes[cell].covered for cell in averages & boxes.keys()} - {None}


def place(name: str) -> str:
    """Names a place in words: `s3.2` is section 3.2, `t5` Table 5, `A.2` appendix A.2."""
    if name[0] in PLACES and name[1:2].isdigit():
        return PLACES[name[0]] + name[1:]
    return f"appendix {name}" if name[0].isupper() else name.replace("footnote", "footnote ")


def _in_paper(section: str) -> list[str | int]:
    """Sort key of a place in words: abstract, sections, tables, appendices, and numbers by their value."""
    number = section.removeprefix("section ").replace("abstract", "0")
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", number)]


def section(places: Iterable[str]) -> str:
    """Names the place where a paper argues for a claim: a section after the introduction, or else the first place.

    >>> section(["abstract", "s1", "s5.2", "t1"]), section(["A.2", "t9"])
    ('section 5.2', 'appendix A.2')
    """
    places = list(places)
    return place(next((name for name in places if re.match(r"s([2-9]|1\d)", name)), places[0]))


def links(judged: Judged, paper: PrintedPaper, boxes: Boxes) -> list[CellLink]:
    """Lists links to the cells and figures that a claim is about, each once, in printed order."""
    if judged.error:
        return []
    values = [value for address in judged.claim.addresses() for value in printed_at(address, paper)]
    links_found: dict[CellLink, None] = {}
    for value in values:
        kind, number = value.place.split()
        if kind == "figure":
            links_found[CellLink(f"Figure {number}", f"f{int(number):02d}", is_box=False)] = None
        elif box := boxes.get((value.place, "/".join(value.parts))):
            links_found[CellLink(f"Table {number}: {box.title}", box.id, is_box=True)] = None
    return list(links_found)


def _facts(claim: Any, row: Mapping[str, Any]) -> dict[str, str]:
    """Further facts of a claim as texts by name; a text is "" if there is nothing to say."""
    share = row.get("share")
    diverged = [reason for estimate in (row, *row.get("controls", [])) for reason in estimate.get("diverged", [])]
    seeds_needed = row.get("seeds_needed") or "none is enough: more queries or seeds of fine-tuning are needed"
    return {
        "why our runs give this verdict": other_reasons(row),
        "diverged": "; ".join(dict.fromkeys(diverged)),
        "uncorrected p": "" if row.get("p") is None else f"{row['p']:.3g}",
        "seeds": str(row.get("seeds") or ""),
        "detectable": could_be_seen(row),
        "seeds needed to detect the smallest of interest": "" if row.get("detectable") is None else str(seeds_needed),
        "share of the printed gain": "" if share is None else f"{share:.0%}",
        "left out": "; ".join(row.get("left_out", [])[:SHOWN]),
        "missing": "; ".join(row.get("missing", [])[:SHOWN]),
        "one finding with": row.get("same_as", ""),
        "corrected": claim.corrected or "",
        "built into the generated data": claim.built_in or "",
        "known contradiction": claim.issue or "",
    }


def _difference(row: Mapping[str, Any]) -> Difference:
    return Difference(row["mean"], *row["interval"])


def _controls(row: Mapping[str, Any]) -> dict[str, Difference]:
    return {control["what"]: _difference(control) for control in row["controls"] if control["interval"]}


def _comparisons(row: Mapping[str, Any], rival: str, missing: list[str], scale: float) -> Iterable[Comparison]:
    """Yields the claim's estimate and printed difference from the same rival, then the estimates of its controls."""
    if not row.get("interval"):
        return
    printed = row.get("printed_difference")
    estimate = replace(_difference(row), bar=row["bar"], printed=printed, rival=rival)
    yield Comparison(whisker(estimate, scale), "; ".join([estimate.words, *missing]))
    for what, control in _controls(row).items():
        yield Comparison(whisker(control, scale), control.words, what)
