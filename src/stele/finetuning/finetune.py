"""Fine-tune an encoder on a training set into a dual encoder, by DPR's or XTREME-R's recipe.

Writes the encoder (one folder, or query/ and passage/), its encoding.json and tokenizer probe, the training curve and
the record.
"""

from __future__ import annotations

import heapq
import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from stele.artifacts import records
from stele.artifacts.state import drop, own_folder
from stele.benchmarks.arguments import data_folders, data_records, record_count
from stele.benchmarks.load import load_reader
from stele.benchmarks.reader import TrainingReader
from stele.command.arguments import Count, Datasets, Json, NewRecord, Record, ResumableJob, Seed, record_of
from stele.errors import SteleError
from stele.files.digests import folder_facts
from stele.files.reading import parse_object
from stele.training.curve import write_curve

if TYPE_CHECKING:
    from stele.benchmarks.types import TrainingExample
    from stele.finetuning.dual_encoder.examples import Examples
    from stele.recipes.finetuning import FinetuningRecipe, TrainingSet
    from stele.training.loop import Named, Outcome

log = logging.getLogger(__name__)

JOB = "finetune"


class Finetune(ResumableJob):
    model: str
    """Name of the new model."""
    recipe: Json
    """Fine-tuning recipe: training set, towers, sizes, optimisation."""
    encoder: Record
    """Record of the encoder to start from: a base encoder or an earlier fine-tuning."""
    training: Datasets
    """Data of the training set as DATASET[:PART]=PATH ...; each PATH is a record.json, a folder or a file."""
    negatives: Record | None = None
    """Record of `retrieval hard_negatives`, for a recipe with `negatives: mined`."""
    seed: Seed
    output: Annotated[NewRecord, record_of(JOB)]
    limit: Count | None = None
    """Use at most this many training examples and dev examples, for a quick try."""


def run(args: Finetune) -> None:
    from stele.encoders.save import save_encoder
    from stele.finetuning.dual_encoder.batches import first_alone
    from stele.finetuning.dual_encoder.examples import examples_in
    from stele.finetuning.dual_encoder.model import load_model
    from stele.finetuning.dual_encoder.selection import Selection
    from stele.recipes.finetuning import parse_finetuning
    from stele.training import loop
    from stele.training.processes import process_context
    from stele.training.sharding import divide

    # recipe, base checkpoint, training data
    values = parse_object(args.recipe, "--recipe")
    recipe = parse_finetuning(values)
    if args.limit is not None and args.limit < 2:
        raise SteleError(f"--limit: want at least 2, found {args.limit}")
    if (recipe.negatives == "mined") != (args.negatives is not None):
        wrong = "needs --negatives RECORD" if args.negatives is None else "has no use for --negatives"
        raise SteleError(f"--recipe: negatives: {recipe.negatives} {wrong}")
    training = data_records(args.training, "--training")
    process = process_context()
    if divide(recipe.accumulation, process).shared and recipe.batch < process.world:
        raise SteleError(f"{recipe.batch} queries cannot be spread over {process.world} processes; use fewer processes")
    module, tokenizer, start = load_model(args.encoder.parent, recipe, args.seed)
    if start.get("encoding_changes"):
        log.warning("%s: not encoded as its base: %s", args.model, "; ".join(start["encoding_changes"]))

    # the state of the run, which includes its examples, tokenised
    inputs = {"encoder": args.encoder, **training}
    if args.negatives:
        inputs["negatives"] = args.negatives
    state = own_folder(
        args.state,
        recipe={**values, "limit": args.limit},
        inputs=inputs,
        seed=args.seed,
        code=args.code,
        first=process.is_main and args.limit is None,  # a quick try (--limit) keeps the real job's state
    )
    read = partial(read_set, recipe, tokenizer)
    read_training = partial(read, recipe.training_set, "train", training, args.limit, args.negatives)
    if recipe.needs_dev:  # read first: it is small, and may be missing
        most = min((number for number in (recipe.dev_limit, args.limit) if number is not None), default=None)
        read_dev = partial(read, recipe.dev_set, "dev", training, most)
        dev_data = examples_in(state / "dev", read_dev, process)
    data = examples_in(state / "training", read_training, process)

    # a dev set chooses the checkpoint, where the recipe says so
    steps = recipe.total_steps(len(data))
    if step := first_alone(data, recipe, args.seed, steps):
        raise SteleError(
            f"step {step} of {steps} would end the run: a query has no candidate besides its own positive, since its "
            f"group of {recipe.batch} shares that; use larger groups (batch), or give hard negatives"
        )
    selection = None
    if recipe.needs_dev:
        epoch_steps = recipe.steps_per_epoch(len(data))
        selection = Selection(state / "best", module.to(process.device), dev_data, recipe, epoch_steps, process)

    # train and publish
    outcome = loop.train(
        module,
        losses(module, data, recipe, args.seed, process),
        recipe.optimisation(steps),
        state=state,
        seed=args.seed,
        process=process,
        label=f"finetune {args.model} on {recipe.training_set.name}",
        callbacks={} if selection is None else {"selection": selection},
    )
    if process.is_main:
        if selection is not None:
            selection.restore()
        facts = {"model": args.model, "processes": process.world, **start}
        facts |= describe(recipe, module, data, steps, outcome, selection)
        passage = None if module.spec.towers == "shared" else module.tower("passage")
        with records.output_folder(args.output, JOB, inputs) as (folder, record):
            save_encoder(folder, module.tower("query"), passage, tokenizer, module.spec)
            record.update(
                outputs=folder_facts(folder),
                earlier=outcome["earlier"],
                seed=args.seed,
                labels=[records.LIMITED] if args.limit else [],
                **facts,
            )
            write_curve(folder, outcome["rows"])
        drop(state)
    process.barrier()


