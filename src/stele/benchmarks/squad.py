"""SQuAD v1.1 as a training set for answer-sentence retrieval (XTREME-R's recipe for LAReQA).

A training set only. A question's positive is the sentence in which its (first) answer starts, with the whole paragraph
as context: `Passage.title` is the sentence, `Passage.text` the paragraph, encoded as a pair.
Native files: `{train,dev}-v1.1.json`.

XTREME breaks paragraphs into sentences with its own list of rules (third_party/processors/sb_sed.py); ours
(`_sentences.py`) is a shorter list to the same end, so a few per cent of the sentences differ.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

from stele.benchmarks._files import field, folder_of, json_file, located
from stele.benchmarks._sentences import sentence_spans
from stele.benchmarks.types import Data, Passage, TrainingExample
from stele.errors import SteleError

logger = logging.getLogger(__name__)

DATASET = "squad"


def training(data: Data, split: str) -> Iterator[TrainingExample]:
    """(question, answer sentence in its paragraph); a question whose answer starts in no sentence is left out."""
    path = located(folder_of(data, DATASET, "all"), f"{split}-v1.1.json")
    number, without = 0, 0
    for article in field(json_file(path), "data", list, str(path)):
        for paragraph in field(article, "paragraphs", list, str(path)):
            number += 1
            where = f"{path}, paragraph {number}"
            context = field(paragraph, "context", str, where)
            spans = sentence_spans(context)
            for item in field(paragraph, "qas", list, where):
                given = field(item, "answers", list, where)
                if not given:
                    raise SteleError(f"{where}: question {item.get('id')!r} has no answer: not SQuAD v1.1")
                start = field(given[0], "answer_start", int, where)
                held = next(((i, a, b) for i, (a, b) in enumerate(spans) if a <= start < b), None)
                if held is None:
                    without += 1
                    continue
                i, first, last = held
                positive = Passage(f"{number}_{i}", context[first:last], context)
                yield TrainingExample(field(item, "question", str, where), [positive], [], "en")
    if without:
        logger.info("%s: %d questions whose answer starts in no sentence were left out", path, without)
