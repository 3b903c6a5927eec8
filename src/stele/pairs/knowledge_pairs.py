"""Mine a knowledge base for text pairs of one method: ILK, CLK and the other ways of KEPT (sections 3.3 and 4.7).

Writes pairs.parquet (query, passage: string; query_language, passage_language: string; query_page, passage_page: int32,
the pages' numbers in the knowledge base) and its record. The rows stand in an order drawn by the seed, of which
`max_pairs` takes the first: fewer pairs are a part of more. A part is a language ("en"), or two in order ("en-fr").
"""

from __future__ import annotations

import argparse
import logging
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from stele.artifacts import records
from stele.command import arguments
from stele.files import atomic
from stele.pairs.mining import inputs
from stele.pairs.mining.knowledge import PAIRS, Candidates, Knowledge, sample, unpack
from stele.pairs.mining.knowledge_texts import BUCKET, Pair, Spool, fetch, kept
from stele.pairs.mining.method import load_method
from stele.pairs.statistics.overlap import SKETCH, sketch
from stele.recipes.mining import OF_TOKENS, KnowledgeRecipe
from stele.training.sampling import derive

log = logging.getLogger(__name__)

JOB = "pairs knowledge_pairs"
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("query", "passage", "query_language", "passage_language")),
        *((name, pa.int32()) for name in ("query_page", "passage_page")),
    ]
)
JOIN = 4  # the join of links has one in so many bytes of the job's memory; the others are for candidates and texts
OVERDRAW = 2  # candidates whose texts are read for each pair that is wanted, at first: some will be dropped


def add_arguments(parser: argparse.ArgumentParser) -> None:
    inputs.add_arguments(parser, JOB)
    parser.add_argument(
        "--memory-mb", required=True, type=arguments.whole, help="of the job; a quarter for its join of links"
    )
    parser.add_argument("--threads", type=arguments.whole, default=1, help="of the join (default: %(default)s)")


def run(args: argparse.Namespace) -> None:
    """Writes the pairs of one part; raises SteleError for a recipe, part or input that does not fit."""
    clock = records.start()
    module, recipe = load_method(args.recipe, "candidates")
    given = inputs.parse(args, recipe.method, module.LANGUAGES)
    codes = given.languages
    with atomic.atomic_directory(args.output.parent, JOB) as folder:
        work = folder / "work"
        work.mkdir()
        knowledge = [Knowledge(given.bases[code], args.memory_mb // JOIN, args.threads, work) for code in codes]
        key = derive(args.seed, recipe.method, args.part)
        documents = {code: given.documents[code] for code in codes}
        facts = mine(module, recipe, knowledge, documents, key, folder / PAIRS, work)
        pairs, candidates = facts["pairs"], facts["candidates"]
        shutil.rmtree(work)
        records.write_record(
            folder / args.output.name,
            job=JOB,
            inputs=given.records(),
            clock=clock,
            seed=args.seed,
            method=recipe.method,
            recipe=recipe.model_dump(exclude=OF_TOKENS),
            part=args.part,
            languages=codes,
            knowledge={code: base.counts for code, base in zip(codes, knowledge, strict=True)},
            **facts,
            outputs=atomic.folder_facts(folder),
        )
    log.info("%s %s: %s", recipe.method, args.part, facts)
    if not pairs:
        log.warning("%s: not one %s pair of %d candidates", args.part, recipe.method, candidates)


def mine(
    module: ModuleType,
    recipe: KnowledgeRecipe,
    knowledge: Sequence[Knowledge],
    documents: Mapping[str, Sequence[Path]],
    key: int,
    path: Path,
    work: Path,
) -> dict[str, Any]:
    """Writes the pairs to `path` and returns the counts: candidates, pairs, and what was dropped before the last pair.

    Where so many are dropped that pairs are lacking, twice as many candidates are drawn, of which the first are the
    same: stubs have one passage, so that of nine CLK candidates eight may be none.
    """
    overdraw = OVERDRAW
    while True:
        most = recipe.max_pairs and overdraw * recipe.max_pairs
        drawn, candidates = sample(module.candidates(knowledge, recipe, key), derive(key, "order"), most)
        dropped: Counter[str] = Counter()
        with Spool(work / "texts", len(drawn.query)) as spool:
            for language, (code, sources) in enumerate(documents.items()):
                fetch(spool, language, sources, module, recipe, key, drawn, f"{recipe.method} pages of {code}")
            pairs = write(path, list(documents), drawn, kept(spool.pairs(), recipe, dropped))
        if pairs == recipe.max_pairs or len(drawn.query) == candidates:
            return {"candidates": candidates, "pairs": pairs, "dropped": dict(sorted(dropped.items()))}
        shutil.rmtree(work / "texts")
        overdraw *= 2


def write(path: Path, codes: Sequence[str], drawn: Candidates, pairs: Iterable[Pair]) -> int:
    """Writes the pairs, a bucket of them a row group, and their sketch beside them; returns how many there are."""
    names = pa.array(codes, pa.string())
    total, pairs, hashes = 0, iter(pairs), sketch(())
    with pq.ParquetWriter(
        path, SCHEMA, compression="zstd", use_dictionary=["query_language", "passage_language"]
    ) as file:
        while block := list(islice(pairs, BUCKET)):
            rows, *texts = zip(*block, strict=True)
            columns = dict(zip(("query", "passage"), texts, strict=True))
            for side, segments in zip(("query", "passage"), drawn, strict=True):
                language, page, _ = unpack(segments[list(rows)])
                columns |= {f"{side}_language": names.take(pa.array(language)), f"{side}_page": page}
            file.write_table(pa.table(columns).select(SCHEMA.names).cast(SCHEMA))
            total += len(block)
            hashes = sketch(zip(*texts, strict=True), hashes)
    np.save(path.with_name(SKETCH), hashes)
    return total
