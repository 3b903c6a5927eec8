"""Speed of mining text pairs from a knowledge base: the sample on numbers, then the texts of what was drawn.

    python tests/speed/bench_knowledge_pairs.py             # 20M candidates; 20,000 pages, 300,000 pairs

sample  the candidates of lowest hash, in batches with little memory, against two peers that are given the hashes and
        everything at once: duckdb (ORDER BY ... LIMIT) and one numpy sort. All three draw the same.
texts   pages to texts to pairs.parquet, against its floor: decoding the same documents, and writing the same pairs,
        with pyarrow and nothing between the two.

Prints a line of JSON: seconds of each, the ratios ours / peer and ours / floor, candidates and pairs a second, and the
memory that the process has taken at most after each part.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SOURCE = Path(__file__).resolve().parents[2] / "src"
sys.path.insert(0, str(SOURCE))
BATCH = 1 << 16
PAGES = 6_500_000  # numbers that candidates are drawn from: those of English pages
WORDS, SENTENCE = 20_000, 20  # of the vocabulary; of a sentence


def timed(function, *given) -> tuple[float, Any]:
    begin = time.perf_counter()
    actual = function(*given)
    return time.perf_counter() - begin, actual


def peak() -> int:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def candidates(count: int, seed: int = 0) -> Iterator:
    """Batches of sentences of two pages, as the join of links gives them."""
    from stele.pairs.mining.knowledge import Candidates, pack

    rng = np.random.default_rng(seed)
    for begin in range(0, count, BATCH):
        size = min(BATCH, count - begin)
        yield Candidates(*(pack(0, rng.integers(0, PAGES, size), rng.integers(0, 60, size)) for _ in range(2)))


def all_at_once(batches: list, key: int) -> pa.Table:
    from stele.pairs.mining.knowledge import hashed

    hashes = np.concatenate([hashed(batch, key) for batch in batches])
    query, passage = (np.concatenate(column) for column in zip(*batches, strict=True))
    return pa.table({"hash": hashes, "query": query, "passage": passage})


def duckdb_sample(table: pa.Table, most: int) -> tuple[np.ndarray, ...]:
    import duckdb

    connection = duckdb.connect(":memory:", config={"threads": 1})
    connection.register("candidates", table)
    query = f"SELECT query, passage FROM candidates ORDER BY hash, query, passage LIMIT {most}"
    actual = connection.sql(query).fetchnumpy()
    return actual["query"], actual["passage"]


def numpy_sample(table: pa.Table, most: int) -> tuple[np.ndarray, ...]:
    hashes, query, passage = (column.to_numpy() for column in table.columns)
    order = np.lexsort((passage, query, hashes))[:most]
    return query[order], passage[order]


def measure_sample(count: int, most: int) -> dict[str, Any]:
    from stele.pairs.mining.knowledge import sample

    made = list(candidates(count))
    seconds, (ours, total) = timed(sample, iter(made), 5, most)
    memory = peak()
    table = all_at_once(made, 5)
    peers = {name: timed(peer, table, most) for name, peer in (("duckdb", duckdb_sample), ("numpy", numpy_sample))}
    for name, (_, actual) in peers.items():
        if total != count or not all((a == b).all() for a, b in zip(ours, actual, strict=True)):
            raise SystemExit(f"{name} draws other candidates")
    return {
        "seconds": {"ours": seconds} | {name: one for name, (one, _) in peers.items()},
        "ratio": {name: seconds / one for name, (one, _) in peers.items()},
        "candidates_per_second": count / seconds,
        "peak_memory_mb": memory,
    }


def write_documents(folder: Path, pages: int, seed: int = 0) -> tuple[Path, list[int]]:
    """A corpus of pages of 4 to 40 sentences; its record and the numbers of sentences."""
    from stele.artifacts import records
    from stele.artifacts.documents import Document, DocumentWriter, Section

    rng = np.random.default_rng(seed)
    vocabulary = ["".join(map(chr, 97 + rng.integers(0, 26, rng.integers(2, 10)))) for _ in range(WORDS)]
    sizes = rng.integers(4, 40, pages).tolist()
    with DocumentWriter(folder) as writer:
        for number, size in enumerate(sizes):
            words = [vocabulary[i] for i in (rng.zipf(1.2, size * SENTENCE) % WORDS).tolist()]
            sentences = [" ".join(words[i : i + SENTENCE]) + "." for i in range(0, len(words), SENTENCE)]
            sections = tuple(Section("section", first) for first in range(0, size, 7))
            writer.add(Document("en", str(number), sentences, [0], f"Page {number}", sections=sections))
    record = folder / "record.json"
    records.write_record(record, job="made", inputs={}, clock=records.start(), **writer.counts)
    return record, sizes


def drawn_from(sizes: list[int], count: int, seed: int = 1):
    """Candidates of sentences that are there, in random order."""
    from stele.pairs.mining.knowledge import Candidates, pack

    rng = np.random.default_rng(seed)
    lengths = np.asarray(sizes)
    pages = [rng.integers(0, len(sizes), count) for _ in range(2)]
    return Candidates(*(pack(0, page, rng.integers(0, lengths[page])) for page in pages))


def mine(folder: Path, source: Path, drawn) -> int:
    from stele.pairs.knowledge_pairs import Spool, fetch, kept, write
    from stele.pairs.methods import ilk
    from stele.recipes.mining import IlkRecipe

    recipe = IlkRecipe(max_pairs=None)
    with Spool(folder / "texts", len(drawn.query)) as spool:
        fetch(spool, 0, [source], ilk, recipe, 5, drawn)
        return write(folder / "pairs.parquet", ["en"], drawn, kept(spool.pairs(), recipe, Counter()))


def floor(folder: Path, source: Path) -> None:
    """The documents read and the pairs written, by pyarrow alone."""
    from stele.artifacts.documents import read_batches

    for batch in read_batches(source, ["sentences", "sections"]):
        batch.column("sentences").to_pylist()
    table = pq.read_table(folder / "pairs.parquet")
    pq.write_table(table, folder / "again.parquet", compression="zstd", use_dictionary=False)


def measure_texts(pages: int, pairs: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "documents").mkdir()
        source, sizes = write_documents(folder / "documents", pages)
        seconds, actual = timed(mine, folder, source, drawn_from(sizes, pairs))
        memory = peak()
        least, _ = timed(floor, folder, source)
    return {
        "pairs": actual,
        "seconds": {"ours": seconds, "floor": least},
        "ratio": {"floor": seconds / least},
        "pairs_per_second": actual / seconds,
        "peak_memory_mb": memory,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=20_000_000)
    parser.add_argument("--most", type=int, default=2_000_000, help="candidates drawn")
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--pairs", type=int, default=300_000)
    args = parser.parse_args()
    actual = {"texts": measure_texts(args.pages, args.pairs), "sample": measure_sample(args.candidates, args.most)}
    print(json.dumps(actual))


if __name__ == "__main__":
    main()
