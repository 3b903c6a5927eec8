"""Candidates as words with vectors, for all scorers that use word vectors."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stele.encoders.word_vectors import WordVectors, read_word_vectors, vector_file
from stele.errors import SteleError
from stele.reranking.folds.candidates import Candidates
from stele.reranking.scorers import Sources
from stele.text.terms import analyzer


class Words(NamedTuple):
    """The words of queries and documents that have a vector, as row numbers in the vectors of their language.

    queries     for each topic int64 [q], its words in order, with repetitions: rows of `query_vectors`
    documents   for each document int64 [d], likewise: rows of `document_vectors`
    """

    queries: list[np.ndarray]
    documents: list[np.ndarray]
    query_vectors: WordVectors
    document_vectors: WordVectors


# cosines float32 [q, w] of a topic's query words with the distinct words of its documents, and
# for each of its candidates: its number, the columns of its distinct words, and the count of each
Interaction = tuple[np.ndarray, list[tuple[int, np.ndarray, np.ndarray]]]


def read_vectors(folders: Mapping[str, Path], language: str, words: Collection[str]) -> WordVectors:
    """Reads the vectors of a language from the .vec file in its folder (or from a file itself).

    Raises SteleError if a language has no folder, or a folder does not have exactly one such file.
    """
    if language not in folders:
        languages = ", ".join(sorted(folders)) or "none"
        option = f"--vectors DATASET:{language}=RECORD"
        raise SteleError(f"word vectors: found {languages}, want {language}; add {option}")
    return read_word_vectors(vector_file(folders[language]), words)


def read_both(sources: Sources, query_words: Collection[str], document_words: Collection[str]) -> list[WordVectors]:
    """Reads the vectors of the words of both languages. Raises SteleError if they have different lengths."""
    query_vectors = sources.read_vectors(sources.query_language, query_words)
    document_vectors = sources.read_vectors(sources.document_language, document_words)
    first, second = (side.vectors.shape[1] for side in (query_vectors, document_vectors))
    if first != second:
        sizes = f"{first} numbers in {sources.query_language} and {second} in {sources.document_language}"
        raise SteleError(f"--vectors: found vectors of {sizes}; want both languages in one space")
    return [query_vectors, document_vectors]


def rows_of(vectors: WordVectors, words: Iterable[str]) -> np.ndarray:
    """Row numbers, int64 [n], of the `words` that have a vector, in order and with repetitions."""
    return np.array([vectors.words[word] for word in words if word in vectors.words], dtype=np.int64)


def unit_vectors(vectors: np.ndarray) -> np.ndarray:
    """Scales vectors [n, d] to length 1; a zero vector stays zero."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(norms > 0, norms, 1)


def read_words(candidates: Candidates, sources: Sources, document_terms: int | None = None) -> Words:
    """Reads the words of all candidates, with their vectors; of a document only its first `document_terms` words.

    Terms are not stemmed, since vectors belong to words. Words without a vector count towards `document_terms` but are
    then ignored (Yu et al. do not say).
    """
    analyze_query = analyzer(sources.query_language, False)
    analyze_document = analyzer(sources.document_language, False)
    queries = [analyze_query(text) for text in candidates.queries]
    documents = [analyze_document(text)[:document_terms] for text in candidates.texts]
    both = query_vectors, document_vectors = read_both(sources, set().union(*queries), set().union(*documents))
    of_queries = [rows_of(query_vectors, words) for words in queries]
    return Words(of_queries, [rows_of(document_vectors, words) for words in documents], *both)


def interactions(candidates: Candidates, words: Words) -> Iterator[Interaction]:
    """Yields the interaction of each topic, computed by one matrix product."""
    query_units = unit_vectors(words.query_vectors.vectors)
    document_units = unit_vectors(words.document_vectors.vectors)
    for topic, query in enumerate(words.queries):
        numbers = np.flatnonzero(candidates.topic_of == topic)
        counted = [np.unique(words.documents[candidates.document_of[i]], return_counts=True) for i in numbers]
        columns = np.unique(np.concatenate([rows for rows, _ in counted])) if counted else np.zeros(0, np.int64)
        cosines = query_units[query] @ document_units[columns].T
        documents = []
        for number, (rows, counts) in zip(numbers, counted, strict=True):
            documents.append((int(number), np.searchsorted(columns, rows), counts))
        yield cosines, documents
