"""Recipes: every value is said, errors say what to write; learning rates. The papers' values: tests/pretraining."""

import pytest
import torch
from tiny_objectives import recipe

from stele.errors import SteleError
from stele.recipes.optimisation import Optimisation
from stele.recipes.pretraining import parse_recipe, recipe_model

MLM = dict(objective="mlm", groups=2, mlm_sequences=4, mlm_length=16, mask_probability=0.15, sampling_alpha=0.3)
MLM |= dict(dropout=0.1, learning_rate=1e-3, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.01, clip_norm=None)
MSM = MLM | dict(objective="msm", documents=2, sentences=3, sentence_length=8)
MSM |= dict(layers=1, mu=0.5, temperature=0.1, projector="none")


@pytest.mark.parametrize("key", sorted({*MSM} - {"objective", "mlm_sequences", "mlm_length", "mask_probability"}))
def test_no_value_of_a_paper_is_taken_in_silence(key):
    with pytest.raises(SteleError, match=f"{key}: Field required"):
        parse_recipe({name: value for name, value in MSM.items() if name != key} | {"steps": 3})


def test_every_key_that_ends_in_length_is_compared_with_the_base():
    class Recipe(recipe_model("msm")):
        span_length: int

    values = {**MSM, "steps": 3, "span_length": 40}
    assert Recipe(**values).lengths() == {"sentence_length": 8, "span_length": 40}
    assert Recipe(**values, mlm_share=0.5).lengths() == {"mlm_length": 16, "sentence_length": 8, "span_length": 40}


def test_the_recipe_to_equal():
    assert parse_recipe({**MLM, "steps": 3}).to_equal() is None
    other = parse_recipe({**MLM, "equal_compute_to": {**MSM, "steps": 9}}).to_equal()
    assert (other.objective, other.steps) == ("msm", 9)
    late = parse_recipe({**MLM, "equal_compute_to": {**MSM, "steps": 9}, "snapshots": [9, 10]})
    with pytest.raises(SteleError, match="snapshots: step 10 is after the last step of equal_compute_to, 9"):
        late.to_equal()
    nested = {**MLM, "equal_compute_to": {**MLM, "equal_compute_to": {**MSM, "steps": 9}}}
    with pytest.raises(SteleError, match="want a recipe that gives its own `steps`"):
        parse_recipe(nested).to_equal()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"steps": 3}, "the key `objective` is missing; give"),
        ({**MSM, "steps": 3, "mu": -1}, r"mu: .*\(found -1\)"),
        ({**MSM, "steps": 3, "projector": "both"}, "projector: .*asymmetric"),
        (MSM, "steps, equal_compute_to: want exactly one"),
        ({**MLM, "steps": 3, "equal_compute_to": {}}, "steps, equal_compute_to: want exactly one"),
        ({**MSM, "steps": 3, "snapshots": [2, 4]}, "step 4 is after the last step, 3"),
        ({**MSM, "steps": 3, "snapshots": [0, 2]}, "step 0 is before the first step, 1"),
        ({**MSM, "steps": 3, "mlm_share": 0.4, "mlm_length": None}, "MLM batches need mlm_sequences, mlm_length and"),
    ],
)
def test_errors_say_what_to_write(values, message):
    with pytest.raises(SteleError, match=message):
        parse_recipe(values)


