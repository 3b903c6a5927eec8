"""config.yaml: what is built. One validated model; unknown keys and names are refused with the nearest valid one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from stele import catalogue
from stele.errors import SteleError, nearest, unknown

PAPERS = ("msm", "kept", "ccp", "clir_lm", "dense_clt")


class Strict(BaseModel):
    """A part of the configuration; keys it does not know are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Seeds(Strict):
    """The two seeds of a result; several of them give means and standard deviations."""

    pretraining: Annotated[list[int], Field(min_length=1)] = [0]
    finetuning: Annotated[list[int], Field(min_length=1)] = [0]


class Model(Strict):
    """A model of one's own, or changes to one of the catalogue. Give `checkpoint`, or `base` and `recipe`."""

    label: str | None = Field(None, description="how tables call the row; default: the key")
    checkpoint: str | None = Field(
        None, description="`train` (default of methods), `released`, a hub id, or a local folder"
    )
    revision: str | None = Field(None, description="the hub revision of `checkpoint`; default main")
    base: str | None = Field(None, description="the model that `recipe` starts from")
    recipe: str | None = Field(None, description="a pretraining recipe of the catalogue")
    override: dict[str, Any] = Field({}, description="keys of the recipe to change: an ablation")
    encoding: dict[str, Any] = Field({}, description="pooling, normalize, ...: how a plain checkpoint makes vectors")
    english: bool = Field(False, description="a model of English only")
    tables: list[str] = Field([], description="tables that get a row for it (`msm/2`), or `all` that fit")


class Config(Strict):
    """What is built. How it is built (cores, cluster, retries) is the profile's business."""

    scale: str | None = Field(None, description="miniature, small, paper or a file of your own; empty: see README")
    papers: list[Literal["msm", "kept", "ccp", "clir_lm", "dense_clt"]] = Field(
        ["msm"], description="papers whose tables `all_tables` builds"
    )
    languages: list[str] | None = Field(None, description="evaluate only these languages; empty: all in scale")
    models: dict[str, Model] = Field({}, description="models of your own, by key; added to the catalogue's")
    seeds: Seeds = Seeds()
    recompute: Literal["own", "all"] = Field("own", description="rows the paper ran itself, or the borrowed ones too")
    mirrors: list[str] = Field([], description="folders or http addresses that hold the files of {host}/{path}")
    user_data: dict[str, str] = Field({}, description="dataset or released weights -> your local folder")
    offline: bool = Field(False, description="never use the network, only mirrors and user_data")
    keep_index: bool = Field(False, description="keep the vectors of encoded passages")
    results_dir: str = Field("results", description="where results and tables go")


def _explain(error: ValidationError, where: str) -> SteleError:
    """Turns pydantic's findings into one line a key: the key, what was found, what is valid, the nearest."""
    lines = []
    for found in error.errors():
        path = ".".join(str(part) for part in found["loc"])
        if found["type"] == "extra_forbidden":
            fields = _fields_at(found["loc"][:-1])
            close = nearest(str(found["loc"][-1]), fields)
            hint = f"; did you mean {close!r}?" if close else "."
            lines.append(f"{where}: unknown key {path!r}{hint} Valid: {', '.join(sorted(fields))}")
        elif found["type"] == "literal_error":
            valid = [item.strip(" '") for item in found["ctx"]["expected"].replace(" or ", ", ").split(",")]
            lines.append(str(unknown("value", str(found["input"]), valid, f"{where}: {path}")))
        else:
            lines.append(f"{where}: {path}: {found['msg']} (found {found['input']!r})")
    return SteleError("\n".join(lines))


def _fields_at(location: tuple[int | str, ...]) -> list[str]:
    parts: dict[str, type[BaseModel]] = {"seeds": Seeds, "models": Model}
    return list((parts[str(location[0])] if location else Config).model_fields)


def parse(values: Mapping[str, Any], where: str = "config.yaml") -> Config:
    """Validates the keys and the names in them (models, papers, languages, datasets, recipes)."""
    values = {key: value for key, value in values.items() if value is not None}
    try:
        config = Config.model_validate(values)
    except ValidationError as error:
        raise _explain(error, where) from None
    _check_names(config, where)
    return config


