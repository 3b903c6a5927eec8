"""Write the card of an adaptation from its verdicts, as Markdown and HTML.

    stele tables adaptation_card --verdict results_adapt/NAME/verdict.json --output card.md card.html

The card says whether each method is better than the unadapted encoder and than the control; it has all scores with
intervals, losses and costs of the trainings, neighbours in held-out documents, and how to load the adapted encoder.
"""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from stele.artifacts import records
from stele.command.arguments import Job, Record, Some, ends_in
from stele.files.atomic import check_marked
from stele.tables.render.adaptation import make_card
from stele.tables.render.sheets import write_card


class AdaptationCard(Job):
    verdict: Record
    """verdict.json of `adapt verdict`."""
    output: Some[Annotated[Path, ends_in(".md", ".html"), AfterValidator(check_marked)]]
    """Files to write, .md or .html."""


def run(args: AdaptationCard) -> None:
    write_card("adaptation", make_card(records.read_record(args.verdict)), args.output)
