"""Sequence-to-sequence models of transformers (mBART and others) that write a query for a passage, by beam search."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stele.encoders.tokenizer import load_tokenizer, quiet, read_config
from stele.errors import SteleError
from stele.files.reading import reading


class Generator(NamedTuple):
    """A model with its tokenizer; the model's generation config has the first token (mBART: the language code)."""

    model: Any
    tokenizer: Any


def load_generator(folder: Path, device: str = "cpu") -> Generator:
    """Loads the model (in float32, ready to generate) and the tokenizer of a transformers folder with safetensors.

    Raises SteleError for a model that does not generate text from text, and for other formats of weights.
    """
    from transformers import AutoModelForSeq2SeqLM

    config = read_config(folder)
    if not config.is_encoder_decoder:
        raise SteleError(
            f"{folder}: model type {config.model_type!r} does not generate text from text; want one like mBART"
        )
    if not list(folder.glob("*.safetensors")):
        raise SteleError(f"{folder}: found no safetensors file; Stele reads no other format of weights")
    tokenizer = load_tokenizer(folder)
    with reading(folder, "generator", "get the folder again"), quiet():
        model = AutoModelForSeq2SeqLM.from_pretrained(folder, local_files_only=True, use_safetensors=True)
    return Generator(model.float().to(device).eval(), tokenizer)


def generate(
    generator: Generator, texts: Sequence[str], beams: int, source_length: int, query_length: int, batch: int
) -> list[str]:
    """Generates one text for each text by beam search, without special tokens and surrounding white space.

    Texts of similar length are decoded together. Padding is masked and finished beams are not continued, so that a
    query does not depend on the texts that it is decoded with.
    """
    import torch

    model, tokenizer = generator
    ids = tokenizer(list(texts), truncation=True, max_length=source_length)["input_ids"]
    order = sorted(range(len(ids)), key=lambda row: -len(ids[row]))
    generated = [""] * len(ids)
    for start in range(0, len(order), batch):
        rows = order[start : start + batch]
        padded = tokenizer.pad({"input_ids": [ids[row] for row in rows]}, return_tensors="pt").to(model.device)
        with torch.inference_mode(), quiet():
            output = model.generate(
                input_ids=padded["input_ids"],
                attention_mask=padded["attention_mask"],
                num_beams=beams,
                do_sample=False,
                max_length=None,
                max_new_tokens=query_length,
            )
        for row, text in zip(rows, tokenizer.batch_decode(output, skip_special_tokens=True), strict=True):
            generated[row] = " ".join(text.split())
    return generated


def mark_language(generator: Generator, code: str) -> None:
    """Sets the language of a model's texts: the mark in tokenised texts, and the token that generation begins with.

    mBART (cc25) puts the mark behind a text and begins to write after it; mBART-50 puts it before a text, and writes it
    first. The tokens of a text show which of the two a tokenizer does. Raises SteleError for an unknown language.
    """
    model, tokenizer = generator
    if not hasattr(tokenizer, "src_lang") or (mark := tokenizer.convert_tokens_to_ids(code)) == tokenizer.unk_token_id:
        raise SteleError(f"language_code {code}: the tokenizer ({type(tokenizer).__name__}) has no such language")
    tokenizer.src_lang = tokenizer.tgt_lang = code
    leads = tokenizer(text_target="a")["input_ids"][0] == mark
    model.generation_config.decoder_start_token_id = tokenizer.eos_token_id if leads else mark
    model.generation_config.forced_bos_token_id = mark if leads else None
