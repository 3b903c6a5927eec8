"""Show how a model's texts become vectors: each value with who decided it, and two texts as the model reads them.

    stele encoders show me5_base --benchmark mrtydi
    stele encoders show FOLDER --encoding '{"query_prompt": "query: "}'

MODEL is a key of models.yaml or config.yaml, whose checkpoint is there already, or a folder. Weights are not loaded.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from stele.encoders.resolve import Resolved, resolve
from stele.encoders.tokenizer import load_tokenizer
from stele.encoders.tokens import tokenize
from stele.errors import SteleError
from stele.files.reading import parse_object
from stele.files.strict import Values
from stele.recipes.encoding import Kind, TextInput

DEFAULT = "default"
QUERY = "Who carved the stele?"
PASSAGE = ("Stele", "A stele is an upright stone with a text.")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a model's key, or a folder")
    parser.add_argument("--benchmark", help="whose lengths and instruction hold where nothing else says them")
    parser.add_argument("--scale", help="of which the checkpoint is; default: that of this folder")
    parser.add_argument("--encoding", help="of a folder: what it does not state, as JSON")


def run(args: argparse.Namespace) -> None:
    folder, wanted = _of_folder(args) if Path(args.model).is_dir() else _of_model(args)
    sys.stdout.writelines(f"{line}\n" for line in shown(folder, resolve(folder, wanted)))


def _of_folder(args: argparse.Namespace) -> tuple[Path, Values]:
    return Path(args.model), parse_object(args.encoding, "--encoding") if args.encoding else {}


def _of_model(args: argparse.Namespace) -> tuple[Path, Values]:
    """The folder of a model's encoder, and what is said of it by whom, as its jobs are given it."""
    from stele.catalogue import read_yaml
    from stele.config.model import parse_config
    from stele.plan.plan import make_plan

    config = read_yaml("config.yaml") if Path("config.yaml").is_file() else {}
    plan = make_plan(parse_config({**(config or {}), **({"scale": args.scale} if args.scale else {})}))
    record = Path(plan.models.encoder(args.model, 0))
    if not record.is_file():
        raise SteleError(f"{args.model}: its checkpoint is not here yet; get it with `snakemake {record}`")
    if args.benchmark:
        return record.parent, plan.retrieval.encodings(args.benchmark, args.model)
    said: dict[str, Values] = {}
    for name in dict.fromkeys((args.model, plan.models.root(args.model))):
        for origin, values in plan.models.says(name):
            said[origin] = {**values, **said.get(origin, {})}
    return record.parent, said


def shown(folder: Path, resolved: Resolved) -> Iterator[str]:
    """The lines: a key, its value and its origin; notes; a query and a passage as tokens."""
    spec, origins, notes = resolved
    values = {key: repr(value) for key, value in spec.model_dump().items()}
    width = max(map(len, values.values()))
    for key, value in values.items():
        yield f"{key:<15} {value:<{width}}  {origins.get(key, DEFAULT)}"
    yield from (f"note: {note}" for note in notes)
    tokenizer = load_tokenizer(folder / "query" if spec.towers == "separate" else folder)
    examples: list[tuple[Kind, TextInput]] = [("query", QUERY), ("passage", spec.passage(*PASSAGE))]
    for kind, text in examples:
        tokens = tokenize(tokenizer, spec.inputs([text], kind), spec.length(kind), spec.segments)
        yield f"a {kind}: {' '.join(tokenizer.convert_ids_to_tokens(tokens.ids.tolist()))}"
