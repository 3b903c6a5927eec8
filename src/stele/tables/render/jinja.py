"""Jinja templates of one format, whose output is escaped for it, and words that several of them use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from stele.files.atomic import CREATOR
from stele.files.formats import amount
from stele.papers.table import Table

if TYPE_CHECKING:
    import jinja2

# a verdict's state on our runs and on print, as pages call it; JSON and CSV keep the word of `stele claims judge`
SEEN = {
    "supported": "seen here",
    "no effect": "no effect here",
    "reversed": "reversed here",
    "undecided": "undecided here",
    "floor": "at the floor here",
    "no data": "no data here",
}
# the same, understandable on its own
MEANINGS = {
    "supported": "Our runs show the claim too: their interval, or the paper's own test, agrees with it.",
    "reversed": "Our runs show the opposite, by at least the smallest difference of interest.",
    "no effect": "Our runs show a difference too small to be of interest, up or down.",
    "undecided": "Our runs cannot decide: they are too few or too noisy, or their scores lie at an end of the scale.",
    "floor": "All scores are close to a guess, so nothing can be compared.",
    "no data": "We have no runs that can be compared.",
}
ON_PRINT = {
    "holds": "holds on print",
    "fails": "fails on print",
    "undecided": "undecided on print",
    "not checkable": "not checkable",
}


@dataclass(frozen=True)
class Words:
    """The wording for one kind of table: papers' tables, or tables of today's encoders.

    `title` of the list of all, `both` and `alone` for choosing a view, `printed` above the paper's view, `each` at the
    head of the list, and `not_theirs`, the label of numbers that are not comparable.
    """

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
    each="Each of our numbers stands beside the paper's.",
    not_theirs="not a reproduction of the paper's numbers",
)
PUBLISHED = Words(
    title="Today's tables",
    both="ours and the published",
    alone="the published alone",
    printed="As published",
    each="Each of our numbers stands beside the published one, with a verdict.",
    not_theirs="not comparable with published numbers",
)


def words_of(table: Table) -> Words:
    """The wording for a table."""
    return PUBLISHED if table.of_today else OF_PAPER


class Ready(str):
    """Text that is already in the output's language and is not escaped again."""


@cache
def templates(escape: Callable[[str], str], latex_delimiters: bool = False) -> jinja2.Environment:
    """A Jinja environment that escapes whatever a template prints, unless it is `Ready`.

    The filter `ready` is for what a template has itself written, by a macro.
    """
    import jinja2

    def finalize(value: object) -> str:
        return value if isinstance(value, Ready) else escape(str(value))

    delimiters = {
        "block_start_string": "<%", "block_end_string": "%>", "variable_start_string": "<<",
        "variable_end_string": ">>", "comment_start_string": "<#", "comment_end_string": "#>",
    }  # fmt: skip
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("stele.tables.render", "templates"),
        undefined=jinja2.StrictUndefined,
        finalize=finalize,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **(delimiters if latex_delimiters else {}),
    )
    environment.globals["creator"] = Ready(CREATOR)
    environment.filters["ready"] = Ready
    environment.filters["amount"] = amount
    environment.filters["seen"] = lambda state: SEEN.get(state, state)
    environment.filters["on_print"] = lambda verdict: ON_PRINT.get(verdict, verdict)
    return environment
