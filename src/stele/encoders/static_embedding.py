"""StaticEmbedding of sentence-transformers (also model2vec): a text's vector is the mean of its tokens' vectors."""

from pathlib import Path
from types import SimpleNamespace

import torch
from torch import Tensor, nn

from stele.encoders.sentence_transformers_folder import read_weights, static_folder
from stele.encoders.tokenizer import load_tokenizer, quiet
from stele.errors import SteleError
from stele.files.reading import reading


class StaticModel(nn.Module):
    """Model that looks up token vectors [vocabulary, d] in place of an encoder's last hidden states."""

    def __init__(self, vectors: Tensor) -> None:
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(vectors)
        self.dtype = vectors.dtype
        self.config = SimpleNamespace(model_type="static", hidden_size=vectors.shape[1], num_hidden_layers=0)

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None, **_: bool) -> SimpleNamespace:
        return SimpleNamespace(last_hidden_state=self.embedding(input_ids))


def load_static(folder: Path, weights: str = "float32") -> StaticModel:
    """Loads the model of a StaticEmbedding's folder, with weights of type `weights` ("float32" or "bfloat16").

    Raises SteleError if the tokenizer has more tokens than there are vectors.
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
            raise SteleError(f"{folder}: its tokenizer has more tokens than its weights have vectors, {len(vectors):,}")
        return StaticModel(vectors.to(getattr(torch, weights)))


def load_static_tokenizer(folder: Path):
    """Loads the tokenizer of a StaticEmbedding's folder; it adds no special tokens."""
    from tokenizers import Tokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    with reading(folder / "tokenizer.json", "tokenizer", "get the folder again"), quiet():
        backend = Tokenizer.from_file(str(folder / "tokenizer.json"))
        backend.post_processor = TemplateProcessing(single="$A", pair="$A $B", special_tokens=[])
        backend.no_padding()  # transformers would add its token to the vocabulary
        return PreTrainedTokenizerFast(tokenizer_object=backend)


def tokenizer_of(folder: Path):
    """Loads the tokenizer of an encoder's folder, with or without a StaticEmbedding."""
    place = static_folder(folder)
    return load_static_tokenizer(place) if place else load_tokenizer(folder)
