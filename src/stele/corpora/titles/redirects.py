"""Where redirects lead: chains are followed to their end, loops are found."""

from __future__ import annotations

import numpy as np

# what became of a title: a page's own, a redirect that ends at a page, neither, a redirect that ends nowhere or never
DIRECT, REDIRECTED, MISSING, TO_NOTHING, LOOP = range(5)


def follow(pages: np.ndarray, following: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(page or -1, REDIRECTED, TO_NOTHING or LOOP) of each redirect, int32 and uint8 [n].

    pages       int32 [n], the page whose title the target is, -1 where there is none
    following   int32 [n], the redirect whose title the target is, -1 where there is none; ignored beside a page

    Each round doubles how far every redirect has been followed, so a chain of any length takes log2(n) rounds.

    >>> follow(np.array([-1, 7, -1, -1]), np.array([1, -1, 2, -1]))  # a chain, its end, a loop, a way to nothing
    (array([ 7,  7, -1, -1], dtype=int32), array([1, 1, 4, 3], dtype=uint8))
    """
    itself = np.arange(len(pages), dtype=np.int32)
    last = (pages >= 0) | (following < 0)
    at = np.where(last, itself, following).astype(np.int32)
    for _ in range(len(pages).bit_length()):
        going = np.flatnonzero(~last[at])
        if not len(going):
            break
        at[going] = at[at[going]]
    ends = np.where(last[at], pages[at], -1).astype(np.int32)
    how = np.select([~last[at], ends < 0], [LOOP, TO_NOTHING], REDIRECTED).astype(np.uint8)
    return ends, how
