"""Pairs mined from a knowledge base, aligned sections, words' vectors, and windows of questions and paragraphs."""

import csv
import random
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from tests.speed.table import same, speed

PAGES = 6_500_000  # numbers that candidates are drawn from: those of English pages
WORDS, SENTENCE = 20_000, 20  # of the vocabulary; of a sentence


# --- the sample of candidates -----------------------------------------------------------------------------------------
def candidate_batches(count: int, batch: int = 1 << 16) -> Iterator:
    """Batches of sentences of two pages, as the join of links gives them."""
    from stele.pairs.mining.knowledge import Candidates, pack

    rng = np.random.default_rng(0)
    for begin in range(0, count, batch):
        size = min(batch, count - begin)
        yield Candidates(*(pack(0, rng.integers(0, PAGES, size), rng.integers(0, 60, size)) for _ in range(2)))


@speed(
    {"DuckDB, ORDER BY and LIMIT": 0.5, "numpy, one sort in memory": 0.5},
    size={"count": 20_000_000, "most": 2_000_000},
    tiny={"count": 200_000, "most": 300},
)
def sample_of_candidates(folder, count, most):
    """The candidates of lowest hash: ours hashes and reads batches, the peers are given all hashes at once."""
    import pyarrow as pa

    from stele.pairs.mining.knowledge import hashed, sample

    made = list(candidate_batches(count))
    columns = [np.concatenate(column) for column in zip(*made, strict=True)]
    names, hashes = ["hash", "query", "passage"], np.concatenate([hashed(batch, 5) for batch in made])
    table = pa.table([hashes, *columns], names=names)

    def by_duckdb():
        import duckdb

        connection = duckdb.connect(":memory:", config={"threads": 1})
        connection.register("candidates", table)
        query = f"SELECT query, passage FROM candidates ORDER BY hash, query, passage LIMIT {most}"
        drawn = connection.sql(query).fetchnumpy()
        return drawn["query"], drawn["passage"]

    def by_numpy():
        order = np.lexsort((columns[1], columns[0], hashes))[:most]
        return columns[0][order], columns[1][order]

    equal = lambda a, b: all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))  # noqa: E731
    return lambda: sample(iter(made), 5, most)[0], [by_duckdb, by_numpy], equal


# --- the texts of drawn pairs -----------------------------------------------------------------------------------------
def write_documents(folder: Path, pages: int) -> tuple[Path, np.ndarray]:
    """A corpus of pages of 4 to 40 sentences; its record and the numbers of sentences, int64 [pages]."""
    from stele.artifacts import records
    from stele.artifacts.documents import Document, DocumentWriter, Section

    rng = np.random.default_rng(0)
    vocabulary = ["".join(map(chr, 97 + rng.integers(0, 26, rng.integers(2, 10)))) for _ in range(WORDS)]
    sizes = rng.integers(4, 40, pages)
    with DocumentWriter(folder) as writer:
        for number, size in enumerate(sizes.tolist()):
            words = [vocabulary[i] for i in (rng.zipf(1.2, size * SENTENCE) % WORDS).tolist()]
            sentences = [" ".join(words[i : i + SENTENCE]) + "." for i in range(0, len(words), SENTENCE)]
            sections = tuple(Section("section", first) for first in range(0, size, 7))
            writer.add(Document("en", str(number), sentences, [0], f"Page {number}", sections=sections))
    records.write_record(folder / "record.json", job="made", inputs={}, **writer.counts)
    return folder / "record.json", sizes


