"""The device of a process, its rank among the processes of a job, and the exchange between them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import torch
    from torch import Tensor

CHOICE = "STELE_DEVICE"  # "cpu" keeps a job off an accelerator
# How long processes wait for one another: longer than the first one needs alone, mostly to read a training set.
# If one of them dies, torchrun notices and ends the others.
PROCESS_TIMEOUT = timedelta(hours=1)


@dataclass(frozen=True)
class ProcessContext:
    """Process number `rank` of the `world` processes of a job, on `device`."""

    device: torch.device
    rank: int = 0
    world: int = 1

    @property
    def is_main(self) -> bool:
        """Whether this is the main process (rank 0), which writes all files."""
        return self.rank == 0

    def all_reduce_sum(self, tensor: Tensor) -> Tensor:
        """Sums a tensor over all processes, in place, and returns it."""
        if self.world > 1:
            import torch.distributed as distributed

            distributed.all_reduce(tensor)
        return tensor

    def gather_others(self, value: Any) -> list[Any]:
        """Collects the `value` of every other process, in the order of their ranks."""
        if self.world == 1:
            return []
        import torch.distributed as distributed

        values: list[Any] = [None] * self.world
        distributed.all_gather_object(values, value)
        return values[: self.rank] + values[self.rank + 1 :]

    def barrier(self) -> None:
        """Waits until all processes have called this."""
        if self.world > 1:
            import torch.distributed as distributed

            distributed.barrier()


def autocast(device: torch.device, precision: str) -> AbstractContextManager[Any]:
    """Context of a forward pass in a recipe's `precision`; "float32" changes nothing."""
    import torch

    types = {"bfloat16": torch.bfloat16, "float16": torch.float16}
    return torch.autocast(device.type, types[precision]) if precision in types else nullcontext()


def to_device(batch: Mapping[str, Any], device: torch.device) -> dict[str, Any]:
    """Copies a batch: its arrays become tensors on the device, all other values stay as they are."""
    import torch

    return {
        name: torch.from_numpy(value).to(device, non_blocking=True) if isinstance(value, np.ndarray) else value
        for name, value in batch.items()
    }


def process_context() -> ProcessContext:
    """Context of this process, as `torchrun` started it (stele.command.launch); on an accelerator if there is one."""
    import torch
    from accelerate import PartialState

    on_cpu = os.environ.get(CHOICE) == "cpu" or not torch.accelerator.is_available()
    # without `cpu` it would treat each CPU process as the only one
    state = PartialState(cpu=on_cpu, timeout=PROCESS_TIMEOUT)
    # accelerate numbers CPUs by process; torch.load knows only one
    device = torch.device("cpu") if state.device.type == "cpu" else state.device
    return ProcessContext(device, state.process_index, state.num_processes)


def default_device() -> torch.device:
    """Device of this process, for work that processes do not share (encoding, search)."""
    return process_context().device
