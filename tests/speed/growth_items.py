"""The commands whose growth is measured (tests/speed/growth.py), with their inputs."""

import gzip
import json
import lzma
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from stele.files.paths import STAMP
from tests.sealed import write_sealed
from tests.speed.growth import growth
from tests.speed.pairs import write_documents
from tests.speed.retrieval import some_text, some_words, write_collection
from tests.speed.scoring import write_results, write_run
from tests.speed.table import ROOT

STELE = [sys.executable, "-m", "stele"]
LINES, DOCUMENT = 10_000, 5  # lines of a chunk that a corpus repeats, and of a document
MSM = {"method": "msm", "unit": "sentences", "sentence_words": 64, "sentence_tokens": 64, "sentences": 32}
MSM["sentences_min"] = 2


def record(folder: Path) -> Path:
    return write_sealed(folder / "record.json", {"content": folder.name})


# --- the papers' sizes ------------------------------------------------------------------------------------------------
def lines() -> float:
    """Of the largest corpus."""
    from tests.speed.real_sizes import jobs

    return jobs().corpora.bytes_of_text("cc100", "en") / len(chunk()) * LINES


def documents() -> float:
    """Behind the largest store."""
    from stele.cluster.sizes import costs
    from tests.speed.real_sizes import jobs

    return jobs().mining.bytes_of_text("msm", "en") / costs().web_document


def passages() -> float:
    """Of Mr. TyDi's English collection, the largest of one language."""
    from stele.cluster.sizes import costs, of_languages

    return of_languages(costs().benchmarks["mrtydi"].passages, "mrtydi", ["en"])


def queries() -> float:
    """Of the benchmark with the most."""
    from stele.cluster.sizes import costs, total

    return max(total(size.queries, None) for size in costs().benchmarks.values())


# --- texts ------------------------------------------------------------------------------------------------------------
def chunk() -> bytes:
    """Lines of 15 words, an empty one after each document."""
    rng, words, text = np.random.default_rng(0), some_words(), []
    for number in range(LINES):
        text.append(" ".join(some_text(rng, words, 14)) + " end.\n" + "\n" * (number % DOCUMENT == DOCUMENT - 1))
    return "".join(text).encode()


