"""Adapt an encoder to your documents, and judge whether it improved.

    stele adapt intfloat/multilingual-e5-small --documents my_text/ --data my_set/ --hours 1
    stele adapt FOLDER --documents my_text/ --methods msm crop ccp --benchmarks tatoeba lareqa --seeds 3
    stele adapt FOLDER --documents my_text/ --plan              # downloads, disk and hours; nothing is run
    stele adapt FOLDER --documents my_text/ --seeds 5           # later: two more seeds; the rest is reused
    stele adapt FOLDER --documents my_text/ --snakemake --profile slurm # options of Snakemake come last

Trains one model per method and seed, and a control with masked language modelling and the same compute, and evaluates
them and the original encoder on the same benchmarks. Writes adapt/NAME.yaml, a configuration like any other, whose
sizes follow from the encoder and the budget (docs/adapt.md); later calls keep your edits. Then builds the verdicts and
their card, results_adapt/NAME/verdict.json, card.md and card.html.
"""

import os
import shlex
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from cyclopts import Parameter
from pydantic import Field

from stele.adapt.planning.configuration import (
    COMMAND,
    DEFAULT_BENCHMARKS,
    SEEDS,
    configuration,
    evaluated_keys,
    sizes_of,
    steps_within,
    trained_models,
)
from stele.adapt.planning.earlier_calls import (
    FOLDER,
    MEASURED,
    earlier_call,
    is_trained,
    languages_in,
    methods_in,
    methods_of,
    steps_of,
    with_budget,
    with_earlier_command,
)
from stele.artifacts import records
from stele.catalogue import entries, read_yaml, whole
from stele.catalogue.scales import deep_merge
from stele.catalogue.schema.adaptation import AdaptationRules
from stele.catalogue.schema.languages import Language
from stele.catalogue.user_documents import by_language
from stele.claims.judging.estimate import FEWEST_SEEDS
from stele.cluster.sizes import shape_of
from stele.command.arguments import Job, Positional, Some
from stele.config.user_models import encoding_of, model_of
from stele.errors import SteleError, check_known
from stele.evaluate.evaluate import (
    build,
    check_checkpoint,
    cost,
    on_slurm,
    plan_of,
    write,
)
from stele.files.formats import amount, duration
from stele.files.paths import inside
from stele.files.reading import read_json
from stele.files.strict import validate
from stele.plan.plan import Plan

HEAD = f"written by `{COMMAND}`; a configuration like any other, for --configfile"
SCALE, SCALE_HEAD = "laptop", f"written by `{COMMAND}`; it keeps an adaptation's files apart from others'"
MOST_THREADS = 8


class Adapt(Job):
    model: Positional[str]
    """A hub id, a folder, or a key of models.yaml."""
    documents: Path
    """Your text: a folder or a file in one of the formats of docs/adapt.md."""
    methods: Some[str] | None = None
    """Training objectives to add; the first of an adaptation sets the compute of all; default: msm."""
    benchmarks: Some[str] | None = Field(
        None,
        description=f"Benchmarks to add; default at first: those of --data, else {' '.join(DEFAULT_BENCHMARKS)}.",
    )
    data: Some[Path] = ()
    """Folders of your own data sets, in BEIR's or MTEB's layout; each is named after its folder."""
    languages: Some[str] | None = None
    """Languages to evaluate in; default: the documents' languages."""
    seeds: int | None = Field(
        None, description=f"Number of seeds of each method; default: {SEEDS}, or as many as before."
    )
    hours: float | None = None
    """Hours of all trainings together; the number of steps is computed from them."""
    steps: int | None = None
    """Training steps of the first method, in place of --hours."""
    name: str | None = None
    """Name of the adaptation; default: the encoder's name."""
    encoding: Some[str] = ()
    """How texts become vectors, as KEY=VALUE ..., e.g. pooling=mean."""
    configfile: Path | None = None
    """File with further keys of config.yaml, e.g. user_data."""
    snakemake: Annotated[tuple[str, ...], Parameter(allow_leading_hyphen=True)] = ()
    """Options for Snakemake: everything after this flag."""
    plan: bool = False
    """Show downloads, disk, memory and time, and run nothing."""


