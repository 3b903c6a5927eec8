"""Scales: sizes of data, and the recipe keys that must change with them."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from stele.files.formats import plain_label
from stele.files.strict import Seed, Strict, Values
from stele.recipes.encoding import SomeEncoding
from stele.recipes.world import WorldSizes

Label = Annotated[str, AfterValidator(plain_label)]


class Documents(Strict):
    """Size of the sample of CC-100."""

    documents: int = Field(ge=1, description="number of documents of each language that are read, from the first on")


class Pages(Strict):
    """Size of the sample of a Wikipedia."""

    pages: int = Field(ge=1, description="number of pages of each dump that are read, in the order of their ids")


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

    like: str | None = Field(
        None, description="scale of the catalogue from which this one inherits all keys that it leaves out"
    )
    title: Label = Field(description="short description, printed at the beginning of a run")
    generated: bool = Field(description="true: the data come from the generated internet; false: real data")
    seed: Seed = Field(0, description="seed of the generated internet, of mining and of transfer sets")
    threads: int = Field(
        1, ge=1, description="CPU threads of a training or encoding job; replaces `threads` of every recipe"
    )
    gpus: int | None = Field(
        None,
        ge=0,
        description="most GPUs of a job, unless cluster.yaml gives a number for its rule; null: the number in "
        "rules.yaml",
    )
    encoder_weights: float | None = Field(
        None,
        gt=0,
        description="size of the largest checkpoint of the catalogue that is used, in millions of weights; models "
        "of config.yaml have no limit; null: no limit",
    )
    languages: list[str] | None = Field(
        None, description="languages of the generated data; null: all languages of a dataset"
    )
    pretraining_languages: dict[str, list[str]] = Field(
        {},
        description="recipe -> languages that its models are pretrained in, unless a model's override names "
        "languages; default: `languages`",
    )
    benchmarks: dict[str, list[str]] = Field(
        {},
        description="benchmark -> languages that it is evaluated in, each with its whole collection; default: "
        "`languages`",
    )
    world: WorldSizes = Field(WorldSizes(), description="sizes of the generated internet")
    standins: dict[str, Values] = Field({}, description="stand-in for a checkpoint -> keys that this scale changes")
    shards: dict[Literal["wikipedia"], Annotated[int, Field(ge=1)]] = Field(
        {}, description="corpus -> number of parts that each language's dump is cut into; each part is a job"
    )
    shard_bytes: dict[Literal["wikipedia"], Annotated[int, Field(ge=1 << 20)]] = Field(
        {}, description="corpus -> approximate bytes of a dump in each part, where `shards` gives no number"
    )
    corpora: Corpora = Field(Corpora(), description="corpus -> how much of it is fetched and read; default: all")
    pretraining: dict[str, Values] = Field({}, description="recipe -> keys that this scale changes")
    models: dict[str, Values] = Field({}, description="model -> keys of its pretraining recipe that this scale changes")
    finetuning: dict[str, Values] = Field({}, description="recipe -> keys that this scale changes")
    calibration: dict[str, Values] = Field({}, description="recipe -> keys that this scale changes")
    title_queries: dict[str, Values] = Field({}, description="recipe -> keys that this scale changes")
    generators: dict[str, Values] = Field({}, description="recipe -> keys that this scale changes")
    generated_queries: dict[str, Values] = Field({}, description="recipe -> keys that this scale changes")
    reranking: dict[str, Values] = Field({}, description="recipe -> keys that this scale changes")
    answering: dict[str, Values] = Field({}, description="recipe -> keys that this scale changes")
    encoding: SomeEncoding = Field(
        SomeEncoding(), description="keys of the encoding that this scale changes, e.g. lengths"
    )
    pairs: dict[str, Values] = Field({}, description="mining recipe -> keys that this scale changes")
