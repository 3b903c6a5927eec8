"""TbT-QT-QL: each query word becomes the nearest word of the collection, then query likelihood (Litschko et al. 2018).

    score(q, d) = sum over the words t of q of  ln((tf(t, d) + mu p(t | C)) / (|d| + mu))

with Dirichlet smoothing (Zhai and Lafferty 2004), p(t | C) the share of t among all words of the collection. Nearest is
the highest cosine; of equal ones the first word by its code points. A query word without a vector stays as it is, where
the collection has it, and is dropped elsewhere; a query without any word scores 0.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from stele.reranking.inputs.candidates import Candidates
from stele.reranking.inputs.word_vectors import WordVectors, known, unit
from stele.reranking.scorers import Sources
from stele.text.terms import analyzer

if TYPE_CHECKING:
    from stele.recipes.reranking import TbtQtQl

BLOCK = 1 << 16  # words of a collection compared at a time


def scores(candidates: Candidates, recipe: TbtQtQl, sources: Sources) -> np.ndarray:
    """float64 [n]."""
    of_query, of_document = (analyzer(code, False) for code in (sources.query_language, sources.document_language))
    queries = [of_query(text) for text in candidates.queries]
    frequency: Counter[str] = Counter()
    for text in sources.collection():
        frequency.update(of_document(text))
    asked = sorted({word for words in queries for word in words})
    translation = translate(
        asked,
        sources.read_vectors(sources.query_language, set(asked)),
        sources.read_vectors(sources.document_language, frequency.keys()),
    )
    translation |= {word: word for word in asked if word not in translation and word in frequency}
    total = frequency.total()
    translated = [[translation[word] for word in words if word in translation] for words in queries]
    share = {word: frequency[word] / total for words in translated for word in words}
    documents = [Counter(of_document(text)) for text in candidates.texts]
    pairs = zip(candidates.topic_of, candidates.document_of, strict=True)
    return np.array([query_likelihood(translated[t], documents[d], share, recipe.mu) for t, d in pairs])


def query_likelihood(query: Sequence[str], document: Counter[str], share: Mapping[str, float], mu: float) -> float:
    """The log-likelihood of a query's words, of which `share` says p(t | C), in a document's language model.

    >>> round(query_likelihood(["a", "b"], Counter(a=2, c=8), {"a": 0.01, "b": 0.001}, 1500), 4)
    -11.4011
    """
    length = document.total()
    return sum(math.log((document[word] + mu * share[word]) / (length + mu)) for word in query)


def translate(words: Sequence[str], own: WordVectors, others: WordVectors) -> dict[str, str]:
    """Each of the words that has a vector -> the nearest among the words of `others`; {} where those are none."""
    asked, names = [word for word in words if word in own.words], sorted(others.words)
    if not (asked and names):
        return {}
    queries, units = unit(own)[known(own, asked)], unit(others)
    best, nearest = np.full(len(asked), -np.inf), np.zeros(len(asked), np.int64)
    for start in range(0, len(names), BLOCK):
        cosines = queries @ units[known(others, names[start : start + BLOCK])].T
        places = cosines.argmax(axis=1)
        values = cosines[np.arange(len(asked)), places]
        better = values > best
        best[better], nearest[better] = values[better], places[better] + start
    return {word: names[place] for word, place in zip(asked, nearest, strict=True)}
