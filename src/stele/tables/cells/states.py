"""The states of a cell: one list, derived from results, spec and context whenever a table is rendered, never stored."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class State:
    """A state's name, the letter that stands beside a missing number, and what it means."""

    name: str
    letter: str
    meaning: str


STATES = {
    state.name: state
    for state in (
        State("measured", "", "our number, from the results folder"),
        State("borrowed", "b", "the paper took this number from elsewhere; not run again (recompute: all does)"),
        State("stated", "w", "words or facts that no run measures"),
        State("not run", "n", "can be built and has not been run yet"),
        State("not in scale", "s", "a language that this run leaves out"),
        State("not built", "x", "no rule builds it yet"),
        State("failed", "f", "its job failed"),
        State("unavailable", "u", "cannot be had"),
        State("unreadable", "r", "its result file is damaged"),
    )
}
