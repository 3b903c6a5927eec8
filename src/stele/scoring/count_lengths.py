"""Count the tokens of a collection's documents: the number of documents of each length, the data of a figure.

A length is in tokens of a model's tokenizer, without special tokens and uncut; a document is its title and its text.
The record beside the file has the numbers of all documents and of the judged ones, each with their total of tokens.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from stele.artifacts import records
from stele.benchmarks.arguments import data_folders, data_records
from stele.command.arguments import Datasets, Job, Record, ends_in, record_as_json
from stele.errors import SteleError
from stele.files.atomic import atomic_file
from stele.files.digests import file_facts
from stele.files.formats import write_csv
from stele.progress import track
from stele.scoring.statistics import load_counts

JOB = "count lengths"
BATCH = 1000  # documents tokenised at once


class CountLengths(Job):
    dataset: str
    """A dataset with documents that a module of stele/scoring/statistics counts."""
    language: str
    """Language of the documents."""
    data: Datasets
    tokenizer: Record
    """record.json of the checkpoint whose tokenizer is used."""
    output: Annotated[Path, ends_in(".csv"), record_as_json(JOB)]
    """File for the counts (.csv); its record is the .json beside it."""


def run(args: CountLengths) -> None:
    data = data_records(args.data)
    read_documents = load_counts(args.dataset).documents
    if read_documents is None:
        raise SteleError(f"--dataset {args.dataset}: the lengths of its documents are not counted")
    from stele.encoders.tokenizer import load_tokenizer

    tokenizer = load_tokenizer(args.tokenizer.parent)
    documents = track(read_documents(data_folders(data), args.language), None, f"count tokens of {args.language}")
    counted: dict[bool, Counter[int]] = {True: Counter(), False: Counter()}
    for length, judged in lengths(tokenizer, documents):
        counted[judged][length] += 1
    all_lengths = counted[True] + counted[False]
    if not all_lengths:
        raise SteleError(f"--data: found no document of {args.dataset} in language {args.language}")
    with atomic_file(args.output) as handle:
        write_csv(handle, [("tokens", "documents"), *sorted(all_lengths.items())])
    facts = file_facts(args.output)
    records.write_record(
        args.output.with_suffix(".json"),
        job=JOB,
        inputs={"tokenizer": args.tokenizer, **data},
        dataset=args.dataset,
        language=args.language,
        documents=_summed(all_lengths),
        judged_documents=_summed(counted[True]),
        outputs={args.output.name: facts},
        content=facts["sha256"],
    )


def lengths(tokenizer: Any, documents: Iterable[tuple[str, bool]]) -> Iterator[tuple[int, bool]]:
    """Yields (number of tokens, mark) for each pair (text, mark), without special tokens and uncut."""
    backend, texts = tokenizer.backend_tokenizer, iter(documents)
    backend.no_truncation()
    backend.no_padding()
    while batch := list(islice(texts, BATCH)):
        encoded = backend.encode_batch_fast([text for text, _ in batch], add_special_tokens=False)
        yield from ((len(tokens), mark) for tokens, (_, mark) in zip(encoded, batch, strict=True))


def _summed(lengths: Counter[int]) -> dict[str, int]:
    return {"number": lengths.total(), "tokens": sum(length * number for length, number in lengths.items())}
