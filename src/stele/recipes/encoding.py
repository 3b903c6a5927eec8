"""How texts become vectors: one `EncodingSpec`, saved with an encoder, used by training, encoding and search alike."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from stele.errors import unknown
from stele.files.atomic import atomic_write_json
from stele.files.reading import read_object
from stele.files.strict import Strict, Values, validate

SPEC_FILE = "encoding.json"
Kind = Literal["query", "passage"]
TextInput = str | tuple[str, str]


class EncodingSpec(Strict):
    """What a vector depends on besides the weights and the tokenizer.

    pooling         "cls": last hidden state of the first token; "mean": mean over the attention mask; "pooler": the
                    model's pooler (a linear layer and tanh on the first token, as in XTREME-R's dual encoders)
    normalize       vectors have unit length
    query_length, passage_length   tokens, special ones included; longer texts are cut
    passage_format  "title_text_pair": title and text as the tokenizer's pair (DPR), one alone when the other is
                    empty; "title_text": title, a space, text; "text": the text alone
    towers          "shared": one model for both sides; "separate": one each, in query/ and passage/
    layer           read the hidden states of this layer (1 = the first transformer layer) and leave out those above
    segments        a pair's second text gets token type 1; False: all token types are 0, as in DPR's and MSM's code
    query_prompt, passage_prompt   text put before every query or passage
    """

    pooling: Literal["cls", "mean", "pooler"]
    normalize: bool = False
    query_length: int = Field(256, ge=3)
    passage_length: int = Field(256, ge=3)
    precision: Literal["float32", "bfloat16"] = "float32"
    passage_format: Literal["title_text_pair", "title_text", "text"] = "title_text_pair"
    towers: Literal["shared", "separate"] = "shared"
    layer: int | None = Field(None, ge=1)
    segments: bool = False
    query_prompt: str = ""
    passage_prompt: str = ""

    @model_validator(mode="after")
    def _layer_has_no_pooler(self) -> EncodingSpec:
        if self.layer is not None and self.pooling == "pooler":
            raise ValueError("the pooler belongs to the last layer; with `layer` use pooling cls or mean")
        return self

    def length(self, kind: Kind) -> int:
        """The longest input of that kind, in tokens."""
        return self.query_length if kind == "query" else self.passage_length

    def prompt(self, kind: Kind) -> str:
        return self.query_prompt if kind == "query" else self.passage_prompt

    @property
    def symmetric(self) -> bool:
        """Whether a text without a title has one vector, whether it is a query or a passage."""
        return self.of_one_kind and self.query_length == self.passage_length

    @property
    def of_one_kind(self) -> bool:
        """Whether a text has one vector, whether it is a query or a passage, unless it is so long that it is cut."""
        return self.towers == "shared" and self.query_prompt == self.passage_prompt

    @property
    def longer(self) -> Kind:
        """The kind of text of which more is read."""
        return "query" if self.query_length >= self.passage_length else "passage"

    def passage(self, title: str, text: str) -> TextInput:
        """A passage as the tokenizer is to see it.

        >>> EncodingSpec(pooling="cls").passage("Title", "Text.")
        ('Title', 'Text.')
        >>> EncodingSpec(pooling="cls").passage("", "Text.")
        'Text.'
        """
        if self.passage_format == "text" or not title:
            return text
        if not text:
            return title
        return (title, text) if self.passage_format == "title_text_pair" else f"{title} {text}"


class SomeEncoding(EncodingSpec):
    """Some keys of an encoding; others have the default, or come from elsewhere."""

    pooling: Literal["cls", "mean", "pooler"] = "mean"


def make_spec(values: Values | EncodingSpec, where: str = "encoding") -> EncodingSpec:
    """A spec from plain values; what is wrong with them is said with the key's name."""
    if isinstance(values, EncodingSpec):
        return values
    return validate(EncodingSpec, values, where)


def check_keys(values: Values, where: str) -> None:
    """Refuses keys that an encoding does not have."""
    unknown_keys = sorted(set(values) - set(EncodingSpec.model_fields))
    if unknown_keys:
        raise unknown("key", unknown_keys[0], EncodingSpec.model_fields, where)


def write_spec(folder: Path, spec: EncodingSpec) -> None:
    atomic_write_json(Path(folder) / SPEC_FILE, spec.model_dump())


def read_spec(folder: Path) -> EncodingSpec | None:
    """The spec saved in an encoder folder; None when it has none."""
    path = Path(folder) / SPEC_FILE
    if not path.exists():
        return None
    return make_spec(read_object(path, "encoding", "make the encoder again"), str(path))
