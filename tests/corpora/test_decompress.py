"""Compressed input: whole files come back, others are an error; damaged ones: tests/files/test_reading.py."""

import bz2
import gzip
import lzma
import random

import pytest

from stele.corpora.dumps.dump_files import read_blocks
from stele.errors import SteleError

DATA = random.Random(0).randbytes(50_000) + b"text " * 400_000
PARTS = [DATA[:30_000], DATA[30_000:60_000], DATA[60_000:]]


@pytest.mark.parametrize("compress", [bz2.compress, lzma.compress, bytes])
def test_streams_come_back_whole_and_in_small_blocks_with_progress(tmp_path, compress):
    (path := tmp_path / "file.bin").write_bytes(b"".join(map(compress, PARTS)))
    read = []
    blocks = list(read_blocks(path, progress=read.append))
    assert b"".join(blocks) == DATA and sum(read) == path.stat().st_size
    assert max(map(len, blocks)) <= 1 << 20


@pytest.mark.parametrize(
    ("data", "message"),
    [(None, "no such file; fetch"), (b"", "file is empty"), (gzip.compress(b"x"), "gzip"), (b"PK\x03\x04abc", "zip")],
)
def test_files_that_are_missing_or_not_compressed_are_refused(tmp_path, data, message):
    path = tmp_path / "file.bin"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(SteleError, match=rf"file\.bin.*{message}"):
        list(read_blocks(path))
