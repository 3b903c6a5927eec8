"""Recall of answers in the passages that a system ranked first: r@k of DPR, r@nkt of XOR-Retrieve.

XOR-Retrieve: AkariAsai/XORQA c894f52 evals/eval_xor_retrieve.py `evaluate_top_k_hit`. The passages' texts (no titles)
are cut into tokens by NLTK's word_tokenize in rank order until n thousand are reached, cut at exactly n thousand, and
joined by blanks. "yes" and "no" (as written) are no answers here; a question with no other is not counted. A question
without a result counts as 0; the official script leaves it out.

`nltk.word_tokenize` splits sentences with the English Punkt model of nltk_data, then cuts words with the Treebank
rules. The model is in no package: it is a dataset of the catalogue. Without it there is an error, never another
tokenizer, because R@2kt depends on every token. The four text files are read directly; nothing is unpickled. NLTK's
version counts too: 3.10.4 parts "bar—baz" at the dash, 3.5 does not; the lock files pin it.
"""

import unicodedata
from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import numpy as np

from stele.benchmarks._files import open_text
from stele.benchmarks.types import Data
from stele.errors import SteleError
from stele.evaluation import guess
from stele.evaluation.metric import Case, Metric
from stele.files.reading import reading

DATASET = "nltk_punkt"
FILES = ("abbrev_types.txt", "collocations.tab", "sent_starters.txt", "ortho_context.tab")
DPR_TOKEN = r"[\p{L}\p{N}\p{M}]+|[^\p{Z}\p{C}]"
_END = "\0"  # a control character, so in no token

Tokenize = Callable[[str], list[str]]


class PassageMetric(Metric):
    """Base of metrics that look for answers in ranked passages; `guess` scores the rankings of other questions."""

    needs = "answers"
    guessed = "the rankings of other questions"

    def evaluate(self, case: Case) -> np.ndarray:
        return self.score(case, range(len(case.queries)))

    def guess(self, case: Case) -> np.ndarray:
        """Chance level of each question, float64 [rows]: its mean score with rankings of others of its query set."""
        return guess.by_others(case, lambda row: self.counts(case, row), lambda sources: self.score(case, sources))

    def counts(self, case: Case, row: int) -> bool:
        """Whether the question of a row counts."""
        return True

    @abstractmethod
    def score(self, case: Case, sources: Sequence[int]) -> np.ndarray:
        """Value of the question of each row i with the ranking of the question of row `sources[i]`; float64 [rows]."""


class AnswerRecall(PassageMetric):
    """r@k of open-domain question answering: 1 if one of the first k passages holds an answer (DPR's `has_answer`).

    Source: facebookresearch/DPR a31212d dpr/data/qa_validation.py with match type "string", and its SimpleTokenizer
    (dpr/utils/tokenizers.py): text and answer in NFD, cut into runs of letters, numbers and marks or single other
    characters, lower-cased; an answer is held when its tokens follow one another in the passage's text (the title does
    not count). An answer without a token is held by every passage.
    """

    example = "r@20"

    def score(self, case: Case, sources: Sequence[int]) -> np.ndarray:
        ranks = case.cached(
            ("first answer", *sources),
            lambda: np.array([_first_rank(case, row, source) for row, source in enumerate(sources)]),
        )
        return (ranks <= int(self.cut)).astype(np.float64)


def tokens(text: str) -> list[str]:
    """Tokens of a text by DPR's SimpleTokenizer, lower-cased.

    >>> tokens("L'homme (1914)")
    ['l', "'", 'homme', '(', '1914', ')']
    """
    import regex

    return [token.lower() for token in regex.findall(DPR_TOKEN, unicodedata.normalize("NFD", text))]


def _joined(text: str) -> str:
    """Joins a text's tokens by end marks, so that an answer is a substring of a text that has its tokens in a row."""
    return _END + "".join(token + _END for token in tokens(text))


def _first_rank(case: Case, row: int, source: int) -> float:
    """The rank (from 1) of the first passage of `source`'s ranking that holds an answer to `row`, else infinity."""
    answers, collection = [_joined(answer) for answer in case.answers[row]], case.query_sets[row].collection
    for rank, name in enumerate(case.ranking(source), start=1):
        text = case.cached(("tokens", collection, name), lambda key=(collection, name): _joined(case.texts()[key]))
        if any(answer in text for answer in answers):
            return rank
    return np.inf


class TokenRecall(PassageMetric):
    """r@nkt of XOR-Retrieve: 1 if an answer is found within the first n thousand tokens of the retrieved passages.

    An answer is found when it is a substring of them, as it stands: case, accents and punctuation count, and the answer
    itself is not tokenised. So an answer with a comma, a quotation mark or an 's can hardly ever be found; the official
    rule is kept as it is (`r_tokenized@nkt` corrects it) and `notes` counts those questions.
    """

    example = "r@2kt"

    def counts(self, case: Case, row: int) -> bool:
        return bool(span_answers(case, row))

    def score(self, case: Case, sources: Sequence[int]) -> np.ndarray:
        values = np.full(len(case.queries), np.nan)
        for row, source in enumerate(sources):
            if self.counts(case, row):
                key = "first tokens", source, self.cut
                text = case.cached(key, lambda source=source: first_tokens(case, source, self.cut))
                values[row] = any(form in text for form in self.forms(case, row))
        return values

    def forms(self, case: Case, row: int) -> Collection[str]:
        """Strings for the question of a row, one of which must occur in the passages."""
        return span_answers(case, row)

    def notes(self, case: Case) -> dict[str, int]:
        """Number of counted questions whose answers are all split when a text around them is tokenised.

        The text is `x ANSWER y`; the neighbours of an answer in a passage can differ, so the count is an estimate.
        """
        return {"never_found_by_the_official_rule": case.cached("never found", lambda: _never_found(case))}


