"""Queries generated for the windows of a collection: batches, what is dropped, going on after kill -9."""

import json
from pathlib import Path

import pytest
import test_retrieve as retrieval
import test_retrieve_windows as windowed
from recorded import files, record

from stele.benchmarks.transfer_set import TransferSet
from stele.benchmarks.types import Passage
from stele.encoders.generator import generate, load_generator
from stele.errors import SteleError
from stele.retrieval import generate_queries
from tests.encoders.tiny_models import make_mbart_folder
from tests.jobs import job
from tests.killing import kill_at, killed

data, small_windows = windowed.data, retrieval.small_windows
SIZES = {"beams": 3, "source_length": 24, "query_length": 6}
RECIPE = {"windows": 30, "batch": 4, **SIZES}


@pytest.fixture(scope="module")
def generator(tmp_path_factory) -> Path:
    """The record of an mBART of random weights, large enough ones that what it writes depends on what it reads."""
    folder = make_mbart_folder(tmp_path_factory.mktemp("generator"), layers=2, init_std=0.4)
    return record(folder, content="generator", labels=["stand-in checkpoint"])


def test_what_is_no_generator_is_refused(encoder, tmp_path):
    with pytest.raises(SteleError, match="'xlm-roberta' does not generate text from text"):
        load_generator(encoder.parent)
    with pytest.raises(SteleError, match=r"config\.json"):
        load_generator(tmp_path)


def test_empty_copied_and_double_queries_are_dropped():
    windows = [Passage(str(n), "", "The Nile is long. It flows  north!") for n in range(7)]
    queries = ["how long is it", " .?", "it flows north", "The Nile is", "How long is it?", "the Nile's length", ""]
    kept, dropped = generate_queries.usable(queries, windows, "en")
    assert kept == [0, 5]
    assert dropped == {"empty": 2, "copied": 2, "double": 1}


# --- the command ------------------------------------------------------------------------------------------------------
def arguments(tmp_path: Path, generator: Path, data: list[str], name: str = "out", seed: int = 0, **changes):
    line = ["--benchmark", "mrtydi", "--language", "sw", "--generator", str(generator), "--data", *data]
    line += ["--windows", json.dumps(windowed.FEW), "--recipe", json.dumps({**RECIPE, **changes})]
    line += ["--seed", str(seed), "--state", str(tmp_path / "state" / name)]
    return job(generate_queries, [*line, "--output", str(tmp_path / name / "record.json")])


def examples(folder: Path) -> list:
    return list(TransferSet().training({"qgen": {"sw": folder}}, "train"))


def test_each_query_has_its_own_window_as_positive(tmp_path, generator, data):
    generate_queries.run(arguments(tmp_path, generator, data))
    found, facts = examples(tmp_path / "out"), json.loads((tmp_path / "out/record.json").read_text())
    loaded, texts = load_generator(generator.parent), {row["docid"]: row["text"] for row in windowed.documents()}
    assert len(found) > 5
    for example in found:
        (window,) = example.positives
        assert generate(loaded, [window.text], **SIZES, batch=1) == [example.query]
        assert window.text in texts[window.id.rpartition("#")[0]]
        assert example.negatives == [] and example.language == "sw"
    assert facts["counts"]["train"] + sum(facts["dropped"].values()) == facts["drawn"] == 30
    assert facts["windows"] > 60 and facts["documents"] == 40
    assert facts["labels"] == ["generated data", "stand-in checkpoint"]
    assert not (tmp_path / "state/out").exists()


@pytest.mark.parametrize(("name", "call", "left"), [("atomic_write_json", 3, 30 - 2 * 8), ("write_set", 1, 0)])
def test_it_goes_on_after_kill_9(tmp_path, generator, data, monkeypatch, name, call, left):
    generate_queries.run(arguments(tmp_path, generator, data, "whole"))
    monkeypatch.setattr(generate_queries, "PART", 8)
    args = arguments(tmp_path, generator, data, batch=3)
    killed(lambda: generate_queries.run(args), kill_at(generate_queries, name, call))
    assert not args.output.exists()
    read = []
    noted = lambda model, some, *sizes: read.extend(some) or generate(model, some, *sizes)  # noqa: E731
    monkeypatch.setattr("stele.encoders.generator.generate", noted)
    generate_queries.run(args)
    assert len(read) == left, "nothing is generated twice"
    assert files(tmp_path / "out") == files(tmp_path / "whole")


def test_queries_of_other_windows_are_not_gone_on_with(tmp_path, generator, data, monkeypatch):
    monkeypatch.setattr(generate_queries, "PART", 8)
    longer = {"windows": json.dumps({**windowed.FEW, "sentences": windowed.FEW["sentences"] + 1})}
    generate_queries.run(arguments(tmp_path, generator, data, "whole").model_copy(update=longer))
    args = arguments(tmp_path, generator, data)
    killed(lambda: generate_queries.run(args), kill_at(generate_queries, "atomic_write_json", 3))
    generate_queries.run(args.model_copy(update=longer))
    assert files(tmp_path / "out") == files(tmp_path / "whole")


def test_windows_are_drawn_by_the_seed(tmp_path, generator, data):
    drawn = []
    for seed in (0, 1):
        generate_queries.run(arguments(tmp_path, generator, data, str(seed), seed, windows=10))
        drawn.append({example.positives[0].id for example in examples(tmp_path / str(seed))})
    assert drawn[0] != drawn[1]


def test_windows_are_of_sentences(tmp_path, generator, data):
    of_tokens = arguments(tmp_path, generator, data).model_copy(update={"windows": '{"overlap": 0.5, "hits": 9}'})
    with pytest.raises(SteleError, match=r"--windows: .*sentences"):
        generate_queries.run(of_tokens)


@pytest.mark.parametrize(("language", "message"), [("fr", "in fr, found pairs"), ("en", "no query set of en")])
def test_pairs_of_languages_are_no_documents(tmp_path, generator, data, language, message):
    of_pairs = arguments(tmp_path, generator, data).model_copy(update={"benchmark": "tatoeba", "language": language})
    with pytest.raises(SteleError, match=message):
        generate_queries.run(of_pairs)


def test_a_generator_that_only_copies_is_refused(tmp_path, generator, data, monkeypatch):
    monkeypatch.setattr("stele.encoders.generator.generate", lambda g, some, *sizes: list(some))
    with pytest.raises(SteleError, match=r"no usable query for 30 windows: 30 copied"):
        generate_queries.run(arguments(tmp_path, generator, data))
    assert not (tmp_path / "out").exists()
