"""Runs of other systems, in every format, against gold files in their native layouts."""

import csv
import gzip
import json
import lzma
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from stele import catalogue
from stele.catalogue.schema.benchmarks import Benchmark
from stele.errors import SteleError
from stele.evaluation import metrics
from stele.evaluation.metrics.rankings import CappedAveragePrecision
from stele.evaluation.scores import read_queries
from stele.scoring import score
from tests.jobs import job
from tests.sealed import write_sealed

QRELS = "q1 0 a 1\nq1 0 b 0\nq2\t0\tb\t1\nq3 0 c 1\n"
RANKINGS = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"b": 5, "a": 4.5}, "q9": {"a": 1.0}}
# q1: second, q2: first, q3: no result, q9: not judged
EXPECTED = (1 / 2 + 1 + 0) / 3


def run(*line) -> None:
    score.run(job(score, list(map(str, line))))


def scored(tmp_path: Path, *line) -> dict:
    run(*line, "--output", tmp_path / "out.json")
    return json.loads((tmp_path / "out.json").read_text())


@pytest.fixture
def qrels(tmp_path) -> Path:
    (tmp_path / "qrels.mrtydi-v1.1-sw.test.txt").write_text(QRELS)
    return tmp_path / "qrels.mrtydi-v1.1-sw.test.txt"


def trec(rankings: dict) -> str:
    rows = [(q, d, s) for q, hits in rankings.items() for d, s in hits.items()]
    return "".join(f"{q} Q0 {d} {rank} {s} tag\n" for rank, (q, d, s) in enumerate(rows))


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


# --- XOR predictions ---
@pytest.fixture
def xor(tmp_path) -> list[str]:
    gold = [
        {"id": "1", "question": "?", "answers": ["red fox"], "lang": "ar"},
        {"id": "2", "question": "?", "answers": ["Moscow, Russia"], "lang": "te"},
        {"id": "3", "question": "?", "answers": ["yes"], "lang": "te"},
    ]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(item) + "\n" for item in gold))
    (tmp_path / "punkt/english").mkdir(parents=True)
    for name in ("abbrev_types.txt", "collocations.tab", "sent_starters.txt", "ortho_context.tab"):
        (tmp_path / "punkt/english" / name).touch()
    return ["--data", f"xor_tydi={tmp_path / 'gold.jsonl'}", f"nltk_punkt={tmp_path / 'punkt'}"]


def predictions(path: Path, *items: dict) -> Path:
    path.write_text(json.dumps(list(items)))
    return path


def test_xor_predictions_bring_their_passages(tmp_path, xor):
    path = predictions(
        tmp_path / "p.json",
        {"id": "1", "lang": " ar", "ctxs": ["nothing here", "a red fox"]},
        {"id": "2", "lang": "te", "ctxs": [{"title": "t", "text": "born in Moscow, Russia."}]},
        {"id": "3", "lang": None, "ctxs": ["yes"]},
    )
    result = scored(tmp_path, "xor_retrieve", "--run", path, *xor)
    assert result["metrics"]["r@2kt"]["languages"] == {"ar": 1.0, "te": 0.0}  # the comma is a token of its own
    assert result["metrics"]["r_tokenized@2kt"]["languages"] == {"ar": 1.0, "te": 1.0}
    assert result["counts"]["missing_queries"] == 0


@pytest.mark.parametrize("ctxs", [[], ["red fox"]])
def test_a_question_for_which_nothing_was_found_is_predicted_and_counts_0(tmp_path, xor, ctxs):
    first = predictions(tmp_path / "p1.json", {"id": "1", "lang": "ar", "ctxs": ctxs})
    second = predictions(tmp_path / "p2.json", {"id": "2", "lang": "te", "ctxs": []})
    result = scored(tmp_path, "xor_retrieve", "--run", first, second, *xor)
    assert result["counts"]["missing_queries"] == 1  # 3
    assert result["metrics"]["r@2kt"]["languages"] == {"ar": float(bool(ctxs)), "te": 0.0}
    with pytest.raises(SteleError, match="found none of the 2 judged queries of te"):
        run("xor_retrieve", "--run", first, *xor)


