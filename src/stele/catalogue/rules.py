"""What is true of a rule of the workflow, once: the entries of rules.yaml."""

from __future__ import annotations

from stele.catalogue import entries
from stele.catalogue.schema.rules import RuleFacts


def facts(rule: str) -> RuleFacts:
    """The facts of a rule; of one without an entry, those of a short job.

    >>> facts("encode_pairs").gpus, facts("average").gpus
    (1, None)
    """
    return entries(RuleFacts).get(rule, RuleFacts())


def on_gpus(parallel: bool | None = None) -> list[str]:
    """The rules that train or encode; those that several processes can share, or those that they cannot.

    >>> on_gpus(parallel=False)  # doctest: +NORMALIZE_WHITESPACE
    ['calibrate', 'finetune_generator', 'generate_queries', 'encode_pairs', 'rerank', 'answer', 'project']
    """
    found = {rule: known for rule, known in entries(RuleFacts).items() if known.gpus}
    return [rule for rule, known in found.items() if parallel is None or known.parallel == parallel]
