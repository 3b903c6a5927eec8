"""Schedules by hand, and the optimiser against PyTorch's textbook one."""

import pytest
import torch

from stele.recipes.optimisation import Optimisation


def rates(**settings):
    made = Optimisation(learning_rate=1.0, **settings)
    return [made.learning_rate_at(step) for step in range(made.steps)]


def test_linear_warm_up_and_decay():
    assert rates(steps=8, warmup_steps=4) == pytest.approx([0.25, 0.5, 0.75, 1.0, 1.0, 0.75, 0.5, 0.25])


def test_a_polynomial_schedule_falls_by_its_power():
    assert rates(steps=4, schedule="polynomial", power=2.0) == pytest.approx([1.0, 9 / 16, 1 / 4, 1 / 16])


def test_constant_after_warm_up():
    assert rates(steps=4, warmup_steps=2, schedule="constant") == pytest.approx([0.5, 1.0, 1.0, 1.0])


def test_every_step_learns_something():
    for settings in ({"steps": 1}, {"steps": 3, "warmup_steps": 3}, {"steps": 5, "warmup_steps": 9}):
        assert all(rate > 0 for rate in rates(**settings))


def test_fused_adamw_equals_the_plain_one():
    torch.manual_seed(0)
    weights = torch.randn(7, 3)
    gradients = [torch.randn(7, 3) for _ in range(5)]
    settings = Optimisation(steps=5, learning_rate=0.1, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.01)
    made, plain = torch.nn.Linear(3, 7, bias=False), torch.nn.Parameter(weights.clone())
    made.weight.data.copy_(weights)
    fused = settings.optimiser(made)
    reference = torch.optim.AdamW([plain], lr=0.1, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.01, foreach=False)
    for gradient in gradients:
        made.weight.grad, plain.grad = gradient.clone(), gradient.clone()
        fused.step()
        reference.step()
    assert torch.allclose(made.weight, plain, atol=1e-6)
    assert fused.defaults["fused"]


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
    groups = Optimisation(steps=1, learning_rate=0.1).optimiser(module).param_groups
    assert [p.shape for p in groups[0]["params"]] == [module.weight.shape]
