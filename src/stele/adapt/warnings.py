"""What a reader should know before believing the verdicts of an adaptation, a sentence each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def problems(trainings: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What went wrong in the trainings of each model: divergence, tasks that learnt nothing, losses above chance."""
    of_model: dict[tuple[str, str], list[str]] = {}
    for training in trainings:
        model, seed, unlearnt = training["model"], f"seed {training['seed']}", training.get("unlearnt") or {}
        if training.get("diverged"):
            of_model.setdefault((model, "diverged"), []).append(f"{seed}: {training['diverged']}")
            continue
        for task, reason in unlearnt.items():
            of_model.setdefault((model, f"{task} learnt nothing"), []).append(f"{seed}: {reason}")
        for task in training["above_chance"]:
            if task not in unlearnt:
                loss, chance = training["losses"][task], training["chance"][task]
                what = f"the loss of {task} ended above that of a guess"
                of_model.setdefault((model, what), []).append(f"{seed}: {loss:.2f}, by chance {chance:.2f}")
    for (model, what), seeds in of_model.items():
        yield f"{model}: {what} ({'; '.join(seeds)})"


def leaks(counts: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Iterator[str]:
    """Which texts of benchmarks stand in the documents."""
    for benchmark, kinds in counts.items():
        for kind, of_kind in kinds.items():
            if matches := of_kind["exact"] + of_kind["near"]:
                how = f"{of_kind['exact']} as they are, {of_kind['near']} nearly"
                yield f"{matches} of the {of_kind['texts']} {kind} of {benchmark} stand in the documents ({how})"
