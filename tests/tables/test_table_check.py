"""The check of the papers' tables against themselves: it recomputes, and only listed deviations pass."""

import pytest

from stele import cli
from stele.tables import check


def test_all_deviations_of_the_papers_are_explained(msm):
    tables = list(msm.values())
    found = check.deviations(tables)
    assert check.unexplained(tables, found) == []
    assert {d.kind for d in found} == {"average", "same target", "bold"}
    gmt = [d for d in found if d.address == "all/gmt_path/r2k/avg"]
    assert [d.says for d in gmt] == ["prints 58.2, the mean of its 7 cells is 55.714"]


def test_every_printed_average_was_recomputed(msm):
    """By hand: (40.8+29.9+26.7+39.7+27+32.2+29.4+22+26.5)/9 = 30.47, over the nine languages of DistilmBERT."""
    wrong = msm[2].model_copy(deep=True)
    row = wrong.groups[0].rows[0]
    row.printed["mrr"][-1] = 30.6
    found = [d for d in check.averages(wrong, check.printed_cells(wrong)) if "distilmbert" in d.address]
    assert [d.says for d in found] == ["prints 30.6, the mean of its 9 cells is 30.467"]


@pytest.mark.parametrize(
    ("replace", "said"),
    [
        ({"30.0]}": "30.2]}"}, "msm/99 all/first/value/avg: average: prints 30.2, the mean of its 2 cells is 30.000"),
        ({"[40.0,": "[{value: 40.0, bold: true},"}, "all/first/value/ar: bold: 40 is bold, Second has 50"),
        ({"model: second": "model: first"}, "same target"),
        (
            {"stub: Method": "stub: Method\ndeviations: [{at: all/first/value/avg, kind: average, why: none}]"},
            "listed in `deviations` and does not occur",
        ),
    ],
)
def test_an_unknown_deviation_and_a_stale_one_fail(bench, capsys, replace, said):
    bench.spec(**replace)
    assert cli.main(["tables", "check", "--specs", str(bench.folder)]) == 1
    assert said in capsys.readouterr().err


def test_the_command_lists_counts_and_reasons(root, capsys):
    assert cli.main(["tables", "check", "--specs", str(root / "paper_tables/msm")]) == 0
    out = capsys.readouterr().out
    assert "msm/2: 192 cells: 188 numbers, 4 dashes" in out
    assert "1106 cells of 16 tables" in out
    assert "NOT EXPLAINED" not in out


def test_a_mean_that_rounds_to_the_print_is_no_deviation(bench):
    table = bench.spec(**{"[50.0, 30.0, 40.0]": "[50.0, 30.1, 40.1]"})  # mean 40.05, printed 40.1
    assert check.deviations([table]) == []
