"""Groups in rounds: each part (a language, a pair of languages) comes once a round, in an order drawn for the round."""

from __future__ import annotations

import numpy as np

from stele.training.sampling import Sampler, Sampling, generator


class RoundSampler(Sampler):
    """Which part and which examples group n of one kind has; examples come in passes, as in any sampler."""

    def __init__(self, sampling: Sampling) -> None:
        super().__init__(sampling)
        self.in_a_row = len(self.languages)

    def _draws(self, groups: int) -> np.ndarray:
        parts = len(self.languages)
        rounds = range(-(-groups // parts))
        orders = [generator(self.seed, self.name, "round", number).permutation(parts) for number in rounds]
        return np.concatenate(orders)[:groups]
