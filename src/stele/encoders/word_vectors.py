"""Word vectors in fastText's text format: a line "WORDS WIDTH", then word and numbers, single-spaced, line by line.

Format: facebookresearch/fastText, FastText::saveVectors, and alignment/utils.py, which writes the aligned ones. Files
have up to 2.5 million words and 6 GB, so they are read once, and only the numbers of wanted words are parsed.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stele import progress
from stele.errors import SteleError
from stele.files.reading import AGAIN, find_file, reading

KIND = "file of fastText's vectors"
BLOCK = 1 << 24  # bytes of lines that are read at once
HEADER = 40  # bytes of the first line, at most
_HEADER = re.compile(rb"([0-9]{1,12}) ([1-9][0-9]{0,5}) ?\n")


class WordVectors(NamedTuple):
    """Word vectors of a file.

    words     word -> row
    vectors   float32 [words, width]
    counts    `in_file`: lines of words in the file; `repeated`: ignored lines of a wanted word that came before
    """

    words: dict[str, int]
    vectors: np.ndarray
    counts: dict[str, int]


def vector_file(folder: Path) -> Path:
    """Finds the .vec file of a folder, or returns a file. Raises SteleError unless the folder has exactly one."""
    return folder if folder.is_file() else find_file(folder, ["*.vec"], "word vectors (*.vec)")


def read_word_vectors(path: Path, wanted: Collection[str]) -> WordVectors:
    """Reads the vectors of the `wanted` words that a file has, in the file's order.

    Raises SteleError, with the line, for a missing header, for more or fewer numbers or lines than it states, for a
    last line without its end, and for a number of a wanted word that is not finite.
    """
    keys = {word.encode(): word for word in wanted}
    rows: dict[str, int] = {}
    repeated = read = 0
    with reading(path, KIND), open(path, "rb") as handle:
        size = path.stat().st_size
        words, width = _header(path, handle.readline(HEADER))
        vectors = [np.zeros((0, width), np.float32)]
        for lines in _blocks(handle, size, path.name):
            texts: dict[int, bytes] = {}
            for number, line in enumerate(lines, read + 2):
                if line.count(b" ") != width and not (line.endswith(b" \n") and line.count(b" ") == width + 1):
                    count = max(len(line.split()) - 1, 0)
                    raise _bad(path, number, f"{count} numbers, but the first line says {width}")
                word = line[: line.index(b" ")]
                if word not in keys:
                    continue
                if keys[word] in rows:
                    repeated += 1
                    continue
                rows[keys[word]] = len(rows)
                texts[number] = line[len(word) + 1 :]
            vectors.append(_matrix(path, texts, width))
            read += len(lines)
            if not lines[-1].endswith(b"\n"):
                raise _bad(path, read + 1, "the line has no end: the file is cut short")
    if read != words:
        raise SteleError(f"{path}: {read:,} lines of words, but the first line says {words:,}; {AGAIN}")
    return WordVectors(rows, np.concatenate(vectors), {"in_file": read, "repeated": repeated})


def _header(path: Path, line: bytes) -> tuple[int, int]:
    match = _HEADER.fullmatch(line)
    if match is None:
        raise SteleError(f"{path}: begins with {line!r}, want the numbers of words and of their vectors; {AGAIN}")
    return int(match[1]), int(match[2])


def _blocks(handle, size: int, name: str) -> Iterator[list[bytes]]:
    with progress.bar(size, f"read {name}", "B") as shown:
        while lines := handle.readlines(BLOCK):
            yield lines
            shown.update(sum(map(len, lines)))


def _matrix(path: Path, texts: Mapping[int, bytes], width: int) -> np.ndarray:
    """Parses the numbers of some lines (line number -> text) into float32 [lines, width]."""
    import pyarrow as pa
    import pyarrow.compute as pc

    with suppress(pa.ArrowInvalid):  # the line-by-line parser below reports errors
        numbers = pc.ascii_split_whitespace(pa.array([text.strip() for text in texts.values()], pa.string()))
        flat = numbers.cast(pa.list_(pa.float64(), width)).flatten().to_numpy()
        if np.isfinite(matrix := flat.astype(np.float32)).all():
            return matrix.reshape(-1, width)
    return np.stack([_numbers(path, number, text, width) for number, text in texts.items()])


def _numbers(path: Path, number: int, text: bytes, width: int) -> np.ndarray:
    try:
        vector = np.array([float(value) for value in text.split()], np.float32)
    except ValueError as error:
        raise _bad(path, number, str(error)) from None
    if len(vector) != width or not np.isfinite(vector).all():
        raise _bad(path, number, "found an empty number, or one that is not finite")
    return vector


def _bad(path: Path, number: int, what: str) -> SteleError:
    return SteleError(f"{path}, line {number}: {what}; {AGAIN}")
