"""Momentum contrast: logits, queue and momentum by hand, the order of the released code, kills and processes."""

import copy
from functools import partial

import numpy as np
import pytest
import tiny_objectives
import torch
from kills import ends_the_same_after_a_kill
from tiny_objectives import HERE, objective_of, on_cpu, recipe

from stele.training.hidden_states import mean_states

setup, fit = partial(tiny_objectives.setup, "moco"), partial(tiny_objectives.fit, "moco")


def test_the_queue_begins_with_random_unit_vectors(stores):
    first, again, other = (setup(stores, seed=s)[2].heads["moco"].queue for s in (3, 3, 4))
    torch.testing.assert_close(first.norm(dim=1), torch.ones(24))
    assert torch.equal(first, again) and not torch.equal(first, other)


def test_losses_are_those_of_the_released_order(stores, tmp_path):
    """contriever's src/moco.py: the key encoder moves, then encodes, and the keys go into the queue within forward."""
    changes = {"groups": 1, "pairs": 8, "steps": 5, "queue": 28}  # the fourth step's keys go on at its beginning
    settled, made, module = setup(stores, **changes)
    query_encoder = copy.deepcopy(module.model).train()
    key_encoder = copy.deepcopy(query_encoder.base_model)
    queue, pointer = module.heads["moco"].queue.clone().T, 0
    optimiser = settled.optimiser(query_encoder)
    expected = []
    for step in range(5):
        batch = on_cpu(made["moco"].batch(step))
        q = mean_states(query_encoder.base_model, batch["query_ids"], batch["query_mask"])
        with torch.no_grad():
            for one, key in zip(query_encoder.base_model.parameters(), key_encoder.parameters(), strict=True):
                key.data = key.data * settled.momentum + one.data * (1 - settled.momentum)
            k = mean_states(key_encoder, batch["passage_ids"], batch["passage_mask"])
        logits = torch.cat([(q * k).sum(1, keepdim=True), q @ queue.clone()], dim=1) / settled.temperature
        loss = torch.nn.functional.cross_entropy(logits, torch.zeros(8, dtype=torch.long))
        queue[:, (pointer + np.arange(8)) % 28] = k.T
        pointer = (pointer + 8) % 28
        optimiser.zero_grad()
        loss.backward()
        optimiser.param_groups[0]["lr"] = settled.learning_rate_at(step)
        optimiser.step()
        expected.append(loss.item())
    found, outcome = fit(tmp_path, stores, **changes)
    torch.testing.assert_close(found.heads["moco"].queue.T, queue, atol=1e-4, rtol=1e-3)
    assert outcome["losses"]["moco"] == pytest.approx(expected[-1], rel=1e-3)
    assert found.heads["moco"].oldest == pointer == 12


def test_how_a_step_is_divided_changes_nothing(stores, monkeypatch):
    """Eight pairs in one group or in four: the same step's loss, and the same queue in the same order."""
    whole, found = setup(stores, groups=1, pairs=8)[1]["moco"].batch(0), {}
    whole.pop("vectors")
    for groups in (1, 4):
        module, losses = setup(stores, groups=groups, pairs=8 // groups)[2], []
        for rows in np.split(np.arange(8), groups):
            part = {name: None if value is None else value[rows] for name, value in whole.items()}
            losses.append(module("moco", on_cpu(part)))
        module.after_step(HERE)
        found[groups] = torch.stack(losses).mean().item(), module.heads["moco"].queue
    assert found[1][0] == pytest.approx(found[4][0], abs=1e-5)
    torch.testing.assert_close(found[1][1], found[4][1])


def test_killed_and_run_again_ends_in_the_same_bytes(tmp_path, stores):
    def seen(module):
        assert module["heads.moco.oldest"] == 4 * 8 % 24

    run = partial(fit, stores=stores, steps=9, save_every_seconds=0, dropout=0.1)
    again, _ = ends_the_same_after_a_kill(run, tmp_path, 5, seen)
    keys, queries = again.heads["moco"].key_encoder, again.model.base_model
    assert not torch.equal(keys.embeddings.word_embeddings.weight, queries.embeddings.word_embeddings.weight)


def test_a_query_has_the_queue_for_negatives():
    settled = recipe("moco", queue=32768, pairs=256, groups=8)
    objective = objective_of(settled)
    assert (objective.negatives(256), objective.vectors(), settled.examples("moco")) == (32768, 256, 256)
    assert settled.stores_read() == {"mlm"}
