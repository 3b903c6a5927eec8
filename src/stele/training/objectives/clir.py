"""The CLIR language model: query language modelling and relevance ranking (Yu et al. 2021, section 4).

A group is `pairs` pairs of matched sections of one language pair, packed as `[CLS] query [SEP] document [SEP]` for one
of two tasks, each a file of its own beside this one. In each pass a pair has a new query: a sentence of one section,
which section by a coin; the other one is the document. A round has a group of every language pair for the first task,
in an order drawn for the round, then for the next.
"""

from __future__ import annotations

from stele.training.objectives import _clir_qlm, _clir_rr

TASKS = {"rr": _clir_rr, "qlm": _clir_qlm}
