"""A tokenizer whose ids can be read off the text, and texts of known lengths."""

from itertools import pairwise

import numpy as np

from stele.artifacts import records
from stele.files.digests import files_digest

FIRST = 5  # the id of w0
WORDS = 3000
THAI = [chr(c) for c in range(0x0E01, 0x0E2F)]
EMPTY = "☆"  # the normaliser takes it away


def new_tokenizer():
    """Like XLM-R's in its special tokens; "w7" is one token, 7 + FIRST, and so is every Thai letter."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    names = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *(f"w{i}" for i in range(WORDS)), *THAI]
    made = Tokenizer(models.WordLevel({name: i for i, name in enumerate(names)}, unk_token="<unk>"))
    made.normalizer = normalizers.Replace(EMPTY, "")
    letters = pre_tokenizers.Split(Regex("[\u0e01-\u0e2f]"), "isolated")
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), letters])
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    special = dict(bos_token="<s>", cls_token="<s>", eos_token="</s>", sep_token="</s>", pad_token="<pad>")
    return PreTrainedTokenizerFast(tokenizer_object=made, unk_token="<unk>", mask_token="<mask>", **special)


def record(folder, **facts):
    path = folder / "record.json"
    records.write_record(path, job="made", inputs={}, content=files_digest(folder), **facts)
    return path


def text_of(lengths, start=0):
    """Sentences of such lengths in words, all words of a document different."""
    bounds = np.cumsum([start, *lengths]).tolist()
    return [" ".join(f"w{i}" for i in range(a, b)) for a, b in pairwise(bounds)]


def ids(text):
    return [int(word[1:]) + FIRST for word in text.split()]


def random_documents(count, seed=1, most=40, longest=12):
    """(doc_id, sentences) pairs; a word is used once in a document."""
    rng = np.random.default_rng(seed)
    return [
        (f"d{i}", text_of(rng.integers(1, longest, rng.integers(1, most)), int(rng.integers(0, 2000))))
        for i in range(count)
    ]