class TokenizedTokenRecall(TokenRecall):
    """r_tokenized@nkt: r@nkt of XOR-Retrieve with its answers tokenised like the passages; not the official score.

    The official rule looks for the raw answer in tokenised text, where "Moscow, Russia" has become "Moscow , Russia".
    Here an answer is also found when its own word_tokenize tokens, joined by blanks, occur there, so a question never
    scores lower than by the official rule.
    """

    example = "r_tokenized@2kt"

    def forms(self, case: Case, row: int) -> Collection[str]:
        return case.cached(("forms", row), lambda: _forms(case, span_answers(case, row)))

    def notes(self, case: Case) -> dict[str, int]:
        return {}


def _never_found(case: Case) -> int:
    tokenize, number = tokenizer(case), 0
    for row in range(len(case.queries)):
        answers = span_answers(case, row)
        if answers and all(answer not in " ".join(tokenize(f"x {answer} y")) for answer in answers):
            number += 1
    return number


def _forms(case: Case, answers: list[str]) -> set[str]:
    tokenize = tokenizer(case)
    # an answer of white space has no token, and nothing would be found everywhere
    tokenized = filter(None, (" ".join(tokenize(answer)) for answer in answers))
    return {*answers, *tokenized}


def tokenizer(case: Case) -> Tokenize:
    """Returns NLTK's word_tokenize with the Punkt model among the case's data."""
    return case.cached("word_tokenize", lambda: load_word_tokenizer(case.data))


def span_answers(case: Case, row: int) -> list[str]:
    """Answers of a question except "yes" and "no"; empty if the question does not count."""
    return [answer for answer in case.answers[row] if answer not in ("yes", "no")]


def first_tokens(case: Case, row: int, cut: str) -> str:
    """The first tokens of a question's retrieved passages, joined by blanks; cut "2kt" is exactly 2,000 of them."""
    room, collection, texts = int(cut.removesuffix("kt")) * 1000, case.query_sets[row].collection, []
    for name in case.ranking(row):
        text, number = case.cached(("words", collection, name), lambda key=(collection, name): _words(case, key))
        if number >= room:
            return " ".join([*texts, *text.split(" ")[:room]])
        texts += [text] if text else []
        room -= number
    return " ".join(texts)


def _words(case: Case, passage: tuple[str, str]) -> tuple[str, int]:
    """A passage's tokens joined by blanks, of which a token has none, and their number: a list takes ten times more."""
    tokens = tokenizer(case)(case.texts()[passage])
    return " ".join(tokens), len(tokens)


def load_word_tokenizer(data: Data) -> Tokenize:
    """Loads NLTK's tokenizer with the model in the dataset's folder (`english/` with its four files, or those files).

    Raises SteleError if `data` has no such folder, or a file is missing in it.
    """
    folders = list(data.get(DATASET, {}).values())
    if not folders:
        raise SteleError(
            f"XOR-Retrieve's tokens need NLTK's English Punkt model; pass --data {DATASET}=punkt_tab, the folder of "
            f"nltk_data, or the record of a download (`snakemake downloads` fetches it); another tokenizer would give "
            f"other numbers"
        )
    folder = folders[0] if (folders[0] / FILES[0]).is_file() else folders[0] / "english"
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise SteleError(f"{folder}: no {missing[0]}; want the files of NLTK's punkt_tab model: {', '.join(FILES)}")
    return word_tokenizer(folder)


def word_tokenizer(folder: Path) -> Tokenize:
    """Builds `nltk.word_tokenize` with the Punkt model in `folder`. Raises SteleError for a damaged file of it."""
    from nltk.tabdata import PunktDecoder
    from nltk.tokenize import NLTKWordTokenizer
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

    decoder, parameters = PunktDecoder(), PunktParameters()
    readers = {
        "abbrev_types": ("abbrev_types.txt", decoder.txt2set),
        "collocations": ("collocations.tab", lambda handle: set(decoder.tab2tups(handle))),
        "sent_starters": ("sent_starters.txt", decoder.txt2set),
        "ortho_context": ("ortho_context.tab", decoder.tab2intdict),
    }
    for attribute, (name, read) in readers.items():
        with reading(folder / name, "file of a Punkt model"), open_text(folder / name) as handle:
            setattr(parameters, attribute, read(handle))
    sentences, words = PunktSentenceTokenizer(parameters), NLTKWordTokenizer()

    def tokenize(text: str) -> list[str]:
        return [token for sentence in sentences.tokenize(text) for token in words.tokenize(sentence)]

    return tokenize
