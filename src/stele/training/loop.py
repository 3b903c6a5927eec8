"""The one training loop: accumulation, mixed precision, clipping, schedule, logging, snapshots, resuming, processes.

What a step does is a function of (seed, step): the micro-batches come from `loss_at(step)`, and the random numbers of
micro-batch i (dropout) are seeded with (seed, step, i). A run that was killed and started again, on the same number of
threads, ends in the same bytes on a CPU as one that was not.

With several processes, process r of w takes the micro-batches r, r + w, ... of a step, or all of them have a share of
each (stele.training.sharding); gradients are summed over processes before the optimiser sees them, once a step.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from stele.errors import SteleError
from stele.progress import bar
from stele.recipes.optimisation import Optimisation
from stele.training import curve as curves
from stele.training import saved_state as states
from stele.training.metrics_log import NORM, Ledger, Losses, merge, weigh
from stele.training.processes import Place, place
from stele.training.sampling import derive

log = logging.getLogger(__name__)

Named = Mapping[str, "Tensor | tuple[Tensor, float] | int"]
TYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16}


def train(
    *,
    module: nn.Module,
    loss_at: Callable[[int], Iterator[Named]],
    optimisation: Optimisation,
    state: Path,
    seed: int,
    curve: Path | None = None,
    at_step: Mapping[int, Callable[[], None]] | None = None,
    evaluate: tuple[int, Callable[[], Mapping[str, float]]] | None = None,
    after_step: Callable[[Place], None] | None = None,
    label: str = "training",
    on: Place | None = None,
    numbers: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Trains `module` in place; returns {"steps", "losses", "counts", "evaluations", "seconds"}.

    loss_at(step)  yields this process's micro-batches of optimiser step `step` (from 0), one after another; each is
                   a mapping name -> loss. A loss is a tensor, weighted already, or (mean loss, weight), of which the
                   curve shows the weighted mean; the step's loss is the sum of weighted losses over micro-batches and
                   processes. An int is a count of something, added up over the run.
    state          folder for the run's state, saved every `save_every_seconds` and on SIGTERM or SIGUSR1 (which then
                   end the run with an error); a run whose state is there goes on from it. Its caller gives each run
                   (recipe, inputs, seed, code) a folder of its own and removes it in the end.
    curve          CSV to write; a .png and a .pdf of the same name are drawn beside it
    at_step        what to do after so many steps (snapshots); may be done again when a killed run goes on
    after_step     done after every optimiser step, in all processes together and before the state is saved: what a
                   module changes by itself, a momentum encoder for example, which its state then has
    evaluate       (every, measure): after every so many steps and after the last, measure() -> figures for the curve
    numbers        of this process's micro-batches among the step's, on which their random numbers depend; the same for
                   all processes where each has a share of every one. None: rank, rank + world, ...
    """
    started = time.monotonic()
    run = _Run(module, optimisation, Path(state), seed, on or place(), numbers)
    run.resume()
    with states.stop_signals() as received, bar(optimisation.steps, label, "step") as shown:
        shown.update(run.step)
        while run.step < optimisation.steps:
            run.advance(loss_at)
            if after_step is not None:
                after_step(run.where)
            run.afterwards(at_step or {}, evaluate)
            shown.update()
            stop, save = run.agreed(bool(received), run.due())
            if stop or save:
                run.save()
            if stop:
                raise SteleError(
                    f"{label}: stopped by {received[0] if received else 'a signal'} after step {run.step} of "
                    f"{optimisation.steps}; the state is saved in {state}: run the same command again to go on"
                )
    run.ledger.flush()
    if curve is not None and run.where.first:
        curves.write_csv(curve, run.ledger.rows)
        curves.draw(curve.with_suffix(".png"), run.ledger.rows, label)
    return {
        "steps": run.step,
        "losses": run.ledger.tail(),
        "counts": dict(sorted(run.ledger.counts.items())),
        "evaluations": run.evaluations,
        "seconds": round(time.monotonic() - started, 3),
    }


