"""The files of a wiki's dump in a folder: articles in one file or in parts, indexes, siteinfo.

Wikimedia gives the articles of a large wiki in one file and, the same pages again, in parts whose names say which page
ids they hold: enwiki-20220801-pages-articles1.xml-p1p41242.bz2. Each part is a whole export, with its own siteinfo.

They are decompressed strictly: every byte of a range must belong to a whole stream with a right checksum. What is
damaged, cut short or followed by rubbish is an error.

The <siteinfo> in a dump's header names each namespace of the wiki once. {wiki}-{date}-siteinfo-namespaces.json.gz
beside the dump is the answer of MediaWiki's api.php?action=query&meta=siteinfo with namespaces, namespacealiases and
magicwords (in either of its two formats): names that a wiki still accepts, and its words for a redirect.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import IO, NamedTuple

from stele.corpora.wikitext.titles import Site
from stele.errors import SteleError
from stele.files.reading import JsonObject, open_bytes, open_bz2, open_xz, parse_json, reading

WANTED = (
    "one {wiki}-...-pages-articles.xml or -pages-articles-multistream.xml, or all of its parts, "
    "-pages-articles1.xml-p1p41242 and so on; plain or with .bz2"
)
_ARTICLES = re.compile(r"(?P<wiki>[^-]+)-.*pages-articles.*\.xml(?:-p(?P<first>\d+)p(?P<last>\d+))?[^/]*")


class DumpFiles(NamedTuple):
    """A dump, or a part of one: the articles, for a multistream dump its index, and the wiki's siteinfo."""

    articles: Path
    index: Path | None = None
    siteinfo: Path | None = None

    def can_be_cut(self) -> bool:
        """Whether it has blocks that can be read on their own, and an index that says where they are."""
        return self.index is not None and compression_of(self.articles) == "bzip2"


def find_dump(folder: Path) -> list[DumpFiles]:
    """The dump in a dataset folder, its parts in the order of their pages.

    Raises SteleError for none, several dumps or parts that overlap; lists the files, and the names that are read.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    articles = [path for path in files if _ARTICLES.fullmatch(path.name) and "index" not in path.name]
    articles = [path for path in articles if "multistream" in path.name] or articles
    articles.sort(key=lambda path: (page_ids(path) or (0, 0), path.name))
    if not articles or (len(articles) > 1 and not _are_parts(articles)):
        there = ", ".join(path.name for path in files) if folder.is_dir() else "no such folder"
        raise SteleError(f"{folder}: want {WANTED}; found {len(articles)} such files (files: {there})")
    return [_with_others(path, files) for path in articles]


def page_ids(articles: Path) -> tuple[int, int] | None:
    """The first and last page id that the name of a part gives.

    >>> page_ids(Path("enwiki-1-pages-articles1.xml-p1p41242.bz2"))
    (1, 41242)
    """
    match = _ARTICLES.fullmatch(articles.name)
    return (int(match["first"]), int(match["last"])) if match and match["first"] else None


def missing_pages(dumps: Sequence[DumpFiles]) -> str | None:
    """Which page ids no part of a dump in parts holds between its first and its last; None where there is no gap."""
    ranges = [ids for dump in dumps if (ids := page_ids(dump.articles))]
    gaps = [(before[1] + 1, after[0] - 1) for before, after in pairwise(ranges) if after[0] > before[1] + 1]
    return ", ".join(f"p{first}p{last}" for first, last in gaps) or None


def parts_of_shard(dumps: Sequence[DumpFiles], shard: int, shards: int) -> list[DumpFiles]:
    """The parts of a dump that a shard reads whole: those whose middle byte lies in its share of all bytes."""
    sizes = [dump.articles.stat().st_size for dump in dumps]
    ends = list(accumulate(sizes))
    share = ends[-1] / shards
    middles = [end - size / 2 for end, size in zip(ends, sizes, strict=True)]
    return [dump for dump, middle in zip(dumps, middles, strict=True) if (shard - 1) * share <= middle < shard * share]


def _are_parts(articles: Sequence[Path]) -> bool:
    """Whether files are parts of one dump: of one wiki, each with its own page ids."""
    wikis = {path.name.partition("-")[0] for path in articles}
    ranges = [page_ids(path) for path in articles]
    return len(wikis) == 1 and None not in ranges and all(before[1] < after[0] for before, after in pairwise(ranges))


def _with_others(articles: Path, files: Iterable[Path]) -> DumpFiles:
    """The articles with their own index and their wiki's siteinfo."""
    wiki, files = articles.name.partition("-")[0], list(files)
    indexes = [path for path in files if "index" in path.name and _index_key(path) == _index_key(articles)]
    about = [path for path in files if re.fullmatch(rf"{re.escape(wiki)}-.*siteinfo-namespaces\.json.*", path.name)]
    index = indexes[0] if "multistream" in articles.name and indexes else None
    return DumpFiles(articles, index, about[-1] if about else None)


def _index_key(path: Path) -> tuple[str, str]:
    """The part of its name that a multistream dump, or a part of one, shares with its index."""
    stem, _, rest = path.name.replace("-index", "").partition(".")
    return stem, rest.removeprefix("xml").removeprefix("txt").removesuffix(".bz2")


