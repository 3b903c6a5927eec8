"""Write the result card of a model that was evaluated without training, as Markdown and HTML.

    stele tables card --results results_evaluate/*/me5_small/direct/pt0-ft0.json --output me5_small.md me5_small.html

The card says how texts became vectors and who decided it, how many texts were cut, all values with intervals and beside
published numbers, speed, device, licence, training data of the model, and the command that makes the card again. Its
record is the file .json beside the first output.
"""

from pathlib import Path
from typing import Annotated

from stele.artifacts import records
from stele.command.arguments import Job, Some, ends_in, record_as_json
from stele.files.digests import digest
from stele.files.paths import read_stamp
from stele.tables.render.card import cells, make_card
from stele.tables.render.card_sources import read
from stele.tables.render.sheets import write_card

JOB = "card"


class Card(Job):
    results: Some[Path]
    """Results (.json) of one seed of one model."""
    user_data: tuple[str, ...] = ()
    """Names of the datasets that were taken from your own folders."""
    output: Some[Annotated[Path, ends_in(".md", ".html"), record_as_json(JOB)]]
    """Files to write, .md or .html."""


def run(args: Card) -> None:
    evaluated = read(args.results)
    folder = args.results[0].parents[3] if len(args.results[0].parents) > 3 else None
    scale = read_stamp(folder) if folder else None
    card = make_card(evaluated, scale or "", str(folder or ""), args.user_data)
    write_card("card", card, args.output)
    for record in dict.fromkeys(file.with_suffix(".json") for file in args.output):
        records.write_record(
            record,
            job=JOB,
            inputs={entry.result.benchmark: path for entry, path in zip(evaluated, args.results, strict=True)},
            model=evaluated[0].result.model,
            content=digest([*cells(card)]),
        )
