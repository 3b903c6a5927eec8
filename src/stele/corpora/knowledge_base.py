"""Build a Wikipedia's knowledge base from its Documents: pages with their entities, and links between page numbers.

Link targets are resolved to pages, through redirects if necessary; a page gets the Wikidata item that has its title or
the title of a redirect to it. Unresolved links are counted by reason. Layout: stele.artifacts.knowledge_base.
"""

import logging
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from stele import progress
from stele.artifacts import records
from stele.artifacts.documents import read_batches
from stele.artifacts.knowledge_base import ENTITIES_SCHEMA, LEAST_MB, LINKS, LINKS_SCHEMA, PAGES, PAGES_SCHEMA, database
from stele.command.arguments import Job, NewRecord, Record, Some, record_of
from stele.corpora.dumps import resolve_titles
from stele.corpora.wikitext.titles import Site
from stele.errors import SteleError, unknown
from stele.files.reading import reading

log = logging.getLogger(__name__)

JOB = "corpora knowledge_base"
BATCH = 1 << 16  # rows that are read at a time
GROUP = 1 << 20  # rows of a row group on disk
REDIRECTS = "redirects.parquet"
RESERVED_MB = 800  # not given to DuckDB: for Python, batches, memory that DuckDB does not count, 25 bytes per redirect


class KnowledgeBase(Job):
    language: str
    """Language code of the documents."""
    wiki: str
    """The wiki's name in Wikidata's table, e.g. enwiki."""
    documents: Some[Path]
    """Records of all shards of the wiki's documents, in order."""
    page_entities: Record
    """record.json of `corpora page_entities`."""
    memory_mb: int
    """Memory of the job in MB; joins that need more use the disk."""
    threads: int
    """CPU threads of the joins."""
    output: Annotated[NewRecord, record_of(JOB)]


def run(args: KnowledgeBase) -> None:
    """Writes pages.parquet and links.parquet. Raises SteleError if the input is damaged."""
    if args.memory_mb < (least := RESERVED_MB + LEAST_MB):
        raise SteleError(f"--memory-mb {args.memory_mb}: want at least {least} MB")
    shards = [records.read_record(path) for path in args.documents]
    check_shards(shards, args.documents, args.language)
    entities = entities_path(args.page_entities, args.wiki)
    site = Site(args.language, all(shard["first_letter"] for shard in shards))
    total = sum(shard.get("documents", 0) for shard in shards)
    inputs = {f"documents:{n}": path for n, path in enumerate(args.documents, 1)}
    inputs["page_entities"] = args.page_entities
    memory = args.memory_mb - RESERVED_MB
    with records.output_folder(args.output, JOB, inputs) as (folder, facts):
        with database(memory, args.threads, folder / "spill", f"knowledge base {args.language}") as connection:
            counts = build(connection, folder, args.documents, entities, site, total)
        facts.update(language=args.language, wiki=args.wiki, **counts)
    log.info("knowledge_base %s: %s", args.language, counts)
    if not counts["pages_with_entity"]:
        log.warning("%s: none of %d pages has an entity in %s", args.language, counts["pages"], entities)


def build(connection, folder: Path, documents: list[Path], entities: Path, site: Site, total: int) -> dict:
    """Writes pages.parquet and links.parquet into `folder`. Returns the counts for the record."""
    with progress.bar(total, f"pages {site.language}", "doc") as bar:
        counts = resolve_titles.load_pages(connection, page_batches(documents, site, bar.update))
    counts |= resolve_titles.load_redirects(connection, redirect_batches(documents))
    counts |= resolve_titles.find_entities(connection, entity_batches(entities, site), ENTITIES_SCHEMA)
    write_rows(resolve_titles.pages_in_order(connection, BATCH), folder / PAGES, PAGES_SCHEMA)
    with progress.bar(total, f"links {site.language}", "doc") as bar:
        links = resolve_titles.resolve_links(connection, link_batches(documents, bar.update))
    written = write_rows(distinct(resolve_titles.links_in_order(connection, BATCH)), folder / LINKS, LINKS_SCHEMA)
    links["repeated"] = links["direct"] + links["redirected"] - links["to_itself"] - written
    return {**counts, "links": {**links, "kept": written}}


def check_shards(shards: list[dict], paths: list[Path], language: str) -> None:
    """Raises SteleError unless the shards are all those of one Wikipedia, in order: pages are numbered through them."""
    for number, (shard, path) in enumerate(zip(shards, paths, strict=True), 1):
        want = {"corpus": "wikipedia", "language": language, "shard": f"{number}/{len(paths)}"}
        for key, value in want.items():
            if shard.get(key) != value:
                raise SteleError(f"{path}: found {key} {shard.get(key)!r}, want {value!r} as document record {number}")


