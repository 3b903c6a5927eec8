"""Read your own training set: JSON lines {"query", "positives": [{"title", "text"}], "negatives": [...], "language"}.

`title`, `negatives` and `language` are optional; a passage may have an `id`. The dataset's folder holds `train.jsonl`
and, to choose a checkpoint, `dev.jsonl` (gzipped or not). Every line is checked.

>>> import json, pathlib, tempfile
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> line = {"query": "capital of France?", "positives": [{"title": "Paris", "text": "Paris is the capital of France."}]}
>>> _ = (folder / "train.jsonl").write_text(json.dumps(line))
>>> next(JsonLines().training({"jsonl": {"all": folder}}, "train")).positives[0].title
'Paris'
"""

from collections.abc import Iterator
from typing import Any

from stele.benchmarks._files import field, identifier, json_lines, located
from stele.benchmarks._training_layouts import content_id
from stele.benchmarks.reader import TrainingReader
from stele.benchmarks.types import Data, Passage, TrainingExample
from stele.errors import SteleError
from stele.files.reading import JsonObject

FIELDS = {"query", "positives", "negatives", "language"}
PASSAGE_FIELDS = {"id", "title", "text"}


class JsonLines(TrainingReader):
    def training(self, data: Data, split: str) -> Iterator[TrainingExample]:
        """Yields the examples of the datasets' `{split}.jsonl`, in the order in which the datasets were given."""
        for parts in data.values():
            for folder in parts.values():
                for where, item in json_lines(located(folder, f"{split}.jsonl")):
                    yield _example(item, where)


def _example(item: JsonObject, where: str) -> TrainingExample:
    _known(item, FIELDS, where)
    query = _text(item, "query", where)
    positives = [_passage(p, where) for p in field(item, "positives", list, where)]
    if not positives:
        raise SteleError(f"{where}: positives is empty; a query needs at least one")
    negatives = [_passage(p, where) for p in field(item, "negatives", list, where)] if "negatives" in item else []
    language = field(item, "language", str, where) if "language" in item else ""
    return TrainingExample(query, positives, negatives, language)


def _passage(item: Any, where: str) -> Passage:
    if not isinstance(item, dict):
        raise SteleError(f'{where}: a passage must be {{"title": ..., "text": ...}}, found {type(item).__name__}')
    _known(item, PASSAGE_FIELDS, where)
    title = field(item, "title", str, where) if "title" in item else ""
    text = _text(item, "text", where)
    return Passage(identifier(item.get("id", content_id(title, text)), where), title, text)


def _text(item: JsonObject, name: str, where: str) -> str:
    value = field(item, name, str, where)
    if not value.strip():
        raise SteleError(f"{where}: {name} is empty; want a text")
    return value


def _known(item: JsonObject, names: set[str], where: str) -> None:
    extra = sorted(item.keys() - names)
    if extra:
        raise SteleError(f"{where}: unknown field {extra[0]!r}; valid: {', '.join(sorted(names))}")