REFUSED = {  # objective -> changes of its small recipe, words of the error
    "kept": [
        ({"groups": 4}, "groups: 4 is not a multiple of 3 tasks"),
        ({"tasks": ["ilk", "ilk"], "groups": 2}, "tasks: found ilk, ilk, want each task once"),
        ({"tasks": ["ikl"], "groups": 1}, r"tasks.0: .*'ilk'"),
        ({"tasks": []}, "tasks: "),
        ({"crop_ratio": [0.5, 0.1]}, "crop_ratio: .*the smaller first"),
        ({"crop_ratio": [0.0, 0.5]}, "crop_ratio: .*above 0"),
    ],
    "moco": [
        ({"queue": 7}, "queue: found 7, want at least a step's 8 keys"),
        ({"mlm_share": 0.4}, "mlm_share: .*want 0"),
        ({"momentum": 1.5}, "momentum: "),
        ({"crop_ratio": [0.1, 1.5]}, "crop_ratio: "),
    ],
    "ccp": [
        ({"window": 1}, "window: 1 sentence is the centre alone; want at least 2"),
        ({"pairs": 1}, r"pairs: .*2 \(found 1\)"),
        ({"bank": 11}, "bank: 11 is less than the 12 sentences that a step adds; want 0, or at least 12"),
        ({"bank": 12, "bank_sides": "both"}, "less than the 24 sentences that a step adds"),
        ({"languages": None}, "languages: "),
        ({"output_norm": True, "batch_norm": "none"}, "output_norm: "),
        ({"statistics": "language", "mixing": "all_languages"}, "statistics: language needs"),
        ({"statistics": "language", "batch_norm": "plain"}, "statistics: language needs"),
        ({"bank_per": "language", "bank_languages": "shared"}, "bank_per: "),
    ],
    "clir": [
        ({"tasks": ["rr", "rr"]}, "tasks: found rr, rr, want each task once"),
        ({"mask_probability": None}, "mask_probability: missing, but task qlm needs it"),
        ({"mlm_share": 0.2}, "leave the key out"),
        ({"mask": "queries"}, "'query', 'document' or 'both'"),
        ({"mixing": "one_language"}, "'rounds'"),
    ],
}


@pytest.mark.parametrize(("objective", "case"), [(name, case) for name, cases in REFUSED.items() for case in cases])
def test_recipes_that_make_no_sense_are_refused(objective, case):
    changes, message = case
    with pytest.raises(SteleError, match=message):
        recipe(objective, **changes)


def rates(**settings):
    made = Optimisation(learning_rate=1.0, **settings)
    return [made.learning_rate_at(step) for step in range(made.steps)]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"steps": 8, "warmup_steps": 4}, [0.25, 0.5, 0.75, 1.0, 1.0, 0.75, 0.5, 0.25]),
        ({"steps": 4, "schedule": "polynomial", "power": 2.0}, [1.0, 9 / 16, 1 / 4, 1 / 16]),
        ({"steps": 4, "warmup_steps": 2, "schedule": "constant"}, [0.5, 1.0, 1.0, 1.0]),
    ],
)
def test_the_learning_rates_of_a_schedule(settings, expected):
    assert rates(**settings) == pytest.approx(expected)


def test_every_step_learns_something():
    for settings in ({"steps": 1}, {"steps": 3, "warmup_steps": 3}, {"steps": 5, "warmup_steps": 9}):
        assert all(rate > 0 for rate in rates(**settings))


@pytest.mark.parametrize("decay_all", [True, False])
def test_weight_decay_spares_biases_and_norms_unless_asked(decay_all):
    """Without gradients a weight shrinks by learning rate times decay; biases and normalisation weights when asked."""
    module = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.LayerNorm(2))
    torch.nn.init.ones_(module[0].bias)
    before = {name: p.detach().clone() for name, p in module.named_parameters()}
    settings = Optimisation(steps=1, learning_rate=0.1, weight_decay=0.5, decay_all=decay_all)
    optimiser = settings.optimiser(module)
    for parameter in module.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimiser.step()
    for name, p in module.named_parameters():
        shrunk = 0.95 if decay_all or name == "0.weight" else 1.0
        assert torch.allclose(p, shrunk * before[name]), name


def test_frozen_parameters_are_left_alone():
    module = torch.nn.Linear(2, 2)
    module.bias.requires_grad_(False)
    optimiser = Optimisation(steps=1, learning_rate=0.1).optimiser(module)
    assert [p.shape for p in optimiser.param_groups[0]["params"]] == [module.weight.shape]
    assert optimiser.defaults["fused"]
