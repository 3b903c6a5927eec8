"""Saving an encoder, so that `transformers` and sentence-transformers load each tower with the same vectors."""

import copy
import logging
from collections.abc import Sequence
from pathlib import Path

from stele.catalogue.hub import MODULES, SENTENCE_BERT, SENTENCE_TRANSFORMERS
from stele.encoders.sentence_transformers_folder import PASSAGE, QUERY, SUGGESTION
from stele.encoders.tokenizer import quiet, write_probe
from stele.files.atomic import atomic_write_json
from stele.recipes.encoding import SOME_INSTRUCTION, EncodingSpec, write_spec

log = logging.getLogger(__name__)


def save_encoder(folder: Path, query_model, passage_model, tokenizer, spec: EncodingSpec) -> None:
    """Writes an encoder into `folder` (the caller makes the folder atomic).

    `passage_model` is None when the towers are shared; then the transformers files are in the folder itself, else in
    query/ and passage/. encoding.json and the tokenizer probe are beside them.
    """
    if passage_model is None:
        _save_tower(folder, query_model, tokenizer, spec)
    else:
        _save_tower(folder / "query", query_model, tokenizer, spec)
        _save_tower(folder / "passage", passage_model, tokenizer, spec)
    write_spec(folder, spec)
    write_probe(folder, tokenizer)


def _save_tower(folder: Path, model, tokenizer, spec: EncodingSpec) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with quiet():
        model.save_pretrained(folder)
    tokenizer = copy.deepcopy(tokenizer)
    # without token types in the list the tokenizer makes none, and the model uses zeros, as in training
    names = [name for name in tokenizer.model_input_names if name != "token_type_ids"]
    tokenizer.model_input_names = [*names, "token_type_ids"] if spec.segments else names
    tokenizer.init_kwargs["model_input_names"] = tokenizer.model_input_names
    for circumstance in ("is_local", "local_files_only", "name_or_path"):
        tokenizer.init_kwargs.pop(circumstance, None)
    tokenizer.model_max_length = max(spec.query_length, spec.passage_length)
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.save_pretrained(folder)
    write_modules(folder, model, spec)


def write_modules(folder: Path, model, spec: EncodingSpec, heads: Sequence = (), suggestion: bool = False) -> None:
    """Adds to a saved transformers folder the files with which sentence-transformers gives the same vectors.

    It has no module for the pooler, which becomes a Dense layer with tanh on the first token. It shortens vectors after
    the last module, so that shortened ones have another length there and the same cosines. Two lengths that differ need
    its release 6. With `suggestion` Stele follows the files only if no pooling is set.
    """
    import torch

    modules = [("", "Transformer"), ("1_Pooling", "Pooling")]
    write_pooling(folder / "1_Pooling", model.config.hidden_size, spec)
    if spec.pooling == "pooler":
        heads = [(model.pooler.dense, torch.nn.Tanh())]
    for linear, activation in heads:
        modules.append((f"{len(modules)}_Dense", "Dense"))
        _write_dense(folder / modules[-1][0], linear, activation)
    if spec.normalize and not spec.dimension:
        modules.append((f"{len(modules)}_Normalize", "Normalize"))
        (folder / modules[-1][0]).mkdir(exist_ok=True)
    listing = [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{name}"}
        for i, (path, name) in enumerate(modules)
    ]
    atomic_write_json(folder / MODULES, listing)
    lengths = {"query_length": spec.query_length, "document_length": spec.passage_length}
    sides = lengths if spec.query_length != spec.passage_length else {}
    length = max(lengths.values())
    atomic_write_json(folder / SENTENCE_BERT[0], {"max_seq_length": length, "do_lower_case": False, **sides})
    settings = {
        "prompts": filled_prompts(spec),
        "default_prompt_name": None,
        "similarity_fn_name": "cosine" if spec.normalize else "dot",
        **({"truncate_dim": spec.dimension} if spec.dimension else {}),
        **({SUGGESTION: True} if suggestion else {}),
    }
    atomic_write_json(folder / SENTENCE_TRANSFORMERS, settings)


def filled_prompts(spec: EncodingSpec) -> dict[str, str]:
    """Prompts by sentence-transformers' names, with their fields filled in as before a text without a title.

    Leaves out a prompt whose instruction is a benchmark's, and warns of it.
    """
    filled = {QUERY: spec.inputs([""], "query")[0], PASSAGE: spec.inputs([""], "passage")[0]}
    prompts = {name: text for name, text in filled.items() if SOME_INSTRUCTION["instruction"] not in text}
    if left_out := [name for name in filled if name not in prompts]:
        log.warning(
            "the prompt for %s is not written for sentence-transformers, since its {instruction} is not known; to "
            "write it, add `instruction: ...` to the base's encoding",
            " and ".join(left_out),
        )
    return prompts


def write_pooling(folder: Path, width: int, spec: EncodingSpec) -> None:
    """Writes the settings of a Pooling module."""
    flags = {
        "word_embedding_dimension": width,
        "pooling_mode_cls_token": spec.pooling in ("cls", "pooler"),
        "pooling_mode_mean_tokens": spec.pooling == "mean",
        "pooling_mode_lasttoken": spec.pooling == "last",
        "pooling_mode_max_tokens": False,
        "pooling_mode_mean_sqrt_len_tokens": False,
        **({} if spec.include_prompt else {"include_prompt": False}),
    }
    atomic_write_json(folder / "config.json", flags)


def _write_dense(folder: Path, linear, activation) -> None:
    from safetensors.torch import save_file

    settings = {
        "in_features": linear.in_features,
        "out_features": linear.out_features,
        "bias": linear.bias is not None,
        "activation_function": f"{type(activation).__module__}.{type(activation).__name__}",
    }
    atomic_write_json(folder / "config.json", settings)
    weights = {f"linear.{name}": value.detach().cpu().contiguous() for name, value in linear.state_dict().items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
