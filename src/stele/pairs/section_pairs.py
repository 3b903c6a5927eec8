"""Mine the pages of one entity in two languages for section pairs (Yu et al., section 4.1; `methods/section.py`).

Writes the sections and the pairs (`artifacts/knowledge_base.py`) and their record. The seed draws the order of the
pairs, and `max_pairs` keeps the first of them. A part is two languages in order ("en-fr"). The command reads first the
headings, then the word vectors (it keeps only those of the headings' terms), and last the texts of pages with a pair.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np

from stele import progress
from stele.artifacts import records
from stele.artifacts.documents import read_chosen, read_headings
from stele.artifacts.knowledge_base import TextSection, write_pairs, write_sections
from stele.command.arguments import NewRecord, Some, named_paths, record_of
from stele.encoders.word_vectors import read_word_vectors, vector_file
from stele.errors import SteleError, unknown
from stele.pairs.methods import SectionMethod, load_method
from stele.pairs.methods.section import Headings, HeadingVectors, Matches, Sections, collect, spans, terms
from stele.pairs.mining import inputs
from stele.pairs.mining.knowledge import Candidates, Knowledge, hashed, unpack
from stele.recipes.mining import SectionRecipe
from stele.training.sampling import derive

log = logging.getLogger(__name__)

JOB = "pairs section_pairs"
LISTS = "STOPWORDS_"  # prefix of the names of bm25s's stop word lists


class Side(NamedTuple):
    """The inputs of one language of a part."""

    code: str
    base: Knowledge
    documents: list[Path]
    vectors: Path
    stop_words: frozenset[str]


class SectionPairs(inputs.PartJob):
    output: Annotated[NewRecord, record_of(JOB)]
    vectors: Some[str]
    """Record of each language's aligned word vectors, as LANGUAGE=RECORD."""


def run(args: SectionPairs) -> None:
    """Writes the pairs of one part. Raises SteleError if the recipe, the part and the inputs do not fit together."""
    method, recipe = load_method(args.recipe, SectionMethod)
    part = inputs.parse(args, recipe.method, method.LANGUAGES)
    vectors = named_paths(args.vectors, "--vectors")
    if sorted(vectors) != part.languages:
        raise SteleError(f"--vectors: want vectors of {', '.join(part.languages)}, found {', '.join(sorted(vectors))}")
    vector_records = {f"vectors:{code}": vectors[code] for code in part.languages}
    with records.output_folder(args.output, JOB, {**part.records(), **vector_records}) as (folder, record):
        # the headings of both languages and their vectors
        sides = []
        for code in part.languages:
            base = Knowledge(part.bases[code], 0, 1, folder)  # without links
            texts = part.documents[code]
            sides.append(Side(code, base, texts, vector_file(vectors[code].parent), stop_words(code, recipe)))
        counts, sections = read_sides(sides)
        # the matches; the first of a drawn order are written with their texts
        dropped: Counter[str] = Counter()
        matches = drawn(
            method.matches([side.base for side in sides], sections, recipe, dropped),
            derive(args.seed, recipe.method, args.part, "order"),
        )
        chosen = Matches(*(column[: recipe.max_pairs] for column in matches))
        write(folder, sides, chosen)
        facts = {
            "candidates": len(matches.first) + dropped["short"],
            "pairs": len(chosen.first),
            "dropped": {reason: number for reason, number in dropped.items() if number},
            "sections": counts,
        }
        record.update(
            seed=args.seed,
            method=recipe.method,
            recipe=recipe.model_dump(),
            part=args.part,
            languages=part.languages,
            knowledge={side.code: side.base.counts for side in sides},
            **facts,
        )
    log.info("%s %s: %s", recipe.method, args.part, facts)
    if not facts["pairs"]:
        log.warning("%s: no pair of sections", args.part)


