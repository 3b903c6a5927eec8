"""Mine a knowledge base for text pairs by one method: ILK, CLK and the other methods of KEPT (sections 3.3 and 4.7).

Writes pairs.parquet (query, passage: string; query_language, passage_language: string; query_page, passage_page:
int32, the pages' numbers in the knowledge base) and its record. The seed draws the order of the rows, and `max_pairs`
keeps the first of them, so a smaller set is a subset of a larger one. A part is one language ("en") or two ("en-fr").

Candidates are sorted by their hashes, pages by their position in the corpus. Each needed page is read once: its texts
go to files on disk, one for each bucket of consecutive candidates; then the buckets are read one by one, so that
memory is bounded.
"""

from __future__ import annotations

import logging
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from stele import progress
from stele.artifacts import records
from stele.artifacts.documents import read_chosen
from stele.command.arguments import NewRecord, record_of
from stele.files.digests import text_number
from stele.pairs.methods import KnowledgeMethod, load_method
from stele.pairs.mining import inputs
from stele.pairs.mining.knowledge import PAIRS, SKETCH, Candidates, Knowledge, bare, pair_hash, sample, sketch, unpack
from stele.pairs.mining.segments import Page
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
JOIN = 4  # the join of links gets a quarter of the job's memory; candidates and texts get the rest
OVERDRAW = 2  # candidates read for each wanted pair in the first round: some will be dropped


class KnowledgePairs(inputs.PartJob):
    output: Annotated[NewRecord, record_of(JOB)]
    memory_mb: int
    """Memory of the job in MB; the join of links gets a quarter of it."""
    threads: int = 1
    """CPU threads of the join of links."""


