"""CCP's loss, bank, normalisation and windows, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from tiny_objectives import OWN, SMALL, objective_of, recipe

from stele.errors import SteleError
from stele.recipes.pretraining import parse_recipe
from stele.training.heads import RunningNorm
from stele.training.objectives._ccp_bank import MemoryBank
from stele.training.objectives._ccp_heads import context_loss
from stele.training.objectives.ccp import draw, same_window, sentences
from stele.training.sampling import Group, generator
from stele.training.store import Flat

CENTRES, PARTNERS = [[1.0, 0.0], [0.0, 1.0]], [[0.6, 0.8], [0.8, 0.6]]
BANK = torch.tensor([[-1.0, 0.0], [1.0, 0.0], [9.0, 9.0]]), torch.tensor([0, 1, -1])  # own, foreign, an empty place
OWN_PARTNERS = torch.eye(2).bool()


def loss(positives=OWN_PARTNERS, bank=BANK, tags=(0, 0), vectors=None, **changes):
    chosen = {"temperature": 0.5, "candidates": "other_side", "bank_languages": "own", **changes}
    vectors = torch.tensor(CENTRES + PARTNERS) if vectors is None else vectors
    return context_loss(vectors, torch.tensor(tags), positives, bank, SimpleNamespace(**chosen))


def test_both_directions_among_group_and_bank():
    """c -> i: .92924 and 1.02712; i -> c: .94877 and .93713."""
    found, figures = loss()
    assert found.item() == pytest.approx((0.92924 + 1.02712 + 0.94877 + 0.93713) / 4, abs=1e-5)
    assert found.item() == pytest.approx(0.96057, abs=1e-5)
    assert figures["chance"].item() == pytest.approx(np.log(3)), "two of the group, one of the bank"
    assert (figures["accuracy"].item(), figures["guess"].item()) == (0.0, 0.5), "every other partner is nearer"
    assert figures["cosine"].item() == pytest.approx((0.0 + 0.96) / 2)


def test_the_own_side_s_sentences_are_candidates_where_both_sides_are():
    found, figures = loss(candidates="both_sides")
    assert found.item() == pytest.approx(1.30820, abs=1e-5)
    assert figures["chance"].item() == pytest.approx(np.log(4)), "all but the sentence itself"


def test_a_shared_bank_lets_foreign_sentences_in_and_no_empty_place():
    """The first term c -> i is then 1.55985."""
    only = torch.zeros(2, 2).bool()
    only[0, 0] = True
    forward, backward = 1.55985, -1.2 + np.log(np.exp([1.2, 1.6, -1.2, 1.2]).sum())
    assert loss(only, bank_languages="shared")[0].item() == pytest.approx((forward + backward) / 2, abs=1e-5)
    assert loss(bank_languages="shared")[1]["chance"].item() == pytest.approx(np.log(4))


def test_two_contexts_of_one_window_are_four_terms_a_direction():
    """m of Algorithm 1: c -> i .77818; the denominators have all candidates."""
    found, _ = loss(torch.ones(2, 2).bool())
    backward = [np.log(np.exp(row).sum()) - np.array(row[:2]) for row in ([1.2, 1.6, -1.2], [1.6, 1.2, -1.6])]
    assert found.item() == pytest.approx((0.77818 + np.mean(backward)) / 2, abs=1e-5)


def test_sentences_of_other_languages_in_the_group_are_no_candidates():
    found, figures = loss(tags=(0, 1))
    rows = [([1.2, -2.0]), ([1.2, 0.0]), ([1.2, -1.2]), ([1.2, 1.6])]  # own partner, own entry of the bank
    assert found.item() == pytest.approx(np.mean([np.log(np.exp(row).sum()) - row[0] for row in rows]), abs=1e-5)
    assert figures["guess"].item() == 1.0 and figures["accuracy"].item() == 1.0


def test_without_a_bank_the_group_is_all_there_is():
    found, figures = loss(bank=None)
    rows = [[1.2, 1.6], [1.2, 1.6]]  # own and other, the same in both directions
    assert found.item() == pytest.approx(np.mean([np.log(np.exp(row).sum()) - row[0] for row in rows]), abs=1e-5)
    assert figures["chance"].item() == pytest.approx(np.log(2))


def test_the_bank_is_first_in_first_out_across_its_end():
    bank = MemoryBank(size=5, width=1)
    for first, expected in ((1, [1, 2, 0, 0, 0]), (3, [1, 2, 3, 4, 0]), (5, [6, 2, 3, 4, 5])):
        bank.push(torch.tensor([[float(first)], [first + 1.0]]), torch.tensor([0, 1]))
        assert bank.vectors.flatten().tolist() == expected
    assert bank.tags.flatten().tolist() == [1, 1, 0, 1, 0] and bank.pushed.tolist() == [6]


def test_a_bank_for_each_language():
    bank = MemoryBank(size=2, width=1, queues=3)
    bank.push(torch.arange(1.0, 6.0)[:, None], torch.tensor([0, 2, 2, 0, 2]))
    assert bank.vectors[..., 0].tolist() == [[1, 4], [0, 0], [5, 3]] and bank.pushed.tolist() == [2, 0, 3]
    vectors, tags = bank.entries([0, 1])
    assert vectors.flatten().tolist() == [1, 4, 0, 0] and tags.tolist() == [0, 0, -1, -1]
    assert bank.entries([2])[1].tolist() == [2, 2]


def test_batch_side_and_running_side():
    """h (1, 3): the batch side has (-1, 1), the running side, fresh, (1, 3); statistics become .2 and 1.1."""
    batch, norm = torch.tensor([[1.0], [3.0]]), RunningNorm(1)
    by_batch, by_running = (norm(batch, kind).flatten().tolist() for kind in (True, False))
    assert by_batch == pytest.approx([-1.0, 1.0]) and by_running == pytest.approx([1.0, 3.0])
    assert (norm.mean.item(), norm.variance.item()) == (0.0, 1.0), "not before the step ends"
    norm.update(norm.seen)
    assert (norm.mean.item(), norm.variance.item()) == (pytest.approx(0.2), pytest.approx(1.1))
    assert norm(batch, False).flatten().tolist() == pytest.approx(((batch.flatten() - 0.2) / 1.1**0.5).tolist())


@pytest.mark.parametrize(
    ("changes", "reach"),
    [
        ({"window": 2}, (0, 1)),
        ({"window": 3}, (1, 1)),
        ({"window": 5}, (2, 2)),
        ({"window": 5, "window_counts": "radius"}, (5, 5)),
        ({"window": 1, "window_counts": "radius"}, (1, 1)),
    ],
)
def test_windows_as_table_6_counts_and_as_a_radius(changes, reach):
    assert recipe("ccp", **changes).reach == reach


@pytest.mark.parametrize("changes", [{}, {"candidates": "both_sides"}, {"bank_languages": "shared"}, {"bank": None}])
def test_a_tag_for_each_or_one_for_all_is_the_same(changes):
    each, one = loss(**changes), loss(tags=(0,), **changes)
    assert torch.equal(each[0], one[0]) and each[1] == one[1]


@pytest.mark.parametrize(("reach", "size"), [((0, 1), 5), ((1, 1), 2), ((2, 2), 6), ((5, 5), 3)])
def test_partners_are_the_sentences_of_a_window_that_ends_with_its_document(reach, size):
    drawn = [draw(np.full(200, size), reach, generator(n)) for n in range(5)]
    centres, partners = np.concatenate(drawn, axis=1)
    found = set(zip(centres.tolist(), partners.tolist(), strict=True))
    near = [(c, p) for c in range(size) for p in range(size) if c != p and -reach[0] <= p - c <= reach[1]]
    assert found == set(near)
    counts = np.bincount(centres)
    assert counts.min() > 0.7 * counts.mean(), "those at the ends as often as the others"


def test_tokens_are_those_of_centre_and_partner():
    flat = Flat(np.array([1, 1, 2, 3, 3, 3, 4, 5, 5]), np.array([2, 1, 3, 1, 2]), np.array([3, 2]))
    tokens, lengths = sentences(flat, np.array([2, 0]), np.array([0, 1]))
    assert tokens.tolist() == [3, 3, 3, 1, 1, 4, 5, 5] and lengths.tolist() == [3, 2, 1, 2]


def test_sentences_of_one_window_are_positives_of_each_other():
    """A document that stands in a group twice: partner 4 is not in the window of centre 1, nor in its own."""
    group = Group(0, [("en", np.array([7, 7])), ("sw", np.array([7, 8]))])
    found = same_window(group, np.array([1, 3, 1, 1]), np.array([2, 4, 2, 2]), (2, 2))
    assert found.tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    twice = Group(0, [("en", np.array([7, 7]))])
    assert same_window(twice, np.array([1, 2]), np.array([2, 1]), (2, 2)).tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("pairs", [1, 0, "many"])
def test_a_group_that_is_none_is_one_error_where_its_size_makes_the_step(pairs):
    values = {**SMALL, **OWN["ccp"], "objective": "ccp", "step_pairs": 12, "pairs": pairs}
    values = {name: value for name, value in values.items() if name not in ("groups", "mlm_sequences")}
    with pytest.raises(SteleError) as error:
        parse_recipe(values, "mine")
    assert str(error.value).startswith("mine: pairs: ") and "\n" not in str(error.value)


def test_a_bank_holds_the_groups_of_a_step_that_are_not_mlm_s():
    assert recipe("ccp", bank=12).banked_a_step == 12 == 3 * OWN["ccp"]["pairs"] and SMALL["mlm_share"] == 0.4
    assert recipe("ccp", groups=64, mlm_share=0.5, pairs=32, bank=1024).banked_a_step == 1024


def test_documents_of_one_sentence_have_no_context():
    with pytest.raises(SteleError, match="CCP: found a document of one sentence, want at least two"):
        draw(np.array([3, 1]), (1, 1), generator(0))


@pytest.mark.parametrize(
    ("changes", "negatives"),
    [({}, 31 + 32768), ({"bank": 0}, 31), ({"candidates": "both_sides", "bank": 0}, 62)],
)
def test_negatives_of_the_paper_s_sizes(changes, negatives):
    objective = objective_of(recipe("ccp", **{"pairs": 32, "bank": 32768, **changes}))
    assert objective.negatives(objective.vectors()) == negatives
