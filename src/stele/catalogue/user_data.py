"""Files that a user brings: finding them in a folder laid out in a way of its own, and telling whether they changed.

The folder is only ever read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path, PurePath, PurePosixPath
from urllib.parse import unquote, urlsplit

from stele.catalogue.schema.datasets import Part, PartFile
from stele.errors import SteleError
from stele.files.digests import digest, file_digests, folder_digest

MANY = 2000  # files of a folder from which on they are remembered together


def listing(folder: Path | str) -> list[str]:
    """The files below a folder, as sorted relative paths; hidden ones apart, symbolic links to folders not followed."""
    folder, paths = Path(folder).expanduser(), []
    if not folder.is_dir():
        raise SteleError(f"{folder}: {'a file, want a folder' if folder.exists() else 'no such folder'}")
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        below = Path(root).relative_to(folder).as_posix()
        paths += [name if below == "." else f"{below}/{name}" for name in files if not name.startswith(".")]
    return sorted(paths)


def find(files: Sequence[str], file: PartFile, part: str, where: str) -> list[str]:
    """The user's copies of one catalogue file among the paths of a folder.

    Several equally good ones are an error, unless the catalogue gives patterns (`like`, `variants`) for several.
    `where` names the folder in it.
    """
    named = _best(files, file, part)
    if len(named) > 1:
        raise SteleError(f"{where}: several files could be {file.path}: {', '.join(named[:5])}; keep one of them there")
    return named or _alike(files, file)


def part_files(files: Sequence[str], source: Part) -> list[str]:
    """The paths of a folder that one part of a dataset (see `datasets.resolve`) is taken from.

    All, for a dataset that names no files. Of several equally good ones all are taken: to choose is the job's business.
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
    """The Parquet files of a folder that hold a part in place of its own (`exports`), in the order of their numbers.

    >>> exported(["ha/10.parquet", "ha/9.parquet", "ha.parquet"], Part.model_construct(exports=["ha/*.parquet"]))
    ['ha/9.parquet', 'ha/10.parquet']
    """
    for pattern in source.exports:
        if matching := [path for path in files if PurePosixPath(path).match(pattern)]:
            return sorted(matching, key=lambda path: [int(number) for number in re.findall("[0-9]+", path)])
    return []


def _best(files: Sequence[str], file: PartFile, part: str) -> list[str]:
    """The paths that end most like a catalogue file's path or address.

    A name that other parts of the dataset share must have at least its folder in common.
    """
    wanted = [file.path, f"{part}/{file.path}", *(unquote(urlsplit(url).path) for url in file.addresses)]
    names = {other.rpartition("/")[2] for other in wanted}
    named = [path for path in files if path.rpartition("/")[2] in names]  # quick: folders may hold thousands
    scored = [(max(_common_tail(path, other) for other in wanted), path) for path in named]
    best = max((score for score, _ in scored), default=0)
    least = 1 if file.own_name else 2
    return [path for score, path in scored if score == best >= least]


def _alike(files: Sequence[str], file: PartFile) -> list[str]:
    """The paths whose last parts, as many as a pattern has, match one that the catalogue gives for a file."""
    patterns = [*file.like, *file.variants]
    return [path for path in files if any(PurePosixPath(path).match(pattern) for pattern in patterns)]


def find_unpacked(files: Iterable[str], members: Sequence[str]) -> str | None:
    """The folder (relative; "" the given one itself) below which all `members` of an archive lie already, else None."""
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
    """The number of last components that two paths share."""
    count = 0
    for mine, theirs in zip(reversed(PurePosixPath(path).parts), reversed(PurePosixPath(other).parts), strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def content_digest(folder: Path | str, memory: Path, files: Iterable[str] | None = None) -> str:
    """A digest of files of a folder (all when None): names, sizes and bytes, wherever they lie.

    It says whether a user's data changed. `memory` keeps what was read, so that it is read once.
    """
    folder = Path(folder).expanduser()
    names = listing(folder) if files is None else sorted(files)
    if len(names) > MANY:
        return folder_digest(folder, names, memory)
    digests = file_digests((folder / name for name in names), memory)
    return digest({name: digests[folder / name] for name in names})


# --- the files of a test collection by their names --------------------------------------------------------------------
# A file of judgments is named `*qrels*`, one of topics `*topics*` (TREC, CLEF, NTCIR, FIRE and Anserini all do so) or
# `*queries*`; all others hold documents, but for what stands beside them on a publisher's disc.
QRELS = re.compile(r"qrel", re.IGNORECASE)
TOPICS = re.compile(r"(^|[._-])(topics?|query|queries)([._-]|$)", re.IGNORECASE)
PACKED = "documents.sgml"  # of documents that were a file each
_OTHER = re.compile(r"readme.*|record\.json|\..*|.*\.(dtd|md|md5|sha\d*|html?|pdf|tbl)", re.IGNORECASE)


def role(path: PurePath | str) -> re.Pattern[str] | None:
    """The role of a file by its name: QRELS, TOPICS or None.

    >>> role("qrels.1-25.spanish.gz") is QRELS, role("CL.topics.arabic.trec11.txt") is TOPICS, role("ism_001")
    (True, True, None)
    """
    name = PurePath(path).name
    return next((pattern for pattern in (QRELS, TOPICS) if pattern.search(name)), None)


def document_files(paths: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """The paths of files of documents: of those, the names that `patterns` match; all, where none matches."""
    named = [(path, path.rpartition("/")[2]) for path in paths]
    files = [(path, name) for path, name in named if not (_OTHER.fullmatch(name) or role(name))]
    chosen = [path for path, name in files if any(fnmatch(name, pattern) for pattern in patterns)]
    return chosen or [path for path, _ in files]
