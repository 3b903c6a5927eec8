"""`stele.search`, for notebooks: searches texts or vectors in memory, by an encoder or by BM25."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from stele.artifacts.run import Run, run_of
from stele.benchmarks.types import Query
from stele.errors import SteleError
from stele.retrieval.dense.exact_search import TopK
from stele.retrieval.dense.vector_files import l2_normalize

if TYPE_CHECKING:
    from stele.encoders.encode import Encoder

Text = str | tuple[str, str]  # a passage may be (title, text)
Items = Mapping[str, Text | np.ndarray] | Sequence[Text | np.ndarray] | np.ndarray
BM25 = "bm25"


def search(
    queries: Items, passages: Items, k: int = 100, encoder: Encoder | Path | str | None = None, language: str = "en"
) -> Run:
    """Finds the k best passages of each query exactly; returns a run in canonical order.

    `queries` and `passages` map an id to a text, or without an encoder to its vector [d]; a passage with a title is
    (title, text). Of a list, or of an array [n, d], the ids are the positions: "0", "1", ...

    With an encoder the scores are inner products, or cosines if it compares by them (`encoder.cosine`). The search is
    that of `stele retrieval retrieve`, but writes no files. `encoder` may also be anything that `stele.load_encoder`
    takes, or "bm25": BM25 with k1 .9 and b .4 over the terms of a `language`.

    Raises SteleError for a text without an encoder, vectors of different lengths, equal ids, and k below 1.

    >>> run = search({"q1": [1, 0], "q2": [0, 1]}, {"a": [3, 1], "b": [2, 2], "c": [0, 2]}, k=2)
    >>> run.hits("q1")
    [('a', 3.0), ('b', 2.0)]
    >>> run.ranking("q2")  # b and c have the same score: the higher id comes first, as in trec_eval
    ['c', 'b']

    Lists of texts, searched by BM25 and by an encoder (see `stele.load_encoder`):

    >>> texts = ["the first novel of the city", ("Nile", "the river flows through Egypt")]
    >>> search(["rivers of Egypt"], texts, encoder="bm25").ranking("0")
    ['1']
    >>> search(["the first novel of the city"], texts, encoder=encoder).ranking("0")
    ['0', '1']
    """
    if not isinstance(k, Integral) or k < 1:
        raise SteleError(f"search: k must be a whole number of passages and at least 1, found {k!r}")
    queries, passages = _by_id(queries, "queries"), _by_id(passages, "passages")
    if not queries or not passages:
        raise SteleError(f"search: {'no query' if not queries else 'no passage'} is given")
    if titled := [name for name, query in queries.items() if isinstance(query, tuple)]:
        raise SteleError(f"search: query {titled[0]!r} is a pair of texts; only a passage has a title")
    if encoder == BM25:
        return run_of(_term_hits(queries, passages, k, language), "search")
    if isinstance(encoder, str | Path):
        from stele.encoders.named import load_encoder

        encoder = load_encoder(encoder)
    query_vectors = np.concatenate([vectors for _, vectors in _vectors(queries, "query", encoder)])
    best = TopK(query_vectors, k)
    for ids, vectors in _vectors(passages, "passage", encoder):
        if vectors.shape[1] != query_vectors.shape[1]:
            lengths = f"query vectors have length {query_vectors.shape[1]}, passages {vectors.shape[1]}"
            raise SteleError(f"search: {lengths}; encode both with one encoder")
        best.add(vectors, np.array([name.encode("utf-8") for name in ids]))
    return run_of(dict(zip(queries, best.hits(), strict=True)), "search")


def _by_id(items: Items, side: str) -> Mapping[str, Text | np.ndarray]:
    """Maps ids to items; items without ids get their positions. Raises SteleError for other types and equal ids."""
    if isinstance(items, str) or not isinstance(items, Mapping | Sequence | np.ndarray):
        type_name = type(items).__name__
        raise SteleError(f"search: {side}: want a list of texts, or a dict of id and text, found {type_name}")
    pairs = items.items() if isinstance(items, Mapping) else enumerate(items)
    by_id = {str(name): item for name, item in pairs}
    if len(by_id) < len(items):
        raise SteleError(f"search: {side}: two ids are the same as text, such as 1 and '1'; rename one")
    return by_id


def _term_hits(
    queries: Mapping[str, Text], passages: Mapping[str, Text], k: int, language: str
) -> dict[str, list[tuple[str, float]]]:
    """Searches by BM25; returns query id -> hits."""
    from stele.retrieval.lexical.engines import Bm25sEngine, Texts
    from stele.retrieval.lexical.lucene_bm25 import ANSERINI

    _refuse_vectors(queries, "query", "bm25 compares texts")
    _refuse_vectors(passages, "passage", "bm25 compares texts")

    def read() -> Iterator[tuple[str, str]]:
        for name, text in passages.items():
            yield name, " ".join(text) if isinstance(text, tuple) else text

    split = [Query(name, text) for name, text in queries.items()]
    with tempfile.TemporaryDirectory() as folder:
        engine = Bm25sEngine(Texts(language, read), Path(folder), {"queries": split}, threads=1)
        ((_, hits),) = engine.runs("queries", [ANSERINI], k)
    return dict(zip(queries, hits, strict=True))


def _vectors(
    items: Mapping[str, Text | np.ndarray], kind: str, encoder: Encoder | None
) -> Iterator[tuple[list[str], np.ndarray]]:
    """Yields blocks of ids with their vectors, float32 [n, d], in the order of `items`."""
    if encoder is None:
        yield list(items), _stack(items, kind)
        return
    _refuse_vectors(items, kind, "leave the encoder out, or give texts")
    texts = ((name, encoder.spec.passage(*text) if isinstance(text, tuple) else text) for name, text in items.items())
    for ids, vectors in encoder.encode_stream(texts, kind):
        yield ids, l2_normalize(vectors) if encoder.cosine else vectors


def _refuse_vectors(items: Mapping[str, Text | np.ndarray], kind: str, advice: str) -> None:
    for name, item in items.items():
        if not isinstance(item, str | tuple):
            raise SteleError(f"search: {kind} {name!r} is a vector; {advice}")
        if isinstance(item, tuple) and [isinstance(part, str) for part in item] != [True, True]:
            raise SteleError(f"search: {kind} {name!r}: want a text or (title, text), found {item!r}")


def _stack(items: Mapping[str, Text | np.ndarray], kind: str) -> np.ndarray:
    """Stacks vectors to float32 [n, d]. Raises SteleError for texts, unequal lengths and numbers not finite."""
    for name, item in items.items():
        if isinstance(item, str | tuple):
            advice = "give the encoder, search(queries, passages, encoder=...)"
            raise SteleError(f"search: {kind} {name!r} is a text: {advice}")
    try:
        vectors = np.array([np.asarray(vector, dtype=np.float32) for vector in items.values()])
    except (TypeError, ValueError):
        raise SteleError(f"search: the {kind} vectors have different lengths, or are not numbers") from None
    if vectors.ndim != 2 or not vectors.size or not np.isfinite(vectors).all():
        raise SteleError(f"search: want a vector of finite numbers for each {kind}")
    return vectors
