"""Parse one language of CC-100 into Documents; the xz file is streamed.

The format (statmt, cc_net): UTF-8; each line is a paragraph, and an empty line ends a document. Memory is bounded by
one document and one row group; a document longer than DOCUMENT_BYTES is cut at a line.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Annotated, NamedTuple

from stele import progress
from stele.artifacts import records
from stele.artifacts.documents import Document, DocumentWriter
from stele.command.arguments import Count, Job, NewRecord, Record, record_of
from stele.corpora.dumps.dump_files import read_blocks
from stele.errors import SteleError
from stele.files.reading import find_file
from stele.text.sentences import split_sentences, tidy

log = logging.getLogger(__name__)

JOB, CORPUS = "corpora cc100", "cc100"
DOCUMENT_BYTES = 1 << 22  # a longer document is cut


class TextRules(NamedTuple):
    """Limits on a text file. It is refused if more lines than `bad_lines` and than the share `bad_share` are not UTF-8,
    or if a document is too long and has neither a line's end nor a space, unless it may be cut `anywhere`.
    """

    wanted: str
    bad_lines: int
    bad_share: float
    anywhere: bool = False


CC100 = TextRules("a CC-100 text file", 10, 0.001)
FILES = ("*.txt.xz", "*.xz", "*.txt")  # compressed files first


class Cc100(Job):
    language: str
    """Language code, as the corpus has it."""
    dataset: Record
    """record.json of the dataset."""
    output: Annotated[NewRecord, record_of(JOB)]
    limit: Count | None = None
    """Read only the first N documents."""


def run(args: Cc100) -> None:
    """Writes the documents of one language. Raises SteleError if the file is damaged or not CC-100 text."""
    records.read_record(args.dataset)  # raises before the work starts
    source = find_file(args.dataset.parent, FILES, f"CC-100, {args.language}.txt.xz")
    dropped: Counter[str] = Counter()
    with records.output_folder(args.output, JOB, {"dataset": args.dataset}) as (folder, facts):
        with progress.bar(source.stat().st_size, f"cc100 {args.language}", "B") as bar:
            # a line of white space separates documents, as the format intends
            texts = split_blank(read_texts(read_blocks(source, progress=bar.update), str(source), dropped))
            untitled = (("", lines) for lines in texts)
            with DocumentWriter(folder) as writer:
                for document in islice(documents(untitled, CORPUS, args.language, dropped), args.limit):
                    writer.add(document)
        if not writer.counts["documents"]:
            raise SteleError(f"{source}: found no document; want paragraphs, with empty lines between documents")
        facts.update(
            labels=[records.LIMITED] if args.limit is not None else [],
            corpus=CORPUS,
            language=args.language,
            **writer.counts,
            dropped=dict(dropped),
        )
    log.info("%s: %s", args.language, {**writer.counts, "dropped": dict(dropped)})


def read_texts(
    blocks: Iterable[bytes], where: str, dropped: Counter[str], rules: TextRules = CC100
) -> Iterator[list[str]]:
    """Yields the lines of each document in order; counts dropped lines and cut documents in `dropped`.

    Raises SteleError if the file breaks the rules.
    """
    pending, lines, bad_lines, bad_line = b"", 0, 0, ""
    for block in chain(blocks, [b"\n\n"]):
        pending += block
        pending = pending.replace(b"\r\n", b"\n") if b"\r" in pending else pending
        *whole, pending = pending.split(b"\n\n")
        if len(pending) > DOCUMENT_BYTES:
            cut = _cut(pending, where, rules)
            whole.append(pending[:cut])
            pending = pending[cut:]
            dropped["cut_documents"] += 1
        for raw in whole:
            text, bad = _decode(raw)
            lines += raw.count(b"\n") + 1
            if bad:
                dropped["lines_not_utf8"] += len(bad)
                bad_lines += len(bad)
                bad_line = bad_line or repr(bad[0][:40])
            yield text
        if lines > 100_000:
            _refuse_foreign(bad_lines, lines, bad_line, where, rules)
    _refuse_foreign(bad_lines, lines, bad_line, where, rules)


def _cut(pending: bytes, where: str, rules: TextRules) -> int:
    """Position to cut a too long document at: after its last line, else its last space, else before a character."""
    cut = max(pending.rfind(b"\n"), 0) or max(pending.rfind(b" "), 0)
    if cut:
        return cut + 1
    if not rules.anywhere:
        raise SteleError(f"{where}: found {len(pending)} bytes without a space or a line's end; not a CC-100 text")
    beginnings = (place for place in range(len(pending) - 1, 0, -1) if pending[place] & 0xC0 != 0x80)
    return next(beginnings, len(pending))


def _decode(raw: bytes) -> tuple[list[str], list[bytes]]:
    """Decodes a document. Returns (its lines, its lines of bytes that are not UTF-8)."""
    try:
        return raw.decode("utf-8").split("\n"), []
    except UnicodeDecodeError:
        good, bad = [], []
        for line in raw.split(b"\n"):
            try:
                good.append(line.decode("utf-8"))
            except UnicodeDecodeError:
                bad.append(line)
        return good, bad


def _refuse_foreign(bad: int, lines: int, first: str, where: str, rules: TextRules) -> None:
    if bad > max(rules.bad_lines, rules.bad_share * lines):
        raise SteleError(f"{where}: {bad} of {lines} lines are not UTF-8 (the first: {first}); want {rules.wanted}")


Text = tuple[str, list[str]]  # title, paragraphs


def documents(texts: Iterable[Text], corpus: str, language: str, dropped: Counter[str]) -> Iterator[Document]:
    """Makes a Document of each text with a sentence; counts empty paragraphs and documents in `dropped`."""
    number = 0
    for title, texts_of_paragraphs in texts:
        sentences, paragraphs = sentences_of(texts_of_paragraphs, language, dropped)
        if not sentences:
            dropped["empty_documents"] += 1
            continue
        yield Document(language, f"{corpus}-{language}-{number}", sentences, paragraphs, title)
        number += 1


def sentences_of(texts: Iterable[str], language: str, dropped: Counter[str]) -> tuple[list[str], list[int]]:
    """Splits paragraphs. Returns (sentences, index of each paragraph's first one); counts empty paragraphs."""
    sentences: list[str] = []
    paragraphs: list[int] = []
    for text in texts:
        paragraph = tidy(text.replace("\ufeff", ""))
        spans = split_sentences(paragraph, language) if paragraph else []
        if not spans:
            dropped["empty_paragraphs"] += 1
            continue
        paragraphs.append(len(sentences))
        sentences.extend(paragraph[start:end] for start, end in spans)
    return sentences, paragraphs


def split_blank(texts: Iterable[list[str]]) -> Iterator[list[str]]:
    """Splits the texts further, at lines of white space."""
    for lines in texts:
        run: list[str] = []
        for line in [*lines, ""]:
            if line.strip():
                run.append(line)
            elif run:
                yield run
                run = []
