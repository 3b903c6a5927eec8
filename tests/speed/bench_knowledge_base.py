"""Speed and memory of a knowledge base's two joins, each way in a process of its own, on the same files.

    python tests/speed/bench_knowledge_base.py                                   # 20 million links
    python tests/speed/bench_knowledge_base.py --links 2000000 --titles 600000   # try it

Prints a line of JSON a join: wall and CPU seconds (medians) and peak memory of each way, how many times the time of the
fastest peer ours takes, and what 200 million links would take, in proportion [calc].

symmetric   pairs of sentences that link to each other's pages: ours (artifacts/knowledge_base, all limits kept),
            DuckDB's plain self-join without a limit, and numpy, which packs a link into 64 bits and sorts. Bar: 1.3
            times the faster. Links are random integers, as many as `links`, thirty a page; some are answered by a link
            back.
titles      link targets as text to page numbers, sorted and distinct: ours (dumps/resolve_titles.py), the same with
            pyarrow's `index_in` in memory, and with a Python dict. Targets follow Zipf's law over `titles` titles, a
            third of which are redirects; one target in twenty is no title.

Numbers of rows and a digest of the rows must be equal, else it stops.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

PLANNED = 200_000_000
PAGE_BITS, SENTENCE_BITS = 26, 11  # of 64; the last is the direction


def batches(path: Path) -> Iterator:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        yield from file.iter_batches(1 << 16)


# --- symmetric pairs: four columns --------------------------------------------------------------------------------


def symmetric_ours(folder: Path, memory: int, threads: int) -> Iterator[list[np.ndarray]]:
    from stele.artifacts.knowledge_base import symmetric_pairs

    for batch in symmetric_pairs(folder / "links.parquet", memory, threads, folder / f"spill{os.getpid()}"):
        yield [column.to_numpy() for column in batch.columns]


def symmetric_duckdb(folder: Path, memory: int, threads: int) -> Iterator[list[np.ndarray]]:
    import duckdb

    links = f"read_parquet('{folder / 'links.parquet'}')"
    connection = duckdb.connect(config={"threads": threads})
    actual = connection.sql(
        f"""
        SELECT a.page, a.sentence, b.page, b.sentence FROM {links} AS a JOIN {links} AS b
        ON a.page = b.target AND a.target = b.page WHERE a.page < b.page
        """
    )
    for batch in actual.to_arrow_reader(1 << 16):
        yield [column.to_numpy() for column in batch.columns]


def symmetric_numpy(folder: Path, memory: int, threads: int) -> Iterator[list[np.ndarray]]:
    """Sorts lower page, higher page, direction, sentence as one number; both directions of two pages stand together."""
    import pyarrow.parquet as pq

    table = pq.read_table(folder / "links.parquet", use_threads=threads > 1)
    page, sentence, target = (table[name].to_numpy().astype(np.uint64) for name in ("page", "sentence", "target"))
    assert max(page.max(), target.max()) < 1 << PAGE_BITS and sentence.max() < 1 << SENTENCE_BITS
    down = page > target
    low, high = np.uint64(SENTENCE_BITS + 1 + PAGE_BITS), np.uint64(SENTENCE_BITS + 1)
    keys = (np.minimum(page, target) << low) | (np.maximum(page, target) << high)
    keys |= (down.astype(np.uint64) << np.uint64(SENTENCE_BITS)) | sentence
    del table, page, sentence, target, down
    keys.sort()
    pages = keys >> high
    begins = np.flatnonzero(np.concatenate([[True], pages[1:] != pages[:-1]]))
    ends = np.append(begins[1:], len(keys))
    downwards = np.concatenate([[0], np.cumsum((keys >> np.uint64(SENTENCE_BITS)) & np.uint64(1), dtype=np.int64)])
    second = downwards[ends] - downwards[begins]
    first = ends - begins - second
    both = (first > 0) & (second > 0)
    begins, first, second = begins[both], first[both], second[both]
    index = np.repeat(np.arange(len(begins)), first * second)
    inside = np.arange(len(index)) - np.repeat(np.cumsum(first * second) - first * second, first * second)
    a = keys[begins[index] + inside // second[index]]
    b = keys[begins[index] + first[index] + inside % second[index]]
    sentences, numbers = np.uint64((1 << SENTENCE_BITS) - 1), np.uint64((1 << PAGE_BITS) - 1)
    yield [part.astype(np.int32) for part in (a >> low, a & sentences, (a >> high) & numbers, b & sentences)]


# --- titles: three columns ----------------------------------------------------------------------------------------


def titles_ours(folder: Path, memory: int, threads: int) -> Iterator[list[np.ndarray]]:
    from stele.artifacts.knowledge_base import database
    from stele.corpora.dumps import resolve_titles
    from stele.corpora.knowledge_base import BATCH, distinct

    with database(memory, threads, folder / f"spill{os.getpid()}", "titles") as connection:
        resolve_titles.load_pages(connection, batches(folder / "pages.parquet"))
        resolve_titles.load_redirects(connection, batches(folder / "redirects.parquet"))
        resolve_titles.resolve_links(connection, batches(folder / "text.parquet"))
        for batch in distinct(resolve_titles.links_in_order(connection, BATCH)):
            yield [column.to_numpy() for column in batch.columns]


def _names(folder: Path):
    """(titles as one array, the page that each leads to or -1)."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from stele.corpora.dumps.resolve_titles import follow

    titles = pq.read_table(folder / "pages.parquet", columns=["title"])["title"].combine_chunks()
    redirects = pq.read_table(folder / "redirects.parquet")
    ways = redirects["title"].combine_chunks()
    target = redirects["target"].combine_chunks()
    page, following = (pc.index_in(target, names).fill_null(-1).to_numpy() for names in (titles, ways))
    ends, _ = follow(page.astype(np.int32), following.astype(np.int32))
    return pa.concat_arrays([titles, ways]), np.concatenate([np.arange(len(titles), dtype=np.int32), ends])


