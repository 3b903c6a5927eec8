"""A paper's claims about its results, as data: the model of `paper_tables/{paper}/claims.yaml`.

A claim is a sentence of the paper in our words, the places where it stands, and the cells that it is about. `NEEDS`
lists the keys that each kind of claim must have.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from stele.catalogue import entries, read_yaml
from stele.catalogue.schema.models import Model
from stele.errors import SteleError, check_known, unknown
from stele.files.strict import Strict, validate
from stele.papers.addresses import Address
from stele.papers.paper import CLAIMS as FILE
from stele.papers.paper import CORRECTIONS, PaperKey, paper_folder, repeated
from stele.papers.table_parts import Target

Kind = Literal[
    "greater", "best", "margin", "ratio", "trend", "comparable", "significant", "count", "cost", "other"
]  # fmt: skip
Quantifier = Literal["average", "all", "most", "each_language"]
Verdict = Literal["holds", "fails", "undecided"]
# section 3.2, appendix A.2, table 5, figure 4
Place = Annotated[str, Field(pattern=r"^(abstract|conclusion|s\d+(\.\d+)*|[A-Z](\.\d+)*|[tf]\d+|footnote\d+)$")]
# kind -> alternative sets of required keys
NEEDS: dict[str, tuple[set[str], ...]] = {
    "greater": ({"left", "right"}, {"left", "value"}),
    "best": ({"left", "right"},),
    "margin": ({"left", "right", "amount"},),
    "ratio": ({"left", "right", "amount"},),
    "trend": ({"points", "shape"},),
    "comparable": ({"left", "right"},),
    "significant": ({"left"}, {"left", "right"}),
    "count": ({"of", "value"}, {"left", "right", "value"}),
    "cost": ({"left", "right"}, {"left", "right", "amount"}, {"left", "value"}),
    "other": (set(), {"left"}, {"left", "right"}),
}
JUDGED = {"left", "right", "points", "shape", "amount", "value", "of"}  # all keys in `NEEDS`
ONLY = {
    "at_least": {"margin", "ratio", "count"},
    "more_than": {"margin", "ratio", "count"},
    "marked": {"significant"},
}


class Bars(Strict):
    """The smallest differences of interest, fixed before any run."""

    points: float = Field(gt=0, description="smallest difference of interest, in points of a hundred")
    map: float | None = Field(
        None,
        gt=0,
        description="smallest difference of average precision, as a fraction; null: `points` holds for it too",
    )
    floor: float | None = Field(
        None, description="floor of all claims that have none, in points of a hundred; comes from corrections.yaml"
    )


class PrintedVerdict(Strict):
    """The verdict on the printed numbers that claims.yaml states."""

    verdict: Verdict = Field(description="verdict on the printed numbers")
    why: str = Field(
        "",
        description="reason in words; required if the claim names no numbers from which the verdict can be recomputed",
    )


class Control(Strict):
    """A second comparison, shown with the claim's and never merged with it."""

    left: Target | None = Field(None, description="parts of the target of the claim's left side to replace")
    right: Target | None = Field(None, description="parts of the target of the claim's right side to replace")

    @property
    def metric(self) -> str | None:
        """Metric of the control; None for the claim's own."""
        return next((side.metric for side in (self.left, self.right) if side and side.metric), None)

    @model_validator(mode="after")
    def _known(self) -> Self:
        targets = [target for target in (self.left, self.right) if target]
        if not targets:
            raise ValueError("a control must name what differs on the `left` or on the `right`")
        for model in {target.model for target in targets} - {None, *(known := entries(Model))}:
            raise ValueError(str(unknown("model", model, known)))
        if metrics := {target.metric for target in targets} - {None, self.metric}:
            raise ValueError(f"a control has one metric for both sides; found {self.metric} and {metrics.pop()}")
        return self


class Claim(Strict):
    key: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    text: str = Field(min_length=1, description="the claim in our words")
    places: Annotated[list[Place], Field(min_length=1)] = Field(
        description="places of the claim in the paper, e.g. abstract, s3.2, t5, f4"
    )
    kind: Kind = Field(description="form of the comparison, which determines the required keys")
    main: bool = Field(False, description="one of the paper's few main claims")
    checkable: bool = Field(True, description="false: the claim cannot be checked, and `why` gives the reason")
    why: str = Field("", description="reason why the claim cannot be checked")
    left: Address | None = Field(None, description="numbers that the claim is about")
    right: Address | list[Address] | None = Field(
        None, description="numbers that the left is compared with; for best: all rivals"
    )
    quantifier: Quantifier = "average"
    amount: int | float | None = Field(
        None, description="margin: the difference, in the table's unit; ratio and cost: left divided by right"
    )
    at_least: bool = Field(False, description="true: the amount or value is a lower limit")
    more_than: bool = Field(False, description="true: the amount or value is a limit that must be exceeded")
    points: list[Address] = Field([], description="trend: the points in order")
    shape: Literal["rising", "falling", "peak"] | None = Field(None, description="trend: the form of the curve")
    value: int | float | None = Field(
        None, description="number that the left is compared with; count: the number that the paper states"
    )
    of: Address | str | None = Field(
        None, description="count: the cell with the number, the cells to count, or a description in words"
    )
    marked: bool = Field(
        True, description="significant: false if the paper says that the difference is not significant"
    )
    printed: PrintedVerdict | None = Field(None, description="stated verdict on the printed numbers")
    issue: str | None = Field(
        None, pattern=r"^I\d+$", description="number of the inconsistency in the list of inconsistencies"
    )
    controls: list[Control] = Field([], description="further comparisons that are shown with the claim")
    built_in: str | None = Field(None, description="property of the generated internet that affects the claim")
    floor: float | None = Field(
        None, description="score, in the table's unit: no verdict is given if all compared scores are below it"
    )
    corrected: str | None = Field(None, description="what was wrong with the claim; comes from corrections.yaml")

    @property
    def rights(self) -> list[Address]:
        return [] if self.right is None else self.right if isinstance(self.right, list) else [self.right]

    def addresses(self) -> Iterator[Address]:
        """Yields all addresses, including subtracted ones."""
        named = [self.left, *self.rights, *self.points, self.of]
        for address in named:
            while isinstance(address, Address):
                yield address
                address = address.minus

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for problem in _problems(self):
            raise ValueError(f"claim {self.key!r}: {problem}")
        return self


