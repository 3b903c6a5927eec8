"""Readers: an encoder with a linear layer that scores each token as the first and as the last of an answer.

As in transformers' BertForQuestionAnswering. The encoder's layers are trained, its embeddings are not: "we are able to
finetune all encoder layers" (Yu et al., section 5.2.1), and the authors' code freezes the embeddings.
"""

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from stele.answering.reading.windows import NO_ANSWER, Labels, Windows, labels
from stele.benchmarks.types import QuerySet
from stele.encoders.backbone import load_backbone, positions
from stele.encoders.encode import MODEL_INPUTS, default_batch_tokens
from stele.encoders.tokens import collate, length_buckets
from stele.errors import SteleError
from stele.evaluation.metric import Case
from stele.evaluation.metrics.answers import SquadF1
from stele.recipes.finetuning import AnsweringRecipe
from stele.training import loop
from stele.training.callbacks import BestEpochs
from stele.training.heads import INIT, initialise
from stele.training.hidden_states import token_states
from stele.training.processes import process_context
from stele.training.sampling import derive, generator

MASKED = torch.finfo(torch.float32).min
log = logging.getLogger(__name__)


class Reader(nn.Module):
    """A reader: backbone and linear head; `pad` is the padding id."""

    def __init__(self, backbone: nn.Module, pad: int) -> None:
        super().__init__()
        self.backbone, self.pad = backbone, pad
        self.head = nn.Linear(backbone.config.hidden_size, 2)

    def forward(self, windows: Windows, rows: np.ndarray) -> tuple[Tensor, Tensor]:
        """Logits of an answer's first and last token in the windows `rows` (int64 [m]): float32 [m, t] each.

        Padding gets the lowest float32."""
        batch = collate(windows.tokens, rows, self.pad)
        batch = {name: value.to(self.head.weight.device) for name, value in batch.items()}
        ids, mask, types = (batch.get(name) for name in MODEL_INPUTS)
        mask = None if mask is None else mask.bool()
        logits = self.head(token_states(self.backbone, ids, mask, types)).float()
        if mask is not None:
            logits = logits.masked_fill(~mask[..., None], MASKED)
        return logits[..., 0], logits[..., 1]


def loss_of(reader: Reader, windows: Windows, labels: Labels, places: np.ndarray) -> Tensor:
    """Mean cross-entropy, float32 [], of the answers' first and last tokens among all tokens of a window.

    `places` int64 [b] are indices into the labels.
    """
    logits = reader(windows, labels.rows[places])
    targets = (torch.from_numpy(tokens[places]).to(logits[0].device) for tokens in (labels.starts, labels.ends))
    return sum(map(functional.cross_entropy, logits, targets)) / 2


def new_reader(folder: Path, pad: int, recipe: AnsweringRecipe, seed: int) -> Reader:
    """Creates a reader from a checkpoint's encoder and a head initialised by `seed`; freezes embeddings and pooler.

    Raises SteleError if the recipe's length exceeds the model's positions.
    """
    backbone, _ = load_backbone(folder, "cls", seed=seed, dropout=recipe.dropout)
    if recipe.length > (longest := positions(backbone.config)):
        raise SteleError(f"{folder}: length is {recipe.length}, but the model has {longest} positions; shorten it")
    reader = Reader(backbone, pad)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        initialise(reader.head, getattr(backbone.config, "initializer_range", INIT))
    # a BERT keeps all embeddings in one module; a Gemma has token embeddings alone
    (getattr(backbone, "embeddings", None) or backbone.get_input_embeddings()).requires_grad_(False)
    if getattr(backbone, "pooler", None) is not None:
        backbone.pooler.requires_grad_(False)  # its output is not used
    return reader


def predictions(reader: Reader, windows: Windows) -> dict[str, str]:
    """Predicts for each question id the text of the span with the highest sum of logits, without dropout.

    The text is never empty, even if the paragraph does not answer the question; the first of equal spans counts.
    Questions on a paragraph without tokens have no prediction. Raises SteleError if a logit is not finite.
    """
    scores, spans = _best_spans(reader, windows)
    texts: dict[str, str] = {}
    best: dict[int, float] = {}
    for number, score, (start, end) in zip(windows.question.tolist(), scores.tolist(), spans.tolist(), strict=True):
        if score > best.get(number, -np.inf):
            best[number], question = score, windows.questions[number]
            texts[question.id] = question.context[start:end]
    return texts