def _resolved(folder: Path, look_up: Callable[[object], np.ndarray]) -> Iterator[list[np.ndarray]]:
    keys = []
    for batch in batches(folder / "text.parquet"):
        page, sentence = (batch.column(n).to_numpy().astype(np.int64) for n in (0, 1))
        target = look_up(batch.column(2))
        kept = (target >= 0) & (target != page)
        keys.append((page[kept] << 38) | (sentence[kept] << 27) | target[kept])
    actual = np.unique(np.concatenate(keys))
    yield [part.astype(np.int32) for part in (actual >> 38, (actual >> 27) & 2047, actual & ((1 << 27) - 1))]


def titles_pyarrow(folder: Path, memory: int, threads: int) -> Iterator[list[np.ndarray]]:
    import pyarrow as pa
    import pyarrow.compute as pc

    names, ends = _names(folder)
    ends = np.append(ends, np.int32(-1))
    # one batch: index_in makes its table of all names anew in every call
    whole = pa.Table.from_batches(batches(folder / "text.parquet"), schema=None)
    index = pc.index_in(whole["target"], names).fill_null(-1).to_numpy()
    at = iter(np.split(index, np.cumsum([len(chunk) for chunk in whole["target"].chunks])[:-1]))
    yield from _resolved(folder, lambda column: ends[next(at)].astype(np.int64))


def titles_dict(folder: Path, memory: int, threads: int) -> Iterator[list[np.ndarray]]:
    names, ends = _names(folder)
    known = dict(zip(names.to_pylist(), ends.tolist(), strict=True))
    del names, ends

    def look_up(column) -> np.ndarray:
        return np.fromiter((known.get(title, -1) for title in column.to_pylist()), np.int64, len(column))

    yield from _resolved(folder, look_up)


WAYS = {
    "symmetric": {"ours": symmetric_ours, "duckdb": symmetric_duckdb, "numpy": symmetric_numpy},
    "titles": {"ours": titles_ours, "pyarrow": titles_pyarrow, "dict": titles_dict},
}


