"""The one training loop: accumulation, mixed precision, clipping, schedule, logging, resuming, processes.

What a step does is a function of (seed, step): the micro-batches come from `loss_at(step)`, and the random numbers of
micro-batch i (dropout) are seeded with (seed, step, i). A run that was killed and started again, on the same number of
threads, ends in the same bytes on a CPU as one that was not. What else a run does (curve, snapshots, evaluation) are
callbacks (stele.training.callbacks).

With several processes, process r of w takes the micro-batches r, r + w, ... of a step, or all of them have a share of
each (stele.training.sharding); gradients are summed over processes before the optimiser sees them, once a step.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple, TypedDict

import torch
from torch import Tensor, nn

from stele.errors import SteleError
from stele.progress import bar
from stele.recipes.optimisation import Optimisation
from stele.training import saved_state
from stele.training.callbacks import Callback
from stele.training.curve import NORM, Figure, Losses, MetricsLog, diverged, merge, weigh
from stele.training.processes import ProcessContext
from stele.training.sampling import derive
from stele.training.sharding import seed_torch

log = logging.getLogger(__name__)

Named = Mapping[str, "Tensor | tuple[Tensor, float] | Figure | int"]
TYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16}


class Outcome(TypedDict):
    """The outcome of a run.

    steps    that were done
    rows     the log of each step
    losses   the means over the last twentieth of them
    counts   of what the micro-batches counted
    seconds  that all steps took
    earlier  (wall-clock seconds, CPU seconds) of the steps before the run went on from its state
    """

    steps: int
    rows: list[dict[str, float]]
    losses: dict[str, float]
    counts: dict[str, int]
    seconds: float
    earlier: tuple[float, float]


class MicroBatches(NamedTuple):
    """Where the losses of one process come from.

    loss_at(step)  yields the process's micro-batches of optimiser step `step` (from 0), one after another; each is a
                   mapping name -> loss. A loss is a tensor, weighted already, or (mean loss, weight), of which the
                   curve shows the weighted mean; the step's loss is the sum of weighted losses over micro-batches and
                   processes. An int is a count of something, added up over the run.
                   A Figure is shown in the curve and is no part of the loss.
    numbers        of those micro-batches among the step's, on which their random numbers (dropout) depend; the same in
                   all processes where each has a share of every micro-batch (stele.training.sharding.divide)
    """

    loss_at: Callable[[int], Iterator[Named]]
    numbers: Sequence[int]


def train(
    module: nn.Module,
    batches: MicroBatches,
    optimisation: Optimisation,
    *,
    state: Path,
    seed: int,
    process: ProcessContext,
    label: str = "training",
    callbacks: Mapping[str, Callback] | None = None,
    stop_at_nonfinite: bool = False,
) -> Outcome:
    """Trains `module` in place.

    `state` is the folder for the run's state, saved every `save_every_seconds` and on SIGINT, SIGTERM or SIGUSR1, which
    then end the run with a SteleError; a run whose state is there goes on from it. The caller gives each run (recipe,
    inputs, seed, code) a folder of its own and removes it in the end. `callbacks` say what else happens after a step
    and at the end, in their order, and are saved by their names; `label` names the run in messages. A loss or gradient
    that is not a finite number is an error; with `stop_at_nonfinite` it ends the run before the step that it would
    spoil, but for the first, before which nothing was learnt.
    """
    run = _Run(module, optimisation, Path(state), seed, process, callbacks or {}, stop_at_nonfinite)
    run.resume()
    with saved_state.stop_signals() as received, bar(run.steps, label, "step") as shown:
        shown.update(run.step)
        while run.step < run.steps:
            if not run.advance(batches):
                break
            for callback in run.callbacks.values():
                callback.on_step(run)
            shown.update()
            stop, save = run.agreed(bool(received), run.due())
            if stop or save:
                run.save()
            if stop:
                raise SteleError(
                    f"{label}: stopped by {received[0] if received else 'a signal'} after step {run.step} of "
                    f"{run.steps}; the state is saved in {state}: run the same command again to go on"
                )
    run.metrics_log.flush()
    run.refuse_nonfinite_weights()
    for callback in run.callbacks.values():
        callback.on_end(run)
    return {
        "steps": run.step,
        "rows": run.metrics_log.rows,
        "losses": run.metrics_log.tail(),
        "counts": dict(sorted(run.metrics_log.counts.items())),
        "seconds": round(run.spent()[0], 3),
        "earlier": run.earlier,
    }


class _Run:
    """A run between two steps."""

    def __init__(
        self,
        module: nn.Module,
        optimisation: Optimisation,
        folder: Path,
        seed: int,
        process: ProcessContext,
        callbacks: Mapping[str, Callback],
        stop_at_nonfinite: bool,
    ) -> None:
        torch.set_num_threads(optimisation.threads)
        module.to(process.device).train()
        self.module, self.optimisation, self.folder, self.seed = module, optimisation, folder, seed
        self.process, self.callbacks = process, callbacks
        self.optimiser = optimisation.optimiser(module)
        self.parameters = [p for group in self.optimiser.param_groups for p in group["params"]]
        self.scaler = torch.amp.GradScaler(process.device.type, enabled=optimisation.precision == "float16")
        self.metrics_log = MetricsLog(process)
        self.step, self.steps, self.saved = 0, optimisation.steps, time.monotonic()
        self.stop_at_nonfinite = stop_at_nonfinite
        self.started, self.earlier = (time.monotonic(), time.process_time()), (0.0, 0.0)

    # --- one step ---------------------------------------------------------------------------------------------------
    def advance(self, batches: MicroBatches) -> bool:
        """One optimiser step; False if the run ends before it."""
        self.optimiser.zero_grad(set_to_none=True)
        losses, counts = self._accumulate(batches)
        if not _sum_gradients(self.parameters, self.process):
            raise SteleError(f"step {self.step + 1}: no micro-batch gave a gradient; the source of batches is empty")
        if self.stop_at_nonfinite and self.step and not self._finite(losses):
            log.warning("not a finite number at step %d of %d: the run ends before it", self.step + 1, self.steps)
            return False
        rate = self.optimisation.learning_rate_at(self.step)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        if self.optimisation.clip_norm is not None:
            self.scaler.unscale_(self.optimiser)
            norm = nn.utils.clip_grad_norm_(self.parameters, self.optimisation.clip_norm)
            losses[NORM] = (norm / self.process.world, None)  # the same in all processes, whose sum the log shows
        self.scaler.step(self.optimiser)
        self.scaler.update()
        self.step += 1
        self.metrics_log.add(self.step, rate, losses, counts)
        return True

    def _finite(self, losses: Losses) -> bool:
        """Whether the losses of all processes and the gradient are finite; all processes agree."""
        total = sum(value.detach() for value, _ in losses.values())
        if not self.scaler.is_enabled():  # under float16 a gradient overflows now and then, and the step is skipped
            total = total + nn.utils.get_total_norm([p.grad for p in self.parameters if p.grad is not None])
        return bool(self.process.all_reduce_sum(total.clone()).isfinite())

    def refuse_nonfinite_weights(self) -> None:
        """Raises SteleError for what the last step has spoiled: no further loss tells it."""
        if not all(bool(parameter.isfinite().all()) for parameter in self.parameters):
            raise diverged(self.step, "a weight is not finite")

    def _accumulate(self, batches: MicroBatches) -> tuple[Losses, dict[str, int]]:
        """Backward passes of all micro-batches; returns what the log is to show, still on the device."""
        totals: Losses = {}
        counts: dict[str, int] = {}
        each, numbers = iter(batches.loss_at(self.step)), iter(batches.numbers)
        while True:
            # before the micro-batch is made; behind the last one nothing is drawn
            seed_torch(derive(self.seed, "micro-batch", self.step, next(numbers, -1)))
            with self._autocast():
                named = next(each, None)
                if named is None:
                    return totals, counts
                parts = {name: weigh(value) for name, value in named.items() if not isinstance(value, int)}
                loss = sum(part for name, (part, _) in parts.items() if not isinstance(named[name], Figure))
            self.scaler.scale(loss).backward()
            merge(totals, {name: (part.detach(), weight) for name, (part, weight) in parts.items()})
            for name, number in named.items():
                if isinstance(number, int):
                    counts[name] = counts.get(name, 0) + number

    def _autocast(self):
        dtype = TYPES.get(self.optimisation.precision)
        return nullcontext() if dtype is None else torch.autocast(self.process.device.type, dtype=dtype)

    def spent(self) -> tuple[float, float]:
        """Wall-clock and CPU seconds of all steps, those before the run went on from its state included."""
        (wall, cpu), (earlier_wall, earlier_cpu) = self.started, self.earlier
        return earlier_wall + time.monotonic() - wall, earlier_cpu + time.process_time() - cpu

    # --- the state on disk ------------------------------------------------------------------------------------------
    def due(self) -> bool:
        """Whether it is time to save; not after the last step, when the caller writes its output."""
        late = time.monotonic() - self.saved >= self.optimisation.save_every_seconds
        return late and self.step < self.steps

    def agreed(self, stop: bool, save: bool) -> tuple[bool, bool]:
        """(stop, save): some process got a signal, the main process is due; all of them do so together."""
        if self.process.world == 1:
            return stop, save
        flags = torch.tensor([stop, save and self.process.is_main], device=self.process.device).long()
        stops, saves = self.process.all_reduce_sum(flags).tolist()
        return bool(stops), bool(saves)

    def save(self) -> None:
        self.metrics_log.flush()
        self.saved = time.monotonic()
        if self.process.is_main:
            values = {
                "step": self.step,
                "module": self.module.state_dict(),
                "optimiser": self.optimiser.state_dict(),
                "scaler": self.scaler.state_dict(),
                "rows": saved_state.rows_to_tensors(self.metrics_log.rows),
                "callbacks": {name: callback.state_dict() for name, callback in self.callbacks.items()},
                "counts": self.metrics_log.counts,
                "spent": self.spent(),
            }
            saved_state.save(self.folder, values)
        self.process.barrier()  # a process that ended now would end the first one while it writes

    def resume(self) -> None:
        saved = saved_state.load(self.folder, self.process.device)
        step = 0 if saved is None else saved["step"]
        if any(other != step for other in self.process.gather_others(step)):
            raise SteleError(
                f"{self.folder}: not all processes see the same state; is it on a file system of all nodes?"
            )
        if saved is None:
            return
        self.module.load_state_dict(saved["module"])
        self.optimiser.load_state_dict(saved["optimiser"])
        self.scaler.load_state_dict(saved["scaler"])
        self.metrics_log.rows = saved_state.tensors_to_rows(saved["rows"])
        for name, callback in self.callbacks.items():
            if name in saved["callbacks"]:
                callback.load_state_dict(saved["callbacks"][name])
        self.metrics_log.counts, self.step, self.earlier = saved["counts"], saved["step"], saved["spent"]
        log.info("resuming after step %d of %d", self.step, self.steps)


def _sum_gradients(parameters: list[nn.Parameter], process: ProcessContext) -> bool:
    """Sums gradients over processes; whether any parameter has one.

    A parameter that no process used keeps no gradient, so that the optimiser leaves it alone, as in one process.
    """
    if process.world == 1:
        return any(parameter.grad is not None for parameter in parameters)
    used = torch.tensor([parameter.grad is not None for parameter in parameters], device=process.device).long()
    process.all_reduce_sum(used)
    for parameter, times in zip(parameters, used.tolist(), strict=True):
        if times:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            process.all_reduce_sum(parameter.grad)
    return bool(used.any())
