"""From spec, context and results to cells: values, averages, and every state a cell can be in."""

import shutil

import pytest

from stele.papers.table import accepts_rows, references
from stele.papers.table_parts import Report, Target, merge, resolve
from stele.tables.render.layout import delta_of
from stele.tables.values import numbers
from stele.tables.values.cell import table_cells
from stele.tables.values.context import Context
from stele.tables.values.lookup import STATES, Results


# --- targets ----------------------------------------------------------------------------------------------------------
def test_later_levels_win_and_a_language_excludes_an_average():
    table, column = Target(benchmark="mrtydi", metric="mrr@100", average=["ar", "en"]), Target(language="sw")
    reference = resolve(merge([table, Target(model="msm", setting="zero_shot_nq"), column]))
    assert (reference.languages, reference.average) == (("sw",), False)
    assert resolve(merge([column, table, Target(model="m", setting="s", without=["en"])])).languages == ("ar",)


def test_a_setting_by_benchmark_leaves_other_benchmarks_without_a_target():
    settings = Target(setting={"mrtydi": "multilingual"}, model="msm", metric="m", language="en")
    assert resolve(merge([settings, Target(benchmark="mrtydi")])).setting == "multilingual"
    assert resolve(merge([settings, Target(benchmark="lareqa")])) is None


def results_needed(*shown, **options):
    return sorted({value.result for value in references(*shown, **options)})


def test_the_results_that_tables_need(msm):
    assert results_needed(msm[8]) == [
        (benchmark, model, "zero_shot_nq")
        for benchmark in ("mrtydi", "xor_retrieve")
        for model in ("msm", "msm_layers_1", "msm_layers_4", "msm_layers_6")
    ]
    needed, everything = results_needed(msm[14]), results_needed(msm[14], "all")
    borrowed = {("mrtydi", m, "zero_shot_nq_ccp") for m in ("ccp", "infoxlm_large", "xlmr_large")}
    assert set(everything) - set(needed) == borrowed
    assert ("nq", "bm25", "lexical") in results_needed(msm[16], "all")
    assert results_needed(msm[13], "all") == []
    assert {m for _, m, _ in results_needed(msm[15])} == {"msm", "xlmr"}, "machine translation has no model of ours"


def test_where_a_model_of_ones_own_fits(msm):
    assert [n for n, table in msm.items() if accepts_rows(table)] == [1, 2, 3, 9, 10, 11, 12, 14, 15, 16]


# --- values -----------------------------------------------------------------------------------------------------------
def test_values_averages_and_differences(bench):
    table = bench.spec()
    bench.result("first", {"ar": 0.4465, "sw": 0.1})
    cells = bench.cells(table)
    assert cells["first/value/ar"].outcome.value == 0.4465
    assert cells["first/value/avg"].outcome.value == pytest.approx(0.27325, abs=1e-15)
    assert numbers.signed(delta_of(cells["first/value/ar"]), Report()) == "+4.7", "44.65 - 40.0, half away from zero"
    assert cells["second/value/avg"].outcome.value is None, "missing is never a number"


def test_an_incomplete_average_says_so_and_has_no_difference(bench):
    table = bench.spec()
    bench.result("first", {"ar": 0.5})
    cell = bench.cells(table, scale="tiny", languages_in_scale={"mrtydi": ["ar"]})["first/value/avg"]
    assert (cell.outcome.state, cell.outcome.value, cell.outcome.languages) == ("measured", 0.5, ("ar",))
    assert not cell.complete and delta_of(cell) is None


def test_distilmbert_is_averaged_over_the_nine_languages_it_supports(bench, msm):
    bench.result("distilmbert", {c.key: 0.1 for c in msm[2].columns if c.key not in ("bn", "te", "avg")})
    cells = bench.cells(msm[2])
    assert cells["distilmbert/mrr/avg"].complete and len(cells["distilmbert/mrr/avg"].reference.languages) == 9
    assert cells["distilmbert/mrr/bn"].outcome.state == "unavailable"
    assert "does not support Bengali" in cells["distilmbert/mrr/bn"].outcome.reason


def test_seeds_give_a_standard_deviation_of_the_cell_itself(bench):
    """By hand: averages of the two seeds .3 and .5, so mean .4 and standard deviation sqrt(.02) = .1414."""
    table = bench.spec()
    bench.result("first", {"ar": 0.5, "sw": 0.3}, values={"languages": {"ar": [0.4, 0.6], "sw": [0.2, 0.4]}})
    cells = bench.cells(table)
    assert cells["first/value/avg"].outcome.deviation == pytest.approx(0.02**0.5)
    assert bench.result("second", {"ar": 0.5}) and bench.cells(table)["second/value/ar"].outcome.deviation is None


