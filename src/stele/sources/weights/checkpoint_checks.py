"""Check that a checkpoint can make the requested vectors: first by its settings, then by loading it."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stele.catalogue.hub import CONFIG, MODULES, STATIC, VOCABULARY, WEIGHTS
from stele.encoders.backbone import refuse_adapter, refuse_decoder, refuse_longer, refuse_quantised
from stele.encoders.resolve import resolve
from stele.encoders.sentence_transformers_folder import stated_width
from stele.encoders.tokenizer import load_tokenizer
from stele.errors import SteleError
from stele.files.reading import reading
from stele.files.strict import Values
from stele.recipes.encoding import BENCHMARK, SOME_INSTRUCTION, SPEC_FILE
from stele.sources.weights.checkpoint_files import model_folders, read_json, read_weight_map, static_folders

ENCODERS = "want an encoder of texts"
_LAYER = re.compile(r"^(.+?)\.(\d+)\.")  # the name before a layer's number, and the number
TEXTS = (
    "What is a stele?",
    "Стела — камень с текстом.",
    "نص على حجر",
    "石碑上的文字",
)  # several scripts


def check_settings(
    folder: Path, encoding: Mapping[str, Values] | None = None, generator: bool = False, trained: bool = False
) -> None:
    """Checks that the settings of a checkpoint fit its use; raises SteleError with the reason if they do not.

    `folder` holds config.json, the tokenizer and, for sentence-transformers, the modules. `encoding` has the keys of an
    encoder that is used without training, by their origin (`encoders/resolve.py`); it is None if a recipe decides how
    vectors are made. A `generator` writes text and makes no vectors; one that is `trained` also learns MLM.
    """
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES

    models = model_folders(folder)
    if not models and static_folders(folder) and not generator:
        if encoding is None or trained:
            raise SteleError(f"{folder}: a {STATIC} has no layers to train; use it without a recipe")
        resolve(folder, _with_instruction(encoding))
        return
    if not models:
        raise SteleError(f"{folder}: there is no model in it (no {CONFIG} with a model_type)")
    for model in models:
        refuse_adapter(model)
        refuse_quantised(model)
    if generator:
        return
    configs = [_encoder_config(model) for model in models]
    states = (folder / MODULES).is_file() or (folder / SPEC_FILE).is_file()
    pooling = [values.get("pooling") for values in (encoding or {}).values()]
    if not states and "last" not in pooling:
        for model, config in zip(models, configs, strict=True):
            _refuse_left_to_right(model, config)
    if encoding is not None:
        spec = resolve(folder, _with_instruction(encoding)).spec
        tokenizer = load_tokenizer(models[0])
        if states:  # another folder gets the benchmark's lengths later
            refuse_longer(folder, spec, configs[0])
        if trained and tokenizer.mask_token is None:
            raise SteleError(f"{folder}: its tokenizer has no mask token, which MLM needs")
        if trained and configs[0].model_type not in MODEL_FOR_MASKED_LM_MAPPING_NAMES:
            raise SteleError(f"{folder}: transformers has no MLM of type {configs[0].model_type!r}; take another one")
        width = stated_width(folder, configs[0].hidden_size)
        if spec.dimension and spec.dimension > width:
            raise SteleError(f"{folder}: dimension is {spec.dimension}, its vectors have {width} numbers")


def refuse_without_tokenizer(folder: Path) -> None:
    """Raises SteleError if no tokenizer file is there: transformers would make a tokenizer without a vocabulary."""
    if not any((folder / name).is_file() for name in VOCABULARY):
        raise SteleError(f"{folder}: no tokenizer (want one of {', '.join(VOCABULARY)})")


def refuse_without_weights(folder: Path, names: Sequence[str] = WEIGHTS) -> None:
    """Raises SteleError if `folder` has no file of weights, as a user's own folder may."""
    if not any((folder / name).is_file() for name in names):
        raise SteleError(f"{folder}: no weights (want one of {', '.join(WEIGHTS)})")


def _with_instruction(encoding: Mapping[str, Values]) -> dict[str, Values]:
    """Adds a placeholder instruction to an encoding's keys, since the benchmark's instruction is not known yet."""
    return {**encoding, BENCHMARK: {**SOME_INSTRUCTION, **encoding.get(BENCHMARK, {})}}


def _encoder_config(folder: Path) -> Any:
    """Configuration of a text encoder with one state per token. Raises SteleError if the model has another type."""
    from transformers import AutoConfig
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    where = folder / CONFIG
    kind = str(read_json(where)["model_type"])
    if kind not in CONFIG_MAPPING_NAMES or kind not in MODEL_MAPPING_NAMES:
        raise SteleError(f"{where}: model type {kind!r} is unknown to this version of transformers; {ENCODERS}")
    with reading(where, "configuration of a model", "get it again"):
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    refuse_decoder(folder, config)
    if not isinstance(getattr(config, "hidden_size", None), int):
        raise SteleError(f"{where}: model type {kind!r} is not a text-only encoder; {ENCODERS}")
    return config


