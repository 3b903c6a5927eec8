"""One command evaluates a folder as it is: from its weights to a result, in a folder of results of its own."""

import json
import random
import re
import subprocess
import sys

import pytest

from tests.encoders.tiny_models import make_folder, sentence_transformers_folder
from tests.workflow.conftest import environment

pytestmark = pytest.mark.slow  # whole evaluations of an encoder


def test_a_folder_is_evaluated_by_one_command(built, tmp_path):
    folder = make_folder(tmp_path / "tiny")
    command = [sys.executable, "-m", "stele", "evaluate", str(folder), "--scale", "miniature"]
    own = ["--benchmarks", "mrtydi", "--encoding", "pooling=mean", "dimension=16", "--snakemake", "--cores", "2"]
    run = subprocess.run([*command, *own], cwd=built, env=environment(), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-3000:]
    result = json.loads((built / "results_evaluate/mrtydi/tiny/direct.json").read_text())
    retrieved = next(facts for facts in result["ancestry"].values() if facts["job"] == "retrieve")
    assert retrieved["encoding"]["dimension"] == 16
    assert retrieved["encoding_decided_by"]["config"] == ["dimension", "pooling"]
    card = (built / "results_evaluate/cards/tiny.md").read_text()
    assert "| pooling " in card and "--encoding dimension=16 pooling=mean" in card and "generated data" in card
    assert (built / "results_evaluate/cards/tiny.html").is_file()
    listed = [*command[:3], "tables", "references", "--results-dir", "results_evaluate"]
    verdicts = subprocess.run(listed, cwd=built, env=environment(), capture_output=True, text=True)
    assert verdicts.returncode == 0 and "no result has a published number" in verdicts.stdout


def test_a_copy_of_a_public_model_is_evaluated_on_real_data_without_a_gpu(built, tmp_path):
    """At the papers' scale, which requests two GPUs; from some files of a user's Belebele, by one command."""
    folder = sentence_transformers_folder(tmp_path / "models/multilingual-e5-small")
    belebele(tmp_path / "belebele", "eng_Latn")
    (tmp_path / "mine.yaml").write_text(f"user_data: {{belebele: {tmp_path / 'belebele'}}}\n")
    given = ["--benchmarks", "belebele", "--languages", "en", "--configfile", str(tmp_path / "mine.yaml")]
    apart = ["--name", "me5_small", "--results-dir", "results_copy"]
    command = [sys.executable, "-m", "stele", "evaluate", str(folder), *given, *apart]
    options = {"cwd": built, "env": environment(), "capture_output": True, "text": True}
    planned = subprocess.run([*command, "--plan"], **options)
    size = re.search(r"^me5_small on belebele: \d jobs; .*memory (\d+) MB, time .* on \d+ cores", planned.stdout, re.M)
    assert size, planned.stdout + planned.stderr[-2000:]
    run = subprocess.run([*command, "--snakemake", "--cores", "2"], **options)
    assert run.returncode == 0, run.stderr[-3000:]
    assert "log: logs/paper/retrieve/belebele.me5_small.direct.pt0-ft0.log" in run.stderr
    result = json.loads((built / "results_copy/belebele/me5_small/direct.json").read_text())
    retrieved = json.loads((built / "results_copy/belebele/me5_small/direct/pt0-ft0/retrieval.json").read_text())
    assert retrieved["encoding"]["query_prompt"] == "query: " and retrieved["processes"] == 1
    assert retrieved["peak_memory_mb"] / 2 < int(size[1]) < 2 * retrieved["peak_memory_mb"]
    assert result["metrics"]["ndcg@10"]["n"] == {"en-en": 900} and "generated data" not in result["labels"]
    card = (built / "results_copy/cards/me5_small.md").read_text()
    assert "taken for intfloat/multilingual-e5-small" in card and "--name me5_small" in card
    assert "--configfile FILE --results-dir results_copy" in card and "your folders of belebele" in card


def belebele(folder, variant):
    """A variant's file in the real format and of the real size: 488 passages, 900 questions of seven words."""
    words, rng = [f"w{number}" for number in range(300)], random.Random(0)
    passages = [" ".join(rng.choices(words, k=12)) for _ in range(488)]
    rows = []
    for number in range(900):
        of = number % 488
        answers = {f"mc_answer{choice}": "a" for choice in (1, 2, 3, 4)}
        about = {"link": f"https://en.wikinews.org/wiki/{of}", "question_number": 1 + number // 488, "dialect": variant}
        question = f"{number} {' '.join(rng.choices(words, k=6))}"
        rows.append(
            {**about, "flores_passage": passages[of], "question": question, **answers, "correct_answer_num": "1"}
        )
    (folder / "data").mkdir(parents=True)
    (folder / "data" / f"{variant}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
