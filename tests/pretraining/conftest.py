"""A tiny checkpoint, and mined examples of all methods."""

import numpy as np
import pytest
from tiny_checkpoint import checkpoint, recorded

from stele.training.store import write_store

SEGMENTS = {"msm": 5, "crop": 2, "ict": 2, "mlm": 1, "ilk": 2, "clk": 2, "uhs_ilk": 2, "ds_clk": 2, "clhed": 2}
LANGUAGES = (("en", 40), ("sw", 12))
PAIRS_OF_LANGUAGES = (("en-sw", 20), ("en-th", 3), ("sw-th", 0))
PARTS = dict.fromkeys(("clk", "ds_clk", "clhed"), PAIRS_OF_LANGUAGES)


@pytest.fixture(scope="session")
def base(tmp_path_factory):
    return checkpoint(tmp_path_factory.mktemp("checkpoint"))


@pytest.fixture(scope="session")
def pairs(tmp_path_factory):
    """ "method:part" -> record, for every method in en and sw, or in pairs of languages."""
    rng = np.random.default_rng(3)
    collected = {}
    for method, segments in SEGMENTS.items():
        for part, size in PARTS.get(method, LANGUAGES):
            folder = tmp_path_factory.mktemp(f"{method}-{part}")

            def example(method=method, segments=segments):
                number = rng.integers(3, 6) if method == "msm" else segments
                return [rng.integers(5, 79, rng.integers(3, 9)) for _ in range(number)]

            counts = write_store(folder, (example() for _ in range(size)))
            collected[f"{method}:{part}"] = recorded(folder, "mine", ["generated data"], counts=counts)
    return collected
