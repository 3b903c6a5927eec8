"""Reading a sentence-transformers folder: the encoding that its files state, and its modules.

Such a folder is a list of modules in modules.json, each with a small JSON file. Supported are a Transformer and a
Pooling (cls, mean or the last token), or a StaticEmbedding, and after them any number of Dense, Dropout and Normalize.
Any other module is refused, and so is any key or value that `sentence_transformers_keys` does not know: ignoring it
would silently give other vectors.
"""

import re
from pathlib import Path
from typing import Any, NamedTuple

from stele.catalogue.hub import MODULES, SENTENCE_BERT, SENTENCE_TRANSFORMERS, STATIC
from stele.encoders.sentence_transformers_keys import (
    DenseSettings,
    DropoutSettings,
    ModelSettings,
    ModuleEntry,
    NormalizeSettings,
    PoolingSettings,
    TransformerSettings,
    read_settings,
)
from stele.encoders.tokenizer import load_tokenizer, read_config, read_json
from stele.encoders.tokens import WHOLE, Chat
from stele.errors import SteleError
from stele.files.paths import inside
from stele.files.reading import read_json as read_list
from stele.files.reading import reading
from stele.files.strict import validate
from stele.recipes.encoding import ROBERTA_LIKE, reserved_positions

FIRST = (["Transformer", "Pooling"], [STATIC])
AFTERWARDS = {"Dense": DenseSettings, "Dropout": DropoutSettings, "Normalize": NormalizeSettings}
SUPPORTED = (*(name for names in FIRST for name in names), *AFTERWARDS)
POOLINGS = {"cls": "cls", "mean": "mean", "lasttoken": "last"}
_FLAG = re.compile(r"pooling_mode_(\w+?)(?:_tokens?)?")  # keys of older releases
ACTIVATIONS = {  # Dense's name -> torch.nn's; for any other class sentence-transformers uses Tanh
    **{f"torch.nn.modules.activation.{name}": name for name in ("Tanh", "GELU", "ReLU", "Sigmoid", "SiLU")},
    "torch.nn.modules.linear.Identity": "Identity",
}
WORD_TYPES = ("codegen", "ctrl", "flaubert", "gpt2", "gpt_neo", "gptj", "openai-gpt", "xlm")  # add types as words
RELATIVE_POSITIONS = ("rope", "rotary", "relative")  # in a key of config.json: no position counts from the left edge
SUGGESTION = "stele_suggestion"  # a setting of folders that Stele trained from a plain checkpoint
QUERY, PASSAGE = "query", "document"  # the prompts that encode_query and encode_document choose, empty where unnamed


class Stated(NamedTuple):
    """Encoding that a sentence-transformers folder states.

    values   key of an EncodingSpec -> value, without lengths and prompts
    lengths  key of an EncodingSpec -> tokens
    prompts  name -> text
    cosine   whether its vectors are compared by cosine but do not have length 1
    chat     settings of the tokenizer's chat template for its texts, None without one
    """

    values: dict[str, Any]
    lengths: dict[str, int]
    prompts: dict[str, str]
    cosine: bool
    chat: Chat | None = None


def read_modules(folder: Path) -> Stated:
    """Reads the encoding that a folder states. Raises SteleError for modules and settings that are not supported."""
    with reading(folder, "sentence-transformers folder", "get the folder again"):
        modules = module_folders(folder)
        settings = read_settings(folder / SENTENCE_TRANSFORMERS, ModelSettings)
        normalize = _scales_last(modules, settings)
        values = {"normalize": normalize, "passage_format": "title_text"}
        if settings.truncate_dim:
            values["dimension"] = settings.truncate_dim
        cosine = _read_cosine(settings.similarity_fn_name, normalize, folder)
        prompts = {name: text or "" for name, text in settings.prompts.items()}
        if modules[0][0] == STATIC:
            values |= {"pooling": "mean", "include_prompt": True, "segments": False}
            length = (read_json(modules[0][1] / "tokenizer.json").get("truncation") or {}).get("max_length", WHOLE)
            return Stated(values, {"query_length": length, "passage_length": length}, prompts, cosine)
        pooling, include_prompt = _read_pooling(modules[1][1] / "config.json")
        transformer = _read_transformer(folder)
        chat = _read_chat(transformer)
        # sentence-transformers does not know which tokens of a message are the prompt's
        values |= {"pooling": pooling, "include_prompt": include_prompt or chat is not None}
        values["segments"] = _has_segments(folder)
        return Stated(values, _read_lengths(folder, transformer), prompts, cosine, chat)


