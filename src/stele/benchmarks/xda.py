"""Cross-lingual document alignment (Yu et al., section 5.3.3): find a document's translation, CSLS with k = 10.

The United Nations Parallel Corpus v1.0 in TEI, as it is published, or any other corpus laid out so: a file a document,
in a tar a language. `UNv1.0-TEI.en.tar.gz`, or the parts that it is published in (`.tar.gz.00`, `.01`, ...), which need
not be joined: they are read as one stream, and nothing is unpacked. Members are `UNv1.0-TEI/en/1990/a/45/1.xml`. The
same files unpacked, in a folder a language, are read as well. Of two languages those documents are translations that
have the same path, `1990/a/45/1`, which is their id in both.

The text of a document is that of its body: sentences (`<s>`) parted by a blank, paragraphs (`<p>`) by a line end, white
space within a sentence being one blank; the header (title, symbol, disclaimer) is none of it. It ends after WORDS
words: every word is a token at least, so no encoder reads further.

A document is taken that all languages of the folder have, whichever are evaluated, so that a pair's candidates do not
depend on the other pairs; where the list of the six-way subcorpus is there (`UNv1.0.6way.ids`: a sentence a line, its
document first), those of that list alone: 86,307. What has no partner, no text, or is no readable XML is left out and
counted; where more than one in a thousand cannot be read, that is an error.

Other systems' embeddings are scored, too (`--run en-es=EN.npy,ES.npy`): what belongs together stands in the same line.
"""

from __future__ import annotations

import gzip
import io
import logging
import re
import tarfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from stele.benchmarks._files import below, folder_of, identifier, lines, refuse_again
from stele.benchmarks.reader import ParallelTextsReader
from stele.benchmarks.types import Data, ParallelTexts
from stele.errors import SteleError
from stele.files.reading import TarMember, open_bytes, reading
from stele.progress import track

DATASET = "uncorpus"
DAMAGED = 0.001  # of the documents, at most
logger = logging.getLogger(__name__)


class Xda(ParallelTextsReader):
    def parallel_texts(self, data: Data, languages: Iterable[str]) -> ParallelTexts:
        """The documents in some languages, by their ids.

        Raises SteleError where none has a partner, or too many are damaged.
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
        every = set().union(*texts.values()) if wanted is None else wanted
        ids = sorted(every.intersection(*texts.values()))
        if not ids:
            raise SteleError(f"{folder}: no document exists in all of {', '.join(files)}; want the same paths in each")
        left_out = {"without_partner": len(every) - len(ids), **{name: counts[name] for name in ("empty", "damaged")}}
        return ParallelTexts(
            ids, {language: [texts[language][name] for name in ids] for language in languages}, left_out
        )


def _texts(documents: Iterable[tuple[str, bytes]], where: str, counts: Counter[str], keep: bool) -> dict[str, str]:
    """id -> text of one language's documents, "" unless they are to be kept; what is left out is added to `counts`."""
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
    """The documents of the list of sentences that all six languages have; None where it is not there."""
    lists = [path for path in below(folder) if path.name.removesuffix(".gz").endswith(".ids")]
    if len(lists) > 1:
        raise SteleError(f"{folder}: several lists of documents: {', '.join(map(str, sorted(lists)))}; keep one")
    listed = {line.split(maxsplit=1)[0] for path in lists for _, line in lines(path) if line.strip()}
    if lists and not listed:
        raise SteleError(f"{lists[0]}: nothing in it, want a sentence a line, its document first")
    return listed or None


WORDS = 1024
LARGEST = 1 << 26  # bytes of a document; what is larger is no document
TOO_LARGE = f"a document of more than {LARGEST >> 20} MB: not a document of the corpus"
_ARCHIVE = re.compile(r".*[._-](?P<language>[a-z]{2,3})\.(?:tar\.gz|tgz|tar)(?:\.(?P<part>[0-9]{1,4}))?")
_LANGUAGE = re.compile(r"[a-z]{2}")
_DOCUMENT = (".xml", ".xml.gz")  # gzipped only outside an archive


