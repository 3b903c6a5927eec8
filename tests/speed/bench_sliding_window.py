"""Global and sliding-window attention against full attention: memory and time of one layer of base size, in one run.

    python tests/speed/bench_sliding_window.py                      # batch 1, CPU, 1 thread
    python tests/speed/bench_sliding_window.py --device cuda --batch 8

A query of 64 tokens (62 and two special ones) and a document: 1,024 tokens through windows of 64, and 512 and 1,024
through full attention, all with random weights. Prints a line of JSON: MiB of activations that the layer keeps for its
backward pass (every tensor once, weights left out), seconds of forward and backward pass (CPU seconds on a CPU, where
other work disturbs them less; the least of some alternating repetitions), and the ratios of the first to the others.
Yu et al. 2021, section 3, observe for a whole model with windows against full attention at 512: "similar GPU memory",
"slightly slower".
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from bench_encoding import best_times
from real_sizes import BASE

LENGTHS = {"windows_1024": 1024, "full_512": 512, "full_1024": 1024}
MIB = 1 << 20


def one_layer(family: str, sizes: dict[str, Any], window: int) -> Any:
    """A model of one layer, with few words."""
    from transformers import AutoModel, BertConfig

    from stele.encoders.sliding_window import windowed_config
    from stele.recipes.pretraining import SlidingWindow

    config = BertConfig(**{**sizes, "num_hidden_layers": 1, "vocab_size": 1000, "max_position_embeddings": 1024})
    if family == "longformer":
        config = windowed_config(config, SlidingWindow(window=window, positions=1024, global_separators=2))
    torch.manual_seed(0)
    return AutoModel.from_config(config, add_pooling_layer=False).train()


def kept_bytes(model: Any, forward: Callable[[], torch.Tensor]) -> int:
    """Bytes that autograd keeps for the backward pass: storages, each once, without the weights'."""
    weights = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages: dict[int, torch.UntypedStorage] = {}  # held, so that no address comes twice

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            storages[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        forward()
    return sum(storage.nbytes() for storage in storages.values())


def measure(
    sizes: dict[str, Any] = BASE,
    window: int = 64,
    query: int = 64,
    batch: int = 1,
    device: str = "cpu",
    repetitions: int = 5,
) -> dict[str, Any]:
    """The figures that the module's docstring describes."""
    from stele.training.hidden_states import token_states

    def forward(name: str) -> Callable[[], torch.Tensor]:
        family = "longformer" if name.startswith("windows") else "bert"
        model, length = one_layer(family, sizes, window).to(device), LENGTHS[name]
        ids = torch.randint(1, 1000, (batch, length), device=device)
        types = (torch.arange(length, device=device) >= query).long().expand(batch, length)
        models[name] = model
        return lambda: token_states(model, ids, None, types)

    def step(name: str) -> None:
        forwards[name]().sum().backward()
        models[name].zero_grad(set_to_none=True)
        if device != "cpu":
            torch.cuda.synchronize()

    models: dict[str, Any] = {}
    forwards = {name: forward(name) for name in LENGTHS}
    memory = {name: kept_bytes(models[name], forwards[name]) for name in LENGTHS}
    clock = 1 if device == "cpu" else 0
    times = {
        name: both[clock]
        for name, both in best_times({name: lambda name=name: step(name) for name in LENGTHS}, repetitions).items()
    }
    first, *others = LENGTHS
    figures: dict[str, Any] = {f"{name}_mib": round(memory[name] / MIB, 1) for name in LENGTHS}
    figures |= {f"{name}_seconds": round(times[name], 4) for name in LENGTHS}
    for name in others:
        figures[f"memory_to_{name}"] = round(memory[first] / memory[name], 2)
        figures[f"time_to_{name}"] = round(times[first] / times[name], 2)
    return {"window": window, "query": query, "batch": batch, "device": device, **figures}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--window", type=int, default=64)
    parser.add_argument("--query", type=int, default=64)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--repetitions", type=int, default=5)
    args = parser.parse_args()
    torch.set_num_threads(1)
    print(json.dumps(measure(BASE, args.window, args.query, args.batch, args.device, args.repetitions)))


if __name__ == "__main__":
    main()