@speed(
    {"reading the documents and writing the pairs, by pyarrow alone": 0.2},
    size={"pages": 20_000, "pairs": 300_000},
    tiny={"pages": 50, "pairs": 400},
)
def texts_of_pairs(folder, pages, pairs):
    """Pages to texts to pairs.parquet."""
    import pyarrow.parquet as pq

    from stele.artifacts.documents import read_batches
    from stele.pairs.knowledge_pairs import Spool, fetch, kept, write
    from stele.pairs.methods import ilk
    from stele.pairs.mining.knowledge import Candidates, pack
    from stele.recipes.mining import IlkRecipe

    (folder / "documents").mkdir()
    source, sizes = write_documents(folder / "documents", pages)
    rng = np.random.default_rng(1)
    drawn_pages = [rng.integers(0, pages, pairs) for _ in range(2)]
    drawn = Candidates(*(pack(0, page, rng.integers(0, sizes[page])) for page in drawn_pages))
    recipe, target, rounds = IlkRecipe(max_pairs=None), folder / "pairs.parquet", Counter()

    def ours():
        rounds["ours"] += 1
        with Spool(folder / f"texts{rounds['ours']}", pairs) as spool:
            fetch(spool, 0, [source], ilk, recipe, 5, drawn)
            return write(target, ["en"], drawn, kept(spool.pairs(), recipe, Counter()))

    def floor():
        for batch in read_batches(source, ["sentences", "sections"]):
            batch.column("sentences").to_pylist()
        table = pq.read_table(target)
        pq.write_table(table, folder / "again.parquet", compression="zstd", use_dictionary=False)
        return len(table)

    return ours, [floor], same


# --- words' vectors ---------------------------------------------------------------------------------------------------
@speed(
    {"pandas' C parser": 2.0, "the reader of facebookresearch/MUSE": 5.0}, size={"words": 200_000}, tiny={"words": 2000}
)
def vectors_of_words(folder, words):
    """A twentieth of a file's words, of 300 numbers each; the peers parse every line."""
    import pandas as pd

    from stele.encoders.word_vectors import read_word_vectors

    path, rng, names = folder / "wiki.xx.align.vec", np.random.default_rng(0), [f"w{n}" for n in range(words)]
    rows = [" ".join(f"{x:.4f}" for x in rng.normal(0, 0.06, 300)) for _ in range(min(words, 1000))]
    with open(path, "w") as handle:
        handle.write(f"{words} 300\n")
        handle.writelines(f"{name} {rows[n % len(rows)]}\n" for n, name in enumerate(names))
    wanted = names[::20]

    def by_pandas():
        options = {"quoting": csv.QUOTE_NONE, "na_filter": False, "dtype": {0: str}}
        table = pd.read_csv(path, sep=" ", header=None, skiprows=1, index_col=0, **options)
        return table.loc[wanted].to_numpy(np.float32)

    def by_muse():  # src/utils.py, read_txt_embeddings
        places, vectors = {}, []
        with open(path, encoding="utf-8", newline="\n", errors="ignore") as handle:
            next(handle)
            for line in handle:
                word, numbers = line.rstrip().split(" ", 1)
                places[word] = len(vectors)
                vectors.append(np.fromstring(numbers, sep=" ", dtype=np.float32))
        return np.stack([vectors[places[word]] for word in wanted])

    return lambda: read_word_vectors(path, wanted).vectors, [by_pandas, by_muse], np.allclose


# --- alignment of sections --------------------------------------------------------------------------------------------
HEADINGS, SECTIONS = 20_000, 12  # different headings of a language; of a page, at most


def sections_of(pages: int, seed: int):
    """The sections of as many pages, with frequent headings and rare ones, as Wikipedia's are."""
    from stele.encoders.word_vectors import WordVectors
    from stele.pairs.methods.section import Headings, HeadingVectors, Sections

    rng = np.random.default_rng(seed)
    each = rng.integers(0, SECTIONS + 1, pages)
    page = np.repeat(np.arange(pages, dtype=np.int32), each)
    place = np.arange(len(page)) - np.repeat(np.cumsum(each) - each, each)
    heading = ((rng.zipf(1.3, len(page)) - 1) % HEADINGS).astype(np.int32)
    size = rng.integers(1, 30, len(page)).astype(np.int32)
    shared = np.random.default_rng(1).normal(size=(HEADINGS, 300))  # of the meanings, the same in all languages
    vectors = (shared + 0.6 * rng.normal(size=(HEADINGS, 300))).astype(np.float32)
    names = [f"w{n}" for n in range(HEADINGS)]
    words = WordVectors({name: n for n, name in enumerate(names)}, vectors, {})
    headings = Headings(page, place.astype(np.int32), size, heading, names)
    return Sections(headings, HeadingVectors([[name] for name in names], words))


