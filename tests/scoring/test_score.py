"""The commands `scoring score` and `scoring average`: from run files to results."""

import gzip
import json
import math
import shutil
from pathlib import Path

import pyarrow.parquet
import pytest

from stele.artifacts.records import content_digest, read_record
from stele.artifacts.results import read_result
from stele.artifacts.run import canonical
from stele.artifacts.run_files import write_run
from stele.benchmarks.lareqa import Lareqa
from stele.benchmarks.types import QuerySet
from stele.errors import SteleError
from stele.files.digests import sha256
from stele.scoring import average, score
from stele.scoring.system_files.systems import run_scores
from tests.jobs import job
from tests.sealed import write_sealed


def put_record(folder: Path, name: str = "record.json", **facts) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return write_sealed(folder / name, {"job": "x", "labels": [], **facts})


@pytest.fixture
def swahili(tmp_path):
    """Three judged queries, one with two relevant passages; the run lacks the third and has one nobody judged."""
    folder = tmp_path / "data"
    path = put_record(folder, content="d", labels=["generated data"])
    topics = "".join(json.dumps({"query_id": str(i), "query": "q"}) + "\n" for i in range(3))
    (folder / "test.jsonl.gz").write_bytes(gzip.compress(topics.encode()))
    (folder / "qrels.test.txt").write_text("0 Q0 a 1\n1 Q0 b 1\n1 Q0 c 1\n2 Q0 a 1\n")
    run = {"0": [("x", 2.0), ("a", 2.0)], "1": [("y", 3.0), ("z", 2.0), ("w", 1.5), ("b", 1.0)], "9": [("a", 1.0)]}
    retrieval(tmp_path, {"sw": run})
    return path


def retrieval(
    tmp_path: Path, runs: dict, benchmark: str = "mrtydi", labels=("generated data",), ancestry=None, **pools
) -> Path:
    for name, run in runs.items():
        rows = ((query, canonical(hits)) for query, hits in run.items())
        write_run(tmp_path / "run/runs" / f"{name}.trec.gz", rows, "t")
    facts = {name: {"language": name, "pool": pools.get(name, name)} for name in runs}
    about = {"benchmark": benchmark, "searches": facts, "labels": labels, "inputs": {"encoder": "e"}}
    about |= {"ancestry": ancestry or {}}
    return put_record(tmp_path / "run", "retrieval.json", **about)


def scored(tmp_path: Path, data, metrics=("mrr@100", "recall@100"), benchmark="mrtydi", seed=1) -> tuple[dict, Path]:
    output = tmp_path / f"results/{benchmark}/msm/zero_shot_nq/pt0-ft{seed}.json"
    queries = output.with_suffix("") / "queries.parquet"
    line = [benchmark, "--model", "msm", "--setting", "zero_shot_nq", "--seeds", f"pt0-ft{seed}"]
    line += ["--metrics", *metrics, "--run", str(tmp_path / "run/retrieval.json")]
    score.run(job(score, [*line, "--data", *data, "--output", str(output), "--queries", str(queries)]))
    return json.loads(output.read_text()), queries


