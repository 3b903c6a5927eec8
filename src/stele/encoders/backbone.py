"""Loading the backbone (the bare transformer) of a transformers folder."""

import inspect
from pathlib import Path
from typing import Any

from stele.artifacts.records import read_record
from stele.catalogue.hub import ADAPTER
from stele.encoders.tokenizer import quiet, read_config, read_json
from stele.errors import SteleError
from stele.files.reading import reading
from stele.recipes.encoding import EncodingSpec, reserved_positions

# model families whose hidden states of layer k are what a k-layer model would return (no normalisation after the last)
CUT_BY_LAYER = ("bert", "camembert", "distilbert", "electra", "ernie", "longformer", "roberta", "xlm-roberta")
RECORD = "record.json"
RELATIVE = "distance_embedding"  # weights of relative positions
DROPOUTS = (
    *("hidden_dropout_prob", "attention_probs_dropout_prob", "dropout", "attention_dropout"),
    *("embedding_dropout", "mlp_dropout"),  # ModernBERT's, beside attention_dropout
    *("attn_pdrop", "embd_pdrop", "resid_pdrop", "embed_dropout", "resid_dropout", "hidden_dropout"),  # GPTs', Funnel's
)


def load_backbone(
    folder: Path,
    pooling: str,
    layer: int | None = None,
    seed: int | None = None,
    dropout: float | None = None,
    weights: str = "float32",
) -> tuple[Any, list[str]]:
    """Loads the bare transformer of a folder; returns it with the names of newly initialised weights.

    layer     number of layers to keep; those above it are left out, as are heads of other tasks
    seed      initialises a missing pooler, for training; without a seed it is an error if `pooling` is "pooler"
    dropout   replaces the rates of the folder's config
    weights   the type in which weights are held and computed, "float32" or "bfloat16"

    Raises SteleError for a folder without safetensors, a model with a decoder or with its own code, weights that do not
    fit its config, relative positions that the library no longer computes, and a pooler that `pooling` needs and that
    is missing.
    """
    refuse_adapter(folder)
    refuse_quantised(folder)
    _refuse_code(folder)
    _want_safetensors(folder)
    config = read_config(folder)
    refuse_decoder(folder, config)
    config.use_cache = False  # left-to-right models need their cache only for generation
    if config.model_type == "big_bird":  # transformers gives up block-sparse attention for good at a short text
        config.attention_type = "original_full"
    _set_layer(config, layer, folder)
    if dropout is not None:
        for name in DROPOUTS:
            if hasattr(config, name):
                setattr(config, name, dropout)
    has_pooler = _has_pooler(folder)
    model, report = _read_weights(folder, config, pooling == "pooler" or has_pooler, seed, weights)
    missing = sorted(report["missing_keys"])
    lost = [name for name in missing if "pooler" not in name] + [str(key) for key in report["mismatched_keys"]]
    if lost:
        raise SteleError(
            f"{folder}: its weights do not fit its config.json: {', '.join(lost[:3])} are missing or have another shape"
        )
    if any(RELATIVE in name for name in report["unexpected_keys"]):
        raise SteleError(
            f"{folder}: found a {config.model_type} with relative positions, which transformers 5 ignores, so that its "
            "vectors would be wrong; use another checkpoint"
        )
    if pooling == "pooler" and getattr(model, "pooler", None) is None:
        raise SteleError(f"{folder}: model type {config.model_type!r} has no pooler; use pooling cls or mean")
    if pooling == "pooler" and missing and seed is None:
        raise SteleError(
            f"{folder}: the checkpoint has no pooler weights, so pooling: pooler gives random vectors; use cls or mean"
        )
    return model, missing


def positions(config) -> int:
    """Number of tokens that a model can read; RoBERTa-like ones reserve the positions up to the padding id."""
    reserved = reserved_positions(config.model_type, getattr(config, "pad_token_id", None))
    return (getattr(config, "max_position_embeddings", None) or 10**9) - reserved


def refuse_longer(folder: Path, spec: EncodingSpec, config: Any) -> None:
    """Raises SteleError if the length of queries or passages exceeds the positions of the model."""
    for kind in ("query", "passage"):
        if spec.length(kind) > (longest := positions(config)):
            raise SteleError(
                f"{folder}: {kind}_length is {spec.length(kind)}, the model has {longest} positions; add "
                f"`max_length: {longest}` to its encoding, or a smaller number"
            )


