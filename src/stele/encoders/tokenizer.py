"""Loading the tokenizer of a transformers folder, and the probe that detects a changed tokenizer.

The probe is the ids of fixed texts in many scripts, saved with an encoder and compared when it is loaded. A tokenizer
can change without its files changing: a new library version that lower-cases, drops accents or treats a script
differently lowers retrieval figures silently (MRR@100 of .1547 fell to .1256 in one published case, Mr. TyDi Swahili).
The probe makes that an error.

This module is separate from the backbone, so that jobs that only tokenise (mining) do not depend on model code.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stele.errors import SteleError
from stele.files.atomic import atomic_write_json
from stele.files.reading import JsonObject, read_object, reading

PROBE_FILE = "probe.json"
PROBE_TEXTS = (
    "Uganda's capital Kampala, 1962: naïve café ŁÓDŹ İstanbul ß ﬁ",
    "Кто написал «Войну и мир»? Ёлка",
    "ما هي عاصمة أوغندا؟ القاهِرة",
    "ঢাকা বাংলাদেশের রাজধানী কেন?",
    "क्षेत्रफल हिन्दी में ज़्यादा",
    "తెలంగాణ రాజధాని హైదరాబాద్",
    "இந்தியாவின் தலைநகரம்",
    "กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย",
    "日本の首都は東京です。カタカナ",
    "대한민국의 수도는 서울이다",
    "Ποια είναι η πρωτεύουσα; Ἀθῆναι",
    "中华人民共和国的首都是北京",
    "  two  spaces\tand a\nnewline \U0001f600 [MASK] </s>",
)


def load_tokenizer(folder: Path):
    """Loads the fast tokenizer of a folder; it pads on the right.

    The DPR tokenizer classes are never used: they lower-case whatever the tokenizer's files say. Raises SteleError for
    a slow tokenizer, one of special tokens alone or without a padding token, and one that does not add the end token
    that its settings ask for.
    """
    from transformers import AutoTokenizer, BertTokenizer

    stated = str(read_json(folder / "tokenizer_config.json").get("tokenizer_class", ""))
    dpr = stated.startswith("DPR") or read_json(folder / "config.json").get("model_type") == "dpr"
    with reading(folder, "tokenizer", "want tokenizer.json"), quiet():
        tokenizer = (BertTokenizer if dpr else AutoTokenizer).from_pretrained(folder, local_files_only=True)
    name = type(tokenizer).__name__
    if name.startswith("DPR") or not getattr(tokenizer, "is_fast", False):
        raise SteleError(
            f"{folder}: found tokenizer class {name}, want a fast one (tokenizer.json); "
            "save it once with AutoTokenizer and give that folder"
        )
    if len(tokenizer) <= len({*tokenizer.all_special_ids}):  # transformers makes one where the vocabulary is missing
        raise SteleError(f"{folder}: its tokenizer has only special tokens, no vocabulary; want tokenizer.json")
    if tokenizer.pad_token_id is None:
        raise SteleError(f"{folder}: its tokenizer has no padding token; use that of an encoder")
    _check_end_token(folder, tokenizer)
    tokenizer.padding_side = "right"  # for all models: those that read from left to right give the same vectors
    return tokenizer


def _check_end_token(folder: Path, tokenizer) -> None:
    """Raises SteleError if `add_eos_token` has no effect, since transformers 5 reads only tokenizer.json."""
    if not read_json(folder / "tokenizer_config.json").get("add_eos_token"):
        return
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    if backend.encode("a").ids[-1] != tokenizer.eos_token_id:
        raise SteleError(
            f"{folder}: tokenizer_config.json sets add_eos_token, but tokenizer.json's post-processor adds none; "
            "add it there (a TemplateProcessing), since the vector of a text is that of its end token"
        )


@contextmanager
def quiet() -> Iterator[None]:
    """Silences the load reports and progress bars of transformers; their problems are checked here and raised."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def read_config(folder: Path) -> Any:
    """Reads the configuration of the model in a folder, by its family's class of transformers."""
    from transformers import AutoConfig

    with reading(folder / "config.json", "configuration of a model", "want a model folder"), quiet():
        return AutoConfig.from_pretrained(folder, local_files_only=True)


def read_json(path: Path) -> JsonObject:
    """Reads a JSON object from a file; returns {} if there is no such file."""
    return read_object(path, advice="get the folder again") if path.exists() else {}


def tokenizer_probe(tokenizer) -> dict[str, list[list[int]]]:
    """Token ids of every probe text with special tokens, and of the first two texts as a pair."""
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    texts = [*PROBE_TEXTS, (PROBE_TEXTS[0], PROBE_TEXTS[1])]
    return {"ids": [encoding.ids for encoding in backend.encode_batch(texts, add_special_tokens=True)]}


def write_probe(folder: Path, tokenizer) -> None:
    atomic_write_json(folder / PROBE_FILE, tokenizer_probe(tokenizer))


def check_probe(folder: Path, tokenizer) -> None:
    """Raises SteleError if a tokenizer differs from the probe saved in `folder`; a missing probe is no error."""
    path = folder / PROBE_FILE
    if not path.exists():
        return
    with reading(path, "tokenizer probe", "make the encoder again"):
        saved = read_object(path)["ids"]
    now = tokenizer_probe(tokenizer)["ids"]
    if saved == now:
        return
    row = next((i for i, pair in enumerate(zip(saved, now, strict=False)) if pair[0] != pair[1]), 0)
    text = PROBE_TEXTS[row] if row < len(PROBE_TEXTS) else "a pair of texts"
    raise SteleError(
        f"{folder}: its tokenizer no longer gives the ids of its training: {text!r} had {saved[row]}, now "
        f"{now[row]}; use the tokenizer files and the versions of transformers and tokenizers that the folder's "
        "record.json names"
    )