RIGHT = {"id": "1", "lang": "ar", "ctxs": ["x"]}


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([RIGHT | {"lang": "te"}], "question '1': found lang 'te', but the gold file says 'ar'"),
        ([{"id": "1", "ctxs": "x"}], "item 1: want an object {id, lang, ctxs"),
        ([RIGHT | {"ctxs": [3]}], "ctxs 1: want a passage's text, found int"),
        ([RIGHT, RIGHT], "item 2: question '1' appears twice"),
    ],
)
def test_xor_predictions_that_are_wrong(tmp_path, xor, items, message):
    with pytest.raises(SteleError, match=message):
        run("xor_retrieve", "--run", predictions(tmp_path / "p.json", *items), *xor)


# --- answers ---
def test_answers_are_scored_by_the_language_of_the_paragraph(tmp_path):
    def gold(name: str, text: str) -> None:
        qas = [{"id": "k", "question": "?", "answers": [{"text": text, "answer_start": 0}]}]
        content = {"data": [{"paragraphs": [{"context": text, "qas": qas}]}]}
        (tmp_path / name).write_text(json.dumps(content))

    gold("test-context-en-question-de.json", "the house")
    gold("test-context-de-question-de.json", "das Haus")
    (tmp_path / "de-en.json").write_text(json.dumps({"k": "house", "other": "x"}))
    (tmp_path / "de-de.json").write_text(json.dumps({"k": "the Haus"}))
    runs = [f"{pair}={tmp_path / pair}.json" for pair in ("de-en", "de-de")]
    result = scored(tmp_path, "mlqa", "--run", *runs, "--data", f"mlqa={tmp_path}")
    # "the" is an article of English paragraphs, not of German ones
    assert result["metrics"]["exact_match"]["languages"] == {"de-de": 0.0, "de-en": 1.0}
    assert result["counts"]["extra_queries"] == 1
    (tmp_path / "dev.json").write_text(json.dumps({"other": "x"}))  # was scored 0, and the average halved
    with pytest.raises(SteleError, match=r"dev\.json: found none of the 1 judged queries of de-de"):
        run("mlqa", "--run", runs[0], f"de-de={tmp_path / 'dev.json'}", "--data", f"mlqa={tmp_path}")
    (tmp_path / "run").write_text(trec({"k": {"a": 1.0}}))
    with pytest.raises(SteleError, match="a ranking; this benchmark scores answers"):
        run("mlqa", "--run", f"de-de={tmp_path / 'run'}", "--data", f"mlqa={tmp_path}")


def test_gold_answers_need_no_more_than_the_official_script_reads(tmp_path):
    """Neither the paragraph nor where the answer stands, nor the question (MLQA mlqa_evaluation_v1.py)."""
    metrics = ["f1", "exact_match", "f1_squad", "exact_match_squad"]
    qas = [{"id": "k", "answers": [{"text": "the house"}, {"text": "home"}]}, {"id": "m", "answers": [{"text": "x"}]}]
    path = tmp_path / "test-context-en-question-de.json"
    path.write_text(json.dumps({"data": [{"paragraphs": [{"qas": qas}]}]}))
    (tmp_path / "run.json").write_text(json.dumps({"k": "Home!", "m": ""}))
    line = ["mlqa", "--run", f"de-en={tmp_path / 'run.json'}", "--data", f"mlqa={tmp_path}", "--metrics", *metrics]
    result = scored(tmp_path, *line)
    assert {result["metrics"][name]["average"] for name in metrics} == {0.5}
    assert result["counts"]["missing_queries"] == 0
    qas[1]["answers"] = []
    path.write_text(json.dumps({"data": [{"paragraphs": [{"qas": qas}]}]}))
    with pytest.raises(SteleError, match=r"de.json, paragraph 1, question m: has no answer"):
        run(*line)


