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
    """The run that a hook is given: `step` optimiser steps of `steps` are done."""

    module: nn.Module
    process: ProcessContext
    metrics_log: MetricsLog
    step: int
    steps: int


class Callback:
    """Hooks of a run; a subclass overrides those that it needs. Every process calls them, in the callbacks' order."""

    def on_step(self, run: Run) -> None:
        """After each optimiser step, before the state is saved; done again if the run is killed before it is saved."""

    def on_end(self, run: Run) -> None:
        """After the last step, when the log is complete."""

    def state_dict(self) -> State:
        """Tensors and plain values of the callback that are saved with the run's state."""
        return {}

    def load_state_dict(self, state: State) -> None:
        """Takes back what `state_dict` gave, when a killed run goes on."""


@dataclass
class AfterStep(Callback):
    """Calls `function(process)` after every step: what a module changes by itself, a momentum encoder for example."""

    function: Callable[[ProcessContext], None]

    def on_step(self, run: Run) -> None:
        self.function(run.process)


@dataclass
class Snapshots(Callback):
    """The main process calls `functions[n]` after step n. A run that is killed may do so twice for the same step."""

    functions: Mapping[int, Callable[[], None]]

    def on_step(self, run: Run) -> None:
        if run.process.is_main and run.step in self.functions:
            self.functions[run.step]()


class Evaluation(Callback, ABC):
    """Measures the module after every `every` steps and after the last, without gradients or dropout.

    The figures go to the curve, and with their step to `figures`. Before step `first` nothing is measured.
    """

    def __init__(self, every: int, first: int = 0) -> None:
        self.every, self.first = every, first
        self.figures: list[dict[str, float]] = []

    @abstractmethod
    def measure(self, step: int) -> Mapping[str, float]:
        """The figures after `step` optimiser steps, by name."""

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
    """Writes the log as a CSV to `path`, and draws it as an .svg of the same name."""

    path: Path
    title: str

    def on_end(self, run: Run) -> None:
        if run.process.is_main:
            curves.write_csv(self.path, run.metrics_log.rows)
            curves.draw(self.path.with_suffix(".svg"), run.metrics_log.rows, self.title)
