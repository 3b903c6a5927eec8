"""Compressed input: whole files come back, anything damaged is an error that names the file."""

import bz2
import gzip
import lzma
import random

import pytest

from stele.corpora.dumps.dump_files import read_blocks
from stele.errors import SteleError

DATA = random.Random(0).randbytes(50_000) + b"text " * 400_000
PARTS = [DATA[:30_000], DATA[30_000:60_000], DATA[60_000:]]


def written(tmp_path, data):
    path = tmp_path / "file.bin"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("compress", [bz2.compress, lzma.compress])
@pytest.mark.parametrize("parts", [[DATA], PARTS])
def test_streams_come_back_whole_and_in_small_blocks(tmp_path, compress, parts):
    path = written(tmp_path, b"".join(map(compress, parts)))
    blocks = list(read_blocks(path))
    assert b"".join(blocks) == DATA
    assert max(map(len, blocks)) <= 1 << 20


def test_plain_text_and_progress(tmp_path):
    path = written(tmp_path, DATA)
    read = []
    assert b"".join(read_blocks(path, progress=read.append)) == DATA
    assert sum(read) == len(DATA)


def test_xz_padding_between_streams_is_allowed(tmp_path):
    path = written(tmp_path, lzma.compress(b"one") + b"\0" * 8 + lzma.compress(b"two") + b"\0" * 4)
    assert b"".join(read_blocks(path)) == b"onetwo"


@pytest.mark.parametrize("compress", [bz2.compress, lzma.compress])
@pytest.mark.parametrize("damage", ["cut", "flip in the first", "flip in the header of the second", "rubbish after"])
def test_damage_is_an_error_that_names_the_file(tmp_path, compress, damage):
    first, second = compress(PARTS[0]), compress(PARTS[1])
    data = bytearray(first + second)
    if damage == "cut":
        data = data[:-20]
    elif damage == "rubbish after":
        data += b"rubbish"
    else:
        data[len(first) // 2 if "first" in damage else len(first) + 1] ^= 0xFF
    with pytest.raises(SteleError, match=r"file\.bin.*(damaged|truncated)"):
        list(read_blocks(written(tmp_path, bytes(data))))


@pytest.mark.parametrize(
    ("data", "message"), [(b"", "empty file"), (gzip.compress(b"x", mtime=0), "gzip"), (b"PK\x03\x04abc", "zip")]
)
def test_files_that_are_not_compressed_are_refused(tmp_path, data, message):
    with pytest.raises(SteleError, match=message):
        list(read_blocks(written(tmp_path, data)))


def test_a_missing_file_says_what_to_do(tmp_path):
    with pytest.raises(SteleError, match="no such file; fetch"):
        list(read_blocks(tmp_path / "none.xz"))