def run(args: KnowledgePairs) -> None:
    """Writes the pairs of one part. Raises SteleError if the recipe, the part and the inputs do not fit together."""
    method, recipe = load_method(args.recipe, KnowledgeMethod)
    part = inputs.parse(args, recipe.method, method.LANGUAGES)
    codes = part.languages
    with records.output_folder(args.output, JOB, part.records()) as (folder, record):
        work = folder / "work"
        work.mkdir()
        knowledge = [Knowledge(part.bases[code], args.memory_mb // JOIN, args.threads, work) for code in codes]
        key = derive(args.seed, recipe.method, args.part)
        documents = {code: part.documents[code] for code in codes}
        facts = mine(method, recipe, knowledge, documents, key, folder / PAIRS, work)
        pairs, candidates = facts["pairs"], facts["candidates"]
        shutil.rmtree(work)
        record.update(
            seed=args.seed,
            method=recipe.method,
            recipe=recipe.model_dump(exclude=OF_TOKENS),
            part=args.part,
            languages=codes,
            knowledge={code: base.counts for code, base in zip(codes, knowledge, strict=True)},
            **facts,
        )
    log.info("%s %s: %s", recipe.method, args.part, facts)
    if not pairs:
        log.warning("%s: no %s pair among %d candidates", args.part, recipe.method, candidates)


def mine(
    method: KnowledgeMethod,
    recipe: KnowledgeRecipe,
    knowledge: Sequence[Knowledge],
    documents: Mapping[str, Sequence[Path]],
    key: int,
    path: Path,
    work: Path,
) -> dict[str, Any]:
    """Writes the pairs to `path`. Counts the candidates, the pairs, and the candidates dropped before the last pair.

    If too few pairs are left, it draws twice as many candidates, beginning with the same ones: stub articles have a
    single passage, so that eight of nine CLK candidates may give no pair.
    """
    overdraw = OVERDRAW
    while True:
        most = recipe.max_pairs and overdraw * recipe.max_pairs
        drawn, candidates = sample(method.candidates(knowledge, recipe, key), derive(key, "order"), most)
        dropped: Counter[str] = Counter()
        with Spool(work / "texts", len(drawn.query)) as spool:
            for language, (code, sources) in enumerate(documents.items()):
                fetch(spool, language, sources, method, recipe, key, drawn, f"{recipe.method} pages of {code}")
            pairs = write(path, list(documents), drawn, kept(spool.pairs(), recipe, dropped))
        if pairs == recipe.max_pairs or len(drawn.query) == candidates:
            return {"candidates": candidates, "pairs": pairs, "dropped": dict(sorted(dropped.items()))}
        shutil.rmtree(work / "texts")
        overdraw *= 2


def write(path: Path, codes: Sequence[str], drawn: Candidates, pairs: Iterable[Pair]) -> int:
    """Writes the pairs (one row group for each BUCKET of them) and, beside them, their sketch; returns their number."""
    names = pa.array(codes, pa.string())
    total, pairs, hashes = 0, iter(pairs), sketch(())
    with pq.ParquetWriter(path, SCHEMA, compression="zstd", use_dictionary=SCHEMA.names[2:4]) as file:
        while block := list(islice(pairs, BUCKET)):
            rows, *texts, of_block = zip(*block, strict=True)
            columns = dict(zip(("query", "passage"), texts, strict=True))
            for side, segments in zip(("query", "passage"), drawn, strict=True):
                language, page, _ = unpack(segments[list(rows)])
                columns |= {f"{side}_language": names.take(pa.array(language)), f"{side}_page": page}
            file.write_table(pa.table(columns).select(SCHEMA.names).cast(SCHEMA))
            total += len(block)
            hashes = sketch(of_block, hashes)
    np.save(path.with_name(SKETCH), hashes)
    return total


BUCKET = 1 << 16  # least number of candidates in a bucket
BUCKETS = 256  # most buckets, each of them an open file
BUFFER = 1 << 25  # characters held back before they are written
_SCHEMA = pa.schema([("row", pa.int64()), ("side", pa.int8()), ("text", pa.string())])
Pair = tuple[int, str, str, int]  # number of a candidate, its query and passage, and their `pair_hash`


class Spool:
    """A store on disk for the candidates' texts, in buckets of consecutive candidates; used as a context manager."""

    def __init__(self, folder: Path, rows: int, bucket: int = BUCKET) -> None:
        self.folder, self.rows, self.bucket = folder, rows, max(bucket, -(-rows // BUCKETS))
        self._held: list[tuple[list, list, list]] = [([], [], []) for _ in range(-(-rows // self.bucket))]
        self._writers: dict[int, pa.RecordBatchStreamWriter] = {}
        self._size = 0

    def __enter__(self) -> Spool:
        self.folder.mkdir()
        return self

    def __exit__(self, *_: object) -> None:
        for writer in self._writers.values():
            writer.close()

    def add(self, row: int, side: int, text: str) -> None:
        rows, sides, texts = self._held[row // self.bucket]
        rows.append(row)
        sides.append(side)
        texts.append(text)
        self._size += len(text)
        if self._size >= BUFFER:
            self._flush()

    def _flush(self) -> None:
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        for number, held in enumerate(self._held):
            if not held[0]:
                continue
            if number not in self._writers:
                self._writers[number] = pa.ipc.new_stream(self._path(number), _SCHEMA, options=options)
            columns = [pa.array(column, field.type) for column, field in zip(held, _SCHEMA, strict=True)]
            self._writers[number].write_batch(pa.record_batch(columns, schema=_SCHEMA))
            self._held[number] = ([], [], [])
        self._size = 0

    def _path(self, number: int) -> str:
        return str(self.folder / f"{number:04d}.arrow")

    def pairs(self) -> Iterator[tuple[int, str | None, str | None]]:
        """Yields (candidate, query, passage) in the order of the candidates; None for a text that was not added."""
        self._flush()
        for writer in self._writers.values():
            writer.close()
        for number in range(len(self._held)):
            first = number * self.bucket
            texts: list[list[str | None]] = [[None] * min(self.bucket, self.rows - first) for _ in range(2)]
            if number in self._writers:
                with pa.OSFile(self._path(number)) as file:
                    for batch in pa.ipc.open_stream(file):
                        for row, side, text in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                            texts[side][row - first] = text
            yield from zip(range(first, first + len(texts[0])), *texts, strict=True)


def fetch(
    spool: Spool,
    language: int,
    sources: Sequence[Path],
    method: KnowledgeMethod,
    recipe: KnowledgeRecipe,
    key: int,
    drawn: Candidates,
    label: str = "",
) -> None:
    """Adds the texts of all candidates' segments in one language to the spool, from the documents in `sources`."""
    pages, places, rows, sides = _wanted(drawn, language)
    numbers, begins, sizes = np.unique(pages, return_index=True, return_counts=True)
    read = (method.query, method.passage)
    shown = progress.track(read_chosen(sources, numbers), len(numbers), label, "page")
    columns = (column.tolist() for column in (numbers, begins, begins + sizes))
    for number, begin, end, (sentences, sections) in zip(*columns, shown, strict=True):
        page = Page(sentences, sections, recipe.passage_words, (key, language, number))
        of_page = (column[begin:end].tolist() for column in (rows, sides, places))
        for row, side, place in zip(*of_page, strict=True):
            if (text := read[side](page, place, recipe)) is not None:
                spool.add(row, side, text)


def _wanted(drawn: Candidates, language: int) -> tuple[np.ndarray, ...]:
    """Segments in one language, ascending by page: the arrays (page, place, row, side), [n] each."""
    parts = []
    for side, segments in enumerate(drawn):
        languages, pages, places = unpack(segments)
        rows = np.flatnonzero(languages == language)
        parts.append((pages[rows], places[rows], rows, np.full(len(rows), side, np.int8)))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return tuple(column[order] for column in columns)


def kept(
    texts: Iterable[tuple[int, str | None, str | None]], recipe: KnowledgeRecipe, dropped: Counter[str]
) -> Iterator[Pair]:
    """Filters the pairs and yields at most `max_pairs`; counts in `dropped`, by reason, those it dropped on the way.

    The tests for duplicates and for a text that contains the other one ignore case and white space.
    """
    seen: set[int] = set()
    for row, query, passage in texts:
        if len(seen) == recipe.max_pairs:
            return
        if query is None or passage is None:
            dropped["fewer_passages"] += 1
        elif not (_has_text(query, recipe.min_characters) and _has_text(passage, recipe.min_characters)):
            dropped["near_empty"] += 1
        else:
            bare_query, bare_passage = bare(query), bare(passage)
            if bare_query in bare_passage or bare_passage in bare_query:
                dropped["contained"] += 1
                continue
            if (number := text_number(f"{bare_query} {bare_passage}")) in seen:
                dropped["duplicates"] += 1
                continue
            seen.add(number)
            yield row, query, passage, pair_hash(bare_query, bare_passage)


def _has_text(text: str, least: int) -> bool:
    """Whether a text has at least `least` letters or digits. Mostly its first words, or its beginning, suffice."""
    words = text[: 2 * least].replace(" ", "")[:least]
    if len(words) == least and words.isalnum():
        return True
    return any(sum(map(str.isalnum, part)) >= least for part in (text[: 4 * least], text))
