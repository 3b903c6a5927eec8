"""Cross-encoder: a transformer reads query and document together, and a linear layer scores its output.

`head: cls` scores w . h[CLS] on the first token's last hidden state (Yu et al., section 4.2.2). `head: pooler` is that
of transformers' BertForSequenceClassification. The last `reset_layers` are initialised anew and only the last
`tuned_layers` are trained, the pooler with them (section 5.1.3). Training starts from the relevance-ranking head that a
pretraining saved beside the encoder (`HEAD`), if it has the recipe's shape.
"""

from __future__ import annotations

import copy
import logging
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from stele.encoders.backbone import load_backbone, positions
from stele.encoders.tokenizer import load_tokenizer, read_config
from stele.encoders.tokens import Tokens, collate, tokenize
from stele.errors import SteleError
from stele.files.reading import reading
from stele.reranking.folds.candidates import Candidates
from stele.reranking.scorers import TrainedScorer
from stele.training.heads import INIT, head_file, initialise
from stele.training.hidden_states import first_states
from stele.training.sampling import derive

if TYPE_CHECKING:
    from pathlib import Path

    from stele.recipes.reranking import CrossEncoder


HEAD = head_file("rr")
log = logging.getLogger(__name__)


class Model(nn.Module):
    """Network of the cross-encoder: candidate numbers int64 [m] -> outputs float32 [m, outputs]."""

    def __init__(self, tokens: Tokens, pad: int, recipe: CrossEncoder, backbone: nn.Module) -> None:
        super().__init__()
        self.tokens, self.pad, self.lengths, self.pooled = tokens, pad, tokens.lengths, recipe.head == "pooler"
        self.backbone, config = backbone, backbone.config
        self.dropout = nn.Dropout(getattr(config, "hidden_dropout_prob", 0.0) if self.pooled else 0.0)
        self.head = nn.Linear(config.hidden_size, recipe.outputs, bias=self.pooled)

    def forward(self, rows: np.ndarray) -> Tensor:
        batch = collate(self.tokens, rows, self.pad)
        batch = {name: value.to(self.head.weight.device) for name, value in batch.items()}
        mask = batch.get("attention_mask")
        ids, types = batch["input_ids"], batch.get("token_type_ids")
        # only the first token's state is used, so the last layer is computed for it alone
        first = first_states(self.backbone, ids, None if mask is None else mask.bool(), types=types)
        if self.pooled:
            first = self.backbone.pooler(first[:, None])
        return self.head(self.dropout(first.float()))


class Scorer(TrainedScorer):
    recipe: CrossEncoder
    backbone: nn.Module | None = None  # as it was read, if a fold has read it

    def read_inputs(self, candidates: Candidates) -> tuple[Tokens, int]:
        """Tokens of all candidates, and the padding id. SteleError for a length beyond the encoder's positions."""
        folder = self.sources.encoder
        tokenizer = load_tokenizer(folder)
        config = read_config(folder)
        if self.recipe.length > (longest := positions(config)):
            raise SteleError(f"{folder}: length is {self.recipe.length}, but the model has {longest} positions")
        places = zip(candidates.topic_of, candidates.document_of, strict=True)
        texts = [(candidates.queries[topic], candidates.texts[document]) for topic, document in places]
        segments = getattr(config, "type_vocab_size", 0) > 1
        return tokenize(tokenizer, texts, self.recipe.length, segments), tokenizer.pad_token_id

    def new_module(self, seed: int) -> Model:
        """Creates the encoder with a head drawn by `seed`, untuned weights frozen. SteleError for too many layers."""
        folder, recipe = self.sources.encoder, self.recipe
        backbone, new = self._backbone(seed)
        layers = encoder_layers(backbone, folder)
        for name in ("tuned_layers", "reset_layers"):
            if (getattr(recipe, name) or 0) > len(layers):
                raise SteleError(f"{folder}: {name} is {getattr(recipe, name)}, but the model has {len(layers)} layers")
        std = getattr(backbone.config, "initializer_range", INIT)
        with torch.random.fork_rng(devices=[]):
            # a new pooler has used the seed's first numbers: a reset layer must not become a copy of it
            torch.manual_seed(derive(seed, "reset layers") if new and recipe.reset_layers else seed)
            for layer in layers[len(layers) - recipe.reset_layers :]:
                reset(layer, std)
            model = Model(*self.inputs, recipe, backbone)
            initialise(model.head, std)
        _load_kept_head(model.head, folder)
        if recipe.tuned_layers is not None:
            backbone.requires_grad_(False)
            for layer in layers[len(layers) - recipe.tuned_layers :]:
                layer.requires_grad_(True)
            if model.pooled:
                backbone.pooler.requires_grad_(True)
        elif not model.pooled and getattr(backbone, "pooler", None) is not None:
            backbone.pooler.requires_grad_(False)  # its output is not used
        return model

    def _backbone(self, seed: int) -> tuple[nn.Module, bool]:
        """The encoder, and whether `seed` drew a part of it; if not, it is read from the disk once for all folds."""
        if self.backbone is None:
            folder = self.sources.encoder
            backbone, new = load_backbone(folder, self.recipe.head, seed=seed, dropout=self.recipe.dropout)
            _refuse_left_to_right(backbone, folder)
            if new:
                return backbone, True
            self.backbone = backbone
        return copy.deepcopy(self.backbone), False


def _refuse_left_to_right(backbone: nn.Module, folder: Path) -> None:
    """Raises SteleError if the state of the first token, which is scored, is the same whatever follows."""
    with torch.no_grad():
        state, other = first_states(backbone, torch.tensor([[0, 1, 1], [0, 2, 3]]), None)
    if torch.allclose(state, other, atol=1e-5):
        raise SteleError(
            f"{folder}: {backbone.config.model_type} has causal attention, so that its first token, which a "
            "cross-encoder scores, has seen no text; use a bidirectional encoder"
        )


def _load_kept_head(head: nn.Linear, folder: Path) -> None:
    from safetensors.torch import load_file

    if not (path := folder / HEAD).exists():
        return
    with reading(path, "safetensors file"):
        weights = load_file(path)
    shapes = {name: value.shape for name, value in head.state_dict().items()}
    if {name: value.shape for name, value in weights.items()} == shapes:
        head.load_state_dict(weights)
    else:
        log.warning("%s: its shape differs from that of the recipe's head, which starts anew", path)


def reset(layer: nn.Module, std: float) -> None:
    """Initialises a layer as before pretraining: by BERT's distribution, normalisation layers with 1 and 0."""
    initialise(layer, std)
    for part in layer.modules():
        if isinstance(part, nn.LayerNorm):
            part.reset_parameters()


def encoder_layers(backbone: nn.Module, folder: Path) -> nn.ModuleList:
    """Finds a transformer's layers, the list of as many modules as its configuration says; else raises SteleError."""
    number = backbone.config.num_hidden_layers
    lists = [part for part in backbone.modules() if isinstance(part, nn.ModuleList) and len(part) == number]
    if not lists:
        raise SteleError(f"{folder}: found no list of {number} layers in {type(backbone).__name__}; use another model")
    return lists[0]
