"""`pairs section_pairs`: a small wiki by hand, the matching against brute force, and what must not matter."""

from itertools import chain

import numpy as np
import pytest
from section_texts import PAIRS, SHORT, WIKIS, command, given, page, run

from stele.encoders.word_vectors import WordVectors
from stele.errors import SteleError
from stele.files.digests import files_digest
from stele.pairs import section_pairs
from stele.pairs.methods import DocumentMethod, KnowledgeMethod, load_method, section
from stele.pairs.methods.section import HeadingVectors, Span, collect, spans, terms
from stele.pairs.section_pairs import stop_words
from stele.recipes.mining import SectionRecipe
from tests.killing import kill_at, killed


def test_five_pages_by_hand(tmp_path):
    made = command(tmp_path)
    assert set(made.pairs) == PAIRS and len(made.pairs) == len(PAIRS)
    assert made.record["pairs"] == len(PAIRS) and made.record["candidates"] == len(PAIRS) + SHORT
    assert made.record["dropped"] == {"short": SHORT}
    counts = made.record["sections"]
    # Zzz, and "Of the", of which nothing is left; Qqq
    assert (counts["en"]["without_known_term"], counts["es"]["without_known_term"]) == (2, 1)
    assert (counts["en"]["pages"], counts["en"]["with_heading"]) == (5, 14)  # no lead, and no heading without text
    assert (counts["en"]["headings"], counts["es"]["headings"]) == (9, 6)
    assert (counts["en"]["terms"], counts["en"]["known_terms"]) == (7, 5)  # early, zzz
    assert made.record["languages"] == ["en", "es"] and made.record["labels"] == ["generated data"]


def test_all_sections_of_a_page_with_a_pair_are_there(tmp_path):
    """Leads and short sections, too: they are the others that negatives are drawn from; no page without a pair."""
    by_page = {}
    for one in command(tmp_path).sections:
        by_page.setdefault((one["side"], one["page"]), []).append(one)
    assert list(by_page) == [(0, 0), (0, 1), (0, 2), (0, 4), (1, 0), (1, 1), (1, 2), (1, 4)]  # not the fourth: short
    headings = [one["heading"] for one in by_page[0, 4]]
    assert headings == ["", "Zzz", "The early LIFE", "Of the", "Edge"]
    for (side, number), sections in by_page.items():
        whole = WIKIS[("en", "es")[side]][number].sentences
        assert [*chain.from_iterable(one["sentences"] for one in sections)] == whole


def test_the_recipe_decides(tmp_path):
    lower = command(tmp_path / "a", threshold=0.29)
    assert set(lower.pairs) - PAIRS == {(("Edge", 5), ("Historia", 5), 0.3, "unknown")}
    short = command(tmp_path / "b", least_sentences=2)
    assert {pair[:2] for pair in set(short.pairs) - PAIRS} == {
        (("Works", 4), ("Obra", 9)),
        (("History", 2), ("Historia", 5)),
    }
    # with its stop word "la", which has a vector of its own, the other history is no longer the same
    words = command(tmp_path / "c", stop_words={})
    assert (("history!", 7), ("La historia", 6), pytest.approx(0.5**0.5), "tied") in words.pairs


@pytest.mark.parametrize("most", [1, 3, 100])
def test_fewer_pairs_are_the_first_of_more(tmp_path, most):
    whole, some = command(tmp_path / "a"), command(tmp_path / "b", max_pairs=most)
    assert some.pairs == whole.pairs[:most]
    assert some.record["candidates"] == whole.record["candidates"]


def test_the_seed_decides_the_order_alone(tmp_path):
    one, again, other = (command(tmp_path / name, seed=seed) for name, seed in (("a", 3), ("b", 3), ("c", 4)))
    assert files_digest(one.folder) == files_digest(again.folder)
    assert other.pairs != one.pairs and set(other.pairs) == set(one.pairs)