def _check_names(config: Config, where: str) -> None:
    languages = catalogue.load("languages")
    for language in config.languages or ():
        if language not in languages:
            raise unknown("language", language, languages, f"{where}: languages")
    known_models = catalogue.load("models")
    recipes = catalogue.load("recipes")["pretraining"]
    for key, model in config.models.items():
        if not all(part.isidentifier() or part.replace(".", "").replace("_", "").isalnum() for part in key.split("-")):
            raise SteleError(f"{where}: models.{key}: a model's key may hold letters, digits, '_', '-' and '.' only")
        if model.recipe and model.recipe not in recipes:
            raise unknown("recipe", model.recipe, recipes, f"{where}: models.{key}.recipe")
        if model.base and model.base not in {*known_models, *config.models}:
            raise unknown("model", model.base, {*known_models, *config.models}, f"{where}: models.{key}.base")
        if key not in known_models and not model.checkpoint and not (model.base and model.recipe):
            close = nearest(key, known_models)
            hint = f" (did you mean to change the model {close!r}?)" if close else ""
            raise SteleError(f"{where}: models.{key}: give `checkpoint`, or `base` and `recipe`{hint}")
    datasets = catalogue.load("datasets")
    released = {m["released"]["dataset"] for m in known_models.values() if "released" in m}
    for dataset in config.user_data:
        if dataset not in datasets and dataset not in released:
            raise unknown("dataset", dataset, {*datasets, *released}, f"{where}: user_data")


def schema() -> dict[str, Any]:
    """The JSON schema of config.yaml."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Config.model_json_schema()}


# --- scale ----------------------------------------------------------------------------------------------------------
def resolve_scale(config: Config, environment: Mapping[str, str] = os.environ) -> tuple[str, str]:
    """Which scale, and why: what the user says; else the profile's; else the results' stamp; else miniature."""
    if config.scale:
        return config.scale, "as you said"
    if environment.get("STELE_DEFAULT_SCALE"):
        return environment["STELE_DEFAULT_SCALE"], "the profile's"
    stamp = read_stamp(Path(config.results_dir))
    if stamp:
        return stamp, f"the one {config.results_dir}/ holds"
    return "miniature", "the default"


def read_stamp(results: Path) -> str | None:
    """The scale that a results folder holds, None for a new one."""
    try:
        return (results / "scale.txt").read_text(encoding="utf-8").strip() or None
    except FileNotFoundError:
        return None


def check_stamp(results: Path, scale: str) -> None:
    """Refuses to put a second scale into a results folder; stamps a new one."""
    found = read_stamp(results)
    if found and found != scale:
        raise SteleError(
            f"{results}/ holds results of scale {found!r} and this run is of scale {scale!r}: "
            f"give another folder (--config results_dir=results_{Path(scale).stem}) or remove {results}/"
        )
    if not found:
        from stele.outputs import atomic_file

        with atomic_file(results / "scale.txt") as handle:
            handle.write(f"{scale}\n")


def load_scale(name: str) -> dict[str, Any]:
    """The sizes of a scale: one of the catalogue's or a YAML file of the user's own."""
    if name in catalogue.scale_names():
        scale = catalogue.load(f"scales/{name}")
    elif Path(name).suffix in (".yaml", ".yml"):
        scale = catalogue.read_yaml(name)
    else:
        raise unknown("scale", name, catalogue.scale_names(), "scale (or give a .yaml file of your own)")
    try:
        return Scale.model_validate(scale).model_dump()
    except ValidationError as error:
        raise SteleError(
            "\n".join(f"scale {name}: {'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        ) from None


class Scale(Strict):
    """A set of sizes, and what sizes force."""

    title: str
    generated: bool = Field(description="whether the data come from the generated internet")
    seed: int = 0
    threads: int = Field(1, description="CPU threads of a training or encoding job; part of every recipe")
    languages: list[str] | None = Field(None, description="the generated languages; None: all that a dataset has")
    world: dict[str, Any] = {}
    standins: dict[str, Any] = {}
    shards: dict[str, int] = {}
    pretraining: dict[str, dict[str, Any]] = Field({}, description="recipe -> keys forced by this scale")
    models: dict[str, dict[str, Any]] = Field({}, description="model -> recipe keys forced by this scale")
    finetuning: dict[str, dict[str, Any]] = {}
    encoding: dict[str, Any] = Field({}, description="lengths forced by this scale at encoding")
    pairs: dict[str, dict[str, Any]] = Field({}, description="mining method -> keys forced by this scale")


if __name__ == "__main__":
    import json

    print(json.dumps(schema(), indent=1, ensure_ascii=False))