def _refuse_left_to_right(folder: Path, config: Any) -> None:
    """Raises SteleError for a causal language model without last pooling: only its last token has seen the text."""
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    )

    kind = config.model_type
    both_ways = getattr(config, "use_bidirectional_attention", False) or getattr(config, "is_causal", True) is False
    if kind in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES and kind not in MODEL_FOR_MASKED_LM_MAPPING_NAMES and not both_ways:
        raise SteleError(
            f"{folder / CONFIG}: model type {kind!r} is a language model with causal attention, and its "
            "settings do not say that it is an encoder; if it is one, add `encoding: {pooling: last}` to the model, or "
            "give its sentence-transformers folder"
        )


def check_static(folder: Path) -> dict[str, Any]:
    """Loads static token vectors once; returns their type and sizes. Raises SteleError if any is NaN or infinite."""
    from stele.encoders.static_embedding import load_static, load_static_tokenizer

    vectors = load_static(folder).embedding.weight
    if not vectors.isfinite().all():
        raise SteleError(f"{folder}: the token vectors have NaN or infinite values; get the weights again")
    size = {"parameters": vectors.numel(), "dimension": vectors.shape[1]}
    return {"model_type": STATIC, **size, "vocabulary": len(load_static_tokenizer(folder)), "new": []}


def check_loads(folder: Path, dtype: str = "float32") -> dict[str, Any]:
    """Loads the tokenizer and model of a folder once, embeds a few texts, and returns the model's type and sizes.

    `dtype` is float32 or bfloat16. Only a pooler may lack weights (masked language models have none); `new` names the
    randomly initialised tensors.

    Raises:
        SteleError: the tokenizer or weights are missing or do not fit the model, or the vectors have NaN.
    """
    refuse_without_tokenizer(folder)
    refuse_without_weights(folder, WEIGHTS[:2])  # other formats were converted
    import torch
    from transformers import AutoModel
    from transformers.utils import logging as transformers_logging

    transformers_logging.set_verbosity_error()  # heads that are not loaded are not worth a warning here
    transformers_logging.disable_progress_bar()
    local = {"local_files_only": True, "trust_remote_code": False}
    check_sizes(folder)
    with reading(folder, "checkpoint", "fetch it again"):
        tokenizer = load_tokenizer(folder)
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
            f"{folder}: the weights have layers that config.json leaves out ({', '.join(unread[:4])}); "
            f"correct config.json (num_hidden_layers is {model.config.num_hidden_layers}), or take the vectors from an "
            "inner layer of the whole model (`encoding: {layer: N}`)"
        )
    rows = len(model.get_input_embeddings().weight)
    # a special token of other inputs may have no row, as that of images in the text models of the Gemma 3 family
    rowless = sum(token.special for number, token in tokenizer.added_tokens_decoder.items() if number >= rows)
    if len(tokenizer) - rowless > rows:
        raise SteleError(
            f"{folder}: the tokenizer has {len(tokenizer):,} tokens, the model {rows:,}; give both from one model"
        )
    batch = tokenizer(list(TEXTS), padding=True, truncation=True, max_length=32, return_tensors="pt")
    with reading(folder, "encoder of texts", "want a model that needs nothing else"), torch.no_grad():
        vectors = model.eval()(**batch).last_hidden_state
    if not torch.isfinite(vectors).all():
        raise SteleError(f"{folder}: the model's output has NaN or infinite values; the weights are damaged")
    return {
        "model_type": model.config.model_type,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "dimension": vectors.shape[-1],
        "vocabulary": len(tokenizer),
        "new": new,
    }


def check_sizes(folder: Path) -> None:
    """Raises SteleError if config.json needs over twice as many parameters as the weights have; allocates none of them.

    The weights must hold all parameters but a pooler's. A smaller difference passes: loading then names the missing
    tensors.
    """
    import torch
    from safetensors import safe_open
    from transformers import AutoConfig, AutoModel

    stored, tensors = 0, 0
    for index in sorted(folder.glob("*.safetensors.index.json")):
        for shard in sorted(set(read_weight_map(index).values())):
            if not (folder / shard).is_file():
                raise SteleError(f"{index}: names {shard}, which is missing; fetch the checkpoint again")
    for path in sorted(folder.glob("*.safetensors")):
        with reading(path, "safetensors file", "fetch it again"), safe_open(path, framework="pt") as weights:
            for name in weights.keys():  # noqa: SIM118 (no mapping)
                stored += math.prod(weights.get_slice(name).get_shape())
                tensors += 1
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        layers = getattr(config, "num_hidden_layers", 1)
        if not 1 <= layers <= tensors:
            raise SteleError(f"{folder / CONFIG}: num_hidden_layers is {layers}, the weights have {tensors} tensors")
        with torch.device("meta"):  # shapes only
            model = AutoModel.from_config(config, trust_remote_code=False)
    except SteleError:
        raise
    except Exception:
        return  # loading the model reports the error
    needed = sum(value.numel() for name, value in model.named_parameters() if "pooler" not in name)
    if needed > 2 * stored:
        sizes = {key: value for key, value in config.to_dict().items() if key.endswith("_size") and value}
        raise SteleError(
            f"{folder / CONFIG}: needs {needed:,} parameters, the weights hold {stored:,}; they do not belong together "
            f"({', '.join(f'{key} {value}' for key, value in sorted(sizes.items()))})"
        )


def layers_left_out(unread: Iterable[str], model: Iterable[str]) -> list[str]:
    """Numbered layers that occur among the `unread` weights but not at all in the `model`; task heads have no number.

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
