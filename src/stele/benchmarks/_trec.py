"""Read TREC's layouts: documents of newswire collections, judgments, and topics as TSV; compressed or not.

Documents are TREC's SGML, Anserini's JSON, or lines `id<TAB>text`. The text of an SGML document is the text that
Anserini's TrecCollection indexes: the contents of some tags in their order, by default of Anserini's ten tags (`TAGS`).
Tags inside them are removed, entities become characters, blank lines separate paragraphs, and line ends stay. There is
no separate title, so that term matching sees each word once. A document without any tag is all text, as in collections
that were cleaned. Entities that a file declares are not expanded.
"""

import html
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import IO, NamedTuple

from stele.benchmarks._files import BLOCK, identifier, json_array, json_lines, lines, refuse_again
from stele.benchmarks.types import Passage, Query
from stele.errors import SteleError
from stele.files.reading import open_bytes, plain_name, reading

logger = logging.getLogger(__name__)

TAGS = ("TEXT", "HEADLINE", "TITLE", "HL", "HEAD", "TTL", "DD", "DATE", "LP", "LEADPARA")
LARGEST = 1 << 28  # most bytes of a document
BOM = b"\xef\xbb\xbf"
PACKED = {b"\x1f\x9d": "compress", b"PK\x03\x04": "zip"}
PARAGRAPHS = (b"\n</P>\n<P>\n", b"<P>", b"</P>")
BLANKS = ("\r", "\t", " \n", "\n ")  # white space that may begin or end a line
IDS, TEXTS = ("id", "docid", "_id"), ("contents", "text")

# the beginning of lines `id<TAB>text`, whose texts may have tags, but none that begins a line
_LINES = re.compile(rb"[^\s<>]+\t(?!.*^[ \t]*<doc[\s>])", re.DOTALL | re.IGNORECASE | re.MULTILINE)
_START, _END = re.compile(rb"<(DOC|Doc|doc)(?:\s[^<>]*)?>"), re.compile(rb"</(?:DOC|Doc|doc)>")
_NUMBER = re.compile(rb"<DOCNO>\s*([^<\r\n]*)(?:\s*</DOCNO>)?", re.IGNORECASE)
_OTHER_ID = re.compile(rb"<DOCID>[^<]*</DOCID>", re.IGNORECASE)
_ID = re.compile(rb"""\sid\s*=\s*["']?([^"'\s<>]+)""", re.IGNORECASE)
_PARAGRAPH = re.compile(rb"</?[Pp](?:\s[^<>]*)?/?>")
_TAG = re.compile(rb"<!\[CDATA\[|\]\]>|</?[A-Za-z!?][^<>]*>")  # of CDATA the marks alone: what it holds is text
_GAP = re.compile(r"\n{3,}")


class Document(NamedTuple):
    """A document as read from its file: id, place in the file, title, and text (for SGML the bytes with markup)."""

    id: str
    where: str
    title: str
    text: str | bytes


class Text:
    """Extractor of the text of SGML documents: from which tags, and in which encoding if a text is not UTF-8."""

    def __init__(self, tags: Sequence[str] = TAGS, encoding: str | None = None) -> None:
        names = b"|".join(re.escape(tag.encode()) for tag in tags)
        self._start = re.compile(rb"<(%s)(?:\s[^<>]*)?>" % names, re.IGNORECASE)
        self._encoding = encoding

    def of(self, document: Document) -> str:
        """Extracts the text of a document. Raises SteleError if it is in neither UTF-8 nor the encoding."""
        if isinstance(document.text, str):
            return document.text
        fields = list(self._fields(document.text))
        if not fields and not _TAG.search(bare := _OTHER_ID.sub(b"", document.text)):
            fields = [bare]
        marked = b"\n\n".join(fields)
        for usual in PARAGRAPHS:  # quicker than a pattern
            marked = marked.replace(usual, b"\n\n")
        if b"<" in marked:
            marked = _TAG.sub(b" ", _PARAGRAPH.sub(b"\n\n", marked))
        text = decoded(marked, self._encoding, document.where)
        if "&" in text:
            text = html.unescape(text)
        if any(blank in text for blank in BLANKS):
            text = "\n".join([line.strip() for line in text.split("\n")])
        return _GAP.sub("\n\n", text).strip()

    def _fields(self, body: bytes) -> Iterator[bytes]:
        """Yields the content of each of the tags; an unclosed tag ends where the next one begins."""
        start, never_closed = self._start.search(body), set[bytes]()
        while start:
            end = -1 if start[1] in never_closed else body.find(b"</" + start[1] + b">", start.end())
            following = self._start.search(body, start.end() if end < 0 else end)
            if end < 0:
                never_closed.add(start[1])
                end = following.start() if following else len(body)
            yield body[start.end() : end]
            start = following


