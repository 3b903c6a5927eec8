"""What jobs do that fetch, read and mine texts, or score: cost formulas `formula(plan, w)` (rules.yaml: `cost`)."""

from __future__ import annotations

import math
from typing import Any

from stele import catalogue
from stele.catalogue.schema.costs import Checkpoint
from stele.cost.counts import benchmark_size, costs, judged_collection, of_languages, pinned
from stele.cost.shapes import UNKNOWN
from stele.cost.work import Work
from stele.plan.plan import Plan

TITLE_TERMS = 2  # of a title that is searched


def _rate(what: str) -> float:
    return getattr(costs().rates, what)


# --- sources ---------------------------------------------------------------------------------------------------------
def dataset_bytes(plan: Plan, name: str, part: str) -> float:
    """About how many bytes are fetched of a part of a dataset; 0 where unknown (an evaluation's small files)."""
    if name == "wikipedia":
        return _dump(plan, part)
    if name == "cc100":
        return plan.text_sizes.web_bytes(part)
    if name == "mrtydi_corpus":
        return costs().passage_bytes * pinned(name, "passages", (part,))
    files = plan.data.resolve(name, part, plan.sources.part_languages(name, part)).files
    sizes = [file.bytes for file in files]
    return sum(sizes) if sizes and None not in sizes else costs().datasets.get(name, 0)


def dataset(plan: Plan, w: Any) -> Work:
    """What the user has at hand is read where it lies."""
    if plan.data.users_folder(w.dataset):
        return Work()
    size = dataset_bytes(plan, w.dataset, w.part)
    return Work(download=size, kept=size, waiting=size / _rate("network"))


def checkpoint(plan: Plan, w: Any) -> Work:
    """Of one that the catalogue does not know, the bytes are as assumed as its shape is (`shapes.shape_of`)."""
    known = catalogue.entries(Checkpoint)
    sizes = known.get(w.model) or (None if plan.world.standin(w.model) else known[UNKNOWN])
    size = sizes.bytes if sizes else 0
    fetched = 0 if "path" in plan.models.checkpoint_source(w.model) else size
    return Work(cpu_seconds=costs().seconds.checkpoint, download=fetched, kept=size, waiting=fetched / _rate("network"))


# --- corpora ---------------------------------------------------------------------------------------------------------
def _dump(plan: Plan, *languages: str) -> float:
    return float(plan.corpora.dump_mb(*languages) << 20)


def wikipedia(plan: Plan, w: Any) -> Work:
    dump = _dump(plan, w.part) / plan.corpora.shards(w.part)
    kept = dump * costs().wikipedia_text * costs().documents_kept
    return Work(cpu_seconds=dump * costs().wikipedia_xml / _rate("xml_bytes"), kept=kept)


def cc100(plan: Plan, w: Any) -> Work:
    text = plan.text_sizes.web_bytes(w.part) * costs().cc100_text
    return Work(cpu_seconds=text / _rate("web_bytes"), kept=text * costs().documents_kept)


def page_entities(plan: Plan, w: Any) -> Work:
    return Work(cpu_seconds=costs().seconds.page_entities, kept=costs().page_entities_kept)


def knowledge_base(plan: Plan, w: Any) -> Work:
    dump = _dump(plan, w.part)
    return Work(cpu_seconds=dump / _rate("links_of_dump"), kept=dump * costs().knowledge_base_kept)


# --- pairs -----------------------------------------------------------------------------------------------------------
def mine(plan: Plan, w: Any) -> Work:
    """All documents are read; those of a sample are tokenised, once more for each time that their number doubles."""
    text = plan.text_sizes.text_bytes(w.method, w.part)
    most = plan.text_sizes.most_examples(w.method, w.model, w.part) or math.inf
    times = max(1.0, text / plan.text_sizes.example_bytes(w.method) / most)  # as many examples as are kept
    tokenised = text * min(1.0, (1 + math.log2(times)) / times)
    seconds = tokenised / _rate("mined_bytes") + (text - tokenised) / _rate("read_bytes")
    return Work(cpu_seconds=seconds, kept=text / times * costs().store_kept)


def text_pairs(plan: Plan, mining: str, part: str) -> float:
    """Pairs of a part: at most what its recipe keeps, and what the smaller of its wikis has."""
    smallest = min(plan.corpora.dump_mb(code) for code in plan.mining.part_codes(mining, part))
    return min(plan.mining.recipe(mining).max_pairs or math.inf, smallest * costs().pairs_a_megabyte)


