"""Sampling of a step's examples as pure functions of (seed, step), so that resuming needs no position in the data.

A group is one micro-batch, whose members share negatives and batch-norm statistics. Groups are numbered through the
whole run, j = step * groups + i. With the seed, j alone decides a group's kind, languages and examples.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from stele.errors import SteleError

MASK64 = (1 << 64) - 1


def derive(*key: int | str) -> int:
    """Derives a 63-bit seed from a key, for example derive(seed, "mask", j); equal on every machine."""
    return int.from_bytes(hashlib.blake2b(repr(key).encode(), digest_size=8).digest(), "little") >> 1


def generator(*key: int | str) -> np.random.Generator:
    """Random generator seeded with a key (`derive`)."""
    return np.random.Generator(np.random.PCG64(derive(*key)))


def language_probabilities(sizes: Mapping[str, int], alpha: float) -> dict[str, float]:
    """Probabilities proportional to (n_l / n) ** alpha (MSM: 0.3; XLM-R, section 3.1). Raises SteleError for size 0.

    >>> {k: round(v, 3) for k, v in language_probabilities({"en": 1000, "sw": 1}, 0.3).items()}
    {'en': 0.888, 'sw': 0.112}
    """
    empty = [language for language, size in sizes.items() if size <= 0]
    if not sizes or empty:
        raise SteleError(f"sampling: these languages have no examples: {empty or 'all'}; want at least one of each")
    total = sum(sizes.values())
    weights = {language: (size / total) ** alpha for language, size in sizes.items()}
    whole = sum(weights.values())
    return {language: weight / whole for language, weight in weights.items()}


def kind_of(j: int, share: float) -> tuple[bool, int]:
    """Decides whether group j is of the second of two kinds, and counts the groups of its kind before it.

    Of the first n groups, for any n, exactly floor(share * n) are of the second kind, evenly spread. Nothing is random,
    so even a short run has its share.

    >>> [kind_of(j, 0.4)[0] for j in range(10)]
    [False, False, True, False, True, False, False, True, False, True]
    """
    exact = Fraction(str(share))
    before = int(exact * j)
    second = int(exact * (j + 1)) > before
    return second, before if second else j - before


def permuted(size: int, key: int, positions: np.ndarray) -> np.ndarray:
    """Maps `positions` (int64 [n], from 0 to size - 1) by a pseudo-random permutation chosen by `key`; int64 [n].

    The permutation is a Feistel network of four rounds over the next even power of two, repeated until inside the
    range, which needs no table.
    """
    places, half = np.asarray(positions).astype(np.uint64), np.uint64((max(size - 1, 1).bit_length() + 1) // 2)
    low, outside = (np.uint64(1) << half) - np.uint64(1), np.ones(places.shape, bool)
    keys = [np.uint64((key + turn * 0x9E3779B97F4A7C15) & MASK64) for turn in range(4)]
    while outside.any():
        left, right = places[outside] >> half, places[outside] & low
        for round_key in keys:
            left, right = right, left ^ (mixed(right, round_key) & low)
        places[outside] = (left << half) | right
        outside = places >= np.uint64(size)
    return places.astype(np.int64)


BLOCK = 1024  # positions permuted at once: it takes hardly longer than a group's few


@lru_cache(maxsize=512)  # 4 MB: the present blocks of all parts
def _block(size: int, key: int, number: int) -> np.ndarray:
    return permuted(size, key, np.arange(number * BLOCK, min((number + 1) * BLOCK, size)))


def permuted_range(size: int, key: int, begin: int, end: int) -> np.ndarray:
    """`permuted` of the positions from `begin` to `end` (not included): int64 [end - begin]."""
    blocks = [_block(size, key, number) for number in range(begin // BLOCK, -(-end // BLOCK))]
    return np.concatenate(blocks)[begin % BLOCK :][: end - begin]


def mixed(values: np.ndarray, key: np.uint64) -> np.ndarray:
    """Hashes each value, uint64 [n], with a key (the 64-bit finaliser of MurmurHash3)."""
    hashes = values ^ key
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        hashes = (hashes ^ (hashes >> np.uint64(33))) * np.uint64(factor)
    return hashes ^ (hashes >> np.uint64(33))


Batch = dict[str, Any]  # a group as its objective prepares it: name -> array (on a device: tensor) or number


class Group(NamedTuple):
    """A group of a task: its `number` in the run, and its examples as (part, indices in the part's store)."""

    number: int
    drawn: Sequence[tuple[str, np.ndarray]]

    @property
    def language(self) -> str | None:
        """The part from which all examples come; None if they come from several."""
        return self.drawn[0][0] if len(self.drawn) == 1 else None


@dataclass(frozen=True)
class Sampling:
    """The parts from which a run draws the groups of one kind (`name`): languages, or pairs of languages."""

    sizes: Mapping[str, int]  # number of examples of each part
    group: int  # examples in a group
    groups: int  # groups in the whole run
    alpha: float  # exponent of `language_probabilities`
    seed: int
    name: str
    in_all: Mapping[str, int] | None = None  # full sizes for drawing parts, if `sizes` are samples

    def sizes_from(self, least: int) -> tuple[dict[str, int], dict[str, int]]:
        """Sizes of the parts with at least `least` examples, and sizes of all other parts, both sorted by part."""
        ordered = sorted(self.sizes.items())
        large = {part: size for part, size in ordered if size >= least}
        return large, {part: size for part, size in ordered if size < least}

    def probabilities(self, parts: Iterable[str]) -> dict[str, float]:
        sizes = self.in_all or self.sizes
        return language_probabilities({part: sizes[part] for part in parts}, self.alpha)


class Sampler:
    """Draws the language and the examples of group n of one kind.

    Within a language, examples come in passes: each pass is a new permutation of all examples, cut into consecutive
    groups (a group may begin in one pass and end in the next, without repeating an example). Raises SteleError if no
    language has enough examples for one group.

    in_a_row   consecutive groups of this kind before the next kind has its turn
    """

    in_a_row = 1

    def __init__(self, sampling: Sampling) -> None:
        self.sizes, self.left_out = sampling.sizes_from(sampling.group)
        if not self.sizes:
            raise SteleError(
                f"{sampling.name}: no language has the {sampling.group} examples that one group needs "
                f"(found {self.left_out}); provide more text, documents of several sentences, or a recipe with smaller "
                "groups"
            )
        self.group_size, self.seed, self.name = sampling.group, sampling.seed, sampling.name
        self.languages: Sequence[str] = list(self.sizes)
        self.probabilities = sampling.probabilities(self.sizes)
        self.drawn = self._draws(sampling.groups)
        self.earlier = _occurrences(self.drawn, len(self.languages))

    def _draws(self, groups: int) -> np.ndarray:
        """Draws the language of each group, as an index into `languages`: int64 [groups]."""
        bounds = np.cumsum([self.probabilities[language] for language in self.languages])
        draws = generator(self.seed, self.name, "languages").random(groups)
        return np.minimum(np.searchsorted(bounds, draws, side="right"), len(bounds) - 1)

    def draw(self, n: int) -> list[tuple[str, np.ndarray]]:
        """Draws the n-th group of this kind: a single part (language, example indices int64 [group])."""
        language = self.languages[self.drawn[n]]
        return [(language, self.examples(language, int(self.earlier[n])))]

    def examples(self, language: str, n: int) -> np.ndarray:
        """Indices of the examples of a language's n-th group, int64 [group]."""
        size = self.sizes[language]
        first, inside = divmod(n * self.group_size, size)
        chosen = self._pass(language, first, inside, min(inside + self.group_size, size))
        missing = self.group_size - len(chosen)
        if not missing:
            return chosen
        # The rest comes from the next pass, skipping examples that the group already has.
        following = self._pass(language, first + 1, 0, min(size, 2 * self.group_size))
        return np.concatenate([chosen, following[~np.isin(following, chosen)][:missing]])

    def _pass(self, language: str, number: int, begin: int, end: int) -> np.ndarray:
        return permuted_range(self.sizes[language], derive(self.seed, self.name, language, number), begin, end)


def _occurrences(drawn: np.ndarray, kinds: int) -> np.ndarray:
    """Counts for each entry the earlier entries of the same value.

    >>> _occurrences(np.array([1, 0, 1, 1, 0]), 2).tolist()
    [0, 0, 1, 2, 1]
    """
    earlier = np.empty(len(drawn), np.int64)
    for kind in range(kinds):
        places = np.flatnonzero(drawn == kind)
        earlier[places] = np.arange(len(places))
    return earlier


# --- groups that mix languages ----------------------------------------------------------------------------------------
CHUNK = 512  # groups


class MixedSampler:
    """Draws the part of each example independently, as mContriever's loader does (MultiDataset).

    The counts of the parts in a group are multinomial; within a part, examples come in passes, each a new permutation
    of all examples. To resume at group n, a run must know how often each part came before, without replaying the
    earlier groups: the counts of a whole chunk of groups are multinomial, too, and given the counts every order of the
    chunk's draws is equally likely. So a run draws the counts of every chunk once, and shuffles a chunk when it comes.
    """

    in_a_row = 1

    def __init__(self, sampling: Sampling) -> None:
        self.sizes, self.left_out = sampling.sizes_from(1)
        if sum(self.sizes.values()) < sampling.group:
            raise SteleError(
                f"{sampling.name}: all languages together have fewer than the {sampling.group} examples that one group "
                f"needs (found {sum(self.sizes.values())}); provide more text, or a recipe with smaller groups"
            )
        self.group_size, self.seed, self.name = sampling.group, sampling.seed, sampling.name
        self.parts: Sequence[str] = list(self.sizes)
        self.probabilities = sampling.probabilities(self.sizes)
        self._totals = np.stack([self._chunk(c) for c in range(-(-sampling.groups // CHUNK))])  # [chunks, parts]
        self._earlier = np.cumsum(self._totals, axis=0) - self._totals
        self._held: tuple[int, np.ndarray, np.ndarray] | None = None

    def draw(self, n: int) -> list[tuple[str, np.ndarray]]:
        """Draws the n-th group: its parts, each with its example indices (int64), `group_size` in all.

        An example can occur twice in a group in which a pass ends.
        """
        counts, before = self._numbers(n)
        return [
            (self.parts[k], self._examples(self.parts[k], int(before[k]), int(counts[k])))
            for k in np.flatnonzero(counts)
        ]

    def _examples(self, part: str, begin: int, count: int) -> np.ndarray:
        """Indices of `count` examples of a part after its first `begin`; each pass has a permutation of its own."""
        size, chosen = self.sizes[part], []
        for number in range(begin // size, -(-(begin + count) // size)):
            first, last = max(begin - number * size, 0), min(begin + count - number * size, size)
            chosen.append(permuted_range(size, derive(self.seed, self.name, part, number), first, last))
        return np.concatenate(chosen)

    def _chunk(self, number: int) -> np.ndarray:
        """Draws the number of examples of each part in a chunk of groups: int64 [parts]."""
        rng = generator(self.seed, self.name, "parts", number)
        return rng.multinomial(self.group_size * CHUNK, list(self.probabilities.values()))

    def _numbers(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of examples of each part in group n, and in all groups before it: two arrays int64 [parts]."""
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
    """Draws groups in rounds: one group of each part per round, in a random order; examples come in passes."""

    def __init__(self, sampling: Sampling) -> None:
        super().__init__(sampling)
        self.in_a_row = len(self.languages)

    def _draws(self, groups: int) -> np.ndarray:
        parts = len(self.languages)
        rounds = range(-(-groups // parts))
        orders = [generator(self.seed, self.name, "round", number).permutation(parts) for number in rounds]
        return np.concatenate(orders)[:groups]
