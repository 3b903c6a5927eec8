"""The way from a dump and Wikidata's table to a knowledge base, as the commands go it."""

import gzip
import json
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq

from stele.command import cli
from tests.sealed import write_sealed


def command(*arguments: object) -> None:
    assert cli.main(["corpora", *map(str, arguments)]) == 0


def table_of_items(folder: Path, sql: bytes) -> Path:
    """A dataset folder with the packed table; its record."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "wikidatawiki-20220801-wb_items_per_site.sql.gz").write_bytes(gzip.compress(sql))
    return write_sealed(folder / "record.json", {"job": "sources dataset", "labels": ["generated data"]})


def knowledge_base(
    place: Path, dump: Path, items: Path, *, language: str = "en", shards: int = 1, memory: int = 900, threads: int = 1
) -> SimpleNamespace:
    """Runs the three commands; the record, titles and entities by page, links as (title, sentence, title)."""
    documents = [place / f"documents/{n}/record.json" for n in range(1, shards + 1)]
    for n, record in enumerate(documents, 1):
        command("wikipedia", "--language", language, "--dataset", dump, "--shard", f"{n}/{shards}", "--output", record)
    wiki = f"{language}wiki"
    entities, output = place / "page_entities/record.json", place / "knowledge_base/record.json"
    command("page_entities", "--dataset", items, "--wikis", wiki, "--output", entities)
    command(
        "knowledge_base", "--language", language, "--wiki", wiki, "--documents", *documents,
        "--page-entities", entities, "--memory-mb", memory, "--threads", threads, "--output", output,
    )  # fmt: skip
    pages = pq.read_table(output.parent / "pages.parquet").to_pylist()
    links = pq.read_table(output.parent / "links.parquet").to_pylist()
    titles = [page["title"] for page in pages]
    assert [page["page"] for page in pages] == list(range(len(pages)))
    return SimpleNamespace(
        record=json.loads(output.read_text()),
        path=output,
        pages=pages,
        titles=titles,
        entities={page["title"]: page["entity"] for page in pages},
        links=[(titles[row["page"]], row["sentence"], titles[row["target"]]) for row in links],
        rows=[tuple(row.values()) for row in links],
    )
