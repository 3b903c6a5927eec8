"""Mewsli-X: link a mention in a WikiNews article in one of eleven languages to its entity by the entity's description.

Each language has a query set; collection "all" has descriptions in fifty languages. Judged split: test. Native files
of the release (mewsli-x_20220518): `wikinews_mentions_no_text-{dev,test}.jsonl`, `candidate_set_entities.jsonl`, and
for training `wikipedia_pairs-{train,dev}.jsonl`. The release lacks the articles' texts: its own script adds them and
writes `wikinews_mentions-test.jsonl`, a separate dataset here, which only the queries need. Queries and passages are as
in google-research/xtreme third_party/utils_mewslix.py (`preprocess_mention`, `preprocess_entity_description`). One gold
entity per mention, so mAP@20 = MRR@20; the mean is over languages.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stele.benchmarks._files import checked_object, field, folder_of, identifier, json_lines, located, refuse_again
from stele.benchmarks.reader import RetrievalReader, TrainingReader
from stele.benchmarks.types import Data, Judgments, Passage, Query, QuerySet, TrainingExample
from stele.errors import SteleError
from stele.files.reading import JsonObject

DATASET, NEWS = "mewsli_x", "mewsli_x_news"
JUDGED = "test"

_BRACED = re.compile(r"\{([^}\n]*+)(\}?)")  # a brace that is not closed on its line stays


class MewsliX(RetrievalReader, TrainingReader):
    COLLECTION = "all"

    def queries(self, data: Data, query_set: QuerySet) -> Iterator[Query]:
        """Yields one language's test mentions, each with its sentence: `mention: left { mention } right`."""
        path = located(folder_of(data, NEWS, query_set.collection), f"wikinews_mentions-{JUDGED}.jsonl")
        for where, name, context, mention in _mentions(path, query_set.language):
            yield Query(name, mention_text(context, mention, where))

    def judgments(self, data: Data, query_set: QuerySet) -> Judgments:
        judged: dict[str, dict[str, int]] = {}
        path = located(folder_of(data, DATASET, query_set.collection), f"wikinews_mentions_no_text-{JUDGED}.jsonl")
        for where, name, _, mention in _mentions(path, query_set.language):
            refuse_again(name, judged, where, "example_id")
            judged[name] = {identifier(field(mention, "entity_id", str, where).strip(), where, "entity_id"): 1}
        return judged

    def passages(self, data: Data, collection: str) -> Iterator[Passage]:
        """Yields the candidate entities: the first sentences of a Wikipedia page, without its title."""
        for where, entity in json_lines(located(folder_of(data, DATASET, collection), "candidate_set_entities.jsonl")):
            yield _entity(entity, where)

    def training(self, data: Data, split: str) -> Iterator[TrainingExample]:
        """Yields English Wikipedia mentions with their entities as positives and no hard negatives."""
        path = located(folder_of(data, DATASET, "all"), f"wikipedia_pairs-{split}.jsonl")
        for where, item in json_lines(path):
            pair = field(item, "contextual_mention", dict, where)
            context, mention = field(pair, "context", dict, where), field(pair, "mention", dict, where)
            text = mention_text(context, mention, where)
            positive = _entity(field(item, "entity", dict, where), where)
            yield TrainingExample(text, [positive], [], field(context, "language", str, where))


def candidate_languages(data: Data) -> Iterator[str]:
    """Yields the language of each candidate's description."""
    for where, entity in json_lines(located(folder_of(data, DATASET, "all"), "candidate_set_entities.jsonl")):
        yield field(entity, "description_language", str, where)


def mention_text(context: JsonObject, mention: JsonObject, where: str) -> str:
    """Makes the query of a mention: its surface form, then its sentence with the mention in braces.

    Braces in the sentence become parentheses. Raises SteleError if the text is empty or no sentence has the mention.
    """
    text = field(context, "text", str, where)
    if not text:
        raise SteleError(
            f"{where}: the article's text is empty, as in the released files; run Mewsli-X's own get-mewsli-x.sh, "
            f"which puts the texts back, and give its output as the folder of {NEWS}"
        )
    start, end = _span(field(mention, "mention_span", dict, where), text, where)
    for sentence in field(context, "sentence_spans", list, where):
        first, last = _span(sentence, text, where)
        if first <= start < last and end <= last:
            break
    else:
        raise SteleError(f"{where}: no sentence holds the whole mention at {start}-{end}")
    surface = text[start:end]
    sides = (text[first:start], text[end:last])
    left, right = (_BRACED.sub(lambda brace: f"({brace[1]})" if brace[2] else brace[0], side) for side in sides)
    return _one_line(f"{surface}: {left} {{ {surface} }} {right}")


def _span(span: Any, text: str, where: str) -> tuple[int, int]:
    if not isinstance(span, dict):
        raise SteleError(f"{where}: a span must be an object with start and end")
    start, end = field(span, "start", int, where), field(span, "end", int, where)
    if not 0 <= start < end <= len(text):
        raise SteleError(f"{where}: the span {start}-{end} is not within the text of {len(text)} characters")
    if "text" in span and span["text"] != text[start:end]:
        raise SteleError(f"{where}: the text at {start}-{end} is {text[start:end]!r}, its span says {span['text']!r}")
    return start, end


def _entity(entity: JsonObject, where: str) -> Passage:
    text = field(entity, "description", str, where)
    spans = [_span(span, text, where) for span in field(entity, "sentence_spans", list, where)]
    description = _one_line(" ".join(text[start:end] for start, end in spans))
    return Passage(identifier(entity.get("entity_id"), where, "entity_id"), "", description)


def _one_line(text: str) -> str:
    return " ".join(text.splitlines()).replace("  ", " ").strip()


def _mentions(path: Path, language: str) -> Iterator[tuple[str, str, JsonObject, JsonObject]]:
    """Yields (place, id, context, mention) of the mentions in a language."""
    for where, item in json_lines(path):
        context = field(item, "context", dict, where)
        if field(context, "language", str, where) == language:
            for mention in field(item, "mentions", list, where):
                name = identifier(checked_object(mention, where).get("example_id"), where, "example_id")
                yield where, name, context, mention
