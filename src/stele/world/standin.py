r"""Make one stand-in for a public checkpoint: tiny, real, with its own tokenizer, trained on the generated internet.

    python -m stele world standin --checkpoint xlmr --recipe '{"kind": "trained", ...}' --mirror mirror \
        --languages en sw --base --seed 0 --state state --output standins/xlmr/record.json

It is published in the mirror under its original's id on the hub (a checkpoint that was released elsewhere: in a folder
beside the record), from where the checkpoint rule fetches it like a real one. A later stand-in continues from it.
"""

from __future__ import annotations

import argparse
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stele.artifacts import records
from stele.artifacts.state import add_state_arguments, drop, own_folder
from stele.command import arguments
from stele.errors import SteleError
from stele.files.atomic import check_record, check_replaceable
from stele.files.digests import folder_facts
from stele.files.reading import parse_object

if TYPE_CHECKING:
    from stele.training.loop import Outcome

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--checkpoint", required=True, help="its key in catalogue/standins.yaml")
    parser.add_argument("--recipe", required=True, metavar="JSON", help="how it is made, with the scale's sizes")
    parser.add_argument("--mirror", required=True, type=Path, help="of generated text, where it is published")
    parser.add_argument("--languages", required=True, nargs="+", metavar="L")
    parser.add_argument("--base", nargs="*", default=[], type=Path, metavar="RECORD", help="those it continues from")
    parser.add_argument("--seed", required=True, type=arguments.seed)
    add_state_arguments(parser)
    parser.add_argument("--output", required=True, type=Path, metavar="RECORD")


def run(args: argparse.Namespace) -> None:
    clock = records.start()
    import torch

    from stele.recipes.optimisation import Optimisation
    from stele.training import loop
    from stele.training.callbacks import AfterStep
    from stele.training.processes import process_context
    from stele.training.sampling import derive
    from stele.world.content.manifest import NAME, read_manifest
    from stele.world.standins import _publish
    from stele.world.standins._recipe import Given, parse

    values = parse_object(args.recipe, "--recipe")
    module, recipe = parse(values)
    bases = [base_folder(args.mirror, path) for path in args.base]
    if len(bases) != recipe.BASES:
        raise SteleError(f"--base: {args.checkpoint} continues from {recipe.BASES} stand-ins, found {len(bases)}")
    read_manifest(args.mirror / NAME)
    inputs = {"mirror": args.mirror / NAME, **{path.parent.name: path for path in args.base}}
    made_by = {**values, "languages": args.languages}
    whole = args.mirror / _publish.HUB / recipe.repo if recipe.repo else args.output.parent / args.checkpoint
    check_record(args.output, _publish.JOB)
    check_replaceable(whole, _publish.JOB)
    state = own_folder(args.state, recipe=made_by, inputs=inputs, seed=args.seed, code=args.code)
    torch.set_num_threads(recipe.threads)
    seed = derive(args.seed, "stand-in", args.checkpoint)
    optimisation = Optimisation(
        steps=recipe.steps,
        learning_rate=recipe.learning_rate,
        warmup_steps=round(recipe.warmup * recipe.steps),
        betas=(0.9, 0.98),
        eps=1e-6,
        weight_decay=0.01,
        clip_norm=1.0,
        threads=recipe.threads,
    )

    def train(module: Any, loss_at: Any, after_step: Any = None) -> Outcome:
        options = {"state": state, "seed": seed, "process": process_context(), "label": f"stand-in {args.checkpoint}"}
        callbacks = {"heads": AfterStep(after_step)} if after_step else {}
        return loop.train(module, loop.MicroBatches(loss_at, [0]), optimisation, **options, callbacks=callbacks)

    made = module.make(recipe, Given(args.mirror, args.languages, bases, seed, train))
    with _publish.published(whole, recipe.repo) as folder:
        _publish.write(folder, made, recipe.publish)
    manifest, below = read_manifest(whole / NAME), os.path.relpath(whole, args.output.parent)
    records.write_record(
        args.output,
        job=_publish.JOB,
        inputs=inputs,
        clock=clock,
        seed=args.seed,
        labels=[records.GENERATED, records.STAND_IN],
        outputs={f"{below}/{name}": facts for name, facts in folder_facts(whole).items()},
        content=manifest["content"],
        checkpoint=args.checkpoint,
        repository=recipe.repo,
        folder=None if recipe.repo else whole.name,
        languages=args.languages,
        recipe=recipe.model_dump(mode="json", exclude_none=True),
        parameters=sum(p.numel() for p in made.model.parameters()),
        vocabulary=len(made.tokenizer),
        losses=made.outcome["losses"],
        files=manifest["files"],
    )
    drop(state)
    log.info("%s: %s", args.checkpoint, made.outcome["losses"])


def base_folder(mirror: Path, record: Path) -> Path:
    """Where the stand-in of a record lies."""
    from stele.world.standins._publish import hub_folder

    facts = records.read_record(record)
    folder = hub_folder(mirror, facts["repository"]) if facts.get("repository") else record.parent / facts["folder"]
    if not (folder / "config.json").is_file():
        raise SteleError(f"{folder}: the stand-in of {record} is not there; delete the record and make it again")
    return folder
