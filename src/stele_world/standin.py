r"""Make a stand-in for a public checkpoint: a tiny model with its own tokenizer, trained on the generated internet.

    python -m stele_world standin --checkpoint xlmr --recipe '{"kind": "trained", ...}' --mirror mirror \
        --languages en sw --base --seed 0 --state state --output standins/xlmr/record.json

It is published in the mirror under its original's id on the hub (or in a folder beside the record, if the original was
released elsewhere). From there the checkpoint rule fetches it like a real one, and later stand-ins continue from it.
"""

from __future__ import annotations

import copy
import logging
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stele.artifacts import records
from stele.artifacts.record_shape import seal
from stele.artifacts.state import drop, own_folder
from stele.catalogue.hub import address
from stele.command.arguments import Json, Record, ResumableJob, Seed, Some
from stele.encoders.tokenizer import quiet
from stele.errors import SteleError
from stele.files.atomic import atomic_directory, atomic_write_json, check_record, check_replaceable
from stele.files.digests import files_digest, folder_facts
from stele.files.reading import parse_object, read_object
from stele_world.site import HUB, NAME

if TYPE_CHECKING:
    from stele.recipes.standins import Recipe
    from stele.training.loop import Outcome
    from stele_world.standins import StandIn

log = logging.getLogger(__name__)

JOB = "world standin"
REVISION = "main"
FILES = Path("resolve", REVISION)  # where the files of a repository lie on the hub, below its id


class Standin(ResumableJob):
    checkpoint: str
    """Key of the stand-in in catalogue/standins.yaml."""
    recipe: Json
    """Recipe of the stand-in with the scale's changes."""
    mirror: Path
    """Folder of the mirror, to which the stand-in is added."""
    languages: Some[str]
    """Languages of the generated text that it learns from."""
    base: tuple[Path, ...] = ()
    """Records of the stand-ins from which this one continues."""
    seed: Seed
    output: Record
    """The record to write."""


def run(args: Standin) -> None:
    import torch

    from stele.recipes.optimisation import Optimisation
    from stele.recipes.standins import parse_recipe
    from stele.training import loop
    from stele.training.callbacks import AfterStep
    from stele.training.processes import process_context
    from stele.training.sampling import derive
    from stele_world.standins import Inputs, module_of

    # recipe and bases
    values = parse_object(args.recipe, "--recipe")
    recipe = parse_recipe(values)
    make = getattr(import_module(module_of(recipe.kind)), f"make_{recipe.kind}")
    bases = [base_folder(args.mirror, path) for path in args.base]
    inputs = {"mirror": args.mirror / NAME, **{path.parent.name: path for path in args.base}}

    # output folder, and the state of an earlier run
    whole = args.mirror / HUB / recipe.repo if recipe.repo else args.output.parent / args.checkpoint
    check_record(args.output, JOB)
    check_replaceable(whole, JOB)
    made_by = {**values, "languages": args.languages}
    state = own_folder(args.state, recipe=made_by, inputs=inputs, seed=args.seed, code=args.code)

    # training
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

    standin = make(recipe, Inputs(args.mirror, args.languages, bases, seed, train))

    # publication
    with published(whole, recipe.repo) as folder:
        write(folder, standin, recipe)
    manifest, below = records.read_record(whole / NAME), os.path.relpath(whole, args.output.parent)
    records.write_record(
        args.output,
        job=JOB,
        inputs=inputs,
        seed=args.seed,
        labels=[records.GENERATED, records.STAND_IN],
        outputs={f"{below}/{name}": facts for name, facts in folder_facts(whole).items()},
        content=manifest["content"],
        checkpoint=args.checkpoint,
        repository=recipe.repo,
        folder=None if recipe.repo else whole.name,
        languages=args.languages,
        recipe=recipe.model_dump(mode="json", exclude_none=True),
        parameters=sum(p.numel() for p in standin.model.parameters()),
        vocabulary=len(standin.tokenizer),
        losses=standin.outcome["losses"],
        files=manifest["files"],
    )
    drop(state)
    log.info("%s: %s", args.checkpoint, standin.outcome["losses"])


def base_folder(mirror: Path, record: Path) -> Path:
    """Finds the folder of a record's stand-in. Raises SteleError if it is gone."""
    facts = records.read_record(record)
    repo = facts.get("repository")
    folder = mirror / HUB / repo / FILES if repo else record.parent / facts["folder"]
    if not (folder / "config.json").is_file():
        raise SteleError(f"{folder}: the stand-in of {record} is missing; delete the record and make it again")
    return folder


@contextmanager
def published(whole: Path, repo: str | None) -> Iterator[Path]:
    """Yields a new folder for a model's files, which then appears, with its manifest, as `whole`.

    If the model has a `repo` on the hub, the manifest is above the files and lists their addresses; otherwise it is
    beside the files and lists their names.
    """
    with atomic_directory(whole, JOB) as new:
        folder = new / FILES if repo else new
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        entries = {
            address(repo, REVISION, name) if repo else name: {**facts, "raw_sha256": facts["sha256"]}
            for name, facts in folder_facts(folder).items()
        }
        content = files_digest(folder)
        labels = [records.GENERATED, records.STAND_IN]
        atomic_write_json(new / NAME, seal({"job": JOB, "files": entries, "labels": labels, "content": content}))


def write(folder: Path, standin: StandIn, recipe: Recipe) -> None:
    """Writes config, weights (`safetensors` or `pytorch_model.bin`), tokenizer and, given a spec, the modules."""
    import torch

    from stele.recipes.standins import Contrastive

    model, settings = standin.model, recipe if isinstance(recipe, Contrastive) else None
    if settings and settings.weights == "bfloat16":
        model.to(torch.bfloat16)
    with quiet():
        if recipe.publish == "safetensors":
            size = sum(weight.numel() * weight.element_size() for weight in model.parameters())
            sharded = {"max_shard_size": math.ceil(0.6 * size)} if settings and settings.sharded else {}
            model.save_pretrained(folder, **sharded)
        else:
            model.config.architectures = [type(model).__name__]
            model.config.save_pretrained(folder)
            weights = {name: value.detach().cpu().contiguous() for name, value in model.state_dict().items()}
            torch.save(weights, folder / "pytorch_model.bin")
    save_tokenizer(folder, standin.tokenizer)
    if standin.spec is not None:
        from stele.encoders.save import write_modules
        from stele.recipes.encoding import EncodingSpec

        write_modules(folder, model, EncodingSpec(**standin.spec), standin.heads)
        if settings is not None:
            path = folder / "config_sentence_transformers.json"
            if settings.prompts is None:  # its original has no such file
                path.unlink()
            else:
                atomic_write_json(path, read_object(path, "settings") | {"prompts": dict(settings.prompts)})


def save_tokenizer(folder: Path, tokenizer: Any) -> None:
    """Saves the tokenizer's files, without the path from which it was loaded."""
    tokenizer = copy.deepcopy(tokenizer)
    for circumstance in ("is_local", "local_files_only", "name_or_path"):
        tokenizer.init_kwargs.pop(circumstance, None)
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.save_pretrained(folder)
