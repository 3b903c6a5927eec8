"""RM3: six documents on paper, ties, frequent terms, nothing to add, few hits; blocks and Anserini itself."""

import itertools
import os
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from stele.artifacts.run import canonical
from stele.benchmarks.types import Query
from stele.files.reading import find_file
from stele.recipes.search import Rm3
from stele.retrieval.lexical import anserini, engines, lucene_bm25, rm3

JAR = Path(os.environ.get("STELE_ANSERINI", "/nowhere"))
PARAMETERS = (0.9, 0.4)

# the query is zq; a document of one's own makes each term rare enough: there are 60 of them
FILLER = {f"f{n:02}": f"filler{n}" for n in range(54)}
SIX = {
    "d1": "zq zq river river delta",
    "d2": "zq river delta delta basin",
    "d3": "zq x élan averylongtermofmorethan20letters",  # one letter, an accent, 34 letters: nothing to add but zq
    "d4": "river river",
    "d5": "delta basin",
    "d6": "congo",
}


@pytest.fixture
def engine(tmp_path):
    """engine(texts, queries, language) -> Bm25sEngine with Lucene's lengths."""

    def call(texts: dict[str, str], queries: list[str], language: str = "sw") -> engines.Bm25sEngine:
        folder = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        split = {"all": [Query(str(n), text) for n, text in enumerate(queries)]}
        read = lambda: iter(texts.items())  # noqa: E731
        return engines.Bm25sEngine(engines.Texts(language, read), folder, split, threads=1, rounded=True)

    return call


def plain(engine: engines.Bm25sEngine, depth: int) -> list:
    ((_, hits),) = engine.runs("all", [PARAMETERS], depth)
    return hits


# --- on paper ---
def test_six_documents_on_paper(engine):
    """Two documents, two terms: weights by hand, and BM25 with them."""
    made = engine(SIX | FILLER, ["zq"])
    recipe = Rm3(documents=2, terms=2)
    first = dict(plain(made, 2)[0])
    assert list(first) == ["d1", "d3"]  # twice zq in five terms; once in four
    # d1: river 2, zq 2 (delta 1 is third); d3: zq 1 alone
    river, zq = first["d1"] * 2 / 4, first["d1"] * 2 / 4 + first["d3"]
    weights = {"zq": 0.5 + 0.5 * zq / (zq + river), "river": 0.5 * river / (zq + river)}
    ((hits),) = made.expanded("all", PARAMETERS, 10, recipe)
    alone = {term: dict(plain(engine(SIX | FILLER, [term]), 10)[0]) for term in weights}
    expected = dict.fromkeys(("d1", "d2", "d3", "d4"), 0.0)
    for name in expected:
        expected[name] = sum(weight * alone[term].get(name, 0) for term, weight in weights.items())
    assert dict(hits) == pytest.approx(expected, rel=1e-5)
    assert hits == canonical(hits)


def test_ties_in_frequency_and_at_the_cut_go_to_the_first_term():
    recipe = Rm3(documents=2, terms=2)
    # of bb, cc, dd (2 each) and aa (1) the first two by name; then bb and cc tie with ee: bb, cc stay
    feedback = [(Counter(dd=2, cc=2, bb=2, aa=1), 2.0), (Counter(ee=3, ff=3), 2.0)]
    assert rm3.relevance_model(feedback, recipe) == {"bb": 0.5, "cc": 0.5}
    assert rm3.expanded(["ff"], feedback, recipe) == {"ff": 0.5, "bb": 0.25, "cc": 0.25}


def test_the_query_keeps_its_weight_and_repetitions():
    weights = rm3.expanded(["nile", "nile", "delta"], [(Counter(kenya=1), 4.0)], Rm3(original_weight=0.75))
    assert weights == {"nile": pytest.approx(0.5), "delta": pytest.approx(0.25), "kenya": 0.25}


@pytest.mark.parametrize(
    ("term", "ascii_only", "every"),
    [
        ("nile", True, True),
        ("x", False, False),
        ("2010", True, True),
        ("a" * 20, True, True),
        ("a" * 21, False, False),
        ("élan", False, True),
        ("u.s", False, True),
        ("नदी", False, True),
    ],
)
def test_which_terms_may_be_added(term, ascii_only, every):
    assert rm3.may_expand(term, Rm3()) is ascii_only and rm3.may_expand(term, Rm3(filter="none")) is every


def test_a_term_in_more_than_a_tenth_is_not_added(engine):
    texts = {"a": "zq river"} | {f"r{n}": "river" for n in range(2)} | {f"n{n}": f"none{n}" for n in range(27)}
    (three,) = engine(texts, ["zq"]).expanded("all", PARAMETERS, 10, Rm3())
    assert {name for name, _ in three} == {"a", "r0", "r1"}
    (four,) = engine(texts | {"n0": "river"}, ["zq"]).expanded("all", PARAMETERS, 10, Rm3())
    assert {name for name, _ in four} == {"a"}


