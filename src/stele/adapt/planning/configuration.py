"""The configuration file of an adaptation, which `stele adapt` writes.

Training sizes follow from the encoder and the budget by the rules in catalogue/adaptation.yaml.
"""

import shlex
import sys
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from stele.adapt.planning.earlier_calls import FOLDER, RESULTS, earlier_sets, languages_in, looks_taken, seeds_in
from stele.catalogue import entries, load, read_yaml, whole
from stele.catalogue.schema.adaptation import AdaptationRules, EncoderSizes
from stele.catalogue.schema.languages import Language
from stele.catalogue.user_documents import DATASET, UNDETERMINED
from stele.claims.judging.estimate import FEWEST_SEEDS
from stele.command.arguments import Job
from stele.config.user_sets import KEYS, merged, user_sets
from stele.errors import SteleError
from stele.files.formats import amount, duration
from stele.recipes.flops import Shape
from stele.recipes.pretraining import MLM

DEFAULT_BENCHMARKS = ("belebele", "tatoeba")
SEEDS = FEWEST_SEEDS
COMMAND = "stele adapt"


def configuration(
    args: Job,
    name: str,
    model: dict[str, Any],
    languages: Sequence[str],
    earlier: Mapping[str, Any],
) -> dict[str, Any]:
    """The keys of config.yaml for an adaptation, without the trained models; `languages` are the documents' languages.

    An earlier call's seeds, benchmarks, encoding and other keys are kept. Raises SteleError if that call had another
    encoder, encoding or documents.
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
                f"{FOLDER / name}.yaml has {old or 'nothing'} as its {key}, unlike this call; give --name NAME for a "
                "second adaptation, remove the file if nothing was trained, or correct in it the path of a moved folder"
            )
    # the benchmarks, including the user's own data sets, and their languages
    said_before = merged(read_yaml("config.yaml"), merged(others, earlier_sets(earlier)))
    sets = user_sets(args.data, args.languages or languages_in(earlier) or languages, said_before)
    names = [*(args.benchmarks or ([] if args.data or before else DEFAULT_BENCHMARKS)), *sets["user_data"]]
    declared = merged(said_before, sets)
    added = (declared.get("add_benchmarks") or {}).values()
    codes_of_sets = {code for entry in added for pair in entry.get("languages", ()) for code in pair.split("-")}
    described = {*entries(Language), *(declared.get("add_languages") or {}), *codes_of_sets}
    of_documents = [code for code in languages if code in described]
    wanted = args.languages or earlier.get("languages") or of_documents
    evaluated = list(dict.fromkeys([*wanted, *(codes_of_sets & {UNDETERMINED})]))
    if not evaluated:
        raise SteleError(
            f"--documents {args.documents}: no benchmark has its languages ({', '.join(languages)}); name a folder or "
            "file after a language's code (de/, de.txt), or give the languages to evaluate with --languages"
        )
    seeds = with_more_seeds(seeds_in(earlier), args.seeds or (0 if seeds_in(earlier) else SEEDS))
    values = {
        "scale": f"{FOLDER / name}.scale.yaml",
        "results_dir": f"{RESULTS}/{name}",
        "languages": evaluated,
        "seeds": {"pretraining": seeds, "finetuning": [0]},
        "models": {name: encoder},
        "adapt": {
            **{key: before[key] for key in ("hours", "step_seconds") if key in before},
            "benchmarks": list(dict.fromkeys([*before.get("benchmarks", []), *names])),
            "looks": looks_of(looks_taken(earlier, name), len(seeds)),
            "command": command_line(sys.argv),
        },
    }
    user_data = {**sets, "user_data": {**corpus, **sets["user_data"]}}
    values |= {key: entries_by_name for key, entries_by_name in user_data.items() if entries_by_name}
    kept = {key: value for key, value in earlier.items() if key not in {*values, *KEYS}}
    return merged(merged(kept, others), merged(earlier_sets(earlier), values))


def command_line(words: Sequence[str]) -> str:
    """The command line as typed, without --plan.

    >>> command_line(["stele", "adapt", "a/b", "--documents", "my text", "--plan"])
    "stele adapt a/b --documents 'my text'"
    """
    typed = words[words.index("adapt") + 1 :] if "adapt" in words else []
    return shlex.join([*COMMAND.split(), *(word for word in typed if word != "--plan")])


def with_more_seeds(before: Sequence[int], number: int) -> list[int]:
    """All seeds of an earlier call, filled up to `number` seeds with the lowest unused ones.

    >>> with_more_seeds([], 3), with_more_seeds([7, 1], 3), with_more_seeds([0, 1, 2], 2)
    ([0, 1, 2], [7, 1, 0], [0, 1, 2])
    """
    unused = (seed for seed in range(len(before) + number) if seed not in before)
    return [*before, *islice(unused, max(0, number - len(before)))]


def looks_of(before: Sequence[int], seeds: int) -> list[int]:
    """Numbers of seeds at which verdicts are given (looks), with `seeds` added; too few seeds do not count as a look.

    >>> looks_of([], 3), looks_of([3], 3), looks_of([3], 5), looks_of([1], 3)
    ([3], [3], [3, 5], [3])
    """
    return [*(look for look in before if FEWEST_SEEDS <= look < seeds), seeds]


# --- sizes ------------------------------------------------------------------------------------------------------------
def sizes_of(shape: Shape, rules: AdaptationRules) -> EncoderSizes:
    """Training sizes (learning rate and so on) for an encoder, by the weights of its layers without word embeddings."""
    millions = shape.layers * (4 * shape.width**2 + 2 * shape.width * shape.inner) / 1e6
    return next(line for line in rules.encoders if line.weights is None or millions <= line.weights)


def steps_within(hours: float, step_seconds: float, trainings: int, rules: AdaptationRules) -> int:
    """Steps of each of `trainings` trainings if all of them together take `hours`. Raises SteleError for too few.

    >>> steps_within(1.0, 3.0, 6, whole(AdaptationRules))
    200
    """
    steps = int(3600 * hours / (trainings * step_seconds))
    if steps < rules.fewest_steps:
        needed = rules.fewest_steps * trainings * step_seconds
        raise SteleError(
            f"--hours {hours:g} allows {amount(steps, 'step')} of {duration(step_seconds)} in each of "
            f"{amount(trainings, 'training')}; give at least {duration(needed)}, or fewer --methods or --seeds"
        )
    return steps


def trained_models(
    base: str, methods: Sequence[str], languages: Sequence[str], sizes: EncoderSizes, steps: int, gpus: int
) -> dict[str, dict[str, Any]]:
    """Entries for `models` of config.yaml by key: one per method, and the control.

    The first method trains for `steps`; the other methods and the control take the same compute.
    """
    rules, recipes = whole(AdaptationRules), load("recipes")["pretraining"]

    def override(recipe: str, **of_recipe: Any) -> dict[str, Any]:
        # CCP's groups follow from the pairs of a step
        settled = {"groups"} if "step_pairs" in recipes[recipe] else set()
        rates = sizes.model_dump(include={"learning_rate", "groups", "encode_chunk"} - settled, exclude_none=True)
        precision = "bfloat16" if gpus else "float32"
        mlm_option = {} if recipe == rules.control else {"mlm_share": rules.mlm_share}
        kept = {"snapshots": [steps // 2]} if steps > 1 else {}  # half-way, in steps of the first method
        return {"languages": list(languages), **rates, **mlm_option, **kept, "precision": precision, **of_recipe}

    first, warmup = model_key(base, methods[0], rules), round(rules.warmup * steps)
    overrides = {methods[0]: override(methods[0], steps=steps, warmup_steps=warmup)}
    for recipe in (*methods[1:], rules.control):
        recipe_stores = recipes[recipe]["mining"]
        if recipe == rules.control:  # beside MLM's store its recipe has that of MSM, whatever the first method is
            recipe_stores = {MLM: recipe_stores[MLM]}
        stores = {**recipes[methods[0]]["mining"], **recipe_stores}
        overrides[recipe] = override(recipe, steps=None, warmup_steps=0, mining=stores, equal_compute_to=first)
    return {
        model_key(base, recipe, rules): {"base": base, "recipe": recipe, "override": values}
        for recipe, values in overrides.items()
    }


def model_key(base: str, recipe: str, rules: AdaptationRules) -> str:
    """Key of the model trained from `base` with a recipe; the control's key ends in "mlm", its objective."""
    return f"{base}-{'mlm' if recipe == rules.control else recipe}"


def evaluated_keys(base: str, methods: Sequence[str], rules: AdaptationRules) -> Mapping[str, Any]:
    """The keys of `adapt` that name its models: base, methods and control."""
    return {
        "base": base,
        "methods": [model_key(base, method, rules) for method in methods],
        "control": model_key(base, rules.control, rules),
    }