# --- states -----------------------------------------------------------------------------------------------------------
def test_every_state_can_be_reached(bench, msm):
    table = bench.spec()
    seen = {"stated": bench.cells(msm[13])["msm/value/corpora"].outcome.state}
    bench.result("first", {"ar": 0.5})
    key = "second/zero_shot_marco/mrtydi"
    for state, row in {
        "not built": {"rows": {key: {"state": "not built", "reason": "no rule yet"}}},
        "unavailable": {"rows": {key: {"state": "unavailable", "reason": "behind a licence"}}},
        "failed": {"failed": {key: "logs/second.log"}},
        "not run": {},
    }.items():
        actual = bench.cells(table, **row)["second/value/ar"].outcome
        seen[actual.state] = actual.state
        assert actual.state == state
        assert state != "failed" or "logs/second.log" in actual.reason
    actual = bench.cells(table, languages_in_scale={"mrtydi": ["ar"]})
    seen |= {cell.outcome.state: "" for cell in actual.values()}
    bench.result("second", {"ar": 0.1}).write_text('{"benchmark": "mrtydi", "mod', encoding="utf-8")
    unreadable = bench.cells(table)["second/value/ar"].outcome
    assert "second/zero_shot_marco.json" in unreadable.reason, "a damaged file names itself"
    seen |= {unreadable.state: "", bench.cells(msm[15])["gmt_dpr/r2k/ar"].outcome.state: ""}
    assert seen.keys() == STATES.keys()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[1, 2]",
        '{"benchmark": "mrtydi", "model": "first", "setting": "zero_shot_marco", "metrics": {}}',
        '{"benchmark": "mrtydi", "model": "first", "setting": "zero_shot_marco",'
        ' "metrics": {"mrr@100": {"languages": {"ar": NaN}}}}',
        '{"benchmark": "mrtydi", "model": "other", "setting": "zero_shot_marco",'
        ' "metrics": {"mrr@100": {"languages": {"ar": 0.5}}}}',
        "\udcff",
    ],
)
def test_a_damaged_result_leaves_its_cells_unreadable_and_the_rest_alone(bench, content):
    bench.result("second", {"ar": 0.5, "sw": 0.5})
    bench.result("first", {"ar": 0.5}).write_bytes(content.encode("utf-8", "surrogateescape"))
    cells = bench.cells(bench.spec())
    assert cells["first/value/avg"].outcome.state == "unreadable"
    assert cells["second/value/avg"].outcome.state == "measured"


def test_a_cell_s_state_is_that_of_the_results_folder(bench):
    bench.result("first", {"ar": 0.5, "sw": 0.5})
    rows = {"first/zero_shot_marco/mrtydi": {"state": "not built"}}
    cells = bench.cells(bench.spec(), rows=rows, languages_in_scale={"mrtydi": ["ar"]})
    assert cells["first/value/ar"].outcome.state == "measured"
    assert cells["first/value/sw"].outcome.state == "not in scale", "from before `languages` left it out"
    assert cells["first/value/avg"].outcome.languages == ("ar",)


def test_a_language_left_out_hides_no_better_answer(bench):
    key = "first/zero_shot_marco/mrtydi"
    rows = {key: {"state": "not built", "reason": "no recipe"}}
    context = {"languages_in_scale": {"mrtydi": ["ar"]}, "failed": {"second/zero_shot_marco/mrtydi": "x.log"}}
    cells = bench.cells(bench.spec(), rows=rows, **context)
    assert cells["first/value/sw"].outcome.state == "not built"
    assert cells["second/value/sw"].outcome.state == "not in scale"
    assert cells["second/value/ar"].outcome.state == "failed"


def test_a_language_that_a_row_cannot_have_says_why(bench):
    key = "first/zero_shot_marco/mrtydi"
    bench.result("first", {"ar": 0.5})
    context = {"left_out": {key: {"sw": "no text of it"}}}
    cells = bench.cells(bench.spec(), **context)
    outcome = cells["first/value/sw"].outcome
    assert (outcome.state, outcome.reason) == ("unavailable", "no text of it")
    average = cells["first/value/avg"].outcome
    assert (average.state, average.languages, average.value) == ("measured", ("ar",), 0.5)
    failed = bench.cells(bench.spec(), **context, failed={key: "x.log"})
    assert failed["first/value/sw"].outcome.state == "unavailable", "it would not have been there either"
    assert failed["first/value/ar"].outcome.state == "failed"
    outside = bench.cells(bench.spec(), **context, languages_in_scale={"mrtydi": ["ar"]})
    assert outside["first/value/sw"].outcome.state == "not in scale"