def test_a_run_is_scored_per_query_per_language_and_on_average(tmp_path, swahili):
    result, queries = scored(tmp_path, [f"mrtydi:sw={swahili}"])
    # query 0: x and a are tied, x has the higher id, so a is second; query 1: b is fourth, c not found; 2: missing
    assert result["metrics"]["mrr@100"]["languages"] == {"sw": pytest.approx((1 / 2 + 1 / 4 + 0) / 3)}
    assert result["metrics"]["recall@100"]["average"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert result["metrics"]["recall@100"]["n"] == {"sw": 3}
    assert result["counts"] == {"queries": 3, "missing_queries": 1, "missing": {"sw": 1}, "extra_queries": 1}
    assert (result["benchmark"], result["model"], result["setting"]) == ("mrtydi", "msm", "zero_shot_nq")
    assert result["seeds"] == {"pretraining": 0, "finetuning": 1}
    assert result["labels"] == ["generated data"]
    table = pyarrow.parquet.read_table(queries).to_pydict()
    assert table["query"] == ["0", "1", "2"]
    assert table["language"] == ["sw"] * 3
    assert table["mrr@100"] == [0.5, 0.25, 0.0]


def test_the_record_says_how_sure_the_values_are_and_where_those_of_each_query_stand(tmp_path, swahili):
    result, queries = scored(tmp_path, [f"mrtydi:sw={swahili}"])
    intervals = result["intervals"]
    low, high = intervals["mrr@100"]["languages"]["sw"]
    assert 0.0 <= low < result["metrics"]["mrr@100"]["average"] < high <= 0.5
    assert intervals["mrr@100"]["average"] == [low, high]  # of one language
    assert (intervals["level"], intervals["seed"]) == (0.95, 0) and "bootstrap" in intervals["method"]
    assert result["queries"] == {"file": queries.name, "sha256": sha256(queries)}


def test_a_search_that_says_how_many_passages_it_had_gives_a_guess(tmp_path, swahili):
    """Of 10 passages: mrr is the mean of 1/r over 10 ranks for two queries, and for two right ones that of the best."""
    assert "guess" not in scored(tmp_path, [f"mrtydi:sw={swahili}"])[0]["metrics"]["mrr@100"]
    path = tmp_path / "run/retrieval.json"
    record = read_record(path)
    record["searches"]["sw"]["passages"] = 10
    write_sealed(path, record)
    result, _ = scored(tmp_path, [f"mrtydi:sw={swahili}"], ["mrr@100", "recall@5"])
    one = sum(1 / rank for rank in range(1, 11)) / 10
    two = sum((10 - rank) / 45 / rank for rank in range(1, 10))
    assert result["metrics"]["mrr@100"]["guess"]["languages"] == {"sw": pytest.approx((2 * one + two) / 3)}
    assert result["metrics"]["recall@5"]["guess"]["languages"] == {"sw": pytest.approx(0.5)}
    assert read_result(tmp_path / "results/mrtydi/msm/zero_shot_nq/pt0-ft1.json").metrics["recall@5"].guess.errors["sw"]


def test_records_of_several_languages_keep_their_guesses(tmp_path, swahili):
    (tmp_path / "te.txt").write_text("0 0 a 1\n1 0 b 1\n")
    for name, run in {"sw": {"0": [("x", 2.0)], "1": [("y", 3.0)]}, "te": {"0": [("a", 2.0)]}}.items():
        path = retrieval(tmp_path / name, {name: run})
        record = read_record(path)
        record["searches"][name]["passages"] = 10
        write_sealed(path, record)
    runs = [str(tmp_path / name / "run/retrieval.json") for name in ("sw", "te")]
    data, output = [f"mrtydi:sw={swahili}", f"mrtydi:te={tmp_path / 'te.txt'}"], tmp_path / "x.json"
    score.run(job(score, ["mrtydi", "--run", *runs, "--data", *data, "--metrics", "recall@5", "--output", str(output)]))
    assert read_record(output)["metrics"]["recall@5"]["guess"]["languages"] == {"sw": 0.5, "te": 0.5}


@pytest.mark.parametrize("runs", [{"te": {}}, {"sw": {"0": [("x", 2.0), ("a", 2.0)]}, "te": {}}])
def test_a_language_in_which_our_search_found_nothing_scores_0(tmp_path, swahili, runs):
    """BM25 where no term matches: its run has no line, and the whole record could not be scored."""
    (tmp_path / "te.txt").write_text("0 0 a 1\n1 0 b 1\n")
    retrieval(tmp_path, runs)
    data = [f"mrtydi:sw={swahili}", f"mrtydi:te={tmp_path / 'te.txt'}"]
    result, _ = scored(tmp_path, data[-len(runs) :], ["mrr@100"])
    expected = {"sw": pytest.approx(1 / 2 / 3), "te": 0.0}
    assert result["metrics"]["mrr@100"]["languages"] == {name: expected[name] for name in runs}
    assert result["counts"]["missing"]["te"] == 2
    (tmp_path / "run/runs/te.trec.gz").write_bytes(b"")  # which no search writes
    with pytest.raises(SteleError, match=r"te\.trec\.gz: the run is empty"):
        scored(tmp_path, data[-len(runs) :])


@pytest.mark.parametrize("name", ["", "te="])
def test_a_record_and_a_file_of_another_tool_are_scored_together(tmp_path, swahili, name):
    """The query set of the file is not among those of the record; th has judgments, but no run."""
    for language in ("te", "th"):
        (tmp_path / f"{language}.qrels").write_text(f"{language}1 0 b 1\n")
    (tmp_path / "te.txt").write_text("te1 Q0 c 1 2 t\nte1 Q0 b 2 1 t\n")
    runs = [str(tmp_path / "run/retrieval.json"), f"{name}{tmp_path / 'te.txt'}"]
    data = [f"mrtydi:sw={swahili}", f"mrtydi:te={tmp_path / 'te.qrels'}"]
    line = ["mrtydi", "--run", *runs, "--output", str(tmp_path / "x.json"), "--metrics", "mrr@100", "--data"]
    score.run(job(score, [*line, *data]))
    values = read_record(tmp_path / "x.json")["metrics"]["mrr@100"]
    assert values["languages"] == {"sw": 0.25, "te": 0.5} and values["average"] == 0.375
    if name:
        score.run(job(score, [*line, *data, f"mrtydi:th={tmp_path / 'th.qrels'}"]))
        assert read_record(tmp_path / "x.json")["metrics"]["mrr@100"] == values


def test_scoring_twice_gives_the_same_values(tmp_path, swahili):
    first, queries = scored(tmp_path, [f"mrtydi:sw={swahili}"])
    written = queries.read_bytes()
    again, _ = scored(tmp_path, [f"mrtydi:sw={swahili}"])
    assert first["content"] == again["content"]
    assert queries.read_bytes() == written


def test_of_a_limited_retrieval_only_what_was_searched_is_judged(tmp_path, swahili):
    retrieval(tmp_path, {"sw": {"0": [("a", 1.0)]}}, labels=["limited"])
    result, _ = scored(tmp_path, [f"mrtydi:sw={swahili}"])
    assert result["metrics"]["mrr@100"] == {"languages": {"sw": 1.0}, "average": 1.0, "n": {"sw": 1}}
    assert "limited" in result["labels"]


def test_labels_of_every_retrieval_that_is_scored_are_inherited(tmp_path, swahili):
    first = retrieval(tmp_path / "first", {"en": {"0": [("a", 1.0)]}}, labels=[])
    second = retrieval(tmp_path / "second", {"sw": {"0": [("a", 1.0)]}}, labels=["stand-in checkpoint"])
    english = put_record(tmp_path / "english", content="e")
    for file in ("test.jsonl.gz", "qrels.test.txt"):
        shutil.copy(swahili.parent / file, english.parent / file)
    line = ["mrtydi", "--run", str(first), str(second), "--data", f"mrtydi:en={english}", f"mrtydi:sw={swahili}"]
    score.run(job(score, [*line, "--metrics", "mrr@100", "--output", str(tmp_path / "both.json")]))
    result = read_record(tmp_path / "both.json")
    assert result["labels"] == ["generated data", "stand-in checkpoint"]
    assert result["inputs"]["retrieval"] == content_digest(first)
    assert result["inputs"]["retrieval 2"] == content_digest(second)


def test_values_of_retrievals_that_are_compared_bear_their_labels(tmp_path, swahili):
    system = retrieval(tmp_path / "one", {"sw": {"0": [("a", 1.0)]}}, labels=["stand-in checkpoint"])
    scores = run_scores("mrtydi", {"mrtydi": {"sw": swahili.parent}}, [str(system)], ["mrr@100"])
    assert scores.labels == {"stand-in checkpoint"}


def test_xor_reads_the_passages_it_needs_and_averages_over_languages(tmp_path):
    dev = [
        {"id": "1", "question": "q", "answers": ["red"], "lang": "ar"},
        {"id": "2", "question": "q", "answers": ["blue"], "lang": "ar"},
        {"id": "3", "question": "q", "answers": ["red"], "lang": "te"},
        {"id": "4", "question": "q", "answers": ["no"], "lang": "te"},
        {"id": "5", "question": "q", "answers": ["yes"], "lang": "fi"},
    ]
    questions = put_record(tmp_path / "q", content="q")
    (tmp_path / "q/xor_dev_retrieve_eng_span_v1_1.jsonl").write_text("".join(json.dumps(d) + "\n" for d in dev))
    corpus = put_record(tmp_path / "p", content="p")
    (tmp_path / "p/enwiki_20190201_w100.tsv").write_text("id\ttext\ttitle\n10\ta red fox\tblue\n11\tnothing\tred\n")
    punkt = put_record(tmp_path / "k", content="k")
    (tmp_path / "k/english").mkdir()
    for name in ("abbrev_types.txt", "collocations.tab", "sent_starters.txt", "ortho_context.tab"):
        (tmp_path / "k/english" / name).touch()
    hits = [("10", 2.0), ("11", 1.0)]
    runs = {"ar": {"1": hits, "2": hits}, "te": {"3": hits, "4": hits}, "fi": {"5": hits}}
    retrieval(tmp_path, runs, "xor_retrieve", ar="en", te="en", fi="en")
    data = [f"xor_tydi:all={questions}", f"enwiki_20190201_w100:all={corpus}", f"nltk_punkt:all={punkt}"]
    result, queries = scored(tmp_path, data, ["r@2kt"], "xor_retrieve")
    # "blue" stands in a title only; te has one question that counts, fi none; the two of ar have one ranking
    guess = {"languages": {"ar": 0.5}, "errors": {"ar": 0.0}}
    values = {"languages": {"ar": 0.5, "te": 1.0}, "average": 0.75, "n": {"ar": 2, "te": 1}}
    assert result["metrics"]["r@2kt"] == {**values, "guess": guess}
    assert pyarrow.parquet.read_table(queries)["r@2kt"].to_pylist() == [1.0, 0.0, 1.0, None, None]
    # of one language the predictions hold their passages, of another a run names the corpus's
    predictions, run = tmp_path / "ar.json", tmp_path / "te.txt"
    predictions.write_text(json.dumps([{"id": n, "lang": "ar", "ctxs": ["nothing", "blue"]} for n in "12"]))
    run.write_text("3 Q0 10 1 1.0 t\n")
    line = ["xor_retrieve", "--run", f"ar={predictions}", f"te={run}", "--data", *data, "--metrics", "r@2kt"]
    score.run(job(score, [*line, "--output", str(tmp_path / "mixed.json")]))
    assert read_record(tmp_path / "mixed.json")["metrics"]["r@2kt"]["languages"] == {"ar": 0.5, "te": 1.0}


def xquad(count: int) -> str:
    qas = [{"id": f"k{i}", "question": "?", "answers": [{"answer_start": 0, "text": "A"}]} for i in range(count)]
    return json.dumps({"data": [{"paragraphs": [{"context": "A.", "sentence_breaks": [[0, 2]], "qas": qas}]}]})


def test_a_language_of_lareqa_may_be_a_file_of_any_name_and_lacks_the_others_answers(tmp_path, caplog):
    """Its answers were no answers, so that all questions scored 0."""
    put_record(tmp_path / "d", content="d")
    files = [tmp_path / "d" / f"mine.{part}.json" for part in ("en", "de")]
    for file in files:
        file.write_text(xquad(1))
    retrieval(tmp_path, {"en": {"k0_en": [("en_1_0", 2.0), ("x", 1.5), ("de_1_0", 1.0)]}}, "lareqa", en="all")
    both = [f"lareqa:{part}={file}" for part, file in zip(("en", "de"), files, strict=True)]
    result, _ = scored(tmp_path, both, ["map@20"], "lareqa")
    assert result["metrics"]["map@20"]["average"] == pytest.approx((1 + 2 / 3) / 2)
    assert "only answers in de, en count as relevant; the official score counts those in all languages" in caplog.text


def test_answers_in_gzipped_files_of_lareqa_count(tmp_path, caplog):
    """No answer counted, and all questions scored 0."""
    for part in ("en", "de"):
        (tmp_path / f"{part}.json.gz").write_bytes(gzip.compress(xquad(1).encode()))
    assert Lareqa().judgments({"lareqa": {"all": tmp_path}}, QuerySet("en", "en", "all")) == {
        "k0_en": {"de_1_0": 1, "en_1_0": 1}
    }
    assert "only answers in de, en count as relevant" in caplog.text, "the user's folder lacks the other languages"


def test_lareqa_averages_over_questions(tmp_path):
    data = put_record(tmp_path / "d", content="d")
    (tmp_path / "d/en.json").write_text(xquad(3))
    (tmp_path / "d/de.json").write_text(xquad(1))
    good, bad = [("en_1_0", 2.0), ("de_1_0", 1.0)], [("x", 2.0)]
    runs = {"en": {f"k{i}_en": bad for i in range(3)}, "de": {"k0_de": good}}
    retrieval(tmp_path, runs, "lareqa", en="all", de="all")
    result, _ = scored(tmp_path, [f"lareqa:{part}={data}" for part in ("en", "de")], ["map@20"], "lareqa")
    assert result["metrics"]["map@20"]["languages"] == {"en": 0.0, "de": 1.0}
    assert result["metrics"]["map@20"]["average"] == 0.25  # over questions, not over languages


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["--metrics", "mmr@100"], "unknown metric 'mmr'; did you mean 'mrr'"),
        (["--metrics", "r_tokenised@5kt"], "unknown metric 'r_tokenised@5kt'; did you mean 'r_tokenized@2kt'"),
        (["--metrics", "r_tokenized@5"], "unknown metric 'r_tokenized'; did you mean 'r_tokenized@2kt'"),
        (["nq"], r"retrieval\.json: a retrieval of 'mrtydi', not of 'nq'"),
        (["mr_tydi"], "unknown benchmark 'mr_tydi'; did you mean 'mrtydi'"),
        (["--run", "/nowhere/retrieval.json"], "no such file"),
        (["--seeds", "0"], "--seeds: want pt0-ft0"),
    ],
)
def test_wrong_arguments_of_score_are_refused(tmp_path, swahili, line, message):
    name = [] if line[0] in ("nq", "mr_tydi") else ["mrtydi"]
    base = [*name, "--model", "m", "--setting", "s", "--seeds", "pt0-ft0"]
    base += ["--metrics", "mrr@100", "--run", str(tmp_path / "run/retrieval.json")]
    base += ["--data", f"mrtydi:sw={swahili}"]
    base += ["--output", str(tmp_path / "x.json"), "--queries", str(tmp_path / "x.parquet")]
    with pytest.raises(SteleError, match=message):
        score.run(job(score, [*base, *line]))
    assert not (tmp_path / "x.json").exists()


