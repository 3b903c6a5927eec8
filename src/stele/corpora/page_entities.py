"""Split Wikidata's table of sitelinks into one file for each wiki, which maps page titles to Wikidata items.

Streams wb_items_per_site.sql.gz once and writes {wiki}.parquet for each named wiki, with the columns title (string) and
entity (int64, 5582 for Q5582), in the order of the table. Titles are those of the table, in MediaWiki's normal form.
All namespaces are kept, because categories and templates have items, too.
"""

import logging
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import pyarrow.parquet as pq

from stele import progress
from stele.artifacts import records
from stele.artifacts.knowledge_base import ENTITIES_SCHEMA
from stele.command.arguments import Job, NewRecord, Record, Some, record_of
from stele.corpora.dumps.sql_dump import TABLE, read_rows
from stele.errors import SteleError
from stele.files.reading import find_file

log = logging.getLogger(__name__)

JOB = "corpora page_entities"
FILES = (f"*{TABLE}*.sql.gz",)
PENDING = 1 << 20  # rows of all wikis that are collected before they are written


class PageEntities(Job):
    dataset: Record
    """record.json of the dataset wikidata_items."""
    wikis: Some[str]
    """Names of the wikis to extract, e.g. enwiki frwiki."""
    output: Annotated[NewRecord, record_of(JOB)]


def run(args: PageEntities) -> None:
    """Writes one file for each wiki. Raises SteleError if the table is damaged or another table."""
    wikis = list(dict.fromkeys(args.wikis))
    for wiki in wikis:
        if not re.fullmatch(r"\w+", wiki, re.ASCII):
            raise SteleError(f"--wikis {wiki}: not the name of a wiki's database; want e.g. enwiki or be_x_oldwiki")
    records.read_record(args.dataset)  # raises before the work starts
    path = find_file(args.dataset.parent, FILES, f"sitelinks, *{TABLE}.sql.gz")
    with records.output_folder(args.output, JOB, {"dataset": args.dataset}) as (folder, facts):
        rows, rows_by_wiki, dropped = write_entities(path, wikis, folder)
        facts.update(
            rows=rows,
            wikis=rows_by_wiki,
            dropped=dropped,
        )
    log.info("page_entities: %s", {"rows": rows, "wikis": rows_by_wiki, "dropped": dropped})
    for wiki in wikis:
        if not rows_by_wiki[wiki]:
            log.warning("%s: no item has a page of %s: its pages will be without entities", path, wiki)


def write_entities(
    path: Path, wikis: Sequence[str], folder: Path, pending: int = PENDING
) -> tuple[int, dict[str, int], dict[str, int]]:
    """Writes {wiki}.parquet for all wikis. Returns (rows in the table, rows kept by wiki, rows dropped by reason)."""
    rows, rows_by_wiki, dropped = 0, dict.fromkeys(wikis, 0), Counter()
    held: dict[str, tuple[list[str], list[int]]] = {wiki: ([], []) for wiki in wikis}  # titles, items
    with ExitStack() as stack:
        bar = stack.enter_context(progress.bar(path.stat().st_size, "page_entities", "B"))
        options = {"compression": "zstd", "use_dictionary": False}
        writers = {
            wiki: stack.enter_context(pq.ParquetWriter(folder / f"{wiki}.parquet", ENTITIES_SCHEMA, **options))
            for wiki in wikis
        }

        def write() -> None:
            for wiki, columns in held.items():
                if columns[0]:
                    writers[wiki].write_table(pa.table(list(columns), schema=ENTITIES_SCHEMA))
                    rows_by_wiki[wiki] += len(columns[0])
                    held[wiki] = [], []

        for in_block, wanted in read_rows(path, wikis, bar.update):
            rows += in_block
            for wiki, item, title in wanted:
                try:
                    held[wiki][0].append(title.decode().replace("_", " "))
                except UnicodeDecodeError:  # the column, of 310 bytes, allows a title that is cut; it names no page
                    dropped["not_utf8"] += 1
                else:
                    held[wiki][1].append(item)
            if sum(len(titles) for titles, _ in held.values()) >= pending:
                write()
        write()
    return rows, rows_by_wiki, dict(dropped)
