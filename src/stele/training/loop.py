"""The training loop of all models: accumulation, mixed precision, clipping, schedule, logging, resuming, processes.

A step is a function of (seed, step): `loss_at(step)` yields its micro-batches, and the random numbers of micro-batch i
(dropout) are seeded with (seed, step, i). On a CPU with the same number of threads, a run that was killed and resumed
ends in the same bytes as an uninterrupted one.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from stele.training.processes import ProcessContext, autocast
from stele.training.sampling import derive
from stele.training.sharding import seed_torch

log = logging.getLogger(__name__)
BUCKET = 25 * 2**18  # numbers of gradients summed at once: 25 MiB, as in PyTorch's DistributedDataParallel

Named = Mapping[str, "Tensor | tuple[Tensor, float] | Figure | int"]


class Outcome(TypedDict):
    """Outcome of a training run."""

    steps: int  # number of optimiser steps done
    rows: list[dict[str, float]]  # the log, one row per step
    losses: dict[str, float]  # means over the last twentieth of the steps
    counts: dict[str, int]  # sums of the micro-batches' counts
    seconds: float  # of all steps, by the wall clock
    earlier: tuple[float, float]  # wall-clock and CPU seconds of the steps before the run was resumed


class MicroBatches(NamedTuple):
    """The micro-batches of one process, as the source of its losses.

    loss_at(step)  yields the process's micro-batches of optimiser step `step` (from 0), one after another; each is a
                   mapping name -> loss. A loss is (mean loss, weight), or a tensor alone of weight 1. The curve
                   shows its weighted mean; the step's loss is the sum of weighted losses over micro-batches and
                   processes. An int is a count, summed over the run. A Figure is in the curve, not in the loss.
    numbers        the places of these micro-batches in the step, which seed their random numbers (dropout); the same in
                   all processes if they share every micro-batch (stele.training.sharding.divide)
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

    The state is saved in the folder `state` every `save_every_seconds` and on SIGINT, SIGTERM or SIGUSR1; a run resumes
    from the state that it finds there, so each (recipe, inputs, seed, code) has a folder of its own. Raises SteleError
    after one of these signals, and if a loss, a gradient or a final weight is not finite; float16 skips steps with such
    a gradient, an error only if it skips all. With `stop_at_nonfinite` the run instead ends before a step with such a
    loss or gradient, unless it is the first step.
    """
    run = _Run(module, optimisation, Path(state), seed, process, callbacks or {}, stop_at_nonfinite)
    if optimisation.warmup_steps >= run.steps:
        rises = "%s: warm-up takes %d steps, and the run has %d: the learning rate rises to its end"
        log.warning(rises, label, optimisation.warmup_steps, run.steps)
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
                    f"{run.steps}; the state is saved in {state}: run the same command again to resume"
                )
    run.metrics_log.flush()
    if not all(bool(parameter.isfinite().all()) for parameter in run.parameters):  # no later loss would reveal it
        raise diverged(run.step, "a weight is not finite")
    if skipped := run.skipped():
        if skipped == run.step:
            raise diverged(run.step, "no step had a finite gradient, so that all were skipped")
        log.warning("%s: %d of %d steps were skipped: a float16 gradient overflowed", label, skipped, run.step)
    return {
        "steps": run.step,
        "rows": run.metrics_log.rows,
        "losses": run.metrics_log.tail(),
        "counts": dict(sorted(run.metrics_log.counts.items())),
        "seconds": round(run.spent()[0], 3),
        "earlier": run.earlier,
    }


class _Run:
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
        """Does one optimiser step; False if the run ends before it. Raises SteleError if no gradient was computed."""
        self.optimiser.zero_grad(set_to_none=True)
        losses, counts = self._accumulate(batches)
        if not _sum_gradients(self.parameters, self.process):
            raise SteleError(f"step {self.step + 1}: no micro-batch gave a gradient; check that there are batches")
        if self.stop_at_nonfinite and self.step and not self._finite(losses):
            log.warning("not a finite number at step %d of %d: the run ends before it", self.step + 1, self.steps)
            return False
        rate = self.optimisation.learning_rate_at(self.step)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        if self.optimisation.clip_norm is not None:
            self.scaler.unscale_(self.optimiser)
            norm = nn.utils.clip_grad_norm_(self.parameters, self.optimisation.clip_norm)
            losses[NORM] = norm, 1.0  # the same in all processes
        self.scaler.step(self.optimiser)
        self.scaler.update()
        self.step += 1
        self.metrics_log.add(self.step, rate, losses, counts)
        return True

    def skipped(self) -> int:
        """Number of steps that left the weights as they were: under float16, those with a gradient that overflowed."""
        if not self.scaler.is_enabled():
            return 0
        return self.step - max((int(state["step"]) for state in self.optimiser.state.values()), default=0)

    def _finite(self, losses: Losses) -> bool:
        """Whether losses and gradient of all processes are finite."""
        total = sum(value.detach() for value, _ in losses.values())
        if not self.scaler.is_enabled():  # under float16 a gradient overflows now and then, and the step is skipped
            total = total + nn.utils.get_total_norm([p.grad for p in self.parameters if p.grad is not None])
        return bool(self.process.all_reduce_sum(total.clone()).isfinite())

    def _accumulate(self, batches: MicroBatches) -> tuple[Losses, dict[str, int]]:
        """Runs the backward passes of all micro-batches; returns their losses, still on the device, and counts."""
        totals: Losses = {}
        counts: dict[str, int] = {}
        each, numbers = iter(batches.loss_at(self.step)), iter(batches.numbers)
        while True:
            # seeded before the micro-batch is made; after the last one nothing is drawn
            seed_torch(derive(self.seed, "micro-batch", self.step, next(numbers, -1)))
            with autocast(self.process.device, self.optimisation.precision):
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

    def spent(self) -> tuple[float, float]:
        """Wall-clock and CPU seconds of all steps, including those before the run was resumed."""
        (wall, cpu), (earlier_wall, earlier_cpu) = self.started, self.earlier
        return earlier_wall + time.monotonic() - wall, earlier_cpu + time.process_time() - cpu

    # --- the state on disk ------------------------------------------------------------------------------------------
    def due(self) -> bool:
        """Whether it is time to save the state; never after the last step, when the caller writes its output."""
        late = time.monotonic() - self.saved >= self.optimisation.save_every_seconds
        return late and self.step < self.steps

    def agreed(self, stop: bool, save: bool) -> tuple[bool, bool]:
        """Agrees on (stop, save) with all processes: any got a signal, the main one is due to save."""
        if self.process.world == 1:
            return stop, save
        flags = torch.tensor([stop, save and self.process.is_main], device=self.process.device).long()
        stops, saves = self.process.all_reduce_sum(flags).tolist()
        return bool(stops), bool(saves)

    def save(self) -> None:
        self.metrics_log.flush()
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
        self.process.barrier()  # if a process ended now, torchrun would end the first one while it writes
        self.saved = time.monotonic()  # after writing, which may take longer than the interval

    def resume(self) -> None:
        saved = saved_state.load(self.folder, self.process.device)
        step = 0 if saved is None else saved["step"]
        if any(other != step for other in self.process.gather_others(step)):
            raise SteleError(
                f"{self.folder}: processes find different training states; put it on a file system that all nodes share"
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
    """Sums gradients over processes; returns whether any parameter has one.

    A parameter that no process used stays without gradient, so that the optimiser leaves it alone, as in one process.
    """
    if process.world == 1:
        return any(parameter.grad is not None for parameter in parameters)
    flags = torch.tensor([parameter.grad is not None for parameter in parameters], device=process.device).long()
    used = [p for p, times in zip(parameters, process.all_reduce_sum(flags).tolist(), strict=True) if times]
    for parameter in used:
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
    for bucket in _buckets([parameter.grad for parameter in used]):
        if len(bucket) == 1:  # a large one, such as the words' embeddings, is not copied
            process.all_reduce_sum(bucket[0])
            continue
        whole = torch.cat([gradient.flatten() for gradient in bucket])
        parts = process.all_reduce_sum(whole).split([gradient.numel() for gradient in bucket])
        for gradient, part in zip(bucket, parts, strict=True):
            gradient.copy_(part.view_as(gradient))
    return bool(used)


def _buckets(tensors: Sequence[Tensor]) -> Iterator[list[Tensor]]:
    """Tensors in their order, up to BUCKET numbers together or a larger one alone: each exchange takes time of its own.

    >>> [[len(tensor) for tensor in bucket] for bucket in _buckets([torch.empty(n) for n in (1, 2, BUCKET, 3)])]
    [[1, 2], [6553600], [3]]
    """
    bucket: list[Tensor] = []
    for tensor in tensors:
        if bucket and sum(map(torch.numel, bucket)) + tensor.numel() > BUCKET:
            yield bucket
            bucket = []
        bucket.append(tensor)
    if bucket:
        yield bucket
