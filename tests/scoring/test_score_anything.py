"""Runs of other systems, in every format, against gold files in their native layouts."""

import csv
import gzip
import json
import lzma
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from stele.errors import SteleError
from stele.evaluation import metrics
from stele.evaluation.metrics.rankings import CappedAveragePrecision
from stele.evaluation.scores import read_queries
from tests.scoring.scored import run, scored, trec

QRELS = "q1 0 a 1\nq1 0 b 0\nq2\t0\tb\t1\nq3 0 c 1\n"
RANKINGS = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"b": 5, "a": 4.5}, "q9": {"a": 1.0}}
# q1: second, q2: first, q3: no result, q9: not judged
EXPECTED = (1 / 2 + 1 + 0) / 3


@pytest.fixture
def qrels(tmp_path) -> Path:
    (tmp_path / "qrels.mrtydi-v1.1-sw.test.txt").write_text(QRELS)
    return tmp_path / "qrels.mrtydi-v1.1-sw.test.txt"


TREC = trec(RANKINGS)
FORMATS = {
    "trec": TREC.encode(),
    "gz": gzip.compress(TREC.encode()),
    "xz": lzma.compress(TREC.encode()),
    "tabs": TREC.replace(" ", "\t").encode(),
    "many blanks": ("  " + TREC.replace(" ", "  ")).encode(),
    "bom, tabs, crlf, blank lines": ("\ufeff" + TREC.replace(" ", "\t").replace("\n", "\r\n\r\n")).encode(),
    "other order": "".join(TREC.splitlines(keepends=True)[::-1]).encode(),
    "json": json.dumps(RANKINGS).encode(),
    "json, bom": json.dumps(RANKINGS).encode("utf-8-sig"),
    "json, zst": pyarrow.compress(json.dumps(RANKINGS).encode(), codec="zstd", asbytes=True),
}


@pytest.mark.parametrize("kind", FORMATS)
def test_a_run_scores_the_same_in_every_format(tmp_path, qrels, kind):
    (tmp_path / "run").write_bytes(FORMATS[kind])
    result = scored(tmp_path, "mrtydi", "--run", tmp_path / "run", "--data", f"mrtydi:sw={qrels}")
    assert result["metrics"]["mrr@100"]["languages"] == {"sw": pytest.approx(EXPECTED)}
    assert result["metrics"]["recall@100"]["average"] == pytest.approx(2 / 3)
    assert result["counts"] == {"queries": 3, "missing_queries": 1, "missing": {"sw": 1}, "extra_queries": 1}


def test_integer_ids_of_parquet_are_their_digits(tmp_path):
    (tmp_path / "qrels").write_text("7 0 12 1\n")
    pyarrow.parquet.write_table(pyarrow.table({"q_id": [7, 7], "doc_id": [3, 12], "score": [2, 1]}), tmp_path / "r")
    result = scored(tmp_path, "mrtydi", "--run", tmp_path / "r", "--data", f"mrtydi:sw={tmp_path / 'qrels'}")
    assert result["metrics"]["mrr@100"]["average"] == 0.5


def test_the_values_that_score_prints_and_writes(tmp_path, qrels, capsys, caplog):
    (tmp_path / "run").write_text(TREC)
    given = ("mrtydi", "--run", f"sw={tmp_path / 'run'}", "--data", f"mrtydi:sw={qrels}")
    run(*given, "--csv", tmp_path / "v.csv", "--queries", tmp_path / "q.csv")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["language", "queries", "mrr@100", "recall@100"]
    assert lines[1].split() == ["sw", "3", "0.5000", "0.6667"]
    assert lines[2].split() == ["average", "(macro)", "0.5000", "0.6667"]
    assert "1 of 3 judged queries have no result; they count as 0" in caplog.text
    assert "without them mrr@100 would be 0.7500" in caplog.text
    assert "not judged, left out: 1 query of the run" in caplog.text
    values = list(csv.reader((tmp_path / "v.csv").open()))
    assert values[0] == ["metric", "language", "value", "queries"]
    assert values[1] == ["mrr@100", "sw", "0.5", "3"]
    queries = list(csv.DictReader((tmp_path / "q.csv").open()))
    assert [(row["query"], float(row["mrr@100"])) for row in queries] == [("q1", 0.5), ("q2", 1.0), ("q3", 0.0)]


