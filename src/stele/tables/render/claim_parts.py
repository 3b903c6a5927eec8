"""The claims of a paper, ready for a page: what `stele.tables.render.claims` draws and the pages show."""

from __future__ import annotations

from dataclasses import dataclass

from stele.tables.render.jinja import Ready


@dataclass(frozen=True)
class CellLink:
    """A place of a claim: a cell's box on the page, or a figure."""

    text: str
    box: str = ""
    href: str = ""


@dataclass(frozen=True)
class Comparison:
    """One estimate of our runs in words and as a picture; of a control, `what` says how it differs."""

    picture: Ready
    said: str
    what: str = ""


@dataclass(frozen=True)
class DrawnClaim:
    """One claim, ready for a page; `runs` is the state of our runs, "" where none were judged.

    `where`: of which scale and data these are. `diverged`: the pretraining of one of these runs came to nothing.
    """

    id: str
    key: str
    text: str
    places: str
    kind: str
    main: bool
    print: str
    why: str
    runs: str
    where: str
    diverged: bool
    facts: dict[str, str]
    comparisons: list[Comparison]
    cells: list[CellLink]
    more: int


@dataclass(frozen=True)
class PaperClaims:
    """All claims of a paper: how many have which verdict, what the runs are, and who reads a cell's box or a figure."""

    main: list[DrawnClaim]
    others: list[DrawnClaim]
    counts: dict[str, dict[str, int]]
    scale: str
    labels: list[str]
    readers: dict[str, list[DrawnClaim]]

    @property
    def count(self) -> int:
        return len(self.main) + len(self.others)
