"""Speed and memory of reading Wikidata's table of sitelinks, next to unpacking it and to one regular expression.

    python tests/speed/bench_page_entities.py                  # 4 million rows, 60 MB packed
    python tests/speed/bench_page_entities.py --rows 200000    # try it

Prints a line of JSON. Three processes read the same generated table in turn: `unpack` only unpacks it (the floor),
`regex` finds the rows of the wanted wikis with `re.findall` and keeps them in a list, `ours` is the command's work with
the files that it writes; imports are not counted. Megabytes a second are of the packed file; `calc_table` is the time
of the real table, of 90 million rows, in proportion. Rows that `regex` and `ours` find must be equal, else it stops.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

TABLE_ROWS = 90_000_000
NAME = "wikidatawiki-1-wb_items_per_site.sql.gz"
# fmt: off
WANTED = [
    "enwiki", "arwiki", "bnwiki", "dawiki", "dewiki", "eswiki", "fiwiki", "frwiki", "hewiki", "huwiki", "idwiki",
    "itwiki", "jawiki", "kmwiki", "kowiki", "mswiki", "nlwiki", "nowiki", "plwiki", "ptwiki", "ruwiki", "svwiki",
    "swwiki", "tewiki", "thwiki", "trwiki", "viwiki", "zhwiki",
]
OTHERS = [f"x{n}wiki" for n in range(250)]  # with all the wanted ones, about as many sites as there are
WORDS = [
    "Category", "Template", "List", "of", "the", "St.", "John's", "River", "Sao", "Paulo", "München", "Кёльн", "東京",
    "Московская", "область", "(film)", "(disambiguation)", "United", "States", "1998", "2004", "in", "music", '"x"',
    "O'Neil", "Świętokrzyskie", "AC\\DC",
]
# fmt: on


def make(path: Path, rows: int, seed: int = 0) -> None:
    """A table of random rows: large wikis often, small ones seldom, statements of a megabyte."""
    from stele_world.writers.dump import SQL_HEAD, SQL_TAIL, _quoted

    rng, sites = random.Random(seed), WANTED + OTHERS
    weights = [1 / (rank + 1) ** 0.8 for rank in range(len(sites))]
    rng.shuffle(sites)
    with gzip.open(path, "wb", 6) as file:
        file.write(SQL_HEAD.replace("{next}", str(rows)).encode())
        for first in range(0, rows, 16_000):
            size = min(16_000, rows - first)
            values = [
                f"({first + n},{rng.randrange(1, 115_000_000)},'{site}',"
                f"{_quoted(' '.join(rng.choices(WORDS, k=rng.randint(1, 4))) + str(rng.randrange(10**5)))})"
                for n, site in enumerate(rng.choices(sites, weights, k=size))
            ]
            file.write(f"INSERT INTO `wb_items_per_site` VALUES {','.join(values)};\n".encode())
        file.write(SQL_TAIL.encode())


def digest(rows: dict[str, list[tuple[str, int]]]) -> str:
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()[:16]


def unpack(folder: Path):
    with gzip.open(folder / NAME) as file:
        while file.read(1 << 20):
            pass
    return lambda: None


def regex(folder: Path):
    sites = "|".join(WANTED).encode()
    row = re.compile(rb"\(\d++,(\d++),'(" + sites + rb")','((?:[^'\\]++|\\.)*+)'\)", re.S)
    collected = []
    with gzip.open(folder / NAME) as file:
        for line in file:
            if line.startswith(b"INSERT"):
                collected += row.findall(line)

    def check() -> str:
        rows: dict[str, list] = {wiki: [] for wiki in WANTED}
        for item, site, title in collected:
            rows[site.decode()].append((re.sub(rb"\\(.)", rb"\1", title).decode(), int(item)))
        return digest(rows)

    return check


def ours(folder: Path):
    from stele.corpora.page_entities import write_entities

    write_entities(folder / NAME, WANTED, folder)

    def check() -> str:
        import pyarrow.parquet as pq

        tables = {wiki: pq.read_table(folder / f"{wiki}.parquet") for wiki in WANTED}
        return digest(
            {w: list(zip(*(t[c].to_pylist() for c in t.column_names), strict=True)) for w, t in tables.items()}
        )

    return check


WAYS = {"unpack": unpack, "regex": regex, "ours": ours}


def work(way: str, folder: Path) -> dict:
    import stele.corpora.page_entities  # noqa: F401

    begun, used = time.perf_counter(), time.process_time()
    check = WAYS[way](folder)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - used
    peak = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) // 1024
    return {"seconds": seconds, "cpu": cpu, "peak_mb": peak, "digest": check()}


def measure(folder: Path, rows: int, repeats: int) -> dict:
    """Medians over the repeats, in each of which all ways run after one another."""
    make(folder / NAME, rows)
    runs: dict[str, list[dict]] = {way: [] for way in WAYS}
    for _ in range(repeats):
        for way in WAYS:
            command = [sys.executable, __file__, "--work", way, str(folder)]
            runs[way].append(json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout))
    if len({run["digest"] for way in ("regex", "ours") for run in runs[way]}) != 1:
        raise SystemExit("the rows that regex and ours find differ")
    seconds = {way: statistics.median(run["seconds"] for run in one) for way, one in runs.items()}
    cpu = {way: statistics.median(run["cpu"] for run in one) for way, one in runs.items()}
    size = (folder / NAME).stat().st_size / 1e6
    return {
        "rows": rows, "packed_mb": round(size, 1), "repeats": repeats,
        "seconds": {way: round(value, 3) for way, value in seconds.items()},
        "cpu_seconds": {way: round(value, 3) for way, value in cpu.items()},
        "peak_mb": {way: max(run["peak_mb"] for run in one) for way, one in runs.items()},
        "mb_a_second": round(size / seconds["ours"], 1), "rows_a_second": round(rows / seconds["ours"]),
        "times_unpack": round(seconds["ours"] / seconds["unpack"], 2),
        "times_regex": round(seconds["ours"] / seconds["regex"], 2),
        "calc_table": f"{TABLE_ROWS / rows * seconds['ours']:.0f} s",
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        print(json.dumps(work(args.work[0], Path(args.work[1]))))
    else:
        with tempfile.TemporaryDirectory() as name:
            print(json.dumps(measure(Path(name), args.rows, args.repeats)))


if __name__ == "__main__":
    main()
