"""DPR's training layout: one JSON array of {question, positive_ctxs, negative_ctxs, hard_negative_ctxs}.

The hard negatives are the negatives of a training example; the random `negative_ctxs` are left aside, as in DPR's
recipes (other_negatives 0). A dev example has the first 30 of both kinds, hard ones first: the average rank has them as
candidates (val_av_rank_hard_neg, val_av_rank_other_neg). Source: facebookresearch/DPR dpr/data/biencoder_data.py.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stele.benchmarks._files import field, json_array, optional
from stele.benchmarks.types import Passage, TrainingExample
from stele.errors import SteleError

logger = logging.getLogger(__name__)


DEV = 30  # negatives of each kind


def training_examples(path: Path, language: str, split: str) -> Iterator[TrainingExample]:
    """Streams the examples; questions without a positive are left out (as DPR does) and counted.

    An item's own `lang` comes before `language`.
    """
    without = 0
    for where, item in json_array(path):
        positives = [_passage(p, where) for p in field(item, "positive_ctxs", list, where)]
        listed = field(item, "hard_negative_ctxs", list, where)
        if split == "dev":
            listed = listed[:DEV] + field({"negative_ctxs": [], **item}, "negative_ctxs", list, where)[:DEV]
        negatives = [_passage(p, where) for p in listed]
        if positives:
            spoken = str(item.get("lang") or language).strip()
            yield TrainingExample(field(item, "question", str, where), positives, negatives, spoken)
        else:
            without += 1
    if without:
        logger.info("%s: %d questions without a positive passage were left out", path, without)


def _passage(item: Any, where: str) -> Passage:
    if not isinstance(item, dict):
        raise SteleError(f"{where}: a passage must be an object, found {type(item).__name__}")
    title, text = optional(item, "title", str, where), field(item, "text", str, where)
    docid = item.get("passage_id") or item.get("psg_id") or item.get("docid")
    return Passage(str(docid) if docid else _content_id(title, text), title, text)


def _content_id(title: str, text: str) -> str:
    """An id for a passage that has none: the same for the same content, so that duplicates are still seen."""
    return hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()[:16]
