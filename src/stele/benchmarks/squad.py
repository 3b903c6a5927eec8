"""Read SQuAD's layout, and SQuAD v1.1 as training set for answer-sentence retrieval (XTREME-R's recipe for LAReQA).

The layout (rajpurkar/SQuAD-explorer, v1.1 and v2.0; MLQA's files have it, too) consists of articles, their paragraphs
(`context`), questions about them (`qas`) and the positions of the answers. In v2.0 a question may have no answer
(`is_impossible`).

In the training set, a question's positive is the sentence in which its (first) answer starts, with the whole paragraph
as context: `Passage.title` is the sentence, `Passage.text` the paragraph, encoded as a pair. Native files:
`{train,dev}-v1.1.json`. XTREME splits paragraphs into sentences with its own rules
(third_party/processors/sb_sed.py); Stele's rules are fewer, so that a few per cent of the sentences differ.
"""

import itertools
import logging
import re
from collections.abc import Iterator
from pathlib import Path

from stele.benchmarks._files import checked_object, field, folder_of, identifier, json_file, located, refuse_again
from stele.benchmarks.reader import TrainingReader
from stele.benchmarks.types import Data, Passage, Span, SpanQuestion, TrainingExample
from stele.errors import SteleError
from stele.files.reading import JsonObject

logger = logging.getLogger(__name__)

DATASET = "squad"


class Squad(TrainingReader):
    def training(self, data: Data, split: str) -> Iterator[TrainingExample]:
        """Yields (question, answer sentence) if the answer starts in a sentence. Raises SteleError without answers."""
        path = located(folder_of(data, DATASET, "all"), f"{split}-v1.1.json")
        without = 0
        for number, (where, paragraph) in enumerate(paragraphs(json_file(path), path), start=1):
            context = field(paragraph, "context", str, where)
            spans = sentence_spans(context)
            for item in field(paragraph, "qas", list, where):
                gold = field(item, "answers", list, where)
                if not gold:
                    raise SteleError(f"{where}: question {item.get('id')!r} has no answer; this is not SQuAD v1.1")
                start = field(gold[0], "answer_start", int, where)
                containing = next(((i, a, b) for i, (a, b) in enumerate(spans) if a <= start < b), None)
                if containing is None:
                    without += 1
                    continue
                i, first, last = containing
                positive = Passage(f"{number}_{i}", context[first:last], context)
                yield TrainingExample(field(item, "question", str, where), [positive], [], "en")
        if without:
            logger.info("%s: %d questions whose answer starts in no sentence were left out", path, without)


UNANSWERED = "has no answer, but is not marked `is_impossible`"


def gold_answers(path: Path) -> dict[str, list[str]]:
    """Maps question id -> gold answers, as the official scripts read. Raises SteleError for a question without one."""
    gold: dict[str, list[str]] = {}
    for _, item, name, where in _items(json_file(path), path):
        texts = field(item, "answers", list, f"{where}, question {name}")
        gold[name] = [field(answer, "text", str, f"{where}, question {name}") for answer in texts]
        if not gold[name] and item.get("is_impossible") is not True:
            raise SteleError(f"{where}, question {name}: {UNANSWERED}")
    return gold


def span_questions(path: Path, version: str | None = None) -> Iterator[SpanQuestion]:
    """Yields all questions of a file in order; the file must not state a version other than `version` ("2").

    Raises SteleError for an empty paragraph, a repeated question, and a question without an answer that is not marked
    as such. It does not check the answers' positions: callers count the wrong ones (`stands`).
    """
    whole = json_file(path)
    stated = str(whole.get("version", version))
    if version and not stated.lower().removeprefix("v").startswith(version):
        raise SteleError(f"{path}: version {stated!r}, want {version}: its questions say `is_impossible`")
    for paragraph, item, name, where in _items(whole, path):
        context = field(paragraph, "context", str, where)
        if not context.strip():
            raise SteleError(f"{where}: its context is empty; want a text")
        yield _question(item, name, context, f"{where}, question {name}")


def _items(whole: JsonObject, path: Path) -> Iterator[tuple[JsonObject, JsonObject, str, str]]:
    """Yields (paragraph, question, the question's id, the paragraph's place) for all questions of a file."""
    seen: set[str] = set()
    for where, paragraph in paragraphs(whole, path):
        for item in field(paragraph, "qas", list, where):
            name = refuse_again(identifier(checked_object(item, where).get("id"), where), seen, where, "question")
            seen.add(name)
            yield paragraph, item, name, where


def paragraphs(whole: JsonObject, path: Path) -> Iterator[tuple[str, JsonObject]]:
    """Yields ("file, paragraph N", paragraph) for all paragraphs of all articles, counted from 1."""
    number = 0
    for article in field(whole, "data", list, str(path)):
        for paragraph in field(article, "paragraphs", list, str(path)):
            number += 1
            yield f"{path}, paragraph {number}", paragraph


def _question(item: JsonObject, name: str, context: str, where: str) -> SpanQuestion:
    impossible = "is_impossible" in item and field(item, "is_impossible", bool, where)
    gold = field(item, "answers", list, where)
    if impossible == bool(gold):
        wrong = "has answers, but is marked `is_impossible`" if impossible else UNANSWERED
        raise SteleError(f"{where}: {wrong}")
    answers = [Span(field(answer, "answer_start", int, where), field(answer, "text", str, where)) for answer in gold]
    return SpanQuestion(name, field(item, "question", str, where), context, answers)


# a full stop, question or exclamation mark, closing quotes and brackets, footnote marks such as [12] or [note 1];
# then white space before a capital, a digit or an opening quote or bracket
_END = re.compile(r"""[.?!]["'”’)\]]*(?:\[[\w ?]+\])*\s+(?=["'“‘(\[]*[A-Z0-9])""")
# abbreviations before a full stop that does not end a sentence; only the last letters before it are matched
_ABBREVIATION = re.compile(
    r"""\b(?:Mrs?|Ms|Dr|Prof|Fr|Rev|Msgr|Sta?|Lt|Gen|Col|Maj|Adm|Capt|Sgt|Rep|Gov|Sen|Pres|Hon|Jr|Sr
        |e\.g|i\.e|etc|vs?|pp?|cf|ca?|approx|[Nn]o|[Vv]ol|[Aa]rt|[Ss]ec|Ft|Mt|Jan|Feb|Aug|Sept?|Oct|Nov|Dec
        |[A-Z])\Z""",
    re.VERBOSE,
)
_LONGEST = len("approx") + 1  # with the character before it


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Spans (start, end) of the sentences of `text`, without surrounding white space.

    >>> [("Dr. A. Smith came. He left!")[a:b] for a, b in sentence_spans("Dr. A. Smith came. He left!")]
    ['Dr. A. Smith came.', 'He left!']
    """
    cuts = [0]
    for match in _END.finditer(text):
        stop = match.start()
        bare = text[stop] == "." and text[stop + 1].isspace()
        if not (bare and _ABBREVIATION.search(text[max(cuts[-1], stop - _LONGEST) : stop])):
            cuts.append(match.end())
    cuts.append(len(text))
    spans = []
    for start, end in itertools.pairwise(cuts):
        piece = text[start:end]
        inner = piece.strip()
        if inner:
            first = start + piece.index(inner[0])
            spans.append((first, first + len(inner)))
    return spans
