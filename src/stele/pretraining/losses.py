"""Print the final losses of pretrainings and the losses that random scores give, as a Markdown table.

    stele pretraining losses work/miniature/encoders/*/pt0/record.json

Losses are means over the last twentieth of the steps, in nats. The loss by chance is the logarithm of the number of a
query's candidates, or of the vocabulary's size for MLM. A task whose loss stays near chance has taught nothing.
"""

from pathlib import Path

from stele.artifacts.records import read_record
from stele.command.arguments import Job, Positional, Some
from stele.errors import SteleError


class Losses(Job):
    records: Positional[Some[Path]]
    """Records of `pretraining pretrain`."""


def run(args: Losses) -> None:
    print("| model | task | steps | loss | by chance | learnt |\n| --- | --- | --- | --- | --- | --- |")
    for path in args.records:
        record = read_record(path)
        if "step" in record:  # a snapshot: its run has its own record
            continue
        if "chance" not in record:
            raise SteleError(f"{path}: found a record of job {record.get('job')!r}, want 'pretrain' with key `chance`")
        for task, chance in record["chance"].items():
            loss = record["losses"].get(task)
            if loss is not None:
                row = f"{record['model']} | {task} | {record['steps']} | {loss:.2f} | {chance:.2f}"
                print(f"| {row} | {chance - loss:.2f} |")
