"""A tiny checkpoint, and mined examples of four methods in two languages."""

import numpy as np
import pytest
from tiny_checkpoint import checkpoint

from stele import records
from stele.outputs import files_digest
from stele.training.store import write_store

SEGMENTS = {"msm": 5, "crop": 2, "ict": 2, "mlm": 1}


@pytest.fixture(scope="session")
def base(tmp_path_factory):
    return checkpoint(tmp_path_factory.mktemp("checkpoint"))


@pytest.fixture(scope="session")
def pairs(tmp_path_factory):
    """ "method:language" -> record, for msm, crop, ict and mlm in en and sw."""
    rng = np.random.default_rng(3)
    found = {}
    for method, segments in SEGMENTS.items():
        for language, size in (("en", 40), ("sw", 12)):
            folder = tmp_path_factory.mktemp(f"{method}-{language}")
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
            found[f"{method}:{language}"] = folder / "record.json"
            records.write_record(
                folder / "record.json",
                job="mine",
                inputs={},
                clock=records.start(),
                counts=counts,
                content=files_digest(folder),
                labels=["generated data"],
            )
    return found
