"""Inputs of a pretraining, its base checkpoint and mined examples, and the writing of the resulting encoder."""

from __future__ import annotations

import logging
import math
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stele.artifacts import records
from stele.catalogue.hub import TOKENIZER
from stele.encoders.backbone import DROPOUTS, load_backbone, positions
from stele.encoders.base_encoding import write_encoding
from stele.encoders.tokenizer import load_tokenizer, quiet, tokenizer_probe
from stele.errors import SteleError, unknown
from stele.files.digests import digest
from stele.files.reading import reading
from stele.training.heads import bits, characters, head_file, vocabulary_head
from stele.training.section_store import SectionStore
from stele.training.store import Store

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from stele.recipes.encoding import EncodingSpec
    from stele.training.processes import ProcessContext
    from stele.training.sampling import Batch

log = logging.getLogger(__name__)

Encodings = tuple["EncodingSpec | None", "EncodingSpec"]  # of the base checkpoint and of the trained encoder
Tasks = Callable[[Any], Mapping[str, Any]]  # recipe -> tasks
SEQUENCES = 256  # for measuring bits: about 39,000 masked tokens at length 1,024
CONVERTED = "converted"
HEAD = ("lm_head.", "cls.", "vocab_")  # weight prefixes of the vocabulary heads of the known families


