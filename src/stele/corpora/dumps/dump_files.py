"""The files of a wiki's dump in a folder: articles in one file or in parts, indexes, siteinfo.

Wikimedia publishes the articles of a large wiki in one file and, again, in parts whose names give the range of page
ids: enwiki-20220801-pages-articles1.xml-p1p41242.bz2. Each part is a whole export with its own siteinfo.

Decompression is strict: every byte of a range must belong to a complete stream with a correct checksum. A file that is
damaged, cut short or followed by other bytes raises SteleError.

The <siteinfo> in a dump's header names each namespace of the wiki once. {wiki}-{date}-siteinfo-namespaces.json.gz
beside the dump is the answer of MediaWiki's api.php?action=query&meta=siteinfo with namespaces and namespacealiases (in
either of its two formats): names that a wiki still accepts.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import IO, NamedTuple

from stele.errors import SteleError
from stele.files.reading import JsonObject, open_bytes, open_bz2, open_xz, parse_json, reading

WANTED = (
    "one {wiki}-...-pages-articles.xml or -pages-articles-multistream.xml, or all of its parts, "
    "-pages-articles1.xml-p1p41242 and so on; plain or with .bz2"
)
_ARTICLES = re.compile(r"(?P<wiki>[^-]+)-.*pages-articles.*\.xml(?:-p(?P<first>\d+)p(?P<last>\d+))?[^/]*")
_BEGINS = re.compile(r"(?<!\d)1?\.xml")  # a whole dump or its part 1, whose pages may begin after p1


class DumpFiles(NamedTuple):
    """Files of a dump or of one of its parts: the articles, a multistream dump's index, and the wiki's siteinfo."""

    articles: Path
    index: Path | None = None
    siteinfo: Path | None = None

    def can_be_cut(self) -> bool:
        """Whether the articles consist of blocks that can be read on their own, and an index locates the blocks."""
        return self.index is not None and compression_of(self.articles) == "bzip2"


def find_dump(folder: Path) -> list[DumpFiles]:
    """Finds the dump in a dataset's folder; its parts are in the order of their pages.

    Of a dump that is there both with and without blocks (multistream), the one that reaches the later page is chosen,
    and the one with blocks if both do. Raises SteleError, listing the files, if there is no dump, if there are several,
    or if parts overlap.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    articles = [path for path in files if _ARTICLES.fullmatch(path.name) and "index" not in path.name]
    articles.sort(key=lambda path: (page_ids(path) or (0, 0), path.name))
    kinds = [[path for path in articles if ("multistream" in path.name) is blocks] for blocks in (True, False)]
    articles = max(filter(None, kinds), key=lambda paths: (page_ids(paths[-1]) or (0, math.inf))[1], default=[])
    if not articles or (len(articles) > 1 and not _are_parts(articles)):
        there = ", ".join(path.name for path in files) if folder.is_dir() else "no such folder"
        raise SteleError(f"{folder}: want {WANTED}; found {len(articles)} such files (files: {there})")
    return [_with_others(path, files) for path in articles]


def page_ids(articles: Path) -> tuple[int, int] | None:
    """First and last page id in the name of a part; None for other names.

    >>> page_ids(Path("enwiki-1-pages-articles1.xml-p1p41242.bz2"))
    (1, 41242)
    """
    match = _ARTICLES.fullmatch(articles.name)
    return (int(match["first"]), int(match["last"])) if match and match["first"] else None


def missing_pages(dumps: Sequence[DumpFiles]) -> list[str]:
    """A note of the ranges of page ids missing before or between the parts of a dump; empty if there is no gap."""
    ranges = [ids for dump in dumps if (ids := page_ids(dump.articles))]
    if ranges and not _BEGINS.search(dumps[0].articles.name):
        ranges.insert(0, (0, 0))
    gaps = [(before[1] + 1, after[0] - 1) for before, after in pairwise(ranges) if after[0] > before[1] + 1]
    listed = ", ".join(f"p{first}p{last}" for first, last in gaps)
    return [f"parts are missing: no file has pages {listed}"] if listed else []


def parts_of_shard(dumps: Sequence[DumpFiles], shard: int, shards: int) -> list[DumpFiles]:
    """Selects the parts that a shard reads as a whole: those whose middle byte lies in its share of all bytes."""
    sizes = [dump.articles.stat().st_size for dump in dumps]
    ends = list(accumulate(sizes))
    share = ends[-1] / shards
    middles = [end - size / 2 for end, size in zip(ends, sizes, strict=True)]
    return [dump for dump, middle in zip(dumps, middles, strict=True) if (shard - 1) * share <= middle < shard * share]


