"""Find the neighbour of a sentence among sentences of held-out documents, with one encoder.

Of each document's sentences 1 and 2, 3 and 4, ... the first asks, as a query, for the second, as a passage, among 128
second sentences of its language by cosine. Sentences of one text belong together without any judgments: what is found
says what an encoder learnt of the text, not how it retrieves. The mean cosine of what does not belong together says
whether vectors have collapsed. The same is measured of the snapshots that were kept during a training.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from stele.artifacts import records
from stele.artifacts.documents import read_sentences
from stele.catalogue import whole
from stele.catalogue.schema.adaptation import AdaptationRules
from stele.command.arguments import Job, Json, NewRecord, Record, Some, Threads, record_of
from stele.errors import SteleError
from stele.files.atomic import atomic_directory
from stele.files.reading import parse_object

JOB = "neighbours"
Pair = tuple[str, str]


class Neighbours(Job):
    encoder: Record
    """record.json in the encoder's folder."""
    encoding: Json = "{}"
    """Keys of an encoding, by who says them."""
    documents: Some[str]
    """LANGUAGE=RECORD of each: documents that are held out."""
    threads: Threads = None
    output: Annotated[NewRecord, record_of(JOB)]


def run(args: Neighbours) -> None:
    clock = records.start()
    import torch

    from stele.encoders.load import load_encoder
    from stele.training.processes import default_device

    if args.threads:
        torch.set_num_threads(args.threads)
    documents = dict(text.partition("=")[::2] for text in args.documents)
    # the sentences of each language, of those that have some
    candidates = whole(AdaptationRules).held_out.candidates
    texts = {
        language: list(islice(pairs(sentences for _, sentences in read_sentences(record)), candidates))
        for language, record in documents.items()
    }
    texts = {language: sentences for language, sentences in texts.items() if len(sentences) > 1}
    # the encoder, and what there was of it during its training
    encoding, device = parse_object(args.encoding, "--encoding") or None, str(default_device())
    encoder = load_encoder(args.encoder.parent, encoding, device)
    languages = accuracies(encoder, texts)
    snapshots = {
        folder.name.removeprefix("step-"): accuracies(load_encoder(folder, encoding, device), texts)
        for folder in (args.encoder.parent / "snapshots").glob("step-*")
    }
    with atomic_directory(args.output.parent, JOB) as folder:
        records.write_record(
            folder / args.output.name,
            job=JOB,
            inputs={"encoder": args.encoder, **{f"documents:{code}": Path(path) for code, path in documents.items()}},
            clock=clock,
            languages=languages,
            snapshots=snapshots,
            left_out=sorted(documents.keys() - languages.keys()),
            content=[languages, snapshots],
            **encoder.facts(),
        )


def accuracies(encoder: Any, texts: Mapping[str, Sequence[Pair]]) -> dict[str, dict[str, Any]]:
    """language -> how an encoder finds the second sentences of its pairs by the first."""
    found = {}
    for language, sentences in texts.items():
        queries = unit(encoder.encode([query for query, _ in sentences], "query"))
        passages = [encoder.spec.passage("", passage) for _, passage in sentences]
        found[language] = accuracy(queries, unit(encoder.encode(passages, "passage")))
    return found


def pairs(documents: Iterable[Sequence[str]]) -> Iterable[Pair]:
    """Neighbouring sentences, no sentence twice; of equal pairs the first.

    >>> list(pairs([["a", "b", "c"], ["d", "e"], ["a", "b"]]))
    [('a', 'b'), ('d', 'e')]
    """
    first: dict[Pair, None] = {}
    for sentences in documents:
        first |= dict.fromkeys(zip(sentences[::2], sentences[1::2], strict=False))
    return list(first)


def unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors float32 [n, d] of length 1. Raises SteleError for one without a length."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not lengths.all():
        raise SteleError("the encoder maps a held-out sentence to a zero vector; check its weights")
    return vectors / lengths


def accuracy(queries: np.ndarray, passages: np.ndarray) -> dict[str, Any]:
    """Of unit vectors [n, d] each: how many of n queries are closest to the passage of their line (of equals none).

    `cosine` is the mean over pairs of different lines.

    >>> accuracy(np.eye(3), np.eye(3)[[0, 2, 1]])
    {'sentences': 3, 'found': 1, 'cosine': 0.333333}
    """
    scores = (queries.astype(np.float64) @ passages.T.astype(np.float64)).astype(np.float32)  # equal texts score alike
    number = len(queries)
    own = np.diag(scores)
    others = np.where(np.eye(number, dtype=bool), -np.inf, scores)
    cosine = (scores.sum() - own.sum()) / (number * (number - 1))
    return {"sentences": number, "found": int((own > others.max(axis=1)).sum()), "cosine": round(float(cosine), 6)}
