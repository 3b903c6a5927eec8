"""Unpack foreign zip and tar archives and place fetched files, safely under the names that they bring.

Every member of an archive is checked before the first byte is written. No file is overwritten, and none is written
outside the folder.
"""

import shutil
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any

from stele.catalogue.schema.datasets import Unpack
from stele.errors import SteleError, exhausted
from stele.files.atomic import atomic_file, link_or_copy
from stele.files.paths import inside, relative
from stele.files.reading import TarMember, unpacked

MAX_BYTES = 1 << 30  # unpacked size, unless the catalogue sets another limit
MAX_MEMBERS = 100_000  # files and folders together
MAX_BEHIND = 64 << 20  # bytes behind the last member of a tar, where zeros fill a block
MAX_DIRECTORY = 256 * MAX_MEMBERS  # bytes of a zip's list of its members, which is read at once
WHOLE = Unpack()


@dataclass(frozen=True)
class _Member:
    name: str
    size: int
    kind: str  # file | folder | anything else by name
    open: Callable[[], IO[bytes] | None]


def unpack(archive: Path, folder: Path, rules: Unpack = WHOLE) -> list[str]:
    """Unpacks an archive into `folder` and returns the relative paths of the written files, sorted.

    `rules`: `strip` is a leading folder name to remove, `keep` has patterns of the kept paths, `members` must be there
    afterwards, `max_bytes` limits the sum. Raises SteleError, with nothing written, for absolute paths, "..", links and
    other special members, names given twice, encrypted members, too many bytes or members, and damaged archives; also
    for a name that another file in `folder` has. Modes and dates are not kept.
    """
    with _opened(archive) as opened:
        chosen = _plan(archive, _members(opened), rules)
        for path, member in chosen.items():
            _write(archive, member, _free(folder, path, str(archive)))
    return sorted(chosen)


@contextmanager
def _opened(archive: Path) -> Iterator[zipfile.ZipFile | tarfile.TarFile]:
    """Opens an archive to read. Raises SteleError, naming the archive, if it is damaged or cannot be unpacked."""
    try:
        with open(archive, "rb") as handle, _open(archive, handle) as opened:
            yield opened
    except SteleError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:  # damage has no number of the system
            name = f"{Path(error.filename).name}: " if error.filename else ""
            raise SteleError(f"{archive}: cannot be unpacked ({name}{error.strerror})") from None
        if exhausted(error):
            raise
        raise SteleError(f"{archive}: damaged archive ({str(error) or type(error).__name__})") from None


def _open(archive: Path, handle: IO[bytes]) -> AbstractContextManager[zipfile.ZipFile | tarfile.TarFile]:
    if zipfile.is_zipfile(archive) and not tarfile.is_tarfile(archive):  # a tar may end with a zip
        return zipfile.ZipFile(_Bounded(handle))
    try:
        plain = unpacked(handle)
        if not plain.seekable():
            raise tarfile.ReadError("compressed with zstd, which cannot be read here")
        return tarfile.open(fileobj=plain, mode="r:", tarinfo=TarMember)
    except tarfile.ReadError as error:
        kinds = "neither a zip nor a tar archive (a page of HTML, or cut short?)"
        raise SteleError(f"{archive}: {kinds}: {error}") from None


def _members(opened: zipfile.ZipFile | tarfile.TarFile) -> Iterator[_Member]:
    if isinstance(opened, zipfile.ZipFile):
        for info in opened.infolist():
            yield _Member(info.filename, info.file_size, _zip_kind(info), partial(opened.open, info))
    else:
        for member in opened:
            yield _Member(member.name, member.size, _tar_kind(member), partial(opened.extractfile, member))
        behind = 0
        while block := opened.fileobj.read(1 << 20):  # reads up to the checksum at the end of the compressed data
            if (behind := behind + len(block)) > MAX_BEHIND:
                raise tarfile.ReadError(f"it has more than {MAX_BEHIND >> 20} MB behind its last member")


