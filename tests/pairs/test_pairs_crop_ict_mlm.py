"""CROP, ICT and MLM examples."""

from collections import Counter

import numpy as np
import pytest
from mining_texts import EMPTY, ids, random_documents, text_of

from stele.pairs.methods.crop import neighbours


@pytest.mark.parametrize(("size", "window"), [(2, 5), (7, 2), (32, 5)])
def test_neighbours_are_all_equally_likely(size, window):
    """Every place within the window but its own, each as often as the others (4 standard deviations)."""
    draws = 4000
    rng = np.random.default_rng(0)
    drawn = np.stack([neighbours(size, window, rng) for _ in range(draws)])
    for place in range(size):
        allowed = {other for other in range(size) if 0 < abs(other - place) <= window}
        actual = Counter(drawn[:, place].tolist())
        assert set(actual) == allowed
        share = 1 / len(allowed)
        assert all(abs(n - draws * share) <= 4 * np.sqrt(draws * share * (1 - share)) for n in actual.values())


def test_each_sentence_of_crop_has_a_neighbour_within_its_window(mined):
    """Each sentence is the anchor once, in order; its neighbour is another one of its piece, at most 3 away."""
    documents = [("a", text_of([4] * 25)), ("b", text_of([5] * 2, 500)), ("c", text_of([5], 900))]
    made = mined(documents, method="crop", window=3, sentences=10)
    places = {tuple(ids(s)): (doc, i) for doc, sentences in documents for i, s in enumerate(sentences)}
    pairs = [(places[tuple(a)], places[tuple(b)]) for a, b in made.examples]
    assert [anchor for anchor, _ in pairs] == [("a", i) for i in range(25)] + [("b", 0), ("b", 1)]
    assert all(a[0] == b[0] and 0 < abs(a[1] - b[1]) <= 3 and a[1] // 10 == b[1] // 10 for a, b in pairs)
    assert made.record["dropped"] == {"short_documents": 1}
    assert {b[1] - a[1] for a, b in pairs} == {-3, -2, -1, 1, 2, 3}


def test_crop_of_blocks(mined):
    made = mined([("a", text_of([8] * 5))], method="crop", unit="blocks", block_tokens=10, sentences=2)
    assert [a + b for a, b in made.examples[:2]] == [
        made.examples[0][0] + made.examples[1][0],
        made.examples[1][0] + made.examples[0][0],
    ]
    assert len(made.examples) == 4 and made.record["dropped"] == {"short_tails": 1}


def test_ict_query_and_block(mined):
    """The query is a sentence; its block is the packed block with or, nine times in ten, without it."""
    documents = random_documents(400, most=60)
    made = mined(documents, method="ict", block_tokens=32, query_tokens=8)
    blocks, single = [], 0
    for _, sentences in documents:
        block = []
        for sentence in [ids(s) for s in sentences]:
            if block and sum(map(len, block)) + len(sentence) > 30:
                blocks.append(block)
                block = []
            block.append(sentence)
        blocks.append(block)
    single = sum(len(block) == 1 for block in blocks)
    blocks = [block for block in blocks if len(block) > 1]
    assert len(made.examples) == len(blocks) and made.record["dropped"] == {"single_sentence_blocks": single}
    removed, chosen = 0, Counter()
    for (query, rest), block in zip(made.examples, blocks, strict=True):
        place = next(i for i, sentence in enumerate(block) if sentence[:6] == query)
        without = [token for i, sentence in enumerate(block) if i != place for token in sentence]
        assert rest in (without, [token for sentence in block for token in sentence])
        removed += rest == without
        assert (rest == without) == (not set(query) & set(rest))
        chosen[len(block), place] += 1
    n = len(blocks)
    assert n > 1000 and abs(removed - 0.9 * n) <= 4 * np.sqrt(n * 0.9 * 0.1)
    assert made.record["counts"]["queries_removed"] == removed
    assert len({place for size, place in chosen if size == 5}) == 5  # any sentence of a block may be the query


@pytest.mark.parametrize(("removal", "words"), [(0.0, 9), (1.0, 6)])
def test_ict_removal_never_and_always(mined, removal, words):
    made = mined([(f"d{i}", text_of([3, 3, 3])) for i in range(50)], method="ict", removal=removal)
    assert {len(block) for _, block in made.examples} == {words}


def test_ict_several_queries_are_different(mined):
    made = mined([("a", text_of([3, 4, 5]))], method="ict", queries_per_block=2)
    assert len(made.examples) == 2 and made.examples[0][0] != made.examples[1][0]
    assert len(mined([("a", text_of([3, 4, 5]))], method="ict", queries_per_block=9).examples) == 3


def test_queries_and_blocks_of_ict_have_the_published_lengths(mined):
    """The published lengths: a query has at most 62 tokens, a block 286; a sentence longer than that stands alone."""
    sentences = text_of([100, 100, 86, 287, 5, 6])
    made = mined([("a", sentences)], method="ict", removal=0)
    assert [len(block) for _, block in made.examples] == [286, 11]
    assert len(made.examples[0][0]) == 62
    assert made.record["dropped"] == {"single_sentence_blocks": 1}


def test_mlm_stretches_are_the_text(mined):
    """254 tokens a stretch across sentences; the last one as long as the text allows, if it has `least` tokens."""
    documents = [
        ("a", text_of([100] * 6)),
        ("b", text_of([7, 8], 700)),
        ("c", text_of([30, 31, 195], 800)),
        ("d", text_of([3])),
        ("e", [EMPTY]),
    ]
    made = mined(documents, method="mlm", least=15)
    a, b, c = (ids(" ".join(sentences)) for _, sentences in documents[:3])
    assert made.examples == [[a[:254]], [a[254:508]], [a[508:]], [b], [c[:254]]]
    assert made.record["dropped"] == {"empty_sentences": 1, "short_documents": 2, "short_tails": 1}
    assert made.record["tokens"] == 600 + 15 + 254
