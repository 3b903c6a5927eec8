"""The argument that completes what an encoder's folder does not state of its encoding, and the encoder it gives."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from stele.files.reading import parse_object
from stele.files.strict import Values

if TYPE_CHECKING:
    from stele.encoders.encode import Encoder


def add_encoding_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--encoding",
        default="{}",
        help="what a folder does not state, as JSON: keys of an EncodingSpec, or those by who says them",
    )


def parse_encoding(text: str) -> Values | None:
    """The values given, None for none."""
    return parse_object(text, "--encoding") or None


def given_encoder(args: argparse.Namespace) -> Encoder:
    """The encoder of --encoder with --encoding, on this machine's device and on --threads threads."""
    return encoder_of(args, parse_encoding(args.encoding))


def encoder_of(args: argparse.Namespace, encoding: Values | None) -> Encoder:
    """The encoder of --encoder with an encoding, on this machine's device and on --threads threads."""
    import torch

    from stele.encoders.load import load_encoder
    from stele.training.processes import default_device

    if args.threads:
        torch.set_num_threads(args.threads)
    return load_encoder(args.encoder.parent, encoding, str(default_device()))
