"""The checkpoint that pretraining starts from, and the sentence encoder that comes out of it."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from stele.encoders.backbone import DROPOUTS, load_backbone
from stele.encoders.tokenizer import TOKENIZER_FILES, first_line, load_tokenizer, quiet
from stele.errors import SteleError
from stele.training.heads import vocabulary_head

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

log = logging.getLogger(__name__)

HEAD = ("lm_head.", "cls.", "vocab_")  # what the vocabulary heads of the known families are called


def load_base(folder: Path, dropout: float, seed: int) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """The masked language model in a folder, in float32, with the recipe's dropout, and its tokenizer.

    A checkpoint without a vocabulary head (an encoder alone) gets a new one, initialised from `seed`; its output layer
    is tied to the embeddings, so little of it is new. A checkpoint whose body lacks weights is an error.
    """
    import torch
    from transformers import AutoConfig, AutoModelForMaskedLM

    try:
        with quiet(), torch.random.fork_rng(devices=[]):
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
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise SteleError(f"{folder}: not a checkpoint of a masked language model ({first_line(error)})") from None
    prefix = f"{model.base_model_prefix}."
    lacking = sorted(k for k in report["missing_keys"] if k.startswith(prefix) and "pooler" not in k)
    if lacking or report["mismatched_keys"]:
        names = (lacking or [str(key) for key in report["mismatched_keys"]])[:3]
        raise SteleError(f"{folder}: its weights lack what config.json asks for, {', '.join(names)} among them")
    fresh = sorted(key for key in report["missing_keys"] if key.startswith(HEAD))
    if fresh:
        log.info("%s has no vocabulary head: %s start from new weights", folder, ", ".join(fresh))
    vocabulary_head(model)
    return model, load_tokenizer(folder)


def save_sentence_encoder(folder: Path, model: PreTrainedModel, base: Path) -> None:
    """Writes the encoder into `folder` as a plain transformers folder, with the tokenizer files of `base` as they are.

    Vocabulary head, document encoder and projection heads are left behind. A pooler that `base` has stays as it was: no
    objective trains it, and some fine-tunings start from it.
    """
    encoder, _ = load_backbone(base, pooling="cls")
    body = {name: value.detach().cpu() for name, value in model.base_model.state_dict().items()}
    lacking, unexpected = encoder.load_state_dict(body, strict=False)
    wrong = [name for name in lacking if not name.startswith("pooler.")] + list(unexpected)
    if wrong:
        raise SteleError(f"{base}: the trained encoder does not fit its own architecture: {', '.join(wrong[:3])}")
    folder.mkdir(parents=True, exist_ok=True)
    with quiet():
        encoder.save_pretrained(folder)
    for name in TOKENIZER_FILES:
        if (base / name).exists():
            shutil.copyfile(base / name, folder / name)
