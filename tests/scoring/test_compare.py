"""The command `scoring compare`: what it prints for a hand-worked case, what it writes, what it refuses."""

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest

from stele.errors import SteleError
from stele.evaluation import comparison
from stele.evaluation.bootstrap import interval, resampled_means
from stele.evaluation.significance import load_test
from stele.files.digests import sha256
from stele.scoring import compare, score
from tests.evaluation.score_files import write_csv, write_result
from tests.jobs import job

BASELINE = {"en": [0.5, 0.25], "sw": [0.0, 0.5, 0.25]}


def put_scores(path: Path, values: dict[str, list[float]], metrics=("mrr@10",)) -> Path:
    rows = [
        (code, code, f"{i:03d}", *[value] * len(metrics)) for code in values for i, value in enumerate(values[code])
    ]
    return write_csv(path, rows, metrics)


def raised(by: dict[str, float]) -> dict[str, list[float]]:
    return {language: [value + by[language] for value in one] for language, one in BASELINE.items()}


def compared(*line) -> None:
    compare.run(job(compare, [str(part) for part in line]))


@pytest.fixture
def systems(tmp_path) -> list:
    """`new` is better by .25 for each of two English queries, and by .5 for each of three Swahili ones."""
    old = put_scores(tmp_path / "old.csv", BASELINE)
    new = put_scores(tmp_path / "new.csv", raised({"en": 0.25, "sw": 0.5}))
    return ["--system", "old", old, "--system", "new", new]


PRINTED = """\
mrr@10, baseline old
system  language         queries  baseline    mean  difference  95 % interval       p  p (holm)     win  tie  loss
new     en                     2    0.3750  0.6250     +0.2500            n/a  0.5000    0.5000       2    0     0
new     sw                     3    0.2500  0.7500     +0.5000            n/a  0.2500    0.5000       3    0     0
new     average (macro)        5    0.3125  0.6875     +0.3750            n/a  0.0625    0.1875  *    5    0     0
* p < 0.2 after Holm's correction over 3 comparisons; paired Fisher randomisation, two-sided; 100,000 permutations, \
seed 0, exact where at most 20 queries differ.
Interval: percentile bootstrap, 10,000 resamples within each language, seed 0. A win is a query with a higher value \
than the baseline's.
"""


def test_a_comparison_is_printed_as_counted_by_hand(systems, capsys):
    """By hand: 2 of 4, 2 of 8 and 2 of 32 outcomes are as extreme; Holm: 3 x .0625, 2 x .25, 1 x .5 (at least .5)."""
    compared(*systems, "--level", "0.2")
    assert capsys.readouterr().out == PRINTED


def test_micro_and_t_test_and_no_correction(systems, capsys):
    compared(*systems, "--average", "micro", "--test", "t_test", "--correction", "none")
    lines = capsys.readouterr().out.splitlines()
    # mean .4; t = .4 / sqrt(.01875 / 5) = 6.532, 4 degrees of freedom
    expected = "new average (micro) 5 0.3000 0.7000 +0.4000 n/a 0.0028 * 5 0 0"
    assert lines[4].split() == expected.split()
    assert "p (" not in lines[1]
    assert lines[5] == "* p < 0.05; paired t-test, two-tailed."


def test_the_baseline_can_be_any_system(systems, capsys):
    compared(*systems, "--baseline", "new", "--correction", "bonferroni")
    lines = capsys.readouterr().out.splitlines()
    expected = "old average (macro) 5 0.6875 0.3125 -0.3750 n/a 0.0625 0.1875 0 0 5"
    assert lines[4].split() == expected.split()


def test_a_system_of_several_seeds_is_compared_by_its_mean(tmp_path, systems, capsys):
    seeds = [put_scores(tmp_path / f"{i}.csv", raised({"en": by, "sw": by})) for i, by in enumerate((0.0, 0.5))]
    compared(*systems[:3], "--system", "new", *seeds)
    lines = capsys.readouterr().out.splitlines()
    expected = "new average (macro) 5 0.3125 - 0.5625 0.3536 +0.2500 n/a 0.0625 0.1875 5 0 0"
    assert lines[4].split() == expected.split()
    assert lines[-1].startswith("Of several seeds of a system, each query's mean is compared")


