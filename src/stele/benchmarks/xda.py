"""Cross-lingual document alignment (Yu et al., section 5.3.3): find a document's translation, CSLS with k = 10.

It reads the United Nations Parallel Corpus v1.0 in TEI, as published, or any other corpus with its layout: one file for
each document, in one tar for each language. The tar is `UNv1.0-TEI.en.tar.gz` or the published parts (`.tar.gz.00`,
`.01`, ...), which are read as one stream without joining or unpacking. Members are `UNv1.0-TEI/en/1990/a/45/1.xml`. The
same files unpacked, in a folder for each language, can be read as well. Documents of two languages are translations if
they have the same path, `1990/a/45/1`, which is their id in both.

The text of a document is that of its body: sentences (`<s>`) separated by spaces, paragraphs (`<p>`) by line ends, with
single spaces inside a sentence; it excludes the header (title, symbol, disclaimer). It ends after WORDS words: a word
has at least one token, so no encoder reads further.

A document counts if all languages of the folder have it, whichever are evaluated, so that a pair's candidates do not
depend on the other pairs. With the list of the six-way subcorpus (`UNv1.0.6way.ids`: on each line a sentence, its
document first) only the 86,307 documents of that list count. Documents without partner, text or readable XML are
left out and counted; if more than one in a thousand is unreadable, SteleError is raised.

Other systems' embeddings can be scored, too (`--run en-es=EN.npy,ES.npy`): rows of equal number are translations.
"""

import gzip
import logging
import re
import tarfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from typing import IO

from stele import catalogue
from stele.benchmarks._files import below, folder_of, identifier, lines, refuse_again
from stele.benchmarks.reader import ParallelTextsReader
from stele.benchmarks.types import Data, ParallelTexts
from stele.catalogue.schema.languages import Language
from stele.errors import SteleError
from stele.files.reading import TarMember, open_bytes, reading
from stele.progress import track

DATASET = "uncorpus"
DAMAGED = 0.001  # largest tolerated share of damaged documents
logger = logging.getLogger(__name__)


class Xda(ParallelTextsReader):
    def parallel_texts(self, data: Data, languages: Iterable[str]) -> ParallelTexts:
        """Reads the documents in some languages, sorted by their ids.

        Raises SteleError if no document exists in all languages, or if too many are damaged.
        """
        languages, folder = [*languages], folder_of(data, next(iter(data), DATASET), "all")
        files = files_by_language(folder)
        if missing := next((language for language in languages if language not in files), None):
            raise SteleError(
                f"{folder}: no documents in {missing}; want the archive UNv1.0-TEI.{missing}.tar.gz (or its parts .00, "
                f".01, ...) or a folder {missing} with .xml files; found {', '.join(files) or 'nothing'}"
            )
        wanted = _listed(folder)
        texts, counts = {}, Counter()
        for language, paths in files.items():
            read = track(documents(folder, paths, language), None, f"read documents in {language}")
            chosen = ((name, content) for name, content in read if wanted is None or name in wanted)
            texts[language] = _texts(chosen, str(paths[0]), counts, keep=language in languages)
        asked = set().union(*texts.values()) if wanted is None else wanted
        ids = sorted(asked.intersection(*texts.values()))
        if not ids:
            raise SteleError(f"{folder}: no document exists in all of {', '.join(files)}; want the same paths in each")
        left_out = {"without_partner": len(asked) - len(ids), **{name: counts[name] for name in ("empty", "damaged")}}
        return ParallelTexts(
            ids, {language: [texts[language][name] for name in ids] for language in languages}, left_out
        )


def _texts(documents: Iterable[tuple[str, bytes]], where: str, counts: Counter[str], keep: bool) -> dict[str, str]:
    """Maps id -> text of a language's documents ("" unless `keep`). Raises SteleError if too many are damaged."""
    texts: dict[str, str] = {}
    damaged: list[str] = []
    empty = 0
    for name, content in documents:
        refuse_again(name, texts, where, "document")
        try:
            text = text_of(content, f"{where}: document {name}")
        except SteleError as error:
            damaged.append(str(error))
            continue
        if text:
            texts[name] = text if keep else ""
        else:
            empty += 1
    if len(damaged) > DAMAGED * (read := len(texts) + empty + len(damaged)):
        raise SteleError(f"{damaged[0]}; {len(damaged)} of {read} documents there cannot be read")
    for message in damaged:
        logger.warning("%s; left out", message)
    counts.update(empty=empty, damaged=len(damaged))
    return texts


def _listed(folder: Path) -> set[str] | None:
    """Reads the documents in the list of sentences that all six languages have; None if there is no list."""
    lists = [path for path in below(folder) if path.name.removesuffix(".gz").endswith(".ids")]
    if len(lists) > 1:
        raise SteleError(f"{folder}: several lists of documents: {', '.join(map(str, sorted(lists)))}; keep one")
    listed = {line.split(maxsplit=1)[0] for path in lists for _, line in lines(path) if line.strip()}
    if lists and not listed:
        raise SteleError(f"{lists[0]}: nothing in it, want a sentence on each line, its document first")
    return listed or None


WORDS = 1024
LARGEST = 1 << 26  # most bytes of a document
TOO_LARGE = f"a document of more than {LARGEST >> 20} MB: not a document of the corpus"
_ARCHIVE = re.compile(r".*[._-](?P<language>[a-z]{2,3})\.(?:tar\.gz|tgz|tar)(?:\.(?P<part>[0-9]{1,4}))?")
LANGUAGE_FACTS = ("name",)  # which each has: for the codes
_LANGUAGE = re.compile(r"[a-z]{2}")
_DOCUMENT = (".xml", ".xml.gz")  # gzipped only outside an archive
_OUTERMOST = ".//*[local-name()=$name and not(ancestor::*[local-name()=$name])]"  # a footnote is in its paragraph


