"""Reading and writing the files that make a model folder a sentence-transformers folder.

Supported modules, in this order: Transformer, Pooling (cls, mean or the last token), any number of Dense, optionally
Normalize. Such a folder is a list of modules in modules.json, each with a small JSON file; anything else in it is
refused, because leaving a module out would give other vectors without a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stele.encoders.tokenizer import ROBERTA_LIKE, load_tokenizer
from stele.encoders.tokenizer import read_json as read_settings
from stele.errors import SteleError
from stele.files.atomic import atomic_write_json
from stele.files.paths import inside
from stele.files.reading import read_json, reading
from stele.files.strict import Values
from stele.recipes.encoding import EncodingSpec

MODULES_FILE, SETTINGS_FILE = "modules.json", "config_sentence_transformers.json"
SUPPORTED = ("Transformer", "Pooling", "Dense", "Normalize")
POOLING_FLAGS = {"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean", "pooling_mode_lasttoken": "last"}
ACTIVATIONS = {
    "Tanh": "torch.nn.modules.activation.Tanh",
    "GELU": "torch.nn.modules.activation.GELU",
    "ReLU": "torch.nn.modules.activation.ReLU",
    "Sigmoid": "torch.nn.modules.activation.Sigmoid",
    "Identity": "torch.nn.modules.linear.Identity",
}
QUERY, PASSAGE = "query", "document"  # the prompts that encode_query and encode_document choose, empty where unnamed


# --- reading ----------------------------------------------------------------------------------------------------------
class Stated(NamedTuple):
    """What a sentence-transformers folder says: values of an encoding, its length in tokens, and its prompts by name.

    cosine: its vectors, which are not of length 1, are compared by their angle.
    """

    values: dict[str, Any]
    length: int
    prompts: dict[str, str]
    cosine: bool


def read_modules(folder: Path) -> Stated:
    """What a sentence-transformers folder states by its modules and prompts."""
    folder = Path(folder)
    with reading(folder, "sentence-transformers folder", "get the folder again"):
        return _read_modules(folder)


def _read_modules(folder: Path) -> Stated:
    modules = _modules(folder)
    pooling, include_prompt = _read_pooling(modules[1][1] / "config.json")
    values = {
        "pooling": pooling,
        "normalize": modules[-1][0] == "Normalize",
        "passage_format": "title_text",
        "segments": _has_segments(folder),
        "include_prompt": include_prompt,
    }
    settings = read_settings(folder / SETTINGS_FILE)
    prompts = {name: text or "" for name, text in (settings.get("prompts") or {}).items()}
    return Stated(values, _read_length(folder), prompts, _read_cosine(settings, values["normalize"], folder))


def read_heads(folder: Path, width: int) -> list:
    """The Dense modules of a folder, in order, as torch modules; [] when it has none or is no such folder."""
    folder = Path(folder)
    if not (folder / MODULES_FILE).exists():
        return []
    heads = []
    for name, path in _modules(folder):
        if name == "Dense":
            with reading(path, "Dense module", "get the folder again"):
                heads.append(_read_dense(path, width))
            width = heads[-1][0].out_features
    return heads


def stated_width(folder: Path, width: int) -> int:
    """The length of a folder's vectors by its settings alone, of a model that is so wide."""
    folder = Path(folder)
    modules = _modules(folder) if (folder / MODULES_FILE).exists() else []
    dense = [read_settings(path / "config.json") for name, path in modules if name == "Dense"]
    return next((settings["out_features"] for settings in reversed(dense) if "out_features" in settings), width)