def _are_parts(articles: Sequence[Path]) -> bool:
    """Whether files are parts of one dump: of one wiki and date, with ranges of page ids that do not overlap."""
    dumps = {path.name.partition("-pages-articles")[0] for path in articles}
    ranges = [page_ids(path) for path in articles]
    return len(dumps) == 1 and None not in ranges and all(before[1] < after[0] for before, after in pairwise(ranges))


def _with_others(articles: Path, files: Iterable[Path]) -> DumpFiles:
    wiki, files = articles.name.partition("-")[0], list(files)
    indexes = [path for path in files if "index" in path.name and _index_key(path) == _index_key(articles)]
    about = [path for path in files if re.fullmatch(rf"{re.escape(wiki)}-.*siteinfo-namespaces\.json.*", path.name)]
    index = indexes[0] if "multistream" in articles.name and indexes else None
    return DumpFiles(articles, index, about[-1] if about else None)


def _index_key(path: Path) -> tuple[str, str]:
    """Part of the name that a file of a multistream dump shares with its index."""
    stem, _, rest = path.name.replace("-index", "").partition(".")
    return stem, rest.removeprefix("xml").removeprefix("txt").removesuffix(".bz2")


CHUNK = 1 << 20  # bytes decompressed at once
_MAGIC = {b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x1f\x8b": "gzip", b"PK\x03\x04": "zip", b"7z\xbc\xaf": "7z"}
_OPEN = {"bzip2": open_bz2, "xz": open_xz}


def compression_of(path: Path) -> str:
    """Compression by the first bytes: "bzip2", "xz" or "plain". Raises SteleError for others and an empty file."""
    with reading(path, advice="fetch the dataset first"), open(path, "rb") as handle:
        start = handle.read(8)
    if not start:
        raise SteleError(f"{path}: the file is empty; delete it and fetch it again")
    compression = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), "plain")
    if compression not in (*_OPEN, "plain"):
        raise SteleError(f"{path}: compressed with {compression}, want bzip2, xz or plain text")
    return compression


def read_blocks(
    path: Path, begin: int = 0, end: int | None = None, progress: Callable[[int], None] | None = None
) -> Iterator[bytes]:
    """Yields the decompressed bytes [begin, end) of a file in blocks of at most some megabytes.

    `progress` gets the number of compressed bytes read since its last call. Raises SteleError for a damaged file.
    """
    kind = compression_of(path) if begin == 0 else "bzip2"
    where = f"{path}" if end is None else f"{path}, bytes {begin} to {end}, as its index says"
    with reading(where, f"{kind} file", "delete it and fetch it again"), open(path, "rb") as handle:
        handle.seek(begin)
        left = (path.stat().st_size if end is None else end) - begin
        section = _Section(handle, left, progress or (lambda read: None))
        content = _OPEN[kind](section) if kind in _OPEN else section
        yield from iter(lambda: content.read(CHUNK), b"")


class _Section:
    """File object over the next `left` bytes of a file; it calls `progress` with the size of each read."""

    def __init__(self, handle: IO[bytes], left: int, progress: Callable[[int], None]) -> None:
        self._handle, self._left, self._progress = handle, left, progress

    def read(self, size: int) -> bytes:
        data = self._handle.read(min(size, self._left))
        self._left -= len(data)
        self._progress(len(data))
        return data


# --- siteinfo: names of namespaces ---
LARGEST = 16 << 20  # bytes of the file: Wikimedia's have some 200 kB


def read_siteinfo(path: Path | None) -> dict[str, int]:
    """Reads names of namespaces (name -> number) from the siteinfo beside a dump; none without a file.

    Raises SteleError if the file is damaged.
    """
    if path is None:
        return {}
    what = "siteinfo of a wiki", "fetch it again or remove it"
    with reading(path, *what):
        with open_bytes(path) as handle:
            text = handle.read(LARGEST + 1)
        if len(text) > LARGEST:
            raise SteleError(f"{path}: more than {LARGEST >> 20} MB unpacked; not a wiki's siteinfo: fetch it again")
        return _names(parse_json(text, path, *what)["query"])


def _names(answer: JsonObject) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for alias in answer.get("namespacealiases", ()):
        numbers[alias.get("alias") or alias["*"]] = int(alias["id"])
    for space in answer["namespaces"].values():
        numbers |= {space[key]: int(space["id"]) for key in ("canonical", "name", "*") if space.get(key)}
    return numbers