class _Run:
    """A run between two steps."""

    def __init__(
        self,
        module: nn.Module,
        settings: Optimisation,
        folder: Path,
        seed: int,
        where: Place,
        numbers: Sequence[int] | None,
    ) -> None:
        torch.set_num_threads(settings.threads)
        module.to(where.device).train()
        self.module, self.settings, self.folder, self.seed, self.where = module, settings, folder, seed, where
        self.numbers = range(where.rank, sys.maxsize, where.world) if numbers is None else numbers
        self.optimiser = settings.optimiser(module)
        self.parameters = [p for group in self.optimiser.param_groups for p in group["params"]]
        self.scaler = torch.amp.GradScaler(where.device.type, enabled=settings.precision == "float16")
        self.ledger = Ledger(where)
        self.evaluations: list[dict[str, float]] = []
        self.step, self.saved = 0, time.monotonic()

    # --- one step ---------------------------------------------------------------------------------------------------
    def advance(self, loss_at: Callable[[int], Iterator[Named]]) -> None:
        """One optimiser step."""
        self.optimiser.zero_grad(set_to_none=True)
        losses, counts = self._accumulate(iter(loss_at(self.step)))
        if not _sum_gradients(self.parameters, self.where):
            raise SteleError(f"step {self.step + 1}: no micro-batch gave a gradient; the source of batches is empty")
        rate = self.settings.learning_rate_at(self.step)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        if self.settings.clip_norm is not None:
            self.scaler.unscale_(self.optimiser)
            norm = nn.utils.clip_grad_norm_(self.parameters, self.settings.clip_norm)
            losses[NORM] = (norm / self.where.world, None)  # the same in all processes, whose sum the ledger shows
        self.scaler.step(self.optimiser)
        self.scaler.update()
        self.step += 1
        self.ledger.add(self.step, rate, losses, counts)

    def _accumulate(self, batches: Iterator[Named]) -> tuple[Losses, dict[str, int]]:
        """Backward passes of all micro-batches; returns what the ledger is to show, still on the device."""
        totals: Losses = {}
        counts: dict[str, int] = {}
        numbers = iter(self.numbers)
        while True:
            # before the micro-batch is made; behind the last one nothing is drawn
            torch.manual_seed(derive(self.seed, "micro-batch", self.step, next(numbers, -1)))
            with self._autocast():
                named = next(batches, None)
                if named is None:
                    return totals, counts
                parts = {name: weigh(value) for name, value in named.items() if not isinstance(value, int)}
                loss = sum(part for part, _ in parts.values())
            self.scaler.scale(loss).backward()
            merge(totals, {name: (part.detach(), weight) for name, (part, weight) in parts.items()})
            for name, number in named.items():
                if isinstance(number, int):
                    counts[name] = counts.get(name, 0) + number

    def _autocast(self):
        dtype = TYPES.get(self.settings.precision)
        return nullcontext() if dtype is None else torch.autocast(self.where.device.type, dtype=dtype)

    def afterwards(self, at_step: Mapping[int, Callable[[], None]], evaluate) -> None:
        """Evaluation and snapshots that are due; before the state is saved, so that a saved step has had them."""
        if evaluate is not None and (self.step % evaluate[0] == 0 or self.step == self.settings.steps):
            self.ledger.flush()
            self.module.eval()
            with torch.no_grad():
                figures = {name: float(value) for name, value in evaluate[1]().items()}
            self.module.train()
            self.ledger.rows[-1].update(figures)
            self.evaluations.append({"step": self.step, **figures})
        if self.step in at_step:
            at_step[self.step]()

    # --- the state on disk ------------------------------------------------------------------------------------------
    def due(self) -> bool:
        """Whether it is time to save; at the very end the caller's output is what counts."""
        late = time.monotonic() - self.saved >= self.settings.save_every_seconds
        return late and self.step < self.settings.steps

    def agreed(self, stop: bool, save: bool) -> tuple[bool, bool]:
        """Whether some process was told to stop, and whether the first one wants to save: all do so together."""
        if self.where.world == 1:
            return stop, save
        flags = torch.tensor([stop, save and self.where.first], device=self.where.device).long()
        stops, saves = self.where.sum(flags).tolist()
        return bool(stops), bool(saves)

    def save(self) -> None:
        self.ledger.flush()
        self.saved = time.monotonic()
        if self.where.first:
            values = {
                "step": self.step,
                "module": self.module.state_dict(),
                "optimiser": self.optimiser.state_dict(),
                "scaler": self.scaler.state_dict(),
                "rows": states.rows_to_tensors(self.ledger.rows),
                "evaluations": states.rows_to_tensors(self.evaluations),
                "counts": self.ledger.counts,
            }
            states.save(self.folder, values)
        self.where.wait()  # a process that ended now would end the first one while it writes

    def resume(self) -> None:
        found = states.load(self.folder, self.where.device)
        step = 0 if found is None else found["step"]
        if any(other != step for other in self.where.others(step)):
            raise SteleError(
                f"{self.folder}: not all processes see the same state; is it on a file system of all nodes?"
            )
        if found is None:
            return
        self.module.load_state_dict(found["module"])
        self.optimiser.load_state_dict(found["optimiser"])
        self.scaler.load_state_dict(found["scaler"])
        self.ledger.rows = states.tensors_to_rows(found["rows"])
        self.evaluations = states.tensors_to_rows(found["evaluations"])
        self.ledger.counts, self.step = found["counts"], found["step"]
        log.info("going on after step %d of %d", self.step, self.settings.steps)


def _sum_gradients(parameters: list[nn.Parameter], where: Place) -> bool:
    """Sums gradients over processes; whether any parameter has one.

    A parameter that no process used keeps no gradient, so that the optimiser leaves it alone, as in one process.
    """
    if where.world == 1:
        return any(parameter.grad is not None for parameter in parameters)
    used = torch.tensor([parameter.grad is not None for parameter in parameters], device=where.device).long()
    where.sum(used)
    for parameter, times in zip(parameters, used.tolist(), strict=True):
        if times:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            where.sum(parameter.grad)
    return bool(used.any())
