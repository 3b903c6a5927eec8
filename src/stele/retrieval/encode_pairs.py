"""Encode a benchmark's questions and their gold passages, line by line: for metrics of the vectors themselves.

Alignment and uniformity (KEPT, table 8) look at where questions and the passages that answer them lie, and rank
nothing. For each language two arrays are written, in the order of the questions, whose lines belong together. The
vectors are the encoder's own, not scaled. Questions without a gold passage are left out and counted.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from stele.artifacts import records
from stele.benchmarks.arguments import add_data_argument, data_folders, data_records
from stele.benchmarks.types import Passage, Query
from stele.command import arguments
from stele.errors import SteleError
from stele.files.atomic import atomic_directory, facts_digest, folder_facts
from stele.registry import load_named
from stele.retrieval.dense.encoding_argument import add_encoding_argument, given_encoder

logger = logging.getLogger(__name__)

VECTORS = "vectors"  # the folder beside the record


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--benchmark", required=True)
    parser.add_argument("--languages", nargs="+", required=True)
    parser.add_argument("--encoder", type=Path, required=True, help="record.json in the encoder's folder")
    add_encoding_argument(parser)
    add_data_argument(parser)
    parser.add_argument("--threads", type=arguments.whole, help="CPU threads; default: as many as torch takes")
    parser.add_argument("--output", type=Path, required=True, help="vectors.json; the arrays go to vectors/ beside it")


def run(args: argparse.Namespace) -> None:
    clock = records.start()
    benchmark = load_named("stele.benchmarks", args.benchmark, kind="benchmark")
    if not hasattr(benchmark, "pairs"):
        raise SteleError(f"--benchmark {args.benchmark}: it has no pairs of a question and a gold passage")
    data = data_records(args.data)
    folders = data_folders(data)
    encoder = given_encoder(args)
    counts = {}
    with atomic_directory(args.output.parent / VECTORS) as folder:
        for language in args.languages:
            queries, passages, without = split(list(benchmark.pairs(folders, language)))
            if without:
                logger.info("%s: %d questions without a gold passage were left out", language, without)
            if not queries:
                logger.warning("%s: no question with a gold passage: left out of all means", language)
                continue
            names = {side: f"{language}.{side}.npy" for side in ("queries", "passages")}
            texts = [encoder.spec.passage(passage.title, passage.text) for passage in passages]
            np.save(folder / names["queries"], encoder.encode([query.text for query in queries], "query"))
            np.save(folder / names["passages"], encoder.encode(texts, "passage"))
            counts[language] = {"pairs": len(queries), "without_passage": without}
            counts[language] |= {side: f"{VECTORS}/{name}" for side, name in names.items()}
        if not counts:
            raise SteleError(f"{args.benchmark}: no question in {', '.join(args.languages)} has a gold passage")
        files = folder_facts(folder)
    records.write_record(
        args.output,
        job="encode_pairs",
        inputs={"encoder": args.encoder, **data},
        clock=clock,
        benchmark=args.benchmark,
        languages=list(args.languages),
        vectors=counts,
        encoding=encoder.spec.model_dump(),
        outputs={f"{VECTORS}/{name}": facts for name, facts in files.items()},
        content=facts_digest(files),
    )


def split(pairs: Sequence[tuple[Query, Passage | None]]) -> tuple[list[Query], list[Passage], int]:
    """The questions that have a passage, their passages, and how many have none."""
    kept = [(query, passage) for query, passage in pairs if passage is not None]
    return [query for query, _ in kept], [passage for _, passage in kept], len(pairs) - len(kept)
