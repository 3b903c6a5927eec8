"""Parse a Wikipedia dump into Documents: articles with sections, sentences and links.

Each job reads one shard of a multistream dump; a dump without blocks is read as a whole by shard 1. It keeps wikitext
pages of the main namespace with a sentence. Redirects go to redirects.parquet (title -> target, both in normal form),
pages that cannot be parsed to rejects.jsonl. Memory grows with the dump by only sixteen bytes a page.
"""

import gc
import json
import logging
import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import IO, Annotated

from stele import progress
from stele.artifacts import records
from stele.artifacts.documents import Document, DocumentWriter, Link, RowWriter, Section
from stele.command.arguments import Count, Job, NewRecord, Record, record_of
from stele.corpora.dumps.dump_files import DumpFiles, find_dump, missing_pages
from stele.corpora.dumps.xml_dump import Page, can_be_shared, read_dump
from stele.corpora.wikitext.paragraphs import PageText, extract
from stele.corpora.wikitext.titles import MAIN, Site
from stele.errors import SteleError
from stele.files.atomic import atomic_file
from stele.files.digests import text_number
from stele.text.sentences import split_sentences

log = logging.getLogger(__name__)

JOB = "corpora wikipedia"
REJECTS, REJECTED_SHARE = 10, 0.001  # a shard with more rejects than both fails


class Wikipedia(Job):
    language: str
    """Language code of the documents."""
    dataset: Record
    """record.json of the dataset."""
    shard: str = "1/1"
    """Part of the dump to read, as i/n: the i-th of n shards, counted from 1."""
    output: Annotated[NewRecord, record_of(JOB)]
    limit: Count | None = None
    """Read only the first N documents."""


def run(args: Wikipedia) -> None:
    """Writes the documents of one shard. Raises SteleError if the dump is damaged or has too many rejected pages."""
    shard, shards = parse_shard(args.shard)
    records.read_record(args.dataset)  # raises before the work starts
    dump = find_dump(args.dataset.parent)
    where = dump[0].articles if len(dump) == 1 else args.dataset.parent
    notes = _notes(dump, shards)
    # the pages of the shard: documents, redirects and rejects each into their files
    with records.output_folder(args.output, JOB, {"dataset": args.dataset}) as (folder, facts), ExitStack() as stack:
        if gc.isenabled():  # pages have no reference cycles, and the search for them takes 7 % of the time
            gc.disable()
            stack.callback(gc.enable)
        size = sum(part.articles.stat().st_size for part in dump) // shards
        bar = stack.enter_context(progress.bar(size, f"wikipedia {args.language} {args.shard}", "B"))
        aside = Aside(folder, stack)
        writer = stack.enter_context(DocumentWriter(folder))
        for document in islice(documents(read_dump(dump, shard, shards, bar.update), args.language, aside), args.limit):
            writer.add(document)
        # the record needs closed files
        stack.close()
        aside.check(writer.counts["documents"], where)
        if aside.pages == 0 and (shards == 1 or (shard == 1 and not can_be_shared(dump))):
            raise SteleError(f"{where}: the dump has a <siteinfo> but no page; fetch it again")
        facts.update(
            labels=[records.LIMITED] if args.limit is not None else [],
            corpus="wikipedia",
            language=args.language,
            shard=args.shard,
            first_letter=aside.site.first_letter,
            notes=notes,
            **writer.counts,
            redirects=aside.redirects.rows,
            rejects=aside.rejects,
            dropped=dict(aside.dropped),
            duplicate_titles=_repeated(aside.titles),
        )
    log.info("%s %s: %s", args.language, args.shard, {**writer.counts, "dropped": dict(aside.dropped)})


def _notes(dump: Sequence[DumpFiles], shards: int) -> list[str]:
    notes = missing_pages(dump)
    if shards > 1 and not can_be_shared(dump):
        notes.append("no multistream dump with an index: the first shard is all of it, the others are empty")
    if dump[0].siteinfo is None:
        notes.append("no siteinfo-namespaces.json.gz: aliases of namespaces are those that Stele knows")
    for note in notes:
        log.warning("%s: %s", dump[0].articles, note)
    return notes


