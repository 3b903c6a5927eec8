"""A small CLEF, and the command on it."""

import json
import sys
from pathlib import Path

import pytest

from tests.jobs import job

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "encoders"))  # tiny_models

from made_clef import read_made_vectors, write_clef
from tiny_models import make_folder

from stele.benchmarks.clef import Clef
from stele.reranking.folds.candidates import read_candidates
from tests.sealed import write_sealed


@pytest.fixture(scope="session")
def clef_record(tmp_path_factory) -> Path:
    return write_clef(tmp_path_factory.mktemp("clef"))


@pytest.fixture(scope="session")
def judged(clef_record):
    """The candidates of English topics among German documents."""
    return read_candidates(Clef(), {"clef": {"all": clef_record.parent}}, Clef().query_sets(["en-de"])[0])


@pytest.fixture(scope="session")
def bert(tmp_path_factory) -> Path:
    """The record of a tiny BERT of four layers."""
    folder = make_folder(tmp_path_factory.mktemp("bert"), "bert", layers=4)
    write_sealed(folder / "record.json", {"job": "checkpoint", "content": "b", "labels": ["stand-in checkpoint"]})
    return folder / "record.json"


@pytest.fixture
def rerank(tmp_path, clef_record, monkeypatch):
    """rerank(name, recipe, *flags, languages, seed, data) -> the folder of the runs' record."""
    from stele.reranking import rerank as command

    monkeypatch.setattr(command, "read_vectors", lambda folders, *words: read_made_vectors(*words))

    def call(name: str, recipe: dict, *flags: str, languages=("en-de",), seed=0, data=None) -> Path:
        line = ["--model", "tiny", "--benchmark", "clef", "--languages", *languages, "--recipe", json.dumps(recipe)]
        line += ["--data", f"clef:all={data or clef_record}", "--seed", str(seed), *flags]
        line += ["--state", str(tmp_path / name / "state"), "--output", str(tmp_path / name / "out/retrieval.json")]
        command.run(job(command, line))
        return tmp_path / name / "out"

    return call
