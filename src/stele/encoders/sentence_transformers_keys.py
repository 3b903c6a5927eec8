"""Keys of a sentence-transformers folder's files, by file, with the values for which Stele gives the same vectors.

A key that Stele does not use may have only neutral values (`Literal`), which change no vector, or any value (`Any`).
Other keys and values are errors: sentence-transformers would use them, and Stele would silently give other vectors.
Source: release 6.2, the keys that each module's `load` takes and those that older releases wrote.
"""

from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from stele.errors import SteleError
from stele.files.reading import read_json
from stele.files.strict import Strict, validate

Settings = TypeVar("Settings", bound=Strict)
Count = Annotated[int, Field(ge=1)]


# --- config_sentence_transformers.json --------------------------------------------------------------------------------
class ModelSettings(Strict):
    model_type: Literal["SentenceTransformer"] = "SentenceTransformer"  # other types build other modules
    prompts: dict[str, str | None] = Field({})
    default_prompt_name: str | None = None  # for texts that are neither a query nor a passage
    similarity_fn_name: str | None = None
    truncate_dim: Count | None = None
    requirements: Any = None  # releases that the author tested
    stele_suggestion: bool = False  # a model's or a benchmark's pooling overrides this folder's


# --- modules.json -----------------------------------------------------------------------------------------------------
class ModuleEntry(Strict):
    type: str
    path: str
    idx: Any = None  # the order is the list's
    name: str | None = None
    kwargs: list[str] = Field([], max_length=0)  # arguments of `encode` for a module of its own code


# --- sentence_bert_config.json and its older names --------------------------------------------------------------------
class HubArguments(Strict):
    """Arguments of downloads, which change no vector: sentence-transformers replaces them by its user's own."""

    subfolder: Any = None
    token: Any = None
    cache_dir: Any = None
    revision: Any = None
    local_files_only: Any = None
    trust_remote_code: Any = None


class ModelArguments(HubArguments):
    """Arguments of the model: the attention kernel changes only rounding; 16 bits would change more, so are refused."""

    dtype: Literal["auto", "float32"] | None = None
    torch_dtype: Literal["auto", "float32"] | None = None
    attn_implementation: Literal["eager", "sdpa", "flash_attention_2", "flash_attention_3"] | None = None
    add_pooling_layer: bool = False  # no module reads the pooler
    low_cpu_mem_usage: Any = None
    use_safetensors: Any = None


class TokenizerArguments(HubArguments):
    model_max_length: Count | None = None
    padding_side: Literal["right"] = "right"  # on the left it moves the positions of some families
    use_fast: Literal[True] = True


class ConfigArguments(HubArguments):
    use_cache: Any = None  # only for generation


class TextArguments(Strict):
    max_length: Count | None = None
    padding: Literal[True, "longest"] = True
    truncation: Literal[True, "longest_first"] = True


class CommonArguments(Strict):
    return_tensors: Literal["pt"] = "pt"


class TemplateArguments(Strict):
    """Variables of a chat template; others are refused, since they might change the text."""

    restore_suffix: bool = True
    add_generation_prompt: bool = False
    enable_thinking: bool | None = None


class ProcessingArguments(Strict):
    text: TextArguments = TextArguments()
    common: CommonArguments = CommonArguments()
    chat_template: TemplateArguments = TemplateArguments()


class Modality(Strict):
    method: Literal["forward"]
    method_output_name: Literal["last_hidden_state"]


class Message(Modality):
    format: Literal["flat", "structured"]


class Modalities(Strict):
    """Inputs of the model: texts, through the tokenizer's chat template if it takes messages."""

    text: Modality
    message: Message | None = None


class TransformerSettings(Strict):
    max_seq_length: Count | None = None
    query_length: Count | None = None
    document_length: Count | None = None
    modality_config: Modalities | None = None  # text only
    processing_kwargs: ProcessingArguments = ProcessingArguments()
    processor_kwargs: TokenizerArguments = TokenizerArguments()
    tokenizer_args: TokenizerArguments | None = None  # the older name, which takes precedence
    do_lower_case: Literal[False] = False
    transformer_task: Literal["feature-extraction"] = "feature-extraction"
    module_output_name: Literal["token_embeddings"] = "token_embeddings"
    query_expansion: None = None
    unpad_inputs: bool | None = None
    model_kwargs: ModelArguments = ModelArguments()
    model_args: ModelArguments = ModelArguments()
    config_kwargs: ConfigArguments = ConfigArguments()
    config_args: ConfigArguments = ConfigArguments()


# --- config.json of the other modules ---------------------------------------------------------------------------------
class PoolingSettings(Strict):
    """Pooling mode by its name, or by the flags of older releases, one for each mode; by default the mean."""

    pooling_mode: str | list[str] | None = None
    pooling_mode_cls_token: bool = False
    pooling_mode_max_tokens: bool = False
    pooling_mode_mean_tokens: bool = False
    pooling_mode_mean_sqrt_len_tokens: bool = False
    pooling_mode_weightedmean_tokens: bool = False
    pooling_mode_lasttoken: bool = False
    include_prompt: bool = True
    embedding_dimension: Any = None  # ignored: the model's width counts
    word_embedding_dimension: Any = None


class DenseSettings(Strict):
    in_features: Count
    out_features: Count
    bias: bool = True
    activation_function: str = "torch.nn.modules.activation.Tanh"
    module_input_name: Literal["sentence_embedding"] = "sentence_embedding"
    module_output_name: Literal["sentence_embedding"] | None = None
    use_residual: Literal[False] = False


class NormalizeSettings(Strict):
    module_input_name: Literal["sentence_embedding"] = "sentence_embedding"
    module_output_name: Literal["sentence_embedding"] | None = None


class DropoutSettings(Strict):
    dropout: float = 0.2  # only in training


def read_settings(path: Path, kind: type[Settings]) -> Settings:
    """Reads a file's settings, or the defaults if it is missing. Raises SteleError for an unknown key or value."""
    values = read_json(path, "settings of sentence-transformers", "get the folder again") if path.exists() else {}
    if isinstance(values, dict):
        values = {key: value for key, value in values.items() if key != "__version__"}  # the writer's version
    try:
        return validate(kind, values, path)
    except SteleError as error:
        raise SteleError(f"{error}; Stele supports no other") from None