def run(args: Adapt) -> None:
    if not Path("config.yaml").is_file():
        raise SteleError(f"config.yaml: not in this folder; run `{COMMAND}` in the project's folder")
    check_names(args)
    # the encoder's key, its entry in config.yaml, and the documents
    name, model = model_of(args.model, encoding_of(args.encoding), args.name)
    path = inside(FOLDER, f"{name}.yaml", f"the encoder {args.model}")
    if name.endswith(".scale"):
        raise SteleError(f"--name {name}: it ends in .scale, as the names of scale files do; give another name")
    documents = by_language(args.documents, languages_known(Path("config.yaml"), path, args.configfile))
    shown = (f"{code} ({amount(len(of.files), 'file')}, {of.size / 1e6:.2f} MB)" for code, of in documents.items())
    print(f"Documents: {', '.join(shown)}")
    # the configuration; a refused call must not leave a scale file, which would determine the next call
    scale = Path(f"{FOLDER / name}.scale.yaml")
    was_there = scale.is_file()
    try:
        values, steps = settled(args, name, model, list(documents))
    except SteleError:
        if not was_there and not path.is_file():  # the configuration of a timing that failed needs it
            scale.unlink(missing_ok=True)
        raise
    plan = plan_of(values)
    targets = [plan.paths.verdict, plan.paths.adaptation_card]
    seeds = len(values["seeds"]["pretraining"])
    if args.seeds is not None and args.seeds < seeds:
        print(f"--seeds {args.seeds}: {path} has {seeds} seeds already, which are kept")
    if seeds < FEWEST_SEEDS:
        print(f"--seeds {seeds}: a verdict needs {FEWEST_SEEDS} seeds or more; you can add some later")
    words = [*targets, "--configfile", str(path), *args.snakemake]
    print(f"snakemake {shlex.join(words)}", flush=True)
    if args.plan:
        if steps is None:
            print(f"--hours: timed steps will set their number; this plan assumes {whole(AdaptationRules).steps} steps")
        what = f"adapting {name} with {', '.join(methods_in(values, name))}"
        with TemporaryDirectory() as aside:
            # a plan for more training than was done must not affect later calls
            planned = Path(aside, path.name) if is_trained(name) else path
            write(planned, values, HEAD)
            if reason := too_long(plan):
                print(f"{reason}; shorten the texts in {path} and {scale} before you build it")
            else:
                print(cost(targets, planned, what, on_slurm(args.snakemake)))
        return
    write(path, values, HEAD)
    print(f"Logs: {plan.paths.logs}/", flush=True)
    build(words)
    report(plan)


def settled(
    args: Adapt, name: str, model: dict[str, Any], languages: Sequence[str]
) -> tuple[dict[str, Any], int | None]:
    """The configuration of an adaptation, merged over an earlier call's and the user's, and the number of steps.

    The number is None if --hours has not been timed, as with --plan. Raises SteleError if a row cannot be built.
    """
    path = FOLDER / f"{name}.yaml"
    earlier = earlier_call(path, args)
    values = configuration(args, name, model, languages, earlier)
    scale = {"like": SCALE, "title": f"{name} on your documents", "generated": False}
    has_gpu = Path("/dev/nvidia0").exists() or on_slurm(args.snakemake)
    scale |= {"threads": min(MOST_THREADS, len(os.sched_getaffinity(0))), "gpus": int(has_gpu)}
    if not Path(values["scale"]).is_file():
        write(Path(values["scale"]), scale, SCALE_HEAD)
    gpus_of_scale = read_yaml(values["scale"]).get("gpus", 0)  # keep an earlier call's file
    if gpus_of_scale != scale["gpus"]:
        print(f"{values['scale']} sets gpus: {gpus_of_scale}; for this call's gpus: {scale['gpus']}, edit that file")
    # sizes follow from the encoder's shape; finding the steps may need a timed run
    plan = plan_of({**values, "adapt": None, "cards": {name: []}})  # a card needs an untrained encoder
    check_checkpoint(plan, name, trained=True)
    if not (args.benchmarks or args.data or earlier):
        values["adapt"]["benchmarks"] = [key for key in DEFAULT_BENCHMARKS if plan.data.languages(key)]
        if not values["adapt"]["benchmarks"]:
            raise SteleError(
                f"the default benchmarks {' and '.join(DEFAULT_BENCHMARKS)} have no texts in "
                f"{', '.join(values['languages'])}; give --data FOLDER or --benchmarks"
            )
    rules = whole(AdaptationRules)
    methods, learnt = methods_of(args, earlier, name), languages_in(earlier) or languages
    if others := [code for code in languages if code not in learnt]:
        print(f"Documents in {', '.join(others)} are left out: {path} trains its models on {', '.join(learnt)}")
    sizes = sizes_of(shape_of(plan, name).shape, rules)

    def with_steps(steps: int) -> dict[str, Any]:
        fresh = trained_models(name, methods, learnt, sizes, steps, gpus_of_scale)
        return {**values, "models": {**values["models"], **fresh, **with_budget(earlier.get("models", {}), fresh)}}

    values["adapt"] = {**evaluated_keys(name, methods, rules), **values["adapt"]}
    if not args.plan and (reason := too_long(plan_of(with_steps(rules.steps)))):
        raise SteleError(f"{reason}; give an encoder that reads more, or shorten the texts in the files of --plan")
    steps = steps_of(args, earlier, name, rules)
    if steps is None and not args.plan:
        plan_of(with_steps(rules.steps)).adaptation.keys()  # raises if a row cannot be built, before anything is timed
        seconds = measure(path, with_steps(rules.steps), rules, args.snakemake)
        number = (len(methods) + 1) * len(values["seeds"]["pretraining"])
        steps = steps_within(args.hours, seconds, number, rules)
        values["adapt"] |= {"hours": args.hours, "step_seconds": seconds}
        print(
            f"{steps} steps, or the same compute, in each of {number} trainings; a step takes {duration(seconds)}",
            flush=True,
        )
    values = with_earlier_command(with_steps(steps or rules.steps), earlier)
    # everything is checked before it is written
    plan_of(values).adaptation.keys()
    return values, steps


