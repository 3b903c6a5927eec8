"""Sentences drawn from a language's documents, without reading a corpus of hundreds of gigabytes whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from stele.artifacts.documents import document_shards
from stele.errors import SteleError
from stele.files.reading import reading
from stele.training.sampling import generator

SPREAD = 4  # so many sentences are read for each that is drawn: the row groups of neighbouring documents are mixed


def sample_sentences(documents: Path, count: int, seed: int, language: str) -> list[str]:
    """At most `count` sentences of a corpus (its record), each text once, in an order drawn at random.

    Row groups of documents are read in an order that seed and language decide, until they hold SPREAD times as many
    sentences as wanted; of those read, each is as likely. A corpus without a sentence is an error.
    """
    texts: list[str] = []
    draws: list[np.ndarray] = []
    for name, group, own in _groups(documents, seed, language):
        texts += own
        draws.append(generator(seed, "calibration", language, name, group).random(len(own)))
        if len(texts) >= SPREAD * count:
            break
    if not texts:
        raise SteleError(f"{documents}: no sentence of {language} in it, so it cannot be calibrated; leave it out")
    found: dict[str, None] = {}
    for place in np.argsort(np.concatenate(draws), kind="stable"):
        if len(found) == count:
            break
        found[texts[place]] = None
    return list(found)


def _groups(documents: Path, seed: int, language: str) -> Iterator[tuple[str, int, list[str]]]:
    """(shard, number, sentences) of the row groups of a corpus, in an order drawn at random."""
    import pyarrow.parquet as pq

    places: list[tuple[Path, int]] = []
    for path in document_shards(documents):
        with reading(path, "Parquet file", "build the corpus again"):
            places += [(path, number) for number in range(pq.read_metadata(path).num_row_groups)]
    for place in generator(seed, "calibration", language, "groups").permutation(len(places)):
        path, number = places[place]
        with reading(path, "Parquet file", "build the corpus again"), pq.ParquetFile(path) as file:
            column = file.read_row_group(number, columns=["sentences"]).column("sentences").combine_chunks()
            sentences = column.flatten().to_pylist()
        yield path.name, number, sentences
