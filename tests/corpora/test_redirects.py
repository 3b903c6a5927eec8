"""Redirects followed to their end, against following them one by one."""

import numpy as np
import pytest

from stele.corpora.dumps.resolve_titles import LOOP, REDIRECTED, TO_NOTHING, follow


def one_by_one(pages, following):
    for start in range(len(pages)):
        at, seen = start, set()
        while pages[at] < 0 <= following[at] and at not in seen:
            seen.add(at)
            at = following[at]
        if at in seen:
            yield -1, LOOP
        else:
            yield (pages[at], REDIRECTED) if pages[at] >= 0 else (-1, TO_NOTHING)


def arrays(pages, following):
    return np.array(pages, np.int32), np.array(following, np.int32)


def check(pages, following):
    ends, how = follow(pages, following)
    assert list(zip(ends.tolist(), how.tolist(), strict=True)) == list(one_by_one(pages.tolist(), following.tolist()))


@pytest.mark.parametrize("seed", range(20))
def test_random_redirects_end_where_following_them_one_by_one_ends(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 200))
    pages = np.where(rng.random(size) < 0.1, rng.integers(0, 50, size), -1).astype(np.int32)
    following = np.where(rng.random(size) < 0.9, rng.integers(0, size, size), -1).astype(np.int32)
    check(pages, following)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 9, 1000])
def test_no_redirect_a_long_chain_and_a_long_loop(size):
    check(*arrays([], []))
    onward = [*range(1, size), -1]
    check(*arrays([-1] * (size - 1) + [5], onward))
    check(*arrays([-1] * size, onward))
    check(*arrays([-1] * size, [*range(1, size), 0]))
    check(*arrays([-1] * size, [*range(1, size), size - 1]))  # leads into a page that redirects to itself
