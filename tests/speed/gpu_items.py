"""The items that `make gpu` measures (tests/speed/gpu.py), by Stele's own objectives, loop, encoder and search."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from stele.recipes.pretraining import parse_recipe
from stele.training.callbacks import Callback
from stele.training.loop import MicroBatches, train
from stele.training.processes import ProcessContext
from tests.speed import learning, real_sizes
from tests.speed.random_towers import random_examples, random_towers
from tests.speed.table import Unavailable, find_builders

WARM = 2  # steps before the clock starts: memory is taken, kernels are chosen
RECIPES = {"msm": "msm", "ccp": "ccp", "kept": "kept", "mlm": "mlm_equal_compute"}
# stores with texts as long as a recipe takes them, special tokens apart
SEGMENTS = {"msm": [62] * 32, "mlm": [254], "ilk": [126] * 2, "clk": [126] * 2}
TINY_SEGMENTS = {"msm": [6] * 3, "mlm": [14], "ilk": [6] * 2, "clk": [6] * 2}
CUT = {  # a group that a CPU can take
    "msm": {"documents": 2, "sentences": 3, "sentence_length": 8, "groups": 2},
    "ccp": {"pairs": 3, "step_pairs": None, "groups": 2, "sentence_length": 8, "bank": 16},
    "kept": {"pairs": 3, "length": 16},
    "mlm": {"mlm_sequences": 2, "mlm_length": 16, "groups": 2},
}


class Sizes(NamedTuple):
    shapes: Mapping[str, str]  # base and large, as checkpoints of real_sizes
    examples: int  # of a store of random texts
    steps: int
    seconds: float  # after which an item takes no more steps
    pairs: int  # of a batch of fine-tuning
    texts: int  # that are encoded
    width: int  # of an encoder
    layers: int
    passages: int  # that are searched
    queries: int
    vector: int  # numbers of one
    block: int  # passages drawn at a time
    product: int  # rows and columns of a matrix


FULL = Sizes(
    {"base": "xlmr", "large": "xlmr_large"}, 1024, 12, 8.0, 128, 6_000, 1024, 24, 10**7, 1_000, 768, 1 << 18, 8192
)
TINY = Sizes({"base": "tiny", "large": "tiny"}, 16, 3, 8.0, 4, 12, 64, 1, 3_000, 5, 32, 1_000, 64)


class Item(NamedTuple):
    section: str
    name: str
    seconds: int  # at most
    run: Callable[[], Mapping[str, Any]]  # figure -> value


class Bench:
    """The items on one device; `peak` is the bf16 product's operations a second, which the first item measures."""

    def __init__(self, device: torch.device, sizes: Sizes) -> None:
        self.device, self.sizes, self.peak = device, sizes, float("nan")

    def items(self) -> Iterator[Item]:
        """All items, the ones most wanted first."""
        yield Item("product", f"bf16, {self.sizes.product} x {self.sizes.product}", 20, self.product)
        for name in RECIPES:
            yield Item("steps", f"{name.upper()}, base", 40, partial(self.steps, name, "base"))
        yield Item("steps", "DPR fine-tuning, base", 40, self.fine_tuning)
        find_builders()
        from tests.speed.encoders import FAMILIES

        for name, family in FAMILIES.items():
            yield Item("encoding", name, 40, partial(self.encoding, family))
        yield Item("search", f"{self.sizes.passages:,} x {self.sizes.vector}", 100, self.search)
        yield Item("processes", "MSM, base, two processes", 90, self.two_processes)
        for name in RECIPES:
            yield Item("steps", f"{name.upper()}, large", 60, partial(self.steps, name, "large"))
        for name in RECIPES:
            yield Item("losses", f"{name.upper()}, base", 40, partial(self.losses, name))

    def product(self) -> dict[str, float]:
        """A product of two square matrices."""
        size = self.sizes.product
        left, right = (torch.randn(size, size, device=self.device, dtype=torch.bfloat16) for _ in range(2))
        begin = 0.0
        for number in range(33):
            if number == 3:
                wait(self.device)
                begin = time.perf_counter()
            left @ right
        wait(self.device)
        self.peak = 2 * size**3 * 30 / (time.perf_counter() - begin)
        return {"TFLOP/s": self.peak / 1e12}

    def steps(self, name: str, size: str) -> dict[str, float]:
        """Steps of a paper's recipe without MLM beside the objective, batches and optimiser included."""
        recipe, segments = self.recipe(name)
        model, process, clock = self.model(size, recipe.dropout), ProcessContext(self.device), Clock(self.sizes.seconds)
        options = {"examples": self.sizes.examples, "callbacks": {"clock": clock}}
        with tempfile.TemporaryDirectory() as folder:
            outcome = learning.train_on(Path(folder), recipe, model, segments, process, **options)
        return self.rates(clock, outcome["counts"]["flops"] / outcome["steps"], sequences(recipe), size)

    def recipe(self, name: str, **changes: Any):
        """A paper's recipe for a few steps, its groups cut where the sizes are tiny; and the lengths of its texts."""
        values = real_sizes.jobs().pretraining.recipe(RECIPES[name]).given()
        short_run = {"steps": self.sizes.steps, "warmup_steps": 1, "mlm_share": 0.0, "equal_compute_to": None}
        short_run |= {"languages": ["en"], "save_every_seconds": 3600.0}
        cut = CUT[name] if self.sizes is TINY else {}
        segments = TINY_SEGMENTS if self.sizes is TINY else SEGMENTS
        return parse_recipe({**values, **short_run, **cut, **changes}), segments

    def model(self, size: str, dropout: float):
        from transformers import AutoModelForMaskedLM

        config = real_sizes.config(self.sizes.shapes[size], dropout)
        torch.manual_seed(0)
        with self.device:  # which draws weights faster
            return AutoModelForMaskedLM.from_config(config, attn_implementation="sdpa")

    def rates(self, clock: Clock, operations: float, texts: int, size: str) -> dict[str, float]:
        seconds = clock.seconds_a_step()
        figures = {"sequences/s": texts / seconds, "ms a step": seconds * 1e3}
        figures["share of the product"] = operations / seconds / self.peak
        if size == "base":
            figures["wanted"] = 0.5
        if self.device.type == "cuda":
            figures["GiB"] = torch.cuda.max_memory_allocated() / 2**30
        return figures

    def fine_tuning(self) -> dict[str, float]:
        """NQ's recipe: 128 queries of 16 tokens and 256 passages of 160, about what NQ has, in two towers."""
        from stele.finetuning.dual_encoder.batches import training_group
        from stele.finetuning.dual_encoder.model import group_loss
        from stele.recipes.finetuning import parse_finetuning
        from stele.recipes.flops import Shape, encode

        values = real_sizes.jobs().finetuning.recipe("nq").given()
        recipe, checkpoint = parse_finetuning({**values, "batch": self.sizes.pairs}), self.sizes.shapes["base"]
        with self.device:
            module = random_towers(checkpoint, recipe)
        lengths = (6, 14) if self.sizes is TINY else (16, 160)
        shape = Shape.of(module.tower("query").config)
        data = random_examples(4 * recipe.batch, min(2000, shape.vocabulary), *lengths)

        def loss_at(step: int):
            yield {"nll": (group_loss(module, data, training_group(data, recipe, 0, step)), 1.0)}

        clock, optimisation = Clock(self.sizes.seconds), recipe.optimisation(self.sizes.steps)
        with tempfile.TemporaryDirectory() as folder:
            options = {"state": Path(folder), "seed": 0, "process": ProcessContext(self.device)}
            batches = MicroBatches(loss_at, [0])
            train(module, batches, optimisation, callbacks={"clock": clock}, **options)
        texts = zip((recipe.batch, 2 * recipe.batch), lengths, strict=True)
        operations = 3 * sum(encode(number, length, shape, first_only=False) for number, length in texts)
        return self.rates(clock, operations, 3 * recipe.batch, "base")

    def encoding(self, family) -> dict[str, float]:
        """Texts of lognormal length by an encoder of a family, the tokeniser included, in bfloat16."""
        from transformers import CONFIG_MAPPING, __version__

        from stele.encoders.load import load_encoder
        from tests.speed.encoders import both_ways, make_folder, operations, random_texts

        if family.model_type not in CONFIG_MAPPING:
            raise Unavailable(f"transformers {__version__} has no {family.model_type}")
        texts = random_texts(self.sizes.texts)
        with tempfile.TemporaryDirectory() as folder:
            with self.device:
                place = make_folder(Path(folder) / "model", family, self.sizes.width, self.sizes.layers)
            try:
                encoder, ours, theirs = both_ways(place, texts, "bfloat16", str(self.device))
            except ImportError:
                encoder, theirs = load_encoder(place, {"weights": "bfloat16"}, str(self.device)), None
                ours = lambda: encoder.encode(texts, "passage")  # noqa: E731
            seconds, vectors = least_seconds(ours)
            done = operations(encoder.model("passage"), encoder.tokenize(texts, "passage").lengths)
            figures = {"texts/s": len(texts) / seconds, "share of the product": done / seconds / self.peak}
            if theirs is None:
                return {**figures, "note": "sentence-transformers is not installed"}
            peer, others = least_seconds(theirs)
            cosines = (vectors * others).sum(1) / np.linalg.norm(vectors, axis=1) / np.linalg.norm(others, axis=1)
            figures |= {"sentence-transformers', texts/s": len(texts) / peer, "ratio": peer / seconds, "wanted": 1.2}
            return {**figures, "least cosine of both": float(cosines.min())}

    def search(self) -> dict[str, Any]:
        """The 100 best of random vectors for each query, from the CPU's memory; drawing them is not counted."""
        from stele.retrieval.dense.exact_search import TopK

        sizes, begin = self.sizes, time.monotonic()
        draw = lambda rows: torch.randn(rows, sizes.vector, device=self.device).cpu().numpy()  # noqa: E731
        best, seconds, rows = TopK(draw(sizes.queries), 100, f"{self.device.type}:{self.device.index or 0}"), 0.0, 0
        while rows < sizes.passages and time.monotonic() - begin < 80:
            block = draw(min(sizes.block, sizes.passages - rows))
            ids = np.arange(rows, rows + len(block)).astype("S8")
            start = time.perf_counter()
            best.add(block, ids)
            seconds, rows = seconds + time.perf_counter() - start, rows + len(block)
        figures = {"queries": sizes.queries, "passages": rows, "s": seconds, "passages/s": rows / seconds}
        return figures | ({} if rows == sizes.passages else {"note": "cut after 80 s"})

    def two_processes(self) -> dict[str, float]:
        """A step of MSM on two devices beside the same step on one."""
        if self.device.type == "cuda" and torch.cuda.device_count() < 2:
            raise Unavailable("one GPU: NCCL needs two")
        alone = self.steps("msm", "base")
        with tempfile.TemporaryDirectory() as folder:
            given = folder, self.device.type, self.sizes is TINY
            started = torch.multiprocessing.spawn(work_together, given, nprocs=2, join=False)
            try:
                while not started.join():
                    pass
            finally:
                for process in started.processes:
                    process.kill()
            together = json.loads((Path(folder) / "figures.json").read_text())
        rates = {"one process, sequences/s": alone["sequences/s"], "two, sequences/s": together["sequences/s"]}
        return {**rates, "ratio": together["sequences/s"] / alone["sequences/s"]}

    def losses(self, name: str) -> dict[str, float]:
        """The loss of a first step without dropout in a cut group, here and on the CPU."""
        figures, cut = {}, {**CUT[name], "dropout": 0.0, "steps": 1}
        for where, device, precision in (
            ("CPU", torch.device("cpu"), "float32"),
            ("float32", self.device, "float32"),
            ("bfloat16", self.device, "bfloat16"),
        ):
            recipe, _ = self.recipe(name, **cut, precision=precision)
            # drawn on the CPU, the same weights for all three
            model = Bench(torch.device("cpu"), self.sizes).model("base", 0.0)
            with tempfile.TemporaryDirectory() as folder:
                outcome = learning.train_on(Path(folder), recipe, model, TINY_SEGMENTS, ProcessContext(device), 16)
            figures[where] = outcome["rows"][0][recipe.own_tasks()[0]]
        off = {where: abs(figures[where] / figures["CPU"] - 1) for where in ("float32", "bfloat16")}
        if off["float32"] > 2e-3 or off["bfloat16"] > 3e-2:
            raise ArithmeticError(f"other losses than the CPU's: {figures}")
        return figures


