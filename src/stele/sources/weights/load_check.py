"""Looking at a checkpoint before it is used: nothing in it may need code, and it must load and give vectors."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from stele.catalogue.hub import CONFIG, MODULES, STATIC, VOCABULARY, WEIGHTS
from stele.errors import SteleError
from stele.files import reading
from stele.files.paths import inside, relative
from stele.files.reading import JsonObject

_LAYER = re.compile(r"^(.+?)\.(\d+)\.")  # what stands before a layer's number, and the number
TEXTS = ("What is a stele?", "Стела — камень с текстом.", "نص على حجر", "石碑上的文字")  # several scripts


def read_json(path: Path) -> Any:
    """A JSON file of a checkpoint; a damaged one is an error that names it."""
    return reading.read_json(path, advice="fetch it again")


def read_weight_map(index: Path) -> dict[str, str]:
    """Tensor -> the file of weights that holds it, below the folder of an index; every name is checked."""
    listed = read_json(index)
    names = listed.get("weight_map") if isinstance(listed, Mapping) else None
    if not isinstance(names, Mapping) or not names:
        raise SteleError(f"{index}: no weight_map in it (want tensor -> file); fetch it again")
    shards = {tensor: relative(name, str(index)) for tensor, name in names.items()}
    if other := next((name for name in shards.values() if Path(name).suffix not in SHARDS), None):
        raise SteleError(
            f"{index}: names {other!r}, which holds no weights (want {' or '.join(SHARDS)}); fetch it again"
        )
    return shards


INSTEAD = "use a model that transformers itself knows"
SHARDS = (".safetensors", ".bin")
SETTINGS = (CONFIG, "tokenizer_config.json")  # they may name code in `auto_map`


def read_module_list(path: Path) -> list[JsonObject]:
    """The modules of a sentence-transformers folder, as its modules.json lists them."""
    listed = read_json(path)
    if not isinstance(listed, list) or not all(isinstance(module, Mapping) for module in listed):
        raise SteleError(f"{path}: want a list of modules, each with type and path; fetch it again")
    return listed


def refuse_code(folder: Path, instead: str = INSTEAD) -> None:
    """Refuses a checkpoint that brings its own code; `instead` is what to do."""
    for path in sorted(path for name in SETTINGS for path in folder.rglob(name)):
        refuse_code_of(path, path.name, str(path), instead)
    if (folder / MODULES).is_file():
        refuse_code_of(folder / MODULES, MODULES, str(folder / MODULES), instead)


def refuse_code_of(path: Path, name: str, where: str, instead: str = INSTEAD) -> None:
    """Refuses a file of a checkpoint that asks for code: settings with auto_map, modules from elsewhere.

    `name` is what the checkpoint calls it, `where` what an error does; any other file is let through.
    """
    if name == MODULES:
        for module in read_module_list(path):
            kind = str(module.get("type", ""))
            if not kind.startswith("sentence_transformers."):
                raise SteleError(f"{where}: module {kind!r} is its own code, which Stele never runs")
    elif name in SETTINGS:
        settings = read_json(path)
        if isinstance(settings, Mapping) and settings.get("auto_map"):
            raise SteleError(
                f"{where}: brings its own code (auto_map), and Stele never runs a checkpoint's code; {instead}"
            )


def model_folders(folder: Path) -> list[Path]:
    """The folders of a checkpoint that hold a transformer: itself, a module of sentence-transformers, or two towers."""
    folders, static = [], static_folders(folder)
    for path in sorted(folder.rglob(CONFIG)):
        settings = read_json(path)
        if isinstance(settings, Mapping) and settings.get("model_type") and path.parent not in static:
            folders.append(path.parent)
    return folders


def static_folders(folder: Path) -> list[Path]:
    """The folders of a checkpoint's modules that have vectors of tokens alone."""
    listed = read_module_list(folder / MODULES) if (folder / MODULES).is_file() else []
    paths = [module.get("path") for module in listed if str(module.get("type", "")).endswith(f".{STATIC}")]
    return [folder if path in (None, "", ".") else inside(folder, path, str(folder / MODULES)) for path in paths]


def check_static(folder: Path) -> dict[str, Any]:
    """Loads the vectors of tokens of a folder once; returns what they are."""
    from stele.encoders.static_embedding import load_static, load_static_tokenizer

    vectors = load_static(folder).embedding.weight
    if not vectors.isfinite().all():
        raise SteleError(f"{folder}: has values that are no numbers (NaN or infinite); the weights are damaged")
    size = {"parameters": vectors.numel(), "dimension": vectors.shape[1]}
    return {"model_type": STATIC, **size, "vocabulary": len(load_static_tokenizer(folder)), "new": []}


