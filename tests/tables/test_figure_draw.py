"""The pictures: states and labels are to be seen, nothing is drawn that was not measured, the same bytes each time."""

import math

import pytest
from figure_files import (
    CURVES,
    DISTRIBUTION,
    PROJECTION,
    curve_points,
    found,
    lengths,
    projection,
    texts,
    write_rows,
)
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.text import Text
from specs import write_spec
from test_table_diverged import diverge

from stele.command import cli
from stele.papers.figure import load_figure
from stele.papers.paper import papers_in
from stele.tables.render.figure import draw
from stele.tables.render.figure_data import Lengths, panel_series
from stele.tables.render.figure_panels import BINS, COLOURS, EMPTY, WIDTH, densities
from stele.tables.values.context import Context
from stele.tables.values.lookup import STATES, Results


def picture(bench, text, **context):
    return draw(*found(bench, text, **context))


def drawn_by_command(bench, path, *files):
    """The exit code of the command that draws a spec into some files."""
    line = ["--spec", str(path), "--results-dir", str(bench.results_dir), "--output", *map(str, files)]
    return cli.main(["tables", "figure", *line])


def curves_of(axes):
    """The lines of the curves (not printed values, nor bars): label-less ones with more than one place."""
    return [line for line in axes.get_lines() if len(line.get_xdata()) > 1]


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


# --- curves -----------------------------------------------------------------------------------------------------------
def test_a_curve_shows_what_is_measured_and_breaks_where_it_is_not(bench):
    curve_points(bench, {"start": 0.42, "one_5": 0.5, "two_10": 0.55})
    (axes,) = picture(bench, CURVES).axes
    one, two = curves_of(axes)
    assert one.get_xdata().tolist() == [0, 5, 10] and two.get_xdata().tolist() == [0, 10]
    assert one.get_ydata()[:2].tolist() == [0.42, 0.5] and math.isnan(one.get_ydata()[2])
    assert two.get_ydata().tolist() == [0.42, 0.55]
    assert legend(axes) == ["One: 2 measured, 1 not run", "Two $x_1$"]


def test_a_diverged_pretraining_is_no_point_of_a_curve(bench):
    curve_points(bench, {"start": 0.42, "one_5": 0.01, "one_10": 0.5, "two_10": 0.02})
    for model, runs in (
        ("one_5", {"pt0-ft0": "one_5: loss 3.9"}),
        ("one_10", {"pt0-ft0": "one_10: loss 3.9", "pt1-ft0": None}),
        ("two_10", {"pt0-ft0": "two_10: loss 4.1"}),
    ):
        diverge(bench.results_dir / f"clef/{model}/cv5.json", runs)
    drawn = picture(bench, CURVES)
    (axes,) = drawn.axes
    one, two = curves_of(axes)
    assert one.get_ydata()[0] == 0.42 and math.isnan(one.get_ydata()[1]) and one.get_ydata()[2] == 0.5
    assert two.get_ydata()[0] == 0.42 and math.isnan(two.get_ydata()[1])
    assert legend(axes) == ["One: 2 measured, 1 fail", "Two $x_1$: 1 measured, 1 fail"]
    assert axes.get_ylim() == pytest.approx((0.392, 0.608)), "the printed range"
    reasons = "one_5: loss 3.9; measured 0.01; two_10: loss 4.1; measured 0.02"
    assert f"fail: its pretraining diverged ({reasons})" in texts(drawn)


def test_a_panel_of_diverged_pretrainings_alone_says_so(bench):
    curve_points(bench, dict.fromkeys(("start", "one_5", "one_10", "two_10"), 0.01))
    for path in bench.results_dir.glob("clef/*/cv5.json"):
        diverge(path, {"pt0-ft0": "loss 3.9"})
    (shown,) = [text for text in picture(bench, CURVES).axes[0].texts if text.get_text() == "fail"]
    assert shown.get_color() == "white"


def test_printed_values_are_hollow_and_one_that_series_share_stands_once(bench):
    (axes,) = picture(bench, CURVES).axes
    marks = [line for line in axes.get_lines() if len(line.get_xdata()) == 1]
    assert [(*line.get_xdata(), *line.get_ydata()) for line in marks] == [(0, 0.45), (10, 0.5)]
    assert all(line.get_markerfacecolor() == "none" for line in marks)
    assert [line.get_markeredgecolor() for line in marks] == ["black", COLOURS[0]]
    assert "Hollow marks: values that the paper prints; a star where several series share one." in texts(axes.figure)
    assert [line.get_marker() for line in marks] == ["*", "o"], "the fifth series is black, the tenth a black circle"
    (axes,) = picture(bench, CURVES.replace(", two: {0: 0.45}", "")).axes
    assert "Hollow marks: values that the paper prints." in texts(axes.figure)


