"""MTEB's own tasks on the generated data: scores that both know are equal; its loader reads what is exported.

`make oracle` builds the results and sets up the environment of MTEB; without it these tests are skipped.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from stele import catalogue
from stele.artifacts.results import read_result
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.published import PublishedBenchmark
from stele.evaluate.export import mteb_metric, subset_of, task_result

BUILT, PYTHON = os.environ.get("STELE_ORACLE_BUILT"), os.environ.get("STELE_ORACLE_PYTHON")
pytestmark = pytest.mark.skipif(not (BUILT and PYTHON), reason="`make oracle` sets up MTEB and runs these")
SCRIPTS = Path(__file__).parent
MODEL = "labse"
# benchmark -> MTEB's task of the same data and its names of our languages
TASKS = {
    "miracl": ("MIRACLRetrieval", {code: code for code in ("ar", "en", "sw", "th")}),
    "miracl_hard_negatives": ("MIRACLRetrievalHardNegatives.v2", {code: code for code in ("ar", "en", "sw", "th")}),
    "belebele": (
        "BelebeleRetrieval",
        {
            **{"ar-ar": "arb_Arab-arb_Arab", "en-en": "eng_Latn-eng_Latn", "sw-sw": "swh_Latn-swh_Latn"},
            **{"ar-en": "arb_Arab-eng_Latn", "sw-en": "swh_Latn-eng_Latn"},
            **{"en-ar": "eng_Latn-arb_Arab", "en-sw": "eng_Latn-swh_Latn"},
        },
    ),
    "neuclir_clir": ("NeuCLIR2022Retrieval", {"fa": "fas", "ru": "rus", "zh": "zho"}),
}


def result_of(benchmark):
    return read_result(Path(BUILT) / f"results_oracle/{benchmark}/{MODEL}/direct.json")


def ask(script, *arguments):
    """What MTEB says; its progress bars are left out."""
    command = [PYTHON, str(SCRIPTS / script), *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    assert run.returncode == 0, run.stderr[-3000:]
    return run.stdout


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    """Task -> subset -> metric -> value, of MTEB."""
    to = tmp_path_factory.mktemp("mteb") / "scores.json"
    subsets = [f"{task}:{subset}" for task, names in TASKS.values() for subset in names.values()]
    folder = Path(BUILT) / "resources/miniature"
    given = ("--mirror", folder / "mirror", "--model", folder / "checkpoints" / MODEL)
    ask("mteb_scores.py", *given, "--subsets", *subsets, "--to", to)
    return json.loads(to.read_text())["scores"]


@pytest.mark.parametrize("benchmark", TASKS)
def test_every_shared_score_of_every_language_is_that_of_mteb(scores, benchmark):
    task, names = TASKS[benchmark]
    result, compared, values = result_of(benchmark), 0, set()
    for metric, measured in result.metrics.items():
        assert measured.languages.keys() == names.keys()
        for code, value in measured.languages.items():
            theirs = scores[task][names[code]][mteb_metric(metric)]
            assert value == pytest.approx(theirs, abs=1e-5), (metric, code)  # theirs has five digits
            compared, values = compared + 1, values | {round(value, 4)}
    assert compared == len(names) * len(result.metrics) and len(values) > len(names), "scores that differ were compared"


def test_the_names_of_subsets_that_are_exported_are_those_of_mteb(scores):
    for benchmark, (task, names) in TASKS.items():
        about = catalogue.entries(PublishedBenchmark).get(benchmark)
        if about and about.mteb:
            assert about.mteb.task == task
            assert {code: subset_of(code, about.mteb)[0] for code in names} == names


def instruction(prompt):
    """What a task of MTEB tells models with a place for it: its own, by kind of text, or MTEB's default."""
    own = prompt.get("query") if isinstance(prompt, dict) else prompt
    return own or "Retrieve text based on user query."


def test_mteb_reads_what_is_exported_and_knows_all_languages(tmp_path):
    """Results of generated data are not exported by the command: the file is made as it makes it.

    Of all languages that the benchmark has on real data, each with another value.
    """
    exported, benchmark_of = {}, {task: benchmark for benchmark, (task, _) in TASKS.items()}
    for benchmark, (task, _) in TASKS.items():
        about = catalogue.entries(PublishedBenchmark).get(benchmark)
        if about and about.mteb:
            result, codes = result_of(benchmark), catalogue.entry(Benchmark, benchmark).languages
            for metric in result.metrics.values():
                metric.languages |= {
                    code: number / 1000 for number, code in enumerate(codes) if code not in metric.languages
                }
            exported[task] = task_result(result, about)
            (tmp_path / f"{task}.json").write_text(json.dumps(exported[task]))
    assert len(exported) >= 2
    read = json.loads(ask("mteb_reads.py", *sorted(tmp_path.iterdir())))
    for task, values in exported.items():
        (split,) = values["scores"]
        assert read[task]["languages"] == {one["hf_subset"]: one["languages"] for one in values["scores"][split]}
        assert read[task]["known"], "the task has other names of them"
        assert (
            instruction(read[task]["instruction"])
            == catalogue.entry(Benchmark, benchmark_of[task]).encoding.instruction
        )
        assert read[task]["main_score"] == {one["hf_subset"]: one["main_score"] for one in values["scores"][split]}
