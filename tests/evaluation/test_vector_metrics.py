"""CSLS and cosine by cases worked on paper and against plain formulas; alignment and uniformity against torch."""

import math

import numpy as np
import pytest

from stele.benchmarks.types import QuerySet
from stele.errors import SteleError
from stele.evaluation.evaluate import evaluate
from stele.evaluation.metrics import load_metric
from stele.evaluation.similarity import accuracy, cosine, csls, l2_normalize, nearest
from tests.evaluation.cases import case_of

# On paper: the y are the axes, so the cosines are the x themselves. The second y is a hub, near to all three x.
X = np.array([[0.6, 0.8, 0], [0, 0.96, 0.28], [0, 0.8, 0.6]])
Y = np.eye(3)


def whole(blocks) -> np.ndarray:
    return np.concatenate(list(blocks))


@pytest.fixture
def pair():
    """Two sides of 60 and 45 vectors, of lengths that are not 1, with hubs."""
    rng = np.random.default_rng(4)
    centre = rng.normal(size=12)
    return tuple((rng.normal(size=(n, 12)) + centre * rng.random((n, 1))).astype(np.float32) for n in (60, 45))


def plain_csls(x: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    """The definition, over the whole matrix."""
    x, y = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (x.astype(float), y.astype(float)))
    near_x = [sum(sorted(row, reverse=True)[:k]) / min(k, len(y)) for row in x @ y.T]
    near_y = [sum(sorted(row, reverse=True)[:k]) / min(k, len(x)) for row in y @ x.T]
    return 2 * x @ y.T - np.array(near_x)[:, None] - np.array(near_y)


# --- CSLS ---
def test_of_equal_neighbours_the_lowest_row_counts_for_accuracy():
    """As LASER's search: the second row is as near to the first as to itself."""
    same = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert accuracy(same, same) == pytest.approx(2 / 3)
    assert accuracy(same * [[1], [5], [1]], same) == pytest.approx(2 / 3), "cosine: lengths do not matter"
    assert accuracy(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[2.0, 1.0], [1.0, 0.0]])) == 0


def test_csls_finds_what_a_hub_hides():
    cosines, corrected = (nearest(X, Y, name)[0].tolist() for name in ("cosine", "csls"))
    assert cosines == [1, 1, 1]  # all three find the hub
    # k = 10 becomes 3, all there are: r(x) = 1.4/3, 1.24/3, 1.4/3; r(y) = .6/3, 2.56/3, .88/3
    assert whole(csls(X, Y))[0] == pytest.approx([1.2 - 2 / 3, 1.6 - 3.96 / 3, -2.28 / 3])
    assert corrected == [0, 1, 2]


@pytest.mark.parametrize("k", [1, 10, 45, 50, 1000])
def test_csls_is_its_definition(pair, k):
    x, y = pair
    np.testing.assert_allclose(whole(csls(x, y, k)), plain_csls(x, y, k), atol=1e-12)


@pytest.mark.parametrize("similarity", ["cosine", "csls"])
@pytest.mark.parametrize("block", [1, 45, 100, 1000])
def test_the_size_of_a_block_changes_nothing(pair, similarity, block, monkeypatch):
    x, y = pair
    y = np.concatenate([y, y[:20]])  # duplicates, so ties
    expected = nearest(x, y, similarity)
    monkeypatch.setattr("stele.evaluation.similarity.BLOCK", block)
    assert (len(list(cosine(x, y))) == 60) == (block < 2 * len(y))
    for actual, wanted in zip(nearest(x, y, similarity), expected, strict=True):
        np.testing.assert_array_equal(actual, wanted)


# --- the nearest ---
def test_ties_go_to_the_lowest_line():
    y = np.array([[0, 1], [1, 0], [1, 0], [2, 0], [0, 1]], dtype=np.float32)
    indices, scores = nearest(np.array([[3, 0], [-1, 0]], dtype=np.float32), y, "cosine")
    assert indices.tolist() == [1, 0]
    assert scores.tolist() == [1, 0]


def test_zeros_of_either_sign_are_equal():
    y = np.array([[-1e-60, 1], [0, 1], [1e-60, 1]])  # cosines that float32 makes -0, 0 and 0
    assert nearest(np.array([[1.0, 0]]), y, "cosine")[0].tolist() == [0]