def test_the_printed_range_is_kept_and_widened_for_our_values(bench):
    (axes,) = picture(bench, CURVES).axes
    assert axes.get_yticks().tolist() == [0.4, 0.5, 0.6] and axes.get_xticks().tolist() == [0, 5, 10]
    assert axes.get_ylim() == pytest.approx((0.392, 0.608))
    curve_points(bench, {"start": 0.1})
    (axes,) = picture(bench, CURVES).axes
    assert axes.get_ylim() == pytest.approx((0.08, 0.62))


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_without_a_printed_range_the_horizontal_axis_covers_every_point(bench, scale):
    without = CURVES.replace("range: [0, 10], ticks: [0, 5, 10]", f"scale: {scale}")
    without = without.replace("at: 0,", "at: 110,").replace("at: 5,", "at: 300,").replace("at: 10,", "at: 560,")
    without = without.replace("{one: {0: 0.45, 10: 0.5}, two: {0: 0.45}}", "{}")
    curve_points(bench, {"start": 0.42, "one_5": 0.5})
    (axes,) = picture(bench, without).axes
    low, high = axes.get_xlim()
    assert 0 < low < 110 and 560 < high < 1000  # also that of the points which are not run
    (axes,) = picture(bench, without.replace("      - {at: 300, target: {model: one_5}}\n", "")).axes
    low, high = axes.get_xlim()
    assert 0 < low < 110 and 560 < high < 1000


@pytest.mark.parametrize(("printed", "lowest"), [("", 0.01), (", range: [0.1, 0.6]", 0.01)])
def test_a_vertical_axis_may_be_logarithmic(bench, printed, lowest):
    curve_points(bench, {"start": 0.01, "one_5": 0.5, "one_10": 0.0})
    logarithmic = CURVES.replace(", range: [0.4, 0.6], ticks: [0.4, 0.5, 0.6]", f", scale: log{printed}")
    (axes,) = picture(bench, logarithmic).axes
    low, high = axes.get_ylim()
    assert axes.get_yscale() == "log" and 0.005 < low <= lowest and 0.5 < high < 1


def test_without_a_printed_range_a_density_covers_every_length(bench):
    lengths(bench, "en", [(10, 4), (899, 1)])
    (axes,) = picture(bench, DISTRIBUTION.replace(", range: [0, 600]", "")).axes
    assert axes.get_xlim() == (0, 900)
    assert sum(axes.patches[0].get_data().values) / 1000 * 900 / BINS == pytest.approx(1)  # all five documents


