"""Make a transfer set of a Wikipedia: titles as queries, their articles as positives, BM25's other hits as negatives.

The method is "weakly-supervised query synthesis" of Shi et al., section 4.2. The collection has the articles of the
Wikipedia without their titles; a title whose article BM25 does not retrieve is dropped, and counted. The seed decides
which titles are drawn. A killed job resumes: the index is kept block by block, the hits part by part.
"""

import logging
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated

import numpy as np

from stele.artifacts import records
from stele.artifacts.documents import read_batches
from stele.artifacts.state import drop, own_folder
from stele.benchmarks.transfer_set import write_set
from stele.command.arguments import Json, NewRecord, ResumableJob, Seed, Some, record_of
from stele.errors import SteleError
from stele.files.atomic import atomic_write_json
from stele.files.reading import parse_object, read_state
from stele.files.strict import validate
from stele.progress import bar, track
from stele.recipes.transfer import TitleQueriesRecipe
from stele.retrieval.lexical import lucene_bm25
from stele.retrieval.lexical.engines import Texts, index_terms
from stele.text.terms import analyzer, described

logger = logging.getLogger(__name__)

JOB = "title_queries"
PART = 2_048  # titles that are searched together, whose hits are saved


class TitleQueries(ResumableJob):
    language: str
    """Language of the documents."""
    documents: Some[Path]
    """Records of the documents of a Wikipedia."""
    recipe: Json
    """Numbers of titles, hits and negatives; BM25's k1 and b."""
    seed: Seed
    output: Annotated[NewRecord, record_of(JOB)]


def run(args: TitleQueries) -> None:
    recipe = validate(TitleQueriesRecipe, parse_object(args.recipe, "--recipe"), "--recipe")
    inputs = {f"documents {number}": path for number, path in enumerate(args.documents, start=1)}
    made_by = {"language": args.language, **recipe.model_dump()}
    state = own_folder(args.state, recipe=made_by, inputs=inputs, seed=args.seed, code=args.code)

    # draw titles, and search them
    rows, titles, articles = drawn_titles(args.documents, recipe.queries, args.seed)
    parts = search_titles(state, args, recipe, rows, titles, articles)
    examples = [example for path in parts for example in read_state(path)]
    if not examples:
        raise SteleError(f"{args.language}: BM25 found no article by its title; {len(titles)} titles were searched")

    # write the used articles, and the queries with the lines of their articles
    numbers, positives, negatives = zip(*examples, strict=True)
    wanted = {*positives, *chain.from_iterable(negatives)}
    used = np.array(sorted(wanted))
    with records.output_folder(args.output, JOB, inputs) as (folder, facts):
        write_set(
            folder,
            ((n, text[: recipe.characters]) for row, (n, text) in enumerate(texts(args.documents)) if row in wanted),
            [titles[number] for number in numbers],
            np.searchsorted(used, positives),
            [np.searchsorted(used, rows_of_title) for rows_of_title in negatives],
        )
        facts.update(
            seed=args.seed,
            language=args.language,
            recipe=recipe.model_dump(),
            analyzer=described(args.language),
            articles=articles,
            titles=len(titles),
            article_not_retrieved=len(titles) - len(numbers),
            without_negatives=negatives.count([]),
            passages=len(used),
            counts={"train": len(numbers)},
        )
    logger.info("%s: %d of %d titles find their article", args.language, len(numbers), len(titles))
    drop(state)


def drawn_titles(documents: Sequence[Path], number: int, seed: int) -> tuple[np.ndarray, list[str], int]:
    """Draws `number` titled articles. Returns rows (int64, ascending), their titles, and the number of all articles.

    Raises SteleError if no document has a title.
    """
    titles: list[str] = []
    for record in documents:
        for batch in read_batches(record, ["title"]):
            titles += batch[0].to_pylist()
    titled = np.flatnonzero([bool(title.strip()) for title in titles])
    if not len(titled):
        raise SteleError(f"{documents[0]}: no document has a title; give documents of a Wikipedia")
    rows = np.sort(np.random.default_rng(seed).choice(titled, min(number, len(titled)), replace=False))
    return rows, [titles[row] for row in rows], len(titles)


def texts(documents: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Reads (id, text) of all articles in order, without their titles."""
    for record in documents:
        for batch in read_batches(record, ["doc_id", "sentences"]):
            for name, sentences in zip(*(batch.column(n).to_pylist() for n in ("doc_id", "sentences")), strict=True):
                yield name, " ".join(sentences)


def search_titles(
    state: Path,
    args: TitleQueries,
    recipe: TitleQueriesRecipe,
    rows: np.ndarray,
    titles: Sequence[str],
    articles: int,
) -> list[Path]:
    """Indexes the articles and searches the titles, part by part; returns the files of `save_part`."""
    analyze = analyzer(args.language)
    terms = [analyze(title) for title in titles]
    label = f"index {args.language}"
    articles_of = Texts(args.language, lambda: track(texts(args.documents), articles, label, "articles"))
    index, numbers = index_terms(state / "index", articles_of, set().union(*terms), lucene_bm25.BLOCK)
    queries = [[numbers[term] for term in terms_of_title] for terms_of_title in terms]
    starts, parameters = range(0, len(queries), PART), (recipe.k1, recipe.b)
    parts = [state / f"hits-{number:05d}.json" for number in range(len(starts))]
    with bar(len(queries), f"search titles of {args.language}", "titles") as shown:
        for path, start in zip(parts, starts, strict=True):
            part = slice(start, start + PART)
            if not path.exists():
                best = lucene_bm25.best_rows(index, queries[part], recipe.depth, parameters, recipe.threads)
                save_part(path, start, rows[part], [hits for hits, _ in best], recipe.negatives, args.seed)
            shown.update(len(queries[part]))
    return parts


def save_part(path: Path, start: int, rows: np.ndarray, hits: Sequence[np.ndarray], negatives: int, seed: int) -> None:
    """Saves the titles whose article is among their hits, each as [number, row of the article, drawn negatives]."""
    examples = []
    for number, (row, hits_of_title) in enumerate(zip(rows.tolist(), hits, strict=True), start):
        if row in hits_of_title:
            examples.append([number, row, drawn_negatives(hits_of_title, row, negatives, seed).tolist()])
    atomic_write_json(path, examples)


def drawn_negatives(hits: np.ndarray, positive: int, number: int, seed: int) -> np.ndarray:
    """Draws at most `number` hits other than the positive, by the seed and the positive; int64, best first.

    >>> drawn_negatives(np.array([5, 7, 9]), 7, 4, 0).tolist()
    [5, 9]
    """
    others = hits[hits != positive]
    drawn = np.random.default_rng([seed, positive]).choice(len(others), min(number, len(others)), replace=False)
    return others[np.sort(drawn)]
