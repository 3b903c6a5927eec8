"""Read your own documents in one language (`user_data.documents`): text, JSON lines, Parquet, a Wikipedia dump.

A text file has many documents, separated by blank lines, if its name begins with its language (de.txt, de.news.txt),
if it is the only text file of its language, or if it has more than ONE_DOCUMENT bytes; each of its lines is a
paragraph. Any other text file is one document. Blank lines separate its paragraphs or, if there are none, line ends do,
as they do in a row's `text`.

Of documents with the same sentences the first is kept. The record counts what is left out (`dropped`) and describes it
in `notes`. Memory is bounded by DOCUMENT_BYTES of text, LINE_BYTES of a JSON line, and some 60 bytes a document, which
serve to recognise repeated documents.
"""

import logging
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path, PurePosixPath
from typing import Annotated

from stele import catalogue, progress
from stele.artifacts import records
from stele.artifacts.documents import Document, DocumentWriter
from stele.catalogue import user_documents
from stele.catalogue.schema.languages import Language
from stele.command.arguments import Job, NewRecord, Record, record_of
from stele.corpora import cc100, wikipedia
from stele.corpora.dumps.dump_files import DumpFiles, find_dump, missing_pages
from stele.corpora.dumps.xml_dump import read_dump
from stele.errors import SteleError
from stele.files.digests import text_number
from stele.files.document_rows import document_rows
from stele.files.reading import unpacked_blocks

log = logging.getLogger(__name__)

JOB = "corpora documents"
ONE_DOCUMENT = 1 << 20  # bytes; a longer text file is read as many documents
RULES = cc100.TextRules("text in UTF-8 (`iconv -f ENCODING -t UTF-8` converts it)", 0, 0.01, anywhere=True)
SAMPLED = 2000  # documents whose first SENTENCES sentences are sampled for letters
SENTENCES = 8


class Documents(Job):
    language: str
    """Language code of the documents."""
    dataset: Record
    """record.json of the dataset."""
    output: Annotated[NewRecord, record_of(JOB)]


def run(args: Documents) -> None:
    """Writes the documents of one language. Raises SteleError if a file is damaged or has no readable documents."""
    source, language = args.dataset.parent, args.language
    names = [name for name in sorted(records.read_record(args.dataset)["files"]) if user_documents.kind_of(name)]
    dump = find_dump(source) if any(user_documents.kind_of(name) == "dump" for name in names) else []
    dropped: Counter[str] = Counter()
    letters: Counter[str] = Counter()
    of_one_sentence = 0
    with records.output_folder(args.output, JOB, {"dataset": args.dataset}) as (folder, facts):
        # all formats in turn; of repeated documents the first is kept
        with ExitStack() as stack, DocumentWriter(folder) as writer:
            texts = chain.from_iterable(_texts(source, name, names, language, dropped) for name in names)
            documents = chain(
                cc100.documents(texts, user_documents.DATASET, language, dropped),
                _of_dump(dump, language, folder, dropped, stack),
            )
            for number, document in enumerate(_once(documents, dropped)):
                writer.add(document)
                of_one_sentence += len(document.sentences) == 1
                if number < SAMPLED:
                    letters += letters_by_script(" ".join(islice(document.sentences, SENTENCES)))
        if not writer.counts["documents"]:
            raise SteleError(f"{_shown(source, names)}: found no document with a sentence ({_counts(dropped)})")
        # notes for the user
        number = writer.counts["documents"]
        where = _shown(source, names)
        gaps = [f"{where}: {note}" for note in missing_pages(dump)]
        notes = [*gaps, *_notes(where, language, number, of_one_sentence, dropped, letters)]
        for note in notes:
            log.warning("%s", note)
        facts.update(
            corpus=user_documents.DATASET,
            language=language,
            notes=notes,
            **writer.counts,
            dropped=dict(dropped),
        )
    log.info("%s: %s", language, {**writer.counts, "dropped": dict(dropped)})


# --- texts by format --------------------------------------------------------------------------------------------------
def _texts(source: Path, name: str, names: Sequence[str], language: str, dropped: Counter[str]) -> Iterator[cc100.Text]:
    """Yields the texts in one language of a file of text or rows; yields nothing for a dump."""
    path = (source / name).resolve()  # the path that the user knows
    kind = user_documents.kind_of(name)
    if kind == "text":
        is_alone = sum(user_documents.kind_of(other) == "text" for other in names) == 1
        many = is_alone or PurePosixPath(name).name.partition(".")[0] == language
        for paragraphs in _plain_texts(path, many, dropped):
            yield "", paragraphs
    if kind == "rows":
        known = catalogue.entries(Language)
        of_file = user_documents.language_in(name, known)
        for row in progress.track(document_rows(path, dropped), None, name, "row"):
            if (row.language or of_file or user_documents.UNDETERMINED) == language:
                yield row.title, paragraphs_of(row.text)
            elif of_file == language and of_file in known:  # otherwise the job of the stated language reads them
                dropped["rows_of_another_language"] += 1


