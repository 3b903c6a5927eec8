"""Who encodes what: a stream of texts divided over the processes of a job, window by window.

A window (so many texts, one after another) is encoded as a whole, so that its vectors are the same bytes in whichever
process. It goes to the process that has the fewest characters so far, the first of those that have equally few: all
processes read the stream and compute the same split without communicating, and only the owner tokenises a window. A
process has at most one window's characters more than another.

Reading everything in every process is cheap: a core reads and divides 185,000 passages a second and tokenises 9,300
(tests/speed/bench_shares.py), and both go on while a GPU encodes what came before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any


class Shares:
    """The windows of a stream of (id, text), for process `rank` of `world`.

    >>> shares = Shares(1, 2, window=2)
    >>> list(shares.own([("a", "long text"), ("b", ""), ("c", "short"), ("d", ""), ("e", ("one", "two"))]))
    [('c', 'short'), ('d', ''), ('e', ('one', 'two'))]
    >>> shares.owners, shares.loads, shares.read
    ([0, 1, 1], [9, 11], 5)
    """

    def __init__(self, rank: int, world: int, window: int) -> None:
        self.rank, self.window = rank, window
        self.loads = [0] * world  # characters
        self.owners: list[int] = []  # of the windows so far
        self.read = 0  # texts that went by
        self.whole = False  # whether that was all

    def assigned(self, items: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
        """The items of this process's windows; a text is a string or a pair of them."""
        items = iter(items)
        while (first := next(items, None)) is not None:
            owner = self.loads.index(min(self.loads))
            self.owners.append(owner)
            for item in chain((first,), islice(items, self.window - 1)):
                self.loads[owner] += len(item[1]) if isinstance(item[1], str) else sum(map(len, item[1]))
                self.read += 1
                if owner == self.rank:
                    yield item
        self.whole = True


def in_order(owners: Sequence[int], window: int) -> Iterator[tuple[int, slice]]:
    """For the windows in the stream's order: the owner, and the rows among all that it owns.

    >>> list(in_order([0, 1, 0], 10))
    [(0, slice(0, 10, None)), (1, slice(0, 10, None)), (0, slice(10, 20, None))]
    """
    rows = dict.fromkeys(owners, 0)
    for owner in owners:
        yield owner, slice(rows[owner], rows[owner] + window)
        rows[owner] += window
