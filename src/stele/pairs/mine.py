"""Mine the documents of one language for training examples: MSM's documents, CROP and ICT pairs, stretches for MLM.

Writes an example store (stele.training.store), tokens of the given tokenizer without special ones, and its record: of
all examples, or of a sample of at most so many (`mining/sample.py`), with the number that there would be in all.
"""

from __future__ import annotations

import argparse
import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from types import ModuleType

from stele import progress
from stele.artifacts import records
from stele.artifacts.documents import read_sentences
from stele.command import arguments
from stele.errors import SteleError
from stele.files import atomic
from stele.pairs.mining.method import load_method
from stele.pairs.mining.sample import Mined, Sample
from stele.pairs.mining.tokens import BATCH_SENTENCES, Encode, encoder, generator, tokenised
from stele.recipes.mining import MiningRecipe

log = logging.getLogger(__name__)

JOB = "pairs mine"
DROPPED = "dropped_"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--recipe", required=True, metavar="JSON", help='`method` and its keys, e.g. {"method": "msm"}')
    parser.add_argument("--language", required=True, help="the language of the documents")
    parser.add_argument(
        "--documents", required=True, nargs="+", type=Path, metavar="RECORD", help="records of the documents, in order"
    )
    parser.add_argument("--tokenizer", required=True, type=Path, metavar="RECORD", help="record.json of the checkpoint")
    parser.add_argument("--seed", required=True, type=arguments.seed, help="of all random choices, at least 0")
    parser.add_argument(
        "--most", type=arguments.whole, metavar="N", help="keep a sample of at most N examples; default: all"
    )
    arguments.add_record(parser, JOB)
    parser.add_argument("--limit", type=arguments.whole, metavar="N", help="take this many documents only")


def run(args: argparse.Namespace) -> None:
    clock = records.start()
    module, recipe = load_method(args.recipe, "examples")
    for name, least in (("seed", 0), ("limit", 1), ("most", 1)):
        if (value := getattr(args, name)) is not None and value < least:
            raise SteleError(f"--{name}: found {value}, want a number of at least {least}")
    written = sum(records.read_record(path).get("documents", 0) for path in args.documents)
    total = written if args.limit is None else min(written, args.limit)
    from stele.encoders.tokenizer import load_tokenizer, tokenizer_probe

    tokenizer = load_tokenizer(args.tokenizer.parent)
    probe = atomic.digest(tokenizer_probe(tokenizer))
    counts: Counter[str] = Counter()
    documents = islice(chain.from_iterable(map(read_sentences, args.documents)), args.limit)
    shown = progress.track(documents, total, f"mine {recipe.method} {args.language}", "doc")
    sample = Sample(args.most, args.seed, recipe.method, args.language)
    with atomic.atomic_directory(args.output.parent, JOB) as folder:
        wanted = sample.wanted(shown, counts)
        stored = sample.write(
            folder, mine(wanted, encoder(tokenizer), module, recipe, args.seed, args.language, counts)
        )
        facts = {**stored, **summary(counts)}
        records.write_record(
            folder / args.output.name,
            job=JOB,
            inputs={
                **{f"documents:{n}": path for n, path in enumerate(args.documents, 1)},
                "tokenizer": args.tokenizer,
            },
            clock=clock,
            seed=args.seed,
            labels=[records.LIMITED] if args.limit is not None else [],
            method=recipe.method,
            recipe=recipe.model_dump(),
            language=args.language,
            tokenizer_probe=probe,
            **facts,
            outputs=atomic.folder_facts(folder),
        )
    log.info("%s %s: %s", recipe.method, args.language, facts)
    if not stored["examples"]:
        log.warning("%s: not one %s example in %d documents", args.language, recipe.method, facts["documents"])


def summary(counts: Counter[str]) -> dict[str, object]:
    """The counts as facts of the record: documents read, `dropped` by reason, everything else under `counts`."""
    dropped = {key.removeprefix(DROPPED): n for key, n in sorted(counts.items()) if key.startswith(DROPPED) and n}
    others = {key: n for key, n in sorted(counts.items()) if not key.startswith(DROPPED) and key != "documents" and n}
    return {"documents": counts["documents"], "dropped": dropped, "counts": others}


def mine(
    documents: Iterable[tuple[str, list[str]]],
    encode: Encode,
    module: ModuleType,
    recipe: MiningRecipe,
    seed: int,
    language: str,
    counts: Counter[str],
    batch_sentences: int = BATCH_SENTENCES,
) -> Iterator[Mined]:
    """(doc_id, its examples) of some (doc_id, sentences), in their order; what was cut and dropped is in `counts`.

    A document's examples depend on nothing but the document, the recipe, the seed and the language.
    """
    for doc_id, tokens in tokenised(documents, encode, recipe.text, counts, batch_sentences):
        rng = partial(generator, seed, recipe.method, language, doc_id)
        yield doc_id, list(module.examples(tokens, recipe, rng, counts))
