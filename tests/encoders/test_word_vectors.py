"""fastText's vectors: what is asked for is read as it stands; whatever is wrong with a file is named."""

import numpy as np
import pytest

from stele.encoders import word_vectors
from stele.encoders.word_vectors import read_word_vectors
from stele.errors import SteleError

LINES = ["the 0.1 -0.2 3e-05", "Ärzte 1 0 0", "a\u00a0b -1 2 3.5", "\u2028 9 9 9", "the 7 7 7", "zero 0 0 0"]


def put(tmp_path, lines=LINES, header=None, end="\n"):
    path = tmp_path / "wiki.xx.align.vec"
    path.write_bytes("\n".join([header or f"{len(lines)} 3", *lines]).encode() + end.encode())
    return path


@pytest.mark.parametrize("block", [1, 30, 1 << 24])
def test_wanted_words_are_read(tmp_path, monkeypatch, block):
    """The first line of a word holds; words hold whatever is no space and no line feed."""
    monkeypatch.setattr(word_vectors, "BLOCK", block)
    read = read_word_vectors(put(tmp_path), {"Ärzte", "the", "a\u00a0b", "absent", "\u2028"})
    assert read.words == {"the": 0, "Ärzte": 1, "a\u00a0b": 2, "\u2028": 3}
    want = np.array([[0.1, -0.2, 3e-5], [1, 0, 0], [-1, 2, 3.5], [9, 9, 9]], np.float32)
    assert read.vectors.dtype == np.float32 and (read.vectors == want).all()
    assert read.counts == {"in_file": 6, "repeated": 1}


def test_fasttexts_own_files_have_a_space_more(tmp_path):
    """FastText::saveVectors ends each line with a space, alignment/utils.py does not."""
    read = read_word_vectors(put(tmp_path, [f"{line} " for line in LINES]), {"Ärzte"})
    assert read.vectors.tolist() == [[1, 0, 0]]


def test_nothing_wanted_is_no_vector_of_the_files_width(tmp_path):
    assert read_word_vectors(put(tmp_path), set()).vectors.shape == (0, 3)
    assert read_word_vectors(put(tmp_path, [], "0 3"), {"a"}).counts == {"in_file": 0, "repeated": 0}


@pytest.mark.parametrize(
    ("lines", "header", "end", "words"),
    [
        (LINES, "the 0.1 0.2 0.3", "\n", r"begins with b'the 0\.1 0\.2 0\.3\\n', want the numbers of words"),
        (LINES, "6 0", "\n", "begins with b'6 0"),
        (LINES, "5 3", "\n", "6 lines of words, but the first line says 5"),
        (LINES, "7 3", "\n", "6 lines of words, but the first line says 7"),
        (LINES, "6 4", "\n", "line 2: 3 numbers, but the first line says 4"),
        ([*LINES[:2], "x 1 2"], None, "\n", "line 4: 2 numbers, but the first line says 3"),
        ([*LINES[:2], "x 1 2 3 4"], None, "\n", "line 4: 4 numbers"),
        ([*LINES[:2], ""], None, "\n", "line 4: 0 numbers"),
        (LINES, None, "", "line 7: the line has no end: the file is cut short"),
        (["the 1 two 3"], None, "\n", "line 2: could not convert string to float: b'two'"),
        (["the 1 nan 3"], None, "\n", "line 2: .* not finite"),
        (["the 1 1e400 3"], None, "\n", "line 2: .* not finite"),
        (["the 1  3"], None, "\n", "line 2: found an empty number"),
    ],
)
def test_damage_is_named(tmp_path, lines, header, end, words):
    with pytest.raises(SteleError, match=words) as error:
        read_word_vectors(put(tmp_path, lines, header, end), {"the"})
    assert "wiki.xx.align.vec" in str(error.value)


def test_a_missing_or_empty_file_is_named(tmp_path):
    with pytest.raises(SteleError, match="no such file"):
        read_word_vectors(tmp_path / "x.vec", {"the"})
    (tmp_path / "x.vec").write_bytes(b"")
    with pytest.raises(SteleError, match="begins with b''"):
        read_word_vectors(tmp_path / "x.vec", {"the"})


def test_unwanted_numbers_are_not_parsed(tmp_path):
    """That keeps it fast: a word that nobody asks for may hold anything that has the right width."""
    assert read_word_vectors(put(tmp_path, ["bad x y z", "the 1 2 3"]), {"the"}).vectors.tolist() == [[1, 2, 3]]
