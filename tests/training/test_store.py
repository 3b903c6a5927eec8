"""Example stores: what is written is read back, in one go or flat; damage is named."""

import numpy as np
import pytest

from stele.errors import SteleError
from stele.training import store as stores
from stele.training.store import Store, write_store


@pytest.fixture
def examples():
    rng = np.random.default_rng(0)
    return [[rng.integers(0, 2**32, rng.integers(1, 6)) for _ in range(rng.integers(1, 5))] for _ in range(40)]


@pytest.mark.parametrize("buffer", [1, 17, 1 << 20], ids=["a flush an example", "some flushes", "one flush"])
def test_a_store_gives_back_the_examples_written(tmp_path, examples, monkeypatch, buffer):
    monkeypatch.setattr(stores, "BUFFER", buffer)
    counts = write_store(tmp_path, iter(examples))
    segments = [segment for example in examples for segment in example]
    assert counts == {"examples": 40, "segments": len(segments), "tokens": sum(map(len, segments))}
    store = Store(tmp_path)
    assert len(store) == 40
    for index, example in enumerate(examples):
        assert [segment.tolist() for segment in store[index]] == [segment.tolist() for segment in example]
    assert [s.tolist() for s in store[-1]] == [s.tolist() for s in examples[-1]]
    with pytest.raises(IndexError):
        store[40]


def test_take_is_the_examples_laid_flat(tmp_path, examples):
    write_store(tmp_path, examples)
    wanted = np.array([7, 0, 7, 39])
    flat = Store(tmp_path).take(wanted)
    chosen = [examples[i] for i in wanted]
    assert flat.counts.tolist() == [len(example) for example in chosen]
    assert flat.lengths.tolist() == [len(segment) for example in chosen for segment in example]
    assert flat.tokens.tolist() == [token for example in chosen for segment in example for token in segment]


def test_an_empty_store_is_a_store(tmp_path):
    assert write_store(tmp_path, []) == {"examples": 0, "segments": 0, "tokens": 0}
    assert len(Store(tmp_path)) == 0


def test_damage_is_named(tmp_path, examples):
    write_store(tmp_path, examples)
    tokens = tmp_path / "tokens.npy"
    whole = tokens.read_bytes()
    tokens.write_bytes(whole[:-40])
    with pytest.raises(SteleError, match=r"tokens\.npy.*mine the pairs again"):
        Store(tmp_path)
    np.save(tokens, np.zeros(3, np.uint32))
    with pytest.raises(SteleError, match="damaged example store: 3 tokens"):
        Store(tmp_path)
    np.save(tokens, np.zeros(3, np.float32))
    with pytest.raises(SteleError, match="found float32"):
        Store(tmp_path)
    tokens.unlink()
    with pytest.raises(SteleError, match="no such file"):
        Store(tmp_path)