def decoded(content: bytes, encoding: str | None, where: str) -> str:
    """Decodes UTF-8 or, if that fails, the given encoding. Raises SteleError if both fail."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        if encoding is None:
            raise SteleError(
                f"{where}: not UTF-8 ({error.reason} at byte {error.start}); give the dataset's `collection: "
                "{encoding: ...}` in the catalogue"
            ) from None
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise SteleError(f"{where}: neither UTF-8 nor {encoding} (at byte {error.start}); get it again") from None


def documents(path: Path) -> Iterator[Document]:
    """Streams the documents of one file; its beginning determines the layout. Raises SteleError for another layout."""
    with reading(path), open_bytes(path) as handle:
        beginning = handle.read(BLOCK)
        archive = "tar" if beginning[257:262] == b"ustar" else None
        if kind := next((kind for magic, kind in PACKED.items() if beginning.startswith(magic)), archive):
            raise SteleError(f"{path}: packed with {kind}; unpack it (gzip, bzip2, xz and zstd are read packed)")
        beginning = beginning.removeprefix(BOM).lstrip()
        is_json = beginning[:1] in (b"{", b"[")
        tags = set() if is_json or _LINES.match(beginning) else {start[1] for start in _START.finditer(beginning)}
        if tags:
            yield from _sgml(path, _bodies(path, handle, beginning, min(tags)))
            return
    if is_json:
        for where, item in (json_lines if beginning[:1] == b"{" else json_array)(path):
            yield _of_json(item, where)
    elif b"\t" in beginning.partition(b"\n")[0]:
        for number, line in lines(path):
            if line.strip():
                where = f"{path}, line {number}"
                name, _, text = line.partition("\t")
                yield Document(identifier(name, where), where, "", text)
    elif beginning.startswith(b"<"):  # a DTD or a page about the collection, or not what it should be
        logger.warning("%s: found no <DOC> in it; it is left out", path)
    elif beginning:
        raise SteleError(
            f"{path}: no documents: want <DOC> ... </DOC>, lines of JSON, or lines of an id, a tab and a text. If the "
            "file has none, remove it, or list the files to read in the dataset's `collection: {documents: ...}`"
        )


def _of_json(item: dict, where: str) -> Document:
    name = next((item[key] for key in IDS if key in item), None)
    text = next((item[key] for key in TEXTS if key in item), None)
    title = item.get("title") or ""
    if not isinstance(text, str) or not isinstance(title, str):
        raise SteleError(f"{where}: want `id` and `contents`, or `title` and `text`; found {', '.join(item) or 'none'}")
    return Document(identifier(name, where), where, "" if "contents" in item else title, text)


def _sgml(path: Path, bodies: Iterator[tuple[bytes, bytes]]) -> Iterator[Document]:
    """Yields the documents of an SGML file; the only document of a file takes the file's name if it has no id."""
    number, unnamed = 0, None
    for number, (tag, body) in enumerate(bodies, start=1):
        where = f"{path}, document {number}"
        if unnamed:
            break
        if match := _NUMBER.search(body):
            name, body = match[1], body[: match.start()] + body[match.end() :]
        elif match := _ID.search(tag):
            name = match[1]
        else:
            unnamed = Document(plain_name(path.name), where, "", body)
            continue
        yield Document(identifier(name.strip().decode("utf-8", "replace"), where), where, "", body)
    if unnamed and number > 1:
        raise SteleError(f"{unnamed.where}: neither <DOCNO> nor <DOC id=...> found; a document needs an id")
    if unnamed:
        yield unnamed._replace(id=identifier(unnamed.id, unnamed.where))


