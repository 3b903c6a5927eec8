"""What pages call verdicts, and the numbers beside ours: a paper's, or, of today's encoders, the published ones."""

from __future__ import annotations

from dataclasses import dataclass

from stele.papers.table import Table

# what a reader reads for a verdict's state, here and on print; JSON and CSV keep the word of `stele claims judge`
SEEN = {
    "supported": "seen here",
    "no effect": "no effect here",
    "reversed": "reversed here",
    "undecided": "undecided here",
    "floor": "at the floor here",
    "no data": "no data here",
}
ON_PRINT = {
    "holds": "holds on print",
    "fails": "fails on print",
    "undecided": "undecided on print",
    "not checkable": "not checkable",
}


@dataclass(frozen=True)
class Words:
    """Words of one kind of table: the title of all, for choosing a view, at the head of one, of a page, of our own."""

    title: str
    both: str
    alone: str
    printed: str
    each: str
    not_theirs: str


OF_PAPER = Words(
    title="All tables",
    both="ours and the paper's",
    alone="as the paper prints it",
    printed="As the paper prints it",
    each="Each number beside the paper's, with the difference.",
    not_theirs="not the paper's numbers",
)
PUBLISHED = Words(
    title="Today's tables",
    both="ours and the published",
    alone="the published alone",
    printed="As published",
    each="Each number beside the published one, with the difference and a verdict.",
    not_theirs="not comparable with published numbers",
)


def words_of(table: Table) -> Words:
    """The words of a table's page."""
    return PUBLISHED if table.of_today else OF_PAPER
