"""Hooks that the training loop calls around its steps (as OLMo-core's train/callbacks)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch
from torch import nn

from stele.training import curve as curves
from stele.training import saved_state
from stele.training.curve import MetricsLog
from stele.training.processes import ProcessContext
from stele.training.saved_state import State


class Run(Protocol):
    """The training run as its hooks see it, after `step` of its `steps` optimiser steps."""

    module: nn.Module
    process: ProcessContext
    metrics_log: MetricsLog
    step: int
    steps: int


class Callback:
    """Hooks of a training run; a subclass overrides some. Every process calls all callbacks, in their order."""

    def on_step(self, run: Run) -> None:
        """Runs after each optimiser step and before the state is saved; a run killed in between repeats it."""

    def on_end(self, run: Run) -> None:
        """Runs after the last step, when the log is complete."""

    def state_dict(self) -> State:
        """Returns the callback's own state, tensors and plain values, to be saved with the state of the run."""
        return {}

    def load_state_dict(self, state: State) -> None:
        """Restores the state that `state_dict` returned, when a killed run is resumed."""


@dataclass
class AfterStep(Callback):
    """Calls `function(process)` after every step, for updates without gradients such as a momentum encoder's."""

    function: Callable[[ProcessContext], None]

    def on_step(self, run: Run) -> None:
        self.function(run.process)


@dataclass
class Snapshots(Callback):
    """Calls `functions[n]` after step n, in the main process. A killed run may call it again for the same step."""

    functions: Mapping[int, Callable[[], None]]

    def on_step(self, run: Run) -> None:
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

    def on_step(self, run: Run) -> None:
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


@dataclass
class Curve(Callback):
    """Writes the log as a CSV file to `path` at the end, and draws it as an .svg file of the same name."""

    path: Path
    title: str

    def on_end(self, run: Run) -> None:
        if run.process.is_main:
            curves.write_csv(self.path, run.metrics_log.rows)
            curves.draw(self.path.with_suffix(".svg"), run.metrics_log.rows, self.title)
