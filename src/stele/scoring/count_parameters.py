"""Count the parameters of a model's checkpoint, the #Params of the papers' tables.

The count is of one encoder, embeddings included; a dual encoder with two towers has twice as many, which papers do not
count. Unused heads of a checkpoint (pooler, vocabulary) are left out. A model trained here therefore has as many
parameters as the checkpoint that it starts from, which is counted in its place: pretraining returns the same body,
without heads.
"""

import re
import struct
from math import prod
from pathlib import Path
from typing import Annotated

from stele.artifacts import records
from stele.command.arguments import Job, Record, ends_in, record_as_json
from stele.errors import SteleError
from stele.files.digests import digest
from stele.files.reading import parse_json, reading
from stele.scoring.score import parse_seeds

# BERT and its kin, the families that can be pretrained here, have a body of these parts and nothing else
BODY = re.compile(r"(^|\.)(embeddings|embeddings_project|encoder|transformer)\.")
WORDS = "embeddings.word_embeddings.weight"  # identifies them
UNUSED = ("pooler.", "cls.", "lm_head.")  # heads of other families
EVERYTHING = "all"  # stands for the language of a count

JOB = "count parameters"


class CountParameters(Job):
    encoder: Record
    """record.json in the folder of a checkpoint."""
    model: str
    """Name of the model in the result."""
    seeds: str
    """Seeds of pretraining and fine-tuning in the result, e.g. pt0-ft0."""
    output: Annotated[Path, ends_in(".json"), record_as_json(JOB)]
    """File for the counts, as a result (.json)."""


def run(args: CountParameters) -> None:
    number = float(parameters(args.encoder.parent))
    metrics = {"parameters": {"languages": {EVERYTHING: number}, "average": number, "n": {EVERYTHING: 1}}}
    records.write_record(
        args.output,
        job=JOB,
        inputs={"encoder": args.encoder},
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
    """Counts the parameters in a folder's safetensors files from their headers; of two towers, the query tower's.

    Raises SteleError for a folder without such files, and for a damaged file.
    """
    place = folder / "query" if (folder / "query").is_dir() else folder
    files = sorted(place.glob("*.safetensors"))
    if not files:
        raise SteleError(f"{place}: found no .safetensors file; parameters are counted in such files only")
    shapes = {name: shape for path in files for name, shape in _shapes(path).items()}
    of_bert = any(name.endswith(WORDS) for name in shapes)
    return sum(prod(shape) for name, shape in shapes.items() if _is_body(name, of_bert))


def _is_body(name: str, of_bert: bool) -> bool:
    """Whether a tensor belongs to the encoder and not to a head; `of_bert` says that the model is like BERT."""
    if of_bert:
        return bool(BODY.search(name))
    return not any(f".{head}" in f".{name}" for head in UNUSED)


def _shapes(path: Path) -> dict[str, list[int]]:
    """Shapes of the floating-point tensors by name, from the header of a safetensors file (8 bytes of length, JSON).

    Integer tensors are no parameters: older files hold position numbers beside the weights.
    """
    with reading(path, "safetensors file"), open(path, "rb") as handle:
        (size,) = struct.unpack("<Q", handle.read(8))
        header = parse_json(handle.read(min(size, path.stat().st_size)), path, "safetensors file")
        tensors = {name: tensor for name, tensor in header.items() if name != "__metadata__" and "F" in tensor["dtype"]}
        shapes = {name: [int(n) for n in tensor["shape"]] for name, tensor in tensors.items()}
        if any(n < 0 for shape in shapes.values() for n in shape):
            raise ValueError("a shape is negative")
        return shapes
