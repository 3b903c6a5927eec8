"""ICT, the inverse cloze task: a sentence and the block it was taken from (Lee et al. 2019, section 4).

It follows google-research/language (orqa: wiki_preprocessor.generate_sentences, ict_dataset.get_retrieval_examples):
whole consecutive sentences are packed into blocks of at most 288 tokens; one random sentence of a block is the query,
cut to 64 tokens, and is removed from its block in nine of ten cases (mask_rate). An example is (query, block).

There are three differences. No title precedes the block, because web text has none; its tokens go to the text. The
original code draws a new sentence in every pass; here `queries_per_block` different sentences are drawn once. The
original code keeps a block of a single sentence when that sentence happens not to be removed; here such blocks are
always dropped and counted, because query and block would be the same text.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from stele.pairs.mining.segments import Tokens, pack
from stele.recipes.mining import SPECIAL, IctRecipe


def examples(
    tokens: Tokens, recipe: IctRecipe, rng: Callable[[], np.random.Generator], counts: Counter[str]
) -> Iterator[list[np.ndarray]]:
    """Yields one document's [query, block], in the order of the blocks; counts dropped blocks and cut queries."""
    draw = None
    sentences = tokens.sentences()
    for begin, end in pairwise(pack(tokens.lengths.tolist(), recipe.block_tokens - SPECIAL)):
        if end - begin < 2:
            counts["dropped_single_sentence_blocks" if end > begin else "dropped_short_documents"] += 1
            continue
        draw = draw or rng()
        block = sentences[begin:end]
        for chosen in draw.permutation(len(block))[: recipe.queries_per_block].tolist():
            removed = draw.random() < recipe.removal
            counts["queries_removed"] += removed
            rest = block[:chosen] + block[chosen + 1 :] if removed else block
            query = block[chosen]
            counts["queries_cut"] += len(query) > recipe.query_tokens - SPECIAL
            yield [query[: recipe.query_tokens - SPECIAL], np.concatenate(rest)]
