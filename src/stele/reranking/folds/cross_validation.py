"""Cross-validation of a scorer in five folds of topics: its draws, its training, the choice of an epoch.

A module that has seen none of its topics scores fold n: fold n + 1 chooses the epoch, the other three folds train it
(Yu et al., section 5.1.3).
"""

import logging
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from pydantic import BaseModel
from torch import Tensor, nn
from torch.nn import functional

from stele.artifacts import records
from stele.encoders.encode import default_batch_tokens
from stele.encoders.tokens import length_buckets
from stele.errors import SteleError
from stele.evaluation.folds import FOLDS
from stele.files.atomic import atomic_write_json
from stele.files.reading import JsonObject, read_state
from stele.recipes.reranking import Trained
from stele.reranking.folds.candidates import Candidates
from stele.training import loop
from stele.training.callbacks import BestEpochs, restore_epoch
from stele.training.processes import process_context
from stele.training.sampling import derive, generator

log = logging.getLogger(__name__)


class Fold(NamedTuple):
    """Topics for training, dev and test in fold `number`, as indices int64."""

    number: int
    train: np.ndarray
    dev: np.ndarray
    test: np.ndarray


class FoldResult(BaseModel):
    """Scores of a fold, and the choice of its epoch.

    rows, scores   numbers of its test candidates, and their scores, each a float32
    pairs          number of training pairs per epoch
    dev_map        epoch -> MAP of the dev fold; `epoch` is the best
    earlier        wall-clock and CPU seconds in earlier runs of the job
    """

    rows: list[int]
    scores: list[float]
    topics: int
    pairs: int
    dev_map: dict[int, float]
    epoch: int
    earlier: tuple[float, float]

    def facts(self) -> JsonObject:
        """Facts of the fold for a record."""
        return {"topics": self.topics, "epoch": self.epoch, "dev_map": self.dev_map[self.epoch], "pairs": self.pairs}


def parts(topics: Sequence[str], fold_of: Mapping[str, int], where: str) -> list[Fold]:
    """Divides the candidates' topics into training, dev and test topics of five folds.

    Raises SteleError if a fold has no topic for one of them.
    """
    numbers = np.array([fold_of[topic] for topic in topics])
    folds = []
    for number in range(FOLDS):
        dev = (number + 1) % FOLDS
        masks = {"train": (numbers != number) & (numbers != dev), "dev": numbers == dev, "test": numbers == number}
        if empty := [name for name, mask in masks.items() if not mask.any()]:
            raise SteleError(f"{where}: fold {number} has no topic for {empty[0]}; want judged topics in every fold")
        folds.append(Fold(number, *(np.flatnonzero(mask) for mask in masks.values())))
    return folds


def training_pairs(candidates: Candidates, fold: Fold, seed: int, epoch: int) -> tuple[np.ndarray, np.ndarray]:
    """Draws an epoch's pairs, in its order: relevant candidates, and a negative of the same topic for each; int64 [p].

    Topics without a negative have no pairs. Raises SteleError if there is no pair at all.
    """
    relevant, negative = [], []
    for topic in fold.train:
        of_topic = np.flatnonzero(candidates.topic_of == topic)
        positives = of_topic[candidates.relevant[of_topic]]
        others = of_topic[~candidates.relevant[of_topic]]
        if len(positives) and len(others):
            draws = generator(seed, "negatives", candidates.topics[topic], fold.number, epoch)
            relevant.append(positives)
            negative.append(others[draws.integers(len(others), size=len(positives))])
    if not relevant:
        raise SteleError(f"fold {fold.number}: no training topic has both relevant and non-relevant documents")
    order = generator(seed, "order", fold.number, epoch).permutation(sum(map(len, relevant)))
    return np.concatenate(relevant)[order], np.concatenate(negative)[order]


def loss_of(outputs: Tensor, loss: str) -> Tensor:
    """Mean loss, float32 [], of p pairs: `outputs` [2 p, k] of p relevant candidates, then of their negatives.

    pairwise: -ln softmax over the two scores at the relevant one; pointwise: cross-entropy of two classes.

    >>> round(float(loss_of(torch.tensor([[2.0], [1.0]]), "pairwise")), 4)  # S+ 2, S- 1
    0.3133
    """
    half = len(outputs) // 2
    if loss == "pairwise":
        return functional.softplus(outputs[half:, -1] - outputs[:half, -1]).mean()
    classes = torch.arange(len(outputs), device=outputs.device) < half
    return functional.cross_entropy(outputs, classes.long())


