"""The sizes that a job's cost is counted from: the user's files, or those of the catalogue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stele import catalogue
from stele.catalogue.datasets import ALL
from stele.catalogue.schema.datasets import Dataset
from stele.plan.plan import Plan

READ_BY = {"page_entities": "wikidata_items", "knowledge_base": "wikipedia", "title_queries": "wikipedia"}


def texts(plan: Plan, rule: str, wildcards: Mapping[str, str]) -> list[str]:
    """The datasets whose texts a job's cost is counted by; none for a job that reads questions, vectors or results.

    A rule that reads a corpus has its name. Pairs of the knowledge base are counted by the dumps that it is made of.
    """
    if rule in READ_BY:
        return [READ_BY[rule]]
    if rule in catalogue.entries(Dataset):
        return [rule]
    if "method" not in wildcards:
        return []
    codes = plan.mining.part_codes(wildcards["method"], wildcards["part"])
    read = {name for name, _ in plan.mining.datasets(wildcards["method"], codes)}
    return sorted(read - {"wikidata_items"})


def is_users_text(plan: Plan, rule: str, wildcards: Mapping[str, str]) -> bool:
    """Whether a job's cost is counted by texts that are all the user's."""
    read = texts(plan, rule, wildcards)
    return bool(read) and all(plan.data.users_folder(name) for name in read)


def text_bytes(plan: Plan, rule: str, wildcards: Mapping[str, str]) -> float:
    """Bytes of plain text that a job's cost is counted by."""
    part = wildcards.get("part", ALL)
    codes = plan.mining.part_codes(wildcards["method"], part) if "method" in wildcards else [part]
    return sum(plan.text_sizes.corpus_bytes(name, code) for name in texts(plan, rule, wildcards) for code in codes)


def from_catalogue(plan: Plan, rule: str, wildcards: Mapping[str, str]) -> list[str]:
    """The entries of the catalogue whose sizes a job's cost is counted from; none where it is measured or made here."""
    generated = plan.settings.generated
    read = [wildcards["dataset"]] if rule == "dataset" else texts(plan, rule, wildcards)
    if read:
        return [name for name in read if not (generated or plan.data.users_folder(name))]
    benchmark = wildcards.get("benchmark")
    names = [benchmark] if benchmark and not generated and benchmark not in catalogue.added("benchmarks") else []
    model = wildcards.get("model")
    if model in plan.models.all and plan.models.all[model].has_encoder and not _has_folder(plan, model):
        names.append(plan.models.root(model))
    return names


def _has_folder(plan: Plan, model: str) -> bool:
    """Whether the checkpoint that a model comes from is the user's folder, or made here."""
    root = plan.models.root(model)
    return bool(plan.world.standin(root)) or "path" in plan.models.checkpoint_source(root)


def named(sizes: Iterable[tuple[str, float]], listed: int = 4) -> str:
    """Names in the order of their sizes added up, the largest first; at most some of them."""
    sums: dict[str, float] = {}
    for name, size in sizes:
        sums[name] = sums.get(name, 0.0) + size
    names = sorted(sums, key=lambda name: -sums[name])
    return ", ".join(names[:listed]) + (", ..." if len(names) > listed else "")