@growth("lines of a corpus", [10_000, 300_000, 10_000_000], [10_000, 20_000, 30_000], "cc100", lines)
def corpus(folder: Path, number: int) -> tuple[list[Any], int]:
    """`corpora cc100`."""
    packed = lzma.compress(chunk(), preset=0)
    (folder / "data").mkdir()
    with open(folder / "data/xx.txt.xz", "wb") as handle:
        for _ in range(number // LINES):
            handle.write(packed)
    line = ["corpora", "cc100", "--language", "en", "--dataset", record(folder / "data")]
    return [*STELE, *line, "--output", folder / "out/record.json"], number


@growth("documents that are mined", [300, 3_000, 30_000], [20, 40, 80], "mine", documents)
def mining(folder: Path, number: int) -> tuple[list[Any], int]:
    """`pairs mine` by MSM's recipe, documents of 22 sentences."""
    from tiny_models import make_folder

    (folder / "documents").mkdir()
    source, _ = write_documents(folder / "documents", number)
    line = ["pairs", "mine", "--recipe", json.dumps(MSM), "--language", "en", "--documents", source, "--seed", "0"]
    tokenizer = record(make_folder(folder / "model"))
    return [*STELE, *line, "--tokenizer", tokenizer, "--output", folder / "out/record.json"], number


# --- searches ---------------------------------------------------------------------------------------------------------
def write_mrtydi(folder: Path, number: int, topics: int) -> list[str]:
    """Mr. TyDi in Swahili with passages of 40 words; the arguments of --data."""
    rng, words, given = np.random.default_rng(0), some_words(), []
    for name in ("mrtydi", "mrtydi_corpus"):
        (folder / name).mkdir()
    with gzip.open(folder / "mrtydi_corpus/corpus.jsonl.gz", "wt", 1) as handle:
        for place in range(number):
            item = {"docid": f"{place}#0", "title": "", "text": " ".join(some_text(rng, words, 40))}
            handle.write(json.dumps(item) + "\n")
    with gzip.open(folder / "mrtydi/test.jsonl.gz", "wt", 1) as handle:
        for place in range(topics):
            handle.write(json.dumps({"query_id": str(place), "query": " ".join(some_text(rng, words, 6))}) + "\n")
    (folder / "mrtydi/qrels.test.txt").write_text("".join(f"{place} Q0 {place}#0 1\n" for place in range(topics)))
    for name in ("mrtydi", "mrtydi_corpus"):
        given.append(f"{name}:sw={record(folder / name)}")
    return given


# more than its block of 262,144 passages each: below one, memory grows with the collection
@growth("passages, BM25", [300_000, 600_000, 1_200_000], [100, 200, 400], "bm25", passages)
def lexical(folder: Path, number: int) -> tuple[list[Any], int]:
    """`retrieval bm25`, 100 queries."""
    data = write_mrtydi(folder, number, 100)
    line = ["retrieval", "bm25", "--benchmark", "mrtydi", "--languages", "sw", "--recipe", '{"k1": 0.9, "b": 0.4}']
    line += ["--data", *data, "--state", folder / "state"]
    return [*STELE, *line, "--output", folder / "out/retrieval.json"], number


@growth("passages encoded", [3_000, 30_000, 300_000], [40, 80, 120], "retrieve", passages)
def encoding(folder: Path, number: int) -> tuple[list[Any], int]:
    """`retrieval retrieve` by an encoder 32 wide, 100 queries."""
    from tiny_models import make_folder

    data, encoder = write_mrtydi(folder, number, 100), record(make_folder(folder / "model"))
    line = ["retrieval", "retrieve", "--benchmark", "mrtydi", "--languages", "sw", "--encoder", encoder]
    encoding = {"pooling": "mean", "query_length": 32, "passage_length": 64}
    line += ["--encoding", json.dumps(encoding), "--data", *data, "--state", folder / "state"]
    return [*STELE, *line, "--output", folder / "out/retrieval.json"], number


SEARCH = """
import sys
from pathlib import Path
import numpy as np
from stele.retrieval.dense.exact_search import TopK
from stele.retrieval.dense.vector_files import blocks
best = TopK(np.random.default_rng(1).standard_normal((int(sys.argv[2]), 64), dtype=np.float32), 100)
for block, ids in blocks(Path(sys.argv[1])):
    best.add(block, ids)
"""


@growth("passages searched, 64 numbers", [10_000, 100_000, 1_000_000], [200, 400, 800], "retrieve", passages)
def searched(folder: Path, number: int) -> tuple[list[Any], int]:
    """Exact search, 100 queries, vectors of 64 numbers."""
    write_collection(folder, number, 64)
    return [sys.executable, "-c", SEARCH, folder, 100], number


@growth("queries searched, 64 numbers", [100, 1_000, 10_000], [10, 20, 30], "retrieve", queries)
def asked(folder: Path, number: int) -> tuple[list[Any], int]:
    """Exact search of 50,000 passages, vectors of 64 numbers."""
    write_collection(folder, 50_000, 64)
    return [sys.executable, "-c", SEARCH, folder, number], number


# --- results, plans ---------------------------------------------------------------------------------------------------
@growth("queries scored", [5_000, 15_000, 45_000], [10, 20, 30], "score", queries)
def scored(folder: Path, number: int) -> tuple[list[Any], int]:
    """`scoring score` of a run of 100 passages a query."""
    write_run(folder, number, 100)
    line = ["scoring", "score", "mrtydi", "--run", f"sw={folder}/run.txt", "--data", f"mrtydi:sw={folder}/qrels.txt"]
    return [*STELE, *line], number


@growth("results of a site", [1, 10, 100], [1, 2, 3])
def site(folder: Path, number: int) -> tuple[list[Any], int]:
    """`tables site` of one paper's results by as many seeds of pretraining."""
    write_results(folder / "results", ["msm"], (number, 2), 50)
    (folder / "results" / STAMP).write_text("study\n")
    results = len(list((folder / "results").rglob("pt*.json")))
    return [*STELE, "tables", "site", folder / "results", "--to", folder / "site"], results


@growth("jobs of a plan", [1, 10, 100], [1, 2, 3])
def planned(folder: Path, number: int) -> tuple[list[Any], Callable[[str], int]]:
    """`snakemake -n` of one table by as many seeds of fine-tuning."""
    for name in ("config.yaml", "paper_tables"):
        (folder / name).symlink_to(ROOT / name)
    seeds = json.dumps({"pretraining": [0], "finetuning": list(range(number))})
    line = [sys.executable, "-m", "snakemake", "-n", "--quiet", "rules", "--directory", folder]
    line += ["--config", "scale=miniature", f"seeds={seeds}", "--", "results/tables/msm/table_01.md"]
    return line, lambda printed: int(printed.split("\ntotal")[1].split()[0])