def test_a_query_without_a_result_is_not_0_by_a_metric_of_ranks(tmp_path, qrels, caplog, monkeypatch):
    """As first_rank of docs/adding/metric.md, which is one more than its cut then."""

    class Later(CappedAveragePrecision):
        def evaluate(self, case):
            return 21 - 20 * super().evaluate(case)

    monkeypatch.setattr(metrics, "computed_here", lambda: {"later": Later})
    (tmp_path / "run").write_text(TREC)
    given = ("mrtydi", "--run", f"sw={tmp_path / 'run'}", "--data", f"mrtydi:sw={qrels}")
    run(*given, "--metrics", "mrr@100", "later@20")
    assert "1 of 3 judged queries have no result; they count as 0, but not by later@20\n" in caplog.text
    assert "without them later@20 would be 6.0000" in caplog.text  # 21 - 20 (1/2 + 1) / 2


def test_without_missing_queries_a_mean_is_finished_too(tmp_path, qrels, caplog, monkeypatch):
    """A metric of docs/adding/metric.md whose value is a function of the mean: here its square."""

    class Squared(CappedAveragePrecision):
        finish = staticmethod(lambda mean: mean**2)

    monkeypatch.setattr(metrics, "computed_here", lambda: {"squared": Squared})
    (tmp_path / "run").write_text(TREC)
    run("mrtydi", "--run", f"sw={tmp_path / 'run'}", "--data", f"mrtydi:sw={qrels}", "--metrics", "squared@20")
    assert "without them squared@20 would be 0.5625" in caplog.text  # ((1/2 + 1) / 2)^2


@pytest.mark.parametrize(("option", "name"), [("--queries", "run.csv"), ("--csv", "q.csv"), ("--queries", "v.csv")])
def test_a_file_that_is_no_such_table_is_not_replaced(tmp_path, qrels, option, name):
    """An input, or another output; one of an earlier call is."""
    (tmp_path / "run.csv").write_text(TREC)
    given = ("mrtydi", "--run", f"sw={tmp_path / 'run.csv'}", "--data", f"mrtydi:sw={qrels}")
    for _ in range(2):
        run(*given, "--csv", tmp_path / "v.csv", "--queries", tmp_path / "q.csv")
    before = (tmp_path / name).read_bytes()
    with pytest.raises(SteleError, match=f"{name}: no table of .*, so it is not replaced"):
        run(*given, option, tmp_path / name)
    assert (tmp_path / name).read_bytes() == before


