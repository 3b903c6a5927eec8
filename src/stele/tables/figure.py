"""Draw one figure of a paper from the results that exist; points and panels without results show their state.

stele tables figure --spec paper_tables/ccp/figure_01.yaml --output figure_01.svg figure_01.pdf
"""

import logging
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from stele.command.arguments import FigureFile, Job, ResultsFolder, Some
from stele.files.figures import save_figure
from stele.papers.figure import load_figure
from stele.tables.render.figure import described, draw, title
from stele.tables.render.figure_data import panel_series
from stele.tables.render.figure_panels import ON_PAPER
from stele.tables.values.context import Context, context_of, date_by_hand, refuse
from stele.tables.values.lookup import Results

log = logging.getLogger(__name__)


class Figure(Job):
    spec: Path
    """Figure to draw: paper_tables/{paper}/figure_NN.yaml."""
    context: Path | None = None
    """Context that a run wrote (JSON): scale, rows that cannot be built, seeds; default: the results' own."""
    results_dir: ResultsFolder = Path("results")
    output: Some[FigureFile]
    """Files to draw, .svg, .pdf or .png."""


def run(args: Figure) -> None:
    context = context_of(args.results_dir, args.context)
    damaged = write_figure(args.spec, context, Results(args.results_dir), args.output)
    date_by_hand(args.output, args.context, args.results_dir)
    refuse(damaged, context)


def write_figure(spec: Path, context: Context, results: Results, outputs: Sequence[Path]) -> list[str]:
    """Draws a figure into files, by their suffix; returns the errors of damaged results."""
    figure = load_figure(spec)
    drawn = panel_series(figure, context, results)
    picture = draw(figure, drawn)
    for path in outputs:
        save_figure(picture, path, title(figure), described(figure, drawn), **ON_PAPER)
    states = Counter(outcome.state for part in drawn for outcome in part.outcomes)
    log.info("%s: %s", figure.file, ", ".join(f"{count} {state}" for state, count in states.items()))
    return [outcome.reason for part in drawn for outcome in part.outcomes if outcome.state == "unreadable"]
