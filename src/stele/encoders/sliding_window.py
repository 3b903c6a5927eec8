"""BERT converted to global and sliding-window attention, as a `longformer` folder (Yu et al. 2021, sections 3 and 4.3).

Position vectors 0 to 511 are copied to 512 to 1,023, and so on; Longformer counts positions from the row after the
padding id's, so all are shifted. Global attention starts from copies of the local projections and trains them
separately, as Equation 1 says, and as the released code does once its converted model is loaded again.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stele.catalogue.hub import TOKENIZER
from stele.encoders.tokenizer import load_tokenizer, quiet, read_config, read_json, tokenizer_probe
from stele.errors import SteleError
from stele.files.atomic import atomic_directory, atomic_write_json
from stele.files.reading import reading
from stele.recipes.pretraining import SlidingWindow
from stele.training.hidden_states import GLOBAL_SEPARATORS

KEPT = (  # keys of BERT's configuration
    *("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "hidden_act"),
    *("hidden_dropout_prob", "attention_probs_dropout_prob", "type_vocab_size", "initializer_range", "layer_norm_eps"),
    "pad_token_id",
)
PROJECTIONS = ("query", "key", "value")
HEAD = {  # of masked language modelling: BERT's names and Longformer's
    "cls.predictions.transform.dense.": "lm_head.dense.",
    "cls.predictions.transform.LayerNorm.": "lm_head.layer_norm.",
    "cls.predictions.bias": "lm_head.bias",
}


def convert(source: Path, target: Path, recipe: SlidingWindow) -> None:
    """Converts the BERT in folder `source` to a Longformer in the new folder `target`, with its tokenizer.

    Its vocabulary head and its pooler are converted, too, if it has them. Raises SteleError for model families other
    than BERT.
    """
    from safetensors.torch import save_file
    from transformers import BertForPreTraining

    config = read_config(source)
    if config.model_type != "bert" or config.hidden_act != "gelu":
        raise SteleError(f"{source}: {config.model_type}, {config.hidden_act}; sliding windows are for bert with gelu")
    with reading(source, "folder of weights"), quiet():
        model, report = BertForPreTraining.from_pretrained(
            source,
            use_safetensors=True,
            local_files_only=True,
            ignore_mismatched_sizes=True,  # refused below, by name
            output_loading_info=True,
        )
    lacking = set(report["missing_keys"])
    if other := sorted(name for name, *_ in report["mismatched_keys"]):
        raise SteleError(f"{source}: its weights are not shaped as config.json says: {', '.join(other[:3])}")
    if wrong := sorted(name for name in lacking if name.startswith("bert.") and "pooler" not in name):
        raise SteleError(f"{source}: its weights lack tensors that config.json needs, such as {', '.join(wrong[:3])}")
    weights = {name: value for name, value in model.state_dict().items() if name not in lacking}
    if any(name.startswith("cls.predictions.transform") for name in lacking):
        weights = {name: value for name, value in weights.items() if not name.startswith("cls.")}
    wanted = windowed_config(config, recipe)
    with atomic_directory(target, "sliding_window") as folder:
        wanted.save_pretrained(folder)
        save_file(windowed_weights(weights, config, recipe.positions), folder / "model.safetensors", {"format": "pt"})
        _copy_tokenizer(source, folder, recipe.positions)


def windowed_config(config: Any, recipe: SlidingWindow) -> Any:
    """Makes Longformer's configuration from a BERT's."""
    from transformers import LongformerConfig

    windowed = LongformerConfig(
        **{name: getattr(config, name) for name in KEPT},
        attention_window=[recipe.window] * config.num_hidden_layers,
        max_position_embeddings=recipe.positions + config.pad_token_id + 1,
        architectures=["LongformerForMaskedLM"],
        bos_token_id=None,
        eos_token_id=None,
    )
    setattr(windowed, GLOBAL_SEPARATORS, recipe.global_separators)
    return windowed


def windowed_weights(weights: Mapping[str, Any], config: Any, positions: int) -> dict[str, Any]:
    """Makes Longformer's weights, by name, from those of BERT with its heads."""
    import torch

    windowed = {}
    for name, value in weights.items():
        if name.startswith("bert."):
            windowed[f"longformer.{name.removeprefix('bert.')}"] = value
        for ours, theirs in HEAD.items():
            if name.startswith(ours):
                windowed[theirs + name.removeprefix(ours)] = value
    for name in [name for name in windowed if ".attention.self." in name]:
        place, projection, kind = name.rsplit(".", 2)
        if projection in PROJECTIONS:
            windowed[f"{place}.{projection}_global.{kind}"] = windowed[name].clone()
    windowed.pop("longformer.embeddings.position_ids", None)
    table = windowed["longformer.embeddings.position_embeddings.weight"]
    rows = torch.zeros(positions + config.pad_token_id + 1, table.shape[1], dtype=table.dtype)
    rows[config.pad_token_id + 1 :] = table[torch.arange(positions) % len(table)]
    windowed["longformer.embeddings.position_embeddings.weight"] = rows
    return {name: value.contiguous() for name, value in windowed.items()}


def _copy_tokenizer(source: Path, target: Path, positions: int) -> None:
    """Copies the tokenizer's files, with its class in the settings, so that it does not depend on the model family."""
    tokenizer = load_tokenizer(source)
    for name in TOKENIZER:
        if (source / name).exists():
            shutil.copyfile(source / name, target / name)
    stated = read_json(source / "tokenizer_config.json")
    stated |= {"tokenizer_class": type(tokenizer).__name__, "model_max_length": positions}
    atomic_write_json(target / "tokenizer_config.json", stated)
    if tokenizer_probe(load_tokenizer(target)) != tokenizer_probe(tokenizer):
        raise SteleError(f"{source}: its tokenizer gives different ids after conversion; save it as a fast one")
