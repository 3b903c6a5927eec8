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


@pytest.mark.parametrize("compress", [bz2.compress, lzma.compress, bytes])
def test_streams_come_back_whole_and_in_small_blocks_with_progress(tmp_path, compress):
    path, read = written(tmp_path, b"".join(map(compress, PARTS))), []
    blocks = list(read_blocks(path, progress=read.append))
    assert b"".join(blocks) == DATA and sum(read) == path.stat().st_size
    assert max(map(len, blocks)) <= 1 << 20


@pytest.mark.parametrize("compress", [bz2.compress, lzma.compress])
def test_damage_is_an_error_that_names_the_file(tmp_path, compress):
    """All kinds of it: tests/files/test_reading.py, of the same reader."""
    path = written(tmp_path, compress(PARTS[0]) + b"\xff" + compress(PARTS[1])[1:])
    with pytest.raises(SteleError, match=r"file\.bin.*cut short or damaged.*delete it and fetch it again"):
        list(read_blocks(path))


@pytest.mark.parametrize(
    ("data", "message"), [(b"", "file is empty"), (gzip.compress(b"x", mtime=0), "gzip"), (b"PK\x03\x04abc", "zip")]
)
def test_files_that_are_not_compressed_are_refused(tmp_path, data, message):
    with pytest.raises(SteleError, match=message):
        list(read_blocks(written(tmp_path, data)))


def test_a_missing_file_says_what_to_do(tmp_path):
    with pytest.raises(SteleError, match="no such file; fetch"):
        list(read_blocks(tmp_path / "none.xz"))
