"""Files of passage vectors, written block by block, so that a killed job resumes after its last block.

`vectors.npy` [n, d] and `ids.txt` grow together; `progress.json`, replaced after each block is on disk, has the number
of valid rows and their key. A finished part has its ids in `ids.npy`.
"""

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from stele.artifacts.integrity import file_problem
from stele.errors import SteleError
from stele.files.atomic import atomic_write_json, check_claimable, claim
from stele.files.digests import file_facts
from stele.files.reading import JsonObject, read_note, read_state

HEADER = 128  # bytes of numpy's header, whatever the number of vectors; so it can be written last
FILES = ("vectors.npy", "ids.npy", "ids.txt", "progress.json")
READ_ROWS = 32_768
BLOCK_BYTES = 1 << 28  # of a block of `blocks`, which a search compares with all queries at a time
UNTOUCHED = {"rows": 0, "names_size": 0, "cut": 0, "finished": False}

logger = logging.getLogger(__name__)


class Layout(NamedTuple):
    """Format of stored vectors: "float32" or "float16"; `key` identifies the data and the encoder behind them."""

    dimension: int
    dtype: str
    normalize: bool
    key: str

    def size(self, rows: int) -> int:
        """Number of bytes of a file with `rows` vectors."""
        return HEADER + rows * np.dtype(self.dtype).itemsize * self.dimension


VectorTransform = Callable[[np.ndarray], np.ndarray]  # vectors [n, d] -> as many, float32
Encode = Callable[[Iterable[tuple[str, Any]]], Iterator[tuple[list[str], np.ndarray]]]


def encode_part(
    folder: Path,
    items: Iterable[tuple[str, Any]],
    encode: Encode,
    layout: Layout,
    cut_texts: Callable[[], int] = lambda: 0,
) -> int:
    """Encodes (id, text) items into `folder`, continuing after the finished blocks; returns the number of passages.

    `encode(items)` yields (ids, vectors) in the order of the items, block by block; blocks do not influence each other.
    `cut_texts()` returns how many texts of the last block were cut. Vectors of another key are overwritten. Raises
    SteleError for a vector that is not finite.
    """
    folder.mkdir(parents=True, exist_ok=True)
    done = _progress(folder, layout.key)
    if problem := _damage(folder, done, layout):
        logger.warning("%s: encoded anew", problem)
        done = UNTOUCHED
    if done["finished"]:
        return done["rows"]
    rows, names_size, cut = done["rows"], done["names_size"], done.get("cut", 0)
    if not rows:  # what is written over must not count again for the key that it was made with
        (folder / "progress.json").unlink(missing_ok=True)
    with _grown(folder / "vectors.npy", layout.size(rows)) as vectors, _grown(folder / "ids.txt", names_size) as names:
        for ids, block in encode(islice(iter(items), rows, None)):
            vectors.write(_stored(ids, block, layout).tobytes())
            names.write("".join(f"{name}\n" for name in ids).encode("utf-8"))
            for handle in (vectors, names):
                handle.flush()
                os.fsync(handle.fileno())
            rows, names_size, cut = rows + len(ids), names.tell(), cut + cut_texts()
            _save_progress(folder, layout.key, rows, names_size, cut, finished=False)
        vectors.seek(0)
        _write_header(vectors, rows, layout)
        vectors.flush()
        os.fsync(vectors.fileno())
    _write_ids(folder, rows)
    _save_progress(folder, layout.key, rows, names_size, cut, finished=True)
    return rows


def cut_in(folder: Path, key: str) -> int:
    """Number of a part's texts that were cut because they are longer than the encoder reads."""
    return _progress(folder, key).get("cut", 0)  # an index kept by an older version has no count


