"""The command `bm25`: parameters chosen on dev, runs of test, kill -9, recipes and data that make no sense."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from bm25_by_hand import by_hand
from recorded import goes_on, lines_of, put, record, write_mrtydi

from stele.artifacts.run_files import read_run
from stele.command.arguments import Job
from stele.errors import SteleError
from stele.files.strict import validate
from stele.recipes.search import Search, Tuning
from stele.retrieval import bm25
from stele.retrieval.lexical import lucene_bm25
from stele.retrieval.searches import search_job
from stele.text.terms import analyzer
from tests.jobs import job

WORDS = {"sw": "mto jiji nile kenya mkuu wa bahari", "ja": "東京 大阪 京都 川 海 山 駅"}
RECIPE = {"split": "dev", "k1": [0.1, 0.9, 1.6], "b": [0.0, 0.4, 1.0]}


@pytest.fixture
def data(tmp_path) -> list[str]:
    """Mr. TyDi in Swahili and Japanese: 60 passages each, 8 questions in dev and in test."""
    given = []
    for seed, (language, written) in enumerate(WORDS.items()):
        words = written.split()
        rng, between = np.random.default_rng(seed), " " if language == "sw" else ""
        texts = [between.join(rng.choice(words, rng.integers(2, 15))) for _ in range(60)]
        passages = [{"docid": f"{i}#0", "title": str(rng.choice(words)), "text": text} for i, text in enumerate(texts)]
        dev, test = ({f"{n}#0": texts[n][:20] for n in range(first, first + 8)} for first in (0, 8))
        given += write_mrtydi(tmp_path, language, passages, test, dev=dev)
    return given


def arguments(tmp_path: Path, data: list[str], name: str = "out", *more: str) -> Job:
    line = ["--benchmark", "mrtydi", "--languages", "sw", "ja", "--recipe", json.dumps(RECIPE), "--data", *data]
    line += ["--depth", "20", "--state", str(tmp_path / "state" / name), *more]
    return job(bm25, [*line, "--output", str(tmp_path / name / "retrieval.json")])


def test_the_parameters_are_chosen_on_dev_and_the_run_is_of_test(tmp_path, data):
    bm25.run(arguments(tmp_path, data))
    record = json.loads((tmp_path / "out/retrieval.json").read_text())
    assert record["labels"] == ["generated data"] and "encoder" not in record["inputs"]
    for language in ("sw", "ja"):
        cut, mrr = analyzer(language), {}
        rows = lines_of(tmp_path / language / "c/corpus.jsonl.gz")
        texts = {row["docid"]: " ".join(cut(f"{row['title']}\n\n{row['text']}")) for row in rows}
        dev, test = (lines_of(tmp_path / language / f"t/{split}.jsonl.gz") for split in ("dev", "test"))
        for pair in itertools.product(RECIPE["k1"], RECIPE["b"]):
            ranked = [[name for name, _ in by_hand(texts, cut(query["query"]), *pair)] for query in dev]
            mrr[pair] = sum(1 / (names.index(f"{n}#0") + 1) for n, names in enumerate(ranked)) / len(dev)
        facts = record["searches"][language]
        chosen = facts["k1"], facts["b"]
        assert facts["dev_mrr"] == pytest.approx(max(mrr.values())) == pytest.approx(mrr[chosen])
        assert facts["dev_mrr_by_default"] == pytest.approx(mrr[0.9, 0.4])
        assert (facts["language"], facts["queries"], facts["dev_queries"], facts["passages"]) == (language, 8, 8, 60)
        run = read_run(tmp_path / f"out/runs/{language}.trec.gz")
        for query in test:
            expected = [name for name, _ in by_hand(texts, cut(query["query"]), *chosen)][:20]
            assert run.ranking(query["query_id"]) == expected


def test_a_killed_expansion_goes_on_and_gives_the_same_runs(tmp_path, data, monkeypatch):
    """Killed in the second language's second index: a block, three, a block, and the second of three."""
    monkeypatch.setattr("stele.retrieval.lexical.engines.EXPANDED_BLOCK", 20)
    recipe = json.dumps({"k1": 0.9, "b": 0.4, "lengths": "lucene", "rm3": {"documents": 3, "filter": "none"}})
    goes_on(bm25, lambda name: arguments(tmp_path, data, name, "--recipe", recipe), lucene_bm25.np, "savez", 7)
    record = json.loads((tmp_path / "killed/retrieval.json").read_text())
    assert record["recipe"]["rm3"] == {"documents": 3, "filter": "none"} and "k1" not in record["searches"]["sw"]


