"""Finds a dataset's files in a user's folder of any layout, and detects whether they have changed.

Nothing is ever written into the folder.
"""

import os
import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path, PurePath, PurePosixPath
from urllib.parse import unquote, urlsplit

from stele.catalogue.schema.datasets import Part, PartFile
from stele.errors import SteleError
from stele.files.digests import digest, file_digests, folder_digest
from stele.files.reading import refuse_closed

MANY = 2000  # a folder of more files is remembered as one


def listing(folder: Path | str) -> list[str]:
    """Sorted relative paths of the files below a folder and its links to folders, without hidden ones.

    Raises SteleError if it is no folder, or one below it cannot be looked into.
    """
    folder, paths = Path(folder).expanduser(), []
    if not folder.is_dir():
        raise SteleError(f"{folder}: {'a file, want a folder' if folder.exists() else 'no such folder'}")
    for root, folders, files in os.walk(folder, onerror=refuse_closed, followlinks=True):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and not _leads_up(Path(root, name)))
        below = Path(root).relative_to(folder).as_posix()
        paths += [name if below == "." else f"{below}/{name}" for name in files if not name.startswith(".")]
    return sorted(paths)


def _leads_up(folder: Path) -> bool:
    """Whether a folder is a link to one on the way to it, or above that, in which no walk would end."""
    return folder.is_symlink() and any(above.resolve().is_relative_to(folder.resolve()) for above in folder.parents)


def find(files: Sequence[str], file: PartFile, part: str, where: str) -> list[str]:
    """Finds the user's copies of one catalogue file among the paths of a folder.

    Raises SteleError, beginning with `where`, if several names fit equally well. Only the catalogue's patterns (`like`,
    `variants`) may match several files.
    """
    named = _best(files, file, part)
    if len(named) > 1:
        raise SteleError(f"{where}: several files could be {file.path}: {', '.join(named[:5])}; keep only one there")
    return named or _alike(files, file)


def part_files(files: Sequence[str], source: Part) -> list[str]:
    """Paths of a user's folder that one part of a dataset (see `datasets.resolve`) is taken from.

    A dataset that names no files takes all. Of equally good matches all are returned; the job chooses between them.
    """
    if not source.files:
        return list(files)
    paths: set[str] = set()
    for file in source.files:
        copies = _best(files, file, source.part) or _alike(files, file)
        if not copies and file.unpack:
            base = find_unpacked(files, file.unpack.members)
            copies = [] if base is None else [path for path in files if path.startswith(f"{base}/" if base else "")]
        paths.update(copies)
    return sorted(paths) or exported(files, source)


def exported(files: Iterable[str], source: Part) -> list[str]:
    """Parquet files of a folder that replace a part's own files (its `exports`), in the order of their numbers.

    >>> exported(["ha/10.parquet", "ha/9.parquet", "ha.parquet"], Part.model_construct(exports=["ha/*.parquet"]))
    ['ha/9.parquet', 'ha/10.parquet']
    """
    for pattern in source.exports:
        if matching := [path for path in files if PurePosixPath(path).match(pattern)]:
            return sorted(matching, key=lambda path: [int(number) for number in re.findall("[0-9]+", path)])
    return []


def _best(files: Sequence[str], file: PartFile, part: str) -> list[str]:
    """Paths that share the most trailing components with a catalogue file's path or addresses.

    If other parts of the dataset have a file of the same name, the folder must match too.
    """
    wanted = [file.path, f"{part}/{file.path}", *(unquote(urlsplit(url).path) for url in file.addresses)]
    names = {other.rpartition("/")[2] for other in wanted}
    named = [path for path in files if path.rpartition("/")[2] in names]  # quick: folders may hold thousands
    scored = [(max(_common_tail(path, other) for other in wanted), path) for path in named]
    best = max((score for score, _ in scored), default=0)
    least = 1 if file.own_name else 2
    return [path for score, path in scored if score == best >= least]


def _alike(files: Sequence[str], file: PartFile) -> list[str]:
    """Paths whose last components match one of the catalogue's patterns (`like`, `variants`) for a file."""
    patterns = [*file.like, *file.variants]
    return [path for path in files if any(PurePosixPath(path).match(pattern) for pattern in patterns)]


def find_unpacked(files: Iterable[str], members: Sequence[str]) -> str | None:
    """Relative folder ("" for the top) below which all `members` of an archive are already unpacked, or None."""
    present = set(files)
    if not members:
        return None
    for path in sorted(present, key=len):
        if path == members[0] or path.endswith(f"/{members[0]}"):
            base = path[: len(path) - len(members[0])]
            if all(base + member in present for member in members):
                return base.rstrip("/")
    return None


def _common_tail(path: str, other: str) -> int:
    """Number of trailing components that two paths share."""
    count = 0
    for mine, theirs in zip(reversed(PurePosixPath(path).parts), reversed(PurePosixPath(other).parts), strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def content_digest(folder: Path | str, memory: Path, files: Iterable[str] | None = None) -> str:
    """Digest of the names, sizes and bytes of `files` below a folder (None: all), whatever the folder's own path.

    It detects changes of a user's data. The cache file `memory` keeps digests, so that each file is read only once.
    """
    folder = Path(folder).expanduser()
    names = listing(folder) if files is None else sorted(files)
    if len(names) > MANY:
        return folder_digest(folder, names, memory)
    digests = file_digests((folder / name for name in names), memory)
    return digest({name: digests[folder / name] for name in names})


# --- the files of a test collection by their names --------------------------------------------------------------------
# A file of judgments is named `*qrels*`, one of topics `*topics*` (TREC, CLEF, NTCIR, FIRE and Anserini all do so) or
# `*queries*`; all others hold documents, except _OTHER: notes and DTDs on a publisher's disc.
QRELS = re.compile(r"qrel", re.IGNORECASE)
TOPICS = re.compile(r"(^|[._-])(topics?|query|queries)([._-]|$)", re.IGNORECASE)
PACKED = "documents.sgml"  # one file for documents that were a file each
_OTHER = re.compile(r"readme.*|record\.json|\..*|.*\.(dtd|md|md5|sha\d*|html?|pdf|tbl)", re.IGNORECASE)


def role(path: PurePath | str) -> re.Pattern[str] | None:
    """Role of a file in a test collection, by its name: QRELS, TOPICS or None.

    >>> role("qrels.1-25.spanish.gz") is QRELS, role("CL.topics.arabic.trec11.txt") is TOPICS, role("ism_001")
    (True, True, None)
    """
    name = PurePath(path).name
    return next((pattern for pattern in (QRELS, TOPICS) if pattern.search(name)), None)


def document_files(paths: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """Paths of the document files of a test collection whose names match `patterns`; all of them if none matches."""
    named = [(path, path.rpartition("/")[2]) for path in paths]
    files = [(path, name) for path, name in named if not (_OTHER.fullmatch(name) or role(name))]
    chosen = [path for path, name in files if any(fnmatch(name, pattern) for pattern in patterns)]
    return chosen or [path for path, _ in files]