def test_json_and_csv(tmp_path, systems):
    result, table = tmp_path / "out/x.json", tmp_path / "out/x.csv"
    compared(*systems, "--seed", 3, "--output", result, "--csv", table)
    written = json.loads(result.read_text())
    assert (written["test"], written["seed"], written["permutations"], written["level"]) == ("fisher", 3, 100_000, 0.05)
    assert (written["baseline"], written["averaged"], written["correction"]) == ("old", "macro", "holm")
    assert written["systems"]["new"]["seeds"] == 1
    assert "numpy" in written["versions"]
    assert [len(digest) for system in written["systems"].values() for digest in system["files"].values()] == [64, 64]
    average = written["comparisons"][2]
    assert (average["language"], average["p"], average["corrected_p"]) == ("average", 0.0625, 0.1875)
    assert (average["difference"], average["std"], average["significant"]) == (0.375, None, False)
    rows = list(csv.DictReader(table.open(encoding="utf-8")))
    assert [(row["system"], row["language"], row["p"]) for row in rows] == [
        ("new", "en", "0.5"),
        ("new", "sw", "0.25"),
        ("new", "average", "0.0625"),
    ]
    assert rows[2]["std"] == ""
    first = table.read_bytes(), written["content"]
    compared(*systems, "--seed", 3, "--output", result, "--csv", table)
    assert (table.read_bytes(), json.loads(result.read_text())["content"]) == first
    with pytest.raises(SteleError, match=r"old\.csv: no table of metric, system"):
        compared(*systems, "--csv", systems[2])


def test_the_seed_reaches_the_test(tmp_path):
    rng = np.random.default_rng(0)
    ours, theirs = rng.random(40), rng.random(40)
    files = [put_scores(tmp_path / "b.csv", {"en": theirs}), put_scores(tmp_path / "a.csv", {"en": ours})]
    output = tmp_path / "x.json"
    line = ["--system", "b", files[0], "--system", "a", files[1], "--output", output]
    compared(*line, "--seed", 3)
    written = json.loads(output.read_text())["comparisons"][0]
    assert written["p"] == load_test("fisher").p_value([ours - theirs], seed=3)
    assert written["p"] != load_test("fisher").p_value([ours - theirs], seed=0)
    assert [written["low"], written["high"]] == pytest.approx(
        interval(resampled_means({"en": ours - theirs}, seed=3)["en"])
    )


def test_p_that_cannot_be_had_is_null(tmp_path, capsys):
    files = [put_scores(tmp_path / f"{name}.csv", {"en": [value]}) for name, value in (("a", 0.5), ("b", 1.0))]
    output = tmp_path / "x.json"
    compared("--system", "a", files[0], "--system", "b", files[1], "--test", "t_test", "--output", output)
    assert "n/a" in capsys.readouterr().out
    (comparison,) = json.loads(output.read_text())["comparisons"]
    assert [comparison[name] for name in ("p", "low", "high")] == [None] * 3


def test_labels_and_average_come_from_results_and_what_makes_them_unlike_is_named(tmp_path, capsys, caplog):
    alike = {"pooling": "mean", "normalize": True, "query_length": 64, "passage_length": 64, "precision": "float32"}
    line = []
    for name, encoding in (("a", alike), ("b", alike | {"pooling": "cls", "precision": "bfloat16"})):
        facts = {"benchmark": "belebele", "averaged": "micro"}
        facts["ancestry"] = {name: {"job": "retrieve", "encoding": encoding}}
        line += ["--system", name, write_result(tmp_path / f"{name}.json", [0.5, 0.25], **facts)]
    compared(*line, "--output", tmp_path / "x.json")
    assert capsys.readouterr().out.endswith("labels: generated data\n")
    written = json.loads((tmp_path / "x.json").read_text())
    assert [written[key] for key in ("labels", "benchmark", "averaged")] == [["generated data"], "belebele", "micro"]
    assert "encoded differently: pooling (a: 'mean', b: 'cls')" in caplog.text
    assert "the languages ask the same questions" in caplog.text
    caplog.clear()
    compared(*line[:3], "--system", "same", line[2])
    assert "encoded differently" not in caplog.text


