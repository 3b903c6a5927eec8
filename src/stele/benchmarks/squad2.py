"""SQuAD v2.0 as a training set for question answering: questions about paragraphs, a third without an answer.

It is a training set only. Native files: `{train,dev}-v2.0.json`. Any dataset with one file `train*.json` in this format
can be read.
"""

from collections.abc import Iterator
from pathlib import Path

from stele.benchmarks._files import below
from stele.benchmarks.reader import SpanTrainingReader
from stele.benchmarks.squad import span_questions
from stele.benchmarks.types import Data, SpanQuestion
from stele.errors import SteleError


class Squad2(SpanTrainingReader):
    def training_questions(self, data: Data, split: str) -> Iterator[SpanQuestion]:
        """Yields the questions of a split of each dataset. Raises SteleError for a version other than 2."""
        for parts in data.values():
            for folder in parts.values():
                yield from span_questions(_file(Path(folder), split), version="2")


def _file(folder: Path, split: str) -> Path:
    files = sorted(path for path in below(folder) if folder.is_file() or path.match(f"{split}*.json"))
    if len(files) != 1:
        names = ", ".join(path.name for path in files) or "none"
        raise SteleError(f"{folder}: want one file {split}*.json in SQuAD's format, found {names}")
    return files[0]
