"""Candidates as words with vectors: what the scorers over word vectors share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from stele.reranking.inputs.candidates import Candidates
from stele.reranking.inputs.word_vectors import WordVectors, known, unit
from stele.reranking.scorers import Sources
from stele.text.terms import analyzer


class Words(NamedTuple):
    """The words of queries and documents that have a vector, as rows of the vectors of their language.

    queries     int64 [q] of each topic, in order, with repetitions; the vectors are `query_vectors`
    documents   int64 [d] of each document, likewise; of `document_vectors`
    """

    queries: list[np.ndarray]
    documents: list[np.ndarray]
    query_vectors: WordVectors
    document_vectors: WordVectors


def read_words(candidates: Candidates, sources: Sources, document_terms: int | None = None) -> Words:
    """The words of all candidates; of a document its first `document_terms` words, those without a vector included.

    Words are the terms of the analysis without stemming, since vectors are of words; stop words are none. A word
    without a vector says nothing (Yu et al. do not say).
    """
    of_query, of_document = (analyzer(code, False) for code in (sources.query_language, sources.document_language))
    queries = [of_query(text) for text in candidates.queries]
    documents = [of_document(text)[:document_terms] for text in candidates.texts]
    query_vectors = sources.read_vectors(sources.query_language, {word for words in queries for word in words})
    document_vectors = sources.read_vectors(sources.document_language, {word for words in documents for word in words})
    return Words(
        [known(query_vectors, words) for words in queries],
        [known(document_vectors, words) for words in documents],
        query_vectors,
        document_vectors,
    )


class Interaction(NamedTuple):
    """A topic's query against the words of its documents.

    query       rows of its words, int64 [q]
    cosines     float32 [q, w], of its words and the distinct ones of its documents
    documents   (candidate, columns of its distinct words, how often each occurs) of each candidate
    """

    query: np.ndarray
    cosines: np.ndarray
    documents: list[tuple[int, np.ndarray, np.ndarray]]


def interactions(candidates: Candidates, words: Words) -> Iterator[Interaction]:
    """That of each topic; one matrix product a topic."""
    query_units, document_units = unit(words.query_vectors), unit(words.document_vectors)
    for topic, query in enumerate(words.queries):
        own = np.flatnonzero(candidates.topic_of == topic)
        counted = [np.unique(words.documents[candidates.document_of[i]], return_counts=True) for i in own]
        columns = np.unique(np.concatenate([rows for rows, _ in counted])) if counted else np.zeros(0, np.int64)
        cosines = query_units[query] @ document_units[columns].T
        documents = [(int(i), np.searchsorted(columns, rows), n) for i, (rows, n) in zip(own, counted, strict=True)]
        yield Interaction(query, cosines, documents)


def document_frequencies(texts: Iterator[str], language: str) -> tuple[int, Counter[str]]:
    """(documents, how many of them each word is in) of a collection."""
    words, number, frequency = analyzer(language, False), 0, Counter()
    for text in texts:
        number += 1
        frequency.update(set(words(text)))
    return number, frequency
