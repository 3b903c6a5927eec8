"""What tables must know beside the results, handed from the plan to rule `context`.

As a file: at the papers' sizes it is tens of kilobytes, which would stand in a command line, and so in what Snakemake
prints of the job and records of it. The rule is local: the process that plans it is the one that runs it. Its param is
a digest: where that stays, nothing reruns.
"""

from __future__ import annotations

from stele.files.atomic import atomic_file
from stele.files.digests import digest
from stele.plan.params import as_json
from stele.plan.plan import Plan

RULE = "context"


def context_file(plan: Plan) -> str:
    """Where rule `context` finds what it copies."""
    return plan.paths.state("context.json")


def _text(plan: Plan) -> str:
    return as_json(plan.requested.context()) + "\n"


def context_digest(plan: Plan) -> str:
    """A digest of the plan's table context."""
    return digest(_text(plan))


def write(plan: Plan) -> None:
    """Writes the plan's table context; called before the first job, where rule `context` is to run."""
    with atomic_file(context_file(plan)) as handle:
        handle.write(_text(plan))
