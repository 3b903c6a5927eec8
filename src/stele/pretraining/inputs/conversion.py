"""The conversion of a checkpoint to sliding windows before its pretraining, and what it costs in bits per character."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stele.encoders.backbone import positions

if TYPE_CHECKING:
    from stele.training.processes import ProcessContext
    from stele.training.sampling import Batch

SEQUENCES = 256  # of which bits are measured: at 1,024 tokens about 39,000 hidden ones
FOLDER = "converted"
Tasks = Callable[[Any], Mapping[str, Any]]  # of a recipe


def windowed_base(base: Path, recipe: Any, state: Path, process: ProcessContext) -> Path:
    """The folder to start from: `base`, or its conversion, in the folder `state`, where the recipe has windows."""
    if recipe.sliding_window is None:
        return base
    from stele.encoders.sliding_window import convert

    if process.is_main and not (state / FOLDER).exists():
        convert(base, state / FOLDER, recipe.sliding_window)
    process.barrier()
    return state / FOLDER


def measured_bits(
    model: Any, *, tokenizer: Any, recipe: Any, tasks_of: Tasks, process: ProcessContext
) -> dict[str, float]:
    """Bits per character and per token of a model on texts that the run does not read (`further_batches`)."""
    from stele.training.bits_per_character import bits, characters

    length = min(recipe.mlm_length, positions(model.config))
    batches = further_batches(recipe.model_copy(update={"mlm_length": length}), tasks_of)
    return bits(model, batches, characters(tokenizer, model.config.vocab_size), process.device, recipe.encode_chunk)


def further_batches(recipe: Any, tasks_of: Tasks) -> Iterator[Batch]:
    """The MLM batches that a run would go on with behind its last step: new texts until a pass over all is done."""
    groups = recipe.steps * recipe.groups
    more = math.ceil(SEQUENCES / (recipe.groups * recipe.mlm_sequences))
    longer = recipe.model_copy(update={"steps": recipe.steps + more})
    return map(tasks_of(longer)["mlm"].batch, range(groups, groups + more * recipe.groups))