def test_vectors_that_cannot_be_compared_are_an_error():
    good, zero, nan = np.eye(2), np.array([[1.0, 0], [0, 0]]), np.array([[np.nan, 0], [0, 1]])
    with pytest.raises(SteleError, match="side that is searched: vector 2 of 2 holds only zeros"):
        nearest(good, zero, "cosine")
    with pytest.raises(SteleError, match="side that searches: vector 1 of 2 holds a number that is not finite"):
        nearest(nan, good, "csls")
    with pytest.raises(SteleError, match="unknown similarity 'dot'"):
        nearest(good, good, "dot")


# --- alignment and uniformity ---
def vector_case(**sides):
    """A case of query sets given as name=(x, y)."""
    query_sets = [QuerySet(name, name, "p") for name, (x, _) in sides.items() for _ in x]
    return case_of(query_sets=query_sets, vectors=sides)


def value(metric: str, x, y) -> float | None:
    actual = evaluate(vector_case(en=(x, y)), {metric: load_metric(metric)}, "macro").metrics[metric]
    return actual["languages"].get("en")


@pytest.mark.parametrize("block", [1, 1000, 1 << 23])
def test_equal_to_the_official_functions_on_unit_vectors(block, monkeypatch):
    import torch

    monkeypatch.setattr("stele.evaluation.similarity.BLOCK", block)
    rng = np.random.default_rng(6)
    x, y = (l2_normalize(rng.normal(size=(80, 16)) + 0.5, "") for _ in range(2))
    tx, ty = torch.from_numpy(x), torch.from_numpy(y)
    assert value("alignment", x, y) == pytest.approx(float((tx - ty).norm(p=2, dim=1).pow(2).mean()), abs=1e-12)
    for side, name in ((tx, "query"), (ty, "passage")):
        theirs = float(torch.pdist(side, p=2).pow(2).mul(-2).exp().mean().log())
        assert value(f"uniformity_{name}", x, y) == pytest.approx(theirs, abs=1e-12)


def test_uniformity_varies_with_the_sample_as_the_jackknife_says():
    """Each point is in all others' means: with these means as values, the error was half of it."""
    x = l2_normalize(np.random.default_rng(8).normal([1.5, 0, 0], size=(80, 3)), "")
    values = load_metric("uniformity_query").values(vector_case(en=(x, x)))
    without = [math.exp(value("uniformity_query", rest, rest)) for rest in (np.delete(x, i, 0) for i in range(80))]
    assert values.std(ddof=1) / 80**0.5 == pytest.approx((79 * np.var(without)) ** 0.5, rel=0.02)


def test_vectors_are_put_on_the_unit_sphere_first():
    """The official functions presuppose that and would give another value for the same directions."""
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(2, 30, 5)).astype(np.float32)
    lengths = rng.uniform(0.1, 10, (30, 1)).astype(np.float32)
    for metric in ("alignment", "uniformity_query", "uniformity_passage"):
        assert value(metric, x * lengths, y) == pytest.approx(value(metric, x, y), abs=1e-6)
    assert np.square(x - y).sum(axis=1).mean() != pytest.approx(value("alignment", x, y), abs=0.1)


def test_a_single_point_has_no_uniformity():
    x, one = np.eye(3), np.eye(3)[:1]
    case = vector_case(en=(x, x), sw=(one, one))
    values = load_metric("uniformity_query").values(case)
    assert np.isnan(values).tolist() == [False] * 3 + [True]
    actual = evaluate(case, {"uniformity_query": load_metric("uniformity_query")}, "macro").metrics["uniformity_query"]
    assert actual["languages"] == {"en": pytest.approx(-4)}  # three right angles; sw is left out
    assert load_metric("alignment").values(case)[-1] == 0


def test_each_query_set_has_its_own_vectors():
    x = np.array([[1.0, 0], [0, 1]])
    case = vector_case(en=(x, x), sw=(x[[0, 0]], -x[[0, 0]]))
    assert load_metric("alignment").values(case) == pytest.approx([0, 0, 4, 4])
    assert load_metric("uniformity_query").values(case) == pytest.approx([math.exp(-4)] * 2 + [1, 1])


def test_a_vector_without_a_direction_is_an_error():
    with pytest.raises(SteleError, match="query set 'en': vector 2 of 2 holds only zeros"):
        value("uniformity_passage", np.eye(2), np.array([[1.0, 0], [0, 0]]))
