"""SQuAD's layout: articles, their paragraphs (`context`), questions about them (`qas`) and where the answers stand.

Format: rajpurkar/SQuAD-explorer, v1.1 and v2.0; MLQA's files are laid out alike. In v2.0 a question may have no answer
(`is_impossible`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stele.benchmarks._files import checked_object, field, identifier, json_file, refuse_again
from stele.benchmarks.types import Span, SpanQuestion
from stele.errors import SteleError
from stele.files.reading import JsonObject

UNANSWERED = "has no answer, and is_impossible does not say so"


def gold_answers(path: Path) -> dict[str, list[str]]:
    """Question id -> the texts of its gold answers: all that the official scripts of SQuAD and MLQA read."""
    gold: dict[str, list[str]] = {}
    for _, item, name, where in _items(json_file(path), path):
        texts = field(item, "answers", list, f"{where}, question {name}")
        gold[name] = [field(answer, "text", str, f"{where}, question {name}") for answer in texts]
        if not gold[name] and item.get("is_impossible") is not True:
            raise SteleError(f"{where}, question {name}: {UNANSWERED}")
    return gold


def span_questions(path: Path, version: str | None = None) -> Iterator[SpanQuestion]:
    """All questions of a file in their order; with `version` ("2"), of a file that says no other one.

    An empty paragraph, a question that is there twice, and one that neither has an answer nor says that it has none are
    errors. That an answer does not stand where it says is for the reader to count (`stands`).
    """
    whole = json_file(path)
    stated = str(whole.get("version", version))
    if version and not stated.lower().removeprefix("v").startswith(version):
        raise SteleError(f"{path}: version {stated!r}, want {version}: its questions say `is_impossible`")
    for paragraph, item, name, where in _items(whole, path):
        context = field(paragraph, "context", str, where)
        if not context.strip():
            raise SteleError(f"{where}: its context is empty")
        yield _question(item, name, context, f"{where}, question {name}")


def _items(whole: JsonObject, path: Path) -> Iterator[tuple[JsonObject, JsonObject, str, str]]:
    """(paragraph, question, its id, where the paragraph stands) of all questions of a file."""
    seen: set[str] = set()
    number = 0
    for article in field(whole, "data", list, str(path)):
        for paragraph in field(article, "paragraphs", list, str(path)):
            number += 1
            where = f"{path}, paragraph {number}"
            for item in field(paragraph, "qas", list, where):
                name = refuse_again(identifier(checked_object(item, where).get("id"), where), seen, where, "question")
                seen.add(name)
                yield paragraph, item, name, where


def _question(item: JsonObject, name: str, context: str, where: str) -> SpanQuestion:
    impossible = "is_impossible" in item and field(item, "is_impossible", bool, where)
    given = field(item, "answers", list, where)
    if impossible == bool(given):
        wrong = "has answers, and is_impossible" if impossible else UNANSWERED
        raise SteleError(f"{where}: {wrong}")
    answers = [Span(field(one, "answer_start", int, where), field(one, "text", str, where)) for one in given]
    return SpanQuestion(name, field(item, "question", str, where), context, answers)
