"""Objectives as a whole: what a group holds, and each loss against the plain way to compute it."""

import math

import numpy as np
import pytest
import torch
from tiny_objectives import HERE, OWN, SHAPE, WORDS, WithHeads, hierarchical_loss, model, objective_of, on_cpu, recipe

from stele.errors import SteleError
from stele.training import objectives, tasks
from stele.training.contrastive_loss import in_batch_scores
from stele.training.sampling import Group, generator
from stele.training.store import Store, write_store


def made_task(objective, stores, **changes):
    settled = recipe(objective, **changes)
    return tasks.Task(objective, objective_of(settled), stores[settled.store_of(objective)], WORDS, seed=3)


def test_msm_is_its_parts_put_together(stores):
    task = made_task("msm", stores)
    encoder = model().train()
    torch.manual_seed(0)
    loss = WithHeads(task.objective, encoder)
    heads, made = loss.heads, task.batch(0)
    found = loss(encoder, on_cpu(made))
    rows = [torch.tensor(row[: (row != 1).sum()])[None] for row in made["ids"]]
    vectors = torch.cat([encoder.roberta(input_ids=row).last_hidden_state[:, 0] for row in rows])
    predictions = torch.cat([heads.encoders[0](d, (len(d),)) for d in vectors.split(list(made["counts"]))])
    keys, queries = heads.projectors[0].heads
    expected = hierarchical_loss(queries(predictions), keys(vectors), made["counts"], mu=0.5, temperature=0.1)
    assert found.item() == pytest.approx(expected.item(), abs=1e-4)


@pytest.mark.parametrize(
    ("changes", "encoders", "projectors"),
    [
        ({}, 1, 1),
        ({"document_encoder": "separate_english"}, 2, 1),
        ({"document_encoder": "separate_english", "heads": "separate_english"}, 2, 2),
    ],
)
def test_english_uses_its_own_parts_where_they_are_separate(stores, changes, encoders, projectors):
    task = made_task("msm", stores, **changes)
    encoder = model()
    loss = WithHeads(task.objective, encoder)
    heads = loss.heads
    assert (len(heads.encoders), len(heads.projectors)) == (encoders, projectors)
    for language in ("en", "sw"):
        heads.zero_grad()
        flat = stores["msm"][language].take(np.arange(3))
        made = task.objective.batch(flat, WORDS, Group(0, [(language, np.arange(3))]), generator(0))
        assert made["english"] is (language == "en")
        loss(encoder, on_cpu(made)).backward()
        used = [any(p.grad is not None for p in part.parameters()) for part in heads.encoders]
        assert used == ([True] if encoders == 1 else [language != "en", language == "en"])
        used = [any(p.grad is not None for p in part.parameters()) for part in heads.projectors]
        assert used == ([True] if projectors == 1 else [language != "en", language == "en"])


@pytest.mark.parametrize(
    ("changes", "negatives"),
    [({}, 511), ({"documents": 8}, 255), ({"documents": 128}, 4095), ({"intra_negatives": False}, 480)],
)
def test_negatives_of_the_paper_s_sizes(changes, negatives):
    settled = recipe("msm", **{"documents": 16, "sentences": 32, **changes})
    objective = objective_of(settled)
    assert objective.negatives(objective.vectors()) == negatives


@pytest.mark.parametrize("objective", ["msm", "crop", "ict"])
def test_new_weights_are_drawn_as_widely_as_the_model_s_own(objective):
    encoder = model()
    encoder.config.initializer_range = 0.5  # public checkpoints have .02 for 768 numbers a state
    heads = objective_of(recipe(objective)).heads(encoder)
    layers = [part for part in heads.modules() if isinstance(part, torch.nn.Linear | torch.nn.Embedding)]
    assert torch.cat([layer.weight.flatten() for layer in layers]).std().item() == pytest.approx(0.5, rel=0.1)


@pytest.mark.parametrize("family", ["xlm-roberta", "bert", "ernie"])
def test_mlm_equals_the_model_s_own_loss_on_labels(stores, family):
    task = made_task("mlm", stores)
    encoder = model(family)
    made = on_cpu(task.batch(1))
    labels = torch.full_like(made["ids"], -100)
    labels.view(-1)[made["places"]] = made["targets"]
    mask = torch.ones_like(labels) if made["mask"] is None else made["mask"].long()
    expected = encoder(input_ids=made["ids"], attention_mask=mask, labels=labels).loss
    found = WithHeads(task.objective, encoder)(encoder, made)
    assert found.item() == pytest.approx(expected.item(), abs=1e-4)


