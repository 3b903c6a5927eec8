"""The configuration of an adaptation: what `stele adapt` writes, and what stays of an earlier call's.

Sizes follow from the encoder and the budget, by the rules of catalogue/adaptation.yaml.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stele.catalogue import entries, load, read_yaml, whole
from stele.catalogue.schema.adaptation import AdaptationRules, EncoderSizes
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.languages import Language
from stele.catalogue.user_documents import DATASET, UNDETERMINED
from stele.claims.judging.estimate import FEWEST_SEEDS
from stele.command.arguments import Job
from stele.config.user_sets import KEYS, merged, user_sets
from stele.errors import SteleError, unknown
from stele.files.atomic import atomic_file
from stele.files.formats import duration
from stele.files.reading import read_json
from stele.recipes.flops import Shape

FOLDER = Path("adapt")
RESULTS = "results_adapt"
DEFAULT_BENCHMARKS = ("belebele", "tatoeba")
SEEDS = FEWEST_SEEDS
COMMAND = "stele adapt"
MEASURED = "measured"  # begins the name of a training whose steps are timed
MILLION = 1e6


def configuration(
    args: Job,
    name: str,
    model: dict[str, Any],
    languages: Sequence[str],
    earlier: Mapping[str, Any],
) -> dict[str, Any]:
    """The keys of config.yaml of one adaptation but for the trained models; the documents are in `languages`.

    An earlier call's seeds, benchmarks and encoding stay. Raises SteleError where it had another encoder or documents.
    """
    corpus = {DATASET: str(args.documents.expanduser().resolve())}
    others = read_yaml(args.configfile) if args.configfile else {}
    before, encoder = earlier.get("adapt") or {}, earlier.get("models", {}).get(name, model)
    for key, old, new in (
        ("encoder", encoder.get("checkpoint"), model.get("checkpoint")),
        ("encoding", encoder.get("encoding"), model.get("encoding") if args.encoding else encoder.get("encoding")),
        ("documents", earlier.get("user_data", {}).get(DATASET), corpus[DATASET]),
    ):
        if earlier and old != new:
            raise SteleError(
                f"{FOLDER / name}.yaml has {old or 'nothing'} as its {key}; give --name NAME for a second adaptation"
            )
    # the benchmarks, some of them sets of the user's own, and their languages
    said_before = merged(read_yaml("config.yaml"), merged(others, earlier_sets(earlier)))
    sets = user_sets(args.data, args.languages or languages, said_before)
    names = [*(args.benchmarks or ([] if args.data or before else DEFAULT_BENCHMARKS)), *sets["user_data"]]
    declared = merged(said_before, sets)
    added = declared.get("add_benchmarks") or {}
    for benchmark in names:
        if benchmark not in (known := {*entries(Benchmark), *added}):
            raise unknown("benchmark", benchmark, known)
    codes_of_sets = {
        code for entry in added.values() for pair in entry.get("languages", ()) for code in pair.split("-")
    }
    described = {*entries(Language), *(declared.get("add_languages") or {}), *codes_of_sets}
    wanted = [*(args.languages or earlier.get("languages") or languages), *(codes_of_sets & {UNDETERMINED})]
    evaluated = list(dict.fromkeys(code for code in wanted if code in {*described, *(args.languages or ())}))
    if not evaluated:
        raise SteleError(
            f"--documents {args.documents}: no benchmark has its languages ({', '.join(languages)}); name a folder or "
            "file by a language's code (de/, de.txt), or say with --languages which languages are evaluated"
        )
    seeds = max(args.seeds or 0, len(earlier.get("seeds", {}).get("pretraining", []))) or SEEDS
    verdict = Path(RESULTS, name, "verdict.json")
    values = {
        "scale": f"{FOLDER / name}.scale.yaml",
        "results_dir": f"{RESULTS}/{name}",
        "languages": evaluated,
        "seeds": {"pretraining": list(range(seeds)), "finetuning": [0]},
        "models": {name: encoder},
        "adapt": {
            **{key: before[key] for key in ("hours", "step_seconds") if key in before},
            "benchmarks": list(dict.fromkeys([*before.get("benchmarks", []), *names])),
            "looks": looks_of(read_json(verdict, "verdict").get("looks", []) if verdict.is_file() else [], seeds),
            "command": command_line(sys.argv),
        },
    }
    user_data = {**sets, "user_data": {**corpus, **sets["user_data"]}}
    values |= {key: entries_by_name for key, entries_by_name in user_data.items() if entries_by_name}
    return merged(others, merged(earlier_sets(earlier), values))


def earlier_sets(earlier: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of an earlier call's data."""
    return {key: earlier[key] for key in KEYS if earlier.get(key)}


