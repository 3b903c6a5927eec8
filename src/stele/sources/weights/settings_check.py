"""Looking at a checkpoint's settings before its weights are taken: can it make the vectors that are asked of it?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stele.catalogue.hub import CONFIG, MODULES, STATIC
from stele.encoders.backbone import refuse_adapter
from stele.encoders.resolve import resolve
from stele.encoders.sentence_transformers_folder import stated_width
from stele.encoders.tokenizer import load_tokenizer
from stele.errors import SteleError
from stele.files.reading import reading
from stele.files.strict import Values
from stele.recipes.encoding import BENCHMARK, SOME_INSTRUCTION, SPEC_FILE
from stele.sources.weights.load_check import model_folders, read_json, static_folders

ENCODERS = "want an encoder of texts"


def check_settings(folder: Path, encoding: Mapping[str, Values] | None = None, generator: bool = False) -> None:
    """Refuses a checkpoint that cannot do what it is for, by what its files say beside the weights.

    `folder` holds config.json, the tokenizer and, of a sentence-transformers folder, its modules. `encoding` is what is
    said of an encoder that is used as it is, by who says it (`encoders/resolve.py`); None where a recipe says how
    vectors are made. A `generator` writes text and makes no vectors.
    """
    models = model_folders(folder)
    if not models and static_folders(folder) and not generator:
        if encoding is None:
            raise SteleError(f"{folder}: a {STATIC} has no layers to train; it can only be used as it is")
        resolve(folder, _with_instruction(encoding))
        return
    if not models:
        raise SteleError(f"{folder}: no model in it (no {CONFIG} with a model_type)")
    for model in models:
        refuse_adapter(model)
    if generator:
        return
    configs = [_encoder_config(model) for model in models]
    states = (folder / MODULES).is_file() or (folder / SPEC_FILE).is_file()
    said = {key for values in (encoding or {}).values() for key in values.items()}
    if not states and ("pooling", "last") not in said:
        for model, config in zip(models, configs, strict=True):
            _refuse_left_to_right(model, config)
    if encoding is not None:
        spec = resolve(folder, _with_instruction(encoding)).spec
        load_tokenizer(models[0])
        width = stated_width(folder, configs[0].hidden_size)
        if spec.dimension and spec.dimension > width:
            raise SteleError(f"{folder}: dimension is {spec.dimension}, its vectors have {width} numbers")


def _with_instruction(encoding: Mapping[str, Values]) -> dict[str, Values]:
    """What is said of an encoder, with an instruction in the place of a benchmark's that is not known yet."""
    return {**encoding, BENCHMARK: {**SOME_INSTRUCTION, **encoding.get(BENCHMARK, {})}}


def _encoder_config(folder: Path) -> Any:
    """The configuration of a model that makes one state a token; any other is refused by its type."""
    from transformers import AutoConfig
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    where = folder / CONFIG
    kind = str(read_json(where)["model_type"])
    if kind not in CONFIG_MAPPING_NAMES or kind not in MODEL_MAPPING_NAMES:
        raise SteleError(f"{where}: model type {kind!r} is none that this transformers knows; {ENCODERS}")
    with reading(where, "configuration of a model", "get it again"):
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    if getattr(config, "is_encoder_decoder", False):
        raise SteleError(f"{where}: model type {kind!r} is no encoder: it has a decoder, which writes text; {ENCODERS}")
    if not isinstance(getattr(config, "hidden_size", None), int):
        raise SteleError(f"{where}: model type {kind!r} is no encoder of texts alone; {ENCODERS}")
    return config


def _refuse_left_to_right(folder: Path, config: Any) -> None:
    """Only the last token of a model that reads from left to right has seen the text: the vector must be its."""
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    )

    kind = config.model_type
    both_ways = getattr(config, "use_bidirectional_attention", False) or getattr(config, "is_causal", True) is False
    if kind in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES and kind not in MODEL_FOR_MASKED_LM_MAPPING_NAMES and not both_ways:
        raise SteleError(
            f"{folder / CONFIG}: model type {kind!r} is a language model that reads from left to right, and nothing "
            "says that it was made an encoder; if it was, give it `encoding: {pooling: last}`, or its "
            "sentence-transformers folder"
        )
