"""Speed of section pairs: reading words' vectors, and aligning the sections of pages by their headings.

    python tests/speed/bench_section_pairs.py            # 200,000 words of 300 numbers; 100,000 pages in two languages

vectors    a twentieth of a file's words, against two peers that parse every line: pandas (its C parser) and the reader
           of facebookresearch/MUSE (src/utils.py, read_txt_embeddings), rewritten here. All have the same numbers.
alignment  headings to matched sections, against a peer that goes page by page: a matrix of cosines (numpy), then its
           highest entry and what is left without its row and column, again and again. Both find the same.

Prints a line of JSON: CPU seconds of each, the ratios peer / ours, MB and pages a second, and the memory that the
process has taken at most after each part.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

SOURCE = Path(__file__).resolve().parents[2] / "src"
sys.path.insert(0, str(SOURCE))
WANTED = 20  # one word in so many
HEADINGS, SECTIONS = 20_000, 12  # different headings of a language; of a page, at most


def timed(function, *given) -> tuple[float, Any]:
    begin = time.process_time()
    made = function(*given)
    return time.process_time() - begin, made


def peak() -> int:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


# --- vectors ---
def write_vectors(path: Path, words: int, width: int) -> list[str]:
    rng = np.random.default_rng(0)
    names = [f"w{n}" for n in range(words)]
    rows = [" ".join(f"{x:.4f}" for x in rng.normal(0, 0.06, width)) for _ in range(min(words, 1000))]
    with open(path, "w") as handle:
        handle.write(f"{words} {width}\n")
        handle.writelines(f"{name} {rows[n % len(rows)]}\n" for n, name in enumerate(names))
    return names


def by_pandas(path: Path, wanted: list[str]) -> np.ndarray:
    table = pd.read_csv(
        path, sep=" ", header=None, skiprows=1, index_col=0, quoting=csv.QUOTE_NONE, na_filter=False, dtype={0: str}
    )
    return table.loc[wanted].to_numpy(np.float32)


def by_muse(path: Path, wanted: list[str]) -> np.ndarray:
    words, vectors = {}, []
    with open(path, encoding="utf-8", newline="\n", errors="ignore") as handle:
        next(handle)
        for line in handle:
            word, numbers = line.rstrip().split(" ", 1)
            words[word] = len(vectors)
            vectors.append(np.fromstring(numbers, sep=" ", dtype=np.float32))
    return np.stack([vectors[words[word]] for word in wanted])


def measure_vectors(words: int, width: int = 300) -> dict[str, Any]:
    from stele.encoders.word_vectors import read_word_vectors

    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "wiki.xx.align.vec"
        wanted = write_vectors(path, words, width)[::WANTED]
        seconds, ours = timed(read_word_vectors, path, wanted)
        memory, size = peak(), path.stat().st_size
        peers = {name: timed(peer, path, wanted) for name, peer in (("pandas", by_pandas), ("muse", by_muse))}
    for name, (_, vectors) in peers.items():
        if not (list(ours.words) == wanted and np.allclose(vectors, ours.vectors)):
            raise SystemExit(f"{name} reads other vectors")
    return {
        "seconds": {"ours": seconds} | {name: one for name, (one, _) in peers.items()},
        "ratio": {name: one / seconds for name, (one, _) in peers.items()},
        "mb_per_second": size / 1e6 / seconds,
        "peak_memory_mb": memory,
    }


# --- alignment ---
def sections_of(pages: int, seed: int, width: int = 300):
    """The sections of as many pages, with frequent headings and rare ones, as Wikipedia's are."""
    from stele.encoders.word_vectors import WordVectors
    from stele.pairs.methods.section import Headings, HeadingVectors

    rng = np.random.default_rng(seed)
    each = rng.integers(0, SECTIONS + 1, pages)
    page = np.repeat(np.arange(pages, dtype=np.int32), each)
    place = np.arange(len(page)) - np.repeat(np.cumsum(each) - each, each)
    heading = ((rng.zipf(1.3, len(page)) - 1) % HEADINGS).astype(np.int32)
    size = rng.integers(1, 30, len(page)).astype(np.int32)
    shared = np.random.default_rng(1).normal(size=(HEADINGS, width))  # of the meanings, the same in all languages
    vectors = (shared + 0.6 * rng.normal(size=(HEADINGS, width))).astype(np.float32)
    names = [f"w{n}" for n in range(HEADINGS)]
    words = WordVectors({name: n for n, name in enumerate(names)}, vectors, {})
    headings = Headings(page, place.astype(np.int32), size, heading, names)
    return headings, HeadingVectors([[name] for name in names], words)


def bases(pages: int) -> list:
    """Two languages, of whose pages all have an entity that the other has, too."""
    numbers = np.arange(pages)

    def pages_of(entities):
        return np.arange(len(entities)), entities.astype(np.int32)

    return [SimpleNamespace(by_entity=(numbers, numbers.astype(np.int32)), pages_of=pages_of) for _ in range(2)]


def ours(pages: int, sides: list) -> list[tuple[int, int, int]]:
    from stele.pairs.methods.section import matches
    from stele.pairs.mining.knowledge import unpack
    from stele.recipes.mining import SectionRecipe

    made = []
    for some in matches(bases(pages), sides, SectionRecipe(), Counter()):
        (_, page, place), (_, _, other) = unpack(some.first), unpack(some.second)
        made += zip(page.tolist(), place.tolist(), other.tolist(), strict=True)
    return made


def page_by_page(pages: int, sides: list) -> list[tuple[int, int, int]]:
    made = []
    rows = [np.searchsorted(side.headings.page, np.arange(pages + 1)) for side in sides]
    for page in range(pages):
        (a, b), (c, d) = ((bounds[page], bounds[page + 1]) for bounds in rows)
        if a == b or c == d:
            continue
        left, right = (
            side.vectors.of(side.headings.heading[begin:end])
            for side, begin, end in zip(sides, (a, c), (b, d), strict=True)
        )
        cosines = (left @ right.T).round(6)
        while cosines.max() > 0.3:
            i, j = np.unravel_index(cosines.argmax(), cosines.shape)
            if min(sides[0].headings.size[a + i], sides[1].headings.size[c + j]) >= 5:
                made.append((page, int(i), int(j)))
            cosines[i], cosines[:, j] = -2, -2
    return made


def measure_alignment(pages: int) -> dict[str, Any]:
    from stele.pairs.methods.section import Sections

    sides = [Sections(*sections_of(pages, seed)) for seed in (2, 3)]
    seconds, made = timed(ours, pages, sides)
    memory = peak()
    peer, others = timed(page_by_page, pages, sides)
    if sorted(made) != sorted(others):
        raise SystemExit("the peer matches others")
    return {
        "pairs": len(made),
        "seconds": {"ours": seconds, "page_by_page": peer},
        "ratio": {"page_by_page": peer / seconds},
        "pages_per_second": pages / seconds,
        "peak_memory_mb": memory,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=200_000)
    parser.add_argument("--pages", type=int, default=100_000)
    args = parser.parse_args()
    print(json.dumps({"alignment": measure_alignment(args.pages), "vectors": measure_vectors(args.words)}))


if __name__ == "__main__":
    main()
