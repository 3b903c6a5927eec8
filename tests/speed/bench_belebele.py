"""Belebele whole: CPU time of a retrieval job against MTEB's way, on the same generated texts, model and thread.

    python tests/speed/bench_belebele.py                                   # 40 passages, 70 questions a variant
    python tests/speed/bench_belebele.py --oracle .venv-oracle/bin/python  # MTEB's own task beside it (`make oracle`)

376 searches in 122 variants. A job of ours encodes each variant's passages and questions once; MTEB's task encodes both
for each search. `singly` is that with sentence-transformers and one matrix product a search, and nothing else: less
than MTEB does. Prints a line of JSON: CPU seconds of each, started as processes of their own, and the share that ours
takes (bar: .5), of MTEB's where --oracle is given.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
for folder in ("src", "tests/encoders", "tests/speed"):
    sys.path.insert(0, str(ROOT / folder))

HUB = "huggingface.co/datasets/facebook/belebele/resolve/made/data"


def write_variants(folder: Path, passages: int, questions: int) -> list[str]:
    """Files of all 122 variants, parallel by link; returns their codes."""
    from bench_families import texts

    from stele.catalogue.datasets import dataset

    codes = dataset("belebele").codes
    folder.mkdir(parents=True)
    given = texts((passages + questions) * len(codes))
    for number, code in enumerate(codes):
        own = given[number * (passages + questions) : (number + 1) * (passages + questions)]
        rows = [
            {"link": f"l{row % passages}", "flores_passage": own[row % passages], "question": own[passages + row]}
            for row in range(questions)
        ]
        lines = [json.dumps({**row, "mc_answer1": "", "correct_answer_num": "1"}) + "\n" for row in rows]
        (folder / f"{code}.jsonl").write_text("".join(lines), encoding="utf-8")
    return codes


def cpu_seconds(command: list[str]) -> float:
    """CPU seconds of a process on one thread; one that fails is an error with what it said."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "TOKENIZERS_PARALLELISM", "RAYON_NUM_THREADS"), "1")
    threads |= {"TOKENIZERS_PARALLELISM": "false", "PYTHONPATH": str(ROOT / "src"), "HF_HUB_OFFLINE": "1"}
    run = subprocess.run(command, env={**os.environ, **threads}, capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(f"{' '.join(command)[:300]}\n{run.stderr[-3000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def our_command(place: Path, model: Path, languages: list[str]) -> list[str]:
    """The retrieval job, with the records that it reads."""
    from stele.artifacts.record_shape import seal

    for path, job in ((model / "record.json", "sources checkpoint"), (place / "record.json", "sources dataset")):
        path.write_text(json.dumps(seal({"job": job, "labels": [], "content": job})), encoding="utf-8")
    given = ["--benchmark", "belebele", "--languages", *languages, "--encoder", str(model / "record.json")]
    given += ["--data", f"belebele:all={place / 'record.json'}", "--threads", "1", "--state", str(place / "state")]
    return [
        sys.executable,
        "-m",
        "stele",
        "retrieval",
        "retrieve",
        *given,
        "--output",
        str(place / "out/retrieval.json"),
    ]


def singly(model: Path, folder: Path, languages: list[str]) -> None:
    """Each search by itself: its passages and its questions encoded, their products, the 100 best."""
    import torch
    from sentence_transformers import SentenceTransformer

    from stele.benchmarks import belebele

    torch.set_num_threads(1)
    encoder, data = SentenceTransformer(str(model), device="cpu"), {"belebele": {"all": folder}}
    for pair in belebele.query_sets(languages):
        passages = [passage.text for passage in belebele.passages(data, pair.collection)]
        questions = [query.text for query in belebele.queries(data, pair)]
        scores = (
            encoder.encode(questions, show_progress_bar=False) @ encoder.encode(passages, show_progress_bar=False).T
        )
        np.argsort(-scores, axis=1)[:, :100]


def measure(
    passages: int,
    questions: int,
    width: int,
    layers: int,
    languages: list[str] | None = None,
    oracle: str | None = None,
) -> dict[str, float]:
    """The figures that the module's docstring describes."""
    from bench_families import FAMILIES, make_folder

    from stele import catalogue
    from stele.catalogue.schema.benchmarks import Benchmark

    languages = languages or catalogue.entry(Benchmark, "belebele").languages
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        model = make_folder(place / "model", FAMILIES["e5"], width, layers)
        write_variants(place / HUB, passages, questions)
        times = {"stele": cpu_seconds(our_command(place, model, languages))}
        given = json.dumps([str(model), str(place), languages])
        times["singly"] = cpu_seconds([sys.executable, __file__, "--singly", given])
        if oracle:
            times["mteb"] = cpu_seconds(mteb_command(oracle, place, model, languages))
    other = times.get("mteb", times["singly"])
    rounded = {f"{name}_cpu_seconds": round(value, 2) for name, value in times.items()}
    return {"searches": len(languages), **rounded, "share": round(times["stele"] / other, 3)}


def mteb_command(python: str, place: Path, model: Path, languages: list[str]) -> list[str]:
    """MTEB's own task class on the same files (tests/oracle)."""
    from stele import catalogue
    from stele.catalogue.schema.published import PublishedBenchmark
    from stele.evaluate.export import subset_of

    task = catalogue.entry(PublishedBenchmark, "belebele").mteb
    subsets = [f"BelebeleRetrieval:{subset_of(code, task)[0]}" for code in languages]
    given = ["--mirror", str(place), "--model", str(model), "--subsets", *subsets, "--to", str(place / "mteb.json")]
    return [python, str(ROOT / "tests/oracle/mteb_scores.py"), *given]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=40)
    parser.add_argument("--questions", type=int, default=70)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--oracle", help="the interpreter of MTEB's environment")
    parser.add_argument("--singly", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.singly:
        model, folder, languages = json.loads(args.singly)
        singly(Path(model), Path(folder), languages)
        return 0
    print(json.dumps(measure(args.passages, args.questions, args.width, args.layers, oracle=args.oracle)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
