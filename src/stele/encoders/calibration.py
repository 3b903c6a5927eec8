"""Cross-lingual calibration of sentence vectors (CCP, section 3.2): shift, scale and rotate, without translations.

CCP refers to supplementary materials that are not public. We read it thus: subtract a language's mean, divide the rest
by its standard deviation in each coordinate ("variance" in the paper), and rotate the first language of a pair by an
orthogonal W, learnt as Conneau et al. 2018 do (rotation.py) from vectors that are shifted and scaled.

On disk a calibration is a file of tensors with a record beside it. Statistics belong to an encoder and a language, W
to an encoder and a pair: the record names the encoder by its digest and its EncodingSpec, and both must be those of the
vectors.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np

from stele.artifacts import records
from stele.errors import SteleError, unknown
from stele.files.atomic import atomic_file
from stele.files.reading import reading
from stele.files.strict import validate
from stele.recipes.encoding import EncodingSpec
from stele.recipes.search import CalibrationRecipe

FILE = "calibration.safetensors"
JOB = "calibrate"
ORTHOGONAL = 1e-6  # how far W W^T may be from the identity
MOST_DEAD = 0.1  # the share of coordinates that may be constant: all-MiniLM-L6-v2 has 2 of 384
Operation = Literal["shifted", "scaled", "calibrated"]  # each includes those before it
ScaleBy = Literal["standard_deviation", "variance"]


class Statistics(NamedTuple):
    """Mean and standard deviation (over n, not n - 1) of each coordinate of a language's vectors, both float64 [d]."""

    mean: np.ndarray
    deviation: np.ndarray


def statistics(blocks: Iterable[np.ndarray], where: str) -> Statistics:
    """Computes mean and standard deviation of vectors in blocks [b, d], which it reads once.

    Blocks are merged as in Chan, Golub and LeVeque 1983. Raises SteleError, beginning with `where`, for fewer than two
    vectors, for a vector that is not finite, and where more than a tenth of the coordinates are constant.
    """
    count, mean, squares = 0, np.zeros(0), np.zeros(0)
    for block in blocks:
        rows = np.asarray(block, np.float64)
        finite = np.isfinite(rows).all(axis=1)
        if not finite.all():
            number = count + int(np.argmin(finite)) + 1
            raise SteleError(f"{where}: vector {number} is not finite; use precision: float32")
        if not len(rows):
            continue
        centre = rows.mean(axis=0)
        spread = ((rows - centre) ** 2).sum(axis=0)
        step, total = centre - (mean if count else centre), count + len(rows)
        mean = (mean if count else centre) + step * len(rows) / total
        squares = (squares if count else 0) + spread + step**2 * count * len(rows) / total
        count = total
    if count < 2:
        raise SteleError(f"{where}: {count} vectors are too few for a mean and a deviation")
    return checked(Statistics(mean, np.sqrt(squares / count)), f"{where}, {count} vectors")


def dead(values: Statistics) -> np.ndarray:
    """Marks coordinates that are constant up to rounding, which cannot be divided by their deviation; bool [d].

    The rounding error of a coordinate in float32 depends on the size of the others, however small its value is.
    """
    size = np.maximum(np.abs(values.mean), values.deviation.max(initial=0))
    return values.deviation <= size * np.finfo(np.float32).eps


def checked(values: Statistics, where: str) -> Statistics:
    """Returns `values`; raises SteleError, beginning with `where`, if too many coordinates are constant."""
    constant = np.flatnonzero(dead(values))
    if constant.size > MOST_DEAD * len(values.mean):
        first = constant[0]
        raise SteleError(
            f"{where}: coordinate {first} is the same in all, as are {constant.size} of {len(values.mean)} (deviation "
            f"{values.deviation[first]:.1e}, of others up to {values.deviation.max():.1e}): nothing can be scaled by "
            "them; the encoder has collapsed, or the texts are all alike"
        )
    return values


def shift(vectors: np.ndarray, values: Statistics) -> np.ndarray:
    """Subtracts a language's mean from its vectors [n, d]; returns float64 [n, d].

    >>> rows = np.array([[1.0, 2.0], [3.0, 6.0]])
    >>> shift(rows, statistics([rows], "rows")).tolist()
    [[-1.0, -2.0], [1.0, 2.0]]
    """
    return np.asarray(vectors, np.float64) - values.mean


def scale(shifted: np.ndarray, values: Statistics, by: ScaleBy = "standard_deviation") -> np.ndarray:
    """Divides shifted vectors [n, d] by the deviation or variance; float64. Constant coordinates are not divided.

    >>> rows = np.array([[1.0, 2.0], [3.0, 6.0]])
    >>> values = statistics([rows], "rows")
    >>> scale(shift(rows, values), values).tolist(), scale(shift(rows, values), values, "variance").tolist()
    ([[-1.0, -1.0], [1.0, 1.0]], [[-1.0, -0.5], [1.0, 0.5]])
    """
    deviation = np.where(dead(values), 1.0, values.deviation)
    return shifted / (deviation if by == "standard_deviation" else deviation**2)