def test_borrowed_rows_are_run_only_on_request(bench, msm):
    bench.result("xlmr_large", {"ar": 0.5}, setting="zero_shot_nq_ccp")
    borrowed = bench.cells(msm[14])["xlmr_large/mrr/ar"]
    assert borrowed.outcome.state == "borrowed" and "Wu et al. (2022a)" in borrowed.outcome.reason
    recomputed = bench.cells(msm[14], recompute="all")
    assert recomputed["xlmr_large/mrr/ar"].outcome.value == 0.5
    assert recomputed["ccp_large/mrr/ar"].outcome.state == "not run"
    assert bench.cells(msm[15], recompute="all")["gmt_dpr/r2k/ar"].outcome.state == "borrowed", "no model of ours"
    assert bench.cells(msm[16])["bm25/value/r5"].outcome.state == "unavailable", "its source prints a dash"


# --- rows of one's own ------------------------------------------------------------------------------------------------
def test_a_row_is_added_without_touching_a_spec(bench, msm):
    bench.result("minilm", {"ar": 0.9})
    mine = {"model": "minilm", "label": "MiniLM", "tables": ["msm/2"]}
    added = Context(extra_rows=[mine, {"model": "msm"}, {"model": "x", "tables": []}])
    cells = table_cells(msm[2], added, Results(bench.results_dir))
    extra = [cell for cell in cells if cell.extra]
    places = {(cell.group.key, cell.row.label) for cell in extra}
    assert places == {("unsupervised", "MiniLM")}, "msm has its row already"
    assert len(extra) == 24 and cells[-24:] == extra
    assert extra[0].outcome.value == 0.9 and extra[0].printed is None and delta_of(extra[0]) is None
    assert ("mrtydi", "minilm", "zero_shot_marco") in results_needed(msm[2], extra_models=["minilm"])


def test_an_added_row_joins_every_setting_of_a_table(bench, msm):
    cells = table_cells(msm[9], Context(extra_rows=[{"model": "minilm"}]), Results(bench.results_dir))
    assert {cell.reference.setting for cell in cells if cell.extra} == {"zero_shot_marco", "multilingual"}
    stated = table_cells(msm[13], Context(extra_rows=[{"model": "minilm"}]), Results(bench.results_dir))
    assert not any(cell.extra for cell in stated)


# --- numbers ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.4465, "44.7"), (0.44649999, "44.6"), (0.0, "0.0"), (1.0, "100.0"), (0.0005, "0.1"), (1e-9, "0.0"),
        (1e27, f"{10**29}.0"),
    ],
)  # fmt: skip
def test_numbers_are_rounded_in_decimal(value, text):
    assert numbers.ours(value, Report()) == text


# --- seeds of a table's own -------------------------------------------------------------------------------------------
OWN_SEEDS = {"stub: Method": "stub: Method\nseeds: {finetuning: [0, 1, 2]}"}


def seed_files(bench, values):
    """Results of the model `first` by the names of their seeds; the file of their mean is the last one's."""
    for name, value in values.items():
        path = bench.result("first", {"ar": value, "sw": 0.5})
        path.with_suffix("").mkdir(exist_ok=True)
        shutil.copy(path, path.with_suffix("") / f"{name}.json")
    return path.with_suffix("") / f"{name}.json"


def test_a_table_with_seeds_of_its_own_averages_their_files(bench):
    seed_file = seed_files(bench, {"pt0-ft0": 0.2, "pt0-ft1": 0.4, "pt0-ft2": 0.9})
    table = bench.spec(**OWN_SEEDS)
    cell = bench.cells(table)["first/value/ar"]
    assert cell.outcome.value == pytest.approx(0.5)
    assert cell.outcome.deviation == pytest.approx(0.36055512754639896)  # of the sample
    assert bench.cells(bench.spec())["first/value/ar"].outcome.value == 0.9  # the averaged file, otherwise
    seed_file.unlink()
    assert bench.cells(table)["first/value/ar"].outcome.state == "not run"  # a mean over two would be another number
    seed_file.write_text("{")
    assert bench.cells(table)["first/value/ar"].outcome.state == "unreadable"


def test_the_context_says_which_seeds_a_table_of_its_own_seeds_reads(bench):
    names = ["pt0-ft7", "pt3-ft7"]
    seed_files(bench, dict(zip(names, (0.2, 0.6), strict=True)))
    bench.result("second", {"ar": 0.9, "sw": 0.5})
    cells = bench.cells(bench.spec(**OWN_SEEDS), table_seeds={"msm/99": {"first/zero_shot_marco/mrtydi": names}})
    assert cells["first/value/ar"].outcome.value == pytest.approx(0.4) and [*cells["first/value/ar"].seeds] == names
    assert cells["second/value/ar"].outcome.value == 0.9, "a row that no seed changes is read as in other tables"
