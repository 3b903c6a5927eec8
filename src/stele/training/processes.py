"""The device of a process, and its rank among the processes that share a job."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import torch
    from torch import Tensor

CHOICE = "STELE_DEVICE"  # "cpu" keeps a job off an accelerator
# how long processes wait for one another: longer than what the first does alone, reading a training set above all; that
# one of them has ended is torchrun's to notice
PROCESS_TIMEOUT = timedelta(hours=1)


@dataclass(frozen=True)
class ProcessContext:
    """One process of `world`, number `rank`, on `device`."""

    device: torch.device
    rank: int = 0
    world: int = 1

    @property
    def is_main(self) -> bool:
        """Whether this process is the one that writes files (rank 0)."""
        return self.rank == 0

    def all_reduce_sum(self, tensor: Tensor) -> Tensor:
        """The sum over all processes, in place; nothing to do for one."""
        if self.world > 1:
            import torch.distributed as distributed

            distributed.all_reduce(tensor)
        return tensor

    def gather_others(self, value: Any) -> list[Any]:
        """This value as every other process has it, in the order of their ranks."""
        if self.world == 1:
            return []
        import torch.distributed as distributed

        values: list[Any] = [None] * self.world
        distributed.all_gather_object(values, value)
        return values[: self.rank] + values[self.rank + 1 :]

    def barrier(self) -> None:
        """Waits until every process has come here."""
        if self.world > 1:
            import torch.distributed as distributed

            distributed.barrier()


def to_device(batch: Mapping[str, Any], device: torch.device) -> dict[str, Any]:
    """A batch with its arrays as tensors on the device, and all else unchanged."""
    import torch

    return {
        name: torch.from_numpy(value).to(device, non_blocking=True) if isinstance(value, np.ndarray) else value
        for name, value in batch.items()
    }


def process_context() -> ProcessContext:
    """The accelerator if there is one, else the CPU; processes as `torchrun` started them (stele.command.launch)."""
    import torch
    from accelerate import PartialState

    on_cpu = os.environ.get(CHOICE) == "cpu" or not torch.accelerator.is_available()
    state = PartialState(
        cpu=on_cpu, timeout=PROCESS_TIMEOUT
    )  # without `cpu` it would take each CPU process for one alone
    # accelerate numbers the CPUs of several processes; torch.load knows one
    device = torch.device("cpu") if state.device.type == "cpu" else state.device
    return ProcessContext(device, state.process_index, state.num_processes)


def default_device() -> torch.device:
    """The device alone, for work that is not shared (encoding, search)."""
    return process_context().device