# --- embeddings ---
def test_embeddings_are_ranked_in_both_directions(tmp_path):
    foreign = np.array([[1, 0], [0, 1], [1, 1]], dtype=np.float32)
    english = np.array([[2, 0.1], [3, 0], [0, 5]], dtype=np.float32)
    np.save(tmp_path / "fr.npy", foreign)
    np.save(tmp_path / "en.npy", english)
    result = scored(tmp_path, "tatoeba", "--run", f"fr={tmp_path / 'fr.npy'},{tmp_path / 'en.npy'}")
    # cosine: fr 0 -> en 1, fr 1 -> en 2, fr 2 -> en 0 (all wrong); en 0 -> fr 0 (right), en 1 -> fr 0, en 2 -> fr 1
    assert result["metrics"]["accuracy_to_en"]["languages"] == {"fr": 0.0}
    assert result["metrics"]["accuracy_from_en"]["languages"] == {"fr": pytest.approx(1 / 3)}
    assert result["metrics"]["accuracy"]["average"] == pytest.approx(1 / 6)


def test_embeddings_of_the_requested_languages_alone_are_scored(tmp_path):
    """All were scored, whatever --languages said, and an unknown language was no error."""
    vectors = np.eye(4, dtype=np.float32)
    np.save(tmp_path / "right.npy", vectors)
    np.save(tmp_path / "wrong.npy", vectors[::-1])
    pairs = [
        f"{name}={tmp_path}/right.npy,{tmp_path}/{other}.npy" for name, other in (("te", "right"), ("fr", "wrong"))
    ]
    result = scored(tmp_path, "tatoeba", "--run", *pairs, "--languages", "te")
    assert result["metrics"]["accuracy"]["languages"] == {"te": 1.0}
    assert result["metrics"]["accuracy"]["average"] == 1.0
    with pytest.raises(SteleError, match="--languages: unknown language 'de'"):
        run("tatoeba", "--run", *pairs, "--languages", "te", "de")


def test_embeddings_of_english_with_itself_are_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(4, dtype=np.float32))
    with pytest.raises(SteleError, match=r"--run en=\.\.\.: en is the other side of every pair"):
        run("tatoeba", "--run", f"en={tmp_path}/x.npy,{tmp_path}/x.npy")


def test_a_record_cannot_name_vectors_elsewhere(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((3, 2), dtype=np.float32))
    (tmp_path / "handed").mkdir()
    vectors = {"fr": {"queries": "../x.npy", "passages": "../x.npy"}}
    write_sealed(tmp_path / "handed/vectors.json", {"job": "encode", "vectors": vectors})
    with pytest.raises(SteleError, match=r"'\.\./x\.npy' could lead outside its folder"):
        run("tatoeba", "--run", str(tmp_path / "handed/vectors.json"))


def test_a_pair_without_english(tmp_path):
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((12, 8)).astype(np.float32)
    np.save(tmp_path / "de.npy", vectors)
    np.save(tmp_path / "fr.npy", vectors + 0.01)
    result = scored(tmp_path, "xsa", "--run", f"de-fr={tmp_path / 'de.npy'},{tmp_path / 'fr.npy'}")
    assert result["metrics"]["p@1"]["languages"] == {"de-fr": 1.0}
    assert set(result["metrics"]) == {"p@1", "p_forward@1", "p_backward@1"}


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (np.ones((3, 2)), np.ones((4, 2)), r"want arrays of one shape.* found \[3, 2\] and \[4, 2\]"),
        (np.ones((3, 2)), np.array([[1.0, 2], [np.nan, 1], [1, 1]]), r"row 1 \(from 0\) is not finite"),
        (np.ones((3, 2)), np.array([["a"]], dtype=object), "not a readable npy file"),
    ],
)
def test_embeddings_that_cannot_be_scored_are_refused(tmp_path, first, second, message):
    np.save(tmp_path / "x.npy", first)
    np.save(tmp_path / "y.npy", second, allow_pickle=True)
    with pytest.raises(SteleError, match=message):
        run("tatoeba", "--run", f"fr={tmp_path / 'x.npy'},{tmp_path / 'y.npy'}")
    with pytest.raises(SteleError, match="want a pair of embeddings"):
        run("tatoeba", "--run", f"fr={tmp_path / 'x.npy'}")


