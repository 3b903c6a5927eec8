"""Make a transfer set of a collection: generated queries, with their windows as positives and without negatives.

Shi et al., section 4.2, "generation-based query synthesis": a generator in the language of the collection reads a
window of sentences and writes a query. The seed decides which windows are drawn. A query is dropped, and counted, if
it is empty, copies its window (its beginning, or a sentence of it), or repeats the query of an earlier window. A killed
job resumes: the queries are kept part by part.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np

from stele.artifacts import records
from stele.artifacts.state import drop, own_folder
from stele.benchmarks.arguments import data_folders, data_records
from stele.benchmarks.load import load_reader
from stele.benchmarks.reader import RetrievalReader
from stele.benchmarks.transfer_set import write_set
from stele.benchmarks.types import Passage
from stele.command.arguments import Datasets, Json, NewRecord, Record, ResumableJob, Seed, record_of
from stele.errors import SteleError
from stele.files.atomic import atomic_write_json
from stele.files.reading import parse_object, read_state
from stele.files.strict import validate
from stele.progress import bar
from stele.recipes.search import Windows
from stele.recipes.transfer import GeneratedQueriesRecipe
from stele.retrieval.dense.windows import DocumentWindows, by_sentences
from stele.retrieval.searches import search_job
from stele.text.sentences import split_sentences

PART = 512  # windows whose queries are saved together
SIGNS = " .?!。？！؟।"  # around a query, ignored when queries are compared

JOB = "generate_queries"


class GenerateQueries(ResumableJob):
    benchmark: str
    """Name of the collection's benchmark in benchmarks.yaml."""
    language: str
    """Language of the documents."""
    generator: Record
    """record.json in the generator's folder."""
    windows: Json
    """Windows of documents, by the keys sentences, stride, hits, best."""
    recipe: Json
    """Number of windows, number of beams, lengths."""
    data: Datasets
    seed: Seed
    output: Annotated[NewRecord, record_of(JOB)]


def run(args: GenerateQueries) -> None:
    # the recipe, the inputs and the state folder
    recipe = validate(GeneratedQueriesRecipe, parse_object(args.recipe, "--recipe"), "--recipe")
    windows = validate(Windows, parse_object(args.windows, "--windows"), "--windows")
    benchmark = load_reader(args.benchmark, RetrievalReader)
    benchmark_data = data_records(args.data)
    data = data_folders(benchmark_data)
    query_set, *others = search_job.query_sets(benchmark, args.benchmark, [args.language])
    if others:
        raise SteleError(f"--benchmark {args.benchmark}: want documents in {args.language}, found pairs of languages")
    inputs = {"generator": args.generator, **benchmark_data}
    made_by = {"benchmark": args.benchmark, "language": args.language}
    made_by |= {"windows": windows.model_dump(), "recipe": recipe.model_dump()}  # a recipe has a key `windows`, too
    state = own_folder(args.state, recipe=made_by, inputs=inputs, seed=args.seed, code=args.code)

    # draw windows, and generate a query for each
    documents = DocumentWindows(
        lambda: benchmark.passages(data, query_set.collection),
        by_sentences(args.language, windows),
        state / "documents.json",
    )
    drawn, total = drawn_windows(documents, recipe.windows, args.seed)
    queries = generated(state, args.generator.parent, [window.text for window in drawn], recipe)

    # drop unusable queries, and write the set
    numbers, dropped = usable(queries, drawn, args.language)
    if not numbers:
        counts = ", ".join(f"{number} {reason}" for reason, number in dropped.items())
        raise SteleError(f"{args.generator}: found no usable query for {len(drawn)} windows: {counts}")
    with records.output_folder(args.output, JOB, inputs) as (folder, facts):
        passages = [(drawn[number].id, drawn[number].text) for number in numbers]
        no_negatives = [[] for _ in numbers]
        write_set(folder, passages, [queries[number] for number in numbers], range(len(numbers)), no_negatives)
        facts.update(
            seed=args.seed,
            benchmark=args.benchmark,
            language=args.language,
            recipe=recipe.model_dump(),
            **documents.counts(),
            windows=total,
            drawn=len(drawn),
            dropped={name: dropped[name] for name in ("empty", "copied", "double")},
            counts={"train": len(numbers)},
        )
    drop(state)


def drawn_windows(documents: DocumentWindows, number: int, seed: int) -> tuple[list[Passage], int]:
    """Draws `number` windows. Returns them in the collection's order, and the total number; stores only these."""
    total = sum(1 for _ in documents.read())
    rows = set(np.random.default_rng(seed).choice(total, min(number, total), replace=False).tolist())
    return [window for row, window in enumerate(documents.read()) if row in rows], total


def generated(state: Path, folder: Path, texts: Sequence[str], recipe: GeneratedQueriesRecipe) -> list[str]:
    """Generates a query for each text, in their order; reuses the saved queries of an interrupted run."""
    import torch

    from stele.encoders.generator import generate, load_generator
    from stele.training.processes import default_device

    torch.set_num_threads(recipe.threads)
    generator, queries = None, []
    with bar(len(texts), "generate queries", "queries") as shown:
        for number, start in enumerate(range(0, len(texts), PART)):
            path, part = state / f"queries-{number:05d}.json", texts[start : start + PART]
            if not path.exists():
                generator = generator or load_generator(folder, str(default_device()))
                sizes = recipe.beams, recipe.source_length, recipe.query_length, recipe.batch
                atomic_write_json(path, generate(generator, part, *sizes))
            queries += read_state(path)
            shown.update(len(part))
    return queries


def usable(queries: Sequence[str], windows: Iterable[Passage], language: str) -> tuple[list[int], Counter[str]]:
    """Selects usable queries. Returns their row numbers, and the number of dropped queries by reason.

    >>> windows = [Passage("a", "", "Rain falls. It is wet."), Passage("b", "", "Sun."), Passage("c", "", "Wind.")]
    >>> usable(["when does it rain", "sun", "When does it rain?"], windows, "en")
    ([0], Counter({'copied': 1, 'double': 1}))
    """
    numbers, dropped, seen = [], Counter(), set()
    for number, (query, window) in enumerate(zip(queries, windows, strict=True)):
        plain, text = _plain(query), window.text
        sentences = {_plain(text[start:end]) for start, end in split_sentences(text, language)}
        if not any(map(str.isalnum, plain)):
            dropped["empty"] += 1
        elif plain in sentences or _plain(text).startswith(plain):
            dropped["copied"] += 1
        elif plain in seen:
            dropped["double"] += 1
        else:
            seen.add(plain)
            numbers.append(number)
    return numbers, dropped


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(SIGNS)
