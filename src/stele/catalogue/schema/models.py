"""Schemas of models.yaml and standins.yaml."""

from collections.abc import Mapping
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from stele.catalogue.schema import Facts, choice
from stele.files.strict import Strict, Values, validate
from stele.recipes.encoding import SomeEncoding
from stele.recipes.search import Rm3
from stele.recipes.standins import kinds


class Released(Strict):
    """Weights that the authors of a model released."""

    dataset: str = Field(description="name of the weights in `user_data` of config.yaml")
    where: str = Field(description="place where a user gets the weights")


ORIGINS = ("`recipe`", "`checkpoint`", "`snapshot_of`", "`kind: lexical`", "`word_scorer`")  # of a model, one of them


class WordScorer(Strict):
    """A scorer of documents over vectors of words."""

    reranking: str = Field(description="re-ranking recipe of recipes.yaml")
    vectors: str = Field(description="dataset of word vectors in one space, for languages or for pairs of languages")


class ModelKeys(Strict):
    label: str = Field(description="name of the model in tables")
    kind: Literal["lexical"] | None = Field(
        None, description="lexical: a model without a checkpoint, which matches words"
    )
    rm3: Rm3 | None = Field(None, description="query expansion of a lexical model")
    word_scorer: WordScorer | None = Field(
        None, description="scorer over word vectors that re-ranks documents without a checkpoint"
    )
    checkpoint: str | None = Field(None, description="hub id of a public model that is used unchanged")
    revision: str | None = Field(None, description="hub revision of `checkpoint`; default: main")
    licence: str | None = Field(None, description="licence of the checkpoint")
    base: str | None = Field(None, description="model from which `recipe` starts")
    recipe: str | None = Field(None, description="pretraining recipe of recipes.yaml")
    override: Values = Field({}, description="keys of the recipe to change, for an ablation")
    snapshot_of: str | None = Field(None, description="model from whose pretraining this snapshot was taken")
    epoch: int | None = Field(None, ge=1, description="epoch after which the snapshot was taken")
    tokenizer: str | None = Field(None, description="model with the same tokenizer, whose mined examples are used")
    encoding: SomeEncoding = Field(
        SomeEncoding(), description="keys of the encoding: how the model makes vectors when it is used directly"
    )
    released: Released | None = Field(None, description="weights that the authors released")
    parameters: int | None = Field(None, gt=0, description="number of parameters that the model card states")
    trained_on: list[str] | None = Field(
        None, description="for an encoder that is used as it is: evaluation sets whose training questions it has seen"
    )
    same_weights_as: str | None = Field(
        None, description="hub id of a repository with the same weights that needs its own code, which is never run"
    )
    unavailable: str | None = Field(None, description="reason why the model has no checkpoint that can be used")
    tables: list[str] = Field(
        [], description="further tables that get a row for the model, besides those that name it, e.g. `msm/2`"
    )

    @property
    def is_complete(self) -> bool:
        """Whether it is a present-day encoder: trained for retrieval, with a recipe that no protocol changes."""
        return self.trained_on is not None

    @property
    def has_encoder(self) -> bool:
        """Whether the model encodes texts; models that match words or compare word vectors do not."""
        return self.kind is None and self.word_scorer is None


class Model(ModelKeys):
    """A table row's model: a public checkpoint, a base with a recipe, a snapshot, or a method without a checkpoint."""

    FILE: ClassVar = "models"

    @model_validator(mode="after")
    def _comes_from_somewhere(self) -> Self:
        if (self.base is None) != (self.recipe is None):
            raise ValueError("`base` and `recipe` go together")
        if self.override and self.recipe is None:
            raise ValueError("`override` needs a `recipe` to change, and there is none")
        if (self.snapshot_of is None) != (self.epoch is None):
            raise ValueError("`snapshot_of` and `epoch` go together")
        origins = (self.kind, self.word_scorer, self.checkpoint, self.recipe, self.snapshot_of, self.unavailable)
        if sum(origin is not None for origin in origins) > 1:
            raise ValueError(f"want one of {', '.join(ORIGINS)} and `unavailable`")
        if not any((*origins, self.released)):
            raise ValueError(f"want `base` and {', '.join(ORIGINS)}, `released` or `unavailable`")
        if self.rm3 and not self.kind:
            raise ValueError("`rm3` needs `kind: lexical`, since it expands the queries of a lexical model")
        return self


def hub_names(models: Mapping[str, Model]) -> dict[str, str]:
    """Maps the hub ids of models, both with and without the owner, to the full hub id."""
    ids = [model.checkpoint for model in models.values() if model.checkpoint]
    return {hub_id.rpartition("/")[2]: hub_id for hub_id in ids} | {hub_id: hub_id for hub_id in ids}


def check_standins(values: Facts, where: str) -> None:
    """Checks every stand-in by the recipe of its kind, and that its bases are listed above it. Raises SteleError."""
    validate(dict[str, Values], values, where)
    above: list[str] = []
    for key, entry in values.items():
        check_standin(entry, where, [key])
        for base in entry.get("bases", ()):
            choice({"bases": base}, "bases", above, where, [key])
        above.append(key)


def check_standin(entry: Facts, where: str, at: list[str]) -> None:
    """Checks one stand-in by the recipe of its kind. Raises SteleError with the key at fault."""
    kind = choice(entry, "kind", sorted(kinds()), where, at, required=True)
    validate(kinds()[kind], entry, where, at)