@pytest.mark.parametrize("option", ["--output", "--queries", "--csv"])
def test_a_file_of_the_user_s_is_refused_before_the_scoring(tmp_path, swahili, option, monkeypatch):
    monkeypatch.setattr(score, "read_case", lambda *_: pytest.fail("the outputs are read"))
    mine = tmp_path / ("mine.json" if option == "--output" else "mine.csv")
    mine.write_text("a,b\n1,2\n")
    line = ["mrtydi", "--run", str(tmp_path / "run/retrieval.json"), "--data", f"mrtydi:sw={swahili}"]
    with pytest.raises(SteleError, match=f"{mine.name}: (is not a record|no table of)"):
        score.run(job(score, [*line, option, str(mine)]))
    assert mine.read_text() == "a,b\n1,2\n"


def test_average_over_seeds(tmp_path, swahili):
    for seed, rank in ((0, 1.0), (1, 5.0)):
        retrieval(tmp_path, {"sw": {"0": [("x", 2.0), ("a", rank)], "1": [("b", 1.0)], "2": [("x", 1.0)]}})
        scored(tmp_path, [f"mrtydi:sw={swahili}"], ["mrr@100"], seed=seed)
    folder = tmp_path / "results/mrtydi/msm"
    paths = [str(folder / f"zero_shot_nq/pt0-ft{seed}.json") for seed in (0, 1)]
    average.run(job(average, ["--seeds", *paths, "--output", str(folder / "zero_shot_nq.json")]))
    result = json.loads((folder / "zero_shot_nq.json").read_text())
    low, high = (0.5 + 1 + 0) / 3, (1 + 1 + 0) / 3
    actual = result["metrics"]["mrr@100"]
    assert actual["average"] == pytest.approx((low + high) / 2)
    assert actual["std"]["average"] == pytest.approx(math.sqrt(2) * (high - low) / 2)
    assert actual["values"]["average"] == [pytest.approx(low), pytest.approx(high)]
    assert result["seeds"] == [{"pretraining": 0, "finetuning": 0}, {"pretraining": 0, "finetuning": 1}]
    assert (result["model"], result["setting"], result["labels"]) == ("msm", "zero_shot_nq", ["generated data"])