def _bodies(path: Path, handle: IO[bytes], buffer: bytes, tag: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yields (start tag, content) of each document; the content ends at the end tag or at the next start tag.

    `buffer` is the beginning of the file, with start tags named `tag`; `handle` reads the rest.
    """
    while True:
        starts = _starts(buffer, tag)
        for begin, following in pairwise(starts):
            yield begin[0], _until_end(buffer[begin.end() : following.start()])
        buffer = buffer[starts[-1].start() :]
        if len(buffer) > LARGEST:
            raise SteleError(f"{path}: a document of more than {LARGEST >> 20} MB; its end tag is missing")
        block = handle.read(max(BLOCK, len(buffer)))
        if not block:
            break
        buffer += block
    yield starts[-1][0], _until_end(buffer[len(starts[-1][0]) :])


def _starts(text: bytes, tag: bytes) -> list[re.Match[bytes]]:
    """Start tags of documents. Joined files may have <DOC> and <doc>: without an end tag between them, `tag` counts."""
    starts: list[re.Match[bytes]] = []
    for start in _START.finditer(text):
        if starts and start[1] != starts[-1][1] and not _END.search(text, starts[-1].end(), start.start()):
            if start[1] != tag:
                continue  # within a document
            starts.pop()  # around documents
        starts.append(start)
    return starts


def _until_end(body: bytes) -> bytes:
    ends = list(_END.finditer(body))
    return body[: ends[-1].start()] if ends else body


# --- judgments and topics ---
SHOWN = 3  # ids in a message
_COLUMN = re.compile(r"[^ \t\r\f\v]+")  # separators as in C's isspace: an id may have other white space


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Reads query id -> {document id: relevance} from lines `query iteration document relevance` (spaces or tabs).

    Relevance 0 and below (TREC's -1 is "not judged") is not relevant. Raises SteleError for another layout, a repeated
    judgment, and a file without judgments.
    """
    judged: dict[str, dict[str, int]] = {}
    for number, line in lines(path):
        where, columns = f"{path}, line {number}", _COLUMN.findall(line)
        if not columns:
            continue
        if len(columns) != 4 or not re.fullmatch(r"[+-]?[0-9]{1,9}", columns[3]):
            raise SteleError(f"{where}: want `query 0 document relevance`, found {line[:80]!r}")
        query, _, document, relevance = columns
        refuse_again(document, judged.setdefault(query, {}), where, f"judgment of query {query} on document")
        judged[query][document] = int(relevance)
    if not judged:
        raise SteleError(f"{path}: no judgments found; get it again")
    return judged


def tsv_topics(path: Path) -> Iterator[Query]:
    """Yields topics from lines `id<TAB>text`, unquoted. Raises SteleError for a repeated id and for a missing text."""
    seen: set[str] = set()
    for number, line in lines(path):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        name, _, text = line.partition("\t")
        if not text.strip():
            raise SteleError(f"{where}: want id, tab, text; found {line[:80]!r}")
        seen.add(refuse_again(identifier(name, where), seen, where))
        yield Query(name, text.strip())
    if not seen:
        raise SteleError(f"{path}: no topics found; get the file again")


def warn_missing_judged(
    passages: Iterable[Passage], judgments: Mapping[str, Mapping[str, int]], name: str
) -> Iterator[Passage]:
    """Yields the passages unchanged; after the last one, warns of judged ids that no passage has.

    Such documents stay judged, as in trec_eval. Only the few thousand judged ids are held in memory: a collection may
    have tens of millions. `name` is the collection's name in the warning.
    """
    lacking = set().union(*judgments.values())
    for passage in passages:
        lacking.discard(passage.id)
        yield passage
    if lacking:
        shown = ", ".join(sorted(lacking)[:SHOWN])
        logger.warning("%s: %d judged documents are not in the collection (%s)", name, len(lacking), shown)