def too_long(plan: Plan) -> str | None:
    """The reason if a method or the control trains on longer texts than the encoder can read, else None."""
    return next(filter(None, map(plan.pretraining.too_long, plan.adaptation.trained())), None)


def languages_known(*files: Path | None) -> dict[str, Language]:
    """The languages of the catalogue and of `add_languages` in these configurations, merged as Snakemake does."""
    contents = (read_yaml(file) for file in files if file and file.is_file())
    added = reduce(lambda base, values: deep_merge(values, base), contents, {}).get("add_languages") or {}
    return {**entries(Language), **validate(dict[str, Language], added, "add_languages")}


def check_names(args: Adapt) -> None:
    """Raises SteleError for options that are unknown, contradict each other or are out of range."""
    rules = whole(AdaptationRules)
    for method in args.methods or ():
        check_known("method", method, rules.methods)
    if Path.cwd().is_relative_to(args.documents.expanduser().resolve()):
        raise SteleError(f"--documents {args.documents}: the folder contains the project's outputs; give another one")
    if args.hours is not None and args.steps is not None:
        raise SteleError("--hours, --steps: both are given; give only one, since the other follows from it")
    for option in ("hours", "steps", "seeds"):
        value = getattr(args, option)
        if value is not None and value <= 0:
            raise SteleError(f"--{option}: found {value:g}, want a number above 0")


def measure(path: Path, values: dict[str, Any], rules: AdaptationRules, options: Sequence[str]) -> float:
    """Measures the seconds of a training step on this machine, estimated as a mean over all trainings.

    It times short trainings of the first method and of the control (masked language modelling with the same compute,
    which is mostly slower); all other methods are assumed to take as long as the slower of the two.
    """
    keys, base = values["adapt"], values["adapt"]["base"]
    first, control = f"{base}-{MEASURED}", f"{base}-{MEASURED}-control"
    short = {"steps": rules.measured_steps, "warmup_steps": 1, "snapshots": []}
    changes = {
        first: (keys["methods"][0], short),
        control: (keys["control"], {"equal_compute_to": first, "snapshots": []}),
    }
    models = {
        key: {**values["models"][model], "override": {**values["models"][model]["override"], **change}}
        for key, (model, change) in changes.items()
    }
    with_measured = {**values, "models": {**values["models"], **models}}
    paths = plan_of(with_measured).paths
    timed = [paths.pretrained(key, 0) for key in changes]
    write(path, with_measured, HEAD)
    print(f"Timing {rules.measured_steps} steps of {keys['methods'][0]}, and the control at equal compute", flush=True)
    build([*timed, "--configfile", str(path), *options])
    seconds = [records.read_record(record)["train_seconds"] / rules.measured_steps for record in timed]
    others = len(keys["methods"]) - 1
    return round((sum(seconds) + others * max(seconds)) / (others + 2), 3)


def report(plan: Plan) -> None:
    """Prints the verdicts, warnings about them, and the paths of the card and of the encoders."""
    if not Path(plan.paths.verdict).is_file():  # a dry run, or a part of the run
        return
    verdict = read_json(Path(plan.paths.verdict), "verdict")
    for comparison in verdict["comparisons"]:
        print(comparison["sentence"])
    for warning in verdict.get("warnings", ()):
        print(f"Warning: {warning}")
    print(f"Card: {plan.paths.adaptation_card}, {Path(plan.paths.adaptation_card).with_suffix('.html')}")
    for key, record in plan.adaptation.encoders().items():
        if key.rpartition(":")[0] in plan.adaptation.values.methods:
            print(f"{key}: {Path(record).parent}")
