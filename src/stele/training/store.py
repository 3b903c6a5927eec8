"""Example stores, which mining writes and pretraining reads; all mining methods share one format.

An example is an ordered tuple of token sequences ("segments"), without special tokens: a document's sentences, a pair,
or one stretch of text. A store holds one part: a language, or a pair of languages ("en-fr"). It has three flat arrays:

    tokens.npy    uint32, all tokens one after another
    segments.npy  int64, where each segment begins in `tokens`; one entry more than there are segments
    examples.npy  int64, where each example begins in `segments`; one entry more than there are examples
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stele.errors import SteleError
from stele.files.reading import reading

TOKENS, SEGMENTS, EXAMPLES = "tokens.npy", "segments.npy", "examples.npy"
BUFFER = 1 << 20  # tokens collected in memory before they are written


class _Appender:
    """A one-dimensional .npy file that grows; `close` rewrites its header, in the same space, with the length."""

    def __init__(self, path: Path, dtype: str) -> None:
        self.handle = open(path, "wb")  # noqa: SIM115 (open for as long as it grows)
        self.dtype, self.length = np.dtype(dtype), 0
        self._header()

    def _header(self) -> None:
        self.handle.seek(0)
        header = {"descr": self.dtype.str, "fortran_order": False, "shape": (self.length,)}
        np.lib.format.write_array_header_1_0(self.handle, header)

    def append(self, values: np.ndarray) -> None:
        self.handle.write(np.ascontiguousarray(values, dtype=self.dtype).tobytes())
        self.length += len(values)

    def close(self) -> None:
        begin = self.handle.tell() - self.length * self.dtype.itemsize  # start of the data
        self._header()
        if self.handle.tell() != begin:
            raise SteleError(f"{self.handle.name}: no room in numpy's .npy header; install the locked version")
        self.handle.close()


def write_store(folder: Path | str, examples: Iterable[Sequence[np.ndarray]]) -> dict[str, int]:
    """Writes a stream of examples into `folder`; returns the numbers of `examples`, `segments` and `tokens`.

    The folder must exist (create it with `atomic_directory`). Memory does not grow with the number of examples.
    """
    folder = Path(folder)
    files = [_Appender(folder / name, dtype) for name, dtype in ((TOKENS, "<u4"), (SEGMENTS, "<i8"), (EXAMPLES, "<i8"))]
    tokens, segments, offsets = files
    segments.append(np.zeros(1, np.int64))
    offsets.append(np.zeros(1, np.int64))
    pending: list[np.ndarray] = []
    lengths: list[int] = []
    counts: list[int] = []
    totals = [0, 0, 0]  # tokens, segments, examples

    def flush() -> None:
        tokens.append(np.concatenate(pending) if pending else np.zeros(0, np.uint32))
        segments.append(totals[0] + np.cumsum(lengths, dtype=np.int64))
        offsets.append(totals[1] + np.cumsum(counts, dtype=np.int64))
        totals[0] += sum(lengths)
        totals[1] += sum(counts)
        totals[2] += len(counts)
        pending.clear(), lengths.clear(), counts.clear()

    try:
        waiting = 0
        for example in examples:
            pending.extend(example)
            lengths.extend(map(len, example))
            counts.append(len(example))
            waiting += sum(map(len, example))
            if waiting >= BUFFER:
                flush()
                waiting = 0
        flush()
    finally:
        for file in files:
            file.close()
    return {"examples": totals[2], "segments": totals[1], "tokens": totals[0]}


class Flat(NamedTuple):
    """Several examples as flat arrays, one example after another."""

    tokens: np.ndarray  # int64 [sum of lengths]
    lengths: np.ndarray  # int64 [segments], tokens per segment
    counts: np.ndarray  # int64 [examples], segments per example


def joined(parts: Sequence[Flat]) -> Flat:
    """Concatenates the examples of all `parts`."""
    return parts[0] if len(parts) == 1 else Flat(*map(np.concatenate, zip(*parts, strict=True)))


class Store:
    """The examples of one store, memory-mapped; `in_all` is the full number of examples if the store is a sample.

    >>> store = Store("work/miniature/pairs/msm/xlmr/en")  # doctest: +SKIP
    >>> len(store), [len(sentence) for sentence in store[0]]  # doctest: +SKIP
    (812, [13, 9, 17, 11])
    """

    def __init__(self, folder: Path | str, in_all: int | None = None) -> None:
        self.folder = Path(folder)
        self.tokens = self._open(TOKENS, np.uint32)
        self.segments = self._open(SEGMENTS, np.int64)
        self.examples = self._open(EXAMPLES, np.int64)
        if self.segments[-1] != len(self.tokens) or self.examples[-1] != len(self.segments) - 1:
            raise SteleError(
                f"{self.folder}: the example store is damaged (found {len(self.tokens)} tokens, "
                f"{len(self.segments) - 1} segments; want {self.segments[-1]}, {self.examples[-1]}); mine it again"
            )
        self.in_all = len(self) if in_all is None else in_all

    def _open(self, name: str, dtype: type) -> np.ndarray:
        path = self.folder / name
        if not path.exists():
            raise SteleError(f"{path}: no such file, so {self.folder} is no example store; mine the examples first")
        with reading(path, "array", "delete it and mine the pairs again"):
            array = np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))  # a plain array is faster to index
        if array.dtype != dtype or array.ndim != 1 or (name != TOKENS and len(array) == 0):
            shape = f"{array.dtype} of {array.ndim} dimension(s) and length {len(array) if array.ndim else 0}"
            raise SteleError(f"{path}: found {shape}, want a flat {np.dtype(dtype)} array; mine the pairs again")
        return array

    def __len__(self) -> int:
        return len(self.examples) - 1

    def __getitem__(self, index: int) -> list[np.ndarray]:
        if not -len(self) <= index < len(self):
            raise IndexError(f"{self.folder}: example {index} does not exist; the store has {len(self)} examples")
        index %= len(self)
        bounds = self.segments[self.examples[index] : self.examples[index + 1] + 1]
        return [self.tokens[begin:end] for begin, end in pairwise(bounds)]

    def take(self, indices: np.ndarray) -> Flat:
        """Reads the examples at `indices` (int64 [n]) as flat arrays, with no loop over tokens or segments."""
        first, last = self.examples[indices], self.examples[indices + 1]
        chosen = ranges(first, last - first)
        begin, end = self.segments[chosen], self.segments[chosen + 1]
        tokens = self.tokens[ranges(begin, end - begin)].astype(np.int64)
        return Flat(tokens, end - begin, last - first)


def ranges(begins: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Concatenates the ranges from `begins[i]` to `begins[i] + lengths[i]`: int64 [sum of lengths].

    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    starts = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum())) + np.repeat(begins - starts, lengths)
