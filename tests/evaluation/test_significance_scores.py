"""Reading scores per query: files, results, averaged results; ids as written; damaged files."""

import math

import numpy as np
import pytest
from score_files import write_csv, write_result

from stele.errors import SteleError
from stele.evaluation.scores import read
from stele.files.digests import sha256
from tests.sealed import write_sealed


def test_scores_in_a_csv_keep_their_ids_as_texts(tmp_path):
    rows = [("en", "en", "007", 0.5, 1), ("en", "en", "7", "", 0), ("sw", "sw", "no", 0.25, 1)]
    path = write_csv(tmp_path / "x.csv", rows, ("mrr@10", "r@5"))
    (scores_read,) = read(path)
    assert scores_read.keys == [("en", "007"), ("en", "7"), ("sw", "no")]  # texts, not numbers or booleans
    assert scores_read.languages == ["en", "en", "sw"]
    np.testing.assert_array_equal(scores_read.values["mrr@10"], [[0.5, math.nan, 0.25]])
    np.testing.assert_array_equal(scores_read.values["r@5"], [[1, 0, 1]])
    assert (scores_read.benchmark, scores_read.average, scores_read.labels) == (None, None, frozenset())


def test_csv_with_a_byte_order_mark_and_crlf(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("\ufeffsearch,language,query,mrr@10\r\nen,en,1,0.5\r\n".encode())
    assert read(path)[0].keys == [("en", "1")]


@pytest.mark.parametrize("name", ["mrtydi/msm/zero_shot_marco/pt0-ft0.json", "bge-v1.5.json"])
def test_a_result_stands_for_the_file_beside_it(tmp_path, name):
    path = write_result(tmp_path / name, [0.5, None])
    for given in (path, path.with_suffix("") / "queries.parquet"):
        (scores_read,) = read(given)
        np.testing.assert_array_equal(scores_read.values["mrr@10"], [[0.5, math.nan]])
        assert (scores_read.benchmark, scores_read.average, scores_read.labels) == (
            "mrtydi",
            "macro",
            {"generated data"},
        )


def test_a_result_stands_for_the_file_that_it_names_beside_it(tmp_path):
    """As `scoring score --output mine.json --queries mine.csv` writes them."""
    csv = write_csv(tmp_path / "mine.csv", [("en", "en", "1", 0.5)], ("mrr@10",))
    record = {"metrics": {"mrr@10": {}}, "seeds": {}, "queries": {"file": "mine.csv", "sha256": sha256(csv)}}
    write_sealed(tmp_path / "mine.json", record)
    assert read(tmp_path / "mine.json")[0].keys == [("en", "1")]
    write_result(tmp_path / "other.json", [0.5]).with_suffix("").rename(tmp_path / "mine")  # of an earlier scoring
    assert read(tmp_path / "mine.json")[0].source == str(csv)
    write_csv(csv, [("en", "en", "1", 0.6)], ("mrr@10",))
    with pytest.raises(SteleError, match=r"mine\.csv: these values per query do not belong to mine\.json"):
        read(tmp_path / "mine.json")
    write_sealed(tmp_path / "mine.json", {**record, "queries": {"file": "../mine.csv", "sha256": ""}})
    with pytest.raises(SteleError, match=r"mine\.json: queries: "):
        read(tmp_path / "mine.json")


def test_an_averaged_result_stands_for_its_seeds(tmp_path):
    folder = tmp_path / "mrtydi/msm"
    for seed in (0, 1, 2):
        write_result(folder / f"zero_shot_marco/pt0-ft{seed}.json", [0.5, 0.1 * seed], seed)
    seeds = [{"pretraining": 0, "finetuning": seed} for seed in (0, 2)]
    record = {"metrics": {"mrr@10": {}}, "setting": "zero_shot_marco", "seeds": seeds}
    write_sealed(folder / "zero_shot.json", record)  # a copy under a short name
    scores_read = read(folder / "zero_shot.json")
    assert [one.values["mrr@10"].tolist() for one in scores_read] == [[[0.5, 0.0]], [[0.5, 0.2]]]


@pytest.mark.parametrize("setting", ["../../elsewhere/zero_shot", "/tmp", "", 7, None])
def test_a_setting_cannot_lead_elsewhere(tmp_path, setting):
    write_result(tmp_path / "elsewhere/zero_shot/pt0-ft0.json", [0.5, 0.1])
    path = tmp_path / "handed/mrtydi/zero_shot.json"
    path.parent.mkdir(parents=True)
    seeds = [{"pretraining": 0, "finetuning": 0}]
    write_sealed(path, {"metrics": {"mrr@10": {}}, "setting": setting, "seeds": seeds})
    with pytest.raises(SteleError, match=r"zero_shot\.json: setting: "):
        read(path)


GOOD = "search,language,query,mrr@10\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.csv: not a readable"),
        (GOOD, "x.csv: found no query"),
        ("language,query,mrr@10\nen,1,0.5\n", "x.csv: want columns search, language, query, and one per metric; found"),
        ("search,language,query\nen,en,1\n", "want columns search, language, query, and one per metric; found"),
        ("search,language,query,a,a\nen,en,1,1,1\n", "a column appears twice"),
        (GOOD + "en,en,1,0.5\nen,en,1,0.6\n", "query '1' of search 'en' appears 2 times; want each query once"),
        (GOOD + "en,en,1,0.5\nen,en,2,high\n", "column 'mrr@10' must hold numbers .*high"),
        (GOOD + "en,en,1,0.5\nen,en,,0.5\n", "row 2: query must be a text, found ''"),
        (GOOD + "en,en,1,0.5\nen,en,2,inf\n", "row 2: mrr@10 is infinite"),
        (GOOD + "en,en,1\n", "x.csv: not a readable .*Expected 4 columns, got 3"),
    ],
)
def test_a_csv_that_holds_no_scores_is_refused(tmp_path, text, message):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(SteleError, match=message):
        read(tmp_path / "x.csv")


def test_files_that_hold_no_scores_are_refused(tmp_path):
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "x.xlsx").write_bytes(b"")
    (tmp_path / "config.json").write_text('{"job": "retrieve"}')
    write_sealed(tmp_path / "alone.json", {"metrics": {}, "seeds": {"pretraining": 0, "finetuning": 0}})
    for name, message in [
        ("cut.parquet", r"cut\.parquet: not a readable"),
        ("x.xlsx", r"x\.xlsx: want a result \(\.json\) or scores per query \(\.parquet or \.csv\)"),
        ("config.json", r"config\.json: not a result of `scoring score`"),
        ("alone.json", r"alone\.json: found no file .*alone/queries\.parquet with its scores per query"),
        ("absent.csv", r"absent\.csv: no such file"),
    ]:
        with pytest.raises(SteleError, match=message):
            read(tmp_path / name)
