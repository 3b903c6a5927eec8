"""The tokenizer probe: the ids of a fixed text in many scripts, saved with an encoder and compared when it is loaded.

A tokenizer can change without its files changing: a new library version that lower-cases, drops accents or treats a
script differently lowers retrieval figures silently (MRR@100 of .1547 fell to .1256 in one published case, Mr. TyDi
Swahili). The probe makes that an error.
"""

from __future__ import annotations

from pathlib import Path

from stele.errors import SteleError
from stele.files.atomic import atomic_write_json
from stele.files.reading import read_object, reading

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


def tokenizer_probe(tokenizer) -> dict[str, list[list[int]]]:
    """The ids of every probe text with special tokens, and of the first two texts as a pair."""
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    texts = [*PROBE_TEXTS, (PROBE_TEXTS[0], PROBE_TEXTS[1])]
    return {"ids": [encoding.ids for encoding in backend.encode_batch(texts, add_special_tokens=True)]}


def write_probe(folder: Path, tokenizer) -> None:
    atomic_write_json(Path(folder) / PROBE_FILE, tokenizer_probe(tokenizer))


def check_probe(folder: Path, tokenizer) -> None:
    """Compares a tokenizer with the probe saved in `folder`; a difference is an error, a missing probe is not."""
    path = Path(folder) / PROBE_FILE
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
        f"{folder}: its tokenizer no longer gives the ids it gave in training: {text!r} was {saved[row]}, "
        f"is {now[row]}; use the tokenizer files and the versions of transformers and tokenizers that the folder's "
        f"record.json names"
    )