def random_wikis(seed, pages=150):
    """Pages of random headings, many of them equal and some unknown, whose words' vectors are random."""
    rng = np.random.default_rng(seed)
    wikis, words = {}, {}
    for code in ("en", "es"):
        own = [f"{code}w{n}" for n in range(12)]
        words[code] = {word: " ".join(map(str, rng.integers(-3, 4, 3))) for word in own[:10]}
        wikis[code] = []
        for n, entity in enumerate(rng.permutation(pages).tolist()):
            headings = [" ".join(rng.choice(own, rng.integers(1, 3))) for _ in range(rng.integers(1, 6))]
            sections = [(heading, int(rng.integers(3, 8))) for heading in headings]
            name = f"{code}{chr(97 + n % 26)}{chr(97 + n // 26)}"
            wikis[code].append(page(name, entity if rng.random() < 0.9 else None, (None, 1), *sections))
    return wikis, words


def keys(made):
    """The pairs by the first sentences of their sections, which no other section has."""
    return {
        tuple(made.sections[row[side]]["sentences"][0] for side in ("first", "second")): row["similarity"]
        for row in made.rows
    }


def test_the_order_of_pages_does_not_matter(tmp_path):
    wikis, words = random_wikis(1)
    made = command(tmp_path / "a", wikis, words)
    rng = np.random.default_rng(2)
    turned = {code: [pages[n] for n in rng.permutation(len(pages))] for code, pages in wikis.items()}
    again = command(tmp_path / "b", turned, words)
    assert keys(again) == keys(made) and len(made.rows) > 20
    assert again.record["sections"] == made.record["sections"] and again.record["dropped"] == made.record["dropped"]


def test_shards_and_batches_do_not_matter(tmp_path, monkeypatch):
    wikis, words = random_wikis(3)
    whole = command(tmp_path / "a", wikis, words)
    monkeypatch.setattr(section, "ENTITIES", 7)
    monkeypatch.setattr(section, "COMPARED", 5)
    monkeypatch.setattr("stele.artifacts.documents.GROUP_DOCUMENTS", 4)
    cut = command(tmp_path / "b", wikis, words, shards=3)
    assert files_digest(cut.folder) == files_digest(whole.folder) and len(whole.rows) > 20


def greedy(left, right, similarity):
    """Highest first, one row once: pair after pair."""
    chosen, used = [], set()
    for n in sorted(range(len(left)), key=lambda n: (-similarity[n], left[n], right[n])):
        if not {("left", left[n]), ("right", right[n])} & used:
            used |= {("left", left[n]), ("right", right[n])}
            chosen.append(n)
    return sorted(chosen)


@pytest.mark.parametrize("values", [2, 5, 1000])
def test_one_to_one_is_greedy(values):
    """Few values: nearly all are tied."""
    rng = np.random.default_rng(values)
    for size in (0, 1, 30, 200):
        both = np.unique(rng.integers(0, 25, (size, 2)), axis=0)
        both = both[rng.permutation(len(both))]
        similarity = rng.integers(0, values, len(both)) / values
        chosen = section.one_to_one(*both.T, similarity)
        assert chosen.tolist() == greedy(*both.T.tolist(), similarity.tolist())


def test_pairs_are_those_of_each_entity_by_itself(tmp_path):
    """All pages against brute force, with cosines by numpy in another way."""
    wikis, words = random_wikis(5)
    made = command(tmp_path, wikis, words, threshold=0.2, least_sentences=4)
    wanted = {}
    for first in wikis["en"]:
        for second in (p for p in wikis["es"] if first.entity is not None and p.entity == first.entity):
            sides = [(_vectors(p, words[code]), p) for code, p in (("en", first), ("es", second))]
            scores = {
                (i, j): round(float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)), 6)
                for i, a in sides[0][0].items()
                for j, b in sides[1][0].items()
                if np.linalg.norm(a) and np.linalg.norm(b)
            }
            above = [(*ij, score) for ij, score in scores.items() if score > 0.2]
            for n in greedy(*zip(*above, strict=True)) if above else []:
                i, j, score = above[n]
                spans_of = [_spans(p) for _, p in sides]
                if min(spans_of[0][i].end - spans_of[0][i].begin, spans_of[1][j].end - spans_of[1][j].begin) >= 4:
                    texts = first.sentences[spans_of[0][i].begin], second.sentences[spans_of[1][j].begin]
                    wanted[texts] = pytest.approx(score)
    assert keys(made) == wanted and len(wanted) > 30


