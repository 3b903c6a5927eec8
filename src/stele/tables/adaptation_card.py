"""Write the card of an adaptation from its verdicts, as Markdown and HTML.

    stele tables adaptation_card --verdict results_adapt/NAME/verdict.json --output card.md card.html

Whether each method is better than the encoder as it was and than the control, all scores with intervals, what the
trainings learnt and cost, neighbours in held-out documents, and how the adapted encoder is loaded.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from stele.artifacts import records
from stele.command.arguments import Job, Record, Some, ends_in
from stele.files.atomic import atomic_file
from stele.tables.render.adaptation import make_card, to_html, to_markdown

FORMATS = {".md": to_markdown, ".html": to_html}


class AdaptationCard(Job):
    verdict: Record
    """verdict.json of `adapt verdict`."""
    output: Some[Annotated[Path, ends_in(*FORMATS)]]
    """Files to write: .md, .html."""


def run(args: AdaptationCard) -> None:
    card = make_card(records.read_record(args.verdict))
    for path in args.output:
        with atomic_file(path) as handle:
            handle.write(FORMATS[path.suffix](card))
