"""Candidates as words with vectors: what the scorers over word vectors share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stele.encoders.word_vectors import WordVectors, read_word_vectors, vector_file
from stele.errors import SteleError
from stele.reranking.folds.candidates import Candidates
from stele.reranking.scorers import ReadVectors, Sources
from stele.text.terms import analyzer


class Words(NamedTuple):
    """The words of queries and documents that have a vector, as rows of the vectors of their language.

    queries     int64 [q] of each topic, in order, with repetitions: rows of `query_vectors`
    documents   int64 [d] of each document, likewise: rows of `document_vectors`
    """

    queries: list[np.ndarray]
    documents: list[np.ndarray]
    query_vectors: WordVectors
    document_vectors: WordVectors


class Interaction(NamedTuple):
    """A topic's query against the words of its documents.

    query       rows of the query's words, int64 [q]
    cosines     float32 [q, w], of the query's words with the distinct words of the topic's documents
    documents   (candidate, columns of its distinct words, how often each occurs) of each candidate
    """

    query: np.ndarray
    cosines: np.ndarray
    documents: list[tuple[int, np.ndarray, np.ndarray]]


def word_vector_reader(folders: Mapping[str, Path]) -> ReadVectors:
    """Reads the vectors of a language from the .vec file in its folder (or the file itself).

    Bilingual vectors are one file with the words of both languages, which is then the folder of each. The reader raises
    SteleError for a language without a folder, and for a folder with more or fewer than one such file.
    """

    def read(language: str, words: Collection[str]) -> WordVectors:
        if language not in folders:
            languages = ", ".join(sorted(folders)) or "none"
            raise SteleError(
                f"needs the vectors of words in {language}; given: {languages}. Add --vectors DATASET:{language}="
            )
        return read_word_vectors(vector_file(folders[language]), words)

    return read


def rows_of(vectors: WordVectors, words: Iterable[str]) -> np.ndarray:
    """The rows of those words that have a vector, in order, with repetitions, int64."""
    return np.array([vectors.words[word] for word in words if word in vectors.words], dtype=np.int64)


def unit_vectors(vectors: WordVectors) -> np.ndarray:
    """The vectors scaled to length 1, float32 [n, d]; a zero vector stays zero."""
    norms = np.linalg.norm(vectors.vectors, axis=1, keepdims=True)
    return vectors.vectors / np.where(norms > 0, norms, 1)


def read_words(candidates: Candidates, sources: Sources, document_terms: int | None = None) -> Words:
    """The words of all candidates; of a document its first `document_terms` words, those without a vector included.

    Words are the terms of the analysis without stemming, since vectors belong to words; stop words are left out. A word
    without a vector is ignored (Yu et al. do not say).
    """
    analyze_query, analyze_document = (
        analyzer(sources.query_language, False),
        analyzer(sources.document_language, False),
    )
    queries = [analyze_query(text) for text in candidates.queries]
    documents = [analyze_document(text)[:document_terms] for text in candidates.texts]
    query_vectors = sources.read_vectors(sources.query_language, {word for words in queries for word in words})
    document_vectors = sources.read_vectors(sources.document_language, {word for words in documents for word in words})
    return Words(
        [rows_of(query_vectors, words) for words in queries],
        [rows_of(document_vectors, words) for words in documents],
        query_vectors,
        document_vectors,
    )


def interactions(candidates: Candidates, words: Words) -> Iterator[Interaction]:
    """The interaction of each topic, by one matrix product."""
    query_units, document_units = unit_vectors(words.query_vectors), unit_vectors(words.document_vectors)
    for topic, query in enumerate(words.queries):
        numbers = np.flatnonzero(candidates.topic_of == topic)
        counted = [np.unique(words.documents[candidates.document_of[i]], return_counts=True) for i in numbers]
        columns = np.unique(np.concatenate([rows for rows, _ in counted])) if counted else np.zeros(0, np.int64)
        cosines = query_units[query] @ document_units[columns].T
        documents = []
        for number, (rows, counts) in zip(numbers, counted, strict=True):
            documents.append((int(number), np.searchsorted(columns, rows), counts))
        yield Interaction(query, cosines, documents)