class _Bounded:
    """File for zipfile that limits each read, since zipfile reads the list of members at once, whatever its size."""

    def __init__(self, handle: IO[bytes]) -> None:
        self._handle = handle

    def read(self, size: int = -1) -> bytes:
        if size > MAX_DIRECTORY:
            raise zipfile.BadZipFile(f"its list of members has {size:,} bytes, more than {MAX_MEMBERS:,} members need")
        return self._handle.read(size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._handle, name)


def _zip_kind(info: zipfile.ZipInfo) -> str:
    mode = stat.S_IFMT(info.external_attr >> 16)
    if info.flag_bits & 1:
        return "encrypted member"
    if mode == stat.S_IFLNK:
        return "symbolic link"
    if mode not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "special file"
    return "folder" if info.is_dir() else "file"


def _tar_kind(info: tarfile.TarInfo) -> str:
    if info.isreg():
        return "file"
    if info.isdir():
        return "folder"
    return "link" if info.issym() or info.islnk() else "special file"


def _plan(archive: Path, members: Iterable[_Member], rules: Unpack) -> dict[str, _Member]:
    """Maps relative paths to the members that will be written. Raises SteleError if any member is unsafe."""
    chosen: dict[str, _Member] = {}
    total, limit = 0, rules.max_bytes or MAX_BYTES
    for number, member in enumerate(members, start=1):
        if number > MAX_MEMBERS:
            raise SteleError(f"{archive}: holds more than {MAX_MEMBERS:,} files and folders; not unpacked")
        name = member.name
        if PurePosixPath(name) != PurePosixPath():  # `tar -C FOLDER .` begins with the folder itself
            relative(name, f"{archive}: not unpacked: member")
        if member.kind not in ("file", "folder"):
            raise SteleError(f"{archive}: member {name!r} is a {member.kind}; not unpacked")
        total += member.size
        if total > limit:
            raise SteleError(f"{archive}: its files would have more than {limit:,} bytes; not unpacked")
        if member.kind == "file" and (path := _member_path(name, rules.strip, rules.keep)):
            if path in chosen:
                raise SteleError(f"{archive}: contains {name!r} twice; get it again")
            chosen[path] = member
    if missing := sorted(set(rules.members) - set(chosen)):
        raise SteleError(f"{archive}: lacks {', '.join(missing)} (it has {', '.join(sorted(chosen)[:5])}...)")
    return chosen


def _member_path(name: str, strip: str, keep: Sequence[str]) -> str | None:
    """Path at which a member is written; None if it is not kept, or is what a Mac adds to each file and folder."""
    if PurePosixPath(name).name.startswith(("._", ".DS_Store")):
        return None
    path = PurePosixPath(name).as_posix().removeprefix(f"{strip.rstrip('/')}/")
    return path if not keep or any(fnmatch(path, pattern) for pattern in keep) else None


def _write(archive: Path, member: _Member, target: Path) -> None:
    """Writes one member to `target`; the archive's reader stops at the member's stated size."""
    source = member.open()
    if source is None:
        raise SteleError(f"{archive}: member {member.name!r} has no content; not unpacked")
    with source, atomic_file(target, "wb") as handle:
        shutil.copyfileobj(source, handle, 1 << 20)


def place_file(source: Path, folder: Path, name: str, where: str) -> None:
    """Hard-links or copies a file into `folder`. Raises SteleError, beginning with `where`, if `name` is taken."""
    link_or_copy(source, _free(folder, name, where))


def link_file(source: Path, folder: Path, name: str, where: str) -> None:
    """Makes a symbolic link to a user's own file, which is never changed. Raises SteleError if `name` is taken."""
    _free(folder, name, where).symlink_to(source.resolve())


def _free(folder: Path, name: str, where: str) -> Path:
    target = inside(folder, name, where)
    if target.is_symlink() or target.exists():
        raise SteleError(f"{where}: two files would become {name}; keep one of them")
    target.parent.mkdir(parents=True, exist_ok=True)
    return target
