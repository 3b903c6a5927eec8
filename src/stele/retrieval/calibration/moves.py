"""What a calibration does to vectors of a benchmark of pairs: by the language of a text, for the pair it is of."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import numpy as np

from stele.benchmarks.types import QuerySet
from stele.encoders.calibration.artifact import Calibration, Operation, load_calibration
from stele.errors import SteleError

if TYPE_CHECKING:
    from stele.encoders.encode import Encoder

Move = Callable[[np.ndarray], np.ndarray]  # vectors [n, d] -> as many, float32


def add_calibration_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--calibration", type=Path, metavar="RECORD", help="what was learnt of this encoder; with it:")
    parser.add_argument("--operation", choices=get_args(Operation), help="what is done to vectors before their use")


def given_moves(args: argparse.Namespace, encoder: Encoder, query_sets: Sequence[QuerySet]) -> Moves | None:
    """What --calibration and --operation do to an encoder's vectors of some query sets; None without them."""
    if (args.calibration is None) != (args.operation is None):
        raise SteleError("--calibration, --operation: give both, or leave both out")
    if args.calibration is None:
        return None
    calibration = load_calibration(args.calibration, args.encoder, encoder.spec)
    return Moves(calibration, args.operation, query_sets)


def calibration_inputs(args: argparse.Namespace) -> dict[str, Path]:
    """What a record names as an input."""
    return {"calibration": args.calibration} if args.calibration else {}


def calibration_facts(args: argparse.Namespace) -> dict[str, str]:
    """What a record says was done to vectors."""
    return {"operation": args.operation} if args.operation else {}


class Moves:
    """What is done to vectors of each side of each pair.

    Of query sets in two directions, "fr-en" and "en-fr", the first names the pair, as it was learnt or turned about;
    which language a text is in, its query set's name says.
    """

    def __init__(self, calibration: Calibration, operation: Operation, query_sets: Sequence[QuerySet]) -> None:
        self.calibration, self.operation = calibration, operation
        self._pairs: dict[str, str] = {}  # by the column of a score
        self._collections: dict[str, tuple[str, str]] = {}  # (language, pair)
        for query_set in query_sets:
            _, dash, language = query_set.name.partition("-")
            side = language, self._pairs.setdefault(query_set.language, query_set.name)
            if not dash or self._collections.setdefault(query_set.collection, side) != side:
                raise SteleError(f"--calibration: {query_set.name}: want a benchmark of pairs of languages, as tatoeba")

    def of_collection(self, collection: str) -> Move:
        """What is done to the passages of a collection."""
        return self._move(*self._collections[collection])

    def of_queries(self, query_set: QuerySet) -> Move:
        """What is done to queries of a query set."""
        return self._move(query_set.name.partition("-")[0], self._pairs[query_set.language])

    def _move(self, language: str, pair: str) -> Move:
        return lambda vectors: self.calibration.apply(vectors, self.operation, language, pair)