def entities_path(record: Path, wiki: str) -> Path:
    """Path of a wiki's file beside the record of `page_entities`. Raises SteleError if the record lacks the wiki."""
    wikis = records.read_record(record).get("wikis", {})
    if wiki not in wikis:
        raise unknown("wiki", wiki, wikis, f"{record}: --wiki")
    return record.parent / f"{wiki}.parquet"


def page_batches(documents: Iterable[Path], site: Site, seen) -> Iterator[pa.RecordBatch]:
    """Yields the pages in batches of resolve_titles.PAGE_ROWS, with titles in normal form."""
    first = 0
    for batch in chain.from_iterable(read_batches(path, ["doc_id", "title", "sentences"]) for path in documents):
        columns = [
            pa.array(np.arange(first, first + len(batch), dtype=np.int32)),
            batch.column("doc_id"),
            normal(batch.column("title"), site),
            pc.list_value_length(batch.column("sentences")),
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=resolve_titles.PAGE_ROWS)
        first += len(batch)
        seen(len(batch))


def link_batches(documents: Iterable[Path], seen) -> Iterator[pa.RecordBatch]:
    """Yields the links in batches of resolve_titles.LINK_ROWS, in the order of the documents."""
    first = 0
    columns = ["links.list.element.sentence", "links.list.element.target"]
    for batch in chain.from_iterable(read_batches(path, columns) for path in documents):
        links = batch.column("links")
        pages = pc.list_parent_indices(links).to_numpy().astype(np.int32) + np.int32(first)
        flat = links.flatten()
        yield pa.RecordBatch.from_arrays(
            [pa.array(pages), flat.field("sentence"), flat.field("target")], schema=resolve_titles.LINK_ROWS
        )
        first += len(batch)
        seen(len(batch))


def redirect_batches(documents: Iterable[Path]) -> Iterator[pa.RecordBatch]:
    """Yields the redirects in batches of resolve_titles.REDIRECT_ROWS, in the order of the dump."""
    first = 0
    for record in documents:
        for batch in _rows(record.parent / REDIRECTS, ("title", "target")):
            numbers = pa.array(np.arange(first, first + len(batch)))
            yield pa.RecordBatch.from_arrays([numbers, *batch.columns], schema=resolve_titles.REDIRECT_ROWS)
            first += len(batch)


def entity_batches(path: Path, site: Site) -> Iterator[pa.RecordBatch]:
    """Yields titles and their entities in batches of ENTITIES_SCHEMA, with titles in the wiki's normal form."""
    for batch in _rows(path, tuple(ENTITIES_SCHEMA.names)):
        columns = [normal(batch.column("title"), site), batch.column("entity")]
        yield pa.RecordBatch.from_arrays(columns, schema=ENTITIES_SCHEMA)


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
    with reading(path, "Parquet file", "delete its folder and build it again"), pq.ParquetFile(path) as file:
        yield from file.iter_batches(BATCH, columns=list(columns))


def normal(titles: pa.Array, site: Site) -> pa.Array:
    """Converts titles to the normal form of link targets (`titles.Site.normalise`)."""
    return pa.array([site.normalise(title) for title in titles.to_pylist()], pa.string())


def distinct(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Drops repeated rows from sorted batches of numbers, also across batches."""
    before: tuple | None = None
    for batch in batches:
        if not len(batch):
            continue
        columns = [column.to_numpy() for column in batch.columns]
        new = np.zeros(len(batch), bool)
        new[0] = before != tuple(column[0] for column in columns)
        for column in columns:
            new[1:] |= column[1:] != column[:-1]
        before = tuple(column[-1] for column in columns)
        yield batch if new.all() else batch.filter(pa.array(new))


def write_rows(batches: Iterable[pa.RecordBatch], path: Path, schema: pa.Schema, group: int = GROUP) -> int:
    """Writes rows in groups of equal size, so that the bytes do not depend on the batches. Returns their number."""
    rows, batches_held = 0, []
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=False) as writer:
        for batch in batches:
            batches_held.append(batch.cast(schema))
            rows += len(batch)
            if sum(map(len, batches_held)) >= group:
                table = pa.Table.from_batches(batches_held)
                writer.write_table(table.slice(0, group).combine_chunks(), row_group_size=group)
                batches_held = table.slice(group).to_batches()
        if batches_held:
            writer.write_table(pa.Table.from_batches(batches_held).combine_chunks(), row_group_size=group)
    return rows
