"""What a spec says of tables that are no plain comparison: counts, lists of words, a baseline for each benchmark."""

from rendering import filled, render

from stele.tables.check import bold_marks, counts, printed_cells
from stele.tables.render.cell_details import row_targets
from stele.tables.render.formats import to_markdown
from stele.tables.render.layout import build
from stele.tables.values.cell import table_cells
from stele.tables.values.context import Context
from stele.tables.values.lookup import Results
from stele.tables.values.significance import _comparisons, rank

TWO_BENCHMARKS = """
    paper: msm
    number: 99
    caption: Two collections.
    stub: Method
    target: {setting: zero_shot_marco, metric: mrr@100}
    significance: {against: {mrtydi: first, xor_retrieve: second}}
    columns:
    - {key: one, header: One, target: {benchmark: mrtydi, language: ar}}
    - {key: two, header: Two, target: {benchmark: xor_retrieve, language: ar}}
    groups:
    - key: all
      rows:
      - {key: first, label: First, target: {model: first}, printed: [40.0, 20.0]}
      - {key: second, label: Second, target: {model: second}, printed: [50.0, 30.0]}
      - {key: third, label: Third, target: {model: third}, printed: [60.0, 40.0]}
"""


def _measured(bench, table):
    for benchmark in ("mrtydi", "xor_retrieve"):
        for number, model in enumerate(("first", "second", "third")):
            bench.result(model, {"ar": 0.1 + number / 10, "sw": 0.2}, benchmark=benchmark)
    return table_cells(table, Context(), Results(bench.results_dir))


def test_each_benchmark_has_its_own_baseline(bench):
    table = bench.spec(TWO_BENCHMARKS)
    pairs = _comparisons(_measured(bench, table), table.significance)
    assert sorted(f"{one.address} - {other.row.key}" for one, other in pairs) == [
        "all/first/value/two - second",
        "all/second/value/one - first",
        "all/third/value/one - first",
        "all/third/value/two - second",
    ]


def test_the_command_of_a_row_leaves_out_what_this_scale_cannot_build(bench):
    """One benchmark without a language at this scale made the whole row's command fail."""
    outside = {"state": "not in scale", "reason": "the scale has no language of xor_retrieve"}
    table = bench.spec(TWO_BENCHMARKS)
    cells = filled(bench, table, rows={"first/zero_shot_marco/xor_retrieve": outside}).cells
    commands = {row.label: row.command for row in row_targets(cells, Results("results"))}
    assert commands["First"] == "snakemake results/mrtydi/first/zero_shot_marco.json"
    assert "results/xor_retrieve/second/zero_shot_marco.json" in commands["Second"]


def test_counts_have_no_best(bench):
    table = bench.spec(TWO_BENCHMARKS)
    assert rank(_measured(bench, table))
    plain = bench.spec(TWO_BENCHMARKS, **{"stub: Method": "stub: Method\ndirection: none"})
    assert rank(_measured(bench, plain)) == {}
    bold = TWO_BENCHMARKS.replace("[50.0,", "[{value: 50.0, bold: true},")
    ranked = bench.spec(bold)
    assert "- Paper: bold is as printed." in render(to_markdown, bench, ranked)
    assert [d.says for d in bold_marks(ranked, printed_cells(ranked))] == ["50 is bold, Third has 60"]
    unranked = bench.spec(bold, **{"stub: Method": "stub: Method\ndirection: none"})
    assert list(bold_marks(unranked, printed_cells(unranked))) == []


def test_a_list_of_words_is_not_counted(bench):
    assert counts(bench.spec()).total() == 6
    assert counts(bench.spec(**{"stub: Method": "stub: Method\nkind: stated\ncounted: false"})).total() == 0


def test_a_letter_that_says_which_row_is_beaten_is_raised_and_no_unit_of_our_number(bench):
    text = TWO_BENCHMARKS.replace("columns:", "marks: {a: better than First}\n    columns:")
    text = text.replace("[40.0,", "[fail,").replace("[50.0,", "[{value: 50.0, marks: a},").replace("[60.0,", "[fail,")
    table = bench.spec(text)
    _measured(bench, table)
    lines = [line for line in build(filled(bench, table), "side").lines if line.whose in ("ours", "paper")]
    assert [(line.boxes[0].text, line.boxes[0].raised) for line in lines[2:4]] == [("20.0", ""), ("50.0", "a")]
