"""Belebele whole, 376 searches in 122 variants: a job of ours beside MTEB's way, as processes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.speed.encoders import FAMILIES, make_folder, random_texts
from tests.speed.table import ROOT, THREADS, Unavailable, same, speed

HUB = "huggingface.co/datasets/facebook/belebele/resolve/made/data"


def write_variants(folder: Path, passages: int, questions: int) -> None:
    """Files of all 122 variants, parallel by link."""
    from stele.catalogue.datasets import dataset

    codes = dataset("belebele").codes
    folder.mkdir(parents=True)
    texts = iter(random_texts((passages + questions) * len(codes)))
    for code in codes:
        of_variant = [next(texts) for _ in range(passages + questions)]
        with open(folder / f"{code}.jsonl", "w", encoding="utf-8") as handle:
            for row in range(questions):
                place = row % passages
                item = {"link": f"l{place}", "flores_passage": of_variant[place], "mc_answer1": ""}
                item |= {"question": of_variant[passages + row], "correct_answer_num": "1"}
                handle.write(json.dumps(item) + "\n")


def run_process(command: list[Any]) -> None:
    """On one thread; one that fails is an error with what it said."""
    settings = {"TOKENIZERS_PARALLELISM": "false", "PYTHONPATH": str(ROOT / "src"), "HF_HUB_OFFLINE": "1"}
    environment = {**os.environ, **dict.fromkeys(THREADS, "1"), **settings}
    run = subprocess.run([*map(str, command)], env=environment, capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(f"{command[:6]} ...\n{run.stderr[-3000:]}")


def belebele(folder: Path, passages: int, questions: int, width: int, layers: int, languages: list[str] | None):
    """(languages, model, the retrieval job as a process); a job encodes each variant once, for 376 searches."""
    from stele import catalogue
    from stele.artifacts.record_shape import seal
    from stele.catalogue.schema.benchmarks import Benchmark

    languages = languages or catalogue.entry(Benchmark, "belebele").languages
    model = make_folder(folder / "model", FAMILIES["e5"], width, layers)
    write_variants(folder / HUB, passages, questions)
    for path, job in ((model / "record.json", "sources checkpoint"), (folder / "record.json", "sources dataset")):
        path.write_text(json.dumps(seal({"job": job, "labels": [], "content": job})), encoding="utf-8")
    line = [sys.executable, "-m", "stele", "retrieval", "retrieve", "--benchmark", "belebele", "--languages"]
    line += [*languages, "--encoder", model / "record.json", "--data", f"belebele:all={folder / 'record.json'}"]
    rounds = iter(range(1000))

    def ours():
        number = next(rounds)
        places = ["--state", folder / f"state{number}", "--output", folder / f"out{number}/retrieval.json"]
        run_process([*line, "--threads", "1", *places])

    return languages, model, ours


BELEBELE = {"passages": 40, "questions": 70, "width": 128, "layers": 3, "languages": None}
TINY_BELEBELE = {"passages": 3, "questions": 5, "width": 64, "layers": 1}
TINY_BELEBELE["languages"] = ["en-en", "ru-en", "en-ru", "ru-ru"]
SINGLY = """
import json, sys, numpy as np
from pathlib import Path
from sentence_transformers import SentenceTransformer
from stele.benchmarks.belebele import Belebele
model, folder, languages = json.loads(sys.argv[1])
encoder, data = SentenceTransformer(model, device="cpu"), {"belebele": {"all": Path(folder)}}
for pair in Belebele().query_sets(languages):
    texts = [passage.text for passage in Belebele().passages(data, pair.collection)]
    asked = [query.text for query in Belebele().queries(data, pair)]
    vectors = [encoder.encode(given, show_progress_bar=False) for given in (asked, texts)]
    np.argsort(-(vectors[0] @ vectors[1].T), axis=1)[:, :100]
"""


@speed({"each search by itself, sentence-transformers": 2.0}, BELEBELE, TINY_BELEBELE, rounds=1)
def belebele_whole(folder, **size):
    """Whole processes; the peer encodes both sides for each search, one product each, and nothing else."""
    languages, model, ours = belebele(folder, **size)
    given = json.dumps([str(model), str(folder), languages])
    return ours, [lambda: run_process([sys.executable, "-c", SINGLY, given])], same


@speed({"MTEB's own task (`make oracle`)": 2.0}, BELEBELE, TINY_BELEBELE, rounds=1)
def belebele_beside_MTEB(folder, **size):
    """Whole processes."""
    from stele import catalogue
    from stele.catalogue.schema.published import PublishedBenchmark
    from stele.evaluate.export import subset_of

    python = ROOT / ".venv-oracle/bin/python"
    if not python.is_file():
        raise Unavailable("no .venv-oracle: `make oracle` sets it up")
    languages, model, ours = belebele(folder, **size)
    task = catalogue.entry(PublishedBenchmark, "belebele").mteb
    line = [python, ROOT / "tests/oracle/mteb_scores.py", "--mirror", folder, "--model", model, "--subsets"]
    line += [f"BelebeleRetrieval:{subset_of(code, task)[0]}" for code in languages]
    return ours, [lambda: run_process([*line, "--to", folder / "mteb.json"])], same
