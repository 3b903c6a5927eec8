"""The sequences of sentence vectors that MSM reads: documents cut into pieces of a few units each, two readings of it.

sentences  the paper (section 4.2), and the default, because results are compared with the paper's: a unit is a sentence
           of at most 64 words, longer ones cut; a document has at most 32, longer ones are split into pieces. The
           encoder reads at most `sentence_tokens` sub-word tokens of one, as in the released code; since a word has at
           least one token, this limit, not that of the words, decides. Raise it (and the objective's sentence_length)
           for 64 words whole. Scripts without spaces have no words to count: a stretch without white space is one word
           there, so tokens alone cut their sentences.
blocks     the released code (token_block_utils_fast.pyx, _get_slice_indices_fast2, mode doc_block, called by
           tasks/msm.py with 64 tokens, 32 blocks, at least 32): whole consecutive sentences are packed as long as they
           fit into 64 tokens, counting <s> and the </s> that ends every sentence; a longer sentence is a block of its
           own and cut; a piece has exactly 32 blocks, a tail with fewer is dropped. The boundaries here are that
           code's. The </s> between the sentences of a block are counted, as there, but not stored: stores hold no
           special tokens. (A cut sentence has one token fewer here: training ends every sequence with </s>, that code
           cuts it off.)

A piece with a single unit has no negative of its own (equation 1), so `sentences_min` is at least 2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from stele.pairs.mining.tokens import Tokens, pack
from stele.recipes.mining import SPECIAL, UnitRecipe


def pieces(tokens: Tokens, recipe: UnitRecipe, counts: Counter[str]) -> Iterator[list[np.ndarray]]:
    """The pieces of one document, in order: lists of units, each of them uint32 [tokens].

    Counts units cut by tokens, tails dropped for being too short, and documents of which nothing is left.
    """
    most = (recipe.sentence_tokens if recipe.unit == "sentences" else recipe.block_tokens) - SPECIAL
    if not len(tokens.lengths):
        counts["dropped_short_documents"] += 1
        return
    if recipe.unit == "sentences":
        units = tokens.sentences()
    else:
        units = tokens.spans(pack(tokens.lengths.tolist(), most, separator=1))
    counts["units_cut_by_tokens"] += sum(len(unit) > most for unit in units)
    units = [unit[:most] for unit in units]
    made = [units[begin : begin + recipe.sentences] for begin in range(0, len(units), recipe.sentences)]
    if len(made[-1]) < recipe.least:
        made.pop()
        counts["dropped_short_tails" if made else "dropped_short_documents"] += 1
    yield from made