def _modules(folder: Path) -> list[tuple[str, Path]]:
    """(module name, its folder) in order; names are the last part of the class path, which moved between versions."""
    path = folder / MODULES_FILE
    with reading(path, "list of modules with type and path", "get the folder again"):
        listed = read_json(path)
        modules = [(entry["type"].rsplit(".", 1)[-1], entry["path"]) for entry in listed]
    for name, _ in modules:
        if name not in SUPPORTED:
            raise SteleError(f"{folder}: module {name!r} is not supported; supported are {', '.join(SUPPORTED)}")
    modules = [(name, inside(folder, place, f"{path}: module {name}") if place else folder) for name, place in modules]
    names = [name for name, _ in modules]
    plain = ["Transformer", "Pooling", *["Dense"] * names.count("Dense")]
    if names not in (plain, [*plain, "Normalize"]):
        raise SteleError(
            f"{folder}: modules are {', '.join(names)}; want Transformer, Pooling, Dense, Normalize in order"
        )
    if modules[0][1].resolve() != folder.resolve():
        raise SteleError(f"{folder}: its Transformer is in {modules[0][1].name}/, want the model files at the top")
    return modules


def _read_length(folder: Path) -> int:
    """The maximum length; settings of the Transformer module that would change vectors are refused."""
    path = folder / "sentence_bert_config.json"
    settings = read_settings(path)
    if settings.get("do_lower_case"):
        raise SteleError(f"{path}: do_lower_case is not supported; lower-case in the tokenizer's normaliser instead")
    text = (settings.get("modality_config") or {}).get("text") or {}
    for key, value, want in (
        ("method_output_name", text.get("method_output_name", "last_hidden_state"), "last_hidden_state"),
        ("transformer_task", settings.get("transformer_task", "feature-extraction"), "feature-extraction"),
    ):
        if value != want:
            raise SteleError(f"{path}: {key}: {value!r} is not supported; want {want!r}")
    length = settings.get("max_seq_length")
    if length is None:
        config = read_settings(folder / "config.json")
        offset = config.get("pad_token_id", 1) + 1 if config.get("model_type") in ROBERTA_LIKE else 0
        limits = [read_settings(folder / "tokenizer_config.json").get("model_max_length", 10**9)]
        limits.append(config.get("max_position_embeddings", 512) - offset)
        length = min(limits)
    return int(length)


def _read_pooling(path: Path) -> tuple[str, bool]:
    """The pooling, and whether prompts take part in it."""
    settings = read_settings(path)
    if "pooling_mode" in settings:
        given = settings["pooling_mode"]
        modes = [given] if isinstance(given, str) else list(given)
    else:
        modes = [POOLING_FLAGS.get(k, k) for k, on in settings.items() if k.startswith("pooling_mode_") and on]
    modes = ["last" if mode == "lasttoken" else mode for mode in modes]
    if len(modes) != 1 or modes[0] not in POOLING_FLAGS.values():
        raise SteleError(
            f"{path}: pooling {' + '.join(modes) or 'none'} is not supported; supported are cls, mean and last"
        )
    return modes[0], settings.get("include_prompt", True) is not False


def _read_cosine(settings: Values, normalized: bool, folder: Path) -> bool:
    """Whether a search has to scale the vectors: sentence-transformers compares by cosine where nothing is said."""
    name = settings.get("similarity_fn_name") or "cosine"
    if name not in ("cosine", "dot") and not (name == "euclidean" and normalized):  # ranks as cosine does there
        raise SteleError(
            f"{folder / SETTINGS_FILE}: similarity {name!r} is not supported; supported are cosine and dot"
        )
    return name == "cosine" and not normalized


def _has_segments(folder: Path) -> bool:
    """Whether pairs get token types 0 and 1: the tokenizer makes them and the model has an embedding for both."""
    types = read_settings(folder / "config.json").get("type_vocab_size", 0)
    return types > 1 and "token_type_ids" in load_tokenizer(folder).model_input_names


