"""Re-ranking recipes, for scorers trained in folds of topics and for scorers without training."""

from typing import Literal, Self

from pydantic import Field, model_validator

from stele.errors import SteleError, check_known
from stele.files.strict import Values, validate
from stele.recipes import Recipe, plan_key
from stele.recipes.optimisation import Dropout, OptimiserKeys


class RerankingRecipe(Recipe):
    """Key that the recipes of all scorers share."""

    scorer: str = Field(description="a file of stele/reranking/scorers")


class Trained(RerankingRecipe, OptimiserKeys):
    """Recipe of a scorer trained in five folds of topics: three to train, one to choose the epoch, one to score.

    Each epoch pairs each relevant document with a newly drawn one of the same topic that is judged not relevant.
    """

    loss: Literal["pairwise", "pointwise"] = Field(
        "pairwise",
        description="cross-entropy over the scores of a relevant and a non-relevant document (pairwise), or over "
        "two classes for each document (pointwise)",
    )
    epochs: int = Field(
        20, ge=1, description="training epochs; the weights of the epoch with the best MAP on the dev fold are used"
    )
    dev_from_epoch: int = Field(1, ge=1, description="first epoch, counted from 1, that can be chosen by its MAP")
    batch: int = Field(ge=1, description="pairs in an optimiser step")
    schedule: Literal["linear", "constant", "polynomial"] = Field(
        "constant", description="learning rate: linear or polynomial decay to 0, or constant"
    )

    @model_validator(mode="after")
    def _some_epoch_counts(self) -> Self:
        if self.dev_from_epoch > self.epochs:
            raise ValueError(f"dev_from_epoch: {self.dev_from_epoch} is after the last of the {self.epochs} epochs")
        return self

    @property
    def outputs(self) -> int:
        """Number of the scorer's outputs per document, the last being the score: 1, or 2 logits of two classes."""
        return 1 if self.loss == "pairwise" else 2


class CrossEncoder(Trained):
    """Recipe of a cross-encoder, a transformer that reads query and document together."""

    window_length: int | None = plan_key(ge=8, description="replaces `length` for models with sliding-window attention")

    scorer: Literal["cross_encoder"]
    length: int = Field(
        512,
        ge=8,
        description="most tokens of query and document together, special ones included; the longer text is cut first",
    )
    head: Literal["cls", "pooler"] = Field(
        "cls",
        description="input of the linear layer that scores: the first token's last hidden state (cls), or the "
        "output of the model's pooler",
    )
    tuned_layers: int | None = Field(
        None,
        ge=1,
        description="number of layers, from the last one down, that are trained; those below are frozen; null: the "
        "whole model is trained",
    )
    reset_layers: int = Field(
        0, ge=0, description="number of layers, from the last one down, that are initialised anew"
    )
    dropout: Dropout = None

    @model_validator(mode="after")
    def _what_is_new_is_trained(self) -> Self:
        if self.tuned_layers is not None and self.reset_layers > self.tuned_layers:
            raise ValueError(
                f"reset_layers: {self.reset_layers} layers start anew, but tuned_layers is {self.tuned_layers}"
            )
        return self


class Interaction(Trained):
    """Keys shared by models of the cosines between the words of query and document."""

    document_terms: int | None = Field(
        None, ge=1, description="number of words from the beginning of a document that are read; null: all"
    )


class Drmm(Interaction):
    """Recipe of DRMM, on histograms of cosines (Guo et al. 2016)."""

    scorer: Literal["drmm"]
    bins: int = Field(30, ge=2, description="bins in a histogram of cosines, including the bin for cosine 1")
    hidden: int = Field(5, ge=1, description="units of the hidden layer that reads a histogram")


class Knrm(Interaction):
    """Recipe of K-NRM, on kernels over cosines (Xiong et al. 2017)."""

    scorer: Literal["knrm"]
    kernels: int = Field(20, ge=1, description="number of kernels, without the one for cosine 1 (exact matches)")
    sigma: float = Field(0.1, gt=0, description="width of each of these kernels")
    exact_sigma: float = Field(0.001, gt=0, description="width of the kernel for cosine 1")


class BweAgg(RerankingRecipe):
    """Recipe of BWE-AGG, the cosine of summed word vectors (Litschko et al. 2018)."""

    scorer: Literal["bwe_agg"]
    weights: Literal["uniform", "idf"] = Field(
        description="weights of a document's words: all equal, or their inverse document frequency"
    )


class TbtQtQl(RerankingRecipe):
    """Recipe of TbT-QT-QL: nearest translation of query words, then query likelihood (Litschko et al. 2018)."""

    scorer: Literal["tbt_qt_ql"]
    mu: float = Field(1500.0, gt=0, description="parameter of Dirichlet smoothing")


SCORERS: dict[str, type[RerankingRecipe]] = {
    "bwe_agg": BweAgg,
    "cross_encoder": CrossEncoder,
    "drmm": Drmm,
    "knrm": Knrm,
    "tbt_qt_ql": TbtQtQl,
}


def parse_recipe(values: Values, where: str = "--recipe") -> RerankingRecipe:
    """Validates a recipe with the model of its scorer; raises SteleError for wrong keys.

    >>> parse_recipe({"scorer": "knrm", "batch": 10, "learning_rate": 1e-3}).outputs
    1
    """
    if not isinstance(values.get("scorer"), str):
        raise SteleError(f"{where}: want an object with the key `scorer`, one of {', '.join(SCORERS)}")
    check_known("scorer", values["scorer"], SCORERS, where)
    return validate(SCORERS[values["scorer"]], values, where)