def test_values_per_query_as_csv_come_back(tmp_path):
    """An id that a spreadsheet would run is quoted there, and read as what it is: the Parquet file has it as it is."""
    ids = ["=1+1", "-x", "'=1", "-5", "plain"]
    (tmp_path / "qrels").write_text("".join(f"{id} 0 d 1\n" for id in ids))
    (tmp_path / "run").write_text("".join(f"{id} Q0 d 1 1.0 t\n" for id in ids))
    for name in ("q.csv", "q.parquet"):
        given = ("--run", f"sw={tmp_path / 'run'}", "--data", f"mrtydi:sw={tmp_path / 'qrels'}")
        run("mrtydi", *given, "--queries", tmp_path / name)
    rows = [row["query"] for row in csv.DictReader((tmp_path / "q.csv").open())]
    assert rows == ["'=1+1", "'-x", "''=1", "-5", "plain"]
    scores_read = [read_queries(tmp_path / name).keys for name in ("q.csv", "q.parquet")]
    assert scores_read[0] == scores_read[1] == [("sw", id) for id in ids]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1 Q0 a 1 2.0 t\n\nq1\tQ0 a 2 1.0 t\n", r"line 3: passage 'a' appears twice for query 'q1'"),
        ("q1 Q0 a 1 2.0 my tag\n", r"run, line 1: want 6 columns .* found 7"),
        ("q1 Q0 a  1 2.0\nq1 Q0 b  2 1.0\n", r"run, line 1: want 6 columns .* found 5"),  # padded ranks, no tag
        ("q1  Q0 a 1 2.0\n", r"run, line 1: want 6 columns .* found 5"),
        ("q1 Q0 a 1 nan t\n", "line 1: the score must be a finite number, found 'nan'"),
        ("q1 Q0 a 1 1_0 t\n", "the score must be a finite number, found '1_0'"),
        ("q1 Q0 a 1 ١ t\n", "the score must be a finite number"),
        ("", "the run is empty"),
        ("zz Q0 a 1 2.0 t\n", "none of its queries is judged"),
        ('{"q1": {"a": NaN}}', "the score must be a finite number"),
        ('{"q1": {"a": "high"}}', "the score must be a number: 'high'"),
        ('{"q1": {"a": 1.0, "a": 2.0}}', "'a' appears twice"),
        ('{"q1": {"a": 1.0}, "q1": {"b": 2.0}}', "'q1' appears twice"),
        ('{"q1": 1.0}', "found values of float"),
        ('{"q1": {}}', "the run is empty"),
        ("{}", "found values of nothing"),
        ('{"q1": {"a": 1.0}', "not a readable file: not JSON"),
    ],
)
def test_a_bad_run_is_refused(tmp_path, qrels, text, message):
    (tmp_path / "run").write_text(text)
    with pytest.raises(SteleError, match=message):
        run("mrtydi", "--run", tmp_path / "run", "--data", f"mrtydi:sw={qrels}", "--output", tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


def test_white_space_beyond_ascii_is_part_of_an_id(tmp_path):
    """trec_eval parts columns at ASCII white space only; Python's split would cut such ids in two."""
    (tmp_path / "qrels").write_text("q1 0 a\u3000b 1\n")
    (tmp_path / "run").write_text("q1 Q0 a\u3000b 1 2.0 t\n")
    result = scored(tmp_path, "mrtydi", "--run", tmp_path / "run", "--data", f"mrtydi:sw={tmp_path / 'qrels'}")
    assert result["metrics"]["mrr@100"]["average"] == 1.0


def test_query_ids_that_two_languages_share_need_a_name(tmp_path, qrels):
    path, other = tmp_path / "run", tmp_path / "qrels.te"
    path.write_text(TREC)
    other.write_text("q1 0 b 1\n")
    data = ["--data", f"mrtydi:sw={qrels}", f"mrtydi:te={other}"]
    with pytest.raises(SteleError, match=r"query 'q1' is in sw and te; name one: --run sw=FILE"):
        run("mrtydi", "--run", path, *data)
    result = scored(tmp_path, "mrtydi", "--run", f"sw={path}", f"te={path}", *data)
    assert result["metrics"]["mrr@100"]["languages"] == {"sw": pytest.approx(EXPECTED), "te": 1.0}
    assert result["files"].keys() == {f"sw={path}", f"te={path}", *data[1:]}, "files may have one name"
    with pytest.raises(SteleError, match="unknown query set 'sv'; did you mean 'sw'"):
        run("mrtydi", "--run", f"sv={path}", *data)
    only = scored(tmp_path, "mrtydi", "--run", f"te={path}", *data)  # a language without a run is not judged
    assert list(only["metrics"]["mrr@100"]["languages"]) == ["te"]


@pytest.mark.parametrize("benchmark", ["ciral", "miracl", "mrtydi"])
def test_judgments_of_one_language_are_not_those_of_all(tmp_path, qrels, benchmark):
    """Query ids are numbers in every language, so that Telugu was judged by Swahili's judgments."""
    path = tmp_path / "run"
    path.write_text(TREC)
    with pytest.raises(SteleError, match=rf"given for all of {benchmark}, whose sw is .*; give {benchmark}:sw={qrels}"):
        run(benchmark, "--run", f"sw={path}", "--data", f"{benchmark}={qrels}")


@pytest.mark.parametrize(
    ("benchmark", "name", "other"),
    [("ciral", "qrels.tsv", "yo"), ("miracl", "dev/qrels.tsv", "te"), ("mrtydi", "qrels.test.txt", "te")],
)
def test_a_folder_of_all_languages_has_a_folder_for_each(tmp_path, benchmark, name, other):
    """Two were refused, and one language's folder served all."""
    for language, passage in {"sw": "a", other: "b"}.items():
        path = tmp_path / "all" / language / name
        path.parent.mkdir(parents=True)
        path.write_text(f"1 0 {passage} 1\n")
        (tmp_path / language).write_text(f"1 Q0 {passage} 1 1 t\n")
    line = [
        benchmark,
        "--run",
        f"sw={tmp_path / 'sw'}",
        f"{other}={tmp_path / other}",
        "--metrics",
        "recall@1",
        "--data",
    ]
    result = scored(tmp_path, *line, f"{benchmark}={tmp_path / 'all'}")
    assert result["metrics"]["recall@1"]["languages"] == {"sw": 1.0, other: 1.0}
    with pytest.raises(
        SteleError, match=rf"given for all of {benchmark}, whose {other} is .*; give {benchmark}:{other}="
    ):
        run(*line, f"{benchmark}={tmp_path / 'all/sw'}")


def test_a_direction_s_name_is_of_it_alone(tmp_path):
    """Both directions of de-en have the ids of the same texts and are scored in the language de-en."""
    (tmp_path / "xnli.15way.orig.tsv").write_text("de\ten\nein\tone\nzwei\ttwo\n")
    right, wrong = tmp_path / "right", tmp_path / "wrong"
    right.write_text("00000 Q0 00000 1 1 t\n00001 Q0 00001 1 1 t\n")
    wrong.write_text("00000 Q0 00001 1 1 t\n00001 Q0 00000 1 1 t\n")
    data = ["--data", f"xnli_15way={tmp_path}"]
    both = scored(tmp_path, "xsa", "--run", f"de-en={right}", f"en-de={wrong}", *data)["metrics"]
    assert [both[name]["average"] for name in ("p@1", "p_forward@1", "p_backward@1")] == [0.5, 1.0, 0.0]
    forward = scored(tmp_path, "xsa", "--run", f"de-en={right}", *data)["metrics"]
    assert forward["p@1"]["n"] == {"de-en": 2} and forward["p_backward@1"]["average"] is None
    for side in ("fra", "eng"):
        (tmp_path / f"tatoeba.fra-eng.{side}").write_text("a\nb\n")
    (tmp_path / "run").write_text("0000 Q0 0001 1 1 t\n")
    with pytest.raises(SteleError, match="query '0000' is in fr-en and en-fr; name one: --run fr-en=FILE"):
        run("tatoeba", "--run", f"fr={tmp_path / 'run'}", "--data", f"tatoeba={tmp_path}")


CODES = {"de": "deu_Latn", "en": "eng_Latn"}


def test_a_pair_of_languages_that_are_given_apart(tmp_path):
    """Its query set was unknown; of CLEF, each part alone was taken for a pair."""
    for variant in CODES.values():
        row = {"link": "a", "flores_passage": "A.", "question": variant}
        (tmp_path / f"{variant}.jsonl").write_text(json.dumps(row))
        (tmp_path / f"qrels.{variant}").write_text("Q0 0 C0 1\n")
    (tmp_path / "run").write_text("Q0 Q0 C0 1 1 t\n")
    for benchmark, name in (("belebele", "{}.jsonl"), ("clef", "qrels.{}")):
        files = [f"{benchmark}:{part}={tmp_path / name.format(variant)}" for part, variant in CODES.items()]
        result = scored(tmp_path, benchmark, "--run", f"de-en={tmp_path / 'run'}", "--data", *files)
        assert all(metric["languages"] == {"de-en": 1.0} for metric in result["metrics"].values())


def test_judgments_of_relevant_documents_alone_are_said_to_rank_nothing(tmp_path, caplog):
    """Pretraining-CLIR's judgments are of these: its AP counts the ranks of all candidates, which the run holds."""
    (tmp_path / "run").write_text("1 Q0 x 1 2.0 t\n1 Q0 a 2 1.0 t\n")
    line = ["clef", "--run", f"en-de={tmp_path / 'run'}", "--data", f"clef:en-de={tmp_path / 'qrels'}"]
    for judged, value in (("1 0 a 1\n", 1.0), ("1 0 a 1\n1 0 x 0\n", 0.5)):
        (tmp_path / "qrels").write_text(judged)
        caplog.clear()
        result = scored(tmp_path, *line, "--metrics", "ap_judged", "ap@1000")
        averages = [result["metrics"][metric]["average"] for metric in ("ap_judged", "ap@1000")]
        assert (averages, "any order of them has 1; give" in caplog.text) == ([value, 0.5], value == 1)


def test_folds_are_one_run_and_share_no_query(tmp_path):
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n2 0 a 1\n2 0 b 0\n3 0 b 0\n")
    (tmp_path / "fold1").write_text("1 Q0 a 1 2.0 t\n")
    (tmp_path / "fold2").write_text("2 Q0 x 1 9.0 t\n2 Q0 b 1 2.0 t\n2 Q0 a 1 1.0 t\n3 Q0 b 1 1.0 t\n")
    line = ["clef", "--data", f"clef:en-de={tmp_path / 'qrels.txt'}", "--run"]
    result = scored(tmp_path, *line, f"en-de={tmp_path / 'fold1'}", f"en-de={tmp_path / 'fold2'}")
    # query 1: 1; query 2: x is not judged and falls away, b before a: 1/2; query 3 has nothing relevant
    assert result["metrics"]["ap_judged"].items() >= {"average": 0.75, "n": {"en-de": 2}}.items()
    with pytest.raises(SteleError, match="query '1' is in two of the runs"):
        run(*line, f"en-de={tmp_path / 'fold1'}", f"en-de={tmp_path / 'fold1'}")