def load_base(
    folder: Path, dropout: float, seed: int, pooler: bool = False
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Loads the masked language model in a folder, in float32, with the recipe's dropout, and its tokenizer.

    A checkpoint without a vocabulary head gets a new one, initialised from `seed`. With `pooler` the model also has the
    checkpoint's pooler. Raises SteleError for what `load_backbone` refuses, as the writing of the result would.
    """
    import torch
    from transformers import AutoConfig, AutoModelForMaskedLM

    encoder, _ = load_backbone(folder, "pooler" if pooler else "cls")
    kind = "checkpoint of a masked language model"
    with reading(folder, kind, "give another one"), quiet(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
        for name in DROPOUTS:
            if hasattr(config, name):
                setattr(config, name, dropout)
        model, report = AutoModelForMaskedLM.from_pretrained(
            folder,
            config=config,
            dtype=torch.float32,
            use_safetensors=True,
            local_files_only=True,
            output_loading_info=True,
        )
    fresh = sorted(key for key in report["missing_keys"] if key.startswith(HEAD))
    if fresh:
        log.info("%s has no vocabulary head: %s start from new weights", folder, ", ".join(fresh))
    vocabulary_head(model)
    if pooler:
        model.base_model.pooler = encoder.pooler
    return model, load_tokenizer(folder)


def check_length(config: Any, recipe: Any) -> None:
    """Raises SteleError if a length in the recipe exceeds the model's positions."""
    most = positions(config)
    for key, length in recipe.lengths().items():
        if length > most:
            raise SteleError(f"--recipe: {key} is {length}, but the model has only {most} positions; want at most that")


def save_heads(folder: Path, weights: Mapping[str, Mapping[str, Tensor]]) -> None:
    """Writes the head weights of each task (task -> name -> weight) to {task}_head.safetensors in `folder`."""
    from safetensors.torch import save_file

    for task, tensors in weights.items():
        if tensors:
            plain = {key: value.detach().cpu().contiguous() for key, value in tensors.items()}
            save_file(plain, folder / head_file(task), {"format": "pt"})


def save_sentence_encoder(
    folder: Path, model: PreTrainedModel, base: Path, encoding: Encodings, vocabulary: bool = False
) -> None:
    """Writes the encoder as a sentence-transformers folder, with unchanged copies of the base's tokenizer files.

    `encoding` has the base's encoding (None if it states none) and the encoder's own. Document encoder and projection
    heads are dropped, and so is the vocabulary head, unless `vocabulary` keeps it, with transformers' files alone. A
    pooler of `base` that was not trained is copied. Raises SteleError for weights that do not fit the base.
    """
    encoder, _ = load_backbone(base, pooling="cls")
    body = {name: value.detach().cpu() for name, value in model.base_model.state_dict().items()}
    lacking, unexpected = encoder.load_state_dict(body, strict=False)
    wrong = [name for name in lacking if not name.startswith("pooler.")] + list(unexpected)
    if wrong:
        raise SteleError(f"{base}: the trained weights do not fit its architecture, e.g. {', '.join(wrong[:3])}")
    folder.mkdir(parents=True, exist_ok=True)
    with quiet():
        (model if vocabulary else encoder).save_pretrained(folder)
    if vocabulary:
        _add_pooler(folder / "model.safetensors", encoder, f"{model.base_model_prefix}.pooler")
    for name in TOKENIZER:
        if (base / name).exists():
            shutil.copyfile(base / name, folder / name)
    if not vocabulary:
        write_encoding(folder, base, encoder, *encoding)


def _add_pooler(path: Path, encoder: PreTrainedModel, name: str) -> None:
    """Adds an encoder's pooler, if it has one, to the file of a masked language model's weights, which lack one."""
    from safetensors.torch import load_file, save_file

    if encoder.pooler is not None:
        pooler = {f"{name}.{key}": value for key, value in encoder.pooler.state_dict().items()}
        save_file(load_file(path) | pooler, path, {"format": "pt"})


# --- conversion to sliding windows, and what it costs in bits per character -------------------------------------------
def windowed_base(base: Path, recipe: Any, state: Path, process: ProcessContext) -> Path:
    """Folder from which to start: `base`, or its conversion to windows inside `state` if the recipe has windows."""
    if recipe.sliding_window is None:
        return base
    from stele.encoders.sliding_window import convert

    if process.is_main and not (state / CONVERTED).exists():
        convert(base, state / CONVERTED, recipe.sliding_window)
    process.barrier()
    return state / CONVERTED


def measured_bits(
    model: Any, *, tokenizer: Any, recipe: Any, tasks_of: Tasks, process: ProcessContext
) -> dict[str, float]:
    """Bits per character and per token of a model, on texts that the run has not read (`further_batches`)."""
    length = min(recipe.mlm_length, positions(model.config))
    batches = further_batches(recipe.model_copy(update={"mlm_length": length}), tasks_of)
    return bits(model, batches, characters(tokenizer, model.config.vocab_size), process.device, recipe.encode_chunk)


def further_batches(recipe: Any, tasks_of: Tasks) -> Iterator[Batch]:
    """MLM batches that would follow a run's last step; their texts are new unless the run has already read them all."""
    groups = recipe.steps * recipe.groups
    further_steps = math.ceil(SEQUENCES / (recipe.groups * recipe.mlm_sequences))
    longer = recipe.model_copy(update={"steps": recipe.steps + further_steps})
    return map(tasks_of(longer)["mlm"].batch, range(groups, groups + further_steps * recipe.groups))


# --- mined examples, checked against the recipe and the model's tokenizer ---------------------------------------------
CHECKED = 1 << 20  # tokens of a store that are compared with the vocabulary
FILES, OTHERS = 3, 256  # files per store; margin for other open files of a process
KINDS = {"section": SectionStore}  # mining method -> class of store; the default is Store


def open_stores(
    pair_records: Mapping[str, Path],
    needed: set[str],
    languages: Sequence[str] | None,
    tokenizer: PreTrainedTokenizerBase,
    words: int,
) -> dict[str, dict[str, Store | SectionStore]]:
    """Opens the stores that the recipe's tasks read, as method -> part -> store; a part is a language or a pair.

    A pair is opened if both its languages are the recipe's. Raises SteleError if a method has no store, if a language
    of the recipe is in none of a method's parts, or if a record names another method, part or tokenizer.
    """
    probe = digest(tokenizer_probe(tokenizer))
    stores: dict[str, dict[str, Store | SectionStore]] = {method: {} for method in sorted(needed)}
    allow_open_files(len(pair_records) * FILES)
    for name, record in pair_records.items():
        method, part = name.split(":")
        if method in stores and of_languages({part: record}, languages):
            stores[method][part] = _open_store(record, method, part, probe, words)
    for method, parts in stores.items():
        if not any(name.startswith(f"{method}:") for name in pair_records):
            raise unknown("store", method, {n.partition(":")[0] for n in pair_records}, "--pairs: this objective reads")
        missing = sorted(set(languages or ()).difference(*map(languages_of, parts)))
        if missing:
            raise SteleError(f"--pairs: no {method} examples for {', '.join(missing)}, a language of the recipe")
    return stores


def languages_of(part: str) -> set[str]:
    """Set of the languages of a part, which is a language or a pair.

    >>> sorted(languages_of("en-fr"))
    ['en', 'fr']
    """
    return set(part.split("-"))


def of_languages(parts: Mapping[str, Any], languages: Sequence[str] | None) -> dict[str, Any]:
    """Selects the parts whose languages are all among `languages`; None: every part.

    >>> of_languages({"en": 1, "en-fr": 2}, ["en"])
    {'en': 1}
    """
    return {part: value for part, value in parts.items() if languages is None or languages_of(part) <= set(languages)}


def allow_open_files(number: int) -> None:
    """Lets the process map `number` files, as many language pairs need; raises SteleError if the machine cannot."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number + OTHERS
    if hard != resource.RLIM_INFINITY and wanted > hard:
        raise SteleError(
            f"--pairs: the run needs {number} files of examples open at a time, but this machine allows {hard}; raise "
            f"its limit (ulimit -Hn), or train on fewer languages"
        )
    if soft != resource.RLIM_INFINITY and wanted > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _open_store(record: Path, method: str, part: str, probe: str, words: int) -> Store | SectionStore:
    facts = records.read_record(record)
    for key, wanted in (("method", method), ("language", part)):
        if facts.get(key) not in (None, wanted):
            raise SteleError(f"{record}: its {key} is {facts[key]!r}, but --pairs gives it as {method}:{part}")
    store = KINDS.get(method, Store)(record.parent, facts.get("examples_in_all"))
    largest = int(store.tokens[:CHECKED].max(initial=0))
    if largest >= words or facts.get("tokenizer_probe") not in (None, probe):
        difference = f"token {largest} of {words}" if largest >= words else "other ids for the same text"
        raise SteleError(
            f"{record.parent}: the examples were mined with another tokenizer than the checkpoint's ({difference}); "
            f"mine them with this checkpoint, or with one that has the same tokenizer"
        )
    return store
