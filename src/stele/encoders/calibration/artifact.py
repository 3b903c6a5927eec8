"""A calibration on disk, and what it does to vectors: tensors in one file, beside it the record of what they are of.

Statistics are an encoder's and a language's, W an encoder's and a pair's: the record names the encoder by its digest
and its EncodingSpec, and both must be those of the vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np

from stele.artifacts import records
from stele.encoders.calibration.statistics import ScaleBy, Statistics, checked, scale, shift
from stele.errors import SteleError, unknown
from stele.files.atomic import atomic_file
from stele.files.reading import reading
from stele.recipes.calibration import parse_recipe
from stele.recipes.encoding import EncodingSpec

FILE = "calibration.safetensors"
JOB = "calibrate"
ORTHOGONAL = 1e-6  # how far W W^T may be from the identity
Operation = Literal["shifted", "scaled", "calibrated"]  # each does what those before it do


class Calibration(NamedTuple):
    """Statistics by language, and W [d, d] by pair ("de-en"), which turns the pair's first language."""

    statistics: Mapping[str, Statistics]
    rotations: Mapping[str, np.ndarray]
    scale_by: ScaleBy

    def apply(self, vectors: np.ndarray, operation: Operation, language: str, pair: str = "") -> np.ndarray:
        """The vectors [n, d] of a language, shifted, scaled as well, or calibrated for a pair; float32.

        One W serves both directions: it turns the language that stands first where the pair was learnt, and leaves the
        other, whichever of them searches.
        """
        if operation not in get_args(Operation):
            raise unknown("calibration", operation, get_args(Operation))
        if language not in self.statistics:
            raise unknown("language of a calibration", language, self.statistics)
        own = self.statistics[language]
        moved = shift(vectors, own)
        if operation != "shifted":
            moved = scale(moved, own, self.scale_by)
        if operation == "calibrated":
            languages = (learnt := self._learnt(pair)).split("-")
            if language not in languages:
                raise unknown(f"language of the pair {pair}", language, languages)
            if language == languages[0]:
                moved = moved @ self.rotations[learnt].T
        return moved.astype(np.float32)

    def _learnt(self, pair: str) -> str:
        """The pair as it was learnt."""
        turned = "-".join(reversed(pair.split("-")))
        learnt = next((name for name in (pair, turned) if name in self.rotations), None)
        if learnt is None:
            raise unknown("pair of a calibration", pair, self.rotations)
        return learnt


def write_tensors(path: Path, statistics: Mapping[str, Statistics], rotations: Mapping[str, np.ndarray]) -> None:
    """Writes statistics and rotations, equal ones as equal bytes."""
    from safetensors.numpy import save

    tensors = {f"{name}/{language}": value for language, own in statistics.items() for name, value in _named(own)}
    tensors |= {f"rotation/{pair}": matrix.astype(np.float32) for pair, matrix in rotations.items()}
    with atomic_file(path, "wb") as handle:
        handle.write(save({name: np.ascontiguousarray(tensors[name]) for name in sorted(tensors)}))


def read_tensors(path: Path) -> tuple[dict[str, Statistics], dict[str, np.ndarray]]:
    """What `write_tensors` wrote.

    A number that is not finite, a coordinate without a deviation and a W that is not orthogonal are errors.
    """
    from safetensors.numpy import load_file

    with reading(path, "calibration", "run its job again"):
        tensors = load_file(path)
        languages = [name.removeprefix("mean/") for name in tensors if name.startswith("mean/")]
        statistics = {own: Statistics(*(tensors[f"{name}/{own}"] for name in Statistics._fields)) for own in languages}
    for name, value in tensors.items():
        if not np.isfinite(value).all():
            raise SteleError(f"{path}: {name} holds a number that is not finite; run its job again")
    for language, own in statistics.items():
        checked(own, f"{path}: {language}")
    rotations = {n.removeprefix("rotation/"): matrix for n, matrix in tensors.items() if n.startswith("rotation/")}
    for pair, matrix in rotations.items():
        if (far := _from_orthogonal(matrix)) > ORTHOGONAL:
            raise SteleError(f"{path}: W of {pair} is not orthogonal ({far:.1e} off); run its job again")
    return statistics, rotations


def load_calibration(record: Path, encoder: Path, spec: EncodingSpec) -> Calibration:
    """The calibration beside its record, for vectors of an encoder (its record) under a spec.

    Another encoder, and another way of encoding (layer, pooling, lengths ...), are refused: its numbers are of others.
    """
    known = records.read_record(record)
    if known.get("job") != JOB:
        raise SteleError(f"{record}: the record of `{known.get('job')}`, want that of a calibration (`{JOB}`)")
    with reading(record, "record of a calibration", "run its job again"):
        digest, encoding = known["inputs"]["encoder"], dict(known["encoding"])
        scale_by = parse_recipe(known["recipe"], f"{record}: recipe").scale_by
    if digest != (own := records.content_digest(encoder)):
        raise SteleError(
            f"{record}: calibrates the encoder {digest}, not {encoder}, which is {own}; calibrate that one"
        )
    for key, value in spec.facts().items():
        if encoding.get(key) != value:
            raise SteleError(
                f"{record}: its vectors were made with {key}: {encoding.get(key)}, those to calibrate with {key}: "
                f"{value}; calibrate the encoder as it is evaluated"
            )
    return Calibration(*read_tensors(record.parent / FILE), scale_by)


def _from_orthogonal(matrix: np.ndarray) -> float:
    """How far a matrix's product with its transpose is from the identity."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        return np.inf
    wide = matrix.astype(np.float64)
    return float(np.abs(wide @ wide.T - np.eye(len(wide))).max(initial=0))


def _named(own: Statistics) -> Iterable[tuple[str, np.ndarray]]:
    return own._asdict().items()
