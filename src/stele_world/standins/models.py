"""Tokenizers and models of stand-ins, new or continued from others."""

from __future__ import annotations

import copy
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stele.encoders.tokenizer import load_tokenizer, quiet
from stele.errors import SteleError
from stele.files.reading import reading
from stele.recipes.standins import Architecture, Tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

LONGEST = 16  # characters of a piece; SentencePiece's default
START = "▁"  # how SentencePiece writes the space before a word
MAX_LENGTH = 512


def make_tokenizer(recipe: Tokenizer, texts: Iterable[str]) -> PreTrainedTokenizerBase:
    """Trains a fast tokenizer of at most `recipe.size` tokens."""
    texts = _uncased(texts) if recipe.lowercase else list(texts)
    families = {"wordpiece": _bert, "byte": _roberta, "ending": _ending}
    return families.get(recipe.kind, _sentencepiece)(recipe, texts)


def _uncased(texts: Iterable[str]) -> list[str]:
    """Normalises texts as an uncased BERT: lower case, no accents and vowel signs, Hangul decomposed."""
    from tokenizers.normalizers import BertNormalizer

    normalizer = BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=True)
    return [normalizer.normalize_str(text) for text in texts]


def _sentencepiece(recipe: Tokenizer, texts: Sequence[str]) -> PreTrainedTokenizerBase:
    """Tokenizer with XLM-R's ids: <s> 0, <pad> 1, </s> 2, <unk> 3, then pieces, <mask> last.

    mBART has marks of its 25 languages before <mask>, mBART-50 of its 52.
    """
    from transformers import XLMRobertaTokenizer
    from transformers.models.mbart import tokenization_mbart as mbart
    from transformers.models.mbart50 import tokenization_mbart50 as mbart50

    families = {
        "sentencepiece": (XLMRobertaTokenizer, []),
        "mbart": (mbart.MBartTokenizer, mbart.FAIRSEQ_LANGUAGE_CODES),
        "mbart50": (mbart50.MBart50Tokenizer, mbart50.FAIRSEQ_LANGUAGE_CODES),
    }
    family, marks = families[recipe.kind]
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    pieces = _pieces(texts, recipe.size - len(special) - len(marks) - 1)
    whole = sum(pieces.values())
    scored = [(piece, math.log((count + 0.5) / whole)) for piece, count in pieces.items()]
    unscored = [(token, 0.0) for token in [*special, *marks, "<mask>"]]
    vocabulary = [*unscored[: len(special)], *scored, *unscored[len(special) :]]
    return family(vocab=vocabulary, model_max_length=MAX_LENGTH)


def _bert(recipe: Tokenizer, texts: Sequence[str]) -> PreTrainedTokenizerBase:
    """Tokenizer with BERT's ids: [PAD] 0, [UNK], [CLS], [SEP], [MASK], word-initial pieces, then the others."""
    from transformers import BertTokenizer

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = [p for p in _pieces(texts, recipe.size - len(special)) if p != START]
    begin = [p.removeprefix(START) for p in pieces if p.startswith(START) or len(p) == 1]
    inside = [f"##{p}" for p in pieces if not p.startswith(START)]
    room = recipe.size - len(special)
    # single characters must stay; of longer pieces the trainer's first ones are the most frequent
    ordered = sorted(dict.fromkeys([*begin, *inside]), key=lambda p: len(p.removeprefix("##")) > 1)[:room]
    vocabulary = {token: i for i, token in enumerate([*special, *ordered])}
    return BertTokenizer(vocab=vocabulary, do_lower_case=recipe.lowercase, model_max_length=MAX_LENGTH)


def _roberta(recipe: Tokenizer, texts: Sequence[str]) -> PreTrainedTokenizerBase:
    """Tokenizer with RoBERTa's ids: <s> 0, <pad> 1, </s> 2, <unk> 3, then bytes and merged bytes, <mask> last."""
    from tokenizers import pre_tokenizers
    from transformers import RobertaTokenizer

    special = ["<s>", "<pad>", "</s>", "<unk>"]
    pieces, merges = _bytes(texts, recipe.size - 1, pre_tokenizers.ByteLevel(), special)
    return RobertaTokenizer(vocab={**pieces, "<mask>": len(pieces)}, merges=merges, model_max_length=MAX_LENGTH)


def _ending(recipe: Tokenizer, texts: Sequence[str]) -> PreTrainedTokenizerBase:
    """Tokenizer: <pad> 0, <eos> 1, <unk> 2, bytes, merged bytes; texts end in <eos>, padding is on the left."""
    from tokenizers import AddedToken, decoders, models, pre_tokenizers, processors
    from tokenizers import Tokenizer as Fast
    from transformers import PreTrainedTokenizerFast

    special, bytes_of = ["<pad>", "<eos>", "<unk>"], pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer = Fast(models.BPE(*_bytes(texts, recipe.size, bytes_of, special), unk_token="<unk>"))
    tokenizer.pre_tokenizer, tokenizer.decoder = bytes_of, decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in special])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A <eos>", pair="$A $B <eos>", special_tokens=[("<eos>", 1)]
    )
    named = {"pad_token": "<pad>", "eos_token": "<eos>", "unk_token": "<unk>", "padding_side": "left"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=MAX_LENGTH, **named)


def _bytes(texts: Sequence[str], size: int, splitter: Any, special: list[str]) -> tuple[dict, list[tuple[str, str]]]:
    """Learns byte-level BPE: piece -> id, and merges. Raises SteleError if `size` is too small for all bytes."""
    alphabet = sorted(splitter.alphabet())
    if size < len(special) + len(alphabet):
        raise SteleError(f"tokenizer: size: {size} is too small for all bytes ({len(alphabet)})")
    trained = _train(texts, size, splitter, special, alphabet)
    return trained["vocab"], [tuple(merge) for merge in trained["merges"]]


