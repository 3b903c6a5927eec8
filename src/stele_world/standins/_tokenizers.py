"""Tokenizers of the three families, with the special tokens and ids of their originals, trained on generated text.

All pieces come from one byte-pair-encoding trainer, because its result is the same in every run; the trainers for
Unigram and WordPiece of the same library are not. XLM-R's Unigram model gets the pieces with the logarithm of their
frequency as score, BERT's WordPiece model gets the pieces that begin a word as they are and the others with `##`.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from stele.errors import SteleError
from stele.recipes.standin import Tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

LONGEST = 16  # characters of a piece; SentencePiece's default
START = "▁"  # how SentencePiece writes the space before a word
MAX_LENGTH = 512


def make_tokenizer(recipe: Tokenizer, texts: Sequence[str]) -> PreTrainedTokenizerBase:
    """A fast tokenizer of `recipe.size` tokens at most."""
    if recipe.lowercase:
        texts = _uncased(texts)
    made_by = {"sentencepiece": _xlmr, "wordpiece": _bert, "byte": _roberta, "mbart": _mbart, "mbart50": _mbart50}
    made_by["ending"] = _ending
    return made_by[recipe.kind](recipe, texts)


def _uncased(texts: Sequence[str]) -> list[str]:
    """Texts as an uncased BERT reads them: in lower case, without accents and vowel signs, Hangul taken apart."""
    from tokenizers.normalizers import BertNormalizer

    normalizer = BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=True)
    return [normalizer.normalize_str(text) for text in texts]


def _xlmr(recipe: Tokenizer, texts: Sequence[str]) -> PreTrainedTokenizerBase:
    """<s> 0, <pad> 1, </s> 2, <unk> 3, then pieces, <mask> last, as XLM-R has them."""
    from transformers import XLMRobertaTokenizer

    return XLMRobertaTokenizer(vocab=_unigrams(recipe, texts, []), model_max_length=MAX_LENGTH)


def _mbart(recipe: Tokenizer, texts: Sequence[str]) -> PreTrainedTokenizerBase:
    """As XLM-R's; mBART's 25 languages before <mask>."""
    from transformers.models.mbart.tokenization_mbart import FAIRSEQ_LANGUAGE_CODES, MBartTokenizer

    return MBartTokenizer(vocab=_unigrams(recipe, texts, FAIRSEQ_LANGUAGE_CODES), model_max_length=MAX_LENGTH)


def _mbart50(recipe: Tokenizer, texts: Sequence[str]) -> PreTrainedTokenizerBase:
    """As XLM-R's; mBART-50's 52 languages before <mask>."""
    from transformers.models.mbart50.tokenization_mbart50 import FAIRSEQ_LANGUAGE_CODES, MBart50Tokenizer

    return MBart50Tokenizer(vocab=_unigrams(recipe, texts, FAIRSEQ_LANGUAGE_CODES), model_max_length=MAX_LENGTH)


def _unigrams(recipe: Tokenizer, texts: Sequence[str], marks: Sequence[str]) -> list[tuple[str, float]]:
    """A Unigram model's tokens with their scores: special ones, pieces, marks of languages, <mask>."""
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    pieces = _pieces(texts, recipe.size - len(special) - len(marks) - 1)
    whole = sum(pieces.values())
    scored = [(piece, math.log((count + 0.5) / whole)) for piece, count in pieces.items()]
    return [*((token, 0.0) for token in special), *scored, *((mark, 0.0) for mark in marks), ("<mask>", 0.0)]


