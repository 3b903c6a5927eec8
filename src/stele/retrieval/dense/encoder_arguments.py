"""Command arguments that specify how vectors are made: the encoder, its encoding, a calibration of its vectors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from stele.benchmarks.types import QuerySet
from stele.command.arguments import Job, Json, Record, Threads
from stele.encoders.calibration import Calibration, Operation, load_calibration
from stele.errors import SteleError
from stele.files.reading import parse_object
from stele.files.strict import Values
from stele.retrieval.dense.vector_files import VectorTransform, identity

if TYPE_CHECKING:
    from stele.encoders.encode import Encoder

EncoderRecord = Annotated[Record, Field(description="record.json in the encoder's folder.")]
Encoding = Annotated[
    Json,
    Field(
        description='Encoding keys that the folder of the encoder does not state, e.g. {"pooling": "mean"}, or such '
        "keys by origin (config, models, scale, benchmark)."
    ),
]


class EncoderJob(Job):
    """A job that makes vectors."""

    encoder: EncoderRecord
    encoding: Encoding = "{}"
    threads: Threads = None


class CalibratedJob(EncoderJob):
    """A job that makes vectors and may apply a calibration to them."""

    calibration: Record | None = None
    """Record of a calibration of this encoder; needs --operation."""
    operation: Operation | None = None
    """What is done to the vectors: shifted, also scaled, or also rotated (calibrated)."""


def parse_encoding(text: str) -> Values | None:
    """Parses the value of --encoding; None if it has no keys."""
    return parse_object(text, "--encoding") or None


def load_given_encoder(args: EncoderJob) -> Encoder:
    """Loads the encoder of --encoder with --encoding, on this machine's device and on --threads threads."""
    import torch

    from stele.encoders.load import load_encoder
    from stele.training.processes import default_device

    if args.threads:
        torch.set_num_threads(args.threads)
    return load_encoder(args.encoder.parent, parse_encoding(args.encoding), str(default_device()))


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
