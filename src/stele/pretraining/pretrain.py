"""Continue the pretraining of a checkpoint on mined examples with an objective of training/objectives.

Writes a sentence-transformers folder of the encoder, its snapshots, the training curve and the record.
"""

from __future__ import annotations

import logging
import math
import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from stele.artifacts import records
from stele.artifacts.state import drop, own_folder
from stele.command.arguments import Json, NewRecord, Record, ResumableJob, Seed, Some, named_paths, record_of
from stele.files.atomic import atomic_directory
from stele.files.digests import folder_facts
from stele.files.reading import parse_object
from stele.training.curve import NORM, write_curve

if TYPE_CHECKING:
    from stele.training.loop import Outcome

log = logging.getLogger(__name__)

JOB = "pretrain"
LABELS = {"diverged": records.DIVERGED, "unlearnt": records.UNLEARNT, "encoding_changes": records.RECODED}


class Pretrain(ResumableJob):
    model: str
    """Name of the new model."""
    recipe: Json
    """Pretraining recipe: objective, sizes, optimisation."""
    base: Record
    """record.json of the checkpoint to start from."""
    encoding: Json | None = None
    """Keys of the base's encoding that its folder does not state, by origin."""
    pairs: Some[str]
    """Mined examples as STORE:PART=RECORD, by language or pair, e.g. mlm:en=.../record.json clk:en-fr=..."""
    seed: Seed
    output: Annotated[NewRecord, record_of(JOB)]