def test_the_average_of_languages_with_the_same_questions_is_of_questions(tmp_path, capsys, caplog):
    """Two languages with equal values are one sample of three questions: all change alike, so p is 2 / 2^3."""
    line, codes = [], ["en"] * 3 + ["sw"] * 3
    for name, by in (("old", 0.0), ("new", 0.25)):
        path = write_result(tmp_path / f"{name}.json", [0.5], benchmark="belebele").with_suffix("") / "queries.parquet"
        columns = {"search": codes, "language": codes, "query": ["q0", "q1", "q2"] * 2}
        columns["mrr@10"] = [value + by for value in (0.0, 0.25, 0.5)] * 2
        pyarrow.parquet.write_table(pyarrow.table(columns), path)
        line += ["--system", name, path]
    compared(*line)
    out = capsys.readouterr().out
    assert [row.split()[8] for row in out.splitlines() if "average (macro)" in row] == ["0.2500"]
    assert "resamples within each language, for the average of questions in all languages, seed 0" in out
    assert "too small" not in caplog.text


@pytest.mark.parametrize("values", ["result/queries.parquet", "result.csv"])
@pytest.mark.parametrize("order", [("old", "new", "result"), ("result", "new", "old")])
def test_one_result_says_for_all_systems_how_languages_are_averaged(tmp_path, capsys, order, values):
    """And that they ask the same questions: with six of them p of the average would be 2 / 2^6, not 2 / 2^3."""
    codes, files = ["en"] * 3 + ["sw"] * 3, {}
    for name, by in (("old", 0.0), ("new", 0.25)):
        rows = [(code, code, f"q{number % 3}", number / 8 + by) for number, code in enumerate(codes)]
        files[name] = write_csv(tmp_path / f"{name}.csv", rows)
    facts = {"benchmark": "belebele", "averaged": "micro"}
    files["result"] = path = tmp_path / values
    write_result(tmp_path / "result.json", [0.5], **facts, queries={"file": path.name, "sha256": "0"})
    columns = {"search": codes, "language": codes, "query": ["q0", "q1", "q2"] * 2, "mrr@10": [0.5] * 6}
    write = pyarrow.csv.write_csv if path.suffix == ".csv" else pyarrow.parquet.write_table
    write(pyarrow.table(columns), path)
    line = [part for name in order for part in ("--system", name, files[name])]
    compared(*line, "--baseline", "old", "--correction", "none")
    rows = [row.split() for row in capsys.readouterr().out.splitlines() if "average (micro)" in row]
    assert {row[0]: row[8] for row in rows}["new"] == "0.2500"
    found = comparison.compare(files).set_index(["system", "language"])
    assert found.p["new", "average"] == 0.25


def test_only_metrics_that_all_systems_have_are_compared(tmp_path, systems, capsys, caplog):
    two = put_scores(tmp_path / "two.csv", BASELINE, ("mrr@10", "recall@10"))
    compared("--system", "two", two, *systems)
    assert capsys.readouterr().out.count("baseline two") == 1
    assert "metrics not compared, since a system lacks them: recall@10" in caplog.text
    compared("--system", "two", two, "--system", "again", put_scores(tmp_path / "2.csv", BASELINE, ("recall@10",)))
    assert capsys.readouterr().out.startswith("recall@10, baseline two")


@pytest.mark.parametrize(
    "line",
    [
        ["--average", "mean"],
        ["--baseline", "ol"],
        ["--benchmark", "mr_tydi"],
        ["--benchmark", "mrtydi", "--metric", "mmr@10"],
    ],
)
def test_a_wrong_name_is_refused_before_a_file_is_read(systems, line, monkeypatch):
    monkeypatch.setattr(compare.paired, "read_system", lambda *_: pytest.fail("the systems are read"))
    monkeypatch.setattr(compare, "run_scores", lambda *_: pytest.fail("the systems are scored"))
    with pytest.raises(SteleError, match=f"unknown .* '{line[-1].partition('@')[0]}'"):
        compared(*systems, *line)


