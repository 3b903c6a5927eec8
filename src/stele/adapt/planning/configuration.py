"""The configuration of an adaptation: what `stele adapt` writes, and what stays of an earlier call's."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stele.catalogue import entries, read_yaml
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.languages import Language
from stele.catalogue.schema.models import AdaptationRules
from stele.catalogue.user_documents import DATASET, UNDETERMINED, by_language
from stele.claims.judging.estimate import FEWEST_SEEDS
from stele.command.arguments import Job
from stele.config.user_sets import KEYS, merged, user_sets
from stele.errors import SteleError, unknown
from stele.files.atomic import atomic_file
from stele.files.reading import read_json

FOLDER = Path("adapt")
RESULTS = "results_adapt"
DEFAULT_BENCHMARKS = ("belebele", "tatoeba")
SEEDS = FEWEST_SEEDS
COMMAND = "stele adapt"
MEASURED = "measured"  # begins the name of a training whose steps are timed


def user_corpus(place: Path, known: Mapping[str, Language]) -> tuple[dict[str, str], list[str]]:
    """The key of `user_data`, and the languages of the documents in a folder or file, of which some are `known`.

    Raises SteleError where there are none.
    """
    return {DATASET: str(place.expanduser().resolve())}, list(by_language(place, known))


def configuration(
    args: Job,
    name: str,
    model: dict[str, Any],
    corpus: Mapping[str, str],
    languages: Sequence[str],
    earlier: Mapping[str, Any],
) -> dict[str, Any]:
    """The keys of config.yaml of one adaptation but for the trained models; the documents are in `languages`.

    An earlier call's seeds, benchmarks and encoding stay. Raises SteleError where it had another encoder or documents.
    """
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
    sets = user_sets(args.data, args.languages or languages)
    names = [*(args.benchmarks or ([] if args.data or before else DEFAULT_BENCHMARKS)), *sets["user_data"]]
    declared = merged(read_yaml("config.yaml"), merged(others, merged(earlier_sets(earlier), sets)))
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
