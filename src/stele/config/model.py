"""The schema of config.yaml. Unknown keys and names are refused with a hint at the nearest valid one."""

from __future__ import annotations

import os
import re
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from stele import catalogue
from stele.catalogue import recipes
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.datasets import Dataset
from stele.catalogue.schema.languages import Language
from stele.catalogue.schema.models import Model as CatalogueModel
from stele.config.sources import Sources, additions, check_additions
from stele.errors import SteleError, check_known, nearest
from stele.files.paths import results_problem
from stele.files.strict import Seed, Strict, Values, unique, validate
from stele.papers.paper import PAPER_TABLES, PLAIN_PATH, check_papers, paper_folder, papers_in
from stele.recipes.encoding import SomeEncoding
from stele.recipes.scale import Label

# names that become parts of paths, in every command of the workflow
PLAIN_NAME, MODEL_KEY = r"[\w@%+=:,.-]+", r"[A-Za-z0-9][A-Za-z0-9_.-]*"


def _day(date: str) -> str:
    try:
        datetime.strptime(date, "%Y%m%d")
    except ValueError:
        raise ValueError("want an existing day, as YYYYMMDD") from None
    return date


def _place(path: str) -> str:
    if not path.strip() or "\0" in path:
        raise ValueError("want the path of a folder")
    return os.path.expanduser(path)


def _mirror(address: str) -> str:
    scheme, separator, rest = address.partition("://")
    if separator and (scheme.lower() not in ("http", "https") or not rest.strip("/")):
        raise ValueError("want a folder, or an address that begins with https:// or http://")
    return address if separator else _place(address)


def _digits(seed: object) -> object:
    """A seed as int; Snakemake's `--config` leaves numbers inside lists as text."""
    return int(seed) if isinstance(seed, str) and re.fullmatch(r"[0-9]{1,10}", seed) else seed


DumpDate = Annotated[  # YAML reads 20240801 as a number
    str,
    Field(pattern=r"^[0-9]{8}$"),
    BeforeValidator(lambda date: str(date) if type(date) is int else date),
    AfterValidator(_day),
]
Location = Annotated[str, AfterValidator(_place)]
# Snakemake's --config reads True and numbers, but leaves `true` a text
Flag = Annotated[
    bool,
    BeforeValidator(lambda flag: {"true": True, "false": False}.get(flag, flag) if isinstance(flag, str) else flag),
]
FactName = Annotated[str, Field(pattern="^[a-z0-9_]+$")]
LanguageCode = Annotated[str, Field(pattern="^[a-z]{2,8}$")]
TableName = Annotated[str, AfterValidator(lambda name: re.sub("/0+(?=[0-9])", "/", name))]  # msm/02 is msm/2
SeedList = Annotated[list[Annotated[Seed, BeforeValidator(_digits)]], Field(min_length=1), AfterValidator(unique)]
PaperList = Annotated[list[Location], Field(min_length=1), AfterValidator(unique)]


class Seeds(Strict):
    """The two seeds of a result; several of them give means and standard deviations."""

    pretraining: SeedList = Field([0], description="seeds of pretraining; several give means and standard deviations")
    finetuning: SeedList = Field([0], description="seeds of fine-tuning; several give means and standard deviations")


class Model(Strict):
    """A model of one's own, or changes to one of the catalogue. Give `checkpoint`, or `base` and `recipe`."""

    label: Label | None = Field(None, description="name of the model in tables; default: its key")
    checkpoint: str | None = Field(
        None, description="`train` (the default for a model with a recipe), `released`, a hub id, or a local folder"
    )
    revision: str | None = Field(None, description="hub revision of `checkpoint`; default: main")
    base: str | None = Field(None, description="model from which `recipe` starts: a key of models.yaml or of `models`")
    recipe: str | None = Field(None, description="pretraining recipe of recipes.yaml")
    override: Values = Field({}, description="keys of the recipe to change, for an ablation")
    encoding: Values = Field(
        {}, description="keys of the encoding, such as pooling or normalize: how the model makes vectors"
    )
    tables: list[TableName] = Field(
        [], description="tables that get a row for the model, e.g. `msm/2`; `all`: every table that the model fits"
    )


