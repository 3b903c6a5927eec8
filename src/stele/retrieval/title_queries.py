"""Make a transfer set of a Wikipedia: titles as queries, their articles as positives, BM25's other hits as negatives.

Shi et al., section 4.2, "weakly-supervised query synthesis": the collection is that Wikipedia, an article its text
without its title; a title whose article BM25 does not retrieve is dropped, and counted. Titles are drawn by the seed. A
killed job goes on: the index is kept block by block, the hits part by part.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from stele.artifacts import records
from stele.artifacts.documents import read_batches
from stele.artifacts.state import add_state_arguments, drop, own_folder
from stele.command import arguments
from stele.errors import SteleError
from stele.files.atomic import atomic_directory, atomic_file, folder_facts
from stele.files.reading import parse_object
from stele.progress import bar, track
from stele.recipes.title_queries import TitleQueriesRecipe, parse_recipe
from stele.retrieval.lexical import bm25_index
from stele.retrieval.lexical.bm25_search import TopK
from stele.retrieval.lexical.engines import TermIndex, Texts
from stele.retrieval.transfer.files import write_set
from stele.text.terms import analyzer, described

logger = logging.getLogger(__name__)

JOB = "title_queries"
PART = 2_048  # titles that are searched together, whose hits are saved


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--language", required=True)
    parser.add_argument("--documents", nargs="+", required=True, type=Path, metavar="RECORD", help="of a Wikipedia")
    parser.add_argument("--recipe", required=True, metavar="JSON", help="numbers of titles, hits and negatives")
    parser.add_argument("--seed", required=True, type=arguments.seed)
    add_state_arguments(parser)
    arguments.add_record(parser, JOB)


def run(args: argparse.Namespace) -> None:
    clock = records.start()
    recipe = parse_recipe(parse_object(args.recipe, "--recipe"))
    inputs = {f"documents {number}": path for number, path in enumerate(args.documents, start=1)}
    made_by = {"language": args.language, **recipe.model_dump()}
    state = own_folder(args.state, recipe=made_by, inputs=inputs, seed=args.seed, code=args.code)
    rows, titles, articles = drawn_titles(args.documents, recipe.queries, args.seed)
    parts = search_titles(state, args, recipe, rows, titles, articles)
    kept, positives, negatives = joined(parts)
    if not len(kept):
        raise SteleError(f"{args.language}: BM25 found no article by its title; {len(titles)} titles were searched")
    used = np.unique(np.concatenate([positives, *negatives]))
    with atomic_directory(args.output.parent, JOB) as folder:
        passages = chosen_texts(args.documents, used, recipe.characters)
        lines = np.searchsorted(used, positives), [np.searchsorted(used, few) for few in negatives]
        write_set(folder, passages, [titles[number] for number in kept], *lines)
        records.write_record(
            folder / "record.json",
            job=JOB,
            inputs=inputs,
            clock=clock,
            seed=args.seed,
            language=args.language,
            recipe=recipe.model_dump(),
            analyzer=described(args.language),
            articles=articles,
            titles=len(titles),
            article_not_retrieved=len(titles) - len(kept),
            without_negatives=sum(not len(rows) for rows in negatives),
            passages=len(used),
            counts={"train": len(kept)},
            outputs=folder_facts(folder),
        )
    logger.info("%s: %d of %d titles find their article", args.language, len(kept), len(titles))
    drop(state)


def drawn_titles(documents: Sequence[Path], number: int, seed: int) -> tuple[np.ndarray, list[str], int]:
    """(rows, titles) of articles drawn from those with a title, in their order; and how many articles there are."""
    titles = [
        title for record in documents for batch in read_batches(record, ["title"]) for title in batch[0].to_pylist()
    ]
    titled = np.flatnonzero([bool(title.strip()) for title in titles])
    if not len(titled):
        raise SteleError(f"{documents[0]}: no document there has a title; want the documents of a Wikipedia")
    rows = np.sort(np.random.default_rng(seed).choice(titled, min(number, len(titled)), replace=False))
    return rows, [titles[row] for row in rows], len(titles)


def texts(documents: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """(id, text) of all articles in order, without their titles."""
    for record in documents:
        for batch in read_batches(record, ["doc_id", "sentences"]):
            for name, sentences in zip(*(batch.column(n).to_pylist() for n in ("doc_id", "sentences")), strict=True):
                yield name, " ".join(sentences)


def search_titles(
    state: Path,
    args: argparse.Namespace,
    recipe: TitleQueriesRecipe,
    rows: np.ndarray,
    titles: Sequence[str],
    articles: int,
) -> list[Path]:
    """Indexes the articles and searches the titles, part by part; returns the files of their hits."""
    analyze = analyzer(args.language)
    terms = [analyze(title) for title in titles]
    label = f"index {args.language}"
    articles_of = Texts(args.language, lambda: track(texts(args.documents), articles, label, "articles"))
    index = TermIndex(state / "index", articles_of, {term for of_title in terms for term in of_title}, bm25_index.BLOCK)
    queries = [[index.numbers[term] for term in of_title] for of_title in terms]
    starts = range(0, len(queries), PART)
    parts = [state / f"hits-{number:05d}.npz" for number in range(len(starts))]
    with bar(len(queries), f"search titles of {args.language}", "titles") as shown:
        for path, start in zip(parts, starts, strict=True):
            some = slice(start, start + PART)
            if not path.exists():
                hits = best_rows(index, queries[some], recipe)
                save_part(path, start, rows[some], hits, recipe.negatives, args.seed)
            shown.update(len(queries[some]))
    return parts


def best_rows(index: TermIndex, queries: Sequence[Sequence[int]], recipe: TitleQueriesRecipe) -> list[np.ndarray]:
    """The rows of the articles that each query retrieves, best first."""
    best = TopK(queries, recipe.depth, index.collection, (recipe.k1, recipe.b))
    for block in bm25_index.read_blocks(index.folder):
        best.add(block, recipe.threads)
    return [best.ranked(number, index.ids)[0] for number in range(len(queries))]


def save_part(path: Path, start: int, rows: np.ndarray, hits: Sequence[np.ndarray], negatives: int, seed: int) -> None:
    """Saves, of the titles whose article is among their hits, their numbers, their articles and their negatives."""
    kept = [number for number, (row, of_title) in enumerate(zip(rows, hits, strict=True)) if row in of_title]
    chosen = [drawn_negatives(hits[number], rows[number], negatives, seed) for number in kept]
    with atomic_file(path, "wb") as handle:
        np.savez(
            handle,
            titles=np.array(kept, np.int64) + start,
            positives=rows[kept].astype(np.int64),
            sizes=np.array([len(few) for few in chosen], np.int64),
            negatives=np.concatenate([*chosen, np.empty(0, np.int64)]).astype(np.int64),
        )


def drawn_negatives(hits: np.ndarray, positive: int, number: int, seed: int) -> np.ndarray:
    """So many of a query's hits but the positive, drawn by the seed and the positive, the best first.

    >>> drawn_negatives(np.array([5, 7, 9]), 7, 4, 0).tolist()
    [5, 9]
    """
    others = hits[hits != positive]
    drawn = np.random.default_rng([seed, positive]).choice(len(others), min(number, len(others)), replace=False)
    return others[np.sort(drawn)]


def joined(parts: Sequence[Path]) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """(numbers of titles, rows of their articles, rows of their negatives) of all parts."""
    read = [dict(np.load(path)) for path in parts]
    titles, positives, sizes, negatives = (
        np.concatenate([part[name] for part in read]) for name in ("titles", "positives", "sizes", "negatives")
    )
    return titles, positives, np.split(negatives, np.cumsum(sizes)[:-1])


def chosen_texts(documents: Sequence[Path], rows: np.ndarray, characters: int) -> Iterator[tuple[str, str]]:
    """(id, text) of the articles of some ascending rows, as far as they are kept."""
    wanted = set(rows.tolist())
    return ((name, text[:characters]) for row, (name, text) in enumerate(texts(documents)) if row in wanted)
