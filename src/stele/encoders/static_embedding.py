"""StaticEmbedding of sentence-transformers: a text's vector is the mean of its tokens'; model2vec's weights, too."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import torch
from torch import Tensor, nn

from stele.encoders.sentence_transformers_folder import read_weights, static_folder
from stele.encoders.tokenizer import load_tokenizer, quiet
from stele.errors import SteleError
from stele.files.reading import reading


class StaticModel(nn.Module):
    """Token vectors [vocabulary, d] instead of an encoder's last states."""

    def __init__(self, vectors: Tensor) -> None:
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(vectors)
        self.dtype = vectors.dtype
        self.config = SimpleNamespace(model_type="static", hidden_size=vectors.shape[1], num_hidden_layers=0)

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None, **_: bool) -> SimpleNamespace:
        return SimpleNamespace(last_hidden_state=self.embedding(input_ids))


def load_static(folder: Path, weights: str = "float32") -> StaticModel:
    """The model of a StaticEmbedding's folder, its weights of type `weights`.

    Raises SteleError for a tokenizer with more tokens than there are vectors.
    """
    with reading(folder, "StaticEmbedding", "get the folder again"):
        tensors = read_weights(folder)
        vectors = tensors["embedding.weight" if "embedding.weight" in tensors else "embeddings"]
        if "mapping" in tensors:  # token -> row
            vectors = vectors[tensors["mapping"].long()]
        vectors = vectors.float()
        if "weights" in tensors:
            vectors = vectors * tensors["weights"].float()[:, None]
        if len(load_static_tokenizer(folder)) > len(vectors):
            raise SteleError(f"{folder}: its tokenizer has more tokens than the {len(vectors):,} of its weights")
        return StaticModel(vectors.to(getattr(torch, weights)))


def load_static_tokenizer(folder: Path):
    """The tokenizer of a StaticEmbedding's folder, which adds no special tokens."""
    from tokenizers import Tokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    with reading(folder / "tokenizer.json", "tokenizer", "get the folder again"), quiet():
        backend = Tokenizer.from_file(str(folder / "tokenizer.json"))
        backend.post_processor = TemplateProcessing(single="$A", pair="$A $B", special_tokens=[])
        return PreTrainedTokenizerFast(tokenizer_object=backend)


def tokenizer_of(folder: Path):
    """The tokenizer of an encoder's folder, of either kind."""
    place = static_folder(folder)
    return load_static_tokenizer(place) if place else load_tokenizer(folder)
