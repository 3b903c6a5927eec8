"""A training that is killed and run again, against one that nobody disturbed."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from tests.killing import killed

Fit = Callable[..., tuple[torch.nn.Module, dict[str, Any]]]  # fit(state folder, at_step={step: action})


def same(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    """Whether all that two modules hold is equal, bit by bit."""
    pairs = zip(one.state_dict().items(), other.state_dict().items(), strict=True)
    return all(name == twin and torch.equal(value, its) for (name, value), (twin, its) in pairs)


def ends_the_same_after_a_kill(
    fit: Fit, folder: Path, step: int, check: Callable[[dict[str, torch.Tensor]], Any]
) -> tuple[torch.nn.Module, dict[str, Any]]:
    """The module and the outcome of a run that was killed after `step`, before it saved that, and then run again.

    They are those of a run that nobody disturbed; `check` looks at the module's part of the state that the kill left.
    """
    calm, expected = fit(folder / "calm")
    die = {step: lambda: os.kill(os.getpid(), signal.SIGKILL)}
    killed(lambda: fit(folder / "rough", at_step=die))
    saved = torch.load(folder / "rough" / "training.pt", weights_only=True)
    assert saved["step"] == step - 1
    check(saved["module"])
    again, outcome = fit(folder / "rough")
    assert same(again, calm) and outcome["rows"] == expected["rows"]
    return again, outcome
