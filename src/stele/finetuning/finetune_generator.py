"""Fine-tune a sequence-to-sequence model to write the query of a passage (Shi et al., section 4.2).

It learns from translated pairs of query and passage in the collection's language ("translate-train"); the passage is
the input, the query the target. Writes a transformers folder, the training curve and the record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from stele.artifacts import records
from stele.artifacts.state import drop, own_folder
from stele.benchmarks.arguments import data_folders, data_records
from stele.benchmarks.load import load_reader
from stele.benchmarks.reader import TrainingReader
from stele.command.arguments import Datasets, Json, NewRecord, Record, ResumableJob, Seed, record_of
from stele.errors import SteleError
from stele.files.digests import folder_facts
from stele.files.reading import parse_object
from stele.files.strict import validate
from stele.recipes.finetuning import GeneratorRecipe
from stele.training.curve import write_curve

if TYPE_CHECKING:
    from stele.encoders.generator import Generator

IGNORED = -100  # label of positions that the loss ignores
Pair = tuple[str, str]  # query, passage

JOB = "finetune_generator"


class FinetuneGenerator(ResumableJob):
    model: str
    """Name of the new generator."""
    recipe: Json
    """Recipe: training set, language, sizes, optimisation."""
    generator: Record
    """Record of the sequence-to-sequence model to start from."""
    training: Datasets
    """Data of the training set as DATASET[:PART]=PATH ...; each PATH is a record.json, a folder or a file."""
    seed: Seed
    output: Annotated[NewRecord, record_of(JOB)]


def run(args: FinetuneGenerator) -> None:
    from stele.encoders.generator import load_generator, mark_language
    from stele.encoders.tokenizer import quiet
    from stele.training import loop
    from stele.training.processes import process_context

    recipe = validate(GeneratorRecipe, values := parse_object(args.recipe, "--recipe"), "--recipe")
    training = data_records(args.training, "--training")
    inputs = {"generator": args.generator, **training}
    state = own_folder(args.state, recipe=values, inputs=inputs, seed=args.seed, code=args.code)
    generator = load_generator(args.generator.parent)
    if recipe.language_code:
        mark_language(generator, recipe.language_code)
    pairs, pairs_in_all = drawn_pairs(recipe, training, args.seed)
    process, label = process_context(), f"fine-tune generator {args.model}"
    outcome = loop.train(
        generator.model,
        losses(generator, pairs, recipe, args.seed, process.device),
        recipe,
        state=state,
        seed=args.seed,
        process=process,
        label=label,
    )
    with records.output_folder(args.output, JOB, inputs) as (folder, facts):
        with quiet():
            generator.model.save_pretrained(folder)
            generator.tokenizer.save_pretrained(folder)
        facts.update(
            outputs=folder_facts(folder),
            earlier=outcome["earlier"],
            seed=args.seed,
            model=args.model,
            recipe=recipe.model_dump(mode="json", exclude_none=True),
            examples={"given": pairs_in_all, "drawn": len(pairs)},
            steps=recipe.steps,
            losses=outcome["losses"],
        )
        write_curve(folder, outcome["rows"])
    drop(state)


def drawn_pairs(recipe: GeneratorRecipe, training: Mapping[str, Path], seed: int) -> tuple[list[Pair], int]:
    """Draws (query, first positive) pairs; returns them and the number of all. Raises SteleError for 0."""
    source = load_reader(recipe.training_set.module, TrainingReader)
    pairs = [
        (example.query, f"{example.positives[0].title} {example.positives[0].text}".strip())
        for example in source.training(data_folders(training), "train")
        if example.query.strip() and example.positives
    ]
    if not pairs:
        raise SteleError("--training: found no query with a positive passage; give another training set")
    rows = np.random.default_rng(seed).choice(len(pairs), min(recipe.pairs, len(pairs)), replace=False)
    return [pairs[row] for row in np.sort(rows)], len(pairs)


def step_rows(number: int, step: int, batch: int, seed: int) -> list[int]:
    """Row numbers of the `batch` pairs of a step; each epoch has all pairs in a new random order.

    >>> sorted(step_rows(4, 0, 2, 7) + step_rows(4, 1, 2, 7))
    [0, 1, 2, 3]
    """
    places = [divmod(place, number) for place in range(step * batch, (step + 1) * batch)]
    orders = {epoch: np.random.default_rng([seed, epoch]).permutation(number) for epoch in {e for e, _ in places}}
    return [int(orders[epoch][place]) for epoch, place in places]


def losses(generator: Generator, pairs: Sequence[Pair], recipe: GeneratorRecipe, seed: int, device: Any) -> Any:
    """MicroBatches for the training loop: one per step, whose loss is the mean over the tokens of its queries."""
    from torch.nn.functional import cross_entropy

    from stele.training.loop import MicroBatches

    model, tokenizer = generator

    def loss_at(step: int) -> Iterator[Mapping[str, Any]]:
        some = [pairs[row] for row in step_rows(len(pairs), step, recipe.batch, seed)]
        padded = {"padding": True, "truncation": True, "return_tensors": "pt"}
        source = tokenizer([passage for _, passage in some], max_length=recipe.source_length, **padded).to(device)
        target = tokenizer(text_target=[query for query, _ in some], max_length=recipe.query_length, **padded)
        target = target.to(device)
        labels = target["input_ids"].masked_fill(target["attention_mask"] == 0, IGNORED)
        inputs = {name: source[name] for name in ("input_ids", "attention_mask")}
        logits = model(**inputs, labels=labels).logits
        loss = cross_entropy(logits.flatten(0, 1).float(), labels.flatten(), label_smoothing=recipe.label_smoothing)
        yield {"cross_entropy": (loss, 1.0)}

    return MicroBatches(loss_at, [0])