@pytest.mark.parametrize("chunk", [1, 3, 4])
def test_mlm_in_chunks_is_the_same_loss_with_the_same_gradients(stores, chunk):
    task = made_task("mlm", stores, mlm_sequences=7)
    encoder = model()
    made = on_cpu(task.batch(1))
    found = []
    for each in (None, chunk):
        encoder.zero_grad()
        loss = objective_of(recipe("mlm", mlm_sequences=7, encode_chunk=each)).loss(None, encoder, made)
        loss.backward()
        found.append((loss.item(), encoder.get_input_embeddings().weight.grad.clone()))
    assert found[0][0] == pytest.approx(found[1][0], abs=1e-5)
    assert torch.allclose(found[0][1], found[1][1], atol=1e-5)


def test_mlm_hides_the_share_that_the_recipe_says(stores):
    task = made_task("mlm", stores, mask_probability=0.4, mlm_sequences=20)
    made = [task.batch(n) for n in range(10)]
    tokens = sum((batch["ids"] != WORDS.pad).sum() - 2 * len(batch["ids"]) for batch in made)
    assert sum(len(batch["places"]) for batch in made) / tokens == pytest.approx(0.4, abs=0.06)


@pytest.mark.parametrize(("objective", "name"), [("kept", "crop"), ("kept", "ilk"), ("ict", "ict")])
def test_one_forward_of_both_sides_has_the_gradients_of_two(stores, monkeypatch, objective, name):
    """In float64: the order of float32 sums differs by the processor."""
    settled, encoder = recipe(objective, encode_chunk=8), model().double()
    task = tasks.new_tasks(settled, stores, WORDS, 3)[name]
    whole, calls = WithHeads(task.objective, encoder).double(), []
    encoder.base_model.embeddings.register_forward_hook(lambda *_: calls.append(1))
    losses, gradients = [], []
    for padding in (objectives.PADDING, -1):
        monkeypatch.setattr(objectives, "PADDING", padding)
        encoder.zero_grad()
        losses.append(whole(encoder, on_cpu(task.batch(1))))
        losses[-1].backward()
        gradients.append([p.grad.clone() for p in encoder.parameters() if p.grad is not None])
    assert len(calls) == 3, "one call, then two"
    assert torch.allclose(losses[0], losses[1], atol=1e-6) and len(gradients[0]) == len(gradients[1]) > 20
    assert all(torch.allclose(*pair, atol=1e-6) for pair in zip(*gradients, strict=True))


SAME = np.array([9, 8, 7])
PAIRS = [[np.array([11, 12]), SAME], [np.array([21]), SAME], [np.array([31, 32]), np.array([33, 34])]]
TWICE = {  # examples in which one text stands twice, and what a recipe says of them
    "msm": ([[SAME, np.array([9])], [SAME, np.array([10])]], dict(documents=2, sentences=2)),
    "crop": ([pair[::-1] for pair in PAIRS], dict(pairs=3)),
    "ict": (PAIRS, dict(pairs=3)),
    "kept": (PAIRS, dict(pairs=3, tasks=["ilk"], groups=1, temperature=5.0)),
}


@pytest.mark.parametrize("objective", list(TWICE))
def test_duplicates_are_counted_and_are_no_negatives_where_the_recipe_says_so(tmp_path, objective):
    examples, changes = TWICE[objective]
    write_store(tmp_path, examples)
    numbers = np.arange(len(examples))
    flat, encoder, losses = Store(tmp_path).take(numbers), model(), []
    for masked in (True, False):
        chosen = objective_of(recipe(objective, mask_duplicates=masked, **changes))
        made = chosen.batch(flat, WORDS, Group(0, [("en", numbers)]), generator(0))
        assert made["duplicates"] == 1
        torch.manual_seed(0)
        losses.append(WithHeads(chosen, encoder)(encoder, on_cpu(made)).item())
    assert losses[0] < losses[1]


def test_crop_by_its_definition(stores):
    task = made_task("crop", stores)
    encoder = model()
    torch.manual_seed(0)
    loss = WithHeads(task.objective, encoder)
    made = on_cpu(task.batch(0))
    mask = None if made["mask"] is None else made["mask"].long()
    vectors = encoder.roberta(input_ids=made["ids"], attention_mask=mask).last_hidden_state[:, 0]
    keys, queries = loss.heads.heads[0](vectors[0::2]), loss.heads.heads[1](vectors[1::2])
    cosines = torch.nn.functional.cosine_similarity(queries[:, None], keys[None], dim=-1)
    expected = torch.nn.functional.cross_entropy(cosines / 0.1, torch.arange(4))
    assert made["duplicates"] == 0
    assert loss(encoder, made).item() == pytest.approx(expected.item(), abs=1e-4)


