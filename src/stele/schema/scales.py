"""scales/*.yaml and a user's own: every recipe as the scale forces it."""

from __future__ import annotations

from stele import catalogue
from stele.errors import unknown
from stele.files.strict import validate
from stele.recipes.scale import Scale
from stele.recipes.world import WorldSizes
from stele.schema.benchmarks import Encoding
from stele.schema.models import check_standin
from stele.schema.names import Facts, choice
from stele.schema.recipes import check_recipe


def check_scale(values: Facts, where: str) -> None:
    """The keys of a scale, the names in it, and what it forces; models of config.yaml are the plan's matter."""
    validate(Scale, values, where)
    recipes = catalogue.load("recipes")
    for n, language in enumerate(values.get("languages") or ()):
        if language not in (known := catalogue.load("languages")):
            raise unknown("language", language, known, f"{where}: languages.{n}")
    validate(WorldSizes, values.get("world", {}), where, ["world"])
    validate(Encoding, values.get("encoding", {}), where, ["encoding"])
    for key, forced in values.get("standins", {}).items():
        standins = catalogue.load("standins")
        _known(key, standins, where, "standins")
        check_standin({**standins[key], **forced}, where, ["standins", key])
    for section in ("pairs", "pretraining", "finetuning"):
        for name, forced in values.get(section, {}).items():
            _known(name, recipes[section], where, section)
            check_recipe(section, {**recipes[section][name], **forced}, where, [section, name])
    for key, forced in values.get("models", {}).items():
        if "recipe" in (model := catalogue.load("models").get(key, {})):
            scaled = values.get("pretraining", {}).get(model["recipe"], {})
            recipe = {**recipes["pretraining"][model["recipe"]], **scaled, **model.get("override", {}), **forced}
            check_recipe("pretraining", recipe, where, ["models", key])


def _known(name: str, valid: Facts, where: str, section: str) -> None:
    choice({section: name}, section, valid, where, [])