CHUNK = 1 << 20  # bytes decompressed at once
_MAGIC = {b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x1f\x8b": "gzip", b"PK\x03\x04": "zip", b"7z\xbc\xaf": "7z"}
_OPEN = {"bzip2": open_bz2, "xz": open_xz}


def compression_of(path: Path) -> str:
    """ "bzip2", "xz" or "plain", by the file's first bytes; other compressions and empty files are refused."""
    with reading(path, advice="fetch the dataset first"), open(path, "rb") as handle:
        start = handle.read(8)
    if not start:
        raise SteleError(f"{path}: empty file; delete it and fetch it again")
    compression = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), "plain")
    if compression not in (*_OPEN, "plain"):
        raise SteleError(f"{path}: compressed with {compression}, want bzip2, xz or plain text")
    return compression


def read_blocks(
    path: Path, begin: int = 0, end: int | None = None, progress: Callable[[int], None] | None = None
) -> Iterator[bytes]:
    """The decompressed content of bytes [begin, end) of a file, as blocks of some megabytes at most.

    `progress` is called with the number of compressed bytes read since the last call.
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
    """The next `left` bytes of a file, read once; `progress` is called with the size of each read."""

    def __init__(self, handle: IO[bytes], left: int, progress: Callable[[int], None]) -> None:
        self._handle, self._left, self._progress = handle, left, progress

    def read(self, size: int) -> bytes:
        data = self._handle.read(min(size, self._left))
        self._left -= len(data)
        self._progress(len(data))
        return data


# --- siteinfo: names of namespaces and words for redirects ---
LARGEST = 16 << 20  # bytes of the file: Wikimedia's have some 200 kB
# what redirects begin with (MediaWiki's languages/messages): needed for exports before format 0.4, which mark none
_REDIRECT_WORDS = """
    تحويل пренасочване виж পুনর্নির্দেশ পুনঃনির্দেশ redirecció přesměruj ail-cyfeirio omdirigering
    weiterleitung ανακατευθυνση redirección redireccion suuna birzuzendu تغییر_مسیر تغییرمسیر
    ohjaus uudelleenohjaus redirection athsheoladh הפניה अनुप्रेषित पुनर्प्रेषित preusmjeri
    átirányítás alih tilvísun rinvia rinvio 転送 リダイレクト ｒｅｄｉｒｅｃｔ გადამისამართება 넘겨주기 peradresavimas
    пренасочување види തിരിച്ചുവിടുക पुनर्निर्देशन पुर्ननिर्देशन lencong doorverwijzing patrz
    przekieruj tam redirecionamento redirecteaza перенаправление перенапр преусмери preusmeri
    presmeruj preusmeritev ridrejto வழிமாற்று దారిమార్పు เปลี่ยนทาง yönlendirme юнәлтү
    перенаправлення رجوع_مکرر đổi 重定向 ווייטערפירן
"""


class Siteinfo(NamedTuple):
    """Further names of namespaces (name -> number) and words for redirects, in lower case without `#`."""

    names: dict[str, int]
    redirect_words: tuple[str, ...]


def site_of(language: str, case: str, names: Iterable[tuple[str | None, str | None]], siteinfo: Siteinfo) -> Site:
    """The Site that an export's header describes: its `names`, (number, name), come before the names of `siteinfo`."""
    local = {name: int(key) for key, name in names if name and re.fullmatch("-?[0-9]{1,9}", key or "")}
    return Site(language, case != "case-sensitive", {**siteinfo.names, **local})


def read_siteinfo(path: Path | None) -> Siteinfo:
    """The names and words in the file beside a dump; none without one. Raises SteleError for a damaged file."""
    if path is None:
        return Siteinfo({}, ())
    what = "siteinfo of a wiki", "fetch it again or remove it"
    with reading(path, *what):
        with open_bytes(path) as handle:
            text = handle.read(LARGEST + 1)
        if len(text) > LARGEST:
            raise SteleError(f"{path}: more than {LARGEST >> 20} MB unpacked: no siteinfo of a wiki; fetch it again")
        answer = parse_json(text, path, *what)["query"]
        return Siteinfo(_names(answer), _words(answer))


def _names(answer: JsonObject) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for alias in answer.get("namespacealiases", ()):
        numbers[alias.get("alias") or alias["*"]] = int(alias["id"])
    for space in answer["namespaces"].values():
        numbers |= {space[key]: int(space["id"]) for key in ("canonical", "name", "*") if space.get(key)}
    return numbers


def _words(answer: JsonObject) -> tuple[str, ...]:
    words = (word["aliases"] for word in answer.get("magicwords", ()) if word["name"] == "redirect")
    return tuple(alias.lstrip("#").lower() for aliases in words for alias in aliases)


def redirect_pattern(siteinfo: Siteinfo) -> re.Pattern[str]:
    """Matches the beginning of a redirect's text; group 1 is its target."""
    words = "|".join(
        map(re.escape, sorted({*_REDIRECT_WORDS.split(), *siteinfo.redirect_words}, key=len, reverse=True))
    )
    return re.compile(rf"\s*#(?:\s*redirect|{words})(?!\w)[^\[\n]*\[\[([^\[\]|#\n]+)", re.I)