class Aside:
    """Collects the pages that do not become documents: files of redirects and of rejected pages, and counts."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.site = Site()
        self.pages = 0
        self.dropped: Counter[str] = Counter()
        self.rejects, self.first_reject = 0, ""
        self.redirects = stack.enter_context(RowWriter(folder / "redirects.parquet", ("title", "target")))
        self._file: IO[str] = stack.enter_context(atomic_file(folder / "rejects.jsonl"))
        self.titles, self.ids = array("Q"), array("Q")  # titles of articles and redirects; ids of articles

    def reject(self, title: str, error: Exception) -> None:
        self.rejects += 1
        reason = f"{type(error).__name__}: {error}"
        line = json.dumps({"title": title, "reason": reason}, ensure_ascii=False, sort_keys=True)
        self.first_reject = self.first_reject or line
        self._file.write(line + "\n")

    def check(self, documents: int, path: Path) -> None:
        """Raises SteleError if more than ten pages and more than one in a thousand could not be parsed, or if pages
        share an id, which has to identify a document.
        """
        if repeated := _repeated(self.ids):
            raise SteleError(
                f"{path}: {repeated} pages have the id of an earlier page, unlike in any wiki's dump; "
                "it may combine several dumps: fetch it again"
            )
        if self.rejects > max(REJECTS, REJECTED_SHARE * (documents + self.rejects)):
            raise SteleError(f"{path}: {self.rejects} pages could not be parsed; the first: {self.first_reject}")


def _repeated(digests: array) -> int:
    """Number of digests that occurred before."""
    import numpy as np

    return len(digests) - len(np.unique(np.frombuffer(digests, np.uint64))) if digests else 0


def parse_shard(text: str) -> tuple[int, int]:
    """Parses "i/n" into (i, n). Raises SteleError unless 1 <= i <= n."""
    first, slash, last = text.partition("/")
    if not (slash and re.fullmatch("[0-9]{1,9}/[0-9]{1,9}", f"{first}/{last}") and 1 <= int(first) <= int(last)):
        raise SteleError(f"--shard {text}: want i/n with i from 1 to n, for example 1/4")
    return int(first), int(last)


def documents(pages: Iterator[Site | Page], language: str, aside: Aside) -> Iterator[Document]:
    """Yields the articles of a dump as valid Documents; records all other pages in `aside`."""
    site = Site()
    for page in pages:
        if isinstance(page, Site):
            site = aside.site = page
            continue
        aside.pages += 1
        kind = _kind(page)
        if kind not in ("articles", "redirects"):
            aside.dropped[kind] += 1
            continue
        try:
            title = site.normalise(page.title)
            if kind == "redirects":
                aside.redirects.add((title, site.normalise(page.redirect or "")))
                aside.titles.append(text_number(title))
                continue
            document = to_document(page, extract(page.text, site), language)
            if document is not None:
                document.check()
        except Exception as error:  # one odd page must not stop a job; it is kept for inspection
            aside.reject(page.title, error)
            continue
        if document is None:
            aside.dropped["without_text"] += 1
        else:
            aside.titles.append(text_number(title))
            aside.ids.append(text_number(page.page_id))
            yield document


def _kind(page: Page) -> str:
    if page.namespace != MAIN:
        return "other_namespaces"
    if page.redirect is not None:
        return "redirects"
    return "articles" if page.model == "wikitext" else "other_models"


def to_document(page: Page, text: PageText, language: str) -> Document | None:
    """Makes a Document, links and sections by sentence; None without sentences. Raises SteleError without a title."""
    if not page.title:
        raise SteleError(f"page {page.page_id or 'without id'} has no title; the export is damaged")
    sentences: list[str] = []
    paragraphs: list[int] = []
    first_sentence: list[int] = []
    links: list[Link] = []
    of_page, cursor = text.links, 0
    for number, paragraph in enumerate(text.paragraphs):
        first = cursor
        while cursor < len(of_page) and of_page[cursor].paragraph == number:
            cursor += 1
        of_sentence, before = of_page[first:cursor], len(sentences)
        spans = split_sentences(paragraph, language, [link[1:3] for link in of_sentence])
        first_sentence.append(before)
        if not spans:
            continue
        paragraphs.append(before)
        sentences += [paragraph[begin:end] for begin, end in spans]
        at, (begin, end) = 0, spans[0]
        for _, start, stop, target in of_sentence:
            while end < stop:
                at += 1
                begin, end = spans[at]
            if begin <= start:
                links.append(Link(before + at, start - begin, stop - begin, target))
    if not sentences:
        return None
    sections = tuple(Section(title, first_sentence[paragraph]) for title, paragraph in text.sections)
    return Document(language, page.page_id, sentences, paragraphs, page.title, sections, tuple(links))
