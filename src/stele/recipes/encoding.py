"""How texts become vectors: one `EncodingSpec`, saved with an encoder, used by training, encoding and search alike."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from stele.errors import unknown
from stele.files.atomic import atomic_write_json
from stele.files.reading import read_object
from stele.files.strict import Strict, Values, validate

SPEC_FILE = "encoding.json"
Kind = Literal["query", "passage"]
Pooling = Literal["cls", "mean", "last", "pooler"]
TextInput = str | tuple[str, str]
UNTITLED = "none"  # what a template says of a passage without a title, as EmbeddingGemma's card has it
FOLDER, BENCHMARK = "folder", "benchmark"  # of the encoder; the evaluation's protocol
MODEL_SAYS = ("config", "models")  # config.yaml, models.yaml
ORIGINS = (*MODEL_SAYS, "scale", BENCHMARK)  # who says how texts become vectors beside a folder, in their order
SOME_INSTRUCTION = {"instruction": "what a benchmark asks for"}  # where none is known yet: each says its own
_FIELD = re.compile(r"\{(\w*)\}")
# what a prompt may have filled in: the benchmark's (or the model's own) instruction, and the title of a passage
FIELDS = {"query_prompt": ("instruction",), "passage_prompt": ("instruction", "title")}
# keys that came later: records and encoders' folders hold them where they are not the default
SAID_IF_CHOSEN = ("weights", "dimension", "include_prompt", "instruction")


class EncodingSpec(Strict):
    """What a vector depends on besides the weights and the tokenizer.

    pooling         "cls": last hidden state of the first token; "mean": mean over the attention mask; "pooler": the
                    model's pooler (a linear layer and tanh on the first token, as in XTREME-R's dual encoders);
                    "last": last hidden state of the last token of the mask, as of models that read left to right
    normalize       vectors have unit length
    query_length, passage_length   tokens, special ones included; longer texts are cut
    passage_format  "title_text_pair": title and text as the tokenizer's pair (DPR), one alone when the other is
                    empty; "title_text": title, a space, text; "text": the text alone
    towers          "shared": one model for both sides; "separate": one each, in query/ and passage/
    layer           read the hidden states of this layer (1 = the first transformer layer) and leave out those above
    segments        a pair's second text gets token type 1; False: all token types are 0, as in DPR's and MSM's code
    query_prompt, passage_prompt   text put before every query or passage; {instruction} in it is what a benchmark asks
                    for, {title} (of a passage) its title, "none" without one, which then stands nowhere else
    instruction     what {instruction} is
    include_prompt  False: the prompt's tokens are read and left out of the mean, or before the first token (cls)
    dimension       so many numbers of a vector, the first ones (Matryoshka); scaled to length 1 after that
    weights         as what the weights are held and computed
    """

    pooling: Pooling
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
    instruction: str = ""
    include_prompt: bool = True
    dimension: int | None = Field(None, ge=1)
    weights: Literal["float32", "bfloat16"] = "float32"

    @model_validator(mode="after")
    def _consistent(self) -> EncodingSpec:
        if self.layer is not None and self.pooling == "pooler":
            raise ValueError("the pooler belongs to the last layer; with `layer` use pooling cls or mean")
        for key, fields in FIELDS.items():
            for name in _FIELD.findall(getattr(self, key)):
                if name not in fields:
                    raise ValueError(str(unknown("field", name, fields, key)))
        if not self.include_prompt and self.fills_titles:
            raise ValueError("include_prompt: false is of one prompt for all passages; found {title} in passage_prompt")
        return self

    @property
    def half(self) -> bool:
        """Whether it computes with 16 bits, so that more of a vector than that says nothing."""
        return "bfloat16" in (self.precision, self.weights)

    @property
    def fills_titles(self) -> bool:
        return "{title}" in self.passage_prompt

    def facts(self) -> dict[str, Any]:
        """The spec as records and folders have it."""
        defaults = {key: type(self).model_fields[key].default for key in SAID_IF_CHOSEN}
        values = self.model_dump()
        return {key: value for key, value in values.items() if key not in defaults or value != defaults[key]}

    def length(self, kind: Kind) -> int:
        """The longest input of that kind, in tokens."""
        return self.query_length if kind == "query" else self.passage_length

    def prompt(self, kind: Kind) -> str:
        """What stands before every text of that kind; a template of titles is filled by `inputs`."""
        prompt = self.query_prompt if kind == "query" else self.passage_prompt
        return prompt.replace("{instruction}", self.instruction)

    def inputs(self, texts: Sequence[TextInput], kind: Kind) -> list[TextInput]:
        """Texts as the tokenizer is to see them, their prompts before them.

        >>> spec = EncodingSpec(pooling="mean", query_prompt="query: ", passage_prompt="title: {title} | text: ")
        >>> spec.inputs(["who"], "query")
        ['query: who']
        >>> spec.inputs([spec.passage("Nile", "A river."), "A text."], "passage")
        ['title: Nile | text: A river.', 'title: none | text: A text.']
        """
        prompt = self.prompt(kind)
        if not prompt:
            return list(texts)
        if kind == "passage" and self.fills_titles:
            titled = [text if isinstance(text, tuple) else ("", text) for text in texts]
            return [prompt.replace("{title}", title or UNTITLED) + text for title, text in titled]
        return [prompt + text if isinstance(text, str) else (prompt + text[0], text[1]) for text in texts]

    @property
    def of_one_kind(self) -> bool:
        """Whether a text has one vector, whether it is a query or a passage, unless it is so long that it is cut."""
        return self.towers == "shared" and self.query_prompt == self.passage_prompt and not self.fills_titles

    @property
    def longer(self) -> Kind:
        """The kind of text of which more is read."""
        return "query" if self.query_length >= self.passage_length else "passage"

    def passage(self, title: str, text: str) -> TextInput:
        """A passage as `inputs` takes it.

        >>> EncodingSpec(pooling="cls").passage("Title", "Text.")
        ('Title', 'Text.')
        >>> EncodingSpec(pooling="cls").passage("", "Text.")
        'Text.'
        """
        if self.fills_titles:
            return (title, text)
        if self.passage_format == "text" or not title:
            return text
        if not text:
            return title
        return (title, text) if self.passage_format == "title_text_pair" else f"{title} {text}"


class SomeEncoding(EncodingSpec):
    """Some keys of an encoding; others have the default, or come from elsewhere.

    prompt_name     which of a folder's own prompts stands before queries, in place of query_prompt
    max_length      tokens of queries and passages alike
                    Like the two lengths it makes a folder's own shorter, never longer.
    passages_as_queries   both sides are texts of one kind, as sentences that are aligned: what stands before a query
                    stands before a passage
    """

    pooling: Pooling = "mean"
    prompt_name: str | None = None
    max_length: int | None = Field(None, ge=3)
    passages_as_queries: bool = False


def make_spec(values: Values | EncodingSpec, where: str = "encoding") -> EncodingSpec:
    """A spec from plain values; what is wrong with them is said with the key's name."""
    if isinstance(values, EncodingSpec):
        return values
    return validate(EncodingSpec, values, where)


def check_keys(values: Values, where: str) -> None:
    """Refuses keys that an encoding does not have."""
    unknown_keys = sorted(set(values) - set(SomeEncoding.model_fields))
    if unknown_keys:
        raise unknown("key", unknown_keys[0], SomeEncoding.model_fields, where)


def write_spec(folder: Path, spec: EncodingSpec) -> None:
    atomic_write_json(Path(folder) / SPEC_FILE, spec.facts())


def read_spec(folder: Path) -> EncodingSpec | None:
    """The spec saved in an encoder folder; None when it has none."""
    path = Path(folder) / SPEC_FILE
    if not path.exists():
        return None
    return make_spec(read_object(path, "encoding", "make the encoder again"), str(path))
