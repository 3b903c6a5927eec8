"""CCP trained: whose turn it is, what enters bank and statistics and when, kills, divergence, the age of the bank."""

import math
import re
from functools import partial

import pytest
import tiny_objectives
import torch
from kills import ends_the_same_after_a_kill, same
from tiny_objectives import HERE, objective_of, on_cpu, recipe

from stele.errors import SteleError
from stele.training.hidden_states import first_states
from stele.training.objectives import _ccp_heads

setup, fit = (partial(made, "ccp", mlm_share=0.0, groups=2) for made in (tiny_objectives.setup, tiny_objectives.fit))

diverged = partial(objective_of(recipe("ccp")).diverged, task="ccp", chance=math.nan)


def groups(made, *numbers):
    batches = [on_cpu(made["ccp"].batch(number)) for number in numbers]
    for batch in batches:
        batch.pop("vectors"), batch.pop("duplicates")
    return batches


def test_one_side_by_its_batch_the_other_by_running_statistics_in_turns(stores):
    """Even groups: centres by the batch; by the group's number, however often the heads were called."""
    _, made, module = setup(stores, l2=False, bank=16)
    heads, encoder = module.heads["ccp"], module.model.base_model
    first, second = groups(made, 0, 1)
    for batch, by_batch in ((first, 0), (first, 0), (second, 1)):
        module("ccp", batch)
        states = first_states(encoder, batch["ids"], batch["mask"])
        partners = heads.waiting[batch["number"]].vectors
        hidden = heads.sides[1].first(states[1::2])
        normed = (hidden - hidden.mean(0)) / hidden.var(0, unbiased=False).sqrt() if by_batch else hidden
        torch.testing.assert_close(partners, heads.sides[1].second(normed.relu()), atol=1e-3, rtol=1e-3)
        seen = heads.sides[by_batch].first(states[by_batch::2])
        torch.testing.assert_close(heads.waiting[batch["number"]].statistics[0, 0], seen.mean(0), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(("sides", "times"), [("context", 1), ("both", 2)])
def test_a_step_s_groups_see_what_was_there_before_it(stores, sides, times):
    _, made, module = setup(stores, bank=24, bank_sides=sides)
    heads, batches = module.heads["ccp"], groups(made, 0, 1)
    before = {name: value.clone() for name, value in heads.named_buffers()}
    losses = {n: module("ccp", batches[n]).item() for n in (1, 0)}
    assert all(torch.equal(value, before[name]) for name, value in heads.named_buffers())
    added = {n: heads.waiting[n] for n in (0, 1)}
    module.after_step(HERE)
    assert torch.equal(heads.bank.vectors[0, : 8 * times], torch.cat([added[0].vectors, added[1].vectors]))
    tags = [tag for batch in batches for tag in [*batch["tags"]] * times]
    assert heads.bank.tags[0].tolist() == [*tags, *[-1] * (24 - len(tags))] and len(tags) == 8 * times
    for side in (0, 1):  # group 0 centres by batch, group 1 partners
        torch.testing.assert_close(heads.sides[side].norms[0].mean[0], 0.1 * added[side].statistics[0, 0])
    assert (heads.groups, heads.waiting) == (2, {})
    other = setup(stores, bank=24, bank_sides=sides)[2]
    assert losses == {n: other("ccp", batches[n]).item() for n in (0, 1)}


def test_statistics_of_a_language_are_its_own(stores):
    settled, made, module = setup(stores, statistics="language", bank=16, groups=1, steps=40)
    heads = module.heads["ccp"]
    number = next(n for n in range(0, 40, 2) if made["ccp"].sampler.draw(n)[0][0] == "sw")
    heads.groups.fill_(number)
    module("ccp", groups(made, number)[0])
    module.after_step(HERE)
    mean = heads.sides[0].norms[0].mean
    assert heads.bank.pushed.tolist() == [4]
    assert mean.shape[0] == 2 and (mean[settled.languages.index("sw")] != 0).all() and (mean[0] == 0).all()


def test_every_example_s_language_reaches_the_loss_of_a_mixed_group(stores):
    _, made, _ = setup(stores, mixing="all_languages", pairs=8)
    for n in range(5):
        batch, drawn = made["ccp"].batch(n), made["ccp"].sampler.draw(n)
        expected = [["en", "sw"].index(part) for part, indices in drawn for _ in indices]
        assert batch["tags"].tolist() == expected and batch["queues"] == tuple(sorted(set(expected)))


CASES = {
    "mixed": {"mlm_share": 0.25, "groups": 4, "mixing": "all_languages", "output_norm": True, "bank": 60},
    "a bank a language": {"bank_per": "language", "statistics": "language", "bank_sides": "both", "bank": 40},
}


@pytest.mark.parametrize("case", CASES)
def test_killed_with_a_half_full_bank_it_ends_in_the_same_bytes(tmp_path, stores, case):
    changes = {"steps": 9, "save_every_seconds": 0, "dropout": 0.1, **CASES[case]}

    def half_full(module):
        tags = module["heads.ccp.bank.tags"]
        assert 0 < (tags >= 0).sum() < tags.numel()

    run = partial(fit, stores=stores, **changes)
    _, outcome = ends_the_same_after_a_kill(run, tmp_path, 3, half_full)
    assert any("ccp_bank_cosine" in row for row in outcome["rows"])


def test_vectors_of_an_encoder_that_stands_still_stay_as_they_are(tmp_path, stores):
    """Plain normalisation has no statistics that move; the bank's vectors are then what their sentences have now."""
    still = {"learning_rate": 1e-12, "weight_decay": 0.0, "steps": 21, "batch_norm": "plain", "bank": 24}
    rows = fit(tmp_path / "still", stores, **still)[1]["rows"]
    seen = {int(row["step"]): row["ccp_bank_cosine"] for row in rows if "ccp_bank_cosine" in row}
    # 8 a step, so those of a step may be overwritten three steps later; a group is held every 16 groups, or 8 steps
    assert list(seen) == [4, 12, 20]
    assert list(seen.values()) == pytest.approx([1.0] * 3, abs=1e-5)
    moved = fit(tmp_path / "moved", stores, **{**still, "learning_rate": 0.05, "schedule": "constant"})[1]["rows"]
    assert min(row.get("ccp_bank_cosine", 1.0) for row in moved) < 0.95


def test_probing_the_bank_changes_nothing(tmp_path, stores, monkeypatch):
    changes = {"steps": 8, "dropout": 0.2, "bank": 16, "encode_chunk": 2}
    first = fit(tmp_path / "first", stores, **changes)[0]
    monkeypatch.setattr(_ccp_heads.Heads, "_bank_cosine", lambda *_: torch.zeros(()))
    second = fit(tmp_path / "second", stores, **changes)[0]
    assert all(torch.equal(one, other) for one, other in zip(first.parameters(), second.parameters(), strict=True))
    assert first.model.training


def rows(loss, accuracy, cosine, guess=0.25, chance=4.0, steps=20, early=None):
    values = {"ccp": loss, "ccp_accuracy": accuracy, "ccp_cosine": cosine, "ccp_guess": guess, "ccp_chance": chance}
    good = {"ccp": 1.0, "ccp_accuracy": 0.9, "ccp_cosine": 0.0, "ccp_guess": guess, "ccp_chance": chance}
    return [values if step >= steps * 0.9 else (early or good) for step in range(steps)]


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (rows(2.0, 0.8, 0.1), None),
        (rows(2.0, 0.8, 0.95), None),  # alike, and still told apart
        (rows(3.9, 0.25, 0.1), None),  # nothing learnt yet, nothing broken
        (rows(2.0, 0.26, 0.95), "vectors of different sentences have cosine 0.950 .* 0.260 .*guessing: 0.250"),
        (rows(4.1, 0.37, 0.1), r"the loss is 4.100, above chance \(4.000\), .* 0.370 \(random guessing: 0.250\)"),
        (rows(4.1, 0.38, 0.1), None),  # 1.5 times a guess: a loss of so low a temperature says nothing
        (rows(4.1, 0.26, 0.95), r"cosine 0.950 and the loss is 4.100"),
        (rows(2.0, 0.8, 0.1, early={"ccp": 9.0, "ccp_chance": 4.0}), None),
        ([{"mlm": 3.0}], None),
    ],
)
def test_the_verdict_is_that_of_the_last_tenth(log, reason):
    found = diverged(log)
    assert found is None if reason is None else re.search(reason, found)


def test_a_run_ends_before_the_step_that_is_not_finite(tmp_path, stores, monkeypatch):
    expected = fit(tmp_path / "short", stores, steps=3, schedule="constant")[0]
    loss = _ccp_heads.context_loss
    calls = []

    def broken(*given):
        calls.append(1)
        found, figures = loss(*given)
        return found * (float("nan") if len(calls) == 8 else 1.0), figures

    monkeypatch.setattr(_ccp_heads, "context_loss", broken)
    found, outcome = fit(tmp_path / "long", stores, steps=9, schedule="constant")
    assert outcome["steps"] == 3 and len(outcome["rows"]) == 3
    assert same(found.model, expected.model)


def test_weights_that_are_not_finite_are_an_error_of_the_first_step(tmp_path, stores):
    """No step before it has weights to end with: the checkpoint is at fault, not the run."""

    def broken(module):
        module.model.base_model.embeddings.word_embeddings.weight.data[7:] = float("nan")

    with pytest.raises(SteleError, match=r"diverged at step 1: .* = nan"):
        fit(tmp_path / "state", stores, before=broken, steps=3)
