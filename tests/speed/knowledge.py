"""The joins of a knowledge base, and Wikidata's table of sitelinks."""

import gzip
import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from tests.speed.random_links import make_links, make_titles
from tests.speed.table import same, speed

# --- the knowledge base: each way gives columns, of which a digest is taken -------------------------------------------
PAGE_BITS, SENTENCE_BITS = 26, 11  # of 64; the last is the direction
Columns = Iterator[list[np.ndarray]]


def batches(path: Path) -> Iterator:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        yield from file.iter_batches(1 << 16)


def digest(columns: Iterable[list[np.ndarray]]) -> tuple[int, int]:
    """(rows, a digest of them that does not depend on their order)."""
    rows, total = 0, 0
    for batch in columns:
        mixed = np.zeros(len(batch[0]), np.uint64)
        for column in batch:  # a hash of each row: multiply, shift and add, as splitmix64 does
            mixed = (mixed + column.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
        rows, total = rows + len(mixed), (total + int(mixed.sum(dtype=np.uint64))) % (1 << 64)
    return rows, total


def symmetric_duckdb(links: Path) -> Columns:
    import duckdb

    table = f"read_parquet('{links}')"
    joined = duckdb.connect(config={"threads": 1}).sql(
        f"""
        SELECT a.page, a.sentence, b.page, b.sentence FROM {table} AS a JOIN {table} AS b
        ON a.page = b.target AND a.target = b.page WHERE a.page < b.page
        """
    )
    for batch in joined.to_arrow_reader(1 << 16):
        yield [column.to_numpy() for column in batch.columns]


def symmetric_numpy(links: Path) -> Columns:
    """Sorts lower page, higher page, direction, sentence as one number; both directions of two pages stand together."""
    import pyarrow.parquet as pq

    table = pq.read_table(links, use_threads=False)
    page, sentence, target = (table[name].to_numpy().astype(np.uint64) for name in ("page", "sentence", "target"))
    assert max(page.max(), target.max()) < 1 << PAGE_BITS and sentence.max() < 1 << SENTENCE_BITS
    down = page > target
    low, high = np.uint64(SENTENCE_BITS + 1 + PAGE_BITS), np.uint64(SENTENCE_BITS + 1)
    keys = (np.minimum(page, target) << low) | (np.maximum(page, target) << high)
    keys |= (down.astype(np.uint64) << np.uint64(SENTENCE_BITS)) | sentence
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


@speed(
    {"DuckDB's self-join, memory without limit": 0.77, "numpy, one sort in memory": 0.77},
    size={"links": 20_000_000, "memory": 2000},
    tiny={"links": 30_000, "memory": 200},
)
def symmetric_links(folder, links, memory):
    """Pairs of sentences that link to each other's pages: thirty links a page, some answered by a link back."""
    from stele.artifacts.knowledge_base import symmetric_pairs

    path = folder / "links.parquet"
    make_links(path, links)

    def ours():
        pairs = symmetric_pairs(path, memory, 1, folder / "spill")
        return digest([column.to_numpy() for column in batch.columns] for batch in pairs)

    return ours, [lambda: digest(symmetric_duckdb(path)), lambda: digest(symmetric_numpy(path))], same


def title_ends(folder: Path):
    """(titles as one array, the page that each leads to or -1)."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from stele.corpora.dumps.resolve_titles import follow

    titles = pq.read_table(folder / "pages.parquet", columns=["title"])["title"].combine_chunks()
    redirects = pq.read_table(folder / "redirects.parquet")
    ways, target = (redirects[name].combine_chunks() for name in ("title", "target"))
    page, following = (pc.index_in(target, names).fill_null(-1).to_numpy() for names in (titles, ways))
    ends, _ = follow(page.astype(np.int32), following.astype(np.int32))
    return pa.concat_arrays([titles, ways]), np.concatenate([np.arange(len(titles), dtype=np.int32), ends])


def distinct_links(page: np.ndarray, sentence: np.ndarray, target: np.ndarray) -> Columns:
    wanted = (target >= 0) & (target != page)
    keys = np.unique((page[wanted] << 38) | (sentence[wanted] << 27) | target[wanted])
    yield [part.astype(np.int32) for part in (keys >> 38, (keys >> 27) & 2047, keys & ((1 << 27) - 1))]


def titles_by(folder: Path, look_up) -> tuple[int, int]:
    import pyarrow.parquet as pq

    names, ends = title_ends(folder)
    table = pq.read_table(folder / "text.parquet", use_threads=False)
    page, sentence = (table.column(place).to_numpy().astype(np.int64) for place in (0, 1))
    return digest(distinct_links(page, sentence, look_up(names, ends, table["target"]).astype(np.int64)))


@speed(
    {"pyarrow's index_in, all in memory": 0.77, "a Python dict, all in memory": 1.0},
    size={"links": 20_000_000, "titles": 6_000_000, "memory": 2000},
    tiny={"links": 30_000, "titles": 3_000, "memory": 200},
)
def titles_to_pages(folder, links, titles, memory):
    """Targets of links as text to page numbers, sorted and distinct: Zipf's law, a third redirects, some no title."""
    from stele.artifacts.knowledge_base import database
    from stele.corpora.dumps import resolve_titles
    from stele.corpora.knowledge_base import BATCH, distinct

    make_titles(folder, links, titles)

    def ours():
        with database(memory, 1, folder / "spill", "titles") as connection:
            resolve_titles.load_pages(connection, batches(folder / "pages.parquet"))
            resolve_titles.load_redirects(connection, batches(folder / "redirects.parquet"))
            resolve_titles.resolve_links(connection, batches(folder / "text.parquet"))
            resolved = distinct(resolve_titles.links_in_order(connection, BATCH))
            return digest([column.to_numpy() for column in batch.columns] for batch in resolved)

    def by_pyarrow(names, ends, targets):
        import pyarrow.compute as pc

        return np.append(ends, np.int32(-1))[pc.index_in(targets, names).fill_null(-1).to_numpy()]

    def by_dict(names, ends, targets):
        known = dict(zip(names.to_pylist(), ends.tolist(), strict=True))
        return np.fromiter((known.get(title, -1) for title in targets.to_pylist()), np.int64, len(targets))

    return ours, [lambda: titles_by(folder, by_pyarrow), lambda: titles_by(folder, by_dict)], same


# --- Wikidata's table of sitelinks ------------------------------------------------------------------------------------
SITELINKS = "wikidatawiki-1-wb_items_per_site.sql.gz"
CODES = (
    *("ar", "bn", "da", "de", "en", "es", "fi", "fr", "he", "hu", "id", "it", "ja", "km"),
    *("ko", "ms", "nl", "no", "pl", "pt", "ru", "sv", "sw", "te", "th", "tr", "vi", "zh"),
)
WANTED = [f"{code}wiki" for code in CODES]
OTHERS = [f"x{n}wiki" for n in range(250)]  # with all the wanted ones, about as many sites as there are
TITLE_WORDS = ["Category", "List", "of", "St. John's", "São", "Кёльн", "東京", "(film)", "1998", '"x"', "AC\\DC"]


def make_sitelinks(path: Path, rows: int) -> None:
    """A table of random rows: large wikis often, small ones seldom, statements of a megabyte."""
    from stele_world.writers.dump import _quoted
    from stele_world.writers.library import filled, template

    rng, sites = random.Random(0), WANTED + OTHERS
    weights = [1 / (rank + 1) ** 0.8 for rank in range(len(sites))]
    rng.shuffle(sites)
    empty = filled(template("items_per_site.sql"), rows=(), rows_of_an_insert=1)
    head, unlock, tail = empty.partition("/*!40000 ALTER TABLE `wb_items_per_site` ENABLE KEYS")
    with gzip.open(path, "wb", 6) as file:
        file.write(head.encode())
        for first in range(0, rows, 16_000):
            values = []
            for n, site in enumerate(rng.choices(sites, weights, k=min(16_000, rows - first))):
                title = " ".join(rng.choices(TITLE_WORDS, k=rng.randint(1, 4))) + str(rng.randrange(10**5))
                values.append(f"({first + n},{rng.randrange(1, 115_000_000)},'{site}',{_quoted(title)})")
            file.write(f"INSERT INTO `wb_items_per_site` VALUES {','.join(values)};\n".encode())
        file.write((unlock + tail).encode())


@speed(
    {"one regular expression, rows in a list": 0.3, "unpacking alone": 0.1},
    size={"rows": 4_000_000},
    tiny={"rows": 20_000},
)
def sitelinks(folder, rows):
    """Rows of the wanted wikis: ours with the files that it writes."""
    make_sitelinks(folder / SITELINKS, rows)
    row = re.compile(rb"\(\d++,(\d++),'(" + "|".join(WANTED).encode() + rb")','((?:[^'\\]++|\\.)*+)'\)", re.DOTALL)

    def ours():
        import pyarrow.parquet as pq

        from stele.corpora.page_entities import write_entities

        write_entities(folder / SITELINKS, WANTED, folder)
        return sum(pq.read_metadata(folder / f"{wiki}.parquet").num_rows for wiki in WANTED)

    def regex():
        found = []
        with gzip.open(folder / SITELINKS) as file:
            for line in file:
                if line.startswith(b"INSERT"):
                    found += row.findall(line)
        return len(found)

    def unpacked():
        with gzip.open(folder / SITELINKS) as file:
            while file.read(1 << 20):
                pass

    return ours, [regex, unpacked], lambda a, b: b is None or a == b
