"""Natural Questions as DPR prepared it: English open-domain questions over Wikipedia passages of 100 words.

There is one query set and one collection. Judged split: test (3,610 questions). Native files: `nq-test.qa.csv` (tab-
separated: question, Python list of answers); `psgs_w100.tsv.gz` (id, text, title); for training
`biencoder-nq-{train,dev}.json.gz`. A hit counts if its text contains an answer (DPR `has_answer`).
"""

import ast
from collections.abc import Iterator, Sequence

from stele.benchmarks._files import folder_of, located, tsv_rows
from stele.benchmarks._training_layouts import HundredWordsReader, dpr_examples
from stele.benchmarks.reader import TrainingReader
from stele.benchmarks.types import Data, Query, QuerySet, TrainingExample
from stele.errors import SteleError

QUESTIONS = "nq_test"
TRAINING = "nq_dpr"


class NaturalQuestions(HundredWordsReader, TrainingReader):
    DATASET = "psgs_w100"
    FILE = "psgs_w100.tsv.gz"
    SCORED_BY = "answers"

    def query_sets(self, languages: Sequence[str]) -> list[QuerySet]:
        return [QuerySet("en", "en", "en")]

    def queries(self, data: Data, query_set: QuerySet) -> Iterator[Query]:
        """Yields the test questions; the file has no ids, so a question's id is its row number from 0."""
        for number, (_, (question, _)) in enumerate(_rows(data)):
            yield Query(str(number), question)

    def answers(self, data: Data, query_set: QuerySet) -> dict[str, list[str]]:
        """Maps question id -> acceptable answers. Raises SteleError if a row has no list of strings."""
        gold = {}
        for number, (where, (_, written)) in enumerate(_rows(data)):
            try:
                answers_of_row = ast.literal_eval(written)
            except (ValueError, SyntaxError):
                answers_of_row = None
            if not isinstance(answers_of_row, list) or not all(isinstance(answer, str) for answer in answers_of_row):
                raise SteleError(f"{where}: want a list of answer strings, found {written[:60]!r}")
            gold[str(number)] = answers_of_row
        return gold

    def training(self, data: Data, split: str) -> Iterator[TrainingExample]:
        """Yields DPR's training examples: gold passages as positives, BM25 hard negatives."""
        path = located(folder_of(data, TRAINING, "all"), f"biencoder-nq-{split}.json.gz")
        yield from dpr_examples(path, "en", split)


def _rows(data: Data):
    return tsv_rows(located(folder_of(data, QUESTIONS, "all"), "nq-test.qa.csv"), 2)
