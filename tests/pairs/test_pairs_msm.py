"""MSM's documents: the paper's sentences, the released code's blocks."""

from itertools import chain

import pytest
from mining_texts import EMPTY, FIRST, THAI, WORDS, ids, random_documents, text_of

from stele.pairs.mining.segments import pack


def flat(examples):
    return [segment for example in examples for segment in example]


def test_pack_by_hand():
    assert pack([3, 2, 4, 9, 1, 1], limit=5) == [0, 2, 3, 4, 6]  # 3+2 fits exactly | 4 | 9, too long, alone | 1+1
    assert pack([3, 2, 1], limit=5, separator=1) == [0, 1, 3]  # 3+1+2 does not; 2+1+1 does
    assert pack([1, 1, 1], limit=4, separator=1) == [0, 2, 3]
    assert pack([9], limit=5) == [0, 1]
    assert pack([], limit=5) == [0, 0]


def test_sentences_by_hand(mined):
    """Five sentences of 2, 3, 9, 1, 2 words; at most 2 a piece, 6 tokens (4 of text) each; the fifth is left alone."""
    sentences = text_of([2, 3, 9, 1, 2])
    made = mined([("a", sentences)], method="msm", sentences=2, sentence_tokens=6)
    assert made.examples == [[ids(sentences[0]), ids(sentences[1])], [ids(sentences[2])[:4], ids(sentences[3])]]
    assert made.record["dropped"] == {"short_tails": 1}
    assert made.record["counts"] == {"units_cut_by_tokens": 1}


def test_blocks_by_hand(mined):
    """10 tokens: <s>, the words, a </s> after each sentence. 1+3+1+2+1 = 8 fit, 4+1 more do not."""
    sentences = text_of([3, 2, 4, 4, 20, 8, 1])
    made = mined([("a", sentences)], method="msm", unit="blocks", block_tokens=10, sentences=2)
    one, two, three, four, five, six, last = map(ids, sentences)
    assert made.examples == [[one + two, three], [four, five[:8]], [six, last]]
    assert made.record["dropped"] == {}
    assert made.record["counts"] == {"units_cut_by_tokens": 1}


def test_blocks_drop_the_tail(mined):
    """Exactly `sentences` blocks a piece: of five, the fifth is dropped; a document of one block is dropped whole."""
    documents = [("a", text_of([8] * 5)), ("b", text_of([3]))]
    made = mined(documents, method="msm", unit="blocks", block_tokens=10, sentences=2)
    assert [len(example) for example in made.examples] == [2, 2]
    assert made.record["dropped"] == {"short_documents": 1, "short_tails": 1}
    looser = mined(documents, method="msm", unit="blocks", block_tokens=10, sentences=4, sentences_min=2)
    assert [len(example) for example in looser.examples] == [4]


@pytest.mark.parametrize("keys", [{"unit": "blocks", "block_tokens": 20, "sentences_min": 2}, {"unit": "sentences"}])
def test_units_are_the_token_stream(mined, keys):
    """Nothing is lost, doubled or reordered where no tail is dropped."""
    documents = random_documents(12)
    made = mined(documents, method="msm", **{"sentences": 500, **keys})
    stream = [ids(" ".join(sentences)) for _, sentences in documents]
    kept = [list(chain(*example)) for example in made.examples]
    assert kept == [tokens for tokens in stream if tokens in kept]
    assert len(documents) - len(kept) == made.record["dropped"].get("short_documents", 0)
    assert made.record["tokens"] == sum(map(len, kept)) and made.record["documents"] == 12


def test_examples_of_msm_keep_the_limits_of_tokens_and_sentences(mined):
    made = mined(random_documents(40, most=80, longest=90), method="msm")
    assert max(map(len, flat(made.examples))) == 62
    assert {len(example) for example in made.examples} <= set(range(2, 33)) and max(map(len, made.examples)) == 32
    blocks = mined(random_documents(40, most=80, longest=90), method="msm", unit="blocks")
    assert {len(example) for example in blocks.examples} == {32}
    assert max(map(len, flat(blocks.examples))) == 62


def test_a_sentence_of_msm_has_64_words_at_most(mined):
    """64 words and not one more; white space of any kind divides words."""
    sentences = [*text_of([64, 65]), "w1\u3000w2"]
    made = mined([("a", sentences)], method="msm", sentence_tokens=100)
    assert list(map(len, made.examples[0])) == [64, 64, 2]
    assert made.record["counts"] == {"sentences_cut_by_words": 1}
    assert list(
        map(len, mined([("a", sentences)], method="msm", sentence_words=None, sentence_tokens=100).examples[0])
    ) == [64, 65, 2]


def test_unspaced_script_is_cut_by_tokens_only(mined):
    """90 letters without a space are one word: 64 words do not limit them, the tokens do."""
    sentence = (THAI * 2)[:90]
    made = mined([("a", ["".join(sentence), "w1"])], method="msm", sentence_words=3, sentence_tokens=80)
    assert made.examples[0][0] == [FIRST + WORDS + THAI.index(letter) for letter in sentence][:78]
    assert made.record["counts"] == {"units_cut_by_tokens": 1}


def test_empty_sentences_are_no_units(mined):
    """A sentence that the tokenizer makes nothing of is no unit; a document of such is too short."""
    made = mined([("a", ["w1", EMPTY, "w2"]), ("b", [EMPTY, EMPTY]), ("c", ["w3", EMPTY])], method="msm")
    assert made.examples == [[[FIRST + 1], [FIRST + 2]]]
    assert made.record["dropped"] == {"empty_sentences": 4, "short_documents": 2}
