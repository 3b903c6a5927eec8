"""Scales: sizes of data, and the recipe keys that must change with them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from stele.files.formats import plain_label
from stele.files.strict import Seed, Strict, Values
from stele.recipes.encoding import SomeEncoding
from stele.recipes.world import WorldSizes

Label = Annotated[str, AfterValidator(plain_label)]


class Documents(Strict):
    """Size of the sample of CC-100."""

    documents: int = Field(ge=1, description="the first N documents of each language")


class Pages(Strict):
    """Size of the sample of a Wikipedia."""

    pages: int = Field(ge=1, description="the first N pages of each dump, in the order of their ids")


class Corpora(Strict):
    """Sizes of the samples of corpora from which pretraining examples are mined. Evaluation data are never cut."""

    cc100: Documents | None = None
    wikipedia: Pages | None = None

    def first(self, corpus: str) -> int | None:
        """Number of documents or pages read from a corpus; None: all.

        >>> Corpora(cc100=Documents(documents=7)).first("cc100")
        7
        """
        limits = {"cc100": self.cc100 and self.cc100.documents, "wikipedia": self.wikipedia and self.wikipedia.pages}
        return limits.get(corpus)


class Scale(Strict):
    """A scale: a set of sizes, and the keys of recipes that these sizes force."""

    like: str | None = Field(None, description="the scale of the catalogue that holds what this one leaves out")
    title: Label
    generated: bool = Field(description="whether the data come from the generated internet")
    seed: Seed = 0
    threads: int = Field(1, ge=1, description="CPU threads of a training or encoding job; part of every recipe")
    gpus: int | None = Field(
        None, ge=0, description="GPUs of a job where cluster.yaml names none; None: the rule's own"
    )
    encoder_weights: float | None = Field(
        None,
        gt=0,
        description="millions of weights of the largest checkpoint that is read, but for the configuration's models",
    )
    languages: list[str] | None = Field(None, description="the generated languages; None: all that a dataset has")
    pretraining_languages: dict[str, list[str]] = Field(
        {},
        description="recipe -> the generated languages that its models are trained in, if they name none; default: all",
    )
    benchmarks: dict[str, list[str]] = Field(
        {},
        description="benchmark -> the languages that it is evaluated in, each with its whole collection; default: all",
    )
    world: WorldSizes = Field(WorldSizes(), description="sizes of the generated world")
    standins: dict[str, Values] = Field({}, description="stand-in -> keys forced by this scale")
    shards: dict[Literal["wikipedia"], Annotated[int, Field(ge=1)]] = Field(
        {}, description="corpus -> parts that a language's dump is cut into, each a job"
    )
    shard_bytes: dict[Literal["wikipedia"], Annotated[int, Field(ge=1 << 20)]] = Field(
        {}, description="corpus -> about the bytes of a dump in a part, where `shards` gives no number of parts"
    )
    corpora: Corpora = Field(Corpora(), description="corpus -> how much of it is fetched and read; default: all")
    pretraining: dict[str, Values] = Field({}, description="recipe -> keys forced by this scale")
    models: dict[str, Values] = Field({}, description="model -> recipe keys forced by this scale")
    finetuning: dict[str, Values] = Field({}, description="recipe -> keys forced by this scale")
    calibration: dict[str, Values] = Field({}, description="recipe -> keys forced by this scale")
    title_queries: dict[str, Values] = Field({}, description="recipe -> keys forced by this scale")
    generators: dict[str, Values] = Field({}, description="recipe -> keys forced by this scale")
    generated_queries: dict[str, Values] = Field({}, description="recipe -> keys forced by this scale")
    reranking: dict[str, Values] = Field({}, description="recipe -> keys forced by this scale")
    answering: dict[str, Values] = Field({}, description="recipe -> keys forced by this scale")
    encoding: SomeEncoding = Field(SomeEncoding(), description="lengths forced by this scale at encoding")
    pairs: dict[str, Values] = Field({}, description="mining method -> keys forced by this scale")