def run(args: Pretrain) -> None:
    from stele.encoders.base_encoding import encoding_changes, stated_encoding, trained_encoding, training_pooling
    from stele.pretraining.inputs import (
        check_length,
        load_base,
        measured_bits,
        of_languages,
        open_stores,
        save_heads,
        save_sentence_encoder,
        windowed_base,
    )
    from stele.recipes.flops import Shape
    from stele.recipes.pretraining import parse_recipe
    from stele.training import loop, run_sizes, tasks
    from stele.training.callbacks import AfterStep, Snapshots
    from stele.training.masking import read_vocabulary
    from stele.training.processes import process_context

    # recipe, base checkpoint, training data
    values = parse_object(args.recipe, "--recipe")
    recipe, pairs = parse_recipe(values), named_paths(args.pairs, "--pairs", "STORE:PART=RECORD")
    user_encoding = parse_object(args.encoding, "--encoding") if args.encoding else {}
    inputs, process = {"base": args.base, **pairs}, process_context()
    made_by = values | ({"encoding": user_encoding} if user_encoding else {})
    state = own_folder(args.state, recipe=made_by, inputs=inputs, seed=args.seed, code=args.code, first=process.is_main)

    # the trained encoder keeps the base's encoding, unless the recipe says another
    stated, wanted_pooling = stated_encoding(args.base.parent, user_encoding), recipe.pooling
    if stated is not None:
        pooling = training_pooling(stated, wanted_pooling, args.base.parent)
        recipe = recipe.model_copy(update={"pooling": pooling})
    base = windowed_base(args.base.parent, recipe, state, process)
    model, tokenizer = load_base(base, recipe.dropout, args.seed, recipe.trains_pooler())
    check_length(model.config, recipe)
    vocabulary, shape = read_vocabulary(tokenizer, model.config.vocab_size), Shape.of(model.config)
    stores = open_stores(pairs, recipe.stores_read(), recipe.languages, tokenizer, vocabulary.size)

    def tasks_of(some: Any) -> dict[str, Any]:
        of_some = {method: of_languages(parts, some.languages) for method, parts in stores.items()}
        return tasks.new_tasks(some, of_some, vocabulary, args.seed)

    # the number of steps may depend on another recipe's FLOPs, counted on its batches
    recipe, wanted_flops = run_sizes.with_steps(recipe, tasks_of, shape)
    made = tasks_of(recipe)
    for task in made.values():
        if task.sampler.left_out:
            log.warning("%s: too few examples, left out: %s", task.name, task.sampler.left_out)
    module = tasks.Pretraining(model, {name: task.objective for name, task in made.items()}, args.seed)
    objective = made[recipe.own_tasks()[0]].objective
    encoding = trained_encoding(stated, wanted_pooling, objective.pooling, model.config)
    changes = encoding_changes(stated, encoding)
    if changes:
        log.warning("%s: not encoded as its base, by its recipe: %s", args.model, "; ".join(changes))

    # bits per character before and after a conversion to windows, before any training
    bits, measured = {}, partial(measured_bits, tokenizer=tokenizer, recipe=recipe, tasks_of=tasks_of, process=process)
    if recipe.sliding_window and process.is_main:
        bits = {"before": measured(load_base(args.base.parent, 0.0, args.seed)[0]), "converted": measured(model)}

    # train
    snapshots = state / "snapshots"

    def save(folder: Path) -> None:
        save_sentence_encoder(folder, model, base, (stated, encoding), vocabulary=recipe.sliding_window is not None)
        save_heads(folder, module.kept_weights())

    def keep(step: int) -> None:  # a second call for the same step writes the same files
        with atomic_directory(snapshots / f"step-{step}", JOB) as folder:
            save(folder)

    kept = {step: partial(keep, step) for step in recipe.snapshots}
    outcome = loop.train(
        module,
        tasks.losses(made, module, recipe, process, shape),
        recipe,
        state=state,
        seed=args.seed,
        process=process,
        label=f"pretrain {args.model}",
        callbacks={"heads": AfterStep(module.after_step), "snapshots": Snapshots(kept)},
        stop_at_nonfinite=objective.MAY_DIVERGE,
    )

    # judge
    if process.is_main:
        facts = {**describe(recipe, made, outcome, wanted_flops), "model": args.model, "processes": process.world}
        facts |= learnt(made, outcome, vocabulary.size)
        facts["train_seconds"] = outcome["seconds"]
        if stated is not None:
            facts |= {"encoding": encoding.facts(), "encoding_changes": changes}
        if bits:
            facts["bits"] = {**bits, "after": measured(model)}
        facts |= divergence(made, recipe, outcome, facts["chance"])
        if facts["diverged"]:
            log.warning("%s: diverged: %s", args.model, facts["diverged"])
        for name, reason in facts.get("unlearnt", {}).items():
            log.warning("%s, %s: nothing was learnt: %s", args.model, name, reason)
        losses, chance = facts["losses"], facts["chance"]
        for name in sorted(losses.keys() & chance.keys()):
            log.info("%s, %s: loss %.2f at the end, %.2f by chance", args.model, name, losses[name], chance[name])

        # publish encoder, snapshots, curve and records at once
        of_run = {"job": JOB, "inputs": inputs, "seed": args.seed}
        of_run["labels"] = [label for key, label in LABELS.items() if facts.get(key)]
        with atomic_directory(args.output.parent, JOB) as folder:
            save(folder)
            if snapshots.exists():  # ignores what a killed process may have left beside them
                shutil.copytree(snapshots, folder / "snapshots", ignore=shutil.ignore_patterns(".step-*"))
            facts |= {"outputs": folder_facts(folder), "earlier": outcome["earlier"]}
            records.write_record(folder / "record.json", **of_run, **facts)
            write_curve(folder, outcome["rows"])
            # a snapshot's record has only the seconds of writing it, so that seconds can be summed
            for step_folder in sorted((folder / "snapshots").glob("step-*")):
                records.begin()
                step_facts = {"step": int(step_folder.name.removeprefix("step-"))}
                step_facts |= {name: facts[name] for name in ("model", "processes", "diverged") if name in facts}
                records.write_record(
                    step_folder / "record.json", outputs=folder_facts(step_folder), **of_run, **step_facts
                )
        drop(state)
    process.barrier()