class Clock(Callback):
    """The times of a run's steps; ends the run after some seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.times = seconds, []

    def on_step(self, run) -> None:
        wait(run.process.device)
        self.times.append(time.perf_counter())
        if run.step > WARM and self.times[-1] - self.times[WARM - 1] > self.seconds:
            run.steps = run.step

    def seconds_a_step(self) -> float:
        return (self.times[-1] - self.times[WARM - 1]) / (len(self.times) - WARM)


def work_together(rank: int, folder: str, kind: str, tiny: bool) -> None:
    """One of two processes; the first writes its figures."""
    device = torch.device("cpu") if kind == "cpu" else torch.device(kind, rank)
    if kind == "cuda":
        torch.cuda.set_device(device)
    backend, store = "nccl" if kind == "cuda" else "gloo", f"file://{folder}/together"
    torch.distributed.init_process_group(backend, init_method=store, rank=rank, world_size=2)
    bench = Bench(device, TINY if tiny else FULL)
    recipe, segments = bench.recipe("msm")
    clock = Clock(3600)  # both do all steps
    options = {"examples": bench.sizes.examples, "callbacks": {"clock": clock}}
    place = Path(folder) / str(rank)
    place.mkdir()
    learning.train_on(place, recipe, bench.model("base", 0.1), segments, ProcessContext(device, rank, 2), **options)
    if rank == 0:
        figures = {"sequences/s": sequences(recipe) / clock.seconds_a_step()}
        (Path(folder) / "figures.json").write_text(json.dumps(figures))
    torch.distributed.destroy_process_group()


def sequences(recipe) -> int:
    """The texts of a step."""
    if recipe.objective == "msm":
        return recipe.groups * recipe.documents * recipe.sentences
    return recipe.groups * (recipe.mlm_sequences if recipe.objective == "mlm" else 2 * recipe.pairs)


def least_seconds(encode: Callable[[], np.ndarray], times: int = 2) -> tuple[float, np.ndarray]:
    """The least wall seconds of some calls after one that is not counted, and what they return."""
    seconds, vectors = float("inf"), encode()
    for _ in range(times):
        begin = time.perf_counter()
        vectors = encode()
        seconds = min(seconds, time.perf_counter() - begin)
    return seconds, vectors


def wait(device: torch.device) -> None:
    """Until the device has done what was asked of it."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