class Adaptation(Strict):
    """What `stele adapt` compares, and what it chose by; models are keys of `models`."""

    base: str = Field(description="encoder before the adaptation")
    methods: list[str] = Field(min_length=1, description="adapted models; the first one sets the compute of all")
    control: str = Field(description="model trained by masked language modelling with the same compute")
    benchmarks: list[str] = Field(min_length=1, description="benchmarks on which the models are compared")
    looks: list[Annotated[int, Field(ge=1)]] = Field(
        [],
        description="numbers of seeds at which verdicts are given; each look has half of the significance level of "
        "the one before",
    )
    hours: float | None = Field(
        None, gt=0, description="hours of all trainings together, from which the number of steps was computed"
    )
    step_seconds: float | None = Field(
        None, gt=0, description="measured seconds of a training step on this machine, the mean over the trainings"
    )
    command: str = Field("", description="command that wrote these values")


class Config(Strict):
    """What is built. How it is built (cores, cluster, retries) is the profile's business."""

    scale: Location | None = Field(
        None,
        description="scale of the run: miniature, study, small, laptop, one_gpu, paper, or a scale file of your "
        "own; empty: chosen as docs/use.md says",
    )
    papers: Annotated[PaperList | None, AfterValidator(lambda papers: papers or [*papers_in()])] = Field(
        None,
        validate_default=True,
        description="papers whose tables are built: folders of paper_tables/, or paths of other folders; empty: all "
        "of paper_tables/",
        examples=[["msm", "kept"]],
    )
    languages: Annotated[list[str] | None, AfterValidator(lambda codes: unique(codes) if codes else None)] = Field(
        None, description="languages to evaluate in; empty: all languages of the scale", examples=[["sw", "th"]]
    )
    add_languages: dict[LanguageCode, Language] = Field(
        {},
        description="languages to add to the catalogue, by code, with the keys of src/stele/catalogue/languages.yaml",
    )
    add_datasets: dict[FactName, Dataset] = Field(
        {}, description="datasets to add to the catalogue, by name, with the keys of src/stele/catalogue/datasets.yaml"
    )
    add_benchmarks: dict[FactName, Benchmark] = Field(
        {},
        description="benchmarks to add to the catalogue, by name, with the keys of src/stele/catalogue/benchmarks.yaml",
    )
    add_settings: dict[FactName, dict[FactName, Values]] = Field(
        {},
        description="benchmark -> settings to add to the catalogue, with the keys of src/stele/catalogue/settings.yaml",
    )
    models: dict[str, Model] = Field({}, description="your own models by key, or changes to models of the catalogue")
    cards: dict[str, list[str]] = Field(
        {}, description="model -> benchmarks on its result card; default: belebele, miracl_hard_negatives"
    )
    adapt: Adaptation | None = Field(
        None, description="comparison that `stele adapt` writes into its configuration; empty: no comparison"
    )
    seeds: Seeds = Field(
        Seeds(),
        examples=[{"pretraining": [0, 1], "finetuning": [0]}],
        description="seeds of pretraining and of fine-tuning",
    )
    recompute: Literal["own", "all"] = Field(
        "own", description="rows to build: those that the paper ran itself (own), or its borrowed rows too (all)"
    )
    mirrors: list[Annotated[str, AfterValidator(_mirror)]] = Field(
        [], description="folders or http addresses that hold copies of upstream files as {host}/{path}"
    )
    user_data: dict[str, Location] = Field(
        {}, description="dataset, or released weights -> your local folder with a copy"
    )
    dump_date: DumpDate | None = Field(
        None, description="date of the Wikimedia dumps, YYYYMMDD; empty: 20220801; generated dumps have no date"
    )
    offline: Flag = Field(False, description="never use the network, only mirrors and user_data")
    keep_index: Flag = Field(False, description="keep the vectors of encoded passages after the search")
    verify_inputs: Flag = Field(
        False, description="check the digests of all input files of a job whole, not only of parts of large files"
    )
    results_dir: Annotated[Location, AfterValidator(os.path.normpath)] = Field(
        "results", description="folder for results and tables"
    )


