"""What both jobs share that tokenise mined texts: the pairs and the tokenizer."""

from __future__ import annotations

from typing import Any, NamedTuple

from stele.artifacts import records
from stele.command.arguments import Job, Json, Record
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


class TokenisationJob(Job):
    """A job that tokenises mined texts."""

    recipe: Json
    """Recipe of the pairs."""
    pairs: Record
    """record.json of the pairs of texts."""
    tokenizer: Record
    """record.json of the checkpoint."""


def open_tokenisation(args: TokenisationJob, kind: type) -> Tokenisation:
    """Opens what the arguments name. Raises SteleError for pairs of another method, or of another `kind` of methods."""
    _, recipe = load_method(args.recipe, kind)
    made = records.read_record(args.pairs)
    if made.get("method") != recipe.method:
        raise SteleError(f"{args.pairs}: found pairs of {made.get('method')}, want those of {recipe.method}")
    tokenizer = load_tokenizer(args.tokenizer.parent)
    return Tokenisation(recipe, made, tokenizer, digest(tokenizer_probe(tokenizer)))