def test_without_a_term_to_add_the_order_is_bm25_s(engine):
    """Every document has accents alone: half of each score, and nothing else."""
    rng = np.random.default_rng(3)
    texts = {f"{n}": " ".join(f"é{w}" for w in rng.integers(0, 9, rng.integers(1, 9))) for n in range(40)}
    made = engine(texts, ["é1 é2 é1", "é7", "hapana"])
    for one, other in zip(plain(made, 40), made.expanded("all", PARAMETERS, 40, Rm3()), strict=True):
        query_terms = 3 if one and one == plain(made, 40)[0] else 1
        assert [name for name, _ in one] == [name for name, _ in other]
        assert [s for _, s in other] == pytest.approx([s * 0.5 / query_terms for _, s in one], rel=1e-5)


def test_fewer_than_ten_hits_and_none(engine):
    made = engine(SIX | FILLER, ["zq congo", "hapana", ""])
    hits, none, empty = made.expanded("all", PARAMETERS, 100, Rm3())
    assert none == [] and empty == []
    assert {name for name, _ in hits} == {"d1", "d2", "d3", "d4", "d5", "d6"}  # over river, delta and basin


# --- laws ---
def random_texts(number: int, shortest: int, longest: int) -> dict[str, str]:
    """Documents of words whose frequencies fall as in texts; no analyzer changes them."""
    rng = np.random.default_rng(number)
    words = np.array([f"{a}q{b}{c}" for a in "zxvkj" for b in "zxvkjw" for c in "zxvkjwqpb0123456789"])
    share = 1 / np.arange(1, len(words) + 1)
    lengths = rng.integers(shortest, longest, number)
    return {f"{n:05}": " ".join(rng.choice(words, k, p=share / share.sum())) for n, k in enumerate(lengths)}


def test_a_collection_can_be_searched_with_several_recipes(engine):
    texts = {"a": "zq élan", "b": "élan mto", "c": "mto zq zq zq"} | FILLER
    made = engine(texts, ["zq"])
    unfiltered, ascii_only = (made.expanded("all", PARAMETERS, 9, Rm3(filter=name))[0] for name in ("none", "ascii"))
    assert {name for name, _ in unfiltered} == {"a", "b", "c"} == {name for name, _ in ascii_only}
    assert unfiltered == engine(texts, ["zq"]).expanded("all", PARAMETERS, 9, Rm3(filter="none"))[0] != ascii_only


def test_blocks_do_not_matter(engine, monkeypatch):
    texts = random_texts(90, 5, 30)
    queries = [" ".join(text.split()[:3]) for text in list(texts.values())[:8]]
    expected = engine(texts, queries).expanded("all", PARAMETERS, 50, Rm3())
    monkeypatch.setattr(engines, "EXPANDED_BLOCK", 7)
    monkeypatch.setattr(lucene_bm25, "BLOCK", 11)
    assert engine(texts, queries).expanded("all", PARAMETERS, 50, Rm3()) == expected


# --- Anserini ---
@pytest.mark.skipif(not (JAR.is_dir() and shutil.which("java")), reason="STELE_ANSERINI names no folder, or no Java")
@pytest.mark.parametrize(("shortest", "longest"), [(15, 41), (80, 401)])
@pytest.mark.parametrize("term_filter", ["ascii", "none"])
def test_anserini_s_rm3_ranks_alike(tmp_path, shortest, longest, term_filter, engine):
    """50 queries over 3,000 documents: all rankings are the same, where Anserini's order of equal scores is taken."""
    texts = random_texts(3000, shortest, longest)
    queries = [" ".join(text.split()[4:7]) for text in list(texts.values())[:50]]
    recipe, asked = Rm3(filter=term_filter), [Query(str(n), text) for n, text in enumerate(queries)]
    collection, jar = engines.Texts("ru", texts.items), find_file(JAR, *anserini.JAR)
    java = anserini.AnseriniEngine(jar, collection, tmp_path / "java", {"all": asked}, 1, expands=True)
    theirs = java.expanded("all", PARAMETERS, 1000, recipe)
    ours = engine(texts, queries, "ru").expanded("all", PARAMETERS, 1000, recipe)
    for one, other in zip(ours, theirs, strict=True):
        assert [score for _, score in one] == pytest.approx([score for _, score in other], abs=1e-3)
        scores = dict(one)
        cut = other[-1][1] + 1e-3  # documents that share the last score may be others
        assert {name for name, score in other if score > cut} <= scores.keys()
        theirs = [name for name, _ in other if name in scores]
        places = [round(scores[name], 4) for name in theirs]
        assert all(one >= other - 1e-4 for one, other in itertools.pairwise(places))
