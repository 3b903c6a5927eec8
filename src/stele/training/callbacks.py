"""Hooks that the training loop calls around its steps (as OLMo-core's train/callbacks)."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save
from torch import nn

from stele.files.atomic import atomic_file
from stele.files.reading import reading
from stele.training import saved_state
from stele.training.processes import ProcessContext
from stele.training.saved_state import State


class Callback:
    """Hooks of a training run; a subclass overrides some. Every process calls all callbacks, in their order.

    `run` has the run's `module`, `process` and `metrics_log`, after `step` of its `steps` optimiser steps.
    """

    def on_step(self, run: Any) -> None:
        """Runs after each optimiser step and before the state is saved; a run killed in between repeats it."""

    def state_dict(self) -> State:
        """Returns the callback's own state, tensors and plain values, to be saved with the state of the run."""
        return {}

    def load_state_dict(self, state: State) -> None:
        """Restores the state that `state_dict` returned, when a killed run is resumed."""


@dataclass
class AfterStep(Callback):
    """Calls `function(process)` after every step, for updates without gradients such as a momentum encoder's."""

    function: Callable[[ProcessContext], None]

    def on_step(self, run: Any) -> None:
        self.function(run.process)


@dataclass
class Snapshots(Callback):
    """Calls `functions[n]` after step n, in the main process. A killed run may call it again for the same step."""

    functions: Mapping[int, Callable[[], None]]

    def on_step(self, run: Any) -> None:
        if run.process.is_main and run.step in self.functions:
            self.functions[run.step]()


class Evaluation(Callback, ABC):
    """Measures the module every `every` steps and after the last step, without gradients or dropout.

    The figures enter the training curve and, with their step, `figures`. Measuring starts at step `first`.
    """

    def __init__(self, every: int, first: int = 0) -> None:
        self.every, self.first = every, first
        self.figures: list[dict[str, float]] = []

    @abstractmethod
    def measure(self, step: int) -> Mapping[str, float]:
        """Measures the module after `step` optimiser steps; returns figures by their names."""

    def on_step(self, run: Any) -> None:
        if run.step < self.first or (run.step % self.every and run.step != run.steps):
            return
        run.metrics_log.flush()
        run.module.eval()
        with torch.no_grad():
            measured = {name: float(value) for name, value in self.measure(run.step).items()}
        run.module.train()
        run.metrics_log.rows[-1].update(measured)
        self.figures.append({"step": run.step, **measured})

    def state_dict(self) -> State:
        return saved_state.rows_to_tensors(self.figures)

    def load_state_dict(self, state: State) -> None:
        self.figures = saved_state.tensors_to_rows(state)


class BestEpochs(Evaluation):
    """Measures figures, higher is better, by `figures_of(epoch)` after each epoch from the `first` on.

    It saves in `folder` the trained weights of every epoch that is the best so far by some figure; of equal epochs the
    first is the best.
    """

    def __init__(
        self,
        module: nn.Module,
        figures_of: Callable[[int], Mapping[str, float]],
        steps_an_epoch: int,
        first: int,
        folder: Path,
    ) -> None:
        super().__init__(steps_an_epoch, first * steps_an_epoch)
        self.module, self.figures_of, self.folder = module, figures_of, folder

    def measure(self, step: int) -> Mapping[str, float]:
        epoch = step // self.every
        figures = self.figures_of(epoch)
        if any(value > max(self.by_epoch(name).values(), default=-1.0) for name, value in figures.items()):
            parameters = [(name, value) for name, value in self.module.named_parameters() if value.requires_grad]
            with atomic_file(_weights(self.folder, epoch), "wb") as handle:
                handle.write(save({name: value.detach().cpu().contiguous() for name, value in parameters}))
        return figures

    def by_epoch(self, name: str) -> dict[int, float]:
        """A figure after each measured epoch: epoch -> value."""
        return {int(figures["step"]) // self.every: figures[name] for figures in self.figures}


def restore_epoch(module: nn.Module, folder: Path, epoch: int) -> None:
    """Loads the weights that `BestEpochs` saved. Raises SteleError if their file is missing or damaged."""
    path = _weights(folder, epoch)
    with reading(path, "safetensors file", f"delete {folder} to train from the start"):
        module.load_state_dict(load_file(path), strict=False)


def _weights(folder: Path, epoch: int) -> Path:
    return folder / f"epoch{epoch}.safetensors"
