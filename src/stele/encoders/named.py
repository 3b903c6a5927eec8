"""Finding encoders by name: a key of models.yaml or config.yaml, a hub id, or the path of a result made with one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stele.artifacts import records
from stele.artifacts.integrity import RECORD
from stele.artifacts.results import read_result
from stele.encoders import load
from stele.encoders.resolve import Wanted
from stele.errors import SteleError, unknown
from stele.files.strict import Values
from stele.recipes.encoding import BENCHMARK, SOME_INSTRUCTION, EncodingSpec

if TYPE_CHECKING:
    from stele.encoders.encode import Encoder

RETRIEVAL = "retrieval.json"
MADE_IN = ("resources/*/checkpoints", "work/*/encoders", "work/*/finetuned")  # the folders of encoders, model by model


def encoder_of_model(
    name: str, benchmark: str | None = None, scale: str | None = None, configfile: Path | None = None
) -> tuple[Path, dict[str, Values]]:
    """Finds the folder of a model's encoder, and its encoding as in the model's jobs: origin -> key -> value.

    The model is one of the catalogue or of this folder's configuration. Raises SteleError for an unknown model, and for
    a checkpoint that has not been downloaded or built.
    """
    from stele.catalogue import read_yaml
    from stele.catalogue.scales import deep_merge
    from stele.catalogue.schema.models import hub_names
    from stele.config.model import parse_config
    from stele.plan.plan import Plan

    # the plan of this folder's configuration
    files = [Path("config.yaml")] if Path("config.yaml").is_file() else []
    files += [configfile] if configfile else []
    config: Values = {}
    for path in files:
        config = deep_merge(read_yaml(path) or {}, config)
    if scale:
        config["scale"] = scale
    plan = Plan(parse_config(config))

    # the model, by its key or its hub id (the catalogue's, if config.yaml has more with that id), and its checkpoint
    models = plan.models.all
    key_of_id = {model.checkpoint: key for key, model in reversed(models.items()) if model.checkpoint}
    key = name if name in models else key_of_id.get(name)
    if key is None:
        raise unknown("model", name, models, "no folder, no key and no hub id of models.yaml", hub_names(models))
    record = Path(plan.models.encoder(key, 0))
    if not record.is_file():
        raise SteleError(f"{name}: its checkpoint is missing; get it with `snakemake {record}`")
    return record.parent, plan.retrieval.encodings(benchmark, key)


def encoder_of_result(path: Path) -> tuple[Path, dict[str, Values]]:
    """Finds the folder of the encoder behind a result (of the first seed), and the encoding that it was used with.

    Raises SteleError if the result was not made by dense retrieval, or if its encoder is no longer in this folder.
    """
    # the record of its search: in the folder of its seeds
    search = path
    if path.name != RETRIEVAL:
        seeds = read_result(path).seed_names[0]
        of_seeds = path.with_suffix("") if path.stem == seeds else path.with_suffix("") / seeds
        search = of_seeds / RETRIEVAL
    if not search.is_file():
        raise SteleError(f"{path}: found no record of its search, {search}; give a result of dense retrieval")
    record = records.read_record(search)
    if "encoder" not in record["inputs"]:
        raise SteleError(f"{search}: its search used no encoder ({record['job']}); give a result of dense retrieval")

    # the encoder with this content, among those of its model
    model = search.parents[2].name
    for folder in MADE_IN:
        for candidate in sorted(Path().glob(f"{folder}/{model}/**/{RECORD}")):
            if records.content_digest(candidate) == record["inputs"]["encoder"]:
                return candidate.parent, {"config": record["encoding"]}
    raise SteleError(f"{path}: its encoder is not below this folder; build it again with `snakemake {path}`")


def load_encoder(name: Path | str, spec: Wanted = None, device: str = "cpu") -> Encoder:
    """Loads the encoder called `name`, ready to encode on `device`.

    `name` is a folder or its record.json; the key or hub id of a model whose checkpoint is here; or a result's path,
    whose encoder is loaded as it was used. `spec` completes what the folder does not state (`stele.encoders.resolve`
    has the order of precedence); a plain transformers folder needs it. Raises SteleError for an unknown name, a folder
    without a model, unsupported modules and contradictions.

    A plain transformers folder of a model that is 32 wide:

    >>> encoder = load_encoder(folder, {"pooling": "mean", "query_length": 64, "passage_length": 64})
    >>> encoder.encode(["who wrote the novel", "the river Nile"], "query").shape
    (2, 32)
    """
    path = Path(name)
    if path.is_dir() or path.name == RECORD:
        return load.load_encoder(path, spec, device)
    is_result = path.suffix == ".json" and path.is_file()
    folder, by_origin = encoder_of_result(path) if is_result else encoder_of_model(str(name))
    wishes = spec.model_dump(exclude_unset=True) if isinstance(spec, EncodingSpec) else dict(spec or {})
    by_origin["config"] = {**by_origin.get("config", {}), **wishes}
    # a prompt's instruction belongs to a benchmark: without one it is a placeholder
    by_origin[BENCHMARK] = {**SOME_INSTRUCTION, **by_origin.get(BENCHMARK, {})}
    return load.load_encoder(folder, by_origin, device)
