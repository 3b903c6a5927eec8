"""Scales: resolves inheritance between them, and checks every recipe with the values that a scale forces."""

from stele import catalogue
from stele.catalogue.datasets import evaluated_in
from stele.catalogue.recipes import KINDS, check_recipe
from stele.catalogue.schema import Facts, choice
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.languages import Language
from stele.catalogue.schema.models import Model, check_standin
from stele.errors import SteleError, unknown
from stele.files.strict import Values, validate
from stele.recipes.scale import Scale

NOT_INHERITED = ("title", "generated")  # each scale says these itself
# keys of recipes that scales and overrides cannot set -> what to do instead
NOT_IN_RECIPES = {"parts": "remove this key", "threads": "give the scale's own `threads`"}


def whole_scale(values: Values, where: str) -> Values:
    """Returns all keys of a scale: those of its file, and those inherited from the scale that `like` names.

    `title` and `generated` are not inherited. A scale with its own `languages` inherits only these from each list of
    languages. Raises SteleError if `like` names an unknown scale.

    >>> whole_scale({"like": "miniature", "title": "Mine", "world": {"nouns": 9}}, "mine.yaml")["world"]["entities"]
    200
    """
    if not isinstance(base := values.get("like"), str):
        return values
    if base not in (names := catalogue.scale_names()):
        raise unknown("scale", base, names, f"{where}: like")
    beneath = whole_scale(catalogue.load(f"scales/{base}"), f"scales/{base}.yaml")
    inherited = {key: value for key, value in beneath.items() if key not in NOT_INHERITED}
    if isinstance(chosen := values.get("languages"), list):
        have = inherited.get("languages") or catalogue.load("languages")  # a scale that names none has all
        inherited |= _without(inherited, {*have} - {*chosen})
    return deep_merge(values, inherited)


def _without(values: Values, languages: set[str]) -> Values:
    """Removes languages, and pairs with them, from a scale's lists of languages by recipe and by benchmark.

    A recipe that would lose all its languages loses its list, and so trains in all languages of the scale.

    >>> _without({"pretraining_languages": {"ccp": ["en", "fr"], "clir": ["fr"]}}, {"fr"})
    {'pretraining_languages': {'ccp': ['en']}}
    """
    shortened: Values = {}
    for section in ("pretraining_languages", "benchmarks"):
        lists = {}
        for name, codes in values.get(section, {}).items():
            remaining = [code for code in codes if not languages.intersection(code.split("-"))]
            if remaining or section == "benchmarks":
                lists[name] = remaining
        if section in values:
            shortened[section] = lists
    return shortened


def deep_merge(values: Values, base: Values) -> Values:
    """Merges `values` over `base` without changing either; mappings merge at any depth, other values replace.

    So does Snakemake merge `--configfile` over config.yaml.

    >>> deep_merge({"a": {"b": 1}, "c": [2]}, {"a": {"d": 3}, "c": [4, 5]})
    {'a': {'d': 3, 'b': 1}, 'c': [2]}
    """
    merged = dict(base)
    for key, value in values.items():
        below = base.get(key)
        merged[key] = deep_merge(value, below) if isinstance(value, dict) and isinstance(below, dict) else value
    return merged


def check_scale(values: Facts, where: str) -> None:
    """Checks the keys, names and forced values of a scale; the plan checks models of config.yaml. Raises SteleError."""
    values = whole_scale(values, where)
    validate(Scale, values, where)
    recipes = catalogue.load("recipes")
    _check_languages(values, where)
    for benchmark, codes in values.get("benchmarks", {}).items():
        _known(benchmark, known := catalogue.entries(Benchmark), where, "benchmarks")
        valid = known[benchmark].languages if values["generated"] else evaluated_in(known[benchmark])
        for code in codes:
            choice({benchmark: code}, benchmark, valid, where, ["benchmarks"])
    in_scale = values.get("languages") or catalogue.entries(Language)
    for recipe, codes in values.get("pretraining_languages", {}).items():
        _known(recipe, recipes["pretraining"], where, "pretraining_languages")
        for code in codes:
            choice({recipe: code}, recipe, in_scale, where, ["pretraining_languages"])
    for key, forced in values.get("standins", {}).items():
        standins = catalogue.load("standins")
        _known(key, standins, where, "standins")
        refuse_fixed(forced, f"{where}: standins.{key}")
        check_standin({**standins[key], **forced}, where, ["standins", key])
    for section in KINDS:
        for name, forced in values.get(section, {}).items():
            _known(name, recipes[section], where, section)
            refuse_fixed(forced, f"{where}: {section}.{name}")
            check_recipe(section, {**recipes[section][name], **forced}, where, [section, name])
    for key, forced in values.get("models", {}).items():
        refuse_fixed(forced, f"{where}: models.{key}")
        model = catalogue.entries(Model).get(key)
        if model and model.recipe:
            scaled = values.get("pretraining", {}).get(model.recipe, {})
            recipe = {**recipes["pretraining"][model.recipe], **scaled, **model.override, **forced}
            check_recipe("pretraining", recipe, where, ["models", key])


def refuse_fixed(forced: Facts, place: str) -> None:
    """Raises SteleError if a scale or an override sets a key of NOT_IN_RECIPES."""
    for key in NOT_IN_RECIPES.keys() & forced.keys():
        raise SteleError(f"{place}.{key}: it cannot be set here; {NOT_IN_RECIPES[key]}")


def _check_languages(values: Facts, where: str) -> None:
    known, chosen = catalogue.entries(Language), values.get("languages") or ()
    if values["generated"]:
        known = {code: entry for code, entry in known.items() if entry.world}
        if not chosen:
            raise SteleError(f"{where}: languages: want a list for a generated scale, from {', '.join(known)}")
    for n, language in enumerate(chosen):
        if language not in known:
            kind = "generated language" if values["generated"] else "language"
            raise unknown(kind, language, known, f"{where}: languages.{n}")


def _known(name: str, valid: Facts, where: str, section: str) -> None:
    choice({section: name}, section, valid, where, [])