def _read_dense(folder: Path, width: int):
    import torch
    from safetensors.torch import load_file

    path = folder / "config.json"
    settings = read_settings(path)
    activation = str(settings.get("activation_function", "Tanh")).rsplit(".", 1)[-1]
    if activation not in ACTIVATIONS:
        raise SteleError(f"{path}: activation {activation!r} is not supported; supported are {', '.join(ACTIVATIONS)}")
    if settings.get("use_residual") or settings.get("module_input_name", "sentence_embedding") != "sentence_embedding":
        raise SteleError(f"{path}: use_residual and other inputs than sentence_embedding are not supported")
    if settings.get("in_features") != width or "out_features" not in settings:
        raise SteleError(f"{path}: in_features is {settings.get('in_features')}, the vector before it has {width}")
    files = [file for name in ("model.safetensors", "pytorch_model.bin") if (file := folder / name).exists()]
    if not files:
        raise SteleError(f"{folder}: no model.safetensors; get the folder again")
    with reading(files[0], "file of weights", "get the folder again"):
        safe = files[0].suffix == ".safetensors"
        weights = load_file(files[0]) if safe else torch.load(files[0], map_location="cpu", weights_only=True)
        weights = {str(name): value.float() for name, value in weights.items()}
    shape = list(getattr(weights.get("linear.weight"), "shape", ()))
    if shape != [settings["out_features"], width]:  # memory is taken for what is there, not for what the config claims
        raise SteleError(f"{path}: want weights of shape {[settings['out_features'], width]}, found {shape}")
    linear = torch.nn.Linear(width, settings["out_features"], bias=settings.get("bias", True))
    try:
        linear.load_state_dict({name.removeprefix("linear."): value for name, value in weights.items()})
    except RuntimeError as error:
        raise SteleError(f"{folder}: weights and config.json differ ({str(error).splitlines()[-1].strip()})") from None
    return torch.nn.Sequential(linear, getattr(torch.nn, activation)())


# --- writing ----------------------------------------------------------------------------------------------------------
def write_modules(folder: Path, model, spec: EncodingSpec, heads: Sequence = ()) -> None:
    """Adds to a saved transformers folder the files by which sentence-transformers gives the same vectors.

    The pooler has no module there; it is a Dense layer with tanh on the first token, and is written as that.
    sentence-transformers has one maximum length a model: the longer of the two.
    """
    folder = Path(folder)
    modules = [("", "Transformer"), ("1_Pooling", "Pooling")]
    flags = {
        "word_embedding_dimension": model.config.hidden_size,
        "pooling_mode_cls_token": spec.pooling in ("cls", "pooler"),
        "pooling_mode_mean_tokens": spec.pooling == "mean",
        "pooling_mode_lasttoken": spec.pooling == "last",
        "pooling_mode_max_tokens": False,
        "pooling_mode_mean_sqrt_len_tokens": False,
    }
    atomic_write_json(folder / "1_Pooling" / "config.json", flags)
    layers = [(head[0], type(head[1]).__name__) for head in heads]
    if spec.pooling == "pooler":
        layers = [(model.pooler.dense, "Tanh")]
    for linear, activation in layers:
        modules.append((f"{len(modules)}_Dense", "Dense"))
        _write_dense(folder / modules[-1][0], linear, activation)
    if spec.normalize:
        modules.append((f"{len(modules)}_Normalize", "Normalize"))
        (folder / modules[-1][0]).mkdir(exist_ok=True)
    listing = [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{name}"}
        for i, (path, name) in enumerate(modules)
    ]
    atomic_write_json(folder / MODULES_FILE, listing)
    length = max(spec.query_length, spec.passage_length)
    atomic_write_json(folder / "sentence_bert_config.json", {"max_seq_length": length, "do_lower_case": False})
    settings = {
        "prompts": {QUERY: spec.query_prompt, PASSAGE: spec.passage_prompt},
        "default_prompt_name": None,
        "similarity_fn_name": "cosine" if spec.normalize else "dot",
    }
    atomic_write_json(folder / SETTINGS_FILE, settings)


def _write_dense(folder: Path, linear, activation: str) -> None:
    from safetensors.torch import save_file

    settings = {
        "in_features": linear.in_features,
        "out_features": linear.out_features,
        "bias": linear.bias is not None,
        "activation_function": ACTIVATIONS[activation],
    }
    atomic_write_json(folder / "config.json", settings)
    weights = {f"linear.{name}": value.detach().cpu().contiguous() for name, value in linear.state_dict().items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