@speed({"page by page, a matrix of cosines each": 5.0}, size={"pages": 100_000}, tiny={"pages": 400})
def alignment_of_sections(folder, pages):
    """Headings to matched sections; the highest cosine first, then what is left without its row and column."""
    from stele.pairs.methods.section import matches
    from stele.pairs.mining.knowledge import unpack
    from stele.recipes.mining import SectionRecipe

    sides, numbers = [sections_of(pages, seed) for seed in (2, 3)], np.arange(pages)
    base = SimpleNamespace(  # all pages have an entity that the other language has, too
        by_entity=(numbers, numbers.astype(np.int32)),
        pages_of=lambda entities: (np.arange(len(entities)), entities.astype(np.int32)),
    )

    def ours():
        made = []
        for some in matches([base, base], sides, SectionRecipe(), Counter()):
            (_, page, place), (_, _, other) = unpack(some.first), unpack(some.second)
            made += zip(page.tolist(), place.tolist(), other.tolist(), strict=True)
        return sorted(made)

    def page_by_page():
        made, rows = [], [np.searchsorted(side.headings.page, np.arange(pages + 1)) for side in sides]
        for page in range(pages):
            spans = [slice(bounds[page], bounds[page + 1]) for bounds in rows]
            if any(span.start == span.stop for span in spans):
                continue
            of_sides = list(zip(sides, spans, strict=True))
            left, right = (side.vectors.of(side.headings.heading[span]) for side, span in of_sides)
            sizes = [side.headings.size[span] for side, span in of_sides]
            cosines = (left @ right.T).round(6)
            while cosines.max() > 0.3:
                i, j = np.unravel_index(cosines.argmax(), cosines.shape)
                if min(sizes[0][i], sizes[1][j]) >= 5:
                    made.append((page, int(i), int(j)))
                cosines[i], cosines[:, j] = -2, -2
        return sorted(made)

    return ours, [page_by_page], same


# --- questions and paragraphs -----------------------------------------------------------------------------------------
@speed({"transformers' tokenizer with overflow": 2.0}, size={"paragraphs": 400}, tiny={"paragraphs": 4})
def windows_of_paragraphs(folder, paragraphs):
    """Windows of 256 tokens of five questions with each paragraph, with the characters of each token."""
    from tiny_models import TEXTS, subword_tokenizer

    from stele.answering.reading.windows import make_windows
    from stele.benchmarks.types import SpanQuestion
    from stele.recipes.finetuning import AnsweringRecipe

    draws, vocabulary, tokenizer = random.Random(0), " ".join(TEXTS).split(), subword_tokenizer()
    texts = [" ".join(draws.choices(vocabulary, k=400)) for _ in range(paragraphs)]
    question, shared = "who wrote the first novel", 64
    tokens = len(tokenizer(question, add_special_tokens=False)["input_ids"])
    values = {"training_set": "squad2", "batch": 16, "learning_rate": 1e-5, "length": 256}
    recipe = AnsweringRecipe(**values, stride=256 - tokens - 4 - shared)  # ours is the step, theirs the overlap
    items = [SpanQuestion(f"{n}-{m}", question, text, []) for n, text in enumerate(texts) for m in range(5)]

    def ours():
        windows = make_windows(tokenizer, items, recipe, segments=False)
        return [windows.tokens.ids[a:b].tolist() for a, b in pairwise(windows.tokens.offsets)]

    def theirs():
        asked, contexts = [item.question for item in items], [item.context for item in items]
        options = {"return_overflowing_tokens": True, "return_offsets_mapping": True, "max_length": 256}
        return tokenizer(asked, contexts, truncation="only_second", stride=shared, **options)["input_ids"]

    return ours, [theirs], same
