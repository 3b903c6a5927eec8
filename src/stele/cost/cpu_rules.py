"""What jobs do that fetch, read and mine texts, or score: cost formulas `formula(plan, w)` (rules.yaml: `cost`)."""

from __future__ import annotations

import math
from typing import Any

from stele import catalogue
from stele.catalogue import datasets
from stele.cost.counts import costs, figures, pinned, total
from stele.cost.work import Work
from stele.plan.jobs import Jobs
from stele.plan.text_sizes import example_bytes, text_bytes, web_bytes


def _rate(what: str) -> float:
    return costs()["rates"][what]


# --- sources ---------------------------------------------------------------------------------------------------------
def dataset_bytes(plan: Jobs, name: str, part: str) -> float:
    """About how many bytes are fetched of a part of a dataset; 0 where nobody knows (an evaluation's small files)."""
    if name == "wikipedia":
        return float(plan.dump_mb(part) << 20)
    if name == "cc100":
        return web_bytes(plan, part)
    if name == "mrtydi_corpus":
        return costs()["passage_bytes"] * pinned(name, "passages", [part])
    files = datasets.resolve(name, part, plan.part_languages(name, part))["files"]
    sizes = [file.get("bytes") for file in files]
    return sum(sizes) if sizes and None not in sizes else costs()["datasets"].get(name, 0)


def dataset(plan: Jobs, w: Any) -> Work:
    """What the user has at hand is read where it lies."""
    if plan.users_folder(w.dataset):
        return Work()
    size = dataset_bytes(plan, w.dataset, w.part)
    return Work(download=size, kept=size, waiting=size / _rate("network"))


def checkpoint(plan: Jobs, w: Any) -> Work:
    size = catalogue.load("checkpoint_sizes").get(w.model, {}).get("bytes", 0)
    fetched = 0 if "path" in plan.checkpoint_source(w.model) else size
    return Work(
        cpu_seconds=costs()["seconds"]["checkpoint"], download=fetched, kept=size, waiting=fetched / _rate("network")
    )


# --- corpora ---------------------------------------------------------------------------------------------------------
def _dump(plan: Jobs, *languages: str) -> float:
    return float(plan.dump_mb(*languages) << 20)


def wikipedia(plan: Jobs, w: Any) -> Work:
    dump = _dump(plan, w.part) / plan.shards(w.part)
    kept = dump * costs()["wikipedia_text"] * costs()["documents_kept"]
    return Work(cpu_seconds=dump * costs()["wikipedia_xml"] / _rate("xml_bytes"), kept=kept)


def cc100(plan: Jobs, w: Any) -> Work:
    text = web_bytes(plan, w.part) * costs()["cc100_text"]
    return Work(cpu_seconds=text / _rate("web_bytes"), kept=text * costs()["documents_kept"])


def page_entities(plan: Jobs, w: Any) -> Work:
    return Work(cpu_seconds=costs()["seconds"]["page_entities"], kept=costs()["page_entities_kept"])


def knowledge_base(plan: Jobs, w: Any) -> Work:
    dump = _dump(plan, w.part)
    return Work(cpu_seconds=dump / _rate("links_of_dump"), kept=dump * costs()["knowledge_base_kept"])


# --- pairs -----------------------------------------------------------------------------------------------------------
def mine(plan: Jobs, w: Any) -> Work:
    """All documents are read; those of a sample are tokenised, once more for each time that their number doubles."""
    text = text_bytes(plan, w.method, w.part)
    most = plan.most_examples(w.method, w.model, w.part) or math.inf
    times = max(1.0, text / example_bytes(plan, w.method) / most)  # as many examples as are kept
    tokenised = text * min(1.0, (1 + math.log2(times)) / times)
    seconds = tokenised / _rate("mined_bytes") + (text - tokenised) / _rate("read_bytes")
    return Work(cpu_seconds=seconds, kept=text / times * costs()["store_kept"])


def text_pairs(plan: Jobs, mining: str, part: str) -> float:
    """Pairs of a part: at most what its recipe keeps, and what the smaller of its wikis has."""
    smallest = min(plan.dump_mb(code) for code in plan.part_codes(mining, part))
    return min(plan.pairs_recipe(mining)["max_pairs"], smallest * costs()["pairs_a_megabyte"])


def knowledge_pairs(plan: Jobs, w: Any) -> Work:
    number = text_pairs(plan, w.method, w.part)
    text = _dump(plan, *plan.part_codes(w.method, w.part)) * costs()["wikipedia_text"]
    seconds = number / _rate("text_pairs") + text / _rate("read_bytes")
    return Work(cpu_seconds=seconds, kept=number * costs()["text_pair"]["bytes"])


def tokenise(plan: Jobs, w: Any) -> Work:
    number, pair = text_pairs(plan, w.method, w.part), costs()["text_pair"]
    return Work(cpu_seconds=number * pair["characters"] / _rate("mined_bytes"), kept=number * pair["tokens_bytes"])


# --- retrieval, scoring ----------------------------------------------------------------------------------------------
def bm25(plan: Jobs, w: Any) -> Work:
    passages = total(figures("benchmarks", w.benchmark)["passages"], plan.languages(w.benchmark))
    return Work(cpu_seconds=passages / _rate("bm25_passages"))


def score(plan: Jobs, w: Any) -> Work:
    """Some benchmarks look for answers in the passages themselves."""
    read = costs()["benchmarks"].get(w.benchmark, {}).get("reads", 0) * 1e9
    return Work(cpu_seconds=costs()["seconds"]["score"] + read / _rate("read_bytes"))


def short(plan: Jobs, w: Any) -> Work:
    """A job that only starts, reads little and ends."""
    return Work(cpu_seconds=costs()["seconds"]["other"])