def parse_config(values: Values, where: Sources | None = None) -> Config:
    """Validates the keys and the names in them (models, papers, languages, datasets, recipes, tables).

    A key without a value has its default. `where` knows which file has which key; None: config.yaml has all. Raises
    SteleError, which names the file, the key and the nearest valid name.
    """
    where = where or Sources([("config.yaml", values)])
    stated = {key: value for key, value in values.items() if value is not None or key not in Config.model_fields}
    catalogue.add({})  # forgets another configuration's additions
    config = validate(Config, stated, where.name)
    check_additions(config, where)
    catalogue.add(additions(config))
    plain = re.fullmatch(PLAIN_PATH, config.results_dir)
    benchmarks = catalogue.entries(Benchmark)
    if reason := results_problem(config.results_dir, Path(), benchmarks) if plain else "other characters are in it":
        wanted = "a folder of its own, named with letters, digits and _ @ % + = : , . / - only"
        results_dir = values.get("results_dir", config.results_dir)
        raise SteleError(f"{where('results_dir')}: found {results_dir!r} ({reason}); want {wanted}")
    known = catalogue.entries(Language)
    check_papers(config.papers, lambda n: where("papers", n))
    for n, language in enumerate(config.languages or ()):
        check_known("language", language, known, where("languages", n))
    released = {model.released.dataset for model in catalogue.entries(CatalogueModel).values() if model.released}
    for dataset in config.user_data:
        check_known("dataset", dataset, {*catalogue.entries(Dataset), *released}, where("user_data", dataset))
    for model, benchmarks in config.cards.items():
        check_known("model", model, {*catalogue.entries(CatalogueModel), *config.models}, where("cards", model))
        for n, benchmark in enumerate(benchmarks):
            check_known("benchmark", benchmark, catalogue.entries(Benchmark), where("cards", model, n))
    for key, model in config.models.items():
        _check_model(key, model, config, where)
    if config.adapt:
        _check_adaptation(config.adapt, config, where)
    return config


def _check_model(key: str, model: Model, config: Config, where: Sources) -> None:
    known = catalogue.entries(CatalogueModel)
    if not re.fullmatch(MODEL_KEY, key):
        raise SteleError(
            f"{where('models', key)}: a model's key may hold only letters of English, digits, '_', '-' and '.', and "
            "must begin with a letter or digit"
        )
    parts = ("checkpoint", "base", "recipe")
    checkpoint, base, recipe = (getattr(model, part) or getattr(known.get(key), part, None) for part in parts)
    is_made = checkpoint == "train" or (not checkpoint and (recipe or key not in known))
    if is_made and not (base and recipe):
        close = key not in known and nearest(key, known)
        hint = f" (did you mean to change the model {close!r}?)" if close else ""
        raise SteleError(f"{where('models', key)}: give `checkpoint`, or `base` and `recipe`{hint}")
    if model.recipe:
        check_known("recipe", model.recipe, recipes.names("pretraining"), where("models", key, "recipe"))
    if model.base:
        check_known("model", model.base, {*known, *config.models}, where("models", key, "base"))
        _check_ancestry(key, config, where("models", key, "base"))
        if model.base in known and not known[model.base].has_encoder:
            raise SteleError(f"{where('models', key, 'base')}: {model.base} has no encoder to train further")
    if model.encoding:
        validate(SomeEncoding, model.encoding, where("models", key, "encoding"))
    for n, table in enumerate(model.tables):
        check_known("table", table, {"all", *_tables(config)}, where("models", key, "tables", n))


def _check_adaptation(adapt: Adaptation, config: Config, where: Sources) -> None:
    """Refuses unknown names, and methods or a control that are not models trained from the base."""
    check_known("model", adapt.base, {*catalogue.entries(CatalogueModel), *config.models}, where("adapt", "base"))
    for n, name in enumerate(adapt.benchmarks):
        check_known("benchmark", name, catalogue.entries(Benchmark), where("adapt", "benchmarks", n))
    trained = {key for key, model in config.models.items() if model.base == adapt.base and model.recipe}
    for n, name in enumerate(adapt.methods):
        check_known(f"model trained from {adapt.base}", name, trained, where("adapt", "methods", n))
    check_known(f"model trained from {adapt.base}", adapt.control, trained, where("adapt", "control"))


def _check_ancestry(key: str, config: Config, place: str) -> None:
    """Refuses a model that starts from itself: directly, through other models, their snapshots or their tokenizer."""
    known = catalogue.entries(CatalogueModel).items()
    bases = {name: model.base or model.snapshot_of or model.tokenizer for name, model in known}
    bases |= {name: model.base for name, model in config.models.items() if model.base}
    line = [key]
    while base := bases.get(line[-1]):
        line.append(base)
        if base in line[:-1]:
            raise SteleError(f"{place}: {' starts from '.join(line)}; name another model to start from")


def _tables(config: Config) -> list[str]:
    """The tables of all papers, as `msm/2`."""
    folders = [*PAPER_TABLES.glob("*/"), *map(paper_folder, config.papers)]
    files = [path for folder in folders for path in folder.glob("table_*.yaml")]
    return [f"{path.parent.name}/{int(path.stem.removeprefix('table_'))}" for path in files]


if __name__ == "__main__":
    import json

    print(json.dumps(Config.json_schema(), indent=1, ensure_ascii=False))
