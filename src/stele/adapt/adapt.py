"""Adapt an encoder to documents of your own, and judge whether it is better than it was.

    stele adapt intfloat/multilingual-e5-small --documents my_text/ --hours 1
    stele adapt FOLDER --documents my_text/ --methods msm crop ccp --benchmarks tatoeba lareqa --seeds 3
    stele adapt FOLDER --documents my_text/ --plan              # downloads, disk and hours; nothing is run
    stele adapt FOLDER --documents my_text/ --seeds 5           # later: two seeds more, everything else is there
    stele adapt FOLDER --documents my_text/ --snakemake --profile slurm # the last: options of Snakemake

Trains one model a method and seed, and one of masked language modelling with as many operations, and evaluates them and
the encoder as it is on the same benchmarks. Writes adapt/NAME.yaml, a configuration like any other, whose sizes follow
from the encoder and the budget (docs/adapt.md); what is edited there stays. Then builds the verdicts and their card,
results_adapt/NAME/verdict.json, card.md and card.html.
"""

from __future__ import annotations

import argparse
import logging
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stele import catalogue
from stele.adapt.corpus import user_corpus
from stele.adapt.sizes import evaluated_keys, sizes_of, steps_within, trained_models
from stele.artifacts import records
from stele.catalogue import read_yaml, whole
from stele.catalogue.schema.adaptation import AdaptationRules
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.languages import Language
from stele.claims.judging.estimate import FEWEST_SEEDS
from stele.cluster.sizes import shape_of
from stele.command import arguments
from stele.config.model import parse_config
from stele.errors import SteleError, unknown
from stele.evaluate.evaluate import build, check_checkpoint, cost, encoding_of, model_of, write
from stele.files.atomic import atomic_file
from stele.files.formats import duration
from stele.files.paths import inside
from stele.files.reading import read_json
from stele.plan.plan import Plan, make_plan

log = logging.getLogger(__name__)

FOLDER = Path("adapt")
RESULTS = "results_adapt"
SCALE = "laptop"
DEFAULT_BENCHMARKS = ("belebele", "tatoeba")
SEEDS = FEWEST_SEEDS
MOST_THREADS = 8
COMMAND = "stele adapt"
MEASURED = "measured"  # what a training whose steps are timed is called


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="ENCODER", help="a hub id, a folder, or a key of models.yaml")
    parser.add_argument("--documents", required=True, type=Path, metavar="FOLDER", help="your text: see docs/adapt.md")
    parser.add_argument("--methods", nargs="+", metavar="NAME", help="default: msm; the first sets the compute of all")
    parser.add_argument("--benchmarks", nargs="+", metavar="NAME", help=f"default: {' '.join(DEFAULT_BENCHMARKS)}")
    parser.add_argument("--languages", nargs="+", metavar="CODE", help="to evaluate in; default: of the documents")
    parser.add_argument("--seeds", type=arguments.whole, metavar="N", help=f"of each method; default: {SEEDS}")
    parser.add_argument("--hours", type=arguments.number, help="of all trainings together; sets the steps")
    parser.add_argument("--steps", type=arguments.whole, help="of the first method, in place of --hours")
    parser.add_argument("--name", help="what the adaptation is called; default: as the encoder")
    parser.add_argument("--encoding", nargs="+", default=[], metavar="KEY=VALUE", help="how it makes vectors")
    parser.add_argument("--configfile", type=Path, help="more keys of config.yaml, as user_data")
    parser.add_argument(
        "--snakemake", nargs=argparse.REMAINDER, default=[], metavar="OPTION", help="the last: options of Snakemake"
    )
    parser.add_argument("--plan", action="store_true", help="show what it takes and run nothing")


