"""From logits to texts: the best span of each window, and of a question's windows the best."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from stele.answering.reader.model import Reader
from stele.answering.reader.windows import Windows
from stele.benchmarks.types import SpanQuestion
from stele.encoders.encode import default_batch_tokens
from stele.encoders.tokens import length_buckets
from stele.errors import SteleError


def predictions(
    reader: Reader, windows: Windows, questions: Sequence[SpanQuestion], batch_tokens: int | None = None
) -> dict[str, str]:
    """Question id -> the text of the span with the highest sum of logits, without dropout.

    It is never empty, whether the paragraph answers the question or not; of equal ones the first. A question whose
    paragraph has no token has none. Batches are of windows of like lengths and hold `batch_tokens` tokens.
    """
    scores, spans = _best_spans(reader, windows, batch_tokens)
    texts: dict[str, str] = {}
    best: dict[int, float] = {}
    for number, score, (start, end) in zip(windows.question.tolist(), scores.tolist(), spans.tolist(), strict=True):
        if score > best.get(number, -np.inf):
            best[number] = score
            texts[questions[number].id] = questions[number].context[start:end]
    return texts


def _best_spans(reader: Reader, windows: Windows, batch_tokens: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Of each window the score, float64 [w], and the characters, int64 [w, 2], of its best span."""
    width = reader.backbone.config.hidden_size
    budget = batch_tokens or default_batch_tokens(reader.head.weight.device, width)
    scores, spans = np.full(len(windows), -np.inf), np.zeros((len(windows), 2), np.int64)
    training = reader.training
    reader.eval()
    with torch.inference_mode():
        for rows in length_buckets(windows.tokens.lengths, budget):
            logits = [part.cpu().numpy() for part in reader(windows, rows)]
            for row, starts, ends in zip(rows.tolist(), *logits, strict=True):
                own = windows.spans_of(row)
                paragraph = slice(windows.first[row], windows.first[row] + len(own))
                scores[row], first, last = best_span(starts[paragraph], ends[paragraph], own[:, 0] < own[:, 1])
                spans[row] = own[first, 0], own[last, 1]
    reader.train(training)
    if np.isnan(scores).any() or (scores == np.inf).any():
        raise SteleError("training diverged: a logit is not finite; lower the learning rate or clip gradients")
    return scores, spans


def best_span(starts: np.ndarray, ends: np.ndarray, possible: np.ndarray) -> tuple[float, int, int]:
    """(score, first, last) of the span first <= last with the highest starts[first] + ends[last], float [t] each.

    `possible` bool [t]: the tokens at which a span may begin and end; where there is none the score is minus infinity.
    Of equal ones that with the earliest end, then the earliest start.

    >>> best_span(np.array([1.0, 5.0, 0.0]), np.array([4.0, 2.0, 3.0]), np.array([True, True, True]))
    (8.0, 1, 2)
    """
    starts, ends = (np.where(possible, part.astype(np.float64), -np.inf) for part in (starts, ends))
    reached = np.maximum.accumulate(starts)
    is_new = np.concatenate([[True], reached[1:] > reached[:-1]])
    begins = np.maximum.accumulate(np.where(is_new, np.arange(len(starts)), 0))
    last = int(np.argmax(reached + ends))
    return float(reached[last] + ends[last]), int(begins[last]), last