@pytest.mark.parametrize("option", ["--output", "--csv"])
def test_a_file_of_the_user_s_is_refused_before_the_comparison(tmp_path, systems, option, monkeypatch):
    monkeypatch.setattr(compare.paired, "read_system", lambda *_: pytest.fail("the systems are read"))
    mine = tmp_path / ("mine.json" if option == "--output" else "mine.csv")
    mine.write_text("a,b\n1,2\n")
    with pytest.raises(SteleError, match=f"{mine.name}: (is not a record|no table of)"):
        compared(*systems, option, mine)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["--test", "fischer"], "unknown test 'fischer'; did you mean 'fisher'"),
        (["--correction", "hom"], "unknown correction 'hom'; did you mean 'holm'"),
        (["--metric", "mrr@1"], "unknown metric 'mrr@1'; did you mean 'mrr@10'"),
        (["--level", "5"], "--level: want a number between 0 and 1"),
        (["--seed", "-1"], "--seed: Input should be greater than or equal to 0"),
        (["--system", "old", "x.csv"], "'old' is given twice"),
        (["--system", "x"], "--system x: want a name and its files"),
        (["--system", "x", "/nowhere/x.csv"], "/nowhere/x.csv: no such file"),
        (["--system", "x", "recall.csv"], "no metric in common; found mrr@10, recall@10"),
        (["--system", "x", "fewer.csv"], r"fewer\.csv: lacks 3 queries that .*old\.csv has, for example '000' .* 'sw'"),
    ],
)
def test_wrong_arguments_of_compare_leave_no_file(tmp_path, systems, line, message, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put_scores(tmp_path / "recall.csv", BASELINE, ("recall@10",))
    put_scores(tmp_path / "fewer.csv", {"en": BASELINE["en"]})
    with pytest.raises(SteleError, match=message):
        compared(*systems, *line, "--output", tmp_path / "x.json")
    assert not (tmp_path / "x.json").exists()
    with pytest.raises(SteleError, match="want two systems or more"):
        compared(*systems[:3])


def test_runs_are_scored_and_compared(tmp_path, capsys):
    (tmp_path / "qrels").write_text("".join(f"{i} 0 a 1\n" for i in range(4)))
    (tmp_path / "good").write_text("".join(f"{i} Q0 a 1 2.0 t\n{i} Q0 b 2 1.0 t\n" for i in range(4)))
    (tmp_path / "bad").write_text("".join(f"{i} Q0 a 1 0.5 t\n{i} Q0 b 2 1.0 t\n" for i in range(3)))
    compared(
        *("--benchmark", "mrtydi", "--data", f"mrtydi:sw={tmp_path / 'qrels'}", "--metric", "mrr@100"),
        *("--system", "bad", f"sw={tmp_path / 'bad'}", "--system", "good", f"sw={tmp_path / 'good'}"),
        *("--output", tmp_path / "out.json"),
    )
    printed = capsys.readouterr().out
    # 1/2 for three queries and 0 for the missing one against 1: 2 of 16 outcomes are as extreme
    assert " ".join(printed.splitlines()[2].split()[:6]) == "good sw 4 0.3750 1.0000 +0.6250"
    written = json.loads((tmp_path / "out.json").read_text())
    assert written["comparisons"][0]["p"] == 0.125
    assert list(written["systems"]["good"]["files"]) == [f"sw={tmp_path / 'good'}"]


def test_a_path_may_have_an_equals_sign_or_a_comma(tmp_path, systems, monkeypatch):
    """Anserini calls a run run_bm25(k1=0.9,b=0.4)_default; a folder may be called by its learning rate."""
    monkeypatch.chdir(tmp_path)
    Path("lr=1e-5").mkdir()
    table = systems[2].rename("lr=1e-5/a,b.csv")
    compared("--system", "old", f"lr=1e-5/{table.name}", *systems[3:], "--output", "out.json")
    qrels, run = Path("qrels,all"), Path("run_bm25(k1=0.9,b=0.4)_default")
    qrels.write_text("0 0 a 1\n")
    run.write_text("0 Q0 a 1 2.0 t\n")
    data, output = ["--data", f"mrtydi:sw={qrels}"], ["--output", "score.json"]
    for given in (f"sw={run}", str(run)):
        score.run(job(score, ["mrtydi", "--run", given, *data, *output]))
        digests = json.loads(Path("score.json").read_text())["files"]
        assert digests == {given: sha256(run), f"mrtydi:sw={qrels}": sha256(qrels)}
