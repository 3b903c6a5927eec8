"""A tiny checkpoint, and mined examples of all methods."""

import numpy as np
import pytest
from tiny_checkpoint import checkpoint

from stele.artifacts import records
from stele.files.digests import files_digest
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
            counts = write_store(
                folder,
                (
                    [
                        rng.integers(5, 79, rng.integers(3, 9))
                        for _ in range(segments if method != "msm" else rng.integers(3, 6))
                    ]
                    for _ in range(size)
                ),
            )
            collected[f"{method}:{part}"] = folder / "record.json"
            records.write_record(
                folder / "record.json",
                job="mine",
                inputs={},
                clock=records.start(),
                counts=counts,
                content=files_digest(folder),
                labels=["generated data"],
            )
    return collected
