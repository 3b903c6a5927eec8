"""SQuAD v2.0 as a training set for question answering: questions about paragraphs, of which a third has no answer.

A training set only. Native files: `{train,dev}-v2.0.json`. Any dataset is read alike that has one file `train*.json` in
this format.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stele.benchmarks._files import below
from stele.benchmarks.reader import SpanTrainingReader
from stele.benchmarks.squad import span_questions
from stele.benchmarks.types import Data, SpanQuestion
from stele.errors import SteleError


class Squad2(SpanTrainingReader):
    def training_questions(self, data: Data, split: str) -> Iterator[SpanQuestion]:
        """The questions of a split of each dataset; a file of another version than 2 is an error."""
        for parts in data.values():
            for folder in parts.values():
                yield from span_questions(_file(Path(folder), split), version="2")


def _file(folder: Path, split: str) -> Path:
    files = sorted(path for path in below(folder) if folder.is_file() or path.match(f"{split}*.json"))
    if len(files) != 1:
        names = ", ".join(path.name for path in files) or "none"
        raise SteleError(f"{folder}: want one file {split}*.json in SQuAD's format, found {names}")
    return files[0]
