"""The arguments that both commands share which tokenise mined texts: the pairs and the tokenizer."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

from stele.artifacts import records
from stele.command import arguments
from stele.encoders.tokenizer import load_tokenizer, tokenizer_probe
from stele.errors import SteleError
from stele.files.digests import digest
from stele.pairs.methods import load_method


class Tokenisation(NamedTuple):
    """The pairs' recipe and record, the tokenizer, and the digest of its tokens of a probe."""

    recipe: Any
    made: records.Record
    tokenizer: Any
    probe: str


def add_tokenisation_arguments(parser: argparse.ArgumentParser, job: str) -> None:
    parser.add_argument("--recipe", required=True, metavar="JSON", help="of the pairs")
    parser.add_argument("--pairs", required=True, type=Path, metavar="RECORD", help="record.json of the pairs of texts")
    parser.add_argument("--tokenizer", required=True, type=Path, metavar="RECORD", help="record.json of the checkpoint")
    arguments.add_record(parser, job)


def open_tokenisation(args: argparse.Namespace, kind: type) -> Tokenisation:
    """Opens what the arguments name. Raises SteleError for pairs of another method, or of another `kind` of methods."""
    _, recipe = load_method(args.recipe, kind)
    made = records.read_record(args.pairs)
    if made.get("method") != recipe.method:
        raise SteleError(f"{args.pairs}: found pairs of {made.get('method')}, want those of {recipe.method}")
    tokenizer = load_tokenizer(args.tokenizer.parent)
    return Tokenisation(recipe, made, tokenizer, digest(tokenizer_probe(tokenizer)))
