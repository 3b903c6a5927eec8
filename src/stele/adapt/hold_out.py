"""Split the documents of a language into those to train on and a few held out.

The documents that are held out lie evenly in the corpus: a tenth of all, at most 128 (catalogue/adaptation.yaml).
No method trains on copies of a held-out document's text either.
"""

from itertools import chain
from typing import Annotated, Literal

from stele.artifacts import records
from stele.artifacts.documents import DocumentWriter, read_documents, read_sentences
from stele.catalogue import whole
from stele.catalogue.schema.adaptation import AdaptationRules
from stele.command.arguments import Job, NewRecord, Record, Some, record_of
from stele.errors import SteleError
from stele.files.digests import digest

JOB = "hold_out"


class HoldOut(Job):
    side: Literal["training", "held_out"]
    """Documents to write: those to train on, or those held out."""
    documents: Some[Record]
    """Records of all shards of the language's documents, in order."""
    output: Annotated[NewRecord, record_of(JOB)]


def run(args: HoldOut) -> None:
    # digests of the held-out texts
    texts = [digest(sentences) for path in args.documents for _, sentences in read_sentences(path)]
    different, rules = list(dict.fromkeys(texts)), whole(AdaptationRules).held_out
    number = min(rules.documents, int(rules.share * len(different)))
    held_out = {different[place] for place in spread(len(different), number)}
    # one side of the documents
    of_side = [(text in held_out) == (args.side == "held_out") for text in texts]
    if len(different) == 1:
        read = [records.read_record(path) for path in args.documents]
        repeated = len(texts) - 1 + sum(record.get("dropped", {}).get("repeated_documents", 0) for record in read)
        what = f"{repeated + 1:,} documents of one text" if repeated else "one document"
        raise SteleError(
            f"found {what} in {read[0]['language']}; want at least two different documents to train on: one per file, "
            "per row, or separated by blank lines"
        )
    documents = chain.from_iterable(map(read_documents, args.documents))
    inputs = {f"documents:{n}": path for n, path in enumerate(args.documents, 1)}
    with records.output_folder(args.output, JOB, inputs) as (folder, facts):
        with DocumentWriter(folder) as writer:
            for document, is_of_side in zip(documents, of_side, strict=True):
                if is_of_side:
                    writer.add(document)
        facts.update(
            side=args.side,
            **{key: records.read_record(args.documents[0])[key] for key in ("corpus", "language")},
            **writer.counts,
        )


def spread(size: int, number: int) -> list[int]:
    """Chooses `number` of the integers 0..size-1 at even distances, in ascending order.

    >>> spread(10, 3), spread(1, 0)
    ([1, 5, 8], [])
    """
    return [size * (2 * n + 1) // (2 * number) for n in range(number)]