def test_without_a_printed_range_the_axis_of_a_density_begins_at_zero(bench):
    lengths(bench, "en", [(n, 4 + n // 300) for n in range(600)])
    (axes,) = picture(bench, DISTRIBUTION.replace(", range: [0, 2]", "")).axes
    assert axes.get_ylim() == pytest.approx((0, 5 / 2700 * 1000))


def test_deviations_over_seeds_are_bars(bench):
    curve_points(bench, {"start": 0.5}, values={"languages": {"en-de": [0.4, 0.6]}})
    drawn = picture(bench, CURVES)
    assert "Bars: standard deviation over seeds." in texts(drawn)
    assert len(drawn.axes[0].collections) == 2  # both series have the point
    curve_points(bench, {"start": 0.5})
    drawn = picture(bench, CURVES)
    assert not drawn.axes[0].collections and "Bars: standard deviation over seeds." not in texts(drawn)


# --- states and labels ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("text", [CURVES, DISTRIBUTION, PROJECTION])
@pytest.mark.parametrize("state", ["not built", "unavailable", "failed", "not run", "not in scale"])
def test_a_figure_without_data_says_its_state_in_every_panel(bench, text, state):
    names = ["start/cv5/clef", "one_5/cv5/clef", "one_10/cv5/clef", "two_10/cv5/clef", "clef/count/statistics"]
    names += ["first/direct/tatoeba", "second/direct/tatoeba"]
    given = {"state": "planned" if state == "not run" else state, "reason": "because"}
    drawn = picture(bench, text, rows=dict.fromkeys(names, given))
    for axes in drawn.axes:
        (shown,) = [one for one in axes.texts if one.get_text() == state]
        assert to_hex(shown.get_bbox_patch().get_facecolor()) == STATES[state].colour.lower()
        assert to_hex(axes.get_facecolor()) == EMPTY.lower()
        assert "because" in [one.get_text() for one in axes.texts]
        entries = legend(axes) if text != PROJECTION else []
        assert all(f": {state}" in entry for entry in entries)
    message = [line for line in texts(drawn) if line.startswith(f"{state}: {STATES[state].meaning}")]
    assert len(message) == 1
    assert not any("checkpoint" in line or "generated" in line for line in texts(drawn))


def test_the_state_unreadable_is_legible_in_a_figure(bench):
    projection(bench, "first").write_text("x")
    drawn = picture(bench, PROJECTION)
    (shown,) = [one for one in drawn.axes[0].texts if one.get_text() == "unreadable"]
    assert to_hex(shown.get_bbox_patch().get_facecolor()) == "#000000" and shown.get_color() == "white"


def test_several_states_in_a_panel_without_data_stand_in_its_legend(bench):
    rows = {"start/cv5/clef": {"state": "unavailable", "reason": "why"}}
    drawn = picture(bench, CURVES.replace(", range: [0.4, 0.6], ticks: [0.4, 0.5, 0.6]", ""), rows=rows)
    (said,) = [text for text in drawn.axes[0].texts if text.get_text() == "nothing measured yet"]
    marks = [drawn.axes[0].transData.transform(line.get_xydata()) for line in drawn.axes[0].get_lines()]
    assert said.get_window_extent().y0 > max(y for points in marks for _, y in points if y == y), "above the marks"
    assert legend(drawn.axes[0]) == ["One: 1 unavailable, 2 not run", "Two $x_1$: 1 unavailable, 1 not run"]
    assert "unavailable: no run can give this number (why)" in texts(drawn)


def test_many_reasons_are_told_in_part(bench):
    failed = {f"{model}/cv5/clef": f"logs/{model}.log" for model in ("start", "one_5", "one_10", "two_10")}
    (line,) = [line for line in texts(picture(bench, CURVES, failed=failed)) if line.startswith("failed:")]
    logs = "log: logs/start.log; log: logs/one_5.log; log: logs/one_10.log"
    assert line == f"failed: its job failed ({logs}; and 1 more)"


def test_an_average_over_fewer_languages_says_so_below_the_figure(bench):
    average = CURVES.replace("{language: en-de}", "{average: [en-de, en-fi, en-it]}")
    curve_points(bench, {"start": 0.42, "one_5": 0.5})
    assert "Some of our averages cover 1 of 3 languages." in texts(picture(bench, average))
    assert not any(line.startswith("Some of our averages") for line in texts(picture(bench, CURVES)))


def test_all_labels_of_what_is_drawn_stand_in_the_head(bench):
    projection(bench, "first", labels=["stand-in checkpoint"])
    projection(bench, "second", labels=["generated data", "stand-in checkpoint"])
    drawn = picture(bench, PROJECTION)
    assert f"{papers_in()['ccp'].name}, figure 98" in texts(drawn)
    (label,) = [text for text in drawn.texts if text.get_text() == "generated data, stand-in checkpoint"]
    assert label.get_bbox_patch() is not None and label.get_weight() == "bold" and label.get_size() >= 9


def test_a_long_label_of_a_series_stays_below_its_panel(bench):
    one, two = CURVES.rstrip(), CURVES[CURVES.index("    - key: en_de") :].replace("en_de", "en_fr")
    label = "Ours without Wide words and with Many Measured languages, after a second pretraining"
    drawn = picture(bench, f"{one}\n{two}".replace("label: One", f'label: "{label}"'))
    FigureCanvasAgg(drawn).draw()
    left, right = (axes.get_legend().get_window_extent() for axes in drawn.axes)
    assert left.x1 < right.x0 and right.x1 < drawn.bbox.x1
    assert left.y0 > drawn.texts[1].get_window_extent().y1
    assert legend(drawn.axes[0])[0].replace("\n", " ") == f"{label}: not run"


# --- projections ------------------------------------------------------------------------------------------------------
def test_a_projection_shows_every_sentence_and_joins_the_highlighted_pairs(bench):
    projection(bench, "first", pairs=8)
    axes, empty = picture(bench, PROJECTION).axes
    english, arabic, *rest = axes.get_lines()
    assert english.get_xdata().tolist() == arabic.get_xdata().tolist() == list(range(8))
    assert set(english.get_ydata()) == {0} and set(arabic.get_ydata()) == {1}
    assert english.get_marker() != arabic.get_marker()
    joins = [line for line in rest if len(line.get_xdata()) == 2]
    assert [line.get_xdata().tolist() for line in joins] == [[2, 2], [6, 6]]  # a pair is joined to its own translation
    assert len({line.get_color() for line in joins}) == 2
    assert axes.get_xlabel() == "first (75.0% of variance)" and axes.get_ylabel() == "second (20.0% of variance)"
    assert legend(axes) == ["English", "Arabic"] and axes.get_legend().get_title().get_text() == "8 pairs"
    assert empty.get_xlabel() == "first" and not empty.get_lines()


# --- distributions ----------------------------------------------------------------------------------------------------
def test_a_density_covers_all_documents_and_counts_longer_ones_too():
    all_inside = Lengths([(n, 1) for n in range(600)])
    assert densities(all_inside, 0, 600) == pytest.approx([1 / 600] * BINS)
    assert sum(densities(Lengths([(10, 3), (599, 3), (600, 2)]), 0, 600)) * 600 / BINS == pytest.approx(0.75)


def test_a_distribution_says_the_share_ours_and_the_paper_s(bench):
    lengths(bench, "en", [(100, 1), (300, 1), (500, 2)])
    (axes,) = picture(bench, DISTRIBUTION).axes
    assert legend(axes) == ["English: 0.500, paper: 0.494", "French: not run"]
    (steps,) = axes.patches
    assert max(steps.get_data().values) == pytest.approx(0.5 / 10 * 1000)
    assert axes.get_xlim() == (0, 600) and axes.get_ylim()[0] == 0 and axes.get_ylim()[1] > 50
    assert axes.get_ylabel() == "density (per thousand)"


# --- the page ---------------------------------------------------------------------------------------------------------
def test_everything_is_large_enough_and_inside_the_width(root, bench):
    for path in sorted((root / "paper_tables").glob("*/figure_*.yaml")):
        figure = load_figure(path)
        drawn = draw(figure, panel_series(figure, Context(), Results(bench.results_dir)))
        assert drawn.get_figwidth() == WIDTH
        assert min(text.get_size() for text in drawn.findobj(Text) if text.get_text()) >= 7
        FigureCanvasAgg(drawn).draw()
        box = drawn.get_tightbbox()
        assert box.x0 >= -0.1 and box.x1 <= WIDTH + 0.15, path.name
        assert box.y0 >= -0.05 and box.y1 <= drawn.get_figheight() + 0.05 < 9.7, path.name


@pytest.mark.parametrize("text", [CURVES, DISTRIBUTION, PROJECTION])
def test_the_files_are_the_same_bytes_each_time_and_text_stays_text(bench, text, tmp_path):
    curve_points(bench, {"start": 0.42, "one_5": 0.5})
    projection(bench, "first"), lengths(bench, "en", [(100, 1), (300, 1)])
    path = write_spec(bench.folder, text)
    for name in ("a", "b"):
        assert drawn_by_command(bench, path, tmp_path / f"{name}.svg", tmp_path / f"{name}.pdf") == 0
    for suffix in ("svg", "pdf"):
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()
    svg = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "figure 98</text>" in svg and "not run" in svg
    assert b"/Type0" in (tmp_path / "a.pdf").read_bytes()  # fonts whose text can be searched, none of outlines


def test_letters_that_mean_something_elsewhere_come_out_as_they_are(bench, tmp_path):
    path = write_spec(bench.folder, CURVES, **{"caption: Two curves": "caption: 5 % of <b> & $x_{$"})
    (path.parent / "paper.yaml").write_text('name: "Pay $5_{ or $6"\n', encoding="utf-8")
    assert drawn_by_command(bench, path, tmp_path / "a.svg") == 0
    svg = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "5 % of &lt;b&gt; &amp; $x_{$ &amp; their points." in svg and "Two $x_1$" in svg
    assert "Pay $5_{ or $6, figure 98" in svg


def test_a_damaged_file_is_told_and_the_rest_drawn(bench, tmp_path, capsys):
    projection(bench, "first")
    write_rows(projection(bench, "second"), [("a",)])
    path = write_spec(bench.folder, PROJECTION)
    out = tmp_path / "a.svg"
    assert drawn_by_command(bench, path, out) == 1
    message = capsys.readouterr().err
    assert "ccp/figure_98: 1 measured, 1 unreadable" in message and "want the columns line, language, x, y" in message
    assert ">unreadable</text>" in out.read_text() and "8 pairs" not in out.read_text()
