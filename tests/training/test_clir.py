"""The CLIR language model: packed pairs, what is drawn and hidden, both losses by hand, and rounds."""

from collections import Counter

import numpy as np
import pytest
import torch
from tiny_objectives import WORDS, WithHeads, model, objective_of, on_cpu, recipe
from tiny_sections import flat, random_sections, section_store
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers.models.bert.modeling_bert import BertPooler

from stele.errors import SteleError
from stele.recipes.pretraining import parse_recipe
from stele.training import tasks
from stele.training.heads import vocabulary_head
from stele.training.objectives.clir import draw_negatives, draw_pairs
from stele.training.sampling import Group, generator
from stele.training.text_pairs import pack


def one_batch(task, settled, store, n=0):
    objective = objective_of(settled, task)
    group = Group(n, [("en-sw", np.arange(min(len(store), settled.pairs)))])
    rng = generator(n)
    return objective.batch(objective.take({"en-sw": store}, group, rng), WORDS, group, rng)


def test_a_query_and_its_document_in_one_sequence():
    packed = pack(flat([[11, 12], [13]]), flat([[21, 22, 23], [24]]), WORDS, longest=20)
    cls, sep, pad = WORDS.cls, WORDS.sep, WORDS.pad
    assert packed["ids"].tolist() == [[cls, 11, 12, sep, 21, 22, 23, sep], [cls, 13, sep, 24, sep, pad, pad, pad]]
    assert packed["types"].tolist() == [[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 0, 0, 0]]
    assert packed["mask"].sum(1).tolist() == [8, 5]
    assert pack(flat([[11]]), flat([[21, 22]]), WORDS, longest=20)["mask"] is None


