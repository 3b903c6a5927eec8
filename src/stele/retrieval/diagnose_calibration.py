"""Diagnose a calibration: is there a rotation between two languages at all, and was it found without translations.

For no table: half of a benchmark's translations are learnt from. Written are, for each pair, the accuracies of the
other half without a rotation, with the calibration's, and with that from translations, and a verdict: "found", "not
found" (there is one) or "not isomorphic" (there is none).
"""

from __future__ import annotations

import argparse
import logging
from pathlib import Path

from stele.artifacts import records
from stele.benchmarks.arguments import add_data_argument, data_folders, data_records
from stele.command import arguments
from stele.errors import SteleError
from stele.registry import load_named
from stele.retrieval.dense.encoding_argument import add_encoding_argument, given_encoder

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--benchmark", required=True, choices=["tatoeba", "tatoeba_pairs"])
    parser.add_argument("--languages", nargs="+", required=True, help="or pairs, as the benchmark has them")
    parser.add_argument("--encoder", type=Path, required=True, help="record.json in the encoder's folder")
    add_encoding_argument(parser)
    parser.add_argument("--calibration", type=Path, required=True, metavar="RECORD")
    add_data_argument(parser)
    parser.add_argument("--seed", default=0, type=arguments.seed, help="draws the half that is held out")
    parser.add_argument("--threads", type=arguments.whole, help="CPU threads; default: as many as torch takes")
    parser.add_argument("--output", type=arguments.output(".json"), required=True)


def run(args: argparse.Namespace) -> None:
    clock = records.start()
    from stele.encoders.calibration.artifact import load_calibration
    from stele.encoders.calibration.diagnosis import diagnose

    benchmark, data = load_named("stele.benchmarks", args.benchmark, "benchmark"), data_records(args.data)
    encoder, found = given_encoder(args), {}
    calibration = load_calibration(args.calibration, args.encoder, encoder.spec)
    for there, back in zip(*[iter(benchmark.query_sets(args.languages))] * 2, strict=True):
        pair, sides = there.name, []
        for query_set in (there, back):
            language = query_set.name.partition("-")[0]
            vectors = encoder.encode(
                [query.text for query in benchmark.queries(data_folders(data), query_set)], "query"
            )
            sides.append(calibration.apply(vectors, "scaled", language))
        found[pair] = diagnose(*sides, calibration.matrix(pair), args.seed, pair)
        log.info("%s: %s", pair, found[pair])
    if not found:
        raise SteleError(f"{args.benchmark}: nothing to diagnose for {', '.join(args.languages)}")
    inputs = {"encoder": args.encoder, "calibration": args.calibration, **data}
    records.write_record(
        args.output, job="diagnose_calibration", inputs=inputs, clock=clock, seed=args.seed, pairs=found
    )