def check_loads(folder: Path, dtype: str = "float32") -> dict[str, Any]:
    """Loads tokenizer and model of a folder once and embeds a few texts; returns what they are.

    `dtype` is as what its weights are held, `float32` or `bfloat16`.

    Only a pooler may lack weights (masked language models have none): `new` names what starts at random then.

    Raises:
        SteleError: no tokenizer, weights missing for parts of the model, ids beyond the vocabulary, NaN.
    """
    present = {path.name for path in folder.iterdir()}
    if not present & set(VOCABULARY):
        raise SteleError(f"{folder}: no tokenizer (none of {', '.join(VOCABULARY)})")
    if not present & set(WEIGHTS[:2]):
        raise SteleError(f"{folder}: no weights (none of {', '.join(WEIGHTS)})")
    import torch
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import logging as transformers_logging

    transformers_logging.set_verbosity_error()  # heads that are not loaded are not worth a warning here
    transformers_logging.disable_progress_bar()
    local = {"local_files_only": True, "trust_remote_code": False}
    check_sizes(folder)
    with reading.reading(folder, "checkpoint", "fetch it again"):
        tokenizer = AutoTokenizer.from_pretrained(folder, **local)
        model, report = AutoModel.from_pretrained(
            folder, use_safetensors=True, output_loading_info=True, dtype=getattr(torch, dtype), **local
        )
    new = sorted(name for name in report["missing_keys"] if "position_ids" not in name)
    missing = [name for name in new if "pooler" not in name]
    if missing or report.get("mismatched_keys"):
        named = ", ".join(sorted(map(str, missing or report["mismatched_keys"]))[:4])
        raise SteleError(f"{folder}: the weights do not fit config.json; missing or of another shape: {named}")
    if unread := layers_left_out(report["unexpected_keys"], model.state_dict()):
        raise SteleError(
            f"{folder}: config.json asks for fewer layers than the weights have, which leaves out "
            f"{', '.join(unread[:4])}; correct config.json (num_hidden_layers is {model.config.num_hidden_layers}), or "
            "read an inner layer of the whole model (`encoding: {layer: N}`)"
        )
    rows = model.get_input_embeddings().num_embeddings
    if len(tokenizer) > rows:
        raise SteleError(
            f"{folder}: the tokenizer has {len(tokenizer):,} tokens, the model {rows:,}; they do not belong together"
        )
    batch = tokenizer(list(TEXTS), padding=True, truncation=True, max_length=32, return_tensors="pt")
    with reading.reading(folder, "encoder of texts", "want a model that needs nothing else"), torch.no_grad():
        vectors = model.eval()(**batch).last_hidden_state
    if not torch.isfinite(vectors).all():
        raise SteleError(f"{folder}: gives values that are no numbers (NaN or infinite); the weights are damaged")
    return {
        "model_type": model.config.model_type,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "dimension": vectors.shape[-1],
        "vocabulary": len(tokenizer),
        "new": new,
    }


def check_sizes(folder: Path) -> None:
    """Refuses a config.json that needs far more numbers than the weights hold, before memory is taken for them.

    All of a model but a pooler has to be in its weights. Less than twice as much is let through: loading then names
    what is missing.
    """
    import torch
    from safetensors import safe_open
    from transformers import AutoConfig, AutoModel

    held, tensors = 0, 0
    for index in sorted(folder.glob("*.safetensors.index.json")):
        for shard in sorted(set(read_weight_map(index).values())):
            if not (folder / shard).is_file():
                raise SteleError(f"{index}: names {shard}, which is not there; fetch it again")
    for path in sorted(folder.glob("*.safetensors")):
        with reading.reading(path, "safetensors file", "fetch it again"), safe_open(path, framework="pt") as weights:
            for name in weights.keys():  # noqa: SIM118 (no mapping)
                held += math.prod(weights.get_slice(name).get_shape())
                tensors += 1
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        layers = getattr(config, "num_hidden_layers", 1)
        if not 1 <= layers <= tensors:
            raise SteleError(f"{folder / CONFIG}: num_hidden_layers is {layers}, the weights are {tensors} tensors")
        with torch.device("meta"):  # shapes alone
            model = AutoModel.from_config(config, trust_remote_code=False)
    except SteleError:
        raise
    except Exception:
        return  # loading it says what is wrong
    needed = sum(value.numel() for name, value in model.named_parameters() if "pooler" not in name)
    if needed > 2 * held:
        sizes = {key: value for key, value in config.to_dict().items() if key.endswith("_size") and value}
        raise SteleError(
            f"{folder / CONFIG}: asks for {needed:,} numbers, the weights hold {held:,}; they do not belong together "
            f"({', '.join(f'{key} {value}' for key, value in sorted(sizes.items()))})"
        )


def layers_left_out(unread: Iterable[str], model: Iterable[str]) -> list[str]:
    """The numbered layers of which weights were not read and the model has nothing at all; heads of tasks have none.

    >>> layers_left_out(["bert.encoder.layer.5.output.bias", "cls.bias"], ["encoder.layer.0.output.bias"])
    ['encoder.layer.5']
    """
    have = list(model)
    stems = {match[1] for name in have if (match := _LAYER.search(name))}
    layers = set()
    for name in unread:
        match = _LAYER.search(name)
        stem_found = next((stem for stem in stems if match and f".{match[1]}".endswith(f".{stem}")), None)
        if stem_found and not any(other.startswith(f"{stem_found}.{match[2]}.") for other in have):
            layers.add((stem_found, int(match[2])))
    return [f"{stem}.{number}" for stem, number in sorted(layers)]