def _plain_texts(path: Path, many: bool, dropped: Counter[str]) -> Iterator[list[str]]:
    """Yields the paragraphs of each document of a text file. A file of over ONE_DOCUMENT bytes counts as `many`."""
    blocks, beginning = unpacked_blocks(path), b""
    for block in blocks:
        beginning += block
        if many or len(beginning) > ONE_DOCUMENT:
            many = True
            break
    if b"\0" in beginning:
        raise SteleError(f"{path}: contains zero bytes, as UTF-16 and binary files do; want {RULES.wanted}")
    if b"\n" not in beginning and b"\r" in beginning[:-1]:  # line ends of old Macs
        beginning, blocks = beginning.replace(b"\r", b"\n"), (block.replace(b"\r", b"\n") for block in blocks)
    texts = cc100.read_texts(chain([beginning], blocks), str(path), dropped, RULES)
    if many:
        yield from cc100.split_blank(texts)
    else:
        yield paragraphs_of("\n\n".join("\n".join(lines) for lines in texts))


def paragraphs_of(text: str) -> list[str]:
    """Splits one document into paragraphs: at blank lines or, if it has none, at line ends.

    >>> paragraphs_of("A line\\nand more.\\n\\nAnother."), paragraphs_of("One.\\nTwo.")
    (['A line\\nand more.', 'Another.'], ['One.', 'Two.'])
    """
    lines = text.strip().splitlines()
    if all(line.strip() for line in lines):
        return lines
    return re.split(r"\n\s*\n", "\n".join(lines))


def _of_dump(
    dump: Sequence[DumpFiles], language: str, folder: Path, dropped: Counter[str], stack: ExitStack
) -> Iterator[Document]:
    """Yields the articles of a dump, if there is one; writes redirects and rejected pages to files in `folder`."""
    if not dump:
        return
    aside, number = wikipedia.Aside(folder, stack), 0
    size = sum(part.articles.stat().st_size for part in dump)
    bar = stack.enter_context(progress.bar(size, f"wikipedia {language}", "B"))
    for document in wikipedia.documents(read_dump(dump, 1, 1, bar.update), language, aside):
        number += 1
        yield document
    pages = {"redirects": aside.redirects.rows, "pages_that_cannot_be_parsed": aside.rejects, **aside.dropped}
    dropped += Counter(pages)  # without zeros
    aside.check(number, dump[0].articles)


# --- documents --------------------------------------------------------------------------------------------------------
def _once(documents: Iterator[Document], dropped: Counter[str]) -> Iterator[Document]:
    """Yields the first of all documents with the same sentences; counts the others in `dropped`."""
    seen: set[int] = set()
    for document in documents:
        number = text_number("\n".join(document.sentences))
        if number in seen:
            dropped["repeated_documents"] += 1
        else:
            seen.add(number)
            yield document


# --- what the user should know ----------------------------------------------------------------------------------------
def _notes(
    where: str, language: str, documents: int, of_one_sentence: int, dropped: Counter[str], letters: Counter[str]
) -> list[str]:
    notes, left_out = [], dropped.copy()
    del left_out["empty_paragraphs"]
    if left_out:
        notes.append(f"{where}: {_counts(left_out)} left out or cut")
    if 2 * of_one_sentence > documents:
        notes.append(
            f"{where}: {of_one_sentence:,} of {documents:,} documents have one sentence; MSM, CROP and ICT need two"
        )
    if documents == 1:
        notes.append(f"{where}: one document only; put documents in files or rows, or blank lines between them")
    entry = catalogue.entries(Language).get(language)
    if entry is None or entry.script == "unknown":
        return [
            *notes,
            f"{language}: no language of the catalogue or of `add_languages`; general rules split its sentences",
        ]
    of_script = sum(letters[script] for script in _UNICODE.get(entry.script, {entry.script.upper().partition(" ")[0]}))
    if 2 * of_script < letters.total():
        script, number = letters.most_common(1)[0]
        notes.append(
            f"{where}: {number / letters.total():.0%} of the letters are {script.capitalize()}, but {entry.name} is "
            f"written in {entry.script}: the texts may not be in {language}"
        )
    return notes


def _counts(dropped: Counter[str]) -> str:
    return (
        ", ".join(f"{number:,} {what.replace('_', ' ')}" for what, number in sorted(dropped.items())) or "it is empty"
    )


def _shown(source: Path, names: Sequence[str]) -> str:
    first = (source / names[0]).resolve() if names else source
    return f"{first} and {len(names) - 1} more" if len(names) > 1 else str(first)


# --- the scripts of letters, by their Unicode names ---
# first words of the Unicode names of letters, by the script in languages.yaml, where they are not its name
_UNICODE = {
    "Burmese": {"MYANMAR"},
    "Han": {"CJK"},
    "Hangul": {"HANGUL", "CJK"},
    "Japanese": {"HIRAGANA", "KATAKANA", "CJK"},
    "Odia": {"ORIYA"},
}


@lru_cache(maxsize=1 << 16)
def _script(character: str) -> str:
    name = unicodedata.name(character, "") if character.isalpha() else ""
    return name.partition(" ")[0]


def letters_by_script(text: str) -> Counter[str]:
    """Counts the letters of a text by their script.

    >>> dict(letters_by_script("Рига, Rīga 1201"))
    {'CYRILLIC': 4, 'LATIN': 4}
    """
    letters: Counter[str] = Counter()
    for character, number in Counter(text).items():
        if script := _script(character):
            letters[script] += number
    return letters
