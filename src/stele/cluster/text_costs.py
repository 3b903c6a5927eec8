"""Cost formulas of the rules that fetch, read and mine texts, or score; each takes a plan and a job's wildcards."""

import math
from contextlib import suppress
from pathlib import Path
from typing import Any

from stele import catalogue
from stele.catalogue import user_documents
from stele.catalogue.schema.costs import Checkpoint
from stele.cluster.sizes import (
    UNKNOWN,
    NoFigures,
    benchmark_size,
    costs,
    judged_collection,
    of_languages,
    pinned,
    saved_bytes,
    shape_of,
)
from stele.cluster.work import Work, cost_formula
from stele.plan.plan import Plan

TITLE_TERMS = 2  # terms of a title that are searched


# --- sources ---------------------------------------------------------------------------------------------------------
def dataset_bytes(plan: Plan, name: str, part: str) -> float:
    """Approximate bytes of a part of a dataset: of the user's files, or of the files to fetch.

    0 if unknown (small files of an evaluation set).
    """
    users = plan.corpora.user_files(name, part)
    if users is not None:
        return sum(users.values())
    if name == "wikipedia":
        return _dump(plan, part)
    if name == "cc100":
        return plan.corpora.web_bytes(part)
    if name == "mrtydi_corpus":
        return costs().passage_bytes * pinned(name, "passages", (part,))
    files = plan.data.resolve(name, part, plan.data.part_languages(name, part)).files
    sizes = [file.bytes for file in files]
    return sum(sizes) if sizes and None not in sizes else costs().datasets.get(name, 0)


@cost_formula
def dataset(plan: Plan, wildcards: Any) -> Work:
    """Work of a download; the user's own copy is read in place and costs nothing."""
    if plan.data.users_folder(wildcards.dataset):
        return Work()
    size = dataset_bytes(plan, wildcards.dataset, wildcards.part)
    return Work(download=size, kept=size, waiting=size / costs().rates.network)


@cost_formula
def checkpoint(plan: Plan, wildcards: Any) -> Work:
    """Work of fetching a checkpoint; of a user's folder, which is linked to, only PyTorch weights are written anew."""
    if folder := plan.models.checkpoint_source(wildcards.model).get("path"):
        anew = [path for path in Path(folder).rglob("pytorch_model*.bin") if not [*path.parent.glob("*.safetensors")]]
        return Work(cpu_seconds=costs().seconds.checkpoint, kept=sum(path.stat().st_size for path in anew))
    known, (shape, stated) = catalogue.entries(Checkpoint), shape_of(plan, wildcards.model)
    sizes = known.get(wildcards.model) or (None if stated else known[UNKNOWN])
    size = sizes.bytes if sizes else saved_bytes(shape)
    return Work(cpu_seconds=costs().seconds.checkpoint, download=size, kept=size, waiting=size / costs().rates.network)


# --- corpora ---------------------------------------------------------------------------------------------------------
def _dump(plan: Plan, *languages: str) -> float:
    return float(plan.corpora.dump_mb(*languages) << 20)


@cost_formula
def wikipedia(plan: Plan, wildcards: Any) -> Work:
    dump = _dump(plan, wildcards.part) / plan.corpora.shards(wildcards.part)
    kept = dump * costs().wikipedia_text * costs().documents_kept
    return Work(cpu_seconds=dump * costs().wikipedia_xml / costs().rates.xml_bytes, kept=kept)


@cost_formula
def cc100(plan: Plan, wildcards: Any) -> Work:
    text = plan.corpora.bytes_of_text("cc100", wildcards.part)
    return Work(cpu_seconds=text / costs().rates.web_bytes, kept=text * costs().documents_kept)


@cost_formula
def documents(plan: Plan, wildcards: Any) -> Work:
    text = plan.corpora.bytes_of_text(user_documents.DATASET, wildcards.part)
    return Work(cpu_seconds=text / costs().rates.web_bytes, kept=text * costs().documents_kept)


@cost_formula
def page_entities(plan: Plan, wildcards: Any) -> Work:
    return Work(cpu_seconds=costs().seconds.page_entities, kept=costs().page_entities_kept)


@cost_formula
def knowledge_base(plan: Plan, wildcards: Any) -> Work:
    dump = _dump(plan, wildcards.part)
    return Work(cpu_seconds=dump / costs().rates.links_of_dump, kept=dump * costs().knowledge_base_kept)


# --- pairs -----------------------------------------------------------------------------------------------------------
@cost_formula
def mine(plan: Plan, wildcards: Any) -> Work:
    """Work of mining: all documents are read; a sample is tokenised, again for each doubling of the number of texts."""
    text = plan.mining.bytes_of_text(wildcards.method, wildcards.part)
    most = plan.stores.cap(wildcards.method, wildcards.model, wildcards.part)
    example = costs().example_text[plan.mining.recipe(wildcards.method).method]
    times = max(1.0, text / example / most)  # examples in the texts per kept example
    tokenised = text * min(1.0, (1 + math.log2(times)) / times)
    seconds = tokenised / costs().rates.mined_bytes + (text - tokenised) / costs().rates.read_bytes
    return Work(cpu_seconds=seconds, kept=text / times * costs().store_kept)


