"""A uniform sample of a part's examples, where there are more than training can draw: whole documents, by their hash.

A document's hash is a number below one, drawn from the seed and its name. The sample is the examples of all documents
below a bound, which falls as examples come, so that there are at most so many: neither shards nor their order
matter, and documents above the bound are not tokenised. The examples keep the order in which they were read. How many
there would be in all is then estimated: those kept, divided by the bound (right within one in a thousand from a million
documents on).
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress, count
from pathlib import Path

import numpy as np

from stele.training.sampling import derive
from stele.training.store import EXAMPLES, SEGMENTS, TOKENS, Store, write_store

WHOLE = float(1 << 63)  # `derive` gives 63 bits
FULL = 2  # times as many examples as are kept lie on the disk before some of them go

Document = tuple[str, list[str]]
Mined = tuple[str, list[list[np.ndarray]]]


class Sample:
    """Which documents are wanted, and what was kept of them; `most` examples at most, None: all."""

    def __init__(self, most: int | None, *key: int | str) -> None:
        self.most, self.key, self.bound = most, key, 1.0

    def hash(self, doc_id: str) -> float:
        return derive(*self.key, "sample", doc_id) / WHOLE

    def wanted(self, documents: Iterable[Document], counts: Counter[str]) -> Iterator[Document]:
        """The documents below the bound as it is when they are read."""
        for document in documents:
            counts["documents"] += 1
            if self.bound == 1.0 or self.hash(document[0]) < self.bound:
                yield document
            else:
                counts["documents_not_sampled"] += 1

    def write(self, folder: Path, mined: Iterable[Mined]) -> dict[str, int]:
        """Writes the store of the sample; returns how many examples, segments and tokens it has, and would have whole.

        `mined` are documents with their examples, each document once.
        """
        mined = iter(mined)
        hashes, sizes = np.zeros(0), np.zeros(0, np.int64)  # of the documents whose examples are in the store so far
        kept: Iterable[Sequence[np.ndarray]] = ()
        for number in count():
            place, added = folder / f"part{number}", []
            place.mkdir()
            stored = write_store(place, chain(kept, self._until_full(mined, added, int(sizes.sum()))))
            hashes = np.concatenate([hashes, [hash for hash, _ in added]])
            sizes = np.concatenate([sizes, np.array([size for _, size in added], np.int64)])
            if number:
                shutil.rmtree(folder / f"part{number - 1}")
            if self.most is None or stored["examples"] <= self.most or len(sizes) == 1:
                break  # fewer than FULL times as many: `mined` is at its end
            below = self._lower(hashes, sizes, more=stored["examples"] > FULL * self.most)
            kept = _examples(Store(place), np.repeat(below, sizes))
            hashes, sizes = hashes[below], sizes[below]
        for name in (TOKENS, SEGMENTS, EXAMPLES):
            (place / name).rename(folder / name)
        place.rmdir()
        return {**stored, "examples_in_all": round(stored["examples"] / self.bound)}

    def _until_full(self, mined: Iterator[Mined], added: list, have: int) -> Iterator[list[np.ndarray]]:
        for doc_id, examples in mined:
            if examples and (self.most is None or (hash := self.hash(doc_id)) < self.bound):
                if self.most is not None:
                    added.append((hash, len(examples)))
                    have += len(examples)
                yield from examples
            if self.most is not None and have > FULL * self.most:
                return

    def _lower(self, hashes: np.ndarray, sizes: np.ndarray, more: bool) -> np.ndarray:
        """Lowers the bound, bool [documents]: those of lowest hash with `most` examples at most.

        With `more`, for more documents may come, just so many that there are as many: none of the others can be among
        the lowest in the end.
        """
        order = np.argsort(hashes)
        ends = np.cumsum(sizes[order])
        number = int(np.searchsorted(ends, self.most, side="left" if more else "right")) + more
        number = min(max(number, 1), len(order) - 1)
        self.bound = float(hashes[order[number]])
        return hashes < self.bound


def _examples(store: Store, chosen: np.ndarray) -> Iterator[list[np.ndarray]]:
    return (store[index] for index in compress(count(), chosen))
