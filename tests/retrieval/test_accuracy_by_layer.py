"""Accuracy by layer: each layer's is that of the benchmark read there, by the search and the scorer of the tables."""

from __future__ import annotations

import csv
import doctest
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from recorded import record

from stele.artifacts.results import RunKey
from stele.command import cli
from stele.config.model import parse_config
from stele.errors import SteleError
from stele.files.digests import sha256
from stele.plan.plan import make_plan
from stele.retrieval import accuracy_by_layer
from stele.retrieval.accuracy_by_layer import draw

SPEC = {"pooling": "mean", "query_length": 16, "passage_length": 16}
WORDS = ["river", "nile", "flows", "through", "uganda", "egypt", "who", "wrote", "first", "novel", "city"]
PAIRS = 40


def test_the_examples_in_the_docstrings_hold():
    outcome = doctest.testmod(accuracy_by_layer)
    assert outcome.attempted and not outcome.failed


@pytest.fixture(scope="module")
def sentences(tmp_path_factory) -> Path:
    """Pairs whose sides share some of their words, in two languages."""
    folder, rng = tmp_path_factory.mktemp("tatoeba"), np.random.default_rng(1)
    for code in ("ara", "swh"):
        lines = [list(rng.choice(WORDS, 3 + n % 5)) for n in range(PAIRS)]
        sides = lines, [[*rng.choice(WORDS, 2), *line[1:]] for line in lines]
        for side, texts in zip((code, "eng"), sides, strict=True):
            (folder / f"tatoeba.{code}-eng.{side}").write_text("".join(f"{' '.join(line)}\n" for line in texts))
    return record(folder, content="pairs", labels=["generated data"])


def by_layer(encoder: Path, sentences: Path, output: Path, languages=("ar", "sw"), **encoding) -> int:
    line = ["--benchmark", "tatoeba", "--languages", *languages, "--encoder", str(encoder), "--threads", "1"]
    line += ["--encoding", json.dumps(SPEC | encoding), "--model", "tiny", "--data", f"tatoeba:all={sentences}"]
    return cli.main(["retrieval", "accuracy_by_layer", *line, "--output", str(output)])


def scored(encoder: Path, sentences: Path, folder: Path, **encoding) -> dict[str, float]:
    """Accuracies of a layer by the commands of a table's row."""
    made, data = folder / "retrieval.json", f"tatoeba:all={sentences}"
    line = ["--languages", "ar", "sw", "--encoder", str(encoder), "--encoding", json.dumps(SPEC | encoding)]
    options = ["--depth", "10", "--threads", "1", "--state", str(folder / "state"), "--code", "c"]
    command = ["retrieval", "retrieve", "--benchmark", "tatoeba", *line, "--data", data, *options]
    assert cli.main([*command, "--output", str(made)]) == 0
    line = ["--model", "tiny", "--setting", "direct", "--seeds", "pt0-ft0", "--metrics", "accuracy", "--data", data]
    outputs = ["--queries", str(folder / "queries.parquet"), "--output", str(folder / "pt0-ft0.json")]
    assert cli.main(["scoring", "score", "tatoeba", "--run", str(made), *line, *outputs]) == 0
    metric = json.loads((folder / "pt0-ft0.json").read_text())["metrics"]["accuracy"]
    return {"mean": metric["average"], **metric["languages"]}


@pytest.mark.parametrize("prompt", [{}, {"query_prompt": "novel city "}], ids=["symmetric", "with a prompt"])
def test_each_layer_s_accuracy_is_what_a_row_at_that_layer_scores(encoder, sentences, tmp_path, prompt):
    out = tmp_path / "accuracy_by_layer.csv"
    assert by_layer(encoder, sentences, out, layer=1, **prompt) == 0
    with open(out, encoding="utf-8", newline="") as handle:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(handle)]
    assert [list(row) for row in rows] == [["layer", "mean", "ar", "sw"]] * 2
    for layer, row in enumerate(rows, 1):
        assert row.pop("layer") == layer
        (folder := tmp_path / str(layer)).mkdir()
        assert row == pytest.approx(scored(encoder, sentences, folder, layer=layer, **prompt), abs=1e-5)
    assert 2 / PAIRS < rows[0]["mean"] < 1 and rows[0] != rows[1]


