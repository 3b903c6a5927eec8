"""What the commands share that turn pairs of texts into tokens: their arguments, and what they open."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

from stele.artifacts import records
from stele.command import arguments
from stele.errors import SteleError
from stele.files.atomic import digest
from stele.pairs.mining.method import load_method


class Tokenisation(NamedTuple):
    """The pairs' recipe and record, the tokenizer, and the digest of what it makes of its probe."""

    recipe: Any
    made: records.Record
    tokenizer: Any
    probe: str


def add_tokenisation_arguments(parser: argparse.ArgumentParser, job: str) -> None:
    parser.add_argument("--recipe", required=True, metavar="JSON", help="of the pairs")
    parser.add_argument("--pairs", required=True, type=Path, metavar="RECORD", help="record.json of the pairs of texts")
    parser.add_argument("--tokenizer", required=True, type=Path, metavar="RECORD", help="record.json of the checkpoint")
    arguments.add_record(parser, job)


def opened(args: argparse.Namespace, function: str) -> Tokenisation:
    """What the arguments name; `function` is what a method of these pairs has. Pairs of another method are refused."""
    _, recipe = load_method(args.recipe, function)
    made = records.read_record(args.pairs)
    if made.get("method") != recipe.method:
        raise SteleError(f"{args.pairs}: found pairs of {made.get('method')}, want those of {recipe.method}")
    from stele.encoders.tokenizer import load_tokenizer, tokenizer_probe

    tokenizer = load_tokenizer(args.tokenizer.parent)
    return Tokenisation(recipe, made, tokenizer, digest(tokenizer_probe(tokenizer)))
