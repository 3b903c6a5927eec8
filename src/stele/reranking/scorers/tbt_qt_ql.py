"""TbT-QT-QL: translates query words to the collection's nearest, then query likelihood (Litschko et al. 2018).

    score(q, d) = sum over the words t of q of  ln((tf(t, d) + mu p(t | C)) / (|d| + mu))

with Dirichlet smoothing (Zhai and Lafferty 2004), p(t | C) the share of t among all words of the collection. Nearest is
the word of highest cosine and, of equal ones, the first by code points. A query word without a vector is kept if it is
in the collection, else dropped; a query without any word scores 0.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from stele.encoders.word_vectors import WordVectors
from stele.reranking.scorers import UntrainedScorer
from stele.reranking.scorers._words import read_both, rows_of, unit_vectors
from stele.text.terms import analyzer

if TYPE_CHECKING:
    from stele.recipes.reranking import TbtQtQl

BLOCK = 1 << 16  # words of a collection compared at a time


class Scorer(UntrainedScorer):
    recipe: TbtQtQl

    def scores(self) -> np.ndarray:
        candidates, sources = self.candidates, self.sources
        # the words of the queries, and the frequency of each word in the collection
        analyze_query = analyzer(sources.query_language, False)
        analyze_document = analyzer(sources.document_language, False)
        queries = [analyze_query(text) for text in candidates.queries]
        frequency: Counter[str] = Counter()
        for text in sources.collection():
            frequency.update(analyze_document(text))
        # each query word as a word of the collection
        query_words = sorted(set().union(*queries))
        translation = translate(query_words, *read_both(sources, set(query_words), frequency.keys()))
        for word in query_words:
            if word not in translation and word in frequency:
                translation[word] = word
        translated = [[translation[word] for word in words if word in translation] for words in queries]
        # the likelihood of each topic's query in each of its documents
        total = frequency.total()
        share = {word: frequency[word] / total for words in translated for word in words}
        documents = [Counter(analyze_document(text)) for text in candidates.texts]
        pairs = zip(candidates.topic_of, candidates.document_of, strict=True)
        return np.array([query_likelihood(translated[t], documents[d], share, self.recipe.mu) for t, d in pairs])


def query_likelihood(query: Sequence[str], document: Counter[str], share: Mapping[str, float], mu: float) -> float:
    """Log-likelihood of a query's words by a document's language model; `share` is p(t | C) of each word.

    >>> round(query_likelihood(["a", "b"], Counter(a=2, c=8), {"a": 0.01, "b": 0.001}, 1500), 4)
    -11.4011
    """
    length = document.total()
    return sum(math.log((document[word] + mu * share[word]) / (length + mu)) for word in query)


def translate(words: Sequence[str], query_vectors: WordVectors, document_vectors: WordVectors) -> dict[str, str]:
    """Maps each query word that has a vector to the nearest word of `document_vectors`; {} if there is no vector."""
    known = [word for word in words if word in query_vectors.words]
    names = sorted(document_vectors.words)
    if not (known and names):
        return {}
    queries = unit_vectors(query_vectors.vectors)[rows_of(query_vectors, known)]
    units = unit_vectors(document_vectors.vectors)
    best, nearest = np.full(len(known), -np.inf), np.zeros(len(known), np.int64)
    for start in range(0, len(names), BLOCK):
        cosines = queries @ units[rows_of(document_vectors, names[start : start + BLOCK])].T
        places = cosines.argmax(axis=1)
        values = cosines[np.arange(len(known)), places]
        better = values > best
        best[better], nearest[better] = values[better], places[better] + start
    return {word: names[place] for word, place in zip(known, nearest, strict=True)}
