"""Exact search in memory, for a notebook: texts with an encoder, or vectors as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from stele.artifacts.run import Run, run_of
from stele.errors import SteleError
from stele.retrieval.dense.exact_search import TopK
from stele.retrieval.dense.vector_files import l2_normalize

if TYPE_CHECKING:
    from stele.encoders.encode import Encoder

Text = str | tuple[str, str]  # a passage may be (title, text)
Block = tuple[list[str], np.ndarray]  # ids and their vectors [n, d]


def search(
    queries: Mapping[str, Text | np.ndarray],
    passages: Mapping[str, Text | np.ndarray],
    k: int = 100,
    encoder: Encoder | None = None,
) -> Run:
    """The k best passages of each query by inner product, exactly, in the canonical order of runs.

    With an encoder that compares by cosine (`encoder.cosine`) its vectors are scaled to length 1.

    `queries` and `passages` map an id to a text, or without an encoder to its vector [d]; a passage with a title is
    (title, text). The same search as `stele retrieval retrieve`, whose files it does not write. Raises SteleError for a
    text without an encoder, vectors of different lengths, and k below 1.

    >>> run = search({"q1": [1, 0], "q2": [0, 1]}, {"a": [3, 1], "b": [2, 2], "c": [0, 2]}, k=2)
    >>> run.hits("q1")
    [('a', 3.0), ('b', 2.0)]
    >>> run.ranking("q2")  # b and c have the same score: the higher id comes first, as in trec_eval
    ['c', 'b']

    With an encoder (see `stele.load_encoder`):

    >>> texts = {"p1": "the first novel of the city", "p2": ("Nile", "the river flows through Egypt")}
    >>> run = search({"q": "the first novel of the city"}, texts, encoder=encoder)
    >>> run.ranking("q")
    ['p1', 'p2']
    """
    if k < 1:
        raise SteleError(f"search: k must be at least 1, found {k}")
    if not queries or not passages:
        raise SteleError(f"search: {'no query' if not queries else 'no passage'} is given")
    wanted = np.concatenate([vectors for _, vectors in _vectors(queries, "query", encoder)])
    best = TopK(wanted, k)
    for ids, vectors in _vectors(passages, "passage", encoder):
        if vectors.shape[1] != wanted.shape[1]:
            raise SteleError(f"search: queries of {wanted.shape[1]} numbers, passages of {vectors.shape[1]}")
        best.add(vectors, np.array([name.encode("utf-8") for name in ids]))
    return run_of(dict(zip(queries, best.hits(), strict=True)), "search")


def _vectors(items: Mapping[str, Text | np.ndarray], kind: str, encoder: Encoder | None) -> Iterator[Block]:
    """Blocks of ids with their vectors, float32, in the order given."""
    if encoder is None:
        yield list(items), _stack(items, kind)
        return
    texts = ((name, encoder.spec.passage(*text) if isinstance(text, tuple) else text) for name, text in items.items())
    for ids, vectors in encoder.encode_stream(texts, kind):
        yield ids, l2_normalize(vectors) if encoder.cosine else vectors


def _stack(items: Mapping[str, np.ndarray], kind: str) -> np.ndarray:
    if name := next((name for name, value in items.items() if isinstance(value, str | tuple)), None):
        raise SteleError(f"search: {kind} {name!r} is a text: give the encoder, search(queries, passages, encoder=...)")
    try:
        vectors = np.array([np.asarray(value, dtype=np.float32) for value in items.values()])
    except ValueError:
        raise SteleError(f"search: the vectors of the {kind} side have different lengths") from None
    if vectors.ndim != 2 or not np.isfinite(vectors).all():
        raise SteleError(f"search: want a vector of finite numbers a {kind}")
    return vectors