def _best_spans(reader: Reader, windows: Windows) -> tuple[np.ndarray, np.ndarray]:
    """Score of each window's best span, float64 [w], and its character range, int64 [w, 2]."""
    budget = default_batch_tokens(reader.head.weight.device, reader.backbone.config.hidden_size)
    scores, spans = np.full(len(windows), -np.inf), np.zeros((len(windows), 2), np.int64)
    training = reader.training
    reader.eval()
    with torch.inference_mode():
        for rows in length_buckets(windows.tokens.lengths, budget):
            logits = [part.cpu().numpy() for part in reader(windows, rows)]
            for row, starts, ends in zip(rows.tolist(), *logits, strict=True):
                characters = windows.spans_of(row)
                paragraph = slice(windows.first[row], windows.first[row] + len(characters))
                possible = characters[:, 0] < characters[:, 1]
                scores[row], first, last = best_span(starts[paragraph], ends[paragraph], possible)
                spans[row] = characters[first, 0], characters[last, 1]
    reader.train(training)
    if np.isnan(scores).any() or (scores == np.inf).any():
        raise SteleError("training diverged: a logit is not finite; lower the learning rate or clip gradients")
    return scores, spans


def best_span(starts: np.ndarray, ends: np.ndarray, possible: np.ndarray) -> tuple[float, int, int]:
    """Finds (score, first, last) of the span with the highest starts[first] + ends[last], first <= last; float [t].

    `possible` bool [t]: the tokens at which a span may begin and end; where there is none the score is minus infinity.
    Of equal spans the one with the earliest end, then the earliest start.

    >>> best_span(np.array([1.0, 5.0, 0.0]), np.array([4.0, 2.0, 3.0]), np.array([True, True, True]))
    (8.0, 1, 2)
    """
    starts = np.where(possible, starts.astype(np.float64), -np.inf)
    ends = np.where(possible, ends.astype(np.float64), -np.inf)
    reached = np.maximum.accumulate(starts)
    is_new = np.concatenate([[True], reached[1:] > reached[:-1]])
    begins = np.maximum.accumulate(np.where(is_new, np.arange(len(starts)), 0))
    last = int(np.argmax(reached + ends))
    return float(reached[last] + ends[last]), int(begins[last]), last


class ReaderTraining(NamedTuple):
    """Result of a reader's fine-tuning.

    dev_f1   query set -> epoch -> F1 of its dev questions
    epochs   query set -> its best epoch, the first of equal ones
    counts   numbers of training windows and of answers outside them
    earlier  wall-clock and CPU seconds before the run was resumed
    """

    dev_f1: dict[str, dict[int, float]]
    epochs: dict[str, int]
    counts: dict[str, int]
    earlier: tuple[float, float]


def f1(reader: Reader, query_set: QuerySet, windows: Windows) -> float:
    """Mean F1 of the reader's answers by SQuAD's normalisation, the metric of the tables."""
    answers = predictions(reader, windows)
    case = Case(answers=[[answer.text for answer in item.answers] for item in windows.questions])
    case.add(query_set, [item.id for item in windows.questions])
    case.predictions = [answers.get(name) for name in case.queries]
    return float(np.mean(SquadF1().values(case)))


def train(
    reader: Reader,
    training: Windows,
    dev: Mapping[QuerySet, Windows],
    recipe: AnsweringRecipe,
    seed: int,
    state: Path,
) -> ReaderTraining:
    """Fine-tunes a reader in place; afterwards `state` has the weights of the best epochs for `restore_epoch`.

    `state` is an empty folder, or has the saved state of the same run. Raises SteleError if there is no question.
    """
    answer_labels = labels(training)
    number = len(answer_labels.rows)
    if not number:
        raise SteleError("answer: found no question to train on; give training data with answers in their paragraphs")
    steps_an_epoch = -(-number // recipe.batch)

    def loss_at(step: int) -> Iterator[loop.Named]:
        epoch, place = divmod(step, steps_an_epoch)
        order = generator(seed, "windows", epoch).permutation(number)
        batch = order[place * recipe.batch : (place + 1) * recipe.batch]
        yield {"span": loss_of(reader, training, answer_labels, batch)}

    def dev_f1(epoch: int) -> dict[str, float]:
        figures = {query_set.name: f1(reader, query_set, windows) for query_set, windows in dev.items()}
        log.info("epoch %d: dev F1 %s", epoch, ", ".join(f"{name} {value:.4f}" for name, value in figures.items()))
        return figures

    best = BestEpochs(reader, dev_f1, steps_an_epoch, recipe.dev_from_epoch, state)
    outcome = loop.train(
        reader,
        loop.MicroBatches(loss_at, [0]),
        recipe.optimisation(recipe.epochs * steps_an_epoch),
        state=state,
        seed=derive(seed, "training"),
        process=process_context(),
        label="answer",
        callbacks={"best": best},
    )
    f1_of = {query_set.name: best.by_epoch(query_set.name) for query_set in dev}
    epochs = {name: max(values, key=values.get) for name, values in f1_of.items()}  # ties: the first
    counts = {
        "windows": number,
        "without_answer": int((answer_labels.starts == NO_ANSWER).sum()),
        "answers_without_token": answer_labels.no_token,
        "answers_in_no_window": answer_labels.no_window,
    }
    return ReaderTraining(f1_of, epochs, counts, outcome["earlier"])