def losses(module: Any, data: Any, recipe: Any, seed: int, process: Any) -> Any:
    """MicroBatches of this process for the training loop."""
    from stele.finetuning.dual_encoder.batches import training_group
    from stele.finetuning.dual_encoder.model import group_loss
    from stele.training.loop import MicroBatches
    from stele.training.sharding import divide

    part = divide(recipe.accumulation, process)

    def loss_at(step: int) -> Iterator[Named]:
        for number in part.numbers:
            group = training_group(data, recipe, seed, step * recipe.accumulation + number)
            loss = group_loss(module, data, group, recipe.temperature, recipe.encode_chunk, part.processes)
            yield {"nll": (loss, part.weight), "masked_duplicates": int(group.mask.sum()) if part.counted else 0}

    return MicroBatches(loss_at, part.numbers)


def describe(recipe: Any, module: Any, data: Any, steps: int, outcome: Outcome, selection: Any) -> dict[str, Any]:
    """Facts of a run for its record: recipe, sizes, losses, and the selected checkpoint."""
    negatives = round(recipe.batch * (1 + recipe.hard_negatives * recipe.hard_negative_ratio) - 1, 4)
    facts = {
        "recipe": recipe.model_dump(mode="json", exclude_none=True),
        "encoding": module.spec.facts(),
        "steps": steps,
        "epochs": round(steps / recipe.steps_per_epoch(len(data)), 4),
        "global_batch": recipe.batch * recipe.accumulation,
        "contrastive_group": {"queries": recipe.batch, "passages_at_most": recipe.batch * (1 + recipe.hard_negatives)},
        "negatives_per_query": int(negatives) if negatives == int(negatives) else negatives,
        "precision": recipe.precision,
        "examples": data.counts,
        "losses": outcome["losses"],
        "counts": outcome["counts"],
        "dev_curve": [] if selection is None else selection.figures,
        "selected": {"step": steps, "by": "last"},
    }
    if module.scale is not None:
        facts["scale"] = round(float(module.scale.detach()), 6)
    if selection is not None:
        left_out = {"without_second_candidate": selection.without_second_candidate}
        facts["dev_examples"] = {**selection.data.counts, **left_out}
        best = selection.best()
        if best is not None:
            facts["selected"] = {"step": best["step"], "by": best["figure"], "value": best["value"]}
    return facts


def read_set(
    recipe: FinetuningRecipe,
    tokenizer: Any,
    chosen: TrainingSet,
    split: str,
    given: Mapping[str, Path],
    most: int | None,
    negatives: Path | None = None,
) -> Examples:
    """Reads and tokenises at most `most` examples of a split, with mined `negatives` if given."""
    from stele.benchmarks.transfer_set import MinedNegatives, replaced
    from stele.finetuning.dual_encoder.examples import read_examples

    source = load_reader(chosen.module, TrainingReader)
    folders = {k: v for k, v in data_folders(given).items() if chosen.data is None or k in chosen.data}
    examples = source.training(folders, split)
    if most is not None:
        examples = drawn(examples, most) if split == "dev" else islice(examples, most)
    total = min((number for number in (most, record_count(given, split)) if number), default=None)
    name, counts = f"{chosen.name} {split}", {}
    if negatives is not None:
        examples = replaced(examples, MinedNegatives(negatives), counts)
    data = read_examples(examples, tokenizer, recipe.spec(), recipe.strip_question_mark, name, total)
    return replace(data, counts={**data.counts, **counts})


def drawn(examples: Iterable[TrainingExample], number: int) -> list[TrainingExample]:
    """Draws at most `number` dev examples, the same for every model and seed; returns them in their order.

    The first ones would be of few languages or articles: XOR-Retrieve's first 1,000 have none of its 350 in Arabic.
    """
    from stele.training.sampling import derive

    chosen = heapq.nsmallest(number, enumerate(examples), key=lambda item: derive("dev", item[0]))
    return [example for _, example in sorted(chosen, key=itemgetter(0))]
