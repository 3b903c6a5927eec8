"""Encoding of texts as vectors: an `EncodingSpec` is saved with its encoder and used by training, encoding, search."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from stele.errors import unknown
from stele.files.atomic import atomic_write_json
from stele.files.reading import read_object
from stele.files.strict import Strict, Values, validate

SPEC_FILE = "encoding.json"
# families of models that reserve the first positions, up to the padding id
ROBERTA_LIKE = (
    *("camembert", "data2vec-text", "ibert", "longformer", "luke", "mpnet", "roberta", "roberta-prelayernorm"),
    *("xlm-roberta", "xlm-roberta-xl", "xmod"),
)
Kind = Literal["query", "passage"]
Pooling = Literal["cls", "mean", "last", "pooler"]
TextInput = str | tuple[str, str]
UNTITLED = "none"  # fills {title} for a passage without a title, as in EmbeddingGemma's model card
FOLDER, BENCHMARK = "folder", "benchmark"  # origins of keys: the encoder's folder, the evaluation's protocol
MODEL_SAYS = ("config", "models")  # config.yaml, models.yaml
ORIGINS = (*MODEL_SAYS, "scale", BENCHMARK)  # origins of encoding keys other than the folder, in their order
SOME_INSTRUCTION = {"instruction": "what a benchmark asks for"}  # stands in until a benchmark gives its instruction
_FIELD = re.compile(r"\{(\w*)\}")
# fields that a prompt may contain: the benchmark's (or the model's own) instruction, and the title of a passage
FIELDS = {"query_prompt": ("instruction",), "passage_prompt": ("instruction", "title")}
# keys that were added later: encoders' folders contain them only if not the default, records also if chosen
SAID_IF_CHOSEN = ("weights", "dimension", "include_prompt", "instruction")


def reserved_positions(model_type: str | None, padding: int | None) -> int:
    """Number of a model's first positions that no token takes: those up to the padding id in RoBERTa-like ones."""
    return (1 if padding is None else padding) + 1 if model_type in ROBERTA_LIKE else 0


class EncodingSpec(Strict):
    """Settings that determine a text's vector, besides the weights and the tokenizer.

    pooling         "cls": last hidden state of the first token; "mean": mean over the attention mask; "pooler": the
                    model's pooler (a linear layer and tanh on the first token, as in XTREME-R's dual encoders);
                    "last": last hidden state of the last token of the mask, for models that read left to right
    normalize       vectors have unit length
    query_length, passage_length   most tokens of a text, special ones included; longer texts are cut
    passage_format  "title_text_pair": title and text as the tokenizer's pair (DPR), one alone when the other is
                    empty; "title_text": title, a space, text; "text": the text alone
    towers          "shared": one model for both sides; "separate": one each, in query/ and passage/
    layer           use the hidden states of this layer (1 = the first transformer layer), ignore the layers above
    segments        a pair's second text gets token type 1; False: all token types are 0, as in DPR's and MSM's code
    query_prompt, passage_prompt   text put before every query or passage; {instruction} in it stands for the
                    instruction, {title} for the title of a passage ("none" if it has none), then not repeated
    instruction     text that replaces {instruction}
    include_prompt  False: the model reads the prompt's tokens, but pooling ("mean", "cls") ignores them
    dimension       number of components kept from the start of a vector (Matryoshka), then scaled to length 1
    weights         number format in which the weights are stored and multiplied
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
    def _consistent(self) -> Self:
        if self.layer is not None and self.pooling == "pooler":
            raise ValueError("pooling: the pooler belongs to the last layer; with `layer` use pooling cls or mean")
        for key, fields in FIELDS.items():
            for name in _FIELD.findall(getattr(self, key)):
                if name not in fields:
                    raise ValueError(str(unknown("field", name, fields, key)))
        if not self.include_prompt and self.fills_titles:
            raise ValueError("include_prompt: false needs one prompt for all passages; found {title} in passage_prompt")
        return self

    @property
    def half(self) -> bool:
        """Whether the encoder computes with 16 bits, so that storing vectors with more bits adds nothing."""
        return "bfloat16" in (self.precision, self.weights)

    @property
    def fills_titles(self) -> bool:
        return "{title}" in self.passage_prompt

    def facts(self) -> dict[str, Any]:
        """The spec as plain values, for records and encoders' folders."""
        defaults = {key: type(self).model_fields[key].default for key in SAID_IF_CHOSEN}
        values = self.model_dump()
        return {key: value for key, value in values.items() if key not in defaults or value != defaults[key]}

    def length(self, kind: Kind) -> int:
        """Most tokens of an input of this kind."""
        return self.query_length if kind == "query" else self.passage_length

    def prompt(self, kind: Kind) -> str:
        """Prompt before every text of this kind; `inputs` fills in {title}."""
        prompt = self.query_prompt if kind == "query" else self.passage_prompt
        return prompt.replace("{instruction}", self.instruction)

    def inputs(self, texts: Sequence[TextInput], kind: Kind) -> list[TextInput]:
        """Puts the prompts before texts, as the tokenizer reads them.

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
        """Whether a text has the same vector as a query and as a passage, unless it is long enough to be cut."""
        return self.towers == "shared" and self.query_prompt == self.passage_prompt and not self.fills_titles

    @property
    def longer(self) -> Kind:
        """Kind of text with the larger maximum length."""
        return "query" if self.query_length >= self.passage_length else "passage"

    def passage(self, title: str, text: str) -> TextInput:
        """Formats a passage as an argument of `inputs`.

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
    """Some keys of an encoding; the others have their defaults, or come from other origins.

    prompt_name     name of one of the folder's own prompts for queries, in place of query_prompt
    max_length      most tokens of queries and of passages
                    Like the two lengths it can shorten the folder's own, never lengthen it.
    passages_as_queries   both sides are texts of one kind, such as aligned sentences: passages get the queries' prompt
    """

    pooling: Pooling = "mean"
    prompt_name: str | None = None
    max_length: int | None = Field(None, ge=3)
    passages_as_queries: bool = False


def check_keys(values: Values, where: str) -> None:
    """Raises SteleError if `values` has a key that an encoding does not have."""
    unknown_keys = sorted(set(values) - set(SomeEncoding.model_fields))
    if unknown_keys:
        raise unknown("key", unknown_keys[0], SomeEncoding.model_fields, where)


def write_spec(folder: Path, spec: EncodingSpec) -> None:
    atomic_write_json(Path(folder) / SPEC_FILE, spec.facts())


def read_spec(folder: Path) -> EncodingSpec | None:
    """Reads the spec saved in an encoder folder, or None if it has none; raises SteleError if it is invalid."""
    path = Path(folder) / SPEC_FILE
    if not path.exists():
        return None
    return validate(EncodingSpec, read_object(path, "encoding", "make the encoder again"), path)
