"""Mine the documents of one language for training examples: MSM's documents, CROP and ICT pairs, stretches for MLM.

Writes an example store (stele.training.store), tokens of the given tokenizer without special ones, and its record: of
all examples, or of a sample (`Sample`), with the number that there would be in all.
"""

from __future__ import annotations

import logging
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, compress, count, islice
from pathlib import Path
from typing import Annotated

import numpy as np

from stele import progress
from stele.artifacts import records
from stele.artifacts.documents import read_sentences
from stele.command.arguments import Count, Job, Json, NewRecord, Record, Seed, Some, record_of
from stele.files.atomic import atomic_directory
from stele.files.digests import digest, folder_facts
from stele.pairs.methods import DocumentMethod, load_method
from stele.pairs.mining.segments import BATCH_SENTENCES, Encode, encoder, generator, tokenised
from stele.recipes.mining import MiningRecipe
from stele.training.sampling import derive
from stele.training.store import EXAMPLES, SEGMENTS, TOKENS, Store, write_store

log = logging.getLogger(__name__)

JOB = "pairs mine"
DROPPED = "dropped_"


class Mine(Job):
    recipe: Json
    """`method` and its keys, e.g. {"method": "msm"}."""
    language: str
    """The language of the documents."""
    documents: Some[Path]
    """Records of the documents, in order."""
    tokenizer: Record
    """record.json of the checkpoint."""
    seed: Seed
    most: Count | None = None
    """Keep a sample of at most N examples; default: all."""
    output: Annotated[NewRecord, record_of(JOB)]
    limit: Count | None = None
    """Take this many documents only."""


def run(args: Mine) -> None:
    """Writes the examples of one language; raises SteleError for a recipe that does not fit."""
    clock = records.start()
    method, recipe = load_method(args.recipe, DocumentMethod)
    # the documents, and the tokenizer
    written = sum(records.read_record(path).get("documents", 0) for path in args.documents)
    total = written if args.limit is None else min(written, args.limit)
    from stele.encoders.tokenizer import load_tokenizer, tokenizer_probe

    tokenizer = load_tokenizer(args.tokenizer.parent)
    probe = digest(tokenizer_probe(tokenizer))
    counts: Counter[str] = Counter()
    documents = islice(chain.from_iterable(map(read_sentences, args.documents)), args.limit)
    shown = progress.track(documents, total, f"mine {recipe.method} {args.language}", "doc")
    # examples of the sampled documents
    sample = Sample(args.most, args.seed, recipe.method, args.language)
    with atomic_directory(args.output.parent, JOB) as folder:
        wanted = sample.wanted(shown, counts)
        stored = sample.write(
            folder, mine(wanted, encoder(tokenizer), method, recipe, args.seed, args.language, counts)
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
            outputs=folder_facts(folder),
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
    method: DocumentMethod,
    recipe: MiningRecipe,
    seed: int,
    language: str,
    counts: Counter[str],
    batch_sentences: int = BATCH_SENTENCES,
) -> Iterator[Mined]:
    """(doc_id, its examples) of some (doc_id, sentences), in their order; `counts` has the cut and the dropped ones.

    A document's examples depend on nothing but the document, the recipe, the seed and the language.
    """
    for doc_id, tokens in tokenised(documents, encode, recipe.text, counts, batch_sentences):
        rng = partial(generator, seed, recipe.method, language, doc_id)
        yield doc_id, list(method.examples(tokens, recipe, rng, counts))


WHOLE = float(1 << 63)  # `derive` gives 63 bits
FULL = 2  # times as many examples as are kept lie on the disk before some of them go

Document = tuple[str, list[str]]
Mined = tuple[str, list[list[np.ndarray]]]


class Sample:
    """A uniform sample of a part's examples: whole documents, by their hash; `most` examples at most, None: all.

    A document's hash is a number below one, drawn from the seed and its name. The sample is the examples of all
    documents below a bound, which falls as examples come, so that at most `most` stay (more where the lowest document
    alone has more): neither shards nor their order matter, and documents above the bound are not tokenised. The
    examples keep the order in which they were read. How many there would be in all is then estimated: the number kept,
    divided by the bound (right within one in a thousand from a million documents on).
    """

    def __init__(self, most: int | None, *key: int | str) -> None:
        self.most, self.key, self.bound = most, key, 1.0

    def hash(self, doc_id: str) -> float:
        return derive(*self.key, "sample", doc_id) / WHOLE

    def wanted(self, documents: Iterable[Document], counts: Counter[str]) -> Iterator[Document]:
        """The documents below the bound as it is when they are read."""
        for document in documents:
            counts["documents"] += 1
            if self.bound == 1.0 or self.hash(document[0]) < self.bound:
                yield document
            else:
                counts["documents_not_sampled"] += 1

    def write(self, folder: Path, mined: Iterable[Mined]) -> dict[str, int]:
        """Writes the store of the sample; returns how many examples, segments and tokens it has, and would have whole.

        `mined` are documents with their examples, each document once.
        """
        mined = iter(mined)
        hashes, sizes = np.zeros(0), np.zeros(0, np.int64)  # of the documents whose examples are in the store so far
        kept: Iterable[Sequence[np.ndarray]] = ()
        for number in count():
            place, added = folder / f"part{number}", []
            place.mkdir()
            stored = write_store(place, chain(kept, self._until_full(mined, added, int(sizes.sum()))))
            hashes = np.concatenate([hashes, [hash for hash, _ in added]])
            sizes = np.concatenate([sizes, np.array([size for _, size in added], np.int64)])
            if number:
                shutil.rmtree(folder / f"part{number - 1}")
            if self.most is None or stored["examples"] <= self.most or (len(sizes) == 1 and not added):
                break  # fewer than FULL times as many, or nothing more came: `mined` is at its end
            below = np.ones(1, bool)  # a document that has too many alone stays, whatever comes behind it
            if len(sizes) > 1:
                below = self._lower(hashes, sizes, more=stored["examples"] > FULL * self.most)
            kept = _examples(Store(place), np.repeat(below, sizes))
            hashes, sizes = hashes[below], sizes[below]
        for name in (TOKENS, SEGMENTS, EXAMPLES):
            (place / name).rename(folder / name)
        place.rmdir()
        return {**stored, "examples_in_all": round(stored["examples"] / self.bound)}

    def _until_full(self, mined: Iterator[Mined], added: list, have: int) -> Iterator[list[np.ndarray]]:
        """The examples of documents below the bound, one document at least where there is one."""
        for doc_id, examples in mined:
            if examples and (self.most is None or (hash := self.hash(doc_id)) < self.bound):
                if self.most is not None:
                    added.append((hash, len(examples)))
                    have += len(examples)
                yield from examples
                if self.most is not None and have > FULL * self.most:
                    return

    def _lower(self, hashes: np.ndarray, sizes: np.ndarray, more: bool) -> np.ndarray:
        """Lowers the bound, bool [documents]: those of lowest hash with `most` examples at most.

        With `more` documents to come, just enough of them stay for `most` examples: none of the others can be among
        the lowest in the end.
        """
        order = np.argsort(hashes)
        ends = np.cumsum(sizes[order])
        number = int(np.searchsorted(ends, self.most, side="left" if more else "right")) + more
        number = min(max(number, 1), len(order) - 1)
        self.bound = float(hashes[order[number]])
        return hashes < self.bound


def _examples(store: Store, chosen: np.ndarray) -> Iterator[list[np.ndarray]]:
    return (store[index] for index in compress(count(), chosen))
