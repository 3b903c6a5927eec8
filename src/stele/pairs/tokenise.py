"""Tokenise a knowledge base's text pairs into training examples: query and passage as tokens of one tokenizer.

Writes an example store (stele.training.store) and its record. An example has two segments, the query and the passage,
without special tokens, each cut at the recipe's length. Examples are in the order of the pairs.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow.parquet as pq

from stele import progress
from stele.artifacts import records
from stele.command.arguments import Job, Json, NewRecord, Record, record_of
from stele.encoders.tokenizer import load_tokenizer, tokenizer_probe
from stele.errors import SteleError
from stele.files.digests import digest
from stele.files.reading import reading
from stele.pairs.methods import KnowledgeMethod, load_method
from stele.pairs.mining.knowledge import PAIRS
from stele.pairs.mining.segments import Encode, Tokens, encoder
from stele.recipes.mining import OF_TOKENS, SPECIAL, KnowledgeRecipe
from stele.training.store import write_store

log = logging.getLogger(__name__)

JOB = "pairs tokenise"
BATCH = 1 << 12  # pairs tokenised at once


class TokenisationJob(Job):
    """Options of the jobs that tokenise mined pairs."""

    recipe: Json
    """Mining method of the pairs and its keys."""
    pairs: Record
    """record.json of the mined pairs."""
    tokenizer: Record
    """record.json of the checkpoint whose tokenizer is used."""


class Tokenise(TokenisationJob):
    output: Annotated[NewRecord, record_of(JOB)]


def run(args: Tokenise) -> None:
    def write(
        folder: Path, recipe: KnowledgeRecipe, record: records.Record, encode: Encode, counts: Counter[str]
    ) -> dict[str, int]:
        batches = read_pairs(args.pairs.parent / PAIRS)
        title = f"tokenise {recipe.method} {record['part']}"
        shown = progress.track(batches, -(-record["pairs"] // BATCH), title)
        return write_store(folder, examples(shown, encode, recipe, counts))

    tokenise(args, JOB, KnowledgeMethod, {"method", *OF_TOKENS}, write)


def read_pairs(path: Path) -> Iterator[tuple[list[str], list[str]]]:
    """Yields (queries, passages) in order, BATCH pairs at a time. Raises SteleError if the file is not readable."""
    with reading(path, "file of pairs", "mine the pairs again"), pq.ParquetFile(path) as file:
        for batch in file.iter_batches(BATCH, columns=["query", "passage"]):
            yield batch.column("query").to_pylist(), batch.column("passage").to_pylist()


def examples(
    batches: Iterable[tuple[list[str], list[str]]], encode: Encode, recipe: KnowledgeRecipe, counts: Counter[str]
) -> Iterator[list[np.ndarray]]:
    """Yields [query, passage], uint32 [tokens] each; counts cut texts, and drops pairs with a text without tokens."""
    limits = recipe.query_tokens - SPECIAL, recipe.passage_tokens - SPECIAL
    for batch in batches:
        sides = [Tokens(*encode(texts)).sentences() for texts in batch]
        for query, passage in zip(*sides, strict=True):
            if not (len(query) and len(passage)):
                counts["empty"] += 1
                continue
            counts["queries_cut"] += len(query) > limits[0]
            counts["passages_cut"] += len(passage) > limits[1]
            yield [query[: limits[0]], passage[: limits[1]]]


# --- shared with `tokenise_sections` ---
def tokenise(args: TokenisationJob, job: str, kind: type, keys: set[str], write: Callable[..., dict[str, Any]]) -> None:
    """Has `write(folder, recipe, pairs' record, encode, counts)` write a store, of which it returns facts; records it.

    `counts["empty"]` is the number of dropped pairs, `keys` are the recipe's keys that matter. Raises SteleError if the
    pairs' method is another than the recipe's or not of this `kind`.
    """
    _, recipe = load_method(args.recipe, kind)
    record = records.read_record(args.pairs)
    if record.get("method") != recipe.method:
        raise SteleError(f"{args.pairs}: found pairs of {record.get('method')}, want pairs of {recipe.method}")
    tokenizer, counts = load_tokenizer(args.tokenizer.parent), Counter()
    with records.output_folder(args.output, job, {"pairs": args.pairs, "tokenizer": args.tokenizer}) as (folder, facts):
        stored = write(folder, recipe, record, encoder(tokenizer), counts)
        dropped = counts.pop("empty", 0)
        facts.update(
            method=recipe.method,
            recipe=recipe.model_dump(include=keys),
            language=record["part"],
            tokenizer_probe=digest(tokenizer_probe(tokenizer)),
            **stored,
            dropped={"empty": dropped} if dropped else {},
            counts={name: number for name, number in sorted(counts.items()) if number},
        )
    log.info("%s %s: %s", recipe.method, record["part"], {**stored, **counts})
