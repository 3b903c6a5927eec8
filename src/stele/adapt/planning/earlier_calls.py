"""State kept from earlier calls of `stele adapt` with the same name: edits, added methods and seeds, trainings."""

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
BUDGET = {"steps", "warmup_steps", "snapshots"}  # keys of a recipe that follow from --hours or --steps


def earlier_call(path: Path, args: Job) -> dict[str, Any]:
    """The configuration of an earlier call, without the models that were only timed; empty if there was no call.

    Before the first training, new --hours or --steps replace the earlier ones; --hours do so for more methods or seeds
    too. A call with fewer methods or seeds, or another first method, starts from an empty configuration.
    """
    if not path.is_file():
        return {}
    earlier = read_yaml(path)
    models = earlier.get("models") or {}
    earlier["models"] = {key: model for key, model in models.items() if not is_timed(key, path.stem)}
    if is_trained(path.stem):
        return earlier
    before, seeds = methods_in(earlier, path.stem), len(seeds_in(earlier))
    methods = list(args.methods or before)
    reasons = {
        "fewer methods": {*before} - {*methods},
        "another first method": before[:1] not in ([], methods[:1]),
        "fewer seeds": args.seeds is not None and args.seeds < seeds,
    }
    if reason := next((reason for reason, holds in reasons.items() if holds), None):
        print(f"{path}: rewritten with {reason}; it had no training yet")
        return {}
    if args.steps is None and args.hours is None:
        return earlier
    has_grown = bool({*methods} - {*before}) or (args.seeds or 0) > seeds  # the hours are those of all trainings
    same_hours = args.hours == (earlier.get("adapt") or {}).get("hours") and not has_grown
    same = same_hours if args.hours else args.steps == steps_in(earlier)
    return earlier if same else without_budget(earlier)


def is_trained(name: str) -> bool:
    """Whether a model of an adaptation was trained; short trainings for timing do not count."""
    records = Path(f"work/{name}.scale/encoders").glob("*/pt*/record.json")
    return any(not is_timed(record.parts[-3], name) for record in records)


def is_timed(model: str, name: str) -> bool:
    """Whether a model of an adaptation was trained only to time its steps.

    >>> is_timed("e-measured", "e"), is_timed("e-measured-control", "e"), is_timed("e-msm", "e")
    (True, True, False)
    """
    return model.startswith(f"{name}-{MEASURED}")


def without_budget(earlier: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration of an earlier call without its budget: hours, and the steps of its models."""
    before, models = earlier.get("adapt") or {}, {**earlier.get("models", {})}
    for key in {*before.get("methods", []), before.get("control")} & models.keys():
        override = {name: value for name, value in models[key].get("override", {}).items() if name not in BUDGET}
        models[key] = {**models[key], "override": override}
    adapt = {key: value for key, value in before.items() if key not in ("hours", "step_seconds")}
    return {**earlier, "models": models, "adapt": adapt}


def with_budget(earlier: Mapping[str, Any], fresh: Mapping[str, Any]) -> dict[str, Any]:
    """The models of an earlier call; a model without steps takes them from the fresh model of the same key.

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
    """The keys of an earlier call that declare its data sets."""
    return {key: earlier[key] for key in KEYS if earlier.get(key)}


def with_earlier_command(values: dict[str, Any], earlier: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration, with the earlier call's command in place of this one's if nothing else differs.

    The card shows the command, so a different one would rebuild the verdict.

    >>> earlier = {"seeds": [0, 1], "adapt": {"command": "stele adapt a/b --seeds 2"}}
    >>> with_earlier_command({"seeds": [0, 1], "adapt": {"command": "stele adapt a/b"}}, earlier) == earlier
    True
    """
    command = {"command": (earlier.get("adapt") or {}).get("command")}
    repeated = {**values, "adapt": {**values["adapt"], **command}}
    return repeated if repeated == earlier else values


def methods_of(args: Job, earlier: Mapping[str, Any], name: str) -> list[str]:
    """The methods of earlier calls, then the new ones; the first method, which sets the compute, stays the first."""
    before = methods_in(earlier, name)
    return list(dict.fromkeys([*before, *(args.methods or ([] if before else ["msm"]))]))


def methods_in(earlier: Mapping[str, Any], name: str) -> list[str]:
    """The methods of an earlier call."""
    return [key.removeprefix(f"{name}-") for key in (earlier.get("adapt") or {}).get("methods", [])]


def steps_of(args: Job, earlier: Mapping[str, Any], name: str, rules: AdaptationRules) -> int | None:
    """Training steps of the first method: an earlier call's, else --steps; None if they follow from --hours.

    Raises SteleError if an earlier call had a different budget.
    """
    before, steps = earlier.get("adapt") or {}, steps_in(earlier)
    if not steps:
        return None if args.hours else args.steps or rules.steps
    if args.steps not in (None, steps) or (args.hours and args.hours != before.get("hours")):
        raise SteleError(
            f"{FOLDER / name}.yaml: its models train for {steps} steps, unlike this call's; give --name NAME for a "
            f"second adaptation, or remove the file and {RESULTS}/{name}"
        )
    return steps


def steps_in(earlier: Mapping[str, Any]) -> int | None:
    """Training steps of an earlier call's first method; None if it has none."""
    return _override_of_first(earlier).get("steps")


def languages_in(earlier: Mapping[str, Any]) -> list[str]:
    """The languages that an earlier call's models are trained on; empty if there was no call."""
    return _override_of_first(earlier).get("languages", [])


def seeds_in(earlier: Mapping[str, Any]) -> list[int]:
    """The pretraining seeds of an earlier call."""
    return earlier.get("seeds", {}).get("pretraining", [])


def _override_of_first(earlier: Mapping[str, Any]) -> Mapping[str, Any]:
    first = ((earlier.get("adapt") or {}).get("methods") or [""])[0]
    return earlier.get("models", {}).get(first, {}).get("override", {})


def looks_taken(earlier: Mapping[str, Any], name: str) -> list[int]:
    """Numbers of seeds at which an earlier call gave a verdict, or has results for one.

    verdict.json alone does not tell, because it is deleted before it is built again.
    """
    folder = Path(RESULTS, name)
    verdict = read_json(folder / VERDICT, "verdict") if (folder / VERDICT).is_file() else {}
    looks, seeds = (earlier.get("adapt") or {}).get("looks", []), dict(enumerate(seeds_in(earlier), 1))
    with_results = (look for look in looks if any(folder.glob(f"*/{name}-*/*/pt{seeds.get(look)}-ft*.json")))
    return sorted({*verdict.get("looks", []), *with_results})
