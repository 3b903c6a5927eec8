"""Tatoeba's exports at their real size: CPU seconds and memory of reading CCP's 15 pairs, beside DuckDB.

    python tests/speed/bench_tatoeba_exports.py --sentences 13000000 --links 25000000

The numbers are generated: ids, languages by rank, sentences of seven words, links both ways. Each way works in a
process of its own:

    ours     what a job does: stele.benchmarks.tatoeba_pairs on both files
    duckdb   the links of the 15 pairs by SQL, as a join of three tables, on one thread; it chooses no sentences
    lines    both files line by line, split at their tabs

Prints one JSON object: CPU seconds (medians), peak memory in MB (bar: ours below 2,000), and `times_lines`,
`times_duckdb`. Ours and DuckDB must find the same number of links for each pair.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

from stele import catalogue
from stele.benchmarks import tatoeba_pairs
from stele.benchmarks.tatoeba import file_code
from stele.benchmarks.xsa import sides

PAIRS = catalogue.load("benchmarks")["tatoeba_pairs"]["languages"]
RANKED = (  # about as many sentences each as the real ones have, the largest first
    "eng rus ita epo deu tur ber kab fra por spa hun jpn heb nld ukr fin pol lit ces mkd cmn mar swe ara dan lat ell "
    "ron nob urd"
)
ROWS = 100_000


def make(folder: Path, sentences: int, links: int) -> None:
    """Writes both files; every hundredth link is dead, and links stand in both directions."""
    codes = RANKED.split()
    draws, words = np.random.default_rng(0), [f"w{number:x}" for number in range(5000)]
    shares = 1 / np.arange(1, len(codes) + 1)
    with open(folder / "sentences.csv", "w") as handle:
        for start in range(1, sentences + 1, ROWS):
            count = min(ROWS, sentences + 1 - start)
            languages = draws.choice(codes, count, p=shares / shares.sum())
            texts = draws.integers(0, len(words), (count, 6)).tolist()
            rows = zip(range(start, start + count), languages, texts, strict=True)
            handle.writelines(f"{i}\t{code}\t{' '.join([words[w] for w in text])} {i}.\n" for i, code, text in rows)
    with open(folder / "links.csv", "w") as handle:
        for start in range(0, links, ROWS):
            one = draws.integers(1, sentences + 1, min(ROWS, links - start) // 2)
            other = np.clip(one + draws.integers(-2000, 2000, len(one)), 1, sentences)
            other[draws.random(len(one)) < 0.01] = sentences + 1
            handle.writelines(f"{a}\t{b}\n{b}\t{a}\n" for a, b in zip(one.tolist(), other.tolist(), strict=True))


def ours(folder: Path) -> dict[str, int]:
    read, found = tatoeba_pairs.read_links, {}

    def counted(*given):
        linked, counts = read(*given)
        found.update({pair: len(own) for pair, own in zip(PAIRS, linked, strict=True)})
        return linked, counts

    tatoeba_pairs.read_links = counted
    data = {"tatoeba_exports": {"all": folder}}
    for query_set in tatoeba_pairs.query_sets(PAIRS):
        tatoeba_pairs.judgments(data, query_set)
    return found


def duckdb(folder: Path) -> dict[str, int]:
    import duckdb

    db = duckdb.connect(config={"threads": 1})
    layout = "delim='\\t', quote='', escape='', header=false, auto_detect=false"
    for name, columns in (("sentences", "{'id': 'BIGINT', 'code': 'VARCHAR', 'text': 'VARCHAR'}"),
                          ("links", "{'one': 'BIGINT', 'other': 'BIGINT'}")):  # fmt: skip
        db.sql(f"CREATE TABLE {name} AS SELECT * FROM read_csv('{folder / name}.csv', columns={columns}, {layout})")
    rows = db.sql(
        "SELECT s.code, t.code, count(*) FROM (SELECT one, other FROM links UNION SELECT other, one FROM links) l "
        "JOIN sentences s ON s.id = l.one JOIN sentences t ON t.id = l.other GROUP BY ALL"
    ).fetchall()
    counts = {(one, other): number for one, other, number in rows}
    return {pair: counts.get(tuple(map(file_code, sides(pair))), 0) for pair in PAIRS}


def lines(folder: Path) -> dict[str, int]:
    for name in ("sentences", "links"):
        with open(folder / f"{name}.csv", "rb") as handle:
            for line in handle:
                line.split(b"\t")
    return {}


WAYS = {"ours": ours, "duckdb": duckdb, "lines": lines}


def work(way: str, folder: Path) -> dict:
    begun = time.process_time()
    found = WAYS[way](folder)
    peak = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) // 1024
    return {"cpu": time.process_time() - begun, "peak_mb": peak, "links": found}


def measure(folder: Path, sentences: int, links: int, repeats: int) -> dict:
    """Medians over the repeats, in each of which all ways run after one another."""
    make(folder, sentences, links)
    runs: dict[str, list[dict]] = {way: [] for way in WAYS}
    for _ in range(repeats):
        for way in WAYS:
            command = [sys.executable, __file__, "--work", way, str(folder)]
            runs[way].append(json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout))
    if runs["ours"][0]["links"] != runs["duckdb"][0]["links"]:
        raise SystemExit("the links that ours and duckdb find differ")
    cpu = {way: statistics.median(run["cpu"] for run in own) for way, own in runs.items()}
    return {
        "sentences": sentences, "links": links, "repeats": repeats,
        "linked": runs["ours"][0]["links"],
        "cpu_seconds": {way: round(value, 2) for way, value in cpu.items()},
        "peak_mb": {way: max(run["peak_mb"] for run in own) for way, own in runs.items()},
        "times_lines": round(cpu["ours"] / cpu["lines"], 2), "times_duckdb": round(cpu["ours"] / cpu["duckdb"], 2),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=13_000_000)
    parser.add_argument("--links", type=int, default=25_000_000)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        print(json.dumps(work(args.work[0], Path(args.work[1]))))
        return
    with tempfile.TemporaryDirectory() as name:
        print(json.dumps(measure(Path(name), args.sentences, args.links, args.repeats)))


if __name__ == "__main__":
    main()