def command_line(words: Sequence[str]) -> str:
    """The command as it was typed, without --plan.

    >>> command_line(["stele", "adapt", "a/b", "--documents", "my text", "--plan"])
    "stele adapt a/b --documents 'my text'"
    """
    typed = words[words.index("adapt") + 1 :] if "adapt" in words else []
    return shlex.join([*COMMAND.split(), *(word for word in typed if word != "--plan")])


def with_earlier_command(values: dict[str, Any], earlier: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration; with the command of the call that asked for all of it where this one asks for nothing new.

    The card shows a command, so that another one would build the verdict again.

    >>> earlier = {"seeds": [0, 1], "adapt": {"command": "stele adapt a/b --seeds 2"}}
    >>> with_earlier_command({"seeds": [0, 1], "adapt": {"command": "stele adapt a/b"}}, earlier) == earlier
    True
    """
    command = {"command": (earlier.get("adapt") or {}).get("command")}
    repeated = {**values, "adapt": {**values["adapt"], **command}}
    return repeated if repeated == earlier else values


def earlier_call(path: Path, args: Job) -> dict[str, Any]:
    """The configuration of an earlier call: nothing where another budget is given before anything was trained by it."""
    if not path.is_file():
        return {}
    earlier = read_yaml(path)
    trained = {record.parts[-3] for record in Path(f"work/{path.stem}.scale/encoders").glob("*/pt*/record.json")}
    if any(not model.startswith(f"{path.stem}-{MEASURED}") for model in trained):
        return earlier
    if {*methods_in(earlier, path.stem)} - {*(args.methods or methods_in(earlier, path.stem))}:
        return {}  # of a --plan with more methods, of which none was trained
    if args.seeds is not None and args.seeds < len(earlier.get("seeds", {}).get("pretraining", [])):
        return {}
    if args.steps is None and args.hours is None:
        return earlier
    before = {"hours": (earlier.get("adapt") or {}).get("hours"), "steps": steps_in(earlier)}
    same = args.hours == before["hours"] if args.hours else args.steps == before["steps"]
    return earlier if same else {}


def steps_in(earlier: Mapping[str, Any]) -> int | None:
    """The steps of an earlier call's first method."""
    first = ((earlier.get("adapt") or {}).get("methods") or [""])[0]
    return earlier.get("models", {}).get(first, {}).get("override", {}).get("steps")


def looks_of(before: Sequence[int], seeds: int) -> list[int]:
    """The looks with one at this number of seeds; one at fewer seeds than decide anything does not count.

    >>> looks_of([], 3), looks_of([3], 3), looks_of([3], 5), looks_of([1], 3)
    ([3], [3], [3, 5], [3])
    """
    return [*(look for look in before if FEWEST_SEEDS <= look < seeds), seeds]


def methods_in(earlier: Mapping[str, Any], name: str) -> list[str]:
    """The methods of an earlier call."""
    return [key.removeprefix(f"{name}-") for key in (earlier.get("adapt") or {}).get("methods", [])]


def methods_of(args: Job, earlier: Mapping[str, Any], name: str) -> list[str]:
    """The methods of earlier calls, and those that are named; the first, which sets the compute, stays the first."""
    before = methods_in(earlier, name)
    return list(dict.fromkeys([*before, *(args.methods or ([] if before else ["msm"]))]))


def steps_of(args: Job, earlier: Mapping[str, Any], name: str, rules: AdaptationRules) -> int | None:
    """The steps of the first method: an earlier call's, else --steps; None where they follow from --hours.

    Raises SteleError where an earlier call had others.
    """
    before, steps = earlier.get("adapt") or {}, steps_in(earlier)
    if not steps:
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


def gpus(options: Sequence[str]) -> int:
    """GPUs of a training: one where there is one, here or on a cluster."""
    return int(Path("/dev/nvidia0").exists() or "slurm" in options)


# --- sizes ------------------------------------------------------------------------------------------------------------
def layer_weights(shape: Shape) -> float:
    """The weights of an encoder's layers, words apart.

    >>> layer_weights(Shape(layers=6, width=384, inner=1536, vocabulary=30522)) / MILLION
    10.616832
    """
    return shape.layers * (4 * shape.width**2 + 2 * shape.width * shape.inner)


def sizes_of(shape: Shape, rules: AdaptationRules) -> EncoderSizes:
    """How an encoder of this shape is trained."""
    millions = layer_weights(shape) / MILLION
    return next(line for line in rules.encoders if line.weights is None or millions <= line.weights)


def steps_within(hours: float, step_seconds: float, trainings: int, rules: AdaptationRules) -> int:
    """The steps that each of `trainings` may take, which together last some hours. Raises SteleError for too few.

    >>> steps_within(1.0, 3.0, 6, whole(AdaptationRules))
    200
    """
    steps = int(3600 * hours / (trainings * step_seconds))
    if steps < rules.fewest_steps:
        needed = rules.fewest_steps * trainings * step_seconds
        raise SteleError(
            f"--hours {hours:g} allows {steps} steps of {duration(step_seconds)} in each of {trainings} trainings; "
            f"give {duration(needed)} at least, fewer --methods or --seeds"
        )
    return steps


def trained_models(
    base: str, methods: Sequence[str], languages: Sequence[str], sizes: EncoderSizes, steps: int, gpus: int
) -> dict[str, dict[str, Any]]:
    """Key -> the model of each method and of the control, as config.yaml has it.

    The first method has `steps`; the others and the control take as many operations.
    """
    rules, recipes = whole(AdaptationRules), load("recipes")["pretraining"]

    def override(recipe: str, **of_recipe: Any) -> dict[str, Any]:
        settled = (
            {"groups"} if "step_pairs" in recipes[recipe] else set()
        )  # CCP's groups follow from the pairs of a step
        rates = sizes.model_dump(
            include={"learning_rate", "groups", "encode_chunk"}, exclude=settled, exclude_none=True
        )
        precision = "bfloat16" if gpus else "float32"
        beside = {} if recipe == rules.control else {"mlm_share": rules.mlm_share}
        kept = {"snapshots": [steps // 2]} if steps > 1 else {}  # half-way, of all in the first method's steps
        return {"languages": list(languages), **rates, **beside, **kept, "precision": precision, **of_recipe}

    first, warmup = model_key(base, methods[0], rules), round(rules.warmup * steps)
    overrides = {methods[0]: override(methods[0], steps=steps, warmup_steps=warmup)}
    for recipe in (*methods[1:], rules.control):
        stores = {**recipes[methods[0]]["mining"], **recipes[recipe]["mining"]}
        overrides[recipe] = override(recipe, steps=None, warmup_steps=0, mining=stores, equal_compute_to=first)
    return {
        model_key(base, recipe, rules): {"base": base, "recipe": recipe, "override": values}
        for recipe, values in overrides.items()
    }


def model_key(base: str, recipe: str, rules: AdaptationRules) -> str:
    """What a trained model is called: the control as its objective."""
    return f"{base}-{'mlm' if recipe == rules.control else recipe}"


def evaluated_keys(base: str, methods: Sequence[str], rules: AdaptationRules) -> Mapping[str, Any]:
    """The models of the key `adapt`."""
    return {
        "base": base,
        "methods": [model_key(base, method, rules) for method in methods],
        "control": model_key(base, rules.control, rules),
    }