def scored(module: nn.Module, rows: np.ndarray) -> np.ndarray:
    """Scores candidates `rows` without dropout, float32 [n], in batches of similar lengths.

    Raises SteleError if a score is not finite.
    """
    budget = default_batch_tokens(next(module.parameters()).device, 768)
    scores, training = np.empty(len(rows), np.float32), module.training
    module.eval()
    with torch.inference_mode():
        for places in length_buckets(module.lengths[rows], budget):
            scores[places] = module(rows[places])[:, -1].float().cpu().numpy()
    module.train(training)
    if not np.isfinite(scores).all():
        raise SteleError(
            "training diverged: a score is not finite; lower the learning rate or clip gradients (clip_norm)"
        )
    return scores


def run_fold(
    new_module: Callable[[int], Any],
    candidates: Candidates,
    fold: Fold,
    recipe: Trained,
    *,
    seed: int,
    state: Path,
    label: str,
) -> FoldResult:
    """Trains a new module on a fold, and scores the fold's test topics with the weights of the best epoch."""
    module = new_module(derive(seed, "module", fold.number))
    pairs = len(training_pairs(candidates, fold, seed, 0)[0])
    steps_an_epoch = -(-pairs // recipe.batch)
    drawn: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def loss_at(step: int) -> Iterator[loop.Named]:
        epoch, place = divmod(step, steps_an_epoch)
        if epoch not in drawn:
            drawn.clear()
            drawn[epoch] = training_pairs(candidates, fold, seed, epoch)
        batch = slice(place * recipe.batch, (place + 1) * recipe.batch)
        yield {recipe.loss: loss_of(module(np.concatenate([rows[batch] for rows in drawn[epoch]])), recipe.loss)}

    def dev_map(epoch: int) -> dict[str, float]:
        rows = candidates.of_topics(fold.dev)
        scores = np.zeros(len(candidates), np.float32)
        scores[rows] = scored(module, rows)
        value = candidates.mean_ap(fold.dev, scores)
        log.info("fold %d, epoch %d: dev MAP %.4f", fold.number, epoch, value)
        return {"dev_map": value}

    best = BestEpochs(module, dev_map, steps_an_epoch, recipe.dev_from_epoch, state)
    outcome = loop.train(
        module,
        loop.MicroBatches(loss_at, [0]),
        recipe.optimisation(recipe.epochs * steps_an_epoch),
        state=state,
        seed=derive(seed, "training", fold.number),
        process=process_context(),
        label=f"{label}, fold {fold.number}",
        callbacks={"best": best},
    )
    rows, map_of = candidates.of_topics(fold.test), best.by_epoch("dev_map")
    epoch = max(map_of, key=map_of.get)  # ties: the first
    restore_epoch(module, state, epoch)
    return FoldResult(
        rows=rows.tolist(),
        scores=scored(module, rows).tolist(),
        topics=len(fold.test),
        pairs=pairs,
        dev_map=map_of,
        epoch=epoch,
        earlier=outcome["earlier"],
    )


def cross_validate(
    new_module: Callable[[int], Any],
    candidates: Candidates,
    fold_of: Mapping[str, int],
    recipe: Trained,
    *,
    seed: int,
    state: Path,
    label: str,
) -> list[FoldResult]:
    """Trains and scores the five folds in turn, except those already finished in `state`.

    new_module(seed) makes an untrained module; `fold_of` maps the id of each topic to its fold.
    """
    folds = []
    for fold in parts(candidates.topics, fold_of, label):
        saved, folder = state / f"fold{fold.number}.json", state / f"fold{fold.number}"
        if saved.exists():
            folds.append(FoldResult.model_validate(read_state(saved)))
            continue
        begun = records.spent()
        result = run_fold(new_module, candidates, fold, recipe, seed=seed, state=folder, label=label)
        wall, cpu = records.spent(result.earlier)
        earlier = wall - begun[0], cpu - begun[1]  # to a run that resumes after it
        atomic_write_json(saved, result.model_copy(update={"earlier": earlier}).model_dump())
        shutil.rmtree(folder, ignore_errors=True)
        folds.append(result)
    return folds
