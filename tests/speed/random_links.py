"""Files of random links for the benchmark of knowledge bases: by number, and as titles."""

from pathlib import Path

import numpy as np

ANSWERED, MISSED = 0.15, 0.05  # share of links that a link back answers; of titles that no page has
SENTENCES = 50  # of a page


def make_links(path: Path, links: int, seed: int = 0) -> None:
    """links.parquet of a knowledge base: distinct, ascending, none to the page itself."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from stele.artifacts.knowledge_base import LINKS_SCHEMA

    rng, pages = np.random.default_rng(seed), max(links // 30, 4)
    half = links // 2
    page, target = rng.integers(0, pages, half), popular(rng, pages, half)
    back = rng.random(half) < 2 * ANSWERED
    others = links - half - int(back.sum())
    page, target = (
        np.concatenate([page, target[back], rng.integers(0, pages, others)]),
        np.concatenate([target, page[back], rng.integers(0, pages, others)]),
    )
    sentence = rng.integers(0, SENTENCES, links)
    keys = np.unique((page << 38) | (sentence << 27) | target)
    page, sentence, target = keys >> 38, (keys >> 27) & 2047, keys & ((1 << 27) - 1)
    kept = page != target
    columns = [pa.array(column[kept].astype(np.int32)) for column in (page, sentence, target)]
    pq.write_table(pa.table(columns, schema=LINKS_SCHEMA), path, compression="zstd", use_dictionary=False)


def popular(rng: np.random.Generator, among: int, size: int) -> np.ndarray:
    """Numbers below `among`, some of them very often: Zipf's law."""
    return np.exp(rng.random(size) * np.log(among)).astype(np.int64) - 1


def make_titles(folder: Path, links: int, titles: int, seed: int = 0) -> None:
    """pages, redirects and links as text, in the layouts that stele.corpora.dumps.resolve_titles reads."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from stele.corpora.dumps.resolve_titles import LINK_ROWS, PAGE_ROWS, REDIRECT_ROWS

    rng = np.random.default_rng(seed)
    names = pa.array([f"{n * 7919 % titles:x} of {'Saint ' * (n % 3)}Page{n % 97}, {n}" for n in range(titles)])
    pages = max(titles * 2 // 3, 1)
    numbers = np.arange(pages, dtype=np.int32)
    table = [numbers, pa.array(map(str, range(pages))), names[:pages], np.full(pages, SENTENCES, np.int32)]
    pq.write_table(pa.table(table, schema=PAGE_ROWS), folder / "pages.parquet")
    ends = names.take(pa.array(rng.integers(0, titles, titles - pages)))
    table = [np.arange(titles - pages), names[pages:], ends]
    pq.write_table(pa.table(table, schema=REDIRECT_ROWS), folder / "redirects.parquet")
    shuffled, each = rng.permutation(titles), 1 << 20
    with pq.ParquetWriter(folder / "text.parquet", LINK_ROWS, compression="zstd") as writer:
        for first in range(0, links, each):
            size = min(each, links - first)
            page = (np.arange(first, first + size) * pages // links).astype(np.int32)
            wanted = shuffled[popular(rng, titles, size)]
            missed = np.flatnonzero(rng.random(size) < MISSED)
            targets = names.take(pa.array(wanted)).to_numpy(zero_copy_only=False)
            targets[missed] = [f"No page {n}" for n in wanted[missed]]
            rows = [page, rng.integers(0, SENTENCES, size).astype(np.int32), pa.array(targets, pa.string())]
            writer.write_table(pa.table(rows, schema=LINK_ROWS))