def _read_weights(
    folder: Path, config: Any, pooler: bool, seed: int | None, weights: str
) -> tuple[Any, dict[str, Any]]:
    import torch
    from transformers import AutoModel

    built = AutoModel._model_mapping.get(type(config), None)
    built = built[0] if isinstance(built, (tuple, list)) else built
    if built is None:
        raise SteleError(f"{folder}: no encoder of transformers has model type {config.model_type!r}; use another")
    optional = "add_pooling_layer" in inspect.signature(built.__init__).parameters
    with reading(folder, "folder of weights"), quiet(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed or 0)
        return AutoModel.from_pretrained(
            folder,
            config=config,
            dtype=getattr(torch, weights),
            use_safetensors=True,
            local_files_only=True,
            output_loading_info=True,
            **({"add_pooling_layer": pooler} if optional else {}),
        )


def _set_layer(config: Any, layer: int | None, folder: Path) -> None:
    if layer is None:
        return
    if config.model_type not in CUT_BY_LAYER:
        raise SteleError(f"{folder}: `layer` works for {', '.join(CUT_BY_LAYER)}, not for {config.model_type}")
    if layer > config.num_hidden_layers:
        raise SteleError(f"{folder}: layer {layer} is requested, but the model has {config.num_hidden_layers}")
    config.num_hidden_layers = layer
    if config.model_type == "longformer" and not isinstance(config.attention_window, int):
        config.attention_window = config.attention_window[:layer]


def refuse_adapter(folder: Path) -> None:
    """Raises SteleError for a folder with an adapter (peft), which Stele does not load."""
    if (folder / ADAPTER).exists():
        raise SteleError(
            f"{folder / ADAPTER}: adapters are not supported; merge it into the weights (peft's `merge_and_unload`), "
            "and give that folder"
        )


def refuse_decoder(folder: Path, config: Any) -> None:
    """Raises SteleError for a family of models with a decoder; transformers loads T5's encoder alone with one, too."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES as FAMILIES

    if getattr(config, "is_encoder_decoder", False) or config.model_type in FAMILIES:
        raise SteleError(
            f"{folder / 'config.json'}: model type {config.model_type!r} is not supported: models of this family have "
            "a decoder; want an encoder of texts"
        )


def refuse_quantised(folder: Path) -> None:
    """Raises SteleError for quantised weights: their vectors depend on the machine and on packages not here."""
    if settings := read_json(folder / "config.json").get("quantization_config"):
        name = settings.get("quant_method") if isinstance(settings, dict) else settings
        raise SteleError(
            f"{folder / 'config.json'}: its weights are quantised ({name}), which Stele does not load; give the model "
            "that it was made from, with `weights: bfloat16` in its encoding if memory is short"
        )


def _refuse_code(folder: Path) -> None:
    """Raises SteleError for a model with its own code: transformers would compute a model without it, in silence."""
    if read_json(folder / "config.json").get("auto_map"):
        raise SteleError(
            f"{folder / 'config.json'}: brings its own code (auto_map), and Stele never runs a checkpoint's code; use "
            "a model that transformers itself knows"
        )


def _want_safetensors(folder: Path) -> None:
    if not folder.is_dir():
        raise SteleError(f"{folder}: no such folder; want a model folder with config.json and model.safetensors")
    if not any(folder.glob("*.safetensors")):
        record = next((place / RECORD for place in (folder, folder.parent) if (place / RECORD).is_file()), None)
        if record is not None:  # a folder that Stele made
            raise SteleError(
                f"{folder}: the weights that `{read_record(record).get('job')}` made are missing; "
                f"`snakemake --force {record}` makes them again"
            )
        files = sorted(p.name for p in folder.glob("*.bin")) or sorted(p.name for p in folder.iterdir())[:5]
        raise SteleError(
            f"{folder}: found {', '.join(files) or 'nothing'}, want model.safetensors; "
            "`stele sources checkpoint` converts pytorch_model.bin without executing it"
        )


def _has_pooler(folder: Path) -> bool:
    from safetensors import safe_open

    for path in sorted(folder.glob("*.safetensors")):
        with reading(path, "safetensors file"), safe_open(path, framework="numpy") as weights:
            names = list(weights.keys())
        if any("pooler." in name for name in names):
            return True
    return False