def knowledge_pairs(plan: Plan, w: Any) -> Work:
    number = text_pairs(plan, w.method, w.part)
    text = _dump(plan, *plan.mining.part_codes(w.method, w.part)) * costs().wikipedia_text
    seconds = number / _rate("text_pairs") + text / _rate("read_bytes")
    return Work(cpu_seconds=seconds, kept=number * costs().text_pair.bytes)


def tokenise(plan: Plan, w: Any) -> Work:
    number, pair = text_pairs(plan, w.method, w.part), costs().text_pair
    return Work(cpu_seconds=number * pair.characters / _rate("mined_bytes"), kept=number * pair.tokens_bytes)


def section_pairs(plan: Plan, w: Any) -> Work:
    """Headings of all documents are read, then words' vectors, then the texts of the pages that have a pair."""
    codes = plan.mining.part_codes(w.method, w.part)
    text = _dump(plan, *codes) * costs().wikipedia_text
    vectors = sum(dataset_bytes(plan, plan.mining.recipe(w.method).vectors, code) for code in codes)
    number = _section_pairs(plan, w)
    seconds = 2 * text / _rate("read_bytes") + vectors / _rate("vector_bytes") + number / _rate("section_pairs")
    return Work(cpu_seconds=seconds, kept=number * costs().section_pair.bytes)


def tokenise_sections(plan: Plan, w: Any) -> Work:
    number, pair = _section_pairs(plan, w), costs().section_pair
    return Work(cpu_seconds=number * pair.characters / _rate("mined_bytes"), kept=number * pair.tokens_bytes)


def _section_pairs(plan: Plan, w: Any) -> float:
    """Section pairs of a part: what its smaller wiki gives."""
    smallest = min(plan.corpora.dump_mb(code) for code in plan.mining.part_codes(w.method, w.part))
    return min(plan.mining.recipe(w.method).max_pairs or math.inf, smallest * costs().sections_a_megabyte)


# --- retrieval, scoring ----------------------------------------------------------------------------------------------
def bm25(plan: Plan, w: Any) -> Work:
    """A model that expands queries reads the collection three times; the second index has most of its terms."""
    passages = of_languages(benchmark_size(w.benchmark).passages, w.benchmark, plan.data.languages(w.benchmark))
    times = costs().expansion if plan.models[w.model].rm3 else 1
    return Work(cpu_seconds=times * passages / _rate("bm25_passages"))


def fuse(plan: Plan, w: Any) -> Work:
    """Topics are scored with every weight; the judgments are read, and no document."""
    topics = of_languages(benchmark_size(w.benchmark).queries, w.benchmark, plan.data.languages(w.benchmark))
    return Work(cpu_seconds=costs().seconds.other + topics / _rate("fused_topics"))


def title_queries(plan: Plan, w: Any) -> Work:
    """All articles are read three times and indexed, and all of a scale's titles searched in them."""
    text = _dump(plan, w.part) * costs().wikipedia_text
    recipe, articles = plan.transfer.titles(w.recipe), text / costs().article
    compared = recipe.queries * articles * TITLE_TERMS
    kept = min(recipe.queries * (1 + recipe.negatives), articles) * min(recipe.characters, costs().article)
    seconds = 2 * text / _rate("read_bytes") + articles / _rate("bm25_passages") + compared / _rate("bm25_scores")
    return Work(cpu_seconds=seconds, kept=kept, temporary=text / 20)  # a twentieth of a full index (lucene_bm25.py)


def score(plan: Plan, w: Any) -> Work:
    """Some benchmarks look for answers in the passages themselves."""
    size = costs().benchmarks.get(w.benchmark)
    read = size.reads * 1e9 if size else 0.0
    return Work(cpu_seconds=costs().seconds.score + read / _rate("read_bytes"))


def count_lengths(plan: Plan, w: Any) -> Work:
    """All documents of a language are tokenised."""
    return Work(cpu_seconds=judged_collection(w.dataset) / _rate("mined_bytes"))


def short(plan: Plan, w: Any) -> Work:
    """A job that only starts, reads little and ends."""
    return Work(cpu_seconds=costs().seconds.other)
