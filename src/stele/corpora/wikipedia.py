"""Wikipedia dump to Documents: articles with sections, sentences and links; redirects and rejects apart.

One shard of a multistream dump, or a whole plain dump, a job. Kept are wikitext pages of the main namespace with a
sentence; redirects go to redirects.parquet (title -> target, both in normal form), pages that cannot be parsed to
rejects.jsonl.
"""

from __future__ import annotations

import argparse
import json
import logging
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from stele import outputs, progress, records
from stele.corpora.dumps import Page, find_dump, read_dump
from stele.corpora.sentences import split_sentences
from stele.corpora.titles import MAIN, Site
from stele.corpora.wikitext import PageText, extract
from stele.documents import Document, DocumentWriter, Link, Section
from stele.errors import SteleError

log = logging.getLogger(__name__)

REJECTS, REJECTED_SHARE = 10, 0.001  # a shard with more rejects than both fails


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--language", required=True, help="language code of the documents")
    parser.add_argument("--dataset", type=Path, required=True, help="record.json of the dataset")
    parser.add_argument("--shard", default="1/1", help="i/n: the i-th of n shards, from 1 (default: %(default)s)")
    parser.add_argument("--output", type=Path, required=True, help="record.json to write, beside the shards")
    parser.add_argument("--limit", type=int, help="take this many documents only")


def run(args: argparse.Namespace) -> None:
    """Writes the documents of one shard; raises SteleError for a damaged dump or too many rejects."""
    clock = records.start()
    if args.limit is not None and args.limit < 1:
        raise SteleError(f"--limit {args.limit}: want a number of documents, at least 1")
    shard, shards = parse_shard(args.shard)
    dump = find_dump(args.dataset.parent)
    counts: Counter[str] = Counter()
    rejects: list[dict[str, str]] = []
    redirects: list[tuple[str, str]] = []
    with outputs.atomic_directory(args.output.parent) as folder:
        with progress.bar(
            dump.articles.stat().st_size // shards, f"wikipedia {args.language} {args.shard}", "B"
        ) as bar:
            pages = read_dump(dump, shard, shards, bar.update)
            with DocumentWriter(folder) as writer:
                for document in islice(documents(pages, args.language, counts, rejects, redirects), args.limit):
                    writer.add(document)
        _refuse_rejects(rejects, writer.counts["documents"], dump.articles)
        _write_redirects(redirects, folder / "redirects.parquet")
        with outputs.atomic_file(folder / "rejects.jsonl") as handle:
            handle.writelines(json.dumps(reject, ensure_ascii=False, sort_keys=True) + "\n" for reject in rejects)
        records.write_record(
            folder / args.output.name,
            job="corpora wikipedia",
            inputs={"dataset": args.dataset},
            clock=clock,
            labels=[records.LIMITED] if args.limit is not None else [],
            corpus="wikipedia",
            language=args.language,
            shard=args.shard,
            **writer.counts,
            redirects=len(redirects),
            rejects=len(rejects),
            dropped=dict(counts),
            content=outputs.files_digest(folder),
        )
    log.info(
        "%s %s: %s", args.language, args.shard, {**writer.counts, "redirects": len(redirects), "dropped": dict(counts)}
    )


def parse_shard(text: str) -> tuple[int, int]:
    """(i, n) of "i/n" with 1 <= i <= n."""
    first, slash, last = text.partition("/")
    if not (slash and first.isdigit() and last.isdigit() and 1 <= int(first) <= int(last)):
        raise SteleError(f"--shard {text}: want i/n with i from 1 to n, for example 1/4")
    return int(first), int(last)


def documents(
    pages: Iterator[Site | Page],
    language: str,
    counts: Counter[str],
    rejects: list[dict[str, str]],
    redirects: list[tuple[str, str]],
) -> Iterator[Document]:
    """The articles of a dump; counts pages by what became of them, fills `rejects` and `redirects`."""
    site = Site()
    for page in pages:
        if isinstance(page, Site):
            site = page
            continue
        kind = _kind(page)
        if kind == "redirects":
            redirects.append((site.normalise(page.title), site.normalise(page.redirect or "")))
        elif kind != "articles":
            counts[kind] += 1
        else:
            try:
                document = to_document(page, extract(page.text, site), language)
            except Exception as error:  # one odd page must not stop a wiki; what it was is kept
                rejects.append({"title": page.title, "reason": f"{type(error).__name__}: {error}"})
                continue
            if document is None:
                counts["without_text"] += 1
            else:
                yield document


def _kind(page: Page) -> str:
    if page.namespace != MAIN:
        return "other_namespaces"
    if page.redirect is not None:
        return "redirects"
    return "articles" if page.model == "wikitext" else "other_models"


def to_document(page: Page, text: PageText, language: str) -> Document | None:
    """The Document of a page, links and sections moved to its sentences; None for a page without a sentence."""
    sentences: list[str] = []
    paragraphs: list[int] = []
    first_sentence: list[int] = []
    links: list[Link] = []
    cursor = 0
    for number, paragraph in enumerate(text.paragraphs):
        own = []
        while cursor < len(text.links) and text.links[cursor].paragraph == number:
            own.append(text.links[cursor])
            cursor += 1
        spans = split_sentences(paragraph, language, [(link.start, link.end) for link in own])
        first_sentence.append(len(sentences))
        if not spans:
            continue
        paragraphs.append(len(sentences))
        at = 0
        for link in own:
            while spans[at][1] < link.end:
                at += 1
            start = spans[at][0]
            if start <= link.start:
                links.append(Link(len(sentences) + at, link.start - start, link.end - start, link.target))
        sentences += [paragraph[start:end] for start, end in spans]
    if not sentences:
        return None
    sections = tuple(Section(title, first_sentence[paragraph]) for title, paragraph in text.sections)
    return Document(language, page.page_id, sentences, paragraphs, page.title, "", sections, tuple(links))


def _refuse_rejects(rejects: list[dict[str, str]], articles: int, path: Path) -> None:
    if len(rejects) > max(REJECTS, REJECTED_SHARE * (articles + len(rejects))):
        raise SteleError(f"{path}: {len(rejects)} pages could not be parsed; the first: {rejects[0]}")


def _write_redirects(redirects: list[tuple[str, str]], path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    titles, targets = [list(column) for column in zip(*redirects, strict=True)] if redirects else ([], [])
    pq.write_table(
        pa.table({"title": pa.array(titles, pa.string()), "target": pa.array(targets, pa.string())}),
        path,
        compression="zstd",
    )
