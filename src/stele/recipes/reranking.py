"""Re-ranking recipes, for scorers trained in folds of topics and for scorers without training.

Each scorer is a file of stele/reranking/scorers. The papers' recipes are in catalogue/recipes.yaml.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from stele.errors import SteleError, unknown
from stele.files.strict import Values, validate
from stele.recipes import Recipe, plan_key
from stele.recipes.optimisation import OptimiserKeys


class RerankingRecipe(Recipe):
    """Key that the recipes of all scorers share."""

    scorer: str = Field(description="a file of stele/reranking/scorers")


class Trained(RerankingRecipe, OptimiserKeys):
    """Recipe of a scorer trained in five folds of topics: three to train, one to choose the epoch, one to score.

    Each epoch pairs each relevant document with a newly drawn one of the same topic that is judged not relevant.
    """

    loss: Literal["pairwise", "pointwise"] = Field(
        "pairwise",
        description="cross entropy over the two documents of a pair, or over each document's two classes",
    )
    epochs: int = Field(20, ge=1, description="at most: that with the best MAP of the dev fold is taken")
    dev_from_epoch: int = Field(1, ge=1, description="the first epoch whose MAP counts")
    batch: int = Field(ge=1, description="pairs an optimiser step")
    schedule: Literal["linear", "constant", "polynomial"] = "constant"

    @model_validator(mode="after")
    def _some_epoch_counts(self) -> Trained:
        if self.dev_from_epoch > self.epochs:
            raise ValueError(f"dev_from_epoch: {self.dev_from_epoch} is after the last of the {self.epochs} epochs")
        return self

    @property
    def outputs(self) -> int:
        """Number of the scorer's outputs per document, the last being the score: 1, or 2 logits of two classes."""
        return 1 if self.loss == "pairwise" else 2


class CrossEncoder(Trained):
    """Recipe of a cross-encoder, a transformer that reads query and document together."""

    window_length: int | None = plan_key(ge=8, description="`length` where the model has windows of attention")

    scorer: Literal["cross_encoder"]
    length: int = Field(512, ge=8, description="tokens of query and document together; the longer text is cut first")
    head: Literal["cls", "pooler"] = Field(
        "cls", description="a linear layer on the first token's last hidden state, or on the model's pooler"
    )
    tuned_layers: int | None = Field(None, ge=1, description="the last ones, which alone are tuned; None: all of it")
    reset_layers: int = Field(0, ge=0, description="the last ones, which are initialised anew")
    dropout: float | None = Field(None, ge=0, lt=1, description="None: what the checkpoint's config says")


class Interaction(Trained):
    """Keys shared by models of the cosines between the words of query and document."""

    document_terms: int | None = Field(None, ge=1, description="the first ones, of which alone it reads; None: all")


class Drmm(Interaction):
    """Recipe of DRMM, on histograms of cosines (Guo et al. 2016)."""

    scorer: Literal["drmm"]
    bins: int = Field(30, ge=2, description="of a histogram, that of cosine 1 among them")
    hidden: int = Field(5, ge=1, description="width of the layer over a histogram")


class Knrm(Interaction):
    """Recipe of K-NRM, on kernels over cosines (Xiong et al. 2017)."""

    scorer: Literal["knrm"]
    kernels: int = Field(20, ge=1, description="beside that of cosine 1")
    sigma: float = Field(0.1, gt=0, description="width of a kernel")
    exact_sigma: float = Field(0.001, gt=0, description="width of the kernel of cosine 1")


class BweAgg(RerankingRecipe):
    """Recipe of BWE-AGG, the cosine of summed word vectors (Litschko et al. 2018)."""

    scorer: Literal["bwe_agg"]
    weights: Literal["uniform", "idf"] = Field(description="of a document's words")


class TbtQtQl(RerankingRecipe):
    """Recipe of TbT-QT-QL: nearest translation of query words, then query likelihood (Litschko et al. 2018)."""

    scorer: Literal["tbt_qt_ql"]
    mu: float = Field(1500.0, gt=0, description="of Dirichlet smoothing")


SCORERS: dict[str, type[RerankingRecipe]] = {
    "bwe_agg": BweAgg,
    "cross_encoder": CrossEncoder,
    "drmm": Drmm,
    "knrm": Knrm,
    "tbt_qt_ql": TbtQtQl,
}


def recipe_model(scorer: str, where: str = "--recipe") -> type[RerankingRecipe]:
    """Recipe class of a scorer, without loading the scorer. Raises SteleError if the name is unknown."""
    if scorer not in SCORERS:
        raise unknown("scorer", str(scorer), SCORERS, where)
    return SCORERS[scorer]


def parse_recipe(values: Values, where: str = "--recipe") -> RerankingRecipe:
    """Validates a recipe with the model of its scorer; raises SteleError with the key at fault and what is valid.

    >>> parse_recipe({"scorer": "knrm", "batch": 10, "learning_rate": 1e-3}).outputs
    1
    """
    if not isinstance(values.get("scorer"), str):
        raise SteleError(f"{where}: want an object with the key `scorer`, one of {', '.join(SCORERS)}")
    return validate(recipe_model(values["scorer"], where), values, where)
