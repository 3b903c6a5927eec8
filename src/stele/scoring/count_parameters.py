"""Count the parameters of a model's checkpoint, the #Params of the papers' tables.

One encoder is counted, embeddings included; a dual encoder with two towers has twice as many, which papers
do not count. Heads that came with a checkpoint and are not used (pooler, vocabulary) are left out.
"""

from __future__ import annotations

import argparse
import struct
from math import prod
from pathlib import Path

from stele.artifacts import records
from stele.command import arguments
from stele.errors import SteleError
from stele.files.atomic import digest
from stele.files.reading import parse_json, reading
from stele.scoring.score import parse_seeds

UNUSED = ("pooler.", "cls.", "lm_head.")
EVERYTHING = "all"  # the column's language: a count is of no language


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--encoder", type=Path, required=True, help="record.json in the folder of a checkpoint")
    parser.add_argument("--model", required=True)
    parser.add_argument("--seeds", required=True, metavar="pt0-ft0")
    parser.add_argument("--output", type=arguments.output(".json"), required=True)


def run(args: argparse.Namespace) -> None:
    clock = records.start()
    number = float(parameters(args.encoder.parent))
    metrics = {"parameters": {"languages": {EVERYTHING: number}, "average": number, "n": {EVERYTHING: 1}}}
    records.write_record(
        args.output,
        job="count parameters",
        inputs={"encoder": args.encoder},
        clock=clock,
        benchmark="parameters",
        model=args.model,
        setting="direct",
        seeds=parse_seeds(args.seeds),
        metrics=metrics,
        averaged="macro",
        counts={"missing_queries": 0, "extra_queries": 0},
        content=digest(metrics),
    )


def parameters(folder: Path) -> int:
    """The parameters in a folder's safetensors files, by their headers alone; of two towers, the query tower's."""
    place = folder / "query" if (folder / "query").is_dir() else folder
    files = sorted(place.glob("*.safetensors"))
    if not files:
        raise SteleError(f"{place}: no .safetensors file to count the parameters of")
    shapes = {name: shape for path in files for name, shape in _shapes(path).items()}
    return sum(prod(shape) for name, shape in shapes.items() if not _is_unused(name))


def _is_unused(name: str) -> bool:
    return any(f".{name}".find(f".{head}") >= 0 for head in UNUSED)


def _shapes(path: Path) -> dict[str, list[int]]:
    """Tensor name -> shape: 8 bytes of length, then a JSON header (the safetensors format)."""
    with reading(path, "safetensors file"), open(path, "rb") as handle:
        (size,) = struct.unpack("<Q", handle.read(8))
        header = parse_json(handle.read(min(size, path.stat().st_size)), path, "safetensors file")
        shapes = {name: [int(n) for n in tensor["shape"]] for name, tensor in header.items() if name != "__metadata__"}
        if any(n < 0 for shape in shapes.values() for n in shape):
            raise ValueError("a shape is negative")
        return shapes