def read_heads(folder: Path, width: int) -> list:
    """Loads the modules after pooling as torch modules, in order; [] for a folder without modules.json or without any.

    A Normalize at the end is left out, since the encoding has it as `normalize`.
    """
    if not (folder / MODULES).exists():
        return []
    from torch import nn

    from stele.training.hidden_states import UnitLength

    modules = module_folders(folder)
    if _scales_last(modules, read_settings(folder / SENTENCE_TRANSFORMERS, ModelSettings)):
        modules = modules[:-1]
    heads = []
    for name, path in modules:
        if name == "Dense":
            with reading(path, "Dense module", "get the folder again"):
                heads.append(_read_dense(path, width))
            width = heads[-1][0].out_features
        elif name == "Normalize":
            heads.append(nn.Sequential(UnitLength()))
    return heads


def stated_width(folder: Path, width: int) -> int:
    """Length of a folder's vectors according to its settings, for a model with hidden size `width`."""
    modules = module_folders(folder) if (folder / MODULES).exists() else []
    dense = [path / "config.json" for name, path in modules if name == "Dense"]
    return read_settings(dense[-1], DenseSettings).out_features if dense else width


def is_suggestion(folder: Path) -> bool:
    """Whether a folder's modules only suggest an encoding: it was trained from a checkpoint that states none."""
    return read_settings(folder / SENTENCE_TRANSFORMERS, ModelSettings).stele_suggestion


def static_folder(folder: Path) -> Path | None:
    """Folder with the weights and the tokenizer of a StaticEmbedding; None if `folder` has no such module."""
    modules = module_folders(folder) if (folder / MODULES).exists() else [("", folder)]
    return modules[0][1] if modules[0][0] == STATIC else None


def module_folders(folder: Path) -> list[tuple[str, Path]]:
    """Lists (name, folder) of the modules in modules.json; a Transformer comes first, and its folder is `folder`.

    A name is the last part of the class path, which differs between releases. Dropout, which acts in training only, is
    left out. Raises SteleError for modules that are not supported.
    """
    path = folder / MODULES
    listed = validate(list[ModuleEntry], read_list(path, "list of modules", "get the folder again"), path)
    for entry in listed:
        if not entry.type.startswith("sentence_transformers."):
            raise SteleError(f"{path}: module {entry.type!r} is its own code, which Stele never runs")
    modules = [(entry.type.rsplit(".", 1)[-1], entry.path) for entry in listed]
    for name, _ in modules:
        if name not in SUPPORTED:
            raise SteleError(f"{folder}: module {name!r} is not supported; supported are {', '.join(SUPPORTED)}")
    keys = [entry.name for entry in listed if entry.name is not None]
    if twice := [key for key in keys if keys.count(key) > 1]:
        raise SteleError(f"{path}: name {twice[0]!r} appears twice; give each module its own name")
    modules = [
        (name, folder if place in ("", ".") else inside(folder, place, f"{path}: module {name}"))
        for name, place in modules
    ]
    names = [name for name, _ in modules]
    if not any(names[: len(first)] == first and {*names[len(first) :]} <= {*AFTERWARDS} for first in FIRST):
        raise SteleError(
            f"{folder}: its modules are {', '.join(names)}; want Transformer and Pooling, or {STATIC}, and after them "
            f"{', '.join(AFTERWARDS)}"
        )
    if names[0] != STATIC and modules[0][1].resolve() != folder.resolve():
        raise SteleError(f"{folder}: its Transformer is in {modules[0][1].name}/; put the model files at the top")
    for name, place in modules:
        if name in AFTERWARDS and (place != folder):
            read_settings(place / "config.json", AFTERWARDS[name])
    return [(name, place) for name, place in modules if name != "Dropout"]


def _scales_last(modules: list[tuple[str, Path]], settings: ModelSettings) -> bool:
    """Whether final vectors have length 1: shortening to `truncate_dim` comes after the last module and undoes it."""
    return modules[-1][0] == "Normalize" and settings.truncate_dim is None


def _read_transformer(folder: Path) -> TransformerSettings:
    """Reads the Transformer's settings from the first of its possible files that has any."""
    paths = [folder / name for name in SENTENCE_BERT]
    path = next((path for path in paths if path.exists() and read_json(path)), paths[0])
    _check_padding(folder)
    return read_settings(path, TransformerSettings)


def _check_padding(folder: Path) -> None:
    """Raises SteleError if padding on the left shifts positions, so that a vector depends on its batch."""
    config = read_json(folder / "config.json")
    kind = config.get("model_type")
    relative = config.get("position_embedding_type", "absolute") != "absolute"
    relative = relative or any(word in key for key in config for word in RELATIVE_POSITIONS)
    padded = read_json(folder / "tokenizer_config.json").get("padding_side")
    if padded == "left" and kind is not None and not relative and kind not in ROBERTA_LIKE:
        raise SteleError(
            f"{folder / 'tokenizer_config.json'}: padding_side 'left' moves the positions of a {kind}, so that "
            "a vector depends on its batch; set it to 'right'"
        )