def _bert(recipe: Tokenizer, texts: Sequence[str]) -> PreTrainedTokenizerBase:
    """[PAD] 0, [UNK], [CLS], [SEP], [MASK], then pieces that begin a word, then those within."""
    from transformers import BertTokenizer

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = [p for p in _pieces(texts, recipe.size - len(special)) if p != START]
    begin = [p.removeprefix(START) for p in pieces if p.startswith(START) or len(p) == 1]
    inside = [f"##{p}" for p in pieces if not p.startswith(START)]
    room = recipe.size - len(special)
    # single characters must stay; of longer pieces the trainer's first ones are the most frequent
    ordered = sorted(dict.fromkeys([*begin, *inside]), key=lambda p: len(p.removeprefix("##")) > 1)[:room]
    vocabulary = {token: i for i, token in enumerate([*special, *ordered])}
    return BertTokenizer(vocab=vocabulary, do_lower_case=recipe.lowercase, model_max_length=MAX_LENGTH)


def _roberta(recipe: Tokenizer, texts: Sequence[str]) -> PreTrainedTokenizerBase:
    """<s> 0, <pad> 1, </s> 2, <unk> 3, then bytes and merged bytes, <mask> last, as RoBERTa has them."""
    from tokenizers import pre_tokenizers
    from transformers import RobertaTokenizer

    special = ["<s>", "<pad>", "</s>", "<unk>"]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    if recipe.size < len(special) + len(alphabet) + 1:
        raise SteleError(f"tokenizer: size: {recipe.size} is too small for all bytes ({len(alphabet)})")
    trained = _train(texts, recipe.size - 1, pre_tokenizers.ByteLevel(), special, alphabet)
    vocabulary = {**trained["vocab"], "<mask>": len(trained["vocab"])}
    merges = [tuple(merge) for merge in trained["merges"]]
    return RobertaTokenizer(vocab=vocabulary, merges=merges, model_max_length=MAX_LENGTH)


def _ending(recipe: Tokenizer, texts: Sequence[str]) -> PreTrainedTokenizerBase:
    """<pad> 0, <eos> 1, <unk> 2, then bytes and merged bytes; a text ends in <eos>, and padding is on the left."""
    from tokenizers import AddedToken, decoders, models, pre_tokenizers, processors
    from tokenizers import Tokenizer as Fast
    from transformers import PreTrainedTokenizerFast

    special, bytes_of = ["<pad>", "<eos>", "<unk>"], pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    if recipe.size < len(special) + len(alphabet):
        raise SteleError(f"tokenizer: size: {recipe.size} is too small for all bytes ({len(alphabet)})")
    trained = _train(texts, recipe.size, bytes_of, special, alphabet)
    tokenizer = Fast(models.BPE(trained["vocab"], [tuple(merge) for merge in trained["merges"]], unk_token="<unk>"))
    tokenizer.pre_tokenizer, tokenizer.decoder = bytes_of, decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in special])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A <eos>", pair="$A $B <eos>", special_tokens=[("<eos>", 1)]
    )
    named = {"pad_token": "<pad>", "eos_token": "<eos>", "unk_token": "<unk>", "padding_side": "left"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=MAX_LENGTH, **named)


def _pieces(texts: Sequence[str], size: int) -> dict[str, int]:
    """At most `size` pieces, single characters first, then in order of their making: piece -> how often it occurs."""
    from tokenizers import Tokenizer, pre_tokenizers

    splitter = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(START), pre_tokenizers.Punctuation()]
    )
    trained = _train(texts, size, splitter, [], [START])
    model = Tokenizer.from_str(json.dumps({"version": "1.0", "added_tokens": [], "model": {"type": "BPE", **trained}}))
    model.pre_tokenizer = splitter
    counts = Counter(token for encoded in model.encode_batch(list(texts)) for token in encoded.tokens)
    return {piece: counts[piece] for piece in sorted(trained["vocab"], key=trained["vocab"].get)}


def _train(texts: Sequence[str], size: int, splitter, special: list[str], alphabet: Iterable[str]) -> dict:
    """Byte-pair encoding: {"vocab": piece -> id, "merges": pairs}."""
    from tokenizers import Tokenizer, models, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = splitter
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=special,
        initial_alphabet=list(alphabet),
        max_token_length=LONGEST,
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return {"vocab": model["vocab"], "merges": model["merges"]}
