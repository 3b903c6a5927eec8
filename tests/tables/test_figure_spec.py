"""The specs of the figures: the papers' four hold what the tables print; a wrong one is refused with the place."""

import re

import pytest
from figure_files import CURVES, DISTRIBUTION, PROJECTION, spec
from specs import PAPERS, write_spec

from stele import catalogue
from stele.catalogue.schema.benchmarks import metric_parts
from stele.command import cli
from stele.errors import SteleError
from stele.papers.figure import load_figure
from stele.papers.table import load_specs
from stele.papers.table_parts import resolve
from stele.tables.render.figure_data import panel_series
from stele.tables.values.cell import table_cells
from stele.tables.values.context import Context
from stele.tables.values.lookup import Results

FIGURES = {"ccp/1": "projection", "clir_lm/1": "distribution", "clir_lm/4": "curves", "clir_lm/5": "curves"}


@pytest.fixture(scope="module")
def figures(root):
    loaded = [load_figure(path) for paper in PAPERS for path in (root / "paper_tables" / paper).glob("figure_*.yaml")]
    return {figure.id: figure for figure in loaded}


def test_the_data_plots_of_the_papers_are_there(figures):
    assert {key: figure.kind for key, figure in figures.items()} == FIGURES


def printed_by_tables(root, paper):
    """What the paper's tables print for each target, as in a result."""
    cells = [c for t in load_specs(root / "paper_tables" / paper) for c in table_cells(t, Context(), Results("none"))]
    with_number = [c for c in cells if c.reference and c.printed and isinstance(c.printed.value, float)]
    return {c.reference: c.printed.value / c.report.scale for c in with_number}


def test_a_curve_has_the_printed_value_wherever_a_table_prints_one_and_nowhere_else(root, figures):
    tables = printed_by_tables(root, "clir_lm")
    seen = 0
    for figure in (figures["clir_lm/4"], figures["clir_lm/5"]):
        for panel in figure.panels:
            for series in figure.series:
                references = {point.at: resolve(figure.target_of(panel, series, point)) for point in series.points}
                expected = {at: tables[one] for at, one in references.items() if one in tables}
                assert panel.printed.get(series.key, {}) == pytest.approx(expected), (panel.key, series.key)
                seen += len(expected)
    assert seen == 4 * (1 + 1 + 3) + 2 * 5


def test_series_that_share_a_model_share_their_points(figures):
    four, five = figures["clir_lm/4"], figures["clir_lm/5"]
    qlm, baseline = four.series[0], five.series[1]
    assert (qlm.label, baseline.label) == ("QLM", "query, p = 0.30")
    assert qlm.points == baseline.points
    for series in [*four.series, *five.series]:
        assert [point.at for point in series.points] == [0, 5, 10, 15, 20]
        assert series.points[0].target.model == "mbert_uncased"


def test_targets_bear_names_that_paths_and_the_catalogue_take(root, figures):
    constraint = re.search(r'model="(.+)"', (root / "Snakefile").read_text()).group(1)
    for figure in figures.values():
        for reference in figure.references():
            assert re.fullmatch(constraint, reference.model), reference.model
            if figure.kind == "curves":
                entry = catalogue.load("benchmarks")[reference.benchmark]
                assert reference.metric in entry["metrics"] and set(reference.languages) <= set(entry["languages"])
                assert metric_parts(reference.metric)