# --- documents that are no hits of their query ---
ARGUANA = {
    "queries.jsonl": '{"_id": "a-pro", "text": "meat"}\n{"_id": "b-pro", "text": "speech", "excluded_ids": ["N/A"]}\n',
    "corpus.jsonl": "".join(
        f'{{"_id": "{name}", "title": null, "text": "x"}}\n' for name in ("a-con", "a-pro", "b-con")
    ),
    "qrels/test.tsv": "query-id\tcorpus-id\tscore\na-pro\ta-con\t1\nb-pro\tb-con\t1\n",
}
ITSELF_FIRST = {"a-pro": {"a-pro": 0.99, "a-con": 0.8}, "b-pro": {"b-pro": 0.99, "b-con": 0.7}}
SECOND = 1 / np.log2(3)  # nDCG of one relevant document, found second


@pytest.fixture
def arguana(tmp_path) -> Path:
    """A set in BEIR's layout whose queries are documents, and run.txt, which finds each query itself first."""
    for name, text in ARGUANA.items():
        (tmp_path / "set" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "set" / name).write_text(text)
    (tmp_path / "run.txt").write_text(trec(ITSELF_FIRST))
    return tmp_path / "set"


def ndcg(tmp_path: Path, folder: Path, run: str = "run.txt") -> float:
    name = "miracl_hard_negatives"  # read by the module beir
    result = scored(tmp_path, name, "--run", f"en={tmp_path / run}", "--data", f"{name}:en={folder}")
    assert result["counts"]["missing_queries"] == 0
    assert len(result["files"][f"{name}:en={folder}"]) == 16, "a digest of the files in the folder"
    return result["metrics"]["ndcg@10"]["average"]


def stated(monkeypatch, value: bool) -> None:
    entry = catalogue.entry(Benchmark, "miracl_hard_negatives")
    monkeypatch.setitem(entry.__dict__, "ignore_identical_ids", value)


def test_the_document_of_a_query_s_own_id_is_no_hit_in_beir_s_layout_unless_the_entry_says_so(
    tmp_path, arguana, monkeypatch
):
    assert ndcg(tmp_path, arguana) == 1.0
    (tmp_path / "run.json").write_text(json.dumps(ITSELF_FIRST))
    assert ndcg(tmp_path, arguana, "run.json") == 1.0
    stated(monkeypatch, False)
    assert ndcg(tmp_path, arguana) == pytest.approx(SECOND)


def test_a_query_that_found_itself_alone_scores_0_and_a_judged_one_stays_judged(tmp_path, arguana):
    (tmp_path / "run.txt").write_text(trec({"a-pro": {"a-pro": 1.0}, "b-pro": ITSELF_FIRST["b-pro"]}))
    assert ndcg(tmp_path, arguana) == 0.5
    path = arguana / "qrels/test.tsv"
    path.write_text(path.read_text() + "b-pro\tb-pro\t1\n")  # never found, as in BEIR: nDCG 1 / (1 + 1 / log2 3)
    assert ndcg(tmp_path, arguana) == pytest.approx(0.5 / (1 + SECOND))


def test_mteb_s_layout_does_not_tell_whether_a_query_is_its_own_hit_so_the_entry_must(tmp_path, arguana, monkeypatch):
    (arguana / "qrels/test.tsv").unlink()
    pairs = [{"query-id": f"{name}-pro", "corpus-id": f"{name}-con", "score": 1.0} for name in "ab"]
    (arguana / "qrels/test.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    with pytest.raises(SteleError, match=r"2 queries of en have .* own id \(a-pro\).*`ignore_identical_ids: true`"):
        ndcg(tmp_path, arguana)
    for value, expected in ((True, 1.0), (False, SECOND)):
        stated(monkeypatch, value)
        assert ndcg(tmp_path, arguana) == pytest.approx(expected)


def test_excluded_documents_are_no_hits_either(tmp_path, arguana):
    (tmp_path / "run.txt").write_text(trec({"a-pro": {"a-con": 1.0}, "b-pro": {"z": 1.0, "b-con": 0.5}}))
    assert ndcg(tmp_path, arguana) == pytest.approx((1 + SECOND) / 2)
    path = arguana / "queries.jsonl"
    path.write_text(path.read_text().replace("N/A", "z"))
    assert ndcg(tmp_path, arguana) == 1.0