def test_ict_by_its_definition(stores):
    task = made_task("ict", stores)
    encoder = model()
    loss = WithHeads(task.objective, encoder).eval()
    raw = task.batch(0)
    ((language, indices),) = task.sampler.draw(0)
    pairs = [stores["ict"][language][i] for i in np.sort(indices)]
    sides = []
    for side, longest in ((0, 6), (1, 12)):
        rows = [torch.tensor([0, *pair[side].tolist()[: longest - 2], 2])[None] for pair in pairs]
        states = [encoder.roberta(input_ids=row).last_hidden_state[0, 0] for row in rows]
        sides.append(loss.heads(torch.stack(states)))
    expected = torch.nn.functional.cross_entropy(sides[0] @ sides[1].T, torch.arange(4))
    assert loss(encoder, on_cpu(raw)).item() == pytest.approx(expected.item(), abs=1e-4)
    assert sides[0].shape == (4, 8)


@pytest.mark.parametrize(("objective", "wrong"), [("crop", "msm"), ("ict", "mlm"), ("mlm", "crop"), ("kept", "msm")])
def test_examples_of_another_method_are_refused(stores, objective, wrong):
    flat = stores[wrong]["en"].take(np.arange(4))
    with pytest.raises(SteleError, match="mined by another method"):
        objective_of(recipe(objective)).batch(flat, WORDS, Group(0, [("en", np.arange(4))]), generator(0))


@pytest.mark.parametrize("objective", list(OWN))
def test_batches_are_functions_of_seed_and_number(stores, objective):
    first, again = (tasks.new_tasks(recipe(objective), stores, WORDS, 3) for _ in range(2))
    for task, made in first.items():
        others = again[task].batch(2)
        for name, value in made.batch(2).items():
            other = others[name]
            assert (value == other).all() if isinstance(value, np.ndarray) else value == other


# --- scores of a group ------------------------------------------------------------------------------------------------
def test_scores_by_hand():
    queries = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    passages = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    mask = torch.tensor([[False, False, True], [False, False, False]])
    scores = in_batch_scores(queries, passages, torch.tensor([0, 2]), mask, temperature=0.5)
    assert scores.tolist() == [[2.0, 0.0, -math.inf], [0.0, 4.0, 4.0]]


@pytest.mark.parametrize(
    ("passages", "mask"),
    [(1, None), (2, torch.tensor([[False, True], [False, False]]))],
    ids=["one passage", "all but the positive masked"],
)
def test_a_contrastive_loss_over_one_candidate_is_refused(passages, mask):
    with pytest.raises(SteleError, match="no candidate besides its own positive"):
        in_batch_scores(torch.randn(2, 3), torch.randn(passages, 3), torch.zeros(2, dtype=torch.long), mask)


def test_masking_a_positive_is_refused():
    with pytest.raises(SteleError, match="hides a positive"):
        in_batch_scores(torch.randn(1, 3), torch.randn(3, 3), torch.tensor([1]), torch.tensor([[False, True, False]]))


# --- the groups of a step: what they are, how much they weigh, and what is counted of them ----------------------------
class Nothing(torch.nn.Module):
    def forward(self, task, batch, processes):
        return torch.zeros(())

    def figures(self, task):
        return {}


def test_groups_vectors_and_operations_are_counted(stores):
    settled = recipe("msm")
    made, actual = tasks.new_tasks(settled, stores, WORDS, 3), {}

    for step in range(settled.steps):
        for named in tasks.losses(made, Nothing(), settled, HERE, SHAPE).loss_at(step):
            for name, value in named.items():
                if isinstance(value, int):
                    actual[name] = actual.get(name, 0) + value
                else:
                    assert value[1] == 1 / 5, "the weight of a group"
    assert (actual["groups_msm"], actual["groups_mlm"]) == (12, 8)
    groups = {name: [task.batch(n) for n in range(actual[f"groups_{name}"])] for name, task in made.items()}
    assert actual["vectors_msm"] == sum(sum(group["counts"]) for group in groups["msm"]) < 12 * 3 * 4
    assert "vectors_mlm" not in actual
    spent = sum(made[name].objective.flops(group, SHAPE) for name in groups for group in groups[name])
    assert actual["flops"] == pytest.approx(spent, rel=1e-6)


def test_mlm_alone_fills_all_groups(stores):
    settled = recipe("mlm")
    assert list(tasks.new_tasks(settled, stores, WORDS, 3)) == ["mlm"]
    assert list(tasks.new_tasks(recipe("msm", mlm_share=0.0), stores, WORDS, 3)) == ["msm"]
    assert list(tasks.new_tasks(recipe("ict", mlm_share=0.0), stores, WORDS, 3)) == ["ict"]
