"""Read WikiText-103 (raw) into Documents, one for each article.

The format (Merity et al. 2016): UTF-8; each line is a paragraph with tokens separated by spaces; ` = Title = ` between
empty lines begins an article, ` = = Section = = ` a section. The text is not changed, not even `@-@` for a hyphen in a
word, because published numbers of bits per character use this text. Only the training part is read.
"""

import logging
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Annotated

from stele import progress
from stele.artifacts import records
from stele.artifacts.documents import Document, DocumentWriter, Section
from stele.command.arguments import Count, Job, NewRecord, Record, record_of
from stele.errors import SteleError
from stele.files.reading import find_file, reading
from stele.text.sentences import split_sentences, tidy

log = logging.getLogger(__name__)

JOB = "corpora wikitext103"
LANGUAGE = "en"
FILE = "wiki.train.raw"
MARKS = re.compile(r" =(?: =)* ")  # before a heading as many = as its level, and the same behind it


class Wikitext103(Job):
    dataset: Record
    """record.json of the dataset."""
    output: Annotated[NewRecord, record_of(JOB)]
    limit: Count | None = None
    """Read only the first N articles."""


def run(args: Wikitext103) -> None:
    """Writes the articles. Raises SteleError if the file is damaged or not raw WikiText-103."""
    records.read_record(args.dataset)  # raises before the work starts
    source = find_file(args.dataset.parent, (FILE,), f"raw WikiText-103, {FILE}")
    with records.output_folder(args.output, JOB, {"dataset": args.dataset}) as (folder, facts):
        with DocumentWriter(folder) as writer, reading(source, "text"), open(source, encoding="utf-8") as lines:
            articles = progress.track(documents(lines, str(source)), None, "wikitext103", "article")
            for document in islice(articles, args.limit):
                writer.add(document)
        if not writer.counts["documents"]:
            raise SteleError(f"{source}: no article in it; want lines of text below a line ` = Title = `")
        facts.update(
            labels=[records.LIMITED] if args.limit is not None else [],
            corpus="wikitext103",
            language=LANGUAGE,
            **writer.counts,
        )
    log.info("%s", dict(writer.counts))


def heading_of(line: str) -> tuple[int, str]:
    """Parses a heading line into (level, text); any other line gives level 0.

    >>> heading_of(" = Title = "), heading_of(" = = A = b = = "), heading_of(" a = b ")
    ((1, 'Title'), (2, 'A = b'), (0, ''))
    """
    match = MARKS.match(line)
    if not match or len(line) <= 2 * match.end() or not line.endswith(match[0]):
        return 0, ""
    return match[0].count("="), line[match.end() : -match.end()]


def documents(lines: Iterable[str], where: str) -> Iterator[Document]:
    """Yields the articles that have text. Raises SteleError for text before the first title."""
    number, title = 0, None
    sentences: list[str] = []
    paragraphs: list[int] = []
    sections: list[Section] = []

    def article() -> Iterator[Document]:
        if sentences:
            yield Document(LANGUAGE, f"wikitext103-{number}", sentences, paragraphs, title or "", tuple(sections))

    heading, blank = None, True
    for line in lines:
        line = line.rstrip("\n")
        level, text = heading_of(line)
        if level == 1 and blank:
            yield from article()
            number += bool(sentences)
            title, heading, sentences, paragraphs, sections = text, None, [], [], []
        elif level:
            heading = text
        elif (text := tidy(line)) and title is None:
            raise SteleError(f"{where}: text before the first ` = Title = `: {text[:40]!r}; want WikiText-103, raw")
        elif spans := split_sentences(text, LANGUAGE):  # empty for a line of signs
            if heading is not None:
                sections.append(Section(heading, len(sentences)))
                heading = None
            paragraphs.append(len(sentences))
            sentences.extend(text[start:end] for start, end in spans)
        blank = not line.strip()
    yield from article()