def _pieces(texts: Sequence[str], size: int) -> dict[str, int]:
    """Learns at most `size` pieces, single characters first, then by order of creation: piece -> count."""
    from tokenizers import Tokenizer, pre_tokenizers

    splitter = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(START), pre_tokenizers.Punctuation()]
    )
    trained = _train(texts, size, splitter, [], [START])
    model = Tokenizer.from_str(json.dumps({"version": "1.0", "added_tokens": [], "model": {"type": "BPE", **trained}}))
    model.pre_tokenizer = splitter
    counts = Counter(chain.from_iterable(encoded.tokens for encoded in model.encode_batch(list(texts))))
    return {piece: counts[piece] for piece in sorted(trained["vocab"], key=trained["vocab"].get)}


def _train(texts: Sequence[str], size: int, splitter: Any, special: list[str], alphabet: list[str]) -> dict:
    """Trains byte-pair encoding: {"vocab": piece -> id, "merges": pairs}."""
    from tokenizers import Tokenizer, models, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = splitter
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=special,
        initial_alphabet=alphabet,
        max_token_length=LONGEST,
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return {key: model[key] for key in ("vocab", "merges")}


LAYER = re.compile(r"\.layer\.(\d+)\.")
ROBERTA = ("xlm-roberta", "roberta")  # families that count positions from the padding id
DECODERS = ("qwen3", "gemma3_text")


def new_config(sizes: Architecture, tokenizer: PreTrainedTokenizerBase) -> PreTrainedConfig:
    """Makes the configuration of a new encoder; values other than the sizes are its original's.

    New weights have BERT's standard deviation .02, scaled from BERT's width to this one.
    """
    from transformers import AutoConfig

    shape: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "hidden_size": sizes.width,
        "num_hidden_layers": sizes.layers,
        "num_attention_heads": sizes.heads,
        "intermediate_size": sizes.inner,
        "max_position_embeddings": sizes.positions,
        "initializer_range": round(0.02 * math.sqrt(768 / sizes.width), 6),
        "pad_token_id": tokenizer.pad_token_id,
    }
    if sizes.model_type in ROBERTA:
        shape |= {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
        shape |= {"type_vocab_size": 1, "layer_norm_eps": 1e-5}
        shape["max_position_embeddings"] += tokenizer.pad_token_id + 1
    elif sizes.model_type in DECODERS:
        shape |= {"num_key_value_heads": sizes.heads // 2, "head_dim": sizes.width // sizes.heads}
        shape |= {"eos_token_id": tokenizer.eos_token_id, "use_cache": False}
    if sizes.bidirectional:
        shape |= {"use_bidirectional_attention": True}
    return AutoConfig.for_model(sizes.model_type, **shape)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Context in which new weights depend on the seed alone; random numbers outside are not affected."""
    import torch

    with quiet(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def build(config: PreTrainedConfig, seed: int, family: str = "AutoModelForMaskedLM") -> PreTrainedModel:
    """Creates a model of a `transformers` family with new weights, determined by the seed."""
    import torch
    import transformers

    with seeded(seed):
        return getattr(transformers, family).from_config(config, dtype=torch.float32, attn_implementation="sdpa")


def load(folder: Path) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Loads the masked language model and the tokenizer of a published stand-in."""
    import torch
    from transformers import AutoModelForMaskedLM

    with reading(folder, "stand-in to continue from", "make it again"), quiet():
        model = AutoModelForMaskedLM.from_pretrained(
            folder, dtype=torch.float32, attn_implementation="sdpa", local_files_only=True
        )
    return model, load_tokenizer(folder)


def set_dropout(model: PreTrainedModel, rate: float) -> None:
    """Sets the rate of every dropout layer; the config, which later trainings use, stays as it is."""
    import torch

    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = rate


def with_layers(model: PreTrainedModel, layers: int, seed: int) -> PreTrainedModel:
    """Stacks a model to `layers` layers: layer i copies layer i modulo their number (Gong et al. 2019)."""
    config = copy.deepcopy(model.config)
    number, config.num_hidden_layers = config.num_hidden_layers, layers
    deeper = build(config, seed)
    weights = model.state_dict()
    for name in deeper.state_dict():
        match = LAYER.search(name)
        if match and int(match[1]) >= number:
            weights[name] = weights[f"{name[: match.start(1)]}{int(match[1]) % number}{name[match.end(1) :]}"]
    return filled(deeper, weights)


def with_positions(model: PreTrainedModel, positions: int, seed: int) -> PreTrainedModel:
    """Extends a model to longer texts by repeating its position embeddings (Beltagy et al. 2020, section 5)."""
    import torch

    name = f"{model.base_model_prefix}.embeddings.position_embeddings.weight"
    weights = model.state_dict()
    reserved = model.config.pad_token_id + 1 if model.config.model_type in ROBERTA else 0
    old = weights[name][reserved:]
    copies = old.repeat(-(-positions // len(old)), 1)[:positions]
    config = copy.deepcopy(model.config)
    config.max_position_embeddings = positions + reserved
    return filled(build(config, seed), {**weights, name: torch.cat([weights[name][:reserved], copies])})


def filled(model: PreTrainedModel, weights: Mapping[str, Any], new: str = "") -> PreTrainedModel:
    """Loads weights into a model; only weights whose names begin with `new` may be missing, else SteleError."""
    lacking, unexpected = model.load_state_dict(dict(weights), strict=False)
    wrong = [name for name in lacking if not (new and name.startswith(new))] + list(unexpected)
    if wrong:
        raise SteleError(f"the weights of a base do not fit its stand-in: {', '.join(wrong[:3])}")
    return model
