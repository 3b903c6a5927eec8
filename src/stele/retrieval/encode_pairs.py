"""Encode pairs: questions and their gold passages, or texts and their translations.

Alignment and uniformity (KEPT, table 8) look at where questions and the passages that answer them lie, and rank
nothing. For each language two arrays are written, in the order of the questions; rows of equal number are a pair. The
vectors are the encoder's own, not scaled. Questions without a gold passage are left out and counted.

With a benchmark of parallel texts (Yu et al., section 5.3.3) each language is encoded once, as queries are; for every
pair of languages the nearest text by CSLS is searched in both directions (`encoders/neighbours.py`; the lowest line
wins ties), and the runs are written instead of the vectors.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from stele.artifacts import records
from stele.artifacts.run_files import write_run
from stele.benchmarks.arguments import data_folders, data_records
from stele.benchmarks.load import load_reader
from stele.benchmarks.reader import BenchmarkReader, GoldPairsReader, ParallelTextsReader, sides
from stele.benchmarks.types import Data
from stele.command.arguments import Datasets, EncoderJob, Name, NewRecord, Some, record_beside
from stele.encoders.load import load_given_encoder
from stele.errors import SteleError
from stele.files.atomic import atomic_directory
from stele.files.digests import facts_digest, folder_facts

if TYPE_CHECKING:
    from stele.encoders.encode import Encoder

logger = logging.getLogger(__name__)

JOB = "encode_pairs"
VECTORS, RUNS = "vectors", "runs"  # the folders beside the record


class EncodePairs(EncoderJob):
    benchmark: str
    """Name of the benchmark in benchmarks.yaml."""
    languages: Some[Name]
    """Languages of the benchmark to encode."""
    data: Datasets
    output: Annotated[NewRecord, record_beside(JOB, [VECTORS, RUNS])]


def run(args: EncodePairs) -> None:
    benchmark = load_reader(args.benchmark, BenchmarkReader)
    if isinstance(benchmark, GoldPairsReader):
        name, write = VECTORS, write_vectors
    elif isinstance(benchmark, ParallelTextsReader):
        name, write = RUNS, write_runs
    else:
        raise SteleError(f"--benchmark {args.benchmark}: want questions with gold passages, or parallel texts")
    data = data_records(args.data)
    encoder = load_given_encoder(args)
    with atomic_directory(args.output.parent / name, JOB) as folder:
        facts = write(benchmark, data_folders(data), args.languages, encoder, folder)
        files = folder_facts(folder)
    records.write_record(
        args.output,
        job=JOB,
        inputs={"encoder": args.encoder, **data},
        labels=encoder.labels,
        benchmark=args.benchmark,
        languages=list(args.languages),
        **facts,
        **encoder.facts(),
        outputs={f"{name}/{file}": about for file, about in files.items()},
        content=facts_digest(files),
    )


def write_vectors(
    benchmark: GoldPairsReader, data: Data, languages: Sequence[str], encoder: Encoder, folder: Path
) -> dict[str, Any]:
    """Writes each language's vectors of questions and of their gold passages; returns the facts of the record.

    Raises SteleError if no question has a gold passage.
    """
    counts = {}
    for language in languages:
        pairs = list(benchmark.pairs(data, language))
        complete = [(query, passage) for query, passage in pairs if passage is not None]
        if without := len(pairs) - len(complete):
            logger.info("%s: %d questions without a gold passage were left out", language, without)
        if not complete:
            logger.warning("%s: no question with a gold passage: left out of all means", language)
            continue
        names = {side: f"{language}.{side}.npy" for side in ("queries", "passages")}
        texts = [encoder.spec.passage(passage.title, passage.text) for _, passage in complete]
        counts[language] = {"pairs": len(complete), "without_passage": without}
        np.save(folder / names["queries"], encoder.encode([query.text for query, _ in complete], "query"))
        counts[language]["cut_queries"] = encoder.cut
        np.save(folder / names["passages"], encoder.encode(texts, "passage"))
        counts[language]["cut_passages"] = encoder.cut
        counts[language] |= {side: f"{VECTORS}/{name}" for side, name in names.items()}
    if not counts:
        raise SteleError(f"no question in {', '.join(languages)} has a gold passage")
    return {"vectors": counts}


def write_runs(
    benchmark: ParallelTextsReader, data: Data, languages: Sequence[str], encoder: Encoder, folder: Path
) -> dict[str, Any]:
    """Writes a run for both directions of each language pair in `languages`; returns the facts of the record."""
    from stele.encoders.neighbours import nearest_translations

    benchmark.query_sets(languages)  # an error for a pair that is given again comes first
    codes = dict.fromkeys(code for pair in languages for code in sides(pair))
    parallel = benchmark.parallel_texts(data, codes)
    ids, size = parallel.ids, len(parallel.ids)
    logger.info("%d texts in %s; left out: %s", size, ", ".join(codes), parallel.left_out)
    vectors, cut, searches = {}, {}, {}
    for code in codes:
        vectors[code] = encoder.encode(parallel.texts[code], "query")
        cut[code] = encoder.cut
    for pair in languages:
        both = nearest_translations(*(vectors[code] for code in sides(pair)), encoder.device)
        for query_set, best in zip(benchmark.query_sets([pair]), both, strict=True):
            hits = zip(ids, best.rows.tolist(), best.scores.tolist(), strict=True)
            run = ((name, [(ids[row], score)]) for name, row, score in hits)
            write_run(folder / f"{query_set.name}.trec.gz", run, tag="stele")
            pool = query_set.collection
            (query_language,) = {*sides(pair)} - {pool}
            searches[query_set.name] = {"language": pair, "pool": pool, "queries": size, "passages": size}
            searches[query_set.name] |= {"cut_queries": cut[query_language], "cut_passages": cut[pool]}
    return {"searches": searches, "parallel": True, "left_out": parallel.left_out, "similarity": benchmark.SIMILARITY}
