"""What stays of an earlier call of `stele adapt` with the same name: what was edited, added, trained."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stele.catalogue import read_yaml
from stele.catalogue.schema.adaptation import AdaptationRules
from stele.command.arguments import Job
from stele.config.user_sets import KEYS
from stele.errors import SteleError
from stele.files.reading import read_json

FOLDER = Path("adapt")
RESULTS = "results_adapt"
VERDICT = "verdict.json"
MEASURED = "measured"  # begins the name of a training whose steps are timed
BUDGET = {"steps", "warmup_steps", "snapshots"}  # of a recipe, by the hours or steps that a call allows


def earlier_call(path: Path, args: Job) -> dict[str, Any]:
    """The configuration of an earlier call, without the trainings that it timed.

    Before anything was trained by it, another budget is taken in place of its own, and with fewer methods or seeds it
    is begun anew.
    """
    if not path.is_file():
        return {}
    earlier = read_yaml(path)
    models = earlier.get("models") or {}
    earlier["models"] = {key: model for key, model in models.items() if not is_timed(key, path.stem)}
    if is_trained(path.stem):
        return earlier
    fewer_methods = {*methods_in(earlier, path.stem)} - {*(args.methods or methods_in(earlier, path.stem))}
    fewer_seeds = args.seeds is not None and args.seeds < len(seeds_in(earlier))
    if fewer_methods or fewer_seeds:
        print(f"{path}: rewritten with fewer {'methods' if fewer_methods else 'seeds'}; it had no training yet")
        return {}
    if args.steps is None and args.hours is None:
        return earlier
    before = {"hours": (earlier.get("adapt") or {}).get("hours"), "steps": steps_in(earlier)}
    same = args.hours == before["hours"] if args.hours else args.steps == before["steps"]
    return earlier if same else without_budget(earlier)


def is_trained(name: str) -> bool:
    """Whether an adaptation has a training; those that are timed do not count."""
    records = Path(f"work/{name}.scale/encoders").glob("*/pt*/record.json")
    return any(not is_timed(record.parts[-3], name) for record in records)


def is_timed(model: str, name: str) -> bool:
    """Whether a model of an adaptation is one whose steps were timed.

    >>> is_timed("e-measured", "e"), is_timed("e-measured-control", "e"), is_timed("e-msm", "e")
    (True, True, False)
    """
    return model.startswith(f"{name}-{MEASURED}")


def without_budget(earlier: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration of an earlier call without the steps of the models that it would train."""
    before, models = earlier.get("adapt") or {}, {**earlier.get("models", {})}
    for key in {*before.get("methods", []), before.get("control")} & models.keys():
        override = {name: value for name, value in models[key].get("override", {}).items() if name not in BUDGET}
        models[key] = {**models[key], "override": override}
    adapt = {key: value for key, value in before.items() if key not in ("hours", "step_seconds")}
    return {**earlier, "models": models, "adapt": adapt}


def with_budget(earlier: Mapping[str, Any], fresh: Mapping[str, Any]) -> dict[str, Any]:
    """The models of an earlier call; those without steps have the fresh models' of the same keys.

    >>> fresh = {"e-msm": {"override": {"learning_rate": 2, "steps": 9}}}
    >>> with_budget({"e-msm": {"override": {"learning_rate": 1}}}, fresh)
    {'e-msm': {'override': {'steps': 9, 'learning_rate': 1}}}
    """
    models = dict(earlier)
    for key, model in earlier.items():
        if "override" in model and key in fresh and not BUDGET & model["override"].keys():
            budget = {name: value for name, value in fresh[key]["override"].items() if name in BUDGET}
            models[key] = {**model, "override": {**budget, **model["override"]}}
    return models


def earlier_sets(earlier: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of an earlier call's data."""
    return {key: earlier[key] for key in KEYS if earlier.get(key)}


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


def methods_of(args: Job, earlier: Mapping[str, Any], name: str) -> list[str]:
    """The methods of earlier calls, and those that are named; the first, which sets the compute, stays the first."""
    before = methods_in(earlier, name)
    return list(dict.fromkeys([*before, *(args.methods or ([] if before else ["msm"]))]))


def methods_in(earlier: Mapping[str, Any], name: str) -> list[str]:
    """The methods of an earlier call."""
    return [key.removeprefix(f"{name}-") for key in (earlier.get("adapt") or {}).get("methods", [])]


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


def steps_in(earlier: Mapping[str, Any]) -> int | None:
    """The steps of an earlier call's first method."""
    return _override_of_first(earlier).get("steps")


def languages_in(earlier: Mapping[str, Any]) -> list[str]:
    """The languages that an earlier call's models learn from; none where there was no call."""
    return _override_of_first(earlier).get("languages", [])


def seeds_in(earlier: Mapping[str, Any]) -> list[int]:
    """The seeds of an earlier call's trainings."""
    return earlier.get("seeds", {}).get("pretraining", [])


def _override_of_first(earlier: Mapping[str, Any]) -> Mapping[str, Any]:
    first = ((earlier.get("adapt") or {}).get("methods") or [""])[0]
    return earlier.get("models", {}).get(first, {}).get("override", {})


def looks_taken(earlier: Mapping[str, Any], name: str) -> list[int]:
    """The numbers of seeds at which a verdict was given, or could be: whose results an earlier call built.

    A verdict is deleted before it is built again, so that it alone does not tell.
    """
    folder = Path(RESULTS, name)
    verdict = read_json(folder / VERDICT, "verdict") if (folder / VERDICT).is_file() else {}
    looks, seeds = (earlier.get("adapt") or {}).get("looks", []), dict(enumerate(seeds_in(earlier), 1))
    with_results = (look for look in looks if any(folder.glob(f"*/{name}-*/*/pt{seeds.get(look)}-ft*.json")))
    return sorted({*verdict.get("looks", []), *with_results})