def run(args: argparse.Namespace) -> None:
    if not Path("config.yaml").is_file():
        raise SteleError(f"config.yaml: not here; run `{COMMAND}` in the project's folder")
    check_names(args)
    # the encoder's key, what config.yaml must say of it, and the documents
    name, model = model_of(args.model, encoding_of(args.encoding), args.name)
    path = inside(FOLDER, f"{name}.yaml", f"the encoder {args.model}")
    corpus, languages = user_corpus(args.documents)
    # the configuration of this adaptation, over that of an earlier call and the user's other keys
    earlier = earlier_call(path, args)
    others = (read_yaml(args.configfile) or {}) if args.configfile else {}
    values = configuration(args, name, model, corpus, languages, earlier, others)
    scale = {"like": SCALE, "title": f"{name} on documents of one's own", "generated": False}
    scale |= {"threads": min(MOST_THREADS, len(os.sched_getaffinity(0))), "gpus": gpus(args.snakemake)}
    write_scale(Path(values["scale"]), scale)
    # sizes by the encoder's shape; the steps may take a measurement
    plan = make_plan(parse_config({**read_yaml("config.yaml"), **values, "adapt": None}))
    check_checkpoint(plan, name)
    rules = whole(AdaptationRules)
    methods = methods_of(args, earlier, name)
    sizes = sizes_of(shape_of(plan, name).shape, rules)

    def with_steps(steps: int) -> dict[str, Any]:
        fresh = trained_models(name, methods, languages, sizes, steps, scale["gpus"])
        return {**values, "models": {**values["models"], **fresh, **earlier.get("models", {})}}

    values["adapt"] = {**evaluated_keys(name, methods, rules), **values["adapt"]}
    steps = steps_of(args, earlier, name, rules)
    if steps is None and not args.plan:
        write(path, with_steps(rules.steps), COMMAND)
        values["adapt"]["step_seconds"] = measure(path, with_steps(rules.steps), methods[0], rules, args.snakemake)
        number = (len(methods) + 1) * len(values["seeds"]["pretraining"])
        steps = steps_within(args.hours, values["adapt"]["step_seconds"], number, rules)
        values["adapt"]["hours"] = args.hours
        print(f"{steps} steps of {duration(values['adapt']['step_seconds'])} in each of {number} trainings", flush=True)
    values = with_steps(steps or rules.steps)
    # everything is checked before it is written
    plan = make_plan(parse_config({**read_yaml("config.yaml"), **values}))
    plan.adaptation.keys()
    write(path, values, COMMAND)
    targets = [plan.paths.verdict, plan.paths.adaptation_card]
    words = [*targets, "--configfile", str(path), *args.snakemake]
    print(f"snakemake {shlex.join(words)}", flush=True)
    if args.plan:
        if steps is None:
            print(f"--hours: the steps follow from a measurement; this is for {rules.steps}")
        print(cost(targets, path, f"adapting {name} with {', '.join(methods)}", on_cluster="slurm" in args.snakemake))
        return
    print(f"Logs: {plan.paths.logs}/", flush=True)
    build(words)
    report(plan)


def check_names(args: argparse.Namespace) -> None:
    """Refuses what no configuration can say."""
    rules = whole(AdaptationRules)
    for method in args.methods or ():
        if method not in rules.methods:
            raise unknown("method", method, rules.methods)
    for benchmark in args.benchmarks or ():
        if benchmark not in catalogue.entries(Benchmark):
            raise unknown("benchmark", benchmark, catalogue.entries(Benchmark))
    if args.hours is not None and args.steps is not None:
        raise SteleError("--hours, --steps: one follows from the other; give one of them")
    for option in ("hours", "steps", "seeds"):
        value = getattr(args, option)
        if value is not None and value <= 0:
            raise SteleError(f"--{option} {value:g}: want more than 0")


def gpus(options: Sequence[str]) -> int:
    """GPUs of a training: one where there is one, here or on a cluster."""
    return int(Path("/dev/nvidia0").exists() or "slurm" in options)


# --- its configuration ------------------------------------------------------------------------------------------------
def configuration(
    args: argparse.Namespace,
    name: str,
    model: dict[str, Any],
    corpus: Mapping[str, str],
    languages: Sequence[str],
    earlier: Mapping[str, Any],
    others: Mapping[str, Any],
) -> dict[str, Any]:
    """The keys of config.yaml of one adaptation but for the trained models.

    An earlier call's seeds, benchmarks and encoding stay. Raises SteleError where it had another encoder or documents.
    """
    user_data = {**others.get("user_data", {}), **corpus}
    before = earlier.get("adapt") or {}
    encoder = earlier.get("models", {}).get(name, model)
    for key, old, new in (
        ("encoder", encoder.get("checkpoint"), model.get("checkpoint")),
        ("encoding", encoder.get("encoding"), model.get("encoding") if args.encoding else encoder.get("encoding")),
        ("documents", {key: earlier.get("user_data", {}).get(key) for key in corpus}, dict(corpus)),
    ):
        if earlier and old != new:
            raise SteleError(
                f"{FOLDER / name}.yaml is of another {key}: {old}; give --name NAME for a second adaptation"
            )
    evaluated = args.languages or earlier.get("languages") or [c for c in languages if c in catalogue.entries(Language)]
    seeds = max(args.seeds or 0, len(earlier.get("seeds", {}).get("pretraining", []))) or SEEDS
    benchmarks = [*before.get("benchmarks", []), *(args.benchmarks or ([] if before else DEFAULT_BENCHMARKS))]
    values = {
        **others,
        "scale": f"{FOLDER / name}.scale.yaml",
        "results_dir": f"{RESULTS}/{name}",
        "languages": list(evaluated),
        "seeds": {"pretraining": list(range(seeds)), "finetuning": [0]},
        "user_data": user_data,
        "models": {**others.get("models", {}), name: encoder},
    }
    verdict = Path(values["results_dir"], "verdict.json")
    values["adapt"] = {
        **{key: before[key] for key in ("hours", "step_seconds") if key in before},
        "benchmarks": list(dict.fromkeys(benchmarks)),
        "looks": looks_of(read_json(verdict, "verdict").get("looks", []) if verdict.is_file() else [], seeds),
        "command": command_line(sys.argv),
    }
    return values