def files_by_language(folder: Path) -> dict[str, list[Path]]:
    """Maps language -> the ordered parts of its archive, or its documents; languages are sorted by code."""
    archives: dict[str, list[Path]] = {}
    single: dict[str, list[Path]] = {}
    for path in sorted(below(folder)):
        if archive := _ARCHIVE.fullmatch(path.name):
            archives.setdefault(archive["language"], []).append(path)
        elif path.name.endswith(_DOCUMENT) and (language := _language(path.relative_to(folder).parts[:-1])):
            single.setdefault(language, []).append(path)
    for paths in archives.values():
        _check_parts(paths)
    return dict(sorted({**single, **archives}.items()))


def documents(folder: Path, paths: Sequence[Path], language: str) -> Iterator[tuple[str, bytes]]:
    """Yields (id, XML) for all documents of one language; `paths` are its files from `files_by_language`.

    The id is the path below the language's folder, without suffix. Raises SteleError for a damaged or too large file.
    """
    if _ARCHIVE.fullmatch(paths[0].name):
        yield from _members(paths, language)
        return
    for path in paths:
        with reading(path, "TEI document"), open_bytes(path) as handle:
            content = handle.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise SteleError(f"{path}: {TOO_LARGE}")
        yield _name(path.relative_to(folder).as_posix(), language, str(path)), content


def text_of(content: bytes, where: str) -> str:
    """Extracts the text of a document's body; "" for an empty one. Raises SteleError if the content is not TEI."""
    from lxml import etree

    if b"<!ENTITY" in content or b"\0" in content:  # NUL: an encoding that hides entities
        raise SteleError(f"{where}: declares entities, or is not UTF-8, unlike any document of the corpus; refused")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=False)
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        raise SteleError(f"{where}: damaged or truncated XML ({error.msg}); get it again") from None
    body = next(root.iter("{*}body"), None)
    if body is None:
        raise SteleError(f"{where}: no <body> in it; want a document in TEI")
    paragraphs, words = [], 0
    for paragraph in body.xpath(_OUTERMOST, name="p"):
        sentences = paragraph.xpath(_OUTERMOST, name="s") or [paragraph]
        tokens = " ".join("".join(sentence.itertext()) for sentence in sentences).split()[: WORDS - words]
        words += len(tokens)
        paragraphs.append(" ".join(tokens))
        if words >= WORDS:
            break
    return "\n".join(filter(None, paragraphs))


def _members(paths: Sequence[Path], language: str) -> Iterator[tuple[str, bytes]]:
    """Yields the documents in an archive; reads it to its very end, so that truncation raises SteleError."""
    last = ""
    with reading(lambda: f"{paths[0]}{f', after {last}' if last else ''}", "tar archive"), ExitStack() as stack:
        handles = [stack.enter_context(open(path, "rb")) for path in paths]
        stream = _Joined(handles)
        if handles[0].peek(2)[:2] == b"\x1f\x8b":
            stream = gzip.GzipFile(fileobj=stream)
        archive = stack.enter_context(tarfile.open(fileobj=stream, mode="r|", tarinfo=TarMember))
        for member in archive:
            archive.members = []  # else tarfile keeps every member in memory
            last = member.name
            if member.size > LARGEST:  # also other members: skipping one decompresses it
                raise SteleError(f"{paths[0]}: {last}: {TOO_LARGE}")
            if member.isreg() and last.endswith(".xml"):
                yield _name(last, language, f"{paths[0]}: {last}"), archive.extractfile(member).read()
        while stream.read(1 << 20):
            pass


class _Joined:
    """File object over several open files, read one after the other."""

    def __init__(self, handles: Sequence[IO[bytes]]) -> None:
        self._handles = handles

    def read(self, size: int) -> bytes:
        return next(filter(None, (handle.read(size) for handle in self._handles)), b"")


def _check_parts(paths: Sequence[Path]) -> None:
    """Raises SteleError unless the files are one whole archive or all of its parts from the first on."""
    numbers = [_ARCHIVE.fullmatch(path.name)["part"] for path in paths]
    whole = [None] if len(paths) == 1 and numbers[0] is None else list(range(len(paths)))
    if [None if number is None else int(number) for number in numbers] != whole:
        names = ", ".join(path.name for path in paths)
        raise SteleError(f"{paths[0].parent}: {names}: want one archive, or all its parts from .00 on, nothing else")


def _language(folders: Sequence[str]) -> str | None:
    """First folder named like a language code of two letters, else by a longer code of languages.yaml; else None."""
    known = catalogue.entries(Language)
    named = [name for name in folders if _LANGUAGE.fullmatch(name)] or [name for name in folders if name in known]
    return next(iter(named), None)


def _name(path: str, language: str, where: str) -> str:
    """Id of a document: its path below the language's folder, without suffix. Raises SteleError for white space.

    >>> _name("UNv1.0-TEI/en/1990/a/45/1.xml", "en", "un.tar"), _name("1990/a/45/1.xml", "en", "un.tar")
    ('1990/a/45/1', '1990/a/45/1')
    """
    parts = PurePosixPath(path).parts
    below_language = parts[parts.index(language) + 1 :] if language in parts else parts
    return identifier(
        "/".join(below_language).removesuffix(".gz").removesuffix(".xml"), where, "the name of a document"
    )