def test_ticks_go_from_end_to_end_of_the_printed_ranges(figures):
    for figure in figures.values():
        for panel in figure.panels:
            axis = figure.axis(panel)
            assert axis.ticks == sorted(axis.ticks)
            if figure.kind == "curves":
                assert (axis.ticks[0], axis.ticks[-1]) == axis.range


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [
        (CURVES, "caption:", "capton:", r"unknown key 'capton'; did you mean 'caption'\?"),
        (CURVES, "{at: 5, target", "{at: 5, traget", "key 'series.0.points.1.traget'; did you mean 'target'"),
        (CURVES, "kind: curves", "kind: curve", "kind: Input should be 'curves'"),
        (CURVES, "at: 5", "at: 15", r"series 'one': points must go from left to right, found \[0.0, 15.0, 10.0\]"),
        (CURVES, "key: two", "key: one", "series 'one' is given twice"),
        (CURVES, "metric: ap_judged", "language: de-en", "want benchmark, model, setting, metric and language; found"),
        (CURVES, "10: 0.5}", "7: 0.5}", "panel 'en_de': `printed` has a value of 'one' at 7, where it has no point"),
        (CURVES, "printed: {one:", "printed: {uno:", "`printed` has 'uno', which is not a series with values"),
        (CURVES, "10: 0.5}", "10: 50}", "`printed` has 50 of 'one', outside the axis' `range`; want values"),
        (CURVES, "  y: {label", "  x: {label", "unknown key 'panels.0.x'"),
        (CURVES, "number: 98", "number: 97", "belongs at clir_lm/figure_97.yaml"),
        (CURVES, "number: 98", "number: 98\nhighlighted: 3", "`highlighted` belongs to the kind projection"),
        (DISTRIBUTION, "reference: 300\n", "", "the kind distribution needs `reference`"),
        (DISTRIBUTION, "{300: 0.494}", "{512: 0.494}", "has a value of 'en' at 512, where it has no point"),
        (DISTRIBUTION, "French,", "French, points: [{at: 0, target: {}}],", "`points` belong to the kind"),
        (PROJECTION, "highlighted: 2\n", "", "the kind projection needs `highlighted`"),
        (CURVES, "label: epochs", "label: epochs, factor: 0.001", "`x.factor` changes nothing"),
        (DISTRIBUTION, "unit: tokens", "scale: log", "`scale: log` belongs to the kind curves, found in distribution"),
        (PROJECTION, "- {key: ar, label: Arabic}\n", "", "two series, its languages; found 1"),
        (PROJECTION, "y: {label: second}\n", "", "panel 'a': no vertical axis"),
        (PROJECTION, "paper: ccp", "paper: ccp\npaper: ccp", "key 'paper' is given twice"),
    ],
)
def test_a_wrong_spec_is_refused(tmp_path, text, old, new, message):
    with pytest.raises(SteleError, match=message) as error:
        spec(tmp_path, text, **{old: new})
    assert "figure_98.yaml" in str(error.value), "the error names the file"


def test_the_command_names_a_wrong_spec_and_a_wrong_output(tmp_path, capsys):
    path = write_spec(tmp_path, CURVES, **{"caption:": "capton:"})
    line = ["tables", "figure", "--results-dir", str(tmp_path), "--spec", str(path), "--output"]
    assert cli.main([*line, str(tmp_path / "a.svg")]) == 1
    assert "unknown key 'capton'" in capsys.readouterr().err
    assert cli.main([*line, str(tmp_path / "a.bmp")]) == 1
    assert "want a file that ends in .svg or .pdf or .png" in capsys.readouterr().err
    assert not list(tmp_path.glob("a.*"))


# --- today's encoders -------------------------------------------------------------------------------------------------
TODAY = """
paper: today
number: 98
kind: curves
caption: Size against quality.
target: {benchmark: mrtydi, setting: direct, metric: mrr@100, language: ko}
x: {label: parameters, scale: log, range: [90, 35000]}
y: {label: MRR@100}
series:
- {key: e5, label: E5, points: [{target: {model: me5_small}}, {target: {model: me5_large}}]}
- {key: kept, label: KEPT, points: [{at: 178, target: {model: kept}}]}
panels:
- {key: one}
"""


def test_a_point_stands_at_the_parameters_of_its_model(tmp_path):
    figure = spec(tmp_path, TODAY)
    assert [[point.place for point in series.points] for series in figure.series] == [[118.0, 560.0], [178.0]]
    wrong = {
        "at: 178, target: {model: kept}": ("target: {model: kept}", "models.yaml has no parameters of 'kept'"),
        "{key: one}": ("{key: one, printed: {kept: {178: 0.5}}}", "no `printed` here"),
        "me5_small": ("qwen3_8b", "points must go from left to right"),
    }
    for old, (new, message) in wrong.items():
        with pytest.raises(SteleError, match=message):
            spec(tmp_path, TODAY, **{old: new})


def test_published_numbers_stand_where_others_have_printed_ones(tmp_path, monkeypatch):
    from stele.catalogue.schema.published import PublishedScore

    given = {"benchmark": "mrtydi", "subset": "ko", "split": "test", "metric": "mrr@100", "source": "s", "locator": "l"}
    names = {"small": ("read", 0.4), "large": ("secondary", 0.5)}
    scores = [
        PublishedScore(model=f"intfloat/multilingual-e5-{size}", value=value, status=status, **given)
        for size, (status, value) in names.items()
    ]
    monkeypatch.setattr("stele.published.verdicts.published", lambda: {"mrtydi": scores})
    drawn = panel_series(spec(tmp_path, TODAY), Context(), Results(tmp_path))
    printed = {part.series.key: part.panel.printed for part in drawn}
    assert printed == {"e5": {"e5": {118.0: 0.4}}, "kept": {"e5": {118.0: 0.4}}}