def command_line(words: Sequence[str]) -> str:
    """The command as it was typed, without --plan.

    >>> command_line(["stele", "adapt", "a/b", "--documents", "my text", "--plan"])
    "stele adapt a/b --documents 'my text'"
    """
    typed = words[words.index("adapt") + 1 :] if "adapt" in words else []
    return shlex.join([*COMMAND.split(), *(word for word in typed if word != "--plan")])


def earlier_call(path: Path, args: argparse.Namespace) -> dict[str, Any]:
    """The configuration of an earlier call: nothing where another budget is given before anything was trained by it."""
    if not path.is_file():
        return {}
    earlier = read_yaml(path)
    trained = {record.parts[-3] for record in Path(f"work/{path.stem}.scale/encoders").glob("*/pt*/record.json")}
    if trained - {f"{path.stem}-{MEASURED}"} or (args.steps is None and args.hours is None):
        return earlier
    return earlier if args.hours and args.hours == (earlier.get("adapt") or {}).get("hours") else {}


def looks_of(before: Sequence[int], seeds: int) -> list[int]:
    """The looks with one at this number of seeds; one at fewer seeds than decide anything does not count.

    >>> looks_of([], 3), looks_of([3], 3), looks_of([3], 5), looks_of([1], 3)
    ([3], [3], [3, 5], [3])
    """
    return [*(look for look in before if FEWEST_SEEDS <= look < seeds), seeds]


def methods_of(args: argparse.Namespace, earlier: Mapping[str, Any], name: str) -> list[str]:
    """The methods of earlier calls, and those that are named; the first, which sets the compute, stays the first."""
    before = [key.removeprefix(f"{name}-") for key in (earlier.get("adapt") or {}).get("methods", [])]
    return list(dict.fromkeys([*before, *(args.methods or ([] if before else ["msm"]))]))


def steps_of(args: argparse.Namespace, earlier: Mapping[str, Any], name: str, rules: AdaptationRules) -> int | None:
    """The steps of the first method: an earlier call's, else --steps; None where they follow from --hours.

    Raises SteleError where an earlier call had others.
    """
    before = earlier.get("adapt") or {}
    first = earlier.get("models", {}).get((before.get("methods") or [""])[0], {})
    if not (steps := first.get("override", {}).get("steps")) or (before.get("hours") is None and args.hours):
        return None if args.hours else args.steps or rules.steps
    if args.steps not in (None, steps) or (args.hours and args.hours != before.get("hours")):
        raise SteleError(
            f"{FOLDER / name}.yaml has {steps} steps; give --name NAME for a second adaptation, or remove the file and "
            f"{RESULTS}/{name}"
        )
    return steps


def write_scale(path: Path, scale: Mapping[str, Any]) -> None:
    """Writes the scale of an adaptation, which keeps its files apart from others'; one that is there stays."""
    import yaml

    if not path.is_file():
        with atomic_file(path) as handle:
            handle.write(yaml.safe_dump(dict(scale), allow_unicode=True, sort_keys=False))


# --- the run ----------------------------------------------------------------------------------------------------------
def measure(path: Path, values: dict[str, Any], method: str, rules: AdaptationRules, options: Sequence[str]) -> float:
    """Seconds of a step of the first method on this machine, by a training of a few steps."""
    first = values["adapt"]["methods"][0]
    measured = f"{values['adapt']['base']}-{MEASURED}"
    model = dict(values["models"][first])
    model["override"] = {**model["override"], "steps": rules.measured_steps, "warmup_steps": 1}
    with_measured = {**values, "models": {**values["models"], measured: model}}
    plan = make_plan(parse_config({**read_yaml("config.yaml"), **with_measured}))
    write(path, with_measured, COMMAND)
    record = plan.paths.pretrained(measured, 0)
    print(f"Measuring {rules.measured_steps} steps of {method}, which say how many fit", flush=True)
    build([record, "--configfile", str(path), *options])
    return round(records.read_record(record)["train_seconds"] / rules.measured_steps, 3)


def report(plan: Plan) -> None:
    """Prints the verdicts and where the card and the encoders are."""
    for comparison in read_json(Path(plan.paths.verdict), "verdict")["comparisons"]:
        print(comparison["sentence"])
    print(f"Card: {plan.paths.adaptation_card}, {Path(plan.paths.adaptation_card).with_suffix('.html')}")
    for key, record in plan.adaptation.encoders().items():
        if key.rpartition(":")[0] in plan.adaptation.values.methods:
            print(f"{key}: {Path(record).parent}")
