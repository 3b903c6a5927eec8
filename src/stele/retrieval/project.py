"""Project the sentence pairs of one language of Tatoeba onto their first two principal components.

It takes the first 1,000 pairs in file order; English and foreign sentences share one mean and one set of components.
The vectors are the encoder's own, changed by a calibration if one is given, but not scaled to unit length. The CSV file
has a row per sentence (line from 0, language, x, y), English first; the record has each coordinate's share of variance.
"""

from itertools import islice
from pathlib import Path
from typing import Annotated

import numpy as np

from stele.artifacts import records
from stele.benchmarks.arguments import data_folders, data_records
from stele.benchmarks.tatoeba import Tatoeba
from stele.command.arguments import Datasets, ends_in, record_as_json
from stele.encoders.load import load_given_encoder
from stele.errors import SteleError
from stele.files.atomic import atomic_file
from stele.files.digests import file_facts
from stele.files.formats import write_csv
from stele.retrieval.dense.encoder_arguments import CalibratedJob, CalibrationTransforms

JOB = "project"
PAIRS = 1_000  # as many as CCP draws, and as the files of Tatoeba hold at most


class Project(CalibratedJob):
    language: str
    """The language that is paired with English."""
    data: Datasets
    output: Annotated[Path, ends_in(".csv"), record_as_json(JOB)]
    """CSV file with the points, projection_{language}.csv; its record is the .json beside it."""


def run(args: Project) -> None:
    data = data_records(args.data)
    # the first pairs, English first
    benchmark, sides = Tatoeba(), ("en", args.language)
    query_sets = {query_set.name.partition("-")[0]: query_set for query_set in benchmark.query_sets([args.language])}
    if not query_sets:
        raise SteleError(f"--language {args.language}: Tatoeba pairs English with other languages; give one of them")
    texts = {}
    for side in sides:
        queries = benchmark.queries(data_folders(data), query_sets[side])
        texts[side] = [query.text for query in islice(queries, PAIRS)]
    # encode both sides of the pairs
    encoder = load_given_encoder(args)
    transforms = CalibrationTransforms(args, encoder, list(query_sets.values()))
    vectors = []
    for side in sides:
        transform = transforms.of_queries(query_sets[side])
        vectors.append(transform(encoder.encode(texts[side], "query")))
    # project them, and write a row a sentence
    points, explained = principal_components(np.concatenate(vectors))
    sentence_names = [(line, side) for side in sides for line in range(len(texts[side]))]
    rows = [(*name, f"{x:.6g}", f"{y:.6g}") for name, (x, y) in zip(sentence_names, points, strict=True)]
    with atomic_file(args.output) as handle:
        write_csv(handle, [("line", "language", "x", "y"), *rows])
    facts = file_facts(args.output)
    records.write_record(
        args.output.with_suffix(".json"),
        job=JOB,
        inputs={"encoder": args.encoder, **transforms.inputs, **data},
        language=args.language,
        pairs=len(rows) // 2,
        explained=[float(f"{share:.6g}") for share in explained],
        **encoder.facts(),
        **transforms.facts,
        outputs={args.output.name: facts},
        content=facts["sha256"],
    )


def principal_components(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Projects vectors [n, d] onto their first two principal components; returns [n, 2] and shares of variance [2].

    A component's sign is chosen so that its largest loading is positive; the order of the vectors does not matter.
    Raises SteleError for a vector that is not finite, and for vectors that span fewer than two directions.

    >>> points, shares = principal_components(np.array([[0.0, 0.0], [0.0, 3.0], [1.0, 0.0], [1.0, 3.0]]))
    >>> points.round(2).tolist(), shares.round(2).tolist()
    ([[-1.5, -0.5], [1.5, -0.5], [-1.5, 0.5], [1.5, 0.5]], [0.9, 0.1])
    """
    if not np.isfinite(vectors).all():
        bad = int(np.argmin(np.isfinite(vectors).all(axis=1)))
        raise SteleError(f"vector {bad} of {len(vectors)} is not finite; use precision: float32")
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    _, spread, axes = np.linalg.svd(centred, full_matrices=False)
    least = spread[0] * max(vectors.shape) * np.finfo(np.float64).eps  # below it is rounding, as in matrix_rank
    if len(spread) < 2 or spread[1] <= least:
        raise SteleError(f"{len(vectors)} vectors of {vectors.shape[1]} numbers do not spread over 2 directions")
    axes = axes[:2]
    axes *= np.sign(axes[np.arange(2), np.abs(axes).argmax(axis=1)])[:, None]
    return centred @ axes.T, spread[:2] ** 2 / np.sum(spread**2)
