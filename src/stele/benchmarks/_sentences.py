"""Sentence boundaries in English prose, by rules: enough for SQuAD's paragraphs."""

from __future__ import annotations

import itertools
import re

# a full stop, question or exclamation mark, closing quotes and brackets, footnote marks such as [12] or [note 1];
# then white space before a capital, a digit or an opening quote or bracket
_END = re.compile(r"""[.?!]["'”’)\]]*(?:\[[\w ?]+\])*\s+(?=["'“‘(\[]*[A-Z0-9])""")
# what a full stop that ends no sentence stands behind: the last letters before it alone are looked at
_ABBREVIATION = re.compile(
    r"""\b(?:Mrs?|Ms|Dr|Prof|Fr|Rev|Msgr|Sta?|Lt|Gen|Col|Maj|Adm|Capt|Sgt|Rep|Gov|Sen|Pres|Hon|Jr|Sr
        |e\.g|i\.e|etc|vs?|pp?|cf|ca?|approx|[Nn]o|[Vv]ol|[Aa]rt|[Ss]ec|Ft|Mt|Jan|Feb|Aug|Sept?|Oct|Nov|Dec
        |[A-Z])\Z""",
    re.VERBOSE,
)
_LONGEST = len("approx") + 1  # with the character before it


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Spans (start, end) of the sentences of `text`, without the white space around them.

    >>> [("Dr. A. Smith came. He left!")[a:b] for a, b in sentence_spans("Dr. A. Smith came. He left!")]
    ['Dr. A. Smith came.', 'He left!']
    """
    cuts = [0]
    for match in _END.finditer(text):
        stop = match.start()
        bare = text[stop] == "." and text[stop + 1].isspace()
        if not (bare and _ABBREVIATION.search(text[max(cuts[-1], stop - _LONGEST) : stop])):
            cuts.append(match.end())
    cuts.append(len(text))
    spans = []
    for start, end in itertools.pairwise(cuts):
        piece = text[start:end]
        inner = piece.strip()
        if inner:
            first = start + piece.index(inner[0])
            spans.append((first, first + len(inner)))
    return spans
