"""Find the neighbour of a sentence among sentences of held-out documents, with one encoder.

Each document gives pairs of sentences 1 and 2, 3 and 4, ...: the first, as a query, searches by cosine for the second,
as a passage, among 128 second sentences of its language. This needs no judgments; it measures what an encoder learnt
about the texts, not how well it retrieves. The mean cosine of sentences from different pairs shows whether the vectors
have collapsed. Snapshots that were kept during training are measured in the same way.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any

import numpy as np

from stele.artifacts import records
from stele.artifacts.documents import read_sentences
from stele.catalogue import whole
from stele.catalogue.schema.adaptation import AdaptationRules
from stele.command.arguments import EncoderJob, NewRecord, Some, named_paths, record_of
from stele.errors import SteleError

JOB = "neighbours"
Pair = tuple[str, str]


class Neighbours(EncoderJob):
    documents: Some[str]
    """Record of each language's held-out documents, as LANGUAGE=RECORD."""
    output: Annotated[NewRecord, record_of(JOB)]


def run(args: Neighbours) -> None:
    from stele.encoders.load import load_given_encoder

    documents = named_paths(args.documents, "--documents")
    # pairs of sentences by language, for languages with at least two pairs
    candidates = whole(AdaptationRules).held_out.candidates
    texts = {
        language: list(islice(pairs(sentences for _, sentences in read_sentences(record)), candidates))
        for language, record in documents.items()
    }
    texts = {language: sentences for language, sentences in texts.items() if len(sentences) > 1}
    # the encoder, and its snapshots during training
    encoder = load_given_encoder(args)
    languages = accuracies(encoder, texts)
    snapshots = {
        folder.name.removeprefix("step-"): accuracies(load_given_encoder(args, folder), texts)
        for folder in (args.encoder.parent / "snapshots").glob("step-*")
    }
    inputs = {"encoder": args.encoder, **{f"documents:{code}": path for code, path in documents.items()}}
    with records.output_folder(args.output, JOB, inputs) as (_, facts):
        facts.update(
            languages=languages,
            snapshots=snapshots,
            left_out=sorted(documents.keys() - languages.keys()),
            content=[languages, snapshots],
            **encoder.facts(),
        )


def accuracies(encoder: Any, texts: Mapping[str, Sequence[Pair]]) -> dict[str, dict[str, Any]]:
    """Accuracy, by language, with which an encoder finds the second sentence of a pair by its first."""
    by_language = {}
    for language, sentences in texts.items():
        queries = unit(encoder.encode([query for query, _ in sentences], "query"))
        passages = [encoder.spec.passage("", passage) for _, passage in sentences]
        by_language[language] = accuracy(queries, unit(encoder.encode(passages, "passage")))
    return by_language


def pairs(documents: Iterable[Sequence[str]]) -> Iterable[Pair]:
    """Pairs of neighbouring sentences; each sentence is in one pair, and equal pairs are kept once.

    >>> list(pairs([["a", "b", "a", "b", "c"], ["d", "e"], ["a", "b"]]))
    [('a', 'b'), ('d', 'e')]
    """
    first: dict[Pair, None] = {}
    for sentences in documents:
        first |= dict.fromkeys(zip(sentences[::2], sentences[1::2], strict=False))
    return list(first)


def unit(vectors: np.ndarray) -> np.ndarray:
    """Scales vectors, float32 [n, d], to unit length. Raises SteleError if a vector is zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not lengths.all():
        raise SteleError("the encoder maps a held-out sentence to a zero vector; check its weights")
    return vectors / lengths


def accuracy(queries: np.ndarray, passages: np.ndarray) -> dict[str, Any]:
    """Counts how many of n queries are closer to their own row's passage than to any other (ties do not count).

    Both arrays are unit vectors, float [n, d]. `cosine` is the mean over pairs of different rows.

    >>> accuracy(np.eye(3), np.eye(3)[[0, 2, 1]])
    {'sentences': 3, 'found': 1, 'cosine': 0.333333}
    """
    scores = (queries.astype(np.float64) @ passages.T.astype(np.float64)).astype(np.float32)  # equal texts score alike
    number = len(queries)
    paired = np.diag(scores)
    others = np.where(np.eye(number, dtype=bool), -np.inf, scores)
    cosine = (scores.sum() - paired.sum()) / (number * (number - 1))
    return {"sentences": number, "found": int((paired > others.max(axis=1)).sum()), "cosine": round(float(cosine), 6)}