def _spans(article):
    return spans(*zip(*article.sections, strict=True), len(article.sentences))


def _vectors(article, words):
    """place -> the sum of its heading's vectors, of sections that have one."""
    made = {}
    for place, span in enumerate(_spans(article)):
        own = [np.array(words[w].split(), float) for w in span.heading.split() if w in words]
        if own:
            made[place] = np.sum(own, axis=0)
    return made


# --- headings ---
def test_a_section_has_its_nearest_heading():
    assert spans([], [], 4) == [Span("", 0, 4)]
    assert spans(["A", "B"], [0, 0], 4) == [Span("B", 0, 4)]  # no lead
    assert collect([(3, spans(["A", "B"], [1, 3], 4)), (7, spans(["A"], [0], 2))]).place.tolist() == [1, 2, 0]


def test_terms_are_those_of_fasttexts_vocabulary():
    assert terms("Prämien, Ehrungen & Ämter", frozenset()) == ["prämien", "ehrungen", "ämter"]
    french = stop_words("fr", SectionRecipe(stop_words={"fr": "FRENCH"}))
    assert terms("D’un siècle à l’autre", french) == ["siècle", "autre"]
    assert terms("Ｆｉｎａｌ（２０２０）", frozenset()) == ["final", "2020"]
    assert terms("हिन्दी भाषा", frozenset()) == ["हिन्दी", "भाषा"]  # vowel signs are no letters
    assert stop_words("sw", SectionRecipe(stop_words={"fr": "FRENCH"})) == frozenset()


def test_a_heading_whose_terms_cancel_out_matches_nothing():
    words = WordVectors({"a": 0, "b": 1}, np.array([[1, 2], [-1, -2]], np.float32), {})
    vectors_of = HeadingVectors([["a", "b"], ["a", "zzz"], ["zzz"]], words)
    assert vectors_of.known.tolist() == [True, True, False]
    assert vectors_of.of(np.array([0, 1])).tolist() == [[0, 0], pytest.approx([5**-0.5, 2 * 5**-0.5])]


# --- what is refused, and what a failure leaves ---
def test_a_killed_run_leaves_nothing_and_the_next_is_whole(tmp_path):
    whole, inputs = command(tmp_path / "a"), given(tmp_path)
    killed(lambda: run(tmp_path, *inputs), kill_at(section_pairs, "write_pairs"))
    assert not (tmp_path / "pairs").exists() and list(tmp_path.glob(".pairs.*.stele-part"))
    again = run(tmp_path, *inputs)
    assert files_digest(again.folder) == files_digest(whole.folder) and not list(tmp_path.glob(".pairs.*"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"recipe": {"treshold": 0.3}}, "did you mean 'threshold'"),
        ({"recipe": {"threshold": 1.0}}, "threshold"),
        ({"recipe": {"stop_words": {"en": "ENGLISH"}}}, "stop_words.en: unknown list of stop words 'ENGLISH'"),
        ({"vectors": ["en"]}, "--vectors: want vectors of en, es, found en"),
        ({"part": ["en"]}, "two languages in order"),
    ],
)
def test_wrong_recipes_and_parts_are_refused(tmp_path, change, words):
    sources, bases, files = given(tmp_path, {code: WIKIS[code] for code in change.get("part", WIKIS)})
    files = {code: path for code, path in files.items() if code in change.get("vectors", files)}
    with pytest.raises(SteleError, match=words):
        run(tmp_path, sources, bases, files, **change.get("recipe", {}))
    assert not (tmp_path / "pairs").exists()


def test_a_section_recipe_is_refused_by_the_other_commands():
    for kind in (DocumentMethod, KnowledgeMethod):
        with pytest.raises(SteleError, match="section examples are made by `pairs section_pairs`"):
            load_method('{"method": "section"}', kind)


def test_languages_without_a_common_page_have_no_pairs(tmp_path, caplog):
    wikis = {"en": [page("a", 1, ("History", 5))], "es": [page("b", 2, ("Historia", 5))]}
    made = command(tmp_path, wikis)
    assert made.pairs == [] and made.sections == [] and made.record["pairs"] == made.record["candidates"] == 0
    assert "no pair of sections" in caplog.text
