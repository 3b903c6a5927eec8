"""MSM predicts the vector of a masked sentence from the other sentences of its document (Zhang et al., section 3).

The sentence encoder makes one vector per sentence. The document encoder predicts each vector from the others, two heads
project both, and the hierarchical contrastive loss compares them. After pretraining only the sentence encoder is kept.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from stele.recipes.flops import Shape, encode, passes
from stele.recipes.pretraining import PretrainingRecipe
from stele.training.masking import attention, duplicate_counts, pad
from stele.training.objectives import Objective

ENGLISH = "en"
COPIES = {"shared": 1, "separate_english": 2}  # number of encoders or of heads


class Recipe(PretrainingRecipe):
    """Ablations: document_encoder and heads (Table 4), intra_negatives and mu (Table 5; mu 0 is "w/o bias"), documents
    (Table 6: negatives = documents x sentences), projector (Table 7), layers (Table 8)."""

    group_key: ClassVar[str] = "documents"
    objective: Literal["msm"] = "msm"
    documents: int = Field(ge=2, description="documents in a contrastive group")
    sentences: int = Field(ge=2, description="most sentences of a document")
    sentence_length: int = Field(ge=3, description="most tokens of a sentence, special ones included")
    layers: int = Field(ge=1, description="number of layers of the document encoder")
    mu: float = Field(
        ge=0,
        le=1,
        description="weight of the dynamic bias, which lowers the scores of negatives from the query's own "
        "document; 0: no bias",
    )
    temperature: float = Field(gt=0, description="divisor of scores before the softmax")
    intra_negatives: bool = Field(True, description="other sentences of a query's own document are negatives, too")
    projector: Literal["none", "shared", "asymmetric"] = Field(
        description="heads that project both sides before the loss: none, one shared by both sides, or one for each "
        "side (asymmetric)"
    )
    document_encoder: Literal["shared", "separate_english"] = Field(
        "shared", description="one document encoder for all languages, or a separate one for English"
    )
    heads: Literal["shared", "separate_english"] = Field(
        "shared", description="the same heads for all languages, or separate ones for English"
    )
    mask_duplicates: bool = Field(
        False, description="excludes sentences equal to the positive from the negatives, which MSM does not"
    )

    @model_validator(mode="after")
    def _english_has_groups_of_its_own(self) -> Recipe:
        if self.mixing != "one_language" and "separate_english" in (self.document_encoder, self.heads):
            raise ValueError("separate_english: needs groups of one language; want mixing: one_language")
        return self

    def new_objective(self, task: str) -> MaskedSentences:
        return MaskedSentences(self)

    def flops(self, shape: Shape, sentences: int, length: float, of_a_document: int) -> float:
        """FLOPs of a group: sentence and document encoders (last layer: one position per sequence), heads, scores."""
        encoder = encode(sentences, length, shape, first_only=self.pooling != "mean")
        document = encode(sentences, of_a_document, shape._replace(layers=self.layers), first_only=True)
        heads = 0 if self.projector == "none" else 8 * shape.width**2 * sentences
        scores = 2 * shape.width * sentences**2
        return passes(sentences, self.encode_chunk) * encoder + 3 * (document + heads + scores)

    def group_sizes(self, tokens: float, sentences: float) -> tuple[int, int, int]:
        number = round(self.documents * self.sentences * sentences)
        return number, round(self.sentence_length * tokens), self.sentences

    def read_by_heads(self) -> tuple[int, int, int]:
        """The document encoder reads each document once for each of its sentences."""
        return self.documents * self.sentences, self.sentences, self.layers


class MaskedSentences(Objective):
    POOLING = "cls"

    def vectors(self):
        return self.recipe.documents * self.recipe.sentences

    def negatives(self, vectors):
        """Number of a query's negatives if all documents are equally long."""
        return vectors - (1 if self.recipe.intra_negatives else vectors / self.recipe.documents)

    def batch(self, examples, vocabulary, group, rng):
        """Batch of m sentences in order: ids int64 [m, t], mask bool [m, t] or None, counts (sentences per document),
        english (whether the group is English), `duplicate_counts` of the sentences."""
        ids, lengths = pad(examples.tokens, examples.lengths, vocabulary, self.recipe.sentence_length)
        return {
            "ids": ids,
            "mask": attention(lengths, ids.shape[1]),
            "counts": tuple(examples.counts.tolist()),
            "english": group.language == ENGLISH,
            **duplicate_counts(ids),
        }

    def sizes(self, batch):
        return len(batch["ids"]), self.computed_length(batch), max(batch["counts"])

    def heads(self, model):
        """Creates document encoder and projection heads, either shared by all languages or with a copy for English."""
        from torch import nn

        from stele.training.heads import Projector
        from stele.training.objectives._msm import DocumentEncoder

        recipe, config = self.recipe, model.config
        encoders = nn.ModuleList()
        for _ in range(COPIES[recipe.document_encoder]):
            encoders.append(DocumentEncoder(config, recipe.layers, recipe.sentences, recipe.dropout))
        projectors = nn.ModuleList()
        for _ in range(COPIES[recipe.heads]):
            projectors.append(Projector(recipe.projector, config.hidden_size, config.initializer_range))
        return nn.ModuleDict({"encoders": encoders, "projectors": projectors})

    def loss(self, heads, model, batch, processes=None):
        """Mean hierarchical contrastive loss of the group, float32 []."""
        import torch

        from stele.training.objectives._msm import hierarchical_scores

        recipe = self.recipe
        vectors = self.sentence_states(model, batch["ids"], batch["mask"], processes)
        which = -1 if batch["english"] else 0  # of two the last is for English
        predictions = heads["encoders"][which](vectors, batch["counts"])
        keys, queries = heads["projectors"][which](vectors, predictions)
        same = batch["duplicate_keys"]
        with torch.autocast(vectors.device.type, enabled=False):
            scores = hierarchical_scores(
                queries,
                keys,
                batch["counts"],
                mu=recipe.mu,
                temperature=recipe.temperature,
                intra_negatives=recipe.intra_negatives,
                duplicates=same[:, None] == same[None, :] if recipe.mask_duplicates else None,
            )
            positives = torch.arange(len(scores), device=scores.device)
            return self.search_loss(scores, positives, vectors)
