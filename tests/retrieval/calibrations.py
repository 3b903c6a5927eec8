"""A calibration as its job writes it, with statistics and rotations that are drawn."""

from pathlib import Path

import numpy as np
from recorded import record

from stele.artifacts import records
from stele.encoders.calibration import FILE, JOB, Statistics, write_tensors
from stele.encoders.load import load_encoder

WIDTH = 32


def drawn(folder: Path, encoder: Path, spec: dict, languages: list[str], pairs: list[str]) -> Path:
    """The record of a calibration of an encoder (its record), whose vectors have WIDTH numbers."""
    rng = np.random.default_rng(7)
    folder.mkdir()
    own = {language: Statistics(rng.normal(0, 0.1, WIDTH), rng.uniform(0.5, 2, WIDTH)) for language in languages}
    turns = {pair: np.linalg.qr(rng.normal(size=(WIDTH, WIDTH)))[0] for pair in pairs}
    write_tensors(folder / FILE, own, turns)
    return record(
        folder,
        job=JOB,
        labels=["generated data"],
        inputs={"encoder": records.content_digest(encoder)},
        recipe={"scale_by": "standard_deviation"},
        encoding=load_encoder(encoder.parent, spec).spec.model_dump(),
        content="calibration",
    )
