"""What is true of a rule of the workflow, once: the entries of rules.yaml, typed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from stele import catalogue
from stele.errors import SteleError, nearest
from stele.files.strict import Strict, said

FILE = "catalogue/rules.yaml"
Whole = Annotated[int, Field(ge=0)]


class Growing(Strict):
    """A size that grows with what a job reads: `base`, and `per_mb` for each MB of dump."""

    base: Whole
    per_mb: Annotated[float, Field(gt=0)]


Size = Whole | Growing


class RuleFacts(Strict):
    """One rule. Sizes are of a job's first attempt, on each of its nodes; None: the profile's default.

    gpus        GPUs at the papers' sizes where cluster.yaml names none, one process each; None: it never uses one
    parallel    whether several processes can share a job, on several nodes too; otherwise it uses one GPU at most
    mem_mb      memory in MB, and `each_mb` more for each process
    minutes     the time limit; "estimated": from the cost formula
    disk_mb     disk space in MB; "estimated": from the cost formula
    threads     CPU threads of each process; "scale": as many as the scale says
    cost        the formula of its cost, a function of stele/cost as MODULE.FUNCTION; None: a job that only starts
    trains      whether the formula also counts operations at a generated scale
    miniature_seconds   CPU seconds of a job in the miniature (measured); None: as other short jobs
    """

    gpus: Annotated[int, Field(ge=1)] | None = None
    parallel: bool = False
    mem_mb: Size | None = None
    each_mb: Whole = 0
    minutes: Size | Literal["estimated"] | None = None
    disk_mb: Size | Literal["estimated"] | None = None
    threads: Literal[1, "scale"] = 1
    cost: Annotated[str, Field(pattern=r"^\w+\.\w+$")] | None = None
    trains: bool = False
    miniature_seconds: Annotated[float, Field(ge=0)] | None = None


@cache
def all_facts() -> Mapping[str, RuleFacts]:
    """Rule -> its facts, of all rules with an entry."""
    return MappingProxyType({rule: _parse(rule, entry) for rule, entry in catalogue.load("rules").items()})


def _parse(rule: str, entry: object) -> RuleFacts:
    try:
        return RuleFacts.model_validate(entry)
    except ValidationError as error:
        raise SteleError("\n".join(_explain(rule, found) for found in error.errors())) from None


def _explain(rule: str, found: dict) -> str:
    """One line: the file, the key, what is wrong with it."""
    key = ".".join([rule, *map(str, found["loc"])])
    if found["type"] != "extra_forbidden":
        return f"{FILE}: {key}: {said(found)}"
    valid = (RuleFacts if len(found["loc"]) == 1 else Growing).model_fields
    close = nearest(str(found["loc"][-1]), valid)
    return f"{FILE}: {key}: unknown key" + (f"; did you mean {close!r}?" if close else f". Valid: {', '.join(valid)}")


def facts(rule: str) -> RuleFacts:
    """The facts of a rule; of one without an entry, those of a short job.

    >>> facts("encode_pairs").gpus, facts("average").gpus
    (1, None)
    """
    return all_facts().get(rule, RuleFacts())


def on_gpus(parallel: bool | None = None) -> list[str]:
    """The rules that train or encode; those that several processes can share, or those that they cannot.

    >>> on_gpus(parallel=False)
    ['encode_pairs', 'project']
    """
    found = {rule: known for rule, known in all_facts().items() if known.gpus}
    return [rule for rule, known in found.items() if parallel is None or known.parallel == parallel]
