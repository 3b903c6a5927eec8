"""Mine the documents of one language for training examples: MSM's documents, CROP and ICT pairs, text spans for MLM.

Writes an example store (stele.training.store) and its record. The store holds the given tokenizer's tokens without
special tokens, for all examples or for a sample (`Sample`); the record estimates how many examples there are in all.
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
from stele.files.digests import digest
from stele.pairs.methods import DocumentMethod, load_method
from stele.pairs.mining.segments import BATCH_SENTENCES, Encode, encoder, generator, tokenised
from stele.recipes.mining import MiningRecipe
from stele.training.sampling import derive
from stele.training.store import EXAMPLES, SEGMENTS, TOKENS, Store, write_store

log = logging.getLogger(__name__)

JOB = "pairs mine"
DROPPED = "dropped_"
SAMPLED = 1 << 20  # tokens in which unknown ones are counted


class Mine(Job):
    recipe: Json
    """Mining method and its keys, e.g. {"method": "msm"}."""
    language: str
    """Language of the documents."""
    documents: Some[Path]
    """Records of the documents, in order."""
    tokenizer: Record
    """record.json of the checkpoint whose tokenizer is used."""
    seed: Seed
    most: Count | None = None
    """Keep a random sample of at most N examples; default: keep all."""
    output: Annotated[NewRecord, record_of(JOB)]
    limit: Count | None = None
    """Read only the first N documents."""


def run(args: Mine) -> None:
    """Writes the examples of one language. Raises SteleError if the recipe is not one of a document method."""
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
    inputs = {f"documents:{n}": path for n, path in enumerate(args.documents, 1)} | {"tokenizer": args.tokenizer}
    with records.output_folder(args.output, JOB, inputs) as (folder, record):
        wanted = sample.wanted(shown, counts)
        mined = mine(wanted, encoder(tokenizer), method, recipe, args.seed, args.language, counts)
        stored = sample.write(folder, mined)
        tokens = Store(folder).tokens[:: stored["tokens"] // SAMPLED + 1]
        if 2 * np.count_nonzero(tokens == tokenizer.unk_token_id) > len(tokens):
            message = "%s: more than half of the tokens are %s: the tokenizer of %s does not know this text"
            log.warning(message, args.language, tokenizer.unk_token, args.tokenizer.parent.name)
        facts = {**stored, **summary(counts)}
        record.update(
            seed=args.seed,
            labels=[records.LIMITED] if args.limit is not None else [],
            method=recipe.method,
            recipe=recipe.model_dump(),
            language=args.language,
            tokenizer_probe=probe,
            **facts,
        )
    log.info("%s %s: %s", recipe.method, args.language, facts)
    if not stored["examples"]:
        log.warning("%s: no %s example in %d documents", args.language, recipe.method, facts["documents"])


def summary(counts: Counter[str]) -> dict[str, object]:
    """Sorts the counts for the record: documents read, `dropped` by reason, and all others under `counts`."""
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
    """Yields (doc_id, examples) for each (doc_id, sentences), in order; counts cut and dropped ones in `counts`.

    The examples of a document depend only on the document, the recipe, the seed and the language.
    """
    for doc_id, tokens in tokenised(documents, encode, recipe.text, counts, batch_sentences):
        rng = partial(generator, seed, recipe.method, language, doc_id)
        yield doc_id, list(method.examples(tokens, recipe, rng, counts))


WHOLE = float(1 << 63)  # `derive` gives 63 bits
FULL = 2  # the store is pruned when it has more than this many times `most` examples

Document = tuple[str, list[str]]
Mined = tuple[str, list[list[np.ndarray]]]


class Sample:
    """Uniform sample of a part's examples, drawn by whole documents: at most `most` examples (None: all of them).

    A document's hash is a number below one, drawn from the seed and the document's name. The sample has the examples
    of all documents whose hash is below a bound. The bound falls while examples arrive, so that at most `most` stay
    (more if the document of lowest hash alone has more): neither shards nor their order matter, and documents above the
    bound are not tokenised. Examples keep the order in which they were read. The number of examples in all is
    estimated as the number kept, divided by the bound (within 0.1 % of the truth from a million documents on).
    """

    def __init__(self, most: int | None, *key: int | str) -> None:
        self.most, self.key, self.bound = most, key, 1.0

    def hash(self, doc_id: str) -> float:
        return derive(*self.key, "sample", doc_id) / WHOLE

    def wanted(self, documents: Iterable[Document], counts: Counter[str]) -> Iterator[Document]:
        """Yields the documents whose hash is below the bound at the time when they are read; counts all documents."""
        for document in documents:
            counts["documents"] += 1
            if self.bound == 1.0 or self.hash(document[0]) < self.bound:
                yield document
            else:
                counts["documents_not_sampled"] += 1

    def write(self, folder: Path, mined: Iterable[Mined]) -> dict[str, int]:
        """Writes the sample's store. Returns its numbers of examples, segments and tokens, and `examples_in_all`.

        `mined` yields each document once, with its examples.
        """
        mined = iter(mined)
        hashes, sizes = np.zeros(0), np.zeros(0, np.int64)  # of documents with examples in the store
        stored_examples: Iterable[Sequence[np.ndarray]] = ()
        for number in count():
            place, added = folder / f"part{number}", []
            place.mkdir()
            stored = write_store(place, chain(stored_examples, self._until_full(mined, added, int(sizes.sum()))))
            hashes = np.concatenate([hashes, [hash for hash, _ in added]])
            sizes = np.concatenate([sizes, np.array([size for _, size in added], np.int64)])
            if number:
                shutil.rmtree(folder / f"part{number - 1}")
            if self.most is None or stored["examples"] <= self.most or (len(sizes) == 1 and not added):
                break  # few enough, or no new examples: `mined` is exhausted
            below = np.ones(1, bool)  # a single document with too many examples stays
            if len(sizes) > 1:
                below = self._lower(hashes, sizes, more=stored["examples"] > FULL * self.most)
            stored_examples = _examples(Store(place), np.repeat(below, sizes))
            hashes, sizes = hashes[below], sizes[below]
        for name in (TOKENS, SEGMENTS, EXAMPLES):
            (place / name).rename(folder / name)
        place.rmdir()
        return {**stored, "examples_in_all": round(stored["examples"] / self.bound)}

    def _until_full(self, mined: Iterator[Mined], added: list, have: int) -> Iterator[list[np.ndarray]]:
        """Yields examples of documents below the bound until there are more than FULL * `most`, `have` included."""
        for doc_id, examples in mined:
            if examples and (self.most is None or (hash := self.hash(doc_id)) < self.bound):
                if self.most is not None:
                    added.append((hash, len(examples)))
                    have += len(examples)
                yield from examples
                if self.most is not None and have > FULL * self.most:
                    return

    def _lower(self, hashes: np.ndarray, sizes: np.ndarray, more: bool) -> np.ndarray:
        """Lowers the bound. Returns which documents stay, bool [documents]: the lowest hashes, up to `most` examples.

        If `more` documents are to come, just enough documents stay for `most` examples: none of the others can be in
        the final sample.
        """
        order = np.argsort(hashes)
        ends = np.cumsum(sizes[order])
        number = int(np.searchsorted(ends, self.most, side="left" if more else "right")) + more
        number = min(max(number, 1), len(order) - 1)
        self.bound = float(hashes[order[number]])
        return hashes < self.bound


def _examples(store: Store, chosen: np.ndarray) -> Iterator[list[np.ndarray]]:
    return (store[index] for index in compress(count(), chosen))
