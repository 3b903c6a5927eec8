"""What `import stele` offers a notebook: each docstring's usage prints what it says; the import itself stays light."""

import doctest
import importlib
import math
import shutil
import subprocess
import sys

import pandas
import pytest

import stele
from stele.artifacts import records
from stele.artifacts.run import run_of
from stele.errors import SteleError
from tests.artifacts.test_results import write
from tests.encoders.tiny_models import make_folder
from tests.sealed import write_sealed

OPTIONS = doctest.NORMALIZE_WHITESPACE
SPEC = {"pooling": "mean", "normalize": True, "query_length": 64, "passage_length": 64}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return make_folder(tmp_path_factory.mktemp("models") / "tiny")


@pytest.mark.parametrize("name", stele.__all__)
def test_the_usage_in_a_docstring_prints_what_it_says(name, tiny, tmp_path):
    write(tmp_path, "mrtydi/msm/multilingual")
    given = {
        "load_encoder": {"folder": tiny},
        "load_results": {"folder": tmp_path},
        "search": {"encoder": stele.load_encoder(tiny, SPEC)},
    }
    function = getattr(stele, name)
    module = importlib.import_module(function.__module__)
    (test,) = doctest.DocTestFinder(recurse=False).find(function, name, module, extraglobs=given.get(name, {}))
    outcome = doctest.DocTestRunner(optionflags=OPTIONS).run(test)
    assert test.examples and not outcome.failed


def test_importing_stele_imports_none_of_its_packages():
    code = "import sys, stele; dir(stele); print([name for name in sys.modules if name.startswith('stele.')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_another_name_of_stele_is_refused_with_those_it_has():
    with pytest.raises(AttributeError, match=r"no attribute 'scores'.*search, score, compare"):
        stele.scores  # noqa: B018


def test_an_encoder_is_loaded_by_its_record_too(tiny):
    by_record, by_folder = (stele.load_encoder(path, SPEC) for path in (str(tiny / "record.json"), tiny))
    texts = ["the river Nile"]
    assert (by_record.encode(texts, "query") == by_folder.encode(texts, "query")).all()


def test_texts_are_searched_as_their_vectors_are(tiny):
    encoder = stele.load_encoder(tiny, SPEC | {"passage_format": "title_text"})
    queries, passages = {"q": "who wrote it"}, {"a": ("Nile", "the river"), "b": "the novel", "c": "Uganda"}
    texts = ["Nile the river", "the novel", "Uganda"]
    vectors = dict(zip(passages, encoder.encode(texts, "passage"), strict=True))
    by_vector = stele.search({"q": encoder.encode(["who wrote it"], "query")[0]}, vectors)
    by_text = stele.search(queries, passages, encoder=encoder)
    assert by_text.ranking("q") == by_vector.ranking("q") and len(by_text.ranking("q")) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({"q": "text"}, {"p": [1.0]}), "query 'q' is a text: give the encoder"),
        (({"q": [1.0]}, {"p": [1.0, 2.0]}), "query vectors have length 1, passages 2"),
        (({"q": [1.0], "r": [1.0, 2.0]}, {"p": [1.0]}), "query vectors have different lengths"),
        (({"q": [float("nan")]}, {"p": [1.0]}), "a vector of finite numbers for each query"),
        (({"q": [1.0]}, {}), "no passage is given"),
        (({"q": [1.0]}, {1: [1.0], "1": [2.0]}), "passages: two ids are the same as text, such as 1 and '1'"),
        (({"q": [1.0]}, {"p": [1.0]}, 0), "k must be a whole number of passages and at least 1, found 0"),
        (({"q": [1.0]}, {"p": [1.0]}, 1.5), "k must be a whole number of passages and at least 1, found 1.5"),
        (({"q": [1.0]}, {"p": [1.0]}, "5"), "k must be a whole number of passages and at least 1, found '5'"),
        (([{}], [[1.0]]), "query vectors have different lengths, or are not numbers"),
        (([[]], [[]]), "a vector of finite numbers for each query"),
        (("text", ["passage"]), "queries: want a list of texts, or a dict of id and text, found str"),
        (([[1.0]], ["text"], 1, "bm25"), "query '0' is a vector; bm25 compares texts"),
        (([("title", "text")], ["text"], 1, "bm25"), "query '0' is a pair of texts; only a passage has a title"),
        ((["text"], [(None, "text")], 1, "bm25"), r"passage '0': want a text or \(title, text\), found \(None"),
        ((["text"], [("title", "text", "more")], 1, "bm25"), r"passage '0': want a text or \(title, text\), found"),
        ((["text"], ["text"], 1, "labsee"), "unknown model 'labsee'.*did you mean 'labse'"),
    ],
)
def test_what_cannot_be_searched_is_refused(arguments, message):
    with pytest.raises(SteleError, match=message):
        stele.search(*arguments)


def test_lists_are_searched_by_position_and_by_terms_as_lucene_does():
    """The scores of BM25 by hand: idf times tf / (tf + k1 (1 - b + b length / mean length)), k1 .9 and b .4."""
    run = stele.search(["rivers"], ["the river flows", ("Nile", "a river and its rivers"), "the novel"], encoder="bm25")
    idf, lengths, mean = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5)), (2, 4), 7 / 3  # "its" is no stop word
    wanted = {
        str(n): idf * count / (count + 0.9 * (0.6 + 0.4 * length / mean))
        for n, (count, length) in enumerate(zip((1, 2), lengths, strict=True))
    }
    assert dict(run.hits("0")) == pytest.approx(wanted, rel=1e-6) and run.ranking("0") == ["1", "0"]