class Correction(Strict):
    """A correction of one claim: its keys with their right values."""

    key: str = Field(description="key of the claim")
    why: str = Field(min_length=1, description="what was wrong with the claim")
    instead: dict[str, Any] = Field(min_length=1, description="keys of the claim with their correct values")


class Corrections(Strict):
    """Corrections made after a study had fixed claims.yaml by its digest: that file stays, this one overrides it."""

    floor: float | None = Field(None, description="floor of all claims that have none, in points of a hundred")
    corrections: list[Correction] = Field([])


class Claims(Strict):
    """The claims of one paper, in the order of the paper."""

    paper: PaperKey
    bars: Bars
    claims: Annotated[list[Claim], Field(min_length=1)]

    @model_validator(mode="after")
    def _once(self) -> Self:
        for problem in repeated("claim", (claim.key for claim in self.claims)):
            raise ValueError(problem)
        return self


def _problems(claim: Claim) -> Iterator[str]:
    if not claim.checkable:
        if not claim.why:
            yield "`checkable: false` needs `why`"
        if claim.printed:
            yield "a claim with `checkable: false` has no verdict; leave `printed` out"
        return
    if claim.printed is None:
        yield "`printed` is missing; give {verdict: holds}, fails or undecided"
        return
    keys = {key for key in JUDGED if getattr(claim, key) not in (None, [])}
    if keys not in NEEDS[claim.kind]:
        want = " or ".join(", ".join(sorted(keys)) or "no address" for keys in NEEDS[claim.kind])
        yield f"the kind {claim.kind} has {want}; found {', '.join(sorted(keys)) or 'none'}"
    for key, kinds in ONLY.items():
        if key in claim.model_fields_set and claim.kind not in kinds:
            yield f"`{key}` belongs to {' and '.join(sorted(kinds))}, found in {claim.kind}"
    if claim.kind in ("ratio", "cost") and claim.amount == 0:
        yield "`amount` is how many times the right, which is not 0"
    if claim.at_least and claim.more_than:
        yield "`at_least` and `more_than` exclude each other"
    if claim.shape and len(claim.points) < 2:
        yield f"a trend that is {claim.shape} has more than {len(claim.points)} points"
    if claim.shape == "peak" and len(claim.points) != 3:
        yield "a peak is the middle one of three points"
    if not claim.printed.why and by_reading(claim):
        yield "no numbers can be recomputed, so `printed` needs `why`"


def by_reading(claim: Claim) -> bool:
    """Whether a reader gave the verdict on print, because the claim names no numbers."""
    return claim.checkable and (claim.kind == "other" or isinstance(claim.of, str))


def load_claims(path: Path | str) -> Claims:
    """Reads `paper_tables/{paper}/claims.yaml`, with the corrections of a corrections.yaml beside it.

    Raises SteleError, which names the file and the key, for an invalid file and for one in another paper's folder.
    """
    content, corrections_file = read_yaml(path), Path(path).with_name(CORRECTIONS)
    claims = validate(Claims, content, str(path))
    if corrections_file.is_file():
        corrections = validate(Corrections, read_yaml(corrections_file), str(corrections_file))
        claims = validate(Claims, _corrected(content, corrections, str(corrections_file)), str(corrections_file))
    if Path(path).resolve().parent.name != claims.paper:
        raise SteleError(f"{path}: holds the claims of {claims.paper}, so it belongs at {claims.paper}/{FILE}")
    return claims


def _corrected(content: dict[str, Any], corrections: Corrections, where: str) -> dict[str, Any]:
    """Applies corrections to the content of claims.yaml. Raises SteleError for a correction of an unknown claim."""
    claims = {claim["key"]: dict(claim) for claim in content["claims"]}
    for correction in corrections.corrections:
        check_known("claim", correction.key, claims, where)
        claims[correction.key] |= {**correction.instead, "corrected": correction.why}
    bars = content["bars"] if corrections.floor is None else {**content["bars"], "floor": corrections.floor}
    return {**content, "bars": bars, "claims": list(claims.values())}


def papers_with_claims(specs: Path | str, papers: list[str] | None = None) -> list[Path]:
    """Folders of the named papers, by default of all below `specs` (or `specs` itself) that have claims.

    Raises SteleError for an unknown paper.
    """
    specs = Path(specs)
    for paper in papers or ():
        if not paper_folder(paper, specs).is_dir():
            where = f"{specs} (or give the path of a paper's folder: ./{paper})"
            raise unknown("paper", paper, [path.name for path in specs.glob("*/")], where)
    if papers:
        return [paper_folder(paper, specs) for paper in papers]
    return [path.parent for path in sorted([*specs.glob(FILE), *specs.glob(f"*/{FILE}")])]