def _read_lengths(folder: Path, settings: TransformerSettings) -> dict[str, int]:
    tokenizer = settings.tokenizer_args or settings.processor_kwargs
    length = tokenizer.model_max_length or settings.max_seq_length or _most_tokens(folder)
    of_any = settings.processing_kwargs.text.max_length
    return {
        "query_length": of_any or settings.query_length or length,
        "passage_length": of_any or settings.document_length or length,
    }


def _most_tokens(folder: Path) -> int:
    """Maximum length for a folder that states none: as many tokens as its tokenizer and its model accept."""
    config = read_json(folder / "config.json")
    if "max_position_embeddings" in config:
        positions = config["max_position_embeddings"]
    else:  # the default of its kind of model
        positions = getattr(read_config(folder), "max_position_embeddings", 0)
    reserved = reserved_positions(config.get("model_type"), config.get("pad_token_id"))
    limits = [read_json(folder / "tokenizer_config.json").get("model_max_length", WHOLE), WHOLE]
    return int(min([*limits, positions - reserved] if positions and positions > 0 else limits))


def _read_chat(settings: TransformerSettings) -> Chat | None:
    modality, template = settings.modality_config, settings.processing_kwargs.chat_template
    if modality is None or modality.message is None:
        return None
    variables = template.model_dump(exclude_unset=True, exclude={"restore_suffix"})
    return Chat(modality.message.format == "structured", variables, template.restore_suffix)


def _read_pooling(path: Path) -> tuple[str, bool]:
    """Reads the pooling, and whether the tokens of prompts are pooled too."""
    if not path.exists():
        raise SteleError(f"{path}: no such file; get the folder again")
    settings = read_settings(path, PoolingSettings)
    modes = [flag[1] for key, value in settings if value and (flag := _FLAG.fullmatch(key))] or ["mean"]
    if settings.pooling_mode is not None:
        modes = [settings.pooling_mode] if isinstance(settings.pooling_mode, str) else settings.pooling_mode
    if len(modes) != 1 or modes[0] not in POOLINGS:
        raise SteleError(
            f"{path}: pooling {' + '.join(modes) or 'none'} is not supported; supported are {', '.join(POOLINGS)}"
        )
    return POOLINGS[modes[0]], settings.include_prompt


def _read_cosine(name: str | None, normalized: bool, folder: Path) -> bool:
    """Whether a search must scale vectors to length 1; the default similarity of sentence-transformers is cosine."""
    name = name or "cosine"
    if name not in ("cosine", "dot") and not (name == "euclidean" and normalized):  # ranks like cosine if normalised
        raise SteleError(
            f"{folder / SENTENCE_TRANSFORMERS}: similarity {name!r} is not supported; supported are cosine and dot"
        )
    return name == "cosine" and not normalized


def _has_segments(folder: Path) -> bool:
    """Whether the tokenizer makes token types, and the model has embeddings of both, or takes them for words."""
    config = read_json(folder / "config.json")
    types = config.get("type_vocab_size", 2 if config.get("model_type") in WORD_TYPES else 0)
    return types > 1 and "token_type_ids" in load_tokenizer(folder).model_input_names


def _read_dense(folder: Path, width: int):
    from torch import nn

    path = folder / "config.json"
    settings = read_settings(path, DenseSettings)
    activation = ACTIVATIONS.get(settings.activation_function)
    if activation is None:
        raise SteleError(
            f"{path}: activation_function {settings.activation_function!r} is not supported; supported are "
            f"{', '.join(ACTIVATIONS)}"
        )
    if settings.in_features != width:
        raise SteleError(f"{path}: in_features is {settings.in_features}, but its input has length {width}")
    weights = read_weights(folder)
    shape = list(getattr(weights.get("linear.weight"), "shape", ()))
    # memory is allocated for the file's weights, not for what the config claims
    if shape != [settings.out_features, width]:
        raise SteleError(f"{path}: want weights of shape {[settings.out_features, width]}, found {shape}")
    linear = nn.Linear(width, settings.out_features, bias=settings.bias)
    try:
        linear.load_state_dict({name.removeprefix("linear."): value.float() for name, value in weights.items()})
    except RuntimeError as error:
        raise SteleError(f"{folder}: weights and config.json differ ({str(error).splitlines()[-1].strip()})") from None
    return nn.Sequential(linear, getattr(nn, activation)())


def read_weights(folder: Path) -> dict[str, Any]:
    """Loads a module's tensors by name, from model.safetensors or pytorch_model.bin. Raises SteleError without them."""
    import torch
    from safetensors.torch import load_file

    files = [file for name in ("model.safetensors", "pytorch_model.bin") if (file := folder / name).exists()]
    if not files:
        raise SteleError(f"{folder}: found no model.safetensors; get the folder again")
    with reading(files[0], "file of weights", "get the folder again"):
        safe = files[0].suffix == ".safetensors"
        weights = load_file(files[0]) if safe else torch.load(files[0], map_location="cpu", weights_only=True)
        return {str(name): torch.as_tensor(value) for name, value in weights.items()}
