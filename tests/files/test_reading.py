"""JSON that Stele wrote itself: a note that nobody has to read, a state that a job goes on from; compressed files."""

import bz2
import gzip
import lzma
import struct

import pyarrow
import pytest

from stele.errors import SteleError
from stele.files.reading import BLOCK, open_unpacked, read_note, read_state, unpacked_blocks

DAMAGED = [b"", b"{", b"[" * 100_000, b'{"a": "\xff"}']


@pytest.mark.parametrize("content", [*DAMAGED, b"[1]", b"7"])
def test_a_note_that_cannot_be_read_is_none(tmp_path, content):
    path = tmp_path / "note.json"
    assert read_note(path) == read_note(tmp_path) == {}
    path.write_bytes(content)
    assert read_note(path) == {}
    path.write_text('{"a": 1}')
    assert read_note(path) == {"a": 1}


@pytest.mark.parametrize("content", ['{"log": 5}', '{"log": null}', '{"log": {"a": 1}}'])
def test_a_note_whose_keys_have_other_types_is_none(tmp_path, content):
    (tmp_path / "note.json").write_text(content)
    assert read_note(tmp_path / "note.json", log=list) == {}
    (tmp_path / "note.json").write_text('{"other": 5}')
    assert read_note(tmp_path / "note.json", log=list) == {"other": 5}


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_state_names_itself_and_what_to_do(tmp_path, content):
    path = tmp_path / "progress.json"
    assert read_state(path) is None
    path.write_bytes(content)
    with pytest.raises(SteleError, match=r"progress\.json: not .*; remove it and run again"):
        read_state(path)
    path.write_text("7")
    assert read_state(path) == 7


# --- compressed files -------------------------------------------------------------------------------------------------
TEXT = b"".join(b"%d sentences\n" % number for number in range(150_000))  # more than a block


def pzstd(data):
    """As pzstd writes it: before each frame of zstd one to skip, with the frame's size."""
    packed = pyarrow.compress(data, codec="zstd", asbytes=True)
    return b"\x50\x2a\x4d\x18" + struct.pack("<II", 4, len(packed)) + packed


COMPRESSIONS = pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress, pzstd])
def test_a_file_of_several_streams_is_read_whole(tmp_path, compress):
    """As pigz, pbzip2, pixz and pzstd write them, and as `cat` joins files."""
    assert len(TEXT) > BLOCK
    (path := tmp_path / "x").write_bytes(compress(TEXT) + compress(b"") + compress(b"last"))
    assert b"".join(unpacked_blocks(path)) == TEXT + b"last"
    with open_unpacked(path) as handle:
        assert handle.readline() == b"0 sentences\n" and handle.readlines()[-1] == b"last"


@COMPRESSIONS
@pytest.mark.parametrize("damage", ["first byte", "beginning", "middle", "cut", "cut in header", "rubbish behind"])
def test_damage_in_a_later_stream_is_no_end_of_the_file(tmp_path, compress, damage):
    """The standard library's readers of bzip2 and xz take it for one, and half of a text was lost."""
    first, later = compress(TEXT), compress(TEXT[::-1])
    half = len(later) // 2
    damaged = {
        "first byte": b"\xff" + later[1:],
        "beginning": later[:5] + bytes(4096) + later[4101:],
        "middle": later[:half] + bytes([later[half] ^ 0xFF]) + later[half + 1 :],
        "cut": later[:-7],
        "cut in header": later[:5],
        "rubbish behind": later + b"rubbish",
    }
    (path := tmp_path / "x").write_bytes(first + damaged[damage])
    with pytest.raises(SteleError, match=r"x: (the compressed file is cut short or damaged|not a readable file)"):
        b"".join(unpacked_blocks(path))


def test_zero_bytes_may_stand_between_streams_of_xz(tmp_path):
    (path := tmp_path / "x").write_bytes(lzma.compress(b"one") + bytes(8) + lzma.compress(b"two") + bytes(4))
    assert b"".join(unpacked_blocks(path)) == b"onetwo"
