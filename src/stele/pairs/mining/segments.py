"""The segments that mining methods use: sentences, passages and pieces of a document, measured in words or tokens.

A passage consists of whole sentences of one section, up to a number of words. White space separates words. In scripts
that do not separate words (Chinese characters, kana, Thai, Lao, Khmer, Burmese, Tibetan) two letters count as a word,
which is about what the dictionaries of Chinese, Japanese and Thai segmenters give. Documents are tokenised thousands of
sentences at a time; one batch bounds the memory.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from stele.files.digests import text_number
from stele.recipes.mining import SPECIAL, UnitRecipe

# letters only: vowel signs, tone marks and punctuation of these scripts do not count
_UNSPACED = re.compile(
    "[\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6\u0edc-\u0edf\u0f40-\u0f6c"
    "\u1000-\u102a\u103f\u1780-\u17b3\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff]"
)
_LETTERS_A_WORD = 2
# no space follows these; Chinese punctuation that other scripts use, too, may follow them at the end
_ENDS_WIDE = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff9f][”’…—]*$")


def words(text: str) -> int:
    """Number of words of a text whose only white space is single spaces between other characters.

    >>> words("The Rhône rises here."), words("東京は日本の首都"), words("東京 Tower")
    (4, 4, 2)
    """
    if text.isascii():
        return text.count(" ") + 1
    others, letters = _UNSPACED.subn(" ", text)
    if not letters:
        return text.count(" ") + 1
    return -(-letters // _LETTERS_A_WORD) + sum(any(map(str.isalnum, piece)) for piece in others.split())


def join(sentences: Sequence[str]) -> str:
    """Joins sentences to one text: with a space between two sentences, but none after a full-width character.

    >>> join(["One.", "Two."]), join(["一。", "二。"])
    ('One. Two.', '一。二。')
    """
    if len(sentences) == 1 or all(map(str.isascii, sentences)):
        return " ".join(sentences)
    spaced = [sentence if _ENDS_WIDE.search(sentence) else sentence + " " for sentence in sentences[:-1]]
    return "".join([*spaced, sentences[-1]])


def passages(sentences: Sequence[str], sections: Sequence[int], limit: int) -> list[int]:
    """Packs sentences into passages. Returns the first sentence of each passage and, last, the number of sentences.

    A passage has whole sentences of one section (`sections`: first sentences of the sections) and at most `limit` words
    in all; a sentence with more words is a passage of its own.

    >>> passages(["a b", "c", "d e f g h", "i", "j"], [4], limit=4)
    [0, 2, 3, 4, 5]
    """
    lengths = [words(sentence) for sentence in sentences]
    starts = sorted({0, *sections, len(lengths)})
    begins = [0]
    for begin, end in pairwise(starts):
        begins += [begin + bound for bound in pack(lengths[begin:end], limit)[1:]]
    return begins


class Page:
    """The sentences and passages of one page; passages are built on demand.

    `seed` belongs to the page: it seeds all random draws from the page.
    """

    def __init__(self, sentences: Sequence[str], sections: Sequence[int], limit: int, seed: Sequence[int] = ()) -> None:
        self.sentences, self.sections, self.limit, self.seed = sentences, sections, limit, tuple(seed)
        self._texts: dict[int, str] = {}

    @cached_property
    def bounds(self) -> list[int]:
        return passages(self.sentences, self.sections, self.limit)

    @property
    def size(self) -> int:
        """Number of the page's passages."""
        return len(self.bounds) - 1

    def passage(self, number: int) -> str | None:
        """Text of a passage, counted from 0; None if the page has fewer passages."""
        if number >= self.size:
            return None
        if number not in self._texts:
            self._texts[number] = join(self.sentences[self.bounds[number] : self.bounds[number + 1]])
        return self._texts[number]

    def passage_of(self, sentence: int) -> str:
        """Text of the passage that contains a sentence."""
        return self.passage(bisect_right(self.bounds, sentence) - 1)

    @cached_property
    def shuffled(self) -> list[int]:
        """Numbers of the page's passages in an order drawn with the page's seed."""
        return np.random.default_rng(self.seed).permutation(self.size).tolist()


BATCH_SENTENCES = 8192
BATCH_CHARACTERS = 1 << 20

Encode = Callable[[Sequence[str]], tuple[np.ndarray, np.ndarray]]


class Tokens(NamedTuple):
    """The tokens of one document's sentences, concatenated, without special tokens and without empty sentences.

    ids      uint32 [sum of lengths]
    lengths  int64 [n], each at least 1
    """

    ids: np.ndarray
    lengths: np.ndarray

    def spans(self, bounds: Sequence[int] | np.ndarray) -> list[np.ndarray]:
        """Ids of the sentences [bounds[0], bounds[1]), [bounds[1], bounds[2]) ...: one array uint32 for each range."""
        offsets = np.concatenate([[0], np.cumsum(self.lengths)])[np.asarray(bounds)].tolist()
        return [self.ids[begin:end] for begin, end in pairwise(offsets)]

    def sentences(self) -> list[np.ndarray]:
        return self.spans(np.arange(len(self.lengths) + 1))


