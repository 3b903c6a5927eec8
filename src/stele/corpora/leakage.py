"""Search training documents for a benchmark's passages and queries, verbatim or nearly so (text/overlap.py).

    stele corpora leakage --documents work/paper/documents/documents/lv/record.json --benchmark my_set
        --data my_set=my_set/ --output leakage/record.json

Writes counts, by kind of text and by language, and examples. It rejects nothing: you judge what the overlaps mean.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from stele import catalogue, progress
from stele.artifacts import records
from stele.artifacts.documents import read_sentences
from stele.benchmarks.arguments import RECORD, data_folders, data_paths
from stele.benchmarks.load import load_reader
from stele.benchmarks.reader import BenchmarkReader, ParallelTextsReader, RetrievalReader, sides
from stele.benchmarks.types import Data
from stele.catalogue.schema.benchmarks import Benchmark
from stele.command.arguments import Datasets, Job, NewRecord, Record, Some, record_of
from stele.errors import SteleError
from stele.text.overlap import NEAR, STRETCH, Overlap, find_overlaps

log = logging.getLogger(__name__)

JOB = "corpora leakage"
EXAMPLES = 20  # most examples of a kind of text and a kind of match
NOTHING = {"texts": 0, "exact": 0, "near": 0}
CHARACTERS = 200  # of an example's text


class EvaluatedText(NamedTuple):
    """A passage or a query of a benchmark; `group` is a query's language, or a passage's collection or language."""

    kind: str
    group: str
    id: str
    text: str


class Leakage(Job):
    documents: Some[Record]
    """record.json of each corpus of training documents."""
    benchmark: str
    """Name of the benchmark in benchmarks.yaml or config.yaml."""
    languages: Some[str] | None = None
    """Languages of the benchmark; default: all of them."""
    data: Datasets
    output: Annotated[NewRecord, record_of(JOB)]


def run(args: Leakage) -> None:
    """Writes the counts and examples. Raises SteleError if the data or the documents cannot be read."""
    # the texts of the evaluation, and the documents
    paths = data_paths(args.data)
    benchmark, data = load_reader(args.benchmark, BenchmarkReader), data_folders(paths)
    languages = args.languages or catalogue.entry(Benchmark, args.benchmark).languages
    document_records = {f"documents:{number}": path for number, path in enumerate(args.documents)}
    corpora = {path: records.read_record(path) for path in args.documents}
    total = sum(record.get("documents", 0) for record in corpora.values())
    documents = progress.track(_documents(corpora), total, "documents", "document")
    # all of them are compared
    texts = (text.text for text in evaluated_texts(benchmark, data, languages))
    overlaps, too_short = find_overlaps(texts, documents)
    counts, examples = report(evaluated_texts(benchmark, data, languages), overlaps)
    inputs = {**document_records, **{key: path for key, path in paths.items() if path.name == RECORD}}
    with records.output_folder(args.output, JOB, inputs) as (_, facts):
        facts.update(
            benchmark=args.benchmark,
            languages=list(languages),
            documents=total,
            words_of_a_stretch=STRETCH,
            near=NEAR,
            too_short=too_short,
            counts=counts,
            examples=examples,
        )
    for kind, of_kind in counts.items():
        leaked = of_kind["exact"] + of_kind["near"]
        say = log.warning if leaked else log.info
        say(
            "%s: %d of %d %s occur in the %d documents (%d verbatim, %d nearly)%s",
            args.benchmark, leaked, of_kind["texts"], kind, total, of_kind["exact"], of_kind["near"],
            _as(examples, kind),
        )  # fmt: skip


def evaluated_texts(benchmark: BenchmarkReader, data: Data, languages: Sequence[str]) -> Iterator[EvaluatedText]:
    """Yields a benchmark's passages and queries, always in the same order. Raises SteleError if it has neither."""
    if isinstance(benchmark, ParallelTextsReader):
        parallel = benchmark.parallel_texts(data, dict.fromkeys(code for pair in languages for code in sides(pair)))
        for language, texts in parallel.texts.items():
            for name, text in zip(parallel.ids, texts, strict=True):
                yield EvaluatedText("passages", language, name, text)
        return
    if not isinstance(benchmark, RetrievalReader):
        raise SteleError(f"{type(benchmark).__name__}: this benchmark has no passages or queries to search for")
    query_sets = benchmark.query_sets(languages)
    for collection in dict.fromkeys(query_set.collection for query_set in query_sets):
        for passage in benchmark.passages(data, collection):
            yield EvaluatedText("passages", collection, passage.id, passage.text)
    for query_set in query_sets:
        for query in benchmark.queries(data, query_set):
            yield EvaluatedText("queries", query_set.language, query.id, query.text)


def report(
    texts: Iterator[EvaluatedText], overlaps: Mapping[int, Overlap]
) -> tuple[dict[str, dict], dict[str, list[dict]]]:
    """Counts texts and overlaps. Returns (counts by kind, in all and by group; examples by kind, exact ones first)."""
    counts: dict[str, dict] = {}
    examples: dict[str, list[dict]] = {}
    for number, text in enumerate(texts):
        of_kind = counts.setdefault(text.kind, {**NOTHING, "groups": {}})
        of_group = of_kind["groups"].setdefault(text.group, {**NOTHING})
        overlap = overlaps.get(number)
        match = None if overlap is None else "exact" if overlap.exact else "near"
        for counted in (of_kind, of_group):
            counted["texts"] += 1
            if match:
                counted[match] += 1
        if overlap and of_kind[match] <= EXAMPLES:
            shown = {"id": text.id, "group": text.group, "match": match, "share": round(overlap.share, 3)}
            shown |= {"document": overlap.document, "text": text.text[:CHARACTERS]}
            examples.setdefault(text.kind, []).append(shown)
    return counts, {kind: sorted(listed, key=lambda shown: shown["match"]) for kind, listed in examples.items()}


def _documents(corpora: Mapping[Path, Mapping]) -> Iterator[tuple[str, list[str]]]:
    for path, record in corpora.items():
        for name, sentences in read_sentences(path):
            yield f"{record['language']}/{name}", sentences


def _as(examples: Mapping[str, Sequence[Mapping]], kind: str) -> str:
    first = next(iter(examples.get(kind, ())), None)
    return f", as {first['id']} of {first['group']} in {first['document']}" if first else ""
