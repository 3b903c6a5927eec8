"""A pretended GPU, for machines without one: its tensors are CPU tensors whose memory is marked.

As CUDA does, it refuses an operation on tensors of two devices, numpy's view of a tensor on the GPU, and a generator of
another device. A work that ends there has kept everything that it computes with on one device. The numbers are the
CPU's, so that they can be compared by bytes; autograd's own formulas are not checked.
"""

import os
from collections.abc import Callable
from typing import Any

import torch
import torch._inductor.utils  # while there is no GPU yet
from torch import Tensor
from torch._C import DisableTorchFunction
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves

from tests.forked import child

GPU, CPU = torch.device("cuda", 0), torch.device("cpu")
COPIES = ("aten.copy_.default", "aten._to_copy.default", "aten._local_scalar_dense.default")  # from any device
INDEXING = ("aten.index.", "aten.index_put", "aten._index_put_impl_")  # on the GPU the indices may be the CPU's
marks: dict[int, StorageWeakRef] = {}  # address of a storage -> it; held, so that no other gets its address


def on_pretended_gpu(work: Callable[[], object]) -> int:
    """Calls work() in a forked process that has the GPU; returns how it ended (0, or 1 with its traceback shown)."""

    def there() -> None:
        os.environ.pop("STELE_DEVICE", None)
        _install()
        with Operations(), Calls():
            work()

    _, status = os.waitpid(child(there), 0)
    return os.waitstatus_to_exitcode(status)


def is_there(tensor: Tensor) -> bool:
    """Whether a tensor is on the GPU."""
    return _address(tensor) in marks


def put(tensor: Tensor) -> Tensor:
    """Marks a tensor's memory as the GPU's."""
    with DisableTorchFunction(), _disable_current_modes():
        storage = tensor.untyped_storage()
        marks.setdefault(storage._cdata, StorageWeakRef(storage))
    return tensor


def _address(tensor: Tensor) -> int:
    with DisableTorchFunction(), _disable_current_modes():
        return tensor.untyped_storage()._cdata


def _moved(tensor: Tensor, device: torch.device) -> Tensor:
    if (device.type == "cuda") == is_there(tensor):
        return tensor
    with DisableTorchFunction(), _disable_current_modes():
        copy = tensor.clone()
    return put(copy) if device.type == "cuda" else copy


def _tensors(values: Any) -> list[Tensor]:
    return [value for value in tree_leaves(values) if isinstance(value, Tensor)]


def put_all(values: Any) -> Any:
    """Marks the memory of all tensors among nested values as the GPU's; returns the values."""
    for tensor in _tensors(values):
        put(tensor)
    return values


def _is_gpu(value: Any) -> bool:
    return (isinstance(value, torch.device) and value.type == "cuda") or (
        isinstance(value, str) and value.startswith("cuda")
    )


class Operations(TorchDispatchMode):
    """Refuses operations on two devices; what one computes on the GPU is there, too."""

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        kwargs, name = kwargs or {}, str(operation)
        there = [tensor for tensor in _tensors((args, kwargs)) if is_there(tensor)]
        if there and name not in COPIES and torch._C._current_graph_task_id() == -1:
            checked = [args[0], *args[2:3]] if name.startswith(INDEXING) else (args, kwargs)
            elsewhere = [t for t in _tensors(checked) if t.numel() and not is_there(t)]
            if any(tensor.dim() for tensor in elsewhere):  # a single number may be the CPU's
                raise RuntimeError(f"{name}: expected all tensors to be on the same device")
        results = operation(*args, **kwargs)
        return put_all(results) if there else results


class Calls(TorchFunctionMode):
    """Devices as Python sees them: attributes, copies between devices, and new tensors."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if function == Tensor.device.__get__:
            return GPU if is_there(args[0]) else function(*args)
        if function == Tensor.is_cuda.__get__:
            return is_there(args[0])
        if function in (Tensor.numpy, Tensor.__array__) and is_there(args[0]):
            raise TypeError("can't convert a tensor on the GPU to numpy")
        if function in (Tensor.cpu, Tensor.cuda):
            return _moved(args[0], CPU if function == Tensor.cpu else GPU)
        if function == Tensor.to:
            return self._to(*args, **kwargs)
        if function == Tensor.__deepcopy__:
            copy = function(*args, **kwargs)
            return put(copy) if is_there(args[0]) else copy
        wants_gpu = function is not torch._C._nn._parse_to and _is_gpu(kwargs.get("device"))
        generator = kwargs.get("generator")
        if wants_gpu:
            kwargs["device"] = "cpu"
        on_gpu = wants_gpu or any(is_there(tensor) for tensor in _tensors(args))
        if generator is not None and _is_gpu(generator.device) != on_gpu:
            raise RuntimeError(f"{function.__name__}: the generator is on another device")
        result = function(*args, **kwargs)
        return put_all(result) if wants_gpu else result

    def _to(self, tensor, *args, device=None, other=None, non_blocking=False, **kwargs):
        """Tensor.to, with its device and its type in any place."""
        types = [value for value in args if isinstance(value, torch.dtype)]
        for value in args:
            if isinstance(value, str | torch.device):
                device = value
            elif isinstance(value, Tensor):
                other = value
        if other is not None:
            device, types = GPU if is_there(other) else CPU, [other.dtype]
        typed = Tensor.to(tensor, *types, **kwargs) if types or kwargs else tensor
        return typed if device is None else _moved(typed, torch.device(device))


class Generator(torch.Generator):
    """A generator that says on which device it is."""

    def __new__(cls, device="cpu"):
        generator = super().__new__(cls, "cpu")
        generator.place = torch.device(device)
        return generator

    @property
    def device(self):
        return self.place


class Autocast(torch.autocast):
    def __init__(self, device_type, *args, **kwargs) -> None:
        super().__init__("cpu", *args, **kwargs)


class Stream:
    def is_capturing(self) -> bool:
        return False


def _load(file, map_location=None, load=torch.load, **options):
    if not _is_gpu(map_location):
        return load(file, map_location=map_location, **options)
    return put_all(load(file, map_location="cpu", **options))


def _install() -> None:
    """Replaces what asks for a GPU, in this process for good."""
    answers = {"is_available": True, "is_initialized": True, "device_count": 1, "current_device": 0}
    answers |= {"get_device_name": "pretended", "get_device_capability": (9, 0), "is_bf16_supported": True}
    answers |= {"max_memory_allocated": 1 << 20, "current_stream": Stream(), "current_device_index": 0}
    answers |= dict.fromkeys(("set_device", "synchronize", "manual_seed_all", "reset_peak_memory_stats"))
    answers |= {"current_accelerator": torch.device("cuda"), "_lazy_init": None, "set_rng_state": None}
    for name, answer in answers.items():
        for module in (torch.cuda, torch.accelerator):
            if hasattr(module, name):
                setattr(module, name, lambda *args, answer=answer, **kwargs: answer)
    torch.cuda.get_rng_state = lambda *args: torch.default_generator.get_state()
    torch.autocast, torch.Generator, torch.load = Autocast, Generator, _load
