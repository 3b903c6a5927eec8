"""Documents in TEI as the United Nations Parallel Corpus has them: a file a document, in a tar a language.

`UNv1.0-TEI.en.tar.gz`, or the parts that it is published in (`.tar.gz.00`, `.01`, ...), which need not be joined: they
are read as one stream, and nothing is unpacked. Members are `UNv1.0-TEI/en/1990/a/45/1.xml`. The same files unpacked,
in a folder a language, are read as well.

The text of a document is that of its body: sentences (`<s>`) parted by a blank, paragraphs (`<p>`) by a line end, white
space within a sentence being one blank; the header (title, symbol, disclaimer) is none of it. It ends after WORDS
words: every word is a token at least, so no encoder reads further.
"""

from __future__ import annotations

import gzip
import io
import re
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from stele.benchmarks._files import below, open_bytes
from stele.errors import SteleError
from stele.files.reading import TarMember, reading

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
        yield _name(path.relative_to(folder).as_posix(), language), content


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
        told = " ".join("".join(sentence.itertext()) for sentence in sentences).split()[: WORDS - words]
        words += len(told)
        paragraphs.append(" ".join(told))
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
                yield _name(last, language), archive.extractfile(member).read()
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


def _name(path: str, language: str) -> str:
    """The id of a document: its path below the language's folder, without suffix.

    >>> _name("UNv1.0-TEI/en/1990/a/45/1.xml", "en"), _name("1990/a/45/1.xml", "en")
    ('1990/a/45/1', '1990/a/45/1')
    """
    parts = PurePosixPath(path).parts
    below_language = parts[parts.index(language) + 1 :] if language in parts else parts
    return "/".join(below_language).removesuffix(".gz").removesuffix(".xml")