def test_pairs_are_those_of_a_tokenizer_that_cuts_the_longer_text_first():
    made = Tokenizer(models.WordLevel({f"t{i}": i for i in range(90)}, unk_token="t3"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.BertProcessing(("t2", WORDS.sep), ("t0", WORDS.cls))
    made.enable_truncation(13, strategy="longest_first")
    rng = np.random.default_rng(0)
    for first, second in rng.integers(1, 19, (300, 2)):
        texts = [rng.integers(5, 90, size) for size in (first, second)]
        packed = pack(flat(texts[:1]), flat(texts[1:]), WORDS, longest=13)
        theirs = made.encode(*(" ".join(f"t{i}" for i in text) for text in texts))
        assert (packed["ids"][0].tolist(), packed["types"][0].tolist()) == (theirs.ids, theirs.type_ids)


def test_an_empty_sentence_is_refused():
    with pytest.raises(SteleError, match="holds an empty query or document"):
        pack(flat([np.zeros(0, int), [5]]), flat([[6], [7]]), WORDS, longest=9)


PAGES = [[[[[10], [11]], [[12]]], [[[13]]]], [[[[20], [21], [22]]], [[[23]], [[24]], [[25]]]]]


@pytest.fixture
def store(tmp_path):
    return section_store(tmp_path, PAGES, [(0, 3), (2, 4)])  # 2 is alone on its page, that of 4 has two others


def test_a_query_is_a_sentence_of_either_section_and_the_document_the_other_one(store):
    queries, documents, sides = draw_pairs(store, np.zeros(2000, int), generator(0))
    seen = Counter(zip(queries.tokens.tolist(), documents.tolist(), sides.tolist(), strict=True))
    expected = {(10, 3, 1): 500, (11, 3, 1): 500, (20, 0, 0): 333, (21, 0, 0): 333, (22, 0, 0): 333}
    assert seen.keys() == expected.keys()
    assert all(abs(seen[key] - number) < 90 for key, number in expected.items())


@pytest.mark.parametrize(
    ("document", "side", "page", "language"),
    [(0, 0, [1], [1, 2]), (2, 0, [], [0, 1]), (4, 1, [5, 6], [3, 5, 6]), (3, 1, [], [4, 5, 6])],
)
def test_negatives_are_of_the_page_as_often_as_it_has_others_and_never_the_document(
    store, document, side, page, language
):
    """Without others none is hard; a random one may be of the page, too."""
    negatives, hard = draw_negatives(store, np.full(20000, document), np.full(20000, side), generator(1))
    share = 1 - 0.75 ** len(page)
    assert hard.mean() == pytest.approx(share, abs=0.02)
    assert set(negatives[hard]) == set(page) and set(negatives[~hard]) == set(language)
    for each in language:
        expected = (share / len(page) if each in page else 0) + (1 - share) / len(language)
        assert (negatives == each).mean() == pytest.approx(expected, abs=0.02)


def test_a_language_of_one_section_has_no_negatives(tmp_path):
    store = section_store(tmp_path, [[[[[10]]]], [[[[20]]]]], [(0, 1)])
    with pytest.raises(SteleError, match="a language with a single section has no negatives"):
        draw_negatives(store, np.array([0]), np.array([0]), generator(0))


@pytest.mark.parametrize(("mask", "hidden"), [("query", {0}), ("document", {1}), ("both", {0, 1})])
@pytest.mark.parametrize("probability", [0.15, 0.45])
def test_qlm_hides_tokens_of_the_query_alone_and_its_variants_those_they_say(tmp_path, mask, hidden, probability):
    store = random_sections(tmp_path)
    settled = recipe("clir", mask=mask, mask_probability=probability, pairs=12)
    chosen = ordinary = 0
    for n in range(60):
        made = one_batch("qlm", settled, store, n)
        types, ids = made["types"].ravel(), made["ids"].ravel().copy()
        assert set(types[made["places"]]) <= hidden
        ids[made["places"]] = made["targets"]
        assert not np.isin(made["targets"], WORDS.special).any()
        chosen += len(made["places"])
        ordinary += (~np.isin(ids, WORDS.special) & np.isin(types, list(hidden))).sum()
    assert chosen / ordinary == pytest.approx(probability, abs=0.03)


@pytest.mark.parametrize("chunk", [None, 3])
def test_qlm_is_the_cross_entropy_of_the_hidden_tokens(tmp_path, chunk):
    settled, encoder = recipe("clir", encode_chunk=chunk), model("bert")
    made = on_cpu(one_batch("qlm", settled, random_sections(tmp_path)))
    states = encoder.bert(made["ids"], made["mask"].long(), made["types"]).last_hidden_state.flatten(0, 1)
    logits = vocabulary_head(encoder)(states[made["places"]])
    expected = torch.nn.functional.cross_entropy(logits, made["targets"])
    assert objective_of(settled, "qlm").loss(None, encoder, made).item() == pytest.approx(expected.item(), abs=1e-5)


@pytest.mark.parametrize("ranking", ["pairwise", "pointwise"])
def test_rr_scores_a_query_with_its_document_and_with_a_negative(tmp_path, ranking):
    settled, encoder, store = recipe("clir", ranking=ranking), model("bert").eval(), random_sections(tmp_path)
    encoder.bert.pooler = BertPooler(encoder.config)
    made = one_batch("rr", settled, store)
    scorer = WithHeads(objective_of(settled, "rr"), encoder).eval()
    found, logits = scorer(encoder, on_cpu(made)).item(), []
    for row in range(8):
        there = slice(None) if made["mask"] is None else made["mask"][row]
        ids, types = (torch.from_numpy(made[name][row][there])[None] for name in ("ids", "types"))
        out = encoder.bert(ids, token_type_ids=types)
        state = out.last_hidden_state[:, 0] if ranking == "pairwise" else out.pooler_output
        logits.append(scorer.heads["score"](state)[0])
    if ranking == "pairwise":
        losses = [-torch.log_softmax(torch.cat(logits[row::4]), 0)[0] for row in range(4)]
    else:
        losses = [-torch.log_softmax(each, 0)[1 if row < 4 else 0] for row, each in enumerate(logits)]
    assert found == pytest.approx(torch.stack(losses).mean().item(), abs=1e-5)
    queries = [row[1 : list(row).index(WORDS.sep)].tolist() for row in made["ids"]]
    assert queries[:4] == queries[4:], "one query before both documents"
    assert {name: tuple(w.shape) for name, w in scorer.objective.kept_weights(scorer.heads).items()} == (
        {"weight": (1, 16)} if ranking == "pairwise" else {"weight": (2, 16), "bias": (2,)}
    )


@pytest.mark.parametrize(
    ("task", "types", "message"),
    [
        ("rr", 2, "needs a pooler, but the checkpoint has none"),
        ("rr", 1, "RR: found a bert model without two token types"),
        ("qlm", 1, "QLM: found a bert model without two token types"),  # as XLM-R, on which its first step failed
    ],
)
def test_checkpoints_that_cannot_be_trained_are_refused(task, types, message):
    encoder = model("bert")
    encoder.config.type_vocab_size = types
    with pytest.raises(SteleError, match=message):
        objective_of(recipe("clir", ranking="pointwise"), task).heads(encoder)


@pytest.mark.parametrize("order", [["rr", "qlm"], ["qlm", "rr"], ["qlm"]])
def test_a_round_has_each_language_pair_once_for_one_task_then_for_the_next(stores, order):
    settled = recipe("clir", tasks=order, steps=30)
    made = tasks.new_tasks(settled, stores, WORDS, 3)
    pairs, orders = ["en-sw", "en-th", "sw-th"], set()
    steps = [tasks.scheduled(step, settled, 3) for step in range(30)]
    for begin in range(0, 30, 3):
        (name,) = {name for name, _ in steps[begin : begin + 3]}
        assert name == order[begin // 3 % len(order)]
        drawn = [made[name].sampler.draw(n)[0][0] for _, n in steps[begin : begin + 3]]
        assert sorted(drawn) == pairs
        orders.add(tuple(drawn))
    assert len(orders) > 1, "the order is drawn for the round"
    assert all(task.sampler.in_a_row == 3 for task in made.values())
    numbers = [n for name, n in steps if name == order[0]]
    assert numbers == list(range(len(numbers)))


def test_a_pass_over_a_language_pair_has_every_pair_of_sections_once(stores):
    settled = recipe("clir", pairs=3, steps=24)
    task = tasks.new_tasks(settled, stores, WORDS, 3)["rr"]
    passes = [draw[0][1] for n in range(12) if (draw := task.sampler.draw(n))[0][0] == "en-th"]
    assert sorted(np.concatenate(passes).tolist()) == list(range(12))


def test_without_query_language_modelling_nothing_is_hidden():
    values = recipe("clir").given()
    assert parse_recipe(values | {"tasks": ["rr"], "mask_probability": None}).own_tasks() == ["rr"]
