"""Scores of MTEB's own tasks on the generated data, as JSON: task -> subset -> metric -> value.

Run by the interpreter of envs/oracle.lock.txt (`make oracle`); nothing of Stele is imported:

    python mteb_scores.py --mirror resources/miniature/mirror --model FOLDER --to scores.json

The task classes are MTEB's, and so is how they load, score and name things; `datasets.load_dataset` alone is replaced,
by what reads the mirror's files under the names that MTEB calls them by. What MTEB serves as Parquet and the mirror has
in the original's format (MIRACL, NeuCLIRBench) is put into MTEB's columns here.
"""

import argparse
import csv
import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import mteb
from datasets import Dataset
from mteb.abstasks import retrieval_dataset_loaders
from mteb.tasks.retrieval.multilingual import belebele_retrieval
from sentence_transformers import SentenceTransformer

HUB = "huggingface.co/datasets"
Parts = dict[str, Dataset]  # corpus, queries, qrels


def one(mirror: Path, pattern: str) -> Path:
    """The one file of the mirror that a pattern names."""
    (path,) = mirror.glob(f"{HUB}/{pattern}")
    return path


def lines(path: Path) -> Iterator[str]:
    """The lines of a file, packed or not."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as handle:
        yield from handle


def qrels(path: Path) -> Dataset:
    """Judgments in TREC's format, under MTEB's names."""
    rows = [line.split() for line in lines(path)]
    return Dataset.from_list([{"query-id": q, "corpus-id": d, "score": int(value)} for q, _, d, value in rows])


def queries(path: Path) -> Dataset:
    """Topics, number and text apart by a tab."""
    rows = csv.reader(lines(path), delimiter="\t", quoting=csv.QUOTE_NONE)
    return Dataset.from_list([{"_id": row[0], "text": row[1]} for row in rows])


def corpus(paths: Iterable[Path], key: str, text: str) -> Dataset:
    """Documents of JSON lines."""
    rows = (json.loads(line) for path in sorted(paths) for line in lines(path))
    return Dataset.from_list([{"_id": row[key], "title": row.get("title", ""), "text": row[text]} for row in rows])


def miracl(mirror: Path, language: str) -> Parts:
    """MIRACL's dev topics over the whole pool of a language."""
    folder = f"macavaney/miracl-noauth/resolve/main/miracl-v1.0-{language}"
    shards = mirror.glob(f"{HUB}/miracl/miracl-corpus/resolve/main/miracl-corpus-v1.0-{language}/docs-*.jsonl.gz")
    return {
        "corpus": corpus(shards, "docid", "text"),
        "queries": queries(one(mirror, f"{folder}/topics/topics.*-{language}-dev.tsv")),
        "qrels": qrels(one(mirror, f"{folder}/qrels/qrels.*-{language}-dev.tsv")),
    }


def hard_negatives(mirror: Path, language: str) -> Parts:
    """MTEB's own Parquet."""
    folder = "mteb/MIRACLRetrievalHardNegatives/resolve/*"
    return {
        part: Dataset.from_parquet(str(one(mirror, f"{folder}/{language}-{part}/dev-00000-of-00001.parquet")))
        for part in ("corpus", "queries", "qrels")
    }


def neuclir(mirror: Path, language: str) -> Parts:
    """English queries of NeuCLIRBench over the news of a language."""
    folder = "neuclir/bench/resolve/main/data"
    return {
        "corpus": corpus(mirror.glob(f"{HUB}/neuclir/neuclir1/resolve/*/data/{language}-*.jsonl.gz"), "id", "text"),
        "queries": queries(one(mirror, f"{folder}/news.eng.tsv")),
        "qrels": qrels(one(mirror, f"{folder}/qrels.{language}.gains.txt")),
    }


TASKS: dict[str, Callable[[Path, str], Parts]] = {
    "MIRACLRetrieval": miracl,
    "MIRACLRetrievalHardNegatives": hard_negatives,
    "NeuCLIR2022Retrieval": neuclir,
}


def serve(mirror: Path) -> None:
    """Puts the mirror in the place of the hub, for what MTEB's tasks call."""

    def of_retrieval(repository: str, config: str, **_: Any) -> Dataset:
        subset, _, part = config.rpartition("-")
        return TASKS[repository.partition("/")[2]](mirror, subset)[part]

    def of_belebele(name: str, **_: Any) -> dict[str, Dataset]:
        path = one(mirror, f"facebook/belebele/resolve/*/data/{name}.jsonl")
        return {"test": Dataset.from_list([json.loads(line) for line in lines(path)])}

    retrieval_dataset_loaders.load_dataset = of_retrieval
    retrieval_dataset_loaders.get_dataset_config_names = lambda *_: []
    retrieval_dataset_loaders.get_dataset_split_names = lambda *_, **__: ["only"]
    belebele_retrieval.load_dataset = of_belebele


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mirror", type=Path, required=True)
    parser.add_argument("--model", required=True, help="a folder of sentence-transformers")
    parser.add_argument("--subsets", nargs="+", required=True, help="TASK:SUBSET")
    parser.add_argument("--to", type=Path, required=True)
    args = parser.parse_args()
    serve(args.mirror)
    model = SentenceTransformer(args.model, device="cpu", model_kwargs={"dtype": "float32"})  # else a checkpoint's own
    chosen: dict[str, list[str]] = {}
    for name in args.subsets:
        task, _, subset = name.partition(":")
        chosen.setdefault(task, []).append(subset)
    scores: dict[str, dict[str, dict[str, float]]] = {}
    for name, subsets in chosen.items():
        result = mteb.evaluate(model, mteb.get_task(name, hf_subsets=subsets), cache=None, show_progress_bar=False)
        (by_split,) = (task.scores for task in result.task_results)
        (found,) = by_split.values()
        scores[name] = {
            score["hf_subset"]: {key: value for key, value in score.items() if isinstance(value, float)}
            for score in found
        }
    args.to.write_text(json.dumps({"mteb": mteb.__version__, "scores": scores}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