def blocks(folder: Path) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yields blocks (vectors [m, d], ids bytes [m]) of a finished part; the files are memory-mapped, not loaded."""
    vectors = np.load(folder / "vectors.npy", mmap_mode="r")
    ids = np.load(folder / "ids.npy", mmap_mode="r")
    step = max(1, BLOCK_BYTES // vectors[:1].nbytes) if len(vectors) else 1
    for start in range(0, len(vectors), step):
        yield vectors[start : start + step], np.array(ids[start : start + step])


def tidy(folder: Path) -> None:
    """Removes ids.txt from a finished part and adds digests, which show later damage, to progress.json."""
    progress = read_state(folder / "progress.json")
    outputs = {name: file_facts(folder / name) for name in ("vectors.npy", "ids.npy")}
    atomic_write_json(folder / "progress.json", {**progress, "outputs": outputs})
    (folder / "ids.txt").unlink(missing_ok=True)


def _damage(folder: Path, done: JsonObject, layout: Layout) -> str | None:
    """Describes the damage of a tidied part, or the bytes that another part has lost; None without any."""
    for name, facts in done.get("outputs", {}).items():
        if problem := file_problem(folder / name, facts, 0, whole=True, key=""):
            return f"{folder / name}: {problem}"
    if not done["rows"] or "outputs" in done:
        return None
    names_size = 0 if done["finished"] else done["names_size"]  # then ids.npy has the ids
    for name, size in (("vectors.npy", layout.size(done["rows"])), ("ids.txt", names_size)):
        path = folder / name
        if (found := path.stat().st_size if path.exists() else 0) < size:  # `_grown` would fill it up with zeros
            return f"{path}: has {found} of the {size} bytes that were written"
    return None


def claim_kept(folders: Iterable[Path], job: str) -> None:
    """Claims folders in which vectors are kept: each must be new, or already have such vectors.

    Raises SteleError for any other folder, before it makes the first one.
    """
    for check_or_claim in (check_claimable, claim):
        for folder in folders:
            known = FILES if {"key", "rows"} <= read_note(folder / "progress.json").keys() else ()
            check_or_claim(folder, job, known.__contains__)


def is_tidy(folder: Path, key: str) -> bool:
    """Whether a folder has a finished and tidied part that was made under `key`."""
    is_tidied = (folder / "ids.npy").exists() and not (folder / "ids.txt").exists()
    return is_tidied and _progress(folder, key)["finished"]


def _progress(folder: Path, key: str) -> JsonObject:
    progress = read_state(folder / "progress.json") or {}
    return progress if progress.get("key") == key else UNTOUCHED


def _save_progress(folder: Path, key: str, rows: int, names_size: int, cut: int, finished: bool) -> None:
    facts = {"key": key, "rows": rows, "names_size": names_size, "cut": cut, "finished": finished}
    atomic_write_json(folder / "progress.json", facts)


def _stored(ids: list[str], block: np.ndarray, layout: Layout) -> np.ndarray:
    """Converts a block to its stored form. Raises SteleError, with the passage id, for a vector that is not finite."""
    with np.errstate(over="ignore"):  # an overflow is refused below
        stored = np.ascontiguousarray(l2_normalize(block) if layout.normalize else block, dtype=layout.dtype)
    finite = np.isfinite(stored).all(axis=1)
    if not finite.all():
        bad = ids[int(np.argmin(finite))]
        raise SteleError(f"passage {bad!r}: its vector is not finite as {layout.dtype}; use precision: float32")
    return stored


def _grown(path: Path, size: int):
    """Opens a file for writing at byte `size`; drops the bytes after it, an unfinished block."""
    path.touch()
    handle = open(path, "r+b")  # noqa: SIM115 - the caller closes it
    handle.truncate(size)
    handle.seek(size)
    return handle


def _write_header(handle: BinaryIO, rows: int, layout: Layout) -> None:
    description = {"descr": np.dtype(layout.dtype).str, "fortran_order": False, "shape": (rows, layout.dimension)}
    np.lib.format.write_array_header_1_0(handle, description)


def join_parts(parts: Sequence[Path], windows: Iterable[tuple[int, slice]], layout: Layout, folder: Path) -> None:
    """Joins finished parts into one folder, with the same bytes as a single process writes, and tidies it.

    `windows` are (part number, rows of that part) in the order of the passages. Memory is bounded by one window.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
    vectors = [np.load(part / "vectors.npy", mmap_mode="r") for part in parts]
    ids = [np.load(part / "ids.npy", mmap_mode="r") for part in parts]
    rows, written = sum(map(len, ids)), 0
    joined_ids = _table(folder / "ids.npy", np.result_type(*ids), rows)
    with open(folder / "vectors.npy", "wb") as handle:  # not mapped: a full disk is an error of a write
        _write_header(handle, rows, layout)
        for part, window in windows:
            places = slice(written, written + len(ids[part][window]))
            joined_ids[places] = ids[part][window]
            handle.write(vectors[part][window].tobytes())
            written = places.stop
        handle.flush()
        os.fsync(handle.fileno())
    joined_ids.flush()
    names_size = sum(_progress(part, layout.key)["names_size"] for part in parts)
    cut = sum(cut_in(part, layout.key) for part in parts)
    _save_progress(folder, layout.key, rows, names_size, cut, finished=True)
    tidy(folder)


def _write_ids(folder: Path, rows: int) -> None:
    """Writes `ids.npy` (fixed width, UTF-8) from `ids.txt`."""
    with open(folder / "ids.txt", "rb") as handle:
        width = max((len(line) - 1 for line in handle), default=1)
    table = _table(folder / "ids.npy", np.dtype(f"S{width}"), rows)
    with open(folder / "ids.txt", "rb") as handle:
        for start in range(0, rows, READ_ROWS):
            part = [line[:-1] for line in islice(handle, READ_ROWS)]
            table[start : start + len(part)] = part
    table.flush()


def _table(path: Path, dtype: np.dtype, *shape: int) -> np.memmap:
    return np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)


def identity(vectors: np.ndarray) -> np.ndarray:
    """Returns vectors [n, d] unchanged: the transform of a job without a calibration."""
    return vectors


def l2_normalize(block: np.ndarray) -> np.ndarray:
    """Scales rows [n, d] to length 1; a zero row stays zero."""
    norms = np.linalg.norm(block, axis=1, keepdims=True)
    return block / np.where(norms > 0, norms, 1.0)
