"""Tiny folders of the families that today's encoders are of, each made by sentence-transformers as its original is."""

import json
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
from tiny_models import WIDTH, random_model, subword_tokenizer, tokenizer_ending_in_eos
from transformers import AutoConfig

from stele.encoders.load import load_encoder

LENGTH = 24
INSTRUCTION = "Given a question, retrieve passages that answer it"


def causal_folder(folder: Path, model_type: str, bidirectional: bool = False, shards: bool = False) -> Path:
    """A random decoder of a family, `qwen3` or `gemma3_text`, of width 32."""
    own = {"num_key_value_heads": 1, "head_dim": 16, "pad_token_id": 0, "eos_token_id": 1}
    own |= {"use_bidirectional_attention": True} if bidirectional else {}
    return _saved(folder, model_type, tokenizer_ending_in_eos(), own, {"max_shard_size": "20KB"} if shards else {})


def gte_folder(folder: Path) -> Path:
    """A random model of type gte, with XLM-R's kind of tokenizer."""
    return _saved(folder / "gte", "gte", subword_tokenizer(), {"pad_token_id": 1, "type_vocab_size": 1})


def modernbert_folder(folder: Path) -> Path:
    """A random model of type modernbert, whose layers but the first see 8 tokens, with XLM-R's kind of tokenizer."""
    own = {"pad_token_id": 1, "bos_token_id": 0, "cls_token_id": 0, "eos_token_id": 2, "sep_token_id": 2}
    own |= {"local_attention": 8, "num_hidden_layers": 3}
    return _saved(folder / "modernbert", "modernbert", subword_tokenizer(), own)


def _saved(folder: Path, model_type: str, tokenizer, own: dict, options: dict | None = None) -> Path:
    shape = {"num_hidden_layers": 2, "hidden_size": WIDTH, "num_attention_heads": 2, "intermediate_size": 48}
    shape |= {"vocab_size": len(tokenizer), "max_position_embeddings": 64}
    random_model(AutoConfig.for_model(model_type, **shape | own)).save_pretrained(folder, **(options or {}))
    tokenizer.save_pretrained(folder)
    return folder


def sentence_transformer(place, base: Path, pooling: str, heads=(), prompts=None, normalize=True, length=LENGTH):
    """(the folder, the model) of a base with its modules, as sentence-transformers saves and loads them in float32."""
    modules = [Transformer(str(base), max_seq_length=length), Pooling(WIDTH, pooling), *heads]
    modules += [Normalize()] if normalize else []
    SentenceTransformer(modules=modules, device="cpu", prompts=prompts).save(str(place))
    theirs = SentenceTransformer(str(place), device="cpu", model_kwargs={"dtype": torch.float32})
    return Path(place), theirs


def difference(folder: Path, texts: list[str]) -> float:
    """The largest between our vectors and those of sentence-transformers, of queries and passages."""
    encoder, theirs = load_encoder(folder), SentenceTransformer(str(folder), device="cpu")
    pairs = (("query", theirs.encode_query), ("passage", theirs.encode_document))
    return max(np.abs(encoder.encode(texts, k) - encode(texts, show_progress_bar=False)).max() for k, encode in pairs)


def change(path: Path, **values) -> None:
    settings = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps({**settings, **values}), encoding="utf-8")
