"""The dual encoder in training, loaded from a base encoder or an earlier fine-tuning, and its loss for a group."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from stele.encoders.backbone import load_backbone, positions
from stele.encoders.base_encoding import encoding_changes, stated_encoding
from stele.encoders.encode import default_batch_tokens, embed
from stele.encoders.load import tower_folders
from stele.encoders.tokenizer import check_probe, load_tokenizer
from stele.encoders.tokens import Tokens, collate, length_buckets
from stele.errors import SteleError
from stele.finetuning.dual_encoder.batches import Group
from stele.finetuning.dual_encoder.examples import Examples
from stele.recipes.encoding import EncodingSpec, Kind, read_spec
from stele.recipes.finetuning import FinetuningRecipe
from stele.training.contrastive_loss import in_batch_scores
from stele.training.processes import ProcessContext
from stele.training.sharding import cut, in_pieces


class DualEncoder(nn.Module):
    """A dual encoder: query and passage towers, or one shared tower, with a learned scale if the recipe has one.

    The scale is a plain factor, not a logarithm, as in XTREME-R's BertForRetrieval.
    """

    def __init__(self, towers: dict[str, nn.Module], spec: EncodingSpec, pad_id: int, scale: float | None) -> None:
        super().__init__()
        self.towers = nn.ModuleDict(towers)
        self.spec, self.pad_id = spec, pad_id
        self.scale = None if scale is None else nn.Parameter(torch.tensor(float(scale)))

    def tower(self, kind: Kind) -> nn.Module:
        return self.towers["shared" if "shared" in self.towers else kind]

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def vectors(
        self,
        tokens: Tokens,
        rows: np.ndarray,
        kind: Kind,
        chunk: int | None = None,
        processes: ProcessContext | None = None,
    ) -> Tensor:
        """Encodes the texts of `rows` (int64 [n]) to vectors [n, d], in their order.

        `chunk` and `processes` are as in hidden_states.pooled_states.
        """
        model, lengths = self.tower(kind), tokens.lengths_of(rows)
        if not len(rows):
            return torch.empty(0, model.config.hidden_size, device=self.device)
        if chunk is None:
            batches = length_buckets(lengths, default_batch_tokens(self.device, model.config.hidden_size))
        else:
            order = np.argsort(-lengths, kind="stable")
            batches = [order[piece] for piece in cut(len(order), chunk)]

        def encode(batch: np.ndarray) -> Tensor:
            inputs = {k: v.to(self.device) for k, v in collate(tokens, rows[batch], self.pad_id).items()}
            return embed(model, inputs, self.spec)

        return in_pieces(encode, batches, chunk is not None, processes)


def group_loss(
    module: DualEncoder,
    data: Examples,
    group: Group,
    temperature: float = 1.0,
    chunk: int | None = None,
    processes: ProcessContext | None = None,
) -> Tensor:
    """Mean over the group's queries of the positive's negative log-likelihood among the group's candidates.

    Each of several `processes` returns the loss of the whole group, float32 [], to be weighted by 1 / world.
    """
    queries = module.vectors(data.queries, group.queries, "query", chunk, processes)
    passages = module.vectors(data.passages, group.passages, "passage", chunk, processes)
    if module.scale is not None:
        queries = queries * module.scale
    return loss_of_vectors(queries, passages, group, temperature)


def loss_of_vectors(queries: Tensor, passages: Tensor, group: Group, temperature: float) -> Tensor:
    """Loss of a group, float32 [], from its vectors: queries [b, d], passages [m, d]. Scores are float32."""
    device = queries.device
    with torch.autocast(device.type, enabled=False):
        positives = torch.from_numpy(group.positives).to(device)
        mask = torch.from_numpy(group.mask).to(device) if group.mask.any() else None
        return functional.cross_entropy(in_batch_scores(queries, passages, positives, mask, temperature), positives)


def load_model(folder: Path, recipe: FinetuningRecipe, seed: int) -> tuple[DualEncoder, Any, dict[str, Any]]:
    """Loads the dual encoder to train, its tokenizer, and facts for the record.

    A folder with encoding.json is an earlier fine-tuning, any other a base encoder, from whose backbone both towers
    start, without Dense modules, as in MSM's released code. Raises SteleError for a recipe that contradicts an earlier
    fine-tuning or exceeds the model's positions.
    """
    spec, earlier = recipe.spec(), read_spec(folder)
    if earlier and (reason := recipe.contradiction(earlier)):
        raise SteleError(f"{folder}: was fine-tuned with {reason}; use that")
    sources = tower_folders(folder, earlier or spec.model_copy(update={"towers": "shared"}))
    names = ["shared"] if spec.towers == "shared" else ["query", "passage"]
    tokenizer = load_tokenizer(sources[0])
    check_probe(folder, tokenizer)
    towers, new = {}, []
    for name, source in zip(names, (sources * 2)[: len(names)], strict=True):
        towers[name], new = load_backbone(source, spec.pooling, seed=seed, dropout=recipe.dropout)
        pooler = getattr(towers[name], "pooler", None)
        if pooler is not None and spec.pooling != "pooler":  # saved without change
            pooler.requires_grad_(False)
    room = positions(towers[names[0]].config)
    for kind in ("query", "passage"):
        if spec.length(kind) > room:
            raise SteleError(f"--recipe: {kind}_length: {spec.length(kind)} exceeds the {room} positions of {folder}")
    facts = {"initialised": new, "starts_from": "fine-tuned towers" if earlier else "base encoder"}
    if earlier is None and (changes := encoding_changes(stated_encoding(folder), spec)):
        facts["encoding_changes"] = changes
    return DualEncoder(towers, spec, tokenizer.pad_token_id, recipe.scale), tokenizer, facts