class Calibration(NamedTuple):
    """Statistics by language, and a rotation W [d, d] by pair ("de-en"), which rotates the pair's first language."""

    statistics: Mapping[str, Statistics]
    rotations: Mapping[str, np.ndarray]
    scale_by: ScaleBy

    def apply(self, vectors: np.ndarray, operation: Operation, language: str, pair: str = "") -> np.ndarray:
        """Shifts, scales or calibrates (for a pair) the vectors [n, d] of a language; returns float32 [n, d].

        One W serves both directions: it rotates the first language of the pair as it was learnt, and leaves the other,
        whichever has the queries. Raises SteleError for an operation, language or pair that was not learnt.
        """
        if operation not in get_args(Operation):
            raise unknown("calibration", operation, get_args(Operation))
        if language not in self.statistics:
            raise unknown("language of a calibration", language, self.statistics)
        transformed = shift(vectors, self.statistics[language])
        if operation != "shifted":
            transformed = scale(transformed, self.statistics[language], self.scale_by)
        if operation == "calibrated":
            reverse = "-".join(reversed(pair.split("-")))
            learnt_pair = next((name for name in (pair, reverse) if name in self.rotations), None)
            if learnt_pair is None:
                raise unknown("pair of a calibration", pair, self.rotations)
            languages = learnt_pair.split("-")
            if language not in languages:
                raise unknown(f"language of the pair {pair}", language, languages)
            if language == languages[0]:
                transformed = transformed @ self.rotations[learnt_pair].T
        return transformed.astype(np.float32)


def write_tensors(path: Path, statistics: Mapping[str, Statistics], rotations: Mapping[str, np.ndarray]) -> None:
    """Writes statistics and rotations to a safetensors file; equal values give equal bytes."""
    from safetensors.numpy import save

    tensors = {f"rotation/{pair}": matrix.astype(np.float32) for pair, matrix in rotations.items()}
    for language, of_language in statistics.items():
        for name, value in of_language._asdict().items():
            tensors[f"{name}/{language}"] = value
    with atomic_file(path, "wb") as handle:
        handle.write(save({name: np.ascontiguousarray(tensors[name]) for name in sorted(tensors)}))


def read_tensors(path: Path) -> tuple[dict[str, Statistics], dict[str, np.ndarray]]:
    """Reads statistics by language and rotations W by pair from a file that `write_tensors` wrote.

    Raises SteleError for a number that is not finite, too many constant coordinates, and a W that is not orthogonal.
    """
    from safetensors.numpy import load_file

    with reading(path, "calibration", "run its job again"):
        tensors = load_file(path)
        statistics = {}
        for name in tensors:
            if name.startswith("mean/"):
                language = name.removeprefix("mean/")
                statistics[language] = Statistics(tensors[name], tensors[f"deviation/{language}"])
    for name, value in tensors.items():
        if not np.isfinite(value).all():
            raise SteleError(f"{path}: {name} holds a number that is not finite; run its job again")
    for language, of_language in statistics.items():
        checked(of_language, f"{path}: {language}")
    rotations = {n.removeprefix("rotation/"): matrix for n, matrix in tensors.items() if n.startswith("rotation/")}
    for pair, matrix in rotations.items():
        if (far := _from_orthogonal(matrix)) > ORTHOGONAL:
            raise SteleError(f"{path}: W of {pair} is not orthogonal ({far:.1e} off); run its job again")
    return statistics, rotations


def load_calibration(record: Path, encoder: Path, spec: EncodingSpec) -> Calibration:
    """Loads the calibration beside `record`, for vectors of `encoder` (its record) under an EncodingSpec.

    Raises SteleError if it was made for another encoder or another encoding (layer, pooling, lengths ...).
    """
    calibration_record = records.read_record(record)
    if calibration_record.get("job") != JOB:
        raise SteleError(
            f"{record}: found the record of `{calibration_record.get('job')}`, want that of a calibration (`{JOB}`)"
        )
    with reading(record, "record of a calibration", "run its job again"):
        digest = calibration_record["inputs"]["encoder"]
        calibrated = validate(EncodingSpec, calibration_record["encoding"], f"{record}: encoding").model_dump()
        scale_by = validate(CalibrationRecipe, calibration_record["recipe"], f"{record}: recipe").scale_by
    if digest != (encoder_digest := records.content_digest(encoder)):
        raise SteleError(
            f"{record}: it calibrates the encoder {digest}, not {encoder} ({encoder_digest}); calibrate that one"
        )
    for key, value in spec.model_dump().items():
        if calibrated[key] != value:
            raise SteleError(
                f"{record}: its vectors were made with {key}: {calibrated[key]}, those to calibrate with {key}: "
                f"{value}; calibrate the encoder as it is evaluated"
            )
    return Calibration(*read_tensors(record.parent / FILE), scale_by)


def _from_orthogonal(matrix: np.ndarray) -> float:
    """Largest absolute difference between W W^T and the identity; infinite for a matrix that is not square."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        return np.inf
    wide = matrix.astype(np.float64)
    return float(np.abs(wide @ wide.T - np.eye(len(wide))).max(initial=0))