def files_by_language(folder: Path) -> dict[str, list[Path]]:
    """language -> the parts of its archive in their order, or else its documents; languages in alphabetical order."""
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
    """(id, XML) of all documents of one language, from its `files_by_language` of a folder.

    The id is the path below the language's folder, without suffix.
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
    """The text of a document's body, "" where it has none; SteleError, beginning with `where`, for what is no TEI."""
    from lxml import etree

    if b"<!ENTITY" in content or b"\0" in content:  # NUL: of an encoding that would hide them
        raise SteleError(f"{where}: declares entities, or is not UTF-8: no document of the corpus is so; refused")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=False)
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        raise SteleError(f"{where}: damaged or truncated XML ({error.msg}); get it again") from None
    body = next(root.iter("{*}body"), None)
    if body is None:
        raise SteleError(f"{where}: no <body> in it; want a document in TEI")
    paragraphs, words = [], 0
    for paragraph in body.iter("{*}p"):
        sentences = list(paragraph.iter("{*}s")) or [paragraph]
        tokens = " ".join("".join(sentence.itertext()) for sentence in sentences).split()[: WORDS - words]
        words += len(tokens)
        paragraphs.append(" ".join(tokens))
        if words >= WORDS:
            break
    return "\n".join(filter(None, paragraphs))


def _members(paths: Sequence[Path], language: str) -> Iterator[tuple[str, bytes]]:
    """The documents in an archive; it is read to its very end, so that a cut one is noticed."""
    last = ""
    with (
        reading(lambda: f"{paths[0]}{f', after {last}' if last else ''}", "tar archive"),
        io.BufferedReader(_Joined(paths), 1 << 20) as joined,
        gzip.GzipFile(fileobj=joined) if joined.peek(2)[:2] == b"\x1f\x8b" else joined as stream,
        tarfile.open(fileobj=stream, mode="r|", tarinfo=TarMember) as archive,
    ):
        for member in archive:
            archive.members = []  # it would keep all
            last = member.name
            if member.size > LARGEST:  # what is no document would be passed over, up to a size that anyone can write
                raise SteleError(f"{paths[0]}: {last}: {TOO_LARGE}")
            if member.isreg() and last.endswith(".xml"):
                yield _name(last, language, f"{paths[0]}: {last}"), archive.extractfile(member).read()
        while stream.read(1 << 20):
            pass


class _Joined(io.RawIOBase):
    """Files one after the other, as one."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths, self._handle = iter(paths), None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        while True:
            if self._handle is None:
                if (path := next(self._paths, None)) is None:
                    return 0
                self._handle = open(path, "rb")  # noqa: SIM115 - closed at its end
            if count := self._handle.readinto(buffer):
                return count
            self._handle.close()
            self._handle = None

    def close(self) -> None:
        if self._handle is not None:
            self._handle.close()
        super().close()


def _check_parts(paths: Sequence[Path]) -> None:
    """The parts of one archive: all from the first on, or it alone."""
    numbers = [_ARCHIVE.fullmatch(path.name)["part"] for path in paths]
    whole = [None] if len(paths) == 1 and numbers[0] is None else list(range(len(paths)))
    if [None if number is None else int(number) for number in numbers] != whole:
        names = ", ".join(path.name for path in paths)
        raise SteleError(f"{paths[0].parent}: {names}: want one archive, or all its parts from .00 on, and no other")


def _language(folders: Sequence[str]) -> str | None:
    """The first folder whose name is a language's code."""
    return next((name for name in folders if _LANGUAGE.fullmatch(name)), None)


def _name(path: str, language: str, where: str) -> str:
    """The id of a document: its path below the language's folder, without suffix; SteleError for one with white space.

    >>> _name("UNv1.0-TEI/en/1990/a/45/1.xml", "en", "un.tar"), _name("1990/a/45/1.xml", "en", "un.tar")
    ('1990/a/45/1', '1990/a/45/1')
    """
    parts = PurePosixPath(path).parts
    below_language = parts[parts.index(language) + 1 :] if language in parts else parts
    return identifier(
        "/".join(below_language).removesuffix(".gz").removesuffix(".xml"), where, "the name of a document"
    )