def test_results_say_which_of_their_seeds_come_from_a_diverged_pretraining(tmp_path, swahili):
    """By the records of what was built: an ancestor of the retrieval that says so."""
    encoder = {"job": "pretrain", "model": "ccp", "seed": 0, "diverged": "loss 3.9 above chance"}
    for seed, ancestry in ((0, {}), (1, {"e": encoder, "b": {"job": "sources checkpoint"}})):
        retrieval(tmp_path, {"sw": {"0": [("a", 1.0)]}}, ancestry=ancestry)
        result = scored(tmp_path, [f"mrtydi:sw={swahili}"], ["mrr@100"], seed=seed)[0]
        assert result["diverged"] == ({"pt0-ft1": "ccp: loss 3.9 above chance"} if ancestry else {})
    folder = tmp_path / "results/mrtydi/msm"
    paths = [str(folder / f"zero_shot_nq/pt0-ft{seed}.json") for seed in (0, 1)]
    for seeds, all_of_them in ((paths, False), (paths[1:], True)):
        average.run(job(average, ["--seeds", *seeds, "--output", str(folder / "zero_shot_nq.json")]))
        read = read_result(folder / "zero_shot_nq.json")
        assert read.diverged == {"pt0-ft1": "ccp: loss 3.9 above chance"} and read.has_diverged == all_of_them


def test_average_refuses_what_does_not_belong_together(tmp_path, swahili):
    scored(tmp_path, [f"mrtydi:sw={swahili}"], ["mrr@100"], seed=0)
    one = tmp_path / "results/mrtydi/msm/zero_shot_nq/pt0-ft0.json"
    other = put_record(tmp_path / "o", "pt0-ft1.json", **(json.loads(one.read_text()) | {"model": "kept"}))
    mean = tmp_path / "mean.json"
    average.run(job(average, ["--seeds", str(one), "--output", str(mean)]))
    cases = [([one, other], "its model is 'kept', but 'msm' in .*pt0-ft0"), ([one, one], "the same seeds are given")]
    cases.append(([mean, one], r"mean\.json: want a result of `scoring score` for one pair of seeds"))
    for paths, message in cases:
        with pytest.raises(SteleError, match=message):
            average.run(job(average, ["--seeds", *map(str, paths), "--output", str(tmp_path / "a.json")]))
