"""A reader fine-tuned, and for each query set the epoch at which it answers the dev questions best."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from safetensors.torch import load_file, save

from stele.answering.reader.model import Reader, loss_of
from stele.answering.reader.predictions import predictions
from stele.answering.reader.windows import NO_ANSWER, Windows, labels
from stele.benchmarks.types import QuerySet, SpanQuestion
from stele.errors import SteleError
from stele.evaluation.metric import Case
from stele.evaluation.metrics.answers import SquadF1
from stele.files.atomic import atomic_file
from stele.files.reading import reading
from stele.recipes.answering import AnsweringRecipe
from stele.training import loop
from stele.training.callbacks import Evaluation
from stele.training.processes import process_context
from stele.training.sampling import derive, generator

log = logging.getLogger(__name__)


class Asked(NamedTuple):
    """Questions, and their windows."""

    questions: Sequence[SpanQuestion]
    windows: Windows


class Outcome(NamedTuple):
    """What a fine-tuning came to.

    dev_f1   query set -> epoch -> F1 of its dev questions
    epochs   query set -> the best of them, of equal ones the first
    counts   of what was trained on
    """

    dev_f1: dict[str, dict[int, float]]
    epochs: dict[str, int]
    counts: dict[str, int]


def f1(query_set: QuerySet, asked: Asked, answers: Mapping[str, str]) -> float:
    """The mean F1 of answers by SQuAD's normalisation, as the table has it."""
    case = Case(answers=[[answer.text for answer in item.answers] for item in asked.questions])
    case.add(query_set, [item.id for item in asked.questions])
    case.predictions = [answers.get(name) for name in case.queries]
    return float(np.mean(SquadF1().values(case)))


class BestEpochs(Evaluation):
    """Measures F1 on the dev questions of each query set after each epoch, from `first` on.

    The weights of an epoch that is the best so far for one of them are kept in `folder`.
    """

    def __init__(
        self, reader: Reader, dev: Mapping[QuerySet, Asked], steps_an_epoch: int, first: int, folder: Path
    ) -> None:
        super().__init__(steps_an_epoch)
        self.reader, self.dev, self.first, self.folder = reader, dev, first, folder

    def on_step(self, run) -> None:
        if run.step >= self.first * self.every:
            super().on_step(run)

    def measure(self, step: int) -> dict[str, float]:
        figures = {}
        for query_set, asked in self.dev.items():
            figures[query_set.name] = f1(query_set, asked, predictions(self.reader, asked.windows, asked.questions))
        epoch = step // self.every
        log.info("epoch %d: dev F1 %s", epoch, ", ".join(f"{name} {value:.4f}" for name, value in figures.items()))
        if any(value > max(self.by_epoch(name).values(), default=-1.0) for name, value in figures.items()):
            with atomic_file(weights_file(self.folder, epoch), "wb") as handle:
                handle.write(save(trained(self.reader)))
        return figures

    def by_epoch(self, name: str) -> dict[int, float]:
        """Epoch -> F1 of the dev questions of a query set."""
        return {int(figures["step"]) // self.every: figures[name] for figures in self.figures}


def trained(reader: Reader) -> dict[str, torch.Tensor]:
    """The weights that are trained, on the CPU."""
    return {name: value.detach().cpu().contiguous() for name, value in reader.named_parameters() if value.requires_grad}


def weights_file(folder: Path, epoch: int) -> Path:
    return folder / f"epoch{epoch}.safetensors"


def restore(reader: Reader, folder: Path, epoch: int) -> None:
    """Puts the weights of an epoch back."""
    path = weights_file(folder, epoch)
    with reading(path, "safetensors file", f"delete {folder} to train from the start"):
        reader.load_state_dict(load_file(path), strict=False)


def train(
    reader: Reader,
    training: Asked,
    dev: Mapping[QuerySet, Asked],
    recipe: AnsweringRecipe,
    *,
    seed: int,
    state: Path,
    label: str,
) -> Outcome:
    """Fine-tunes a reader in place; the weights of the best epochs are in `state` then (`restore`).

    `state` is the run's own folder; there is nothing in it, or the state of the same run that was killed. An epoch has
    each window once, in an order drawn by seed and epoch; its last batch may be smaller.
    """
    right = labels(training.windows, training.questions)
    number = len(right.rows)
    if not number:
        raise SteleError(f"{label}: no question to train on")
    steps_an_epoch = -(-number // recipe.batch)

    def loss_at(step: int) -> Iterator[loop.Named]:
        epoch, place = divmod(step, steps_an_epoch)
        order = generator(seed, "windows", epoch).permutation(number)
        own = order[place * recipe.batch : (place + 1) * recipe.batch]
        yield {"span": loss_of(reader, training.windows, right, own)}

    best = BestEpochs(reader, dev, steps_an_epoch, recipe.dev_from_epoch, state)
    loop.train(
        reader,
        loop.MicroBatches(loss_at, [0]),
        recipe.optimisation(recipe.epochs * steps_an_epoch),
        state=state,
        seed=derive(seed, "training"),
        process=process_context(),
        label=label,
        callbacks={"best": best},
    )
    dev_f1 = {query_set.name: best.by_epoch(query_set.name) for query_set in dev}
    epochs = {name: max(own, key=lambda epoch: (own[epoch], -epoch)) for name, own in dev_f1.items()}
    counts = {
        "windows": number,
        "without_answer": int((right.starts == NO_ANSWER).sum()),
        "answers_without_token": right.no_token,
        "answers_in_no_window": right.no_window,
    }
    return Outcome(dev_f1, epochs, counts)
