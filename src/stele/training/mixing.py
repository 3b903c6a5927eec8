"""Groups that mix languages: every example's part is drawn by itself, as mContriever's loader does (MultiDataset).

A part is a language or a pair of languages. The parts of a group's examples are independent draws, so their numbers are
multinomial; within a part, examples come in passes, each a new permutation in which every example stands once. To
resume at group n, a run must know how often each part came before. It need not replay the earlier groups: the counts of
a whole chunk of groups are multinomial, too, and given the counts every order of the chunk's draws is equally likely.
So a run draws the counts of every chunk once, and shuffles a chunk when it reaches it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stele.errors import SteleError
from stele.training.sampling import Sampler, Sampling, derive, generator, permuted

CHUNK = 512  # groups


class MixedSampler:
    """Draws the parts and the examples of group n: a function of (seed, name, n)."""

    in_a_row = 1

    def __init__(self, sampling: Sampling) -> None:
        self.sizes, self.left_out = sampling.sizes_from(1)
        if sum(self.sizes.values()) < sampling.group:
            raise SteleError(
                f"{sampling.name}: all languages together lack the {sampling.group} examples that one group needs "
                f"(found {sum(self.sizes.values())}): give more text, or a recipe with smaller groups"
            )
        self.group_size, self.seed, self.name = sampling.group, sampling.seed, sampling.name
        self.parts: Sequence[str] = list(self.sizes)
        self.probabilities = sampling.probabilities(self.sizes)
        self._totals = np.stack([self._chunk(c) for c in range(-(-sampling.groups // CHUNK))])  # [chunks, parts]
        self._earlier = np.cumsum(self._totals, axis=0) - self._totals
        self._held: tuple[int, np.ndarray, np.ndarray] | None = None

    def draw(self, n: int) -> list[tuple[str, np.ndarray]]:
        """The parts of the n-th group, each with its example indices; together they are `group_size`.

        Where a pass ends within a group an example may stand in it twice, and it does where a part has fewer examples
        than the group takes of it: a loss that masks duplicates does not take a mined pair for its own negative. Of a
        stretch that is cropped, the second one's crops are others, and count as those of any other stretch.
        """
        counts, before = self._numbers(n)
        drawn = np.flatnonzero(counts)
        owner = np.repeat(drawn, counts[drawn])
        begins = np.cumsum(counts[drawn]) - counts[drawn]
        positions = np.arange(len(owner)) - np.repeat(begins - before[drawn], counts[drawn])
        sizes = np.array(list(self.sizes.values()))[owner]
        passes, inside = np.divmod(positions, sizes)
        keys = {(int(k), int(p)): self._key(k, p) for k, p in np.unique(np.stack([owner, passes], 1), axis=0)}
        key = np.array([keys[k, p] for k, p in zip(owner.tolist(), passes.tolist(), strict=True)], np.uint64)
        indices = permuted(sizes, key, inside)
        return [(self.parts[k], part) for k, part in zip(drawn, np.split(indices, begins[1:]), strict=True)]

    def _chunk(self, number: int) -> np.ndarray:
        """The number of examples of each part in a chunk of groups: int64 [parts]."""
        rng = generator(self.seed, self.name, "parts", number)
        return rng.multinomial(self.group_size * CHUNK, list(self.probabilities.values()))

    def _key(self, part: int, number: int) -> int:
        """Chooses the permutation of a part's pass."""
        return derive(self.seed, self.name, self.parts[part], int(number))

    def _numbers(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """The number of examples of each part in group n, and in all groups before it: two int64 [parts]."""
        chunk, row = divmod(n, CHUNK)
        if self._held is None or self._held[0] != chunk:
            order = np.repeat(np.arange(len(self.parts)), self._totals[chunk])
            generator(self.seed, self.name, "order", chunk).shuffle(order)
            cells = np.arange(CHUNK).repeat(self.group_size) * len(self.parts) + order
            counts = np.bincount(cells, minlength=CHUNK * len(self.parts)).reshape(CHUNK, -1)
            self._held = chunk, counts, np.cumsum(counts, axis=0) - counts
        _, counts, before = self._held
        return counts[row], self._earlier[chunk] + before[row]


class RoundSampler(Sampler):
    """Groups in rounds: each part comes once a round, in an order drawn for the round; examples come in passes."""

    def __init__(self, sampling: Sampling) -> None:
        super().__init__(sampling)
        self.in_a_row = len(self.languages)

    def _draws(self, groups: int) -> np.ndarray:
        parts = len(self.languages)
        rounds = range(-(-groups // parts))
        orders = [generator(self.seed, self.name, "round", number).permutation(parts) for number in rounds]
        return np.concatenate(orders)[:groups]