def _pairs(plan: Plan, wildcards: Any, per_megabyte: float) -> float:
    """Number of pairs of a part: by the smallest of its wikis, at most the recipe's number."""
    smallest = min(plan.corpora.dump_mb(code) for code in plan.mining.part_codes(wildcards.method, wildcards.part))
    return min(plan.mining.recipe(wildcards.method).max_pairs or math.inf, smallest * per_megabyte)


@cost_formula
def knowledge_pairs(plan: Plan, wildcards: Any) -> Work:
    number = _pairs(plan, wildcards, costs().pairs_a_megabyte)
    text = _dump(plan, *plan.mining.part_codes(wildcards.method, wildcards.part)) * costs().wikipedia_text
    seconds = number / costs().rates.text_pairs + text / costs().rates.read_bytes
    return Work(cpu_seconds=seconds, kept=number * costs().text_pair.bytes)


def _tokenised(number: float, pair: Any) -> Work:
    """Work of tokenising pairs of texts."""
    return Work(cpu_seconds=number * pair.characters / costs().rates.mined_bytes, kept=number * pair.tokens_bytes)


@cost_formula
def tokenise(plan: Plan, wildcards: Any) -> Work:
    return _tokenised(_pairs(plan, wildcards, costs().pairs_a_megabyte), costs().text_pair)


@cost_formula
def section_pairs(plan: Plan, wildcards: Any) -> Work:
    """Work of pairing sections: reads headings of all documents, then word vectors, then texts of pages with a pair."""
    codes = plan.mining.part_codes(wildcards.method, wildcards.part)
    text = _dump(plan, *codes) * costs().wikipedia_text
    vectors = sum(dataset_bytes(plan, plan.mining.recipe(wildcards.method).vectors, code) for code in codes)
    number = _pairs(plan, wildcards, costs().sections_a_megabyte)
    seconds = (
        2 * text / costs().rates.read_bytes
        + vectors / costs().rates.vector_bytes
        + number / costs().rates.section_pairs
    )
    return Work(cpu_seconds=seconds, kept=number * costs().section_pair.bytes)


@cost_formula
def tokenise_sections(plan: Plan, wildcards: Any) -> Work:
    return _tokenised(_pairs(plan, wildcards, costs().sections_a_megabyte), costs().section_pair)


# --- retrieval, scoring ----------------------------------------------------------------------------------------------
@cost_formula
def bm25(plan: Plan, wildcards: Any) -> Work:
    """Work of BM25; query expansion (RM3) multiplies it, with three passes over the collection and a larger index."""
    languages = plan.data.languages(wildcards.benchmark)
    passages = of_languages(benchmark_size(plan, wildcards.benchmark).passages, wildcards.benchmark, languages)
    times = costs().expansion if plan.models[wildcards.model].rm3 else 1
    return Work(cpu_seconds=times * passages / costs().rates.bm25_passages)


@cost_formula
def fuse(plan: Plan, wildcards: Any) -> Work:
    """Work of fusing runs: topics are scored with every weight; judgments are read, but no documents."""
    languages = plan.data.languages(wildcards.benchmark)
    topics = of_languages(benchmark_size(plan, wildcards.benchmark).queries, wildcards.benchmark, languages)
    return Work(cpu_seconds=costs().seconds.other + topics / costs().rates.fused_topics)


@cost_formula
def title_queries(plan: Plan, wildcards: Any) -> Work:
    """Work of searching titles: reads all articles three times, indexes them, and searches the recipe's titles."""
    text = _dump(plan, wildcards.part) * costs().wikipedia_text
    recipe, articles = plan.transfer.titles(wildcards.recipe), text / costs().article
    compared = recipe.queries * articles * TITLE_TERMS
    kept = min(recipe.queries * (1 + recipe.negatives), articles) * min(recipe.characters, costs().article)
    seconds = (
        2 * text / costs().rates.read_bytes
        + articles / costs().rates.bm25_passages
        + compared / costs().rates.bm25_scores
    )
    return Work(cpu_seconds=seconds, kept=kept, temporary=text / 20)  # a twentieth of a full index (lucene_bm25.py)


@cost_formula
def score(plan: Plan, wildcards: Any) -> Work:
    """Work of scoring the row's queries; some benchmarks also read passages to find answers in them."""
    seconds, name = costs().seconds.score, wildcards.benchmark
    with suppress(NoFigures):  # none for re-ranking and answering, which score little
        size = benchmark_size(plan, name)
        seconds += of_languages(size.queries, name, plan.data.languages(name)) / costs().rates.scored_queries
        seconds += size.reads * 1e9 / costs().rates.read_bytes
    return Work(cpu_seconds=seconds)


@cost_formula
def count_lengths(plan: Plan, wildcards: Any) -> Work:
    """Work of counting lengths: all documents of a language are tokenised."""
    return Work(cpu_seconds=judged_collection(wildcards.dataset) / costs().rates.mined_bytes)