def encoder(tokenizer) -> Encode:
    """Makes a function texts -> (flat ids uint32, lengths int64 [n]) of a fast tokenizer; it adds and cuts nothing."""
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()

    def encode(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        encoded = backend.encode_batch_fast(list(texts), add_special_tokens=False)
        lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
        ids = np.fromiter(chain.from_iterable(e.ids for e in encoded), np.uint32, int(lengths.sum()))
        return ids, lengths

    return encode


def tokenised(
    documents: Iterable[tuple[str, list[str]]],
    encode: Encode,
    text: Callable[[str], str],
    counts: Counter[str],
    batch_sentences: int = BATCH_SENTENCES,
) -> Iterator[tuple[str, Tokens]]:
    """Yields (doc_id, Tokens) for every document in order, even for a document without any tokens.

    `text` returns the text of a sentence to tokenise. Sentences that it cuts, and those without tokens, are counted.
    """
    for batch in _batches(documents, batch_sentences):
        texts = [text(sentence) for _, sentences in batch for sentence in sentences]
        whole = chain.from_iterable(sentences for _, sentences in batch)
        counts["sentences_cut_by_words"] += sum(a is not b for a, b in zip(texts, whole, strict=True))
        ids, lengths = encode(texts)
        counts["dropped_empty_sentences"] += int((lengths == 0).sum())
        begin = first = 0
        for doc_id, sentences in batch:
            of_document = lengths[first : first + len(sentences)]
            end = begin + int(of_document.sum())
            yield doc_id, Tokens(ids[begin:end], of_document[of_document > 0])
            begin, first = end, first + len(sentences)


def _batches(documents: Iterable[tuple[str, list[str]]], most: int) -> Iterator[list]:
    """Batches consecutive documents until they have `most` sentences or BATCH_CHARACTERS characters in all."""
    batch: list[tuple[str, list[str]]] = []
    sentences = size = 0
    for document in documents:
        batch.append(document)
        sentences += len(document[1])
        size += sum(map(len, document[1]))
        if sentences >= most or size >= BATCH_CHARACTERS:
            yield batch
            batch, sentences, size = [], 0, 0
    if batch:
        yield batch


def pack(lengths: Sequence[int], limit: int, separator: int = 0) -> list[int]:
    """Packs whole sentences into blocks. Returns the first sentence of each block and, last, the number of sentences.

    A sentence joins the block before it if the block stays within `limit` tokens, with `separator` tokens between two
    sentences; a sentence longer than the limit is a block of its own.

    >>> pack([3, 2, 4, 9, 1, 1], limit=6)
    [0, 2, 3, 4, 6]
    """
    bounds, size = [0], 0
    for index, length in enumerate(lengths):
        if index == bounds[-1]:
            size = length
        elif size + separator + length <= limit:
            size += separator + length
        else:
            bounds.append(index)
            size = length
    return [*bounds, len(lengths)]


def generator(seed: int, method: str, language: str, doc_id: str) -> np.random.Generator:
    """Makes one document's random generator, which no other document, no batch and no shard influences."""
    return np.random.default_rng([seed, text_number("\0".join((method, language, doc_id)))])


def pieces(tokens: Tokens, recipe: UnitRecipe, counts: Counter[str]) -> Iterator[list[np.ndarray]]:
    """Yields the pieces of one document in order; a piece is a list of units, each uint32 [tokens].

    MSM reads sequences of sentence vectors: a document is cut into pieces of a few units. A unit has two definitions:

    sentences  the paper (section 4.2), and the default, because results are compared with the paper's: a unit is a
               sentence, cut to at most 64 words; a document has at most 32 of them, longer documents are split into
               pieces. The encoder reads at most `sentence_tokens` sub-word tokens of a unit, as in the released code;
               since a word has at least one token, this limit, not that of the words, decides. Raise it (and the
               objective's sentence_length) to keep 64 whole words. In scripts without spaces, text without white space
               counts as one word, so only the limit of tokens cuts their sentences.
    blocks     the released code (token_block_utils_fast.pyx, _get_slice_indices_fast2, mode doc_block, called by
               tasks/msm.py with 64 tokens, 32 blocks, at least 32): whole consecutive sentences are packed as long as
               they fit into 64 tokens, counting <s> and the </s> that ends every sentence; a longer sentence is a block
               of its own and cut; a piece has exactly 32 blocks, a tail with fewer is dropped. The boundaries here are
               that code's. As there, the </s> between a block's sentences are counted, but they are not stored: stores
               hold no special tokens. (A cut sentence has one token fewer here: training ends each sequence with </s>,
               the released code cuts it off.)

    A piece with a single unit has no negative of its own (equation 1), so `sentences_min` is at least 2.

    In `counts` go units cut by tokens, tails dropped because they are too short, and documents without a piece.
    """
    most = recipe.unit_tokens - SPECIAL
    if not len(tokens.lengths):
        counts["dropped_short_documents"] += 1
        return
    if recipe.unit == "sentences":
        units = tokens.sentences()
    else:
        units = tokens.spans(pack(tokens.lengths.tolist(), most, separator=1))
    counts["units_cut_by_tokens"] += sum(len(unit) > most for unit in units)
    units = [unit[:most] for unit in units]
    chunks = [units[begin : begin + recipe.sentences] for begin in range(0, len(units), recipe.sentences)]
    if len(chunks[-1]) < recipe.least:
        chunks.pop()
        counts["dropped_short_tails" if chunks else "dropped_short_documents"] += 1
    yield from chunks