def test_the_record_names_the_layer_of_the_tables_and_every_file(encoder, sentences, tmp_path):
    out = tmp_path / "accuracy_by_layer.csv"
    assert by_layer(encoder, sentences, out, layer=1) == 0
    written = json.loads(out.with_suffix(".json").read_text())
    assert (written["job"], written["layer_of_tables"], written["languages"]) == ("accuracy_by_layer", 1, ["ar", "sw"])
    assert written["labels"] == ["generated data", "stand-in checkpoint"] and written["content"] == sha256(out)
    assert set(written["outputs"]) == {f"accuracy_by_layer.{ending}" for ending in ("csv", "svg", "pdf")}
    assert written["encoding"]["layer"] is None
    for name, facts in written["outputs"].items():
        assert facts["sha256"] == sha256(tmp_path / name)
    assert by_layer(encoder, sentences, tmp_path / "again.csv", layer=1) == 0
    assert (tmp_path / "again.svg").read_bytes() == out.with_suffix(".svg").read_bytes()


def test_the_picture_has_a_line_a_language_the_mean_and_its_highest_layer():
    columns = {"mean": np.array([0.2, 0.6, 0.4]), "ar": np.array([0.1, 0.7, 0.5]), "sw": np.array([0.3, 0.5, 0.3])}
    (axes,) = draw(columns, "tiny", evaluated=3).axes
    lines = {line.get_label(): line for line in axes.lines}
    assert lines["mean"].get_ydata().tolist() == [0.2, 0.6, 0.4] and lines["mean"].get_xdata().tolist() == [1, 2, 3]
    assert len(lines["highest: layer 2, 60.0%"].get_xdata()) == 1
    assert lines["layer of the tables: 3"].get_xdata() == [3, 3] and len(axes.lines) == 5
    assert len(draw(columns, "tiny", evaluated=None).axes[0].lines) == 4


def test_what_cannot_be_retrieved_leaves_no_output(encoder, sentences, tmp_path, capsys):
    out = tmp_path / "accuracy_by_layer.csv"
    for languages, encoding, message in (
        (["en"], {}, "nothing to retrieve for en"),
        (["ar"], {"pooling": "pooler"}, "every layer: this encoder's vectors are made of the last one"),
        (["te"], {}, "no file tatoeba.tel-eng.tel"),
    ):
        assert by_layer(encoder, sentences, out, languages, **encoding) == 1
        assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


# --- the plan ---------------------------------------------------------------------------------------------------------
def test_it_reads_what_the_search_reads_and_nothing_is_fine_tuned():
    plan = make_plan(parse_config({"scale": "miniature"}))
    w = SimpleNamespace(benchmark="tatoeba", model="ccp", seeds="pt0-ft0")
    assert plan.retrieval.layer_inputs(w) == plan.rows.inputs(RunKey("tatoeba", "ccp", "direct"), "pt0-ft0")
    assert plan.retrieval.encoding("tatoeba", "ccp").layer == 2, "the layer of the tables is drawn beside the others"
    w.model = "bm25"
    with pytest.raises(SteleError, match="not built: no rule builds tatoeba/direct with bm25 yet"):
        plan.retrieval.layer_inputs(w)


def test_no_table_asks_for_it():
    plan = make_plan(parse_config({"scale": "miniature"}))
    results = [name for table in plan.tables.specs for name in plan.tables.results(table)]
    asked = [*plan.tables.files(), *plan.figures.files(), *results]
    assert asked and not any("accuracy_by_layer" in name for name in asked)
