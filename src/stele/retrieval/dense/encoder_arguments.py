"""Command arguments that specify a calibration of vectors, and its application to them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from stele.benchmarks.types import QuerySet
from stele.command.arguments import EncoderJob, Record
from stele.encoders.calibration import Calibration, Operation, load_calibration
from stele.errors import SteleError
from stele.retrieval.dense.vector_files import VectorTransform, identity

if TYPE_CHECKING:
    from stele.encoders.encode import Encoder


class CalibratedJob(EncoderJob):
    """A job that makes vectors and may apply a calibration to them."""

    calibration: Record | None = None
    """Record of a calibration of this encoder; needs --operation."""
    operation: Operation | None = None
    """What is done to the vectors: shifted, also scaled, or also rotated (calibrated)."""


class CalibrationTransforms:
    """Applies --calibration and --operation to the vectors of a benchmark of language pairs; without them, nothing.

    The name of a query set has the language of its queries, then that of its collection; of "fr-en" and "en-fr" the
    first names the pair. Raises SteleError if only one of the two arguments is given, and for another benchmark.
    """

    def __init__(self, args: CalibratedJob, encoder: Encoder, query_sets: Sequence[QuerySet]) -> None:
        if (args.calibration is None) != (args.operation is None):
            raise SteleError("--calibration, --operation: give both, or leave both out")
        self.calibration: Calibration | None = None
        self.inputs: dict[str, Path] = {}
        self.facts: dict[str, str] = {}
        if args.calibration is None:
            return
        self.calibration = load_calibration(args.calibration, args.encoder, encoder.spec)
        self.operation: Operation = args.operation
        self.inputs, self.facts = {"calibration": args.calibration}, {"operation": args.operation}
        self._pairs: dict[str, str] = {}  # column of a score -> pair
        self._collections: dict[str, tuple[str, str]] = {}  # collection -> (language, pair)
        for query_set in query_sets:
            _, dash, language = query_set.name.partition("-")
            side = language, self._pairs.setdefault(query_set.language, query_set.name)
            is_of_side = query_set.collection.partition("-of-")[0] == language  # Belebele reverses its pairs
            if not (dash and is_of_side) or self._collections.setdefault(query_set.collection, side) != side:
                raise SteleError(f"--calibration: {query_set.name}: want a benchmark of language pairs, e.g. tatoeba")

    def of_collection(self, collection: str) -> VectorTransform:
        """Returns the transform to apply to the vectors of a collection's passages."""
        return self._transform(*self._collections[collection]) if self.calibration else identity

    def of_queries(self, query_set: QuerySet) -> VectorTransform:
        """Returns the transform to apply to the vectors of a query set's queries."""
        if not self.calibration:
            return identity
        return self._transform(query_set.name.partition("-")[0], self._pairs[query_set.language])

    def _transform(self, language: str, pair: str) -> VectorTransform:
        return partial(self.calibration.apply, operation=self.operation, language=language, pair=pair)
