"""Print the final losses of pretrainings and the losses that random scores give, as a Markdown table.

    stele pretraining losses work/miniature/encoders/*/pt0/record.json

Losses are means over the last twentieth of the steps, in nats. The loss by chance is the logarithm of the number of a
query's candidates, or of the vocabulary's size for MLM. A task whose loss stays near chance has taught nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stele.artifacts.records import Record, read_record
from stele.command.arguments import Job, Positional, Some
from stele.errors import SteleError


class Losses(Job):
    records: Positional[Some[Path]]
    """Records of `pretraining pretrain`."""


def run(args: Losses) -> None:
    print("| model | task | steps | loss | by chance | learnt |\n| --- | --- | --- | --- | --- | --- |")
    for path in args.records:
        record = read_record(path)
        if "chance" not in record:
            raise SteleError(f"{path}: found a record of job {record.get('job')!r}, want 'pretrain' with key `chance`")
        for row in rows(record):
            print(f"| {' | '.join(row)} |")


def rows(record: Record) -> Iterator[tuple[str, ...]]:
    """Table rows of a record, one per task: model, task, steps, loss, loss by chance, their difference."""
    for task, chance in record["chance"].items():
        loss = record["losses"].get(task)
        if loss is not None:
            numbers = (f"{number:.2f}" for number in (loss, chance, chance - loss))
            yield (record["model"], task, str(record["steps"]), *numbers)