def digest(actual: Iterable[list[np.ndarray]]) -> tuple[int, str]:
    """(rows, a digest of them that does not depend on their order)."""
    rows, total = 0, 0
    for columns in actual:
        mixed = np.zeros(len(columns[0]), np.uint64)
        for column in columns:  # a hash of each row: multiply, shift and add, as splitmix64 does
            mixed = (mixed + column.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
        rows, total = rows + len(mixed), (total + int(mixed.sum(dtype=np.uint64))) % (1 << 64)
    return rows, hashlib.sha256(f"{rows} {total}".encode()).hexdigest()[:16]


def peak_mb() -> int:
    """Peak resident memory of this process alone (what getrusage says may be the parent's)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


def work(join: str, way: str, folder: Path, memory: int, threads: int) -> dict:
    """One way in this process; reading the files and digesting the rows are counted, imports are not."""
    import duckdb  # noqa: F401

    from stele.corpora import knowledge_base  # noqa: F401

    begun, used = time.perf_counter(), time.process_time()
    rows, check = digest(WAYS[join][way](folder, memory, threads))
    seconds, cpu = time.perf_counter() - begun, time.process_time() - used
    return {"seconds": seconds, "cpu": cpu, "peak_mb": peak_mb(), "rows": rows, "digest": check}


def child(*arguments: object) -> dict:
    command = [sys.executable, __file__, *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    return json.loads(done.stdout) if done.stdout else {}


def measure(folder: Path, links: int, titles: int, memory: int, threads: int, repeats: int) -> dict[str, dict]:
    """Both joins, all ways, in turn; equal rows or an error."""
    child("--make", folder, "--links", links, "--titles", titles)
    collected = {}
    for join, ways in WAYS.items():
        runs = {way: [] for way in ways}
        for _ in range(repeats):
            for way in ways:
                runs[way].append(child("--work", join, way, folder, "--memory-mb", memory, "--threads", threads))
        rows = {(run["rows"], run["digest"]) for one in runs.values() for run in one}
        if len(rows) != 1:
            raise SystemExit(f"{join}: the ways differ: {runs}")
        seconds = {way: statistics.median(run["seconds"] for run in one) for way, one in runs.items()}
        cpu = {way: round(statistics.median(run["cpu"] for run in one), 3) for way, one in runs.items()}
        peak = {way: max(run["peak_mb"] for run in one) for way, one in runs.items()}
        fastest = min((way for way in ways if way != "ours"), key=seconds.__getitem__)
        scale = PLANNED / links
        collected[join] = {
            "links": links, "rows": rows.pop()[0], "threads": threads, "limit_mb": memory, "repeats": repeats,
            "seconds": {way: round(value, 3) for way, value in seconds.items()},
            "cpu_seconds": cpu, "peak_mb": peak, "fastest": fastest,
            "times_fastest": round(seconds["ours"] / seconds[fastest], 3),
            "calc_200M": {
                way: f"{seconds[way] * scale:.0f} s, "
                + (f"{memory} MB and spill" if way == "ours" else f"{peak[way] * scale / 1024:.0f} GB")
                for way in ways
            },
        }  # fmt: skip
    return collected


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--links", type=int, default=20_000_000)
    parser.add_argument("--titles", type=int, default=6_000_000)
    parser.add_argument("--memory-mb", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.make:
        from random_links import make_links, make_titles

        make_links(args.make / "links.parquet", args.links)
        make_titles(args.make, args.links, args.titles)
    elif args.work:
        join, way, folder = args.work
        print(json.dumps(work(join, way, Path(folder), args.memory_mb, args.threads)))
    else:
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
            actual = measure(Path(name), args.links, args.titles, args.memory_mb, args.threads, args.repeats)
        for join, figures in actual.items():
            print(json.dumps({"join": join, **figures}))


if __name__ == "__main__":
    main()