def describe(recipe: Any, made: Mapping[str, Any], outcome: Outcome, wanted: float | None) -> dict[str, Any]:
    """Facts of a run for its record: sizes, negatives, pooling, languages with their probabilities, FLOPs.

    `outcome` comes from the training loop; `wanted` is the number of FLOPs to match, None if there is none.
    """
    counts = outcome["counts"]
    tasks = {name: made[name] for name in recipe.own_tasks()}
    first = next(iter(tasks.values()))
    objective = first.objective
    mlm_groups = recipe.mlm_share * recipe.groups if len(made) > len(tasks) else 0.0
    groups = {"mlm": mlm_groups, **{name: (recipe.groups - mlm_groups) / len(tasks) for name in tasks}}
    spent, most, contrastive = counts["flops"], objective.vectors(), None
    if most is not None:  # a short run may lack a task, and documents may be short
        vectors, of_tasks = (sum(counts.get(f"{what}_{name}", 0) for name in tasks) for what in ("vectors", "groups"))
        contrastive = {"examples": first.sampler.group_size, "mixing": recipe.mixing}
        contrastive |= {"vectors_at_most": most, "vectors_on_average": round(vectors / of_tasks, 2)}
    return {
        "objective": recipe.objective,
        "recipe": recipe.model_dump(mode="json", exclude_none=True),
        "steps": outcome["steps"],
        "global_batch": {
            "groups": recipe.groups,
            **{f"{name}_groups_on_average": round(number, 6) for name, number in groups.items()},
            "examples_a_group": first.sampler.group_size,
        },
        "contrastive_group": contrastive,
        "negatives_per_query": None if most is None else round(objective.negatives(most)),
        "pooling": objective.pooling,
        "precision": recipe.precision,
        "languages": {
            name: {
                part: {"examples": size, "probability": round(task.sampler.probabilities[part], 6)}
                for part, size in task.sampler.sizes.items()
            }
            for name, task in made.items()
        },
        "languages_left_out": {name: task.sampler.left_out for name, task in made.items() if task.sampler.left_out},
        "counts": {name: number for name, number in counts.items() if name != "flops"},
        "arithmetic": {"flops": spent, "flops_per_step": spent / outcome["steps"]}
        | ({} if wanted is None else {"flops_to_equal": wanted}),
    }


def learnt(made: Mapping[str, Any], outcome: Outcome, vocabulary: int) -> dict[str, dict[str, float]]:
    """Means over the last twentieth of the log: losses, losses by chance, and figures."""
    ended = outcome["losses"]
    losses = {name: value for name, value in ended.items() if name in made or name == NORM}
    figures = {name: value for name, value in ended.items() if name not in losses}
    facts = {"losses": losses, "chance": chances(made, outcome["counts"], vocabulary)}
    facts["chance"] |= {name: figures[f"{name}_chance"] for name in made if f"{name}_chance" in figures}
    return facts | ({"figures": figures} if figures else {})


def divergence(
    made: Mapping[str, Any], recipe: Any, outcome: Outcome, chance: Mapping[str, float]
) -> dict[str, str | dict[str, str] | None]:
    """Facts about tasks without success. `diverged`: the reason why a run learnt in none of its own tasks, or None;
    `unlearnt`: task -> reason, for a run that learnt in others. `made` are the tasks, `chance` their losses by chance.
    """
    if outcome["steps"] < recipe.steps:
        return {"diverged": f"loss or gradient not a finite number at step {outcome['steps'] + 1} of {recipe.steps}"}
    reasons = {
        name: made[name].objective.diverged(outcome["rows"], name, chance[name]) for name in made if name in chance
    }
    unlearnt = {name: reason for name, reason in reasons.items() if reason is not None}
    tasks = recipe.own_tasks()
    if unlearnt.keys() >= {*tasks}:
        whole = unlearnt[tasks[0]] if len(tasks) == 1 else "; ".join(f"{name}: {unlearnt[name]}" for name in tasks)
        return {"diverged": whole}
    return {"diverged": None, **({"unlearnt": unlearnt} if unlearnt else {})}


def chances(made: Mapping[str, Any], counts: Mapping[str, int], vocabulary: int) -> dict[str, float]:
    """Chance loss of each task, in nats: the logarithm of a query's mean number of candidates in a group.

    MLM's candidates are the whole vocabulary. While a bank fills, the run's log has better values (`learnt`).
    """
    losses = {}
    for name, task in made.items():
        if not counts.get(f"groups_{name}"):  # a short run may lack a task
            continue
        if task.objective.vectors() is None:
            choices = task.objective.choices(vocabulary)
        else:
            choices = 1 + task.objective.negatives(counts[f"vectors_{name}"] / counts[f"groups_{name}"])
        losses[name] = round(math.log(choices), 6)
    return losses