def read_sides(sides: Sequence[Side]) -> tuple[dict[str, dict[str, int]], list[Sections]]:
    """Reads the sections of both languages. Returns (their counts by language, the sections with heading vectors).

    It reads only the pages whose entity has a page in the other language, too.
    """
    shared = np.intersect1d(*(side.base.by_entity[0] for side in sides))
    counts, sections = {}, []
    for side in sides:
        pages = np.sort(side.base.pages_of(shared)[1])
        headings = collect(_spans(side, pages))
        vectors, facts = _vectors(side, headings)
        known = vectors.known[headings.heading]
        counts[side.code] = {
            "pages": len(pages),
            "with_heading": len(known),
            "without_known_term": int((~known).sum()),
            **facts,
        }
        sections.append(Sections(headings, vectors))
    return counts, sections


def _spans(side: Side, pages: np.ndarray) -> Iterator[tuple[int, list]]:
    read = progress.track(read_headings(side.documents, pages), len(pages), f"headings of {side.code}", "page")
    for page, size, (titles, begins) in zip(pages.tolist(), side.base.sentences[pages].tolist(), read, strict=True):
        yield page, spans(titles, begins, size)


def _vectors(side: Side, headings: Headings) -> tuple[HeadingVectors, dict[str, int]]:
    """Reads the vectors of the headings' terms. Returns (the heading vectors, counts of headings and terms)."""
    terms_of = [terms(text, side.stop_words) for text in headings.texts]
    wanted = {term for of_heading in terms_of for term in of_heading}
    words = read_word_vectors(side.vectors, wanted)
    facts = {
        "headings": len(headings.texts),
        "terms": len(wanted),
        "known_terms": len(words.words),
        "repeated_words": words.counts["repeated"],
    }
    return HeadingVectors(terms_of, words), facts


def stop_words(language: str, recipe: SectionRecipe) -> frozenset[str]:
    """Stop words of a language, from the bm25s list that the recipe names. Raises SteleError for an unknown list."""
    from bm25s import stopwords

    if (name := recipe.stop_words.get(language)) is None:
        return frozenset()
    lists = {key.removeprefix(LISTS): words for key, words in vars(stopwords).items() if key.startswith(LISTS)}
    if name not in lists:
        raise unknown("list of stop words", name, lists, f"--recipe: stop_words.{language}")
    return frozenset(lists[name])


def drawn(matches: Iterable[Matches], key: int) -> Matches:
    """Shuffles all matches by `key`. The order does not depend on the batches or on their order."""
    columns = [np.concatenate(column) for column in zip(*matches, strict=True)] or [np.zeros(0)] * 3
    first, second, similarity = (c.astype(t) for c, t in zip(columns, (np.uint64, np.uint64, np.float64), strict=True))
    order = np.lexsort((second, first, hashed(Candidates(first, second), key)))
    return Matches(first[order], second[order], similarity[order])


def write(folder: Path, sides: Sequence[Side], matches: Matches) -> None:
    """Writes the sections of all pages that have a pair, and the pairs as row numbers of their sections."""
    rows = []
    sizes: list[int] = []  # sections per page
    chosen = [np.unique(unpack(packed)[1]) for packed in (matches.first, matches.second)]

    def sections() -> Iterator[TextSection]:
        for number, (side, pages) in enumerate(zip(sides, chosen, strict=True)):
            texts, headings = (read(side.documents, pages) for read in (read_chosen, read_headings))
            shown = progress.track(pages.tolist(), len(pages), f"sections of {side.code}", "page")
            for page, (sentences, _), (titles, begins) in zip(shown, texts, headings, strict=True):
                of_page = spans(titles, begins, len(sentences))
                sizes.append(len(of_page))
                for heading, begin, end in of_page:
                    yield TextSection(number, page, heading, sentences[begin:end])

    write_sections(folder, sections())
    begins = np.split(np.cumsum([0, *sizes[:-1]]), [len(chosen[0])])  # row of each page's first section
    for packed, pages, of_pages in zip((matches.first, matches.second), chosen, begins, strict=True):
        _, page, place = unpack(packed)
        rows.append(of_pages[np.searchsorted(pages, page)] + place)
    write_pairs(folder, *rows, matches.similarity)