@pytest.mark.parametrize(
    ("module", "name", "call"),
    [
        (lucene_bm25.np, "savez", 2),  # in the second language's only block
        (bm25, "mean_reciprocal_rank", 5),  # while parameters are tried
        (search_job, "write_run", 2),  # first language done, second tuned
        (search_job, "atomic_write_json", 2),  # a run written, not yet declared whole
        (bm25.records, "write_record", 1),  # everything but the record
    ],
)
def test_kill_9_and_again_gives_the_same_runs(tmp_path, data, module, name, call):
    goes_on(bm25, lambda folder: arguments(tmp_path, data, folder), module, name, call)
    records = [json.loads((tmp_path / n / "retrieval.json").read_text()) for n in ("killed", "whole")]
    assert records[0]["searches"] == records[1]["searches"]


def test_a_kill_between_two_searches_of_one_collection_leaves_no_index_for_the_second(tmp_path):
    """XOR-Retrieve's languages share a collection; an index has the terms of one language's questions."""
    rows = [("ru0", "nile kenya", "ru"), ("ru1", "sea town hill", "ru")]
    rows += [("fi0", "joki nile", "fi"), ("fi1", "meri", "fi")]
    more = {"answers": ["x"], "split": "dev"}
    questions = [{"id": name, "question": text, "lang": code, **more} for name, text, code in rows]
    put(tmp_path / "q/xor_dev_retrieve_eng_span_v1_1.jsonl", questions)
    (tmp_path / "w").mkdir()
    texts = ["nile joki", "kenya nile hill", "sea meri", "town sea", "meri joki joki", "hill"]
    passages = "".join(f"{n}\t{text}\tA title\n" for n, text in enumerate(texts, start=1))
    (tmp_path / "w/enwiki_20190201_w100.tsv").write_text("id\ttext\ttitle\n" + passages)
    folders = {"xor_tydi": "q", "enwiki_20190201_w100": "w"}
    data = [f"{name}:all={record(tmp_path / folder, content=folder)}" for name, folder in folders.items()]
    changes = {"benchmark": "xor_retrieve", "languages": ("ru", "fi"), "recipe": json.dumps({"k1": 0.9, "b": 0.4})}
    goes_on(bm25, lambda name: arguments(tmp_path, data, name).model_copy(update=changes), bm25.shutil, "rmtree", 1)
    assert read_run(tmp_path / "killed/runs/fi.trec.gz").ranking("fi0") == ["1", "5", "2"]


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        ({"k1": 1}, "--recipe: b: Field required"),
        ({"split": "dev", "k1": [0.9], "b": [1.5]}, r"b\.0: .* less than or equal to 1 \(found 1\.5\)"),
        ({"split": "dev", "k1": [-1], "b": [0.4]}, r"k1\.0: .* greater than or equal to 0"),
    ],
)
def test_recipes_that_make_no_sense(recipe, message):
    with pytest.raises(SteleError, match=message):
        validate(Tuning if "split" in recipe else Search, recipe, "--recipe")


def test_a_later_language_without_an_analyzer_is_refused_before_the_first_is_indexed(tmp_path, data):
    args = arguments(tmp_path, data).model_copy(update={"languages": ("sw", "fa")})
    with pytest.raises(SteleError, match="unknown analyzer 'fa'"):
        bm25.run(args)
    assert not args.state.exists()


def test_languages_without_queries_are_refused(tmp_path, data):
    args = arguments(tmp_path, data).model_copy(update={"benchmark": "tatoeba", "languages": ("en",)})
    with pytest.raises(SteleError, match="tatoeba: found no query set of en; see --languages"):
        bm25.run(args)
    assert not args.output.parent.exists()


def test_as_many_hits_as_asked_for_remain_without_the_query_itself(tmp_path):
    for name in ("corpus", "queries"):  # each document is a query, too
        put(tmp_path / f"set/{name}.jsonl", [{"_id": f"d{i}", "text": "nile " + "river " * (i + 1)} for i in range(8)])
    (tmp_path / "set/qrels").mkdir()
    judged = "".join(f"d{i}\td{7 - i}\t1\n" for i in range(8))
    (tmp_path / "set/qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\n" + judged)
    changes = {"benchmark": "miracl_hard_negatives", "languages": ("en",), "depth": 4}  # read by the module beir
    args = arguments(tmp_path, [f"miracl_hard_negatives:en={record(tmp_path / 'set', content='set')}"])
    bm25.run(args.model_copy(update={**changes, "recipe": json.dumps({"k1": 0.9, "b": 0.4})}))
    run = read_run(tmp_path / "out/runs/en.trec.gz")
    assert {sum(name != query for name in run.ranking(query)) for query in run.queries} == {4}
    assert {len(run.ranking(query)) for query in run.queries} == {4, 5}