def test_an_encoder_is_loaded_by_a_result_that_it_gave(tiny, tmp_path, monkeypatch):
    """With the encoding of that search; one whose encoder has changed since is refused."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "work/miniature/finetuned/msm/marco/pt0-ft0"
    shutil.copytree(tiny, folder)
    write_sealed(folder / "record.json", {"job": "finetune", "inputs": {}, "content": {"weights": 1}})
    search = tmp_path / "results/mrtydi/msm/zero_shot/pt0-ft0/retrieval.json"
    search.parent.mkdir(parents=True)
    content = records.content_digest(folder / "record.json")
    write_sealed(search, {"job": "retrieve", "inputs": {"encoder": content}, "encoding": SPEC})
    by_result = stele.load_encoder("results/mrtydi/msm/zero_shot/pt0-ft0/retrieval.json")
    texts = ["the river Nile"]
    assert (by_result.encode(texts, "query") == stele.load_encoder(tiny, SPEC).encode(texts, "query")).all()
    write_sealed(folder / "record.json", {"job": "finetune", "inputs": {}, "content": {"weights": 2}})
    with pytest.raises(SteleError, match="its encoder is not below this folder"):
        stele.load_encoder(search)


def test_a_score_of_other_queries_is_refused_and_a_missing_one_counts_as_0():
    run = run_of({"q": [("a", 1.0)]})
    with pytest.raises(SteleError, match="none of the run's queries is judged"):
        stele.score(run, {"other": {"a": 1}}, ["mrr@10"])
    assert stele.score(run, {"q": {"a": 1}, "other": {"a": 1}}, ["mrr@10"]).means == {"mrr@10": 0.5}
    with pytest.raises(SteleError, match="mrr"):
        stele.score(run, {"q": {"a": 1}}, ["mmr@10"])
    for metrics in ([10], 10, None):
        with pytest.raises(SteleError, match="metrics are names, as mrr@10; found"):
            stele.score(run, {"q": {"a": 1}}, metrics)
    ids, grade = "want ids as strings, for example '1'; found 1", "a relevance is a whole number"
    for found, judged, message in (
        ({1: {"a": 1.0}}, {1: {"a": 1}}, ids),
        ({"q": {1: 1.0}}, {"q": {1: 1}}, ids),
        (run, {"q": {1: 1}}, ids),
        (run, {"q": {"a": 0.5}}, grade),
        (run, {"q": {"a": math.nan}}, grade),
        ({"q": {"a": "x"}}, {"q": {"a": 1}}, "a score must be a number"),
        ("run.txt", {"q": {"a": 1}}, "want {query: {passage: score}}, found str"),
    ):
        with pytest.raises(SteleError, match=message):
            stele.score(found, judged, ["mrr@10"])


def test_files_of_seeds_are_compared_with_a_frame_by_query(tmp_path):
    """The mean over the seeds of each query; of other queries nothing is compared."""
    run = {"q1": {"a": 1.0}, "q2": {"b": 1.0}, "q3": {"a": 1.0}}
    values = stele.score(run, {query: {"a": 1} for query in run}, ["mrr@10"]).values
    for seed, third in enumerate(("1", "0")):
        lines = ["search,language,query,mrr@10", "run,all,q1,1", "run,all,q2,1", f"run,all,q3,{third}"]
        (tmp_path / f"{seed}.csv").write_text("\n".join(lines) + "\n")
    comparisons = stele.compare({"frame": values, "files": [tmp_path / "0.csv", tmp_path / "1.csv"]}).iloc[0]
    assert (comparisons.queries, comparisons.win, comparisons.loss, round(comparisons["difference"], 9)) == (
        3,
        1,
        1,
        round(0.5 / 3, 9),
    )
    with pytest.raises(SteleError, match="lacks 1 query"):
        stele.compare({"frame": values.drop("q1"), "files": tmp_path / "0.csv"})
    with pytest.raises(SteleError, match="two systems or more"):
        stele.compare({"frame": values})


@pytest.mark.parametrize(
    ("other", "arguments", "message"),
    [
        ([1.0, 2.0], {"level": 5}, "level: want a number between 0 and 1"),
        ([1.0, math.inf], {}, "system b: a value of mrr@10 is infinite"),
        ([1.0, "x"], {}, "system b: want numbers in every column"),
        ([], {}, "lacks 2 queries"),
        (None, {}, "system b: want a table of values per query or files, found None"),
    ],
)
def test_what_cannot_be_compared_is_refused(other, arguments, message):
    frame = pandas.DataFrame({"mrr@10": [0.0, 1.0]})
    system = None if other is None else pandas.DataFrame({"mrr@10": other})
    with pytest.raises(SteleError, match=message):
        stele.compare({"a": frame, "b": system}, **arguments)
    with pytest.raises(SteleError, match="two systems or more"):
        stele.compare([frame, frame])
    with pytest.raises(SteleError, match="found \\[\\]"):
        stele.compare({"a": [], "b": []})
    with pytest.raises(SteleError, match="found Score"):
        stele.compare({"a": stele.score({"q": {"a": 1.0}}, {"q": {"a": 1}}), "b": frame})
    with pytest.raises(SteleError, match="no query counts"):
        stele.compare({"a": frame[:0], "b": frame[:0]})
    with pytest.raises(SteleError, match=r"system b: a column appears twice: 'mrr@10'"):
        stele.compare({"a": frame, "b": pandas.concat([frame, frame + 1], axis=1)})
    with pytest.raises(SteleError, match="system b: a query appears twice: '1'"):
        stele.compare({"a": frame, "b": frame.set_axis([1, "1"])})
