"""What stands behind a figure: values and files in the states of cells, a plan's jobs, the map of all cells."""

from collections import Counter
from types import SimpleNamespace

import pytest
from figure_files import CURVES, DISTRIBUTION, PROJECTION, curve_points, found, lengths, projection, write_rows
from matplotlib.colors import to_hex
from matplotlib.path import Path
from specs import write_spec

from stele.artifacts.results import RunKey
from stele.command import cli
from stele.config.model import parse_config
from stele.errors import SteleError
from stele.files.figures import save_figure
from stele.papers.paper import Paper
from stele.papers.table import load_specs
from stele.plan.data import Data
from stele.plan.figures import Figures
from stele.plan.plan import Plan
from stele.plan.retrieval import projected
from stele.plan.rows import Rows
from stele.tables.cells import draw_map
from stele.tables.render.figure_data import Lengths
from stele.tables.render.pictures import pictures
from stele.tables.values.context import Context
from stele.tables.values.lookup import STATES
from tests.workflow.conftest import copy_project, planned


def states(parts):
    return [[one.state for one in part.outcomes] for part in parts]


# --- curves -----------------------------------------------------------------------------------------------------------
def test_a_curve_has_a_state_for_each_of_its_points(bench):
    curve_points(bench, {"start": 0.4, "one_5": 0.5})
    rows = {"two_10/cv5/clef": {"state": "not built", "reason": "no rule"}}
    _, (one, two) = found(bench, CURVES, rows=rows)
    assert states([one, two]) == [["measured", "measured", "not run"], ["measured", "not built"]]
    assert [point.value for point in one.outcomes] == [0.4, 0.5, None]
    assert (one.measured, two.measured) == (2, 1)
    assert one.outcomes[0].labels == ("stand-in checkpoint",)


# --- files ------------------------------------------------------------------------------------------------------------
def test_a_projection_is_read_with_its_labels_and_its_shares(bench):
    projection(bench, "first", labels=["stand-in checkpoint", "generated data"])
    _, (first, second) = found(bench, PROJECTION)
    assert states([first, second]) == [["measured"], ["not run"]]
    assert first.outcomes[0].labels == ("generated data", "stand-in checkpoint")
    assert first.data.explained == (0.75, 0.2)
    assert first.data.points["ar"] == {n: (float(n), 1.0) for n in range(4)}
    assert second.data is None


def test_the_seeds_that_the_context_names_are_drawn(bench):
    projection(bench, "first", seeds="pt0-ft0"), projection(bench, "first", seeds="pt1-ft0", shift=5.0)
    first = {}
    for seeds in ({}, {"first/direct/tatoeba": "pt1-ft0"}):
        _, (part, _) = found(bench, PROJECTION, seeds=seeds)
        first[bool(seeds)] = part.data.points["en"][0]
    assert first == {False: (0.0, 0.0), True: (5.0, 0.0)}
    _, (part, _) = found(bench, PROJECTION, seeds={"first/direct/tatoeba": "pt7-ft0"})
    assert states([part]) == [["not run"]], "a file of other seeds is not this run's"


def test_a_file_that_cannot_be_had_says_why(bench):
    rows = {"first/direct/tatoeba": {"state": "unavailable", "reason": "weights"}}
    _, parts = found(bench, PROJECTION, rows=rows, languages_in_scale={"tatoeba": ["sw"]})
    assert states(parts) == [["unavailable"], ["not in scale"]]
    assert parts[0].outcomes[0].reason == "weights"


def test_a_file_of_an_earlier_run_is_not_drawn(bench):
    projection(bench, "first"), projection(bench, "second")
    _, parts = found(bench, PROJECTION, languages_in_scale={"tatoeba": ["sw"]})
    assert states(parts) == [["not in scale"]] * 2 and parts[0].data is None
    name = "direct/tatoeba/projection_ar"
    _, parts = found(bench, PROJECTION, failed={f"first/{name}": "logs/p.log"}, outdated=[f"second/{name}"])
    assert states(parts) == [["failed"], ["not run"]]
    assert parts[0].outcomes[0].reason == "log: logs/p.log" and parts[1].data is None


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.write_text(path.read_text().replace("0", "1", 1)), "not the file that its record describes"),
        (lambda path: path.with_suffix(".json").unlink(), "no such record"),
        (lambda path: path.with_suffix(".json").write_text("{"), "not a readable record"),
        (lambda path: rewrite(path, lambda rows: rows[:-1]), "want a point in each language for every line"),
        (lambda path: rewrite(path, lambda rows: rows[1:]), "want the columns line, language, x, y"),
        (lambda path: rewrite(path, lambda rows: rows[:1]), "want a point in each language for every line"),
        (lambda path: rewrite(path, lambda rows: [r.replace("en", "fr") for r in rows]), "found 'fr'"),
        (lambda path: rewrite(path, lambda rows: [*rows[:-1], "3,ar,x,1"]), "could not convert string to float"),
        (lambda path: rewrite(path, lambda rows: rows, explained=[1.0]), "want two shares as `explained`"),
        (lambda path: rewrite(path, lambda rows: rows, explained=[None, "0.2"]), "want two shares as `explained`"),
    ],
)
def test_a_damaged_file_is_unreadable_and_named(bench, damage, message):
    path = projection(bench, "first")
    damage(path)
    _, (first, second) = found(bench, PROJECTION)
    assert states([first, second]) == [["unreadable"], ["not run"]]
    assert message in first.outcomes[0].reason and "projection_ar" in first.outcomes[0].reason


def rewrite(path, change, **facts):
    """Other rows under a record that describes them."""
    lines = change(path.read_text().replace("language", "LANGUAGE").splitlines())
    facts = {"explained": [0.7, 0.2], **facts}
    write_rows(path, [line.replace("LANGUAGE", "language").split(",") for line in lines], **facts)


def test_lengths_are_counted_whole(bench):
    lengths(bench, "en", [(700, 1), (100, 2), (300, 1)])
    _, (english, french) = found(bench, DISTRIBUTION)
    assert states([english, french]) == [["measured"], ["not run"]]
    assert english.data == Lengths([(100, 2), (300, 1), (700, 1)])
    assert english.data.documents == 4
    assert [english.data.share_up_to(length) for length in (99, 100, 300, 699, 700)] == [0, 0.5, 0.75, 0.75, 1]


@pytest.mark.parametrize("counts", [[], [(10, 0)], [(10, -1), (20, 1)]])
def test_a_file_without_documents_is_unreadable(bench, counts):
    lengths(bench, "en", counts)
    _, (english, _) = found(bench, DISTRIBUTION)
    assert states([english]) == [["unreadable"]] and "want lengths with at least one" in english.outcomes[0].reason


# --- in the plan: what each figure waits for, what a context says -----------------------------------------------------
XLMR = "results/tatoeba/xlmr_large/direct/pt0-ft0/projection_ar.csv"
FIGURES = ["ccp/figure_01", "clir_lm/figure_01", "clir_lm/figure_04", "clir_lm/figure_05"]


def plan_of(**values):
    values = {"scale": "miniature", "papers": ["ccp", "clir_lm"], **values}
    return Plan(parse_config(values))


def test_a_figure_waits_for_what_can_be_built(tmp_path):
    plan = plan_of()
    waits = plan.figures.inputs(SimpleNamespace(paper="ccp", number="01"))
    assert waits["spec"] == "paper_tables/ccp/figure_01.yaml" and waits["context"] == "results/tables/context.json"
    panels = [(model, setting) for model in ("xlmr_large", "ccp") for setting in ("direct", "calibrated")]
    files = [f"results/tatoeba/{model}/{setting}/pt0-ft0/projection_ar.csv" for model, setting in panels]
    assert sorted(waits["results"]) == sorted(files)
    assert plan.figures.result_files()[XLMR] == "xlmr_large/direct/tatoeba/projection_ar"


def test_the_names_in_a_figure_are_checked_before_its_results_are_built(tmp_path):
    folder = tmp_path / "clir_lm"
    folder.mkdir()
    (folder / "paper.yaml").write_text("name: Own\n")
    write_spec(tmp_path, CURVES, **{"cv5": "cv6"})
    plan = Figures(plan_of().rows, (str(folder),))
    with pytest.raises(SteleError, match=r"figure_98\.yaml: clef: unknown setting 'cv6'; did you mean 'cv5'"):
        plan.results("clir_lm/98")


def test_a_curve_waits_for_results_of_models_that_can_be_built(monkeypatch):
    plan = plan_of()
    built = {"mbert_qlm_5": None}
    monkeypatch.setattr(Rows, "problem", lambda self, row: built.get(row.model, ("not built", "")))
    monkeypatch.setattr(Data, "languages", lambda self, benchmark: ["en-de", "en-es"])
    curves = plan.figures.results("clir_lm/04")
    assert curves == ["results/clef/mbert_qlm_5/cv5.json", "results/mlqa/mbert_qlm_5/zero_shot.json"]
    monkeypatch.setattr(Data, "languages", lambda self, benchmark: ["fr-de"])
    assert plan.figures.results("clir_lm/04") == []


def test_the_context_knows_the_figures_rows_and_the_seeds_they_show():
    plan = plan_of(seeds={"pretraining": [3, 4], "finetuning": [7, 8]})
    context = Context.model_validate(plan.requested.context())
    assert context.seeds["xlmr_large/direct/tatoeba"] == "pt0-ft0"  # a public checkpoint has no pretraining seed
    assert context.seeds["xlmr_large/calibrated/tatoeba"] == "pt0-ft7"
    assert context.known(RunKey("clef", "mbert_qlm_15", "cv5")).state == "planned"
    assert context.known(RunKey("tatoeba", "xlmr_large", "calibrated")).state == "planned"
    assert XLMR in plan.figures.results("ccp/01")


def test_a_language_out_of_scale_is_not_waited_for_and_not_projected():
    plan = plan_of(languages=["sw"])
    assert plan.figures.results("ccp/01") == [] and plan.figures.result_files() == {}
    wildcards = SimpleNamespace(model="xlmr_large", setting="direct", seeds="pt0-ft0", language="ar")
    with pytest.raises(SteleError, match="not in scale: ar is not among"):
        plan.retrieval.projection_inputs(wildcards)
    with pytest.raises(SteleError, match="not built: no rule builds tatoeba/calibrate"):
        plan.retrieval.projection_inputs(SimpleNamespace(**{**vars(wildcards), "setting": "calibrate"}))


def test_a_calibrated_panel_is_projected_with_its_calibration(tmp_path):
    plan = plan_of()
    w = SimpleNamespace(model="ccp", setting="calibrated", seeds="pt0-ft0", language="ar")
    assert plan.retrieval.projection_inputs(w)["calibration"] == plan.paths.calibration("ccp", "ccp", "pt0-ft0")
    options = plan.retrieval.calibration(projected(w), w.seeds)
    assert options == f"--calibration {plan.paths.calibration('ccp', 'ccp', 'pt0-ft0')} --operation calibrated"
    w.setting = "direct"
    assert "calibration" not in plan.retrieval.projection_inputs(w)
    assert not plan.retrieval.calibration(projected(w), w.seeds)
    (tmp_path / "en.txt").write_text("a sentence\n")
    plan = plan_of(scale="paper", user_data={"cc100": str(tmp_path)})
    w.setting, w.model = "calibrated", "xlmr_large"
    with pytest.raises(SteleError, match=r"unavailable: .* has no text in"):
        plan.retrieval.projection_inputs(w)


def test_what_a_figure_needs_is_downloaded():
    plan = plan_of()
    needed = {plan.paths.checkpoint("xlmr_large"), plan.paths.dataset("tatoeba", "all")}
    assert needed <= set(plan.requested.downloads())


def test_papers_that_are_not_chosen_have_no_figures():
    assert plan_of(papers=["msm"]).figures.files() == ["results/tables/cell_map.svg"]
    assert plan_of().figures.files() == [f"results/tables/{name}.svg" for name in [*FIGURES, "cell_map"]]
    with pytest.raises(SteleError, match="unknown figure 'ccp/02'"):
        plan_of().figures.inputs(SimpleNamespace(paper="ccp", number="02"))
    left_out, number = plan_of(papers=["msm"]), SimpleNamespace(paper="ccp", number="01")
    for kind, of_kind in (("figure", left_out.figures), ("table", left_out.tables)):
        with pytest.raises(SteleError, match=rf"papers \[msm\]: unknown {kind} 'ccp/01'"):
            of_kind.inputs(number)


@pytest.mark.slow
def test_a_run_of_all_tables_draws_them(root, tmp_path):
    project = copy_project(root, tmp_path / "stele")
    jobs = planned(project, "all_tables", "--config", "scale=miniature", "papers=[ccp,clir_lm]")
    assert jobs["figure"] == 4 and jobs["cells"] == 1 and jobs["project"] >= 1
    jobs = planned(project, XLMR, "--config", "scale=miniature")
    assert jobs["project"] == 1 and "retrieve" not in jobs


# --- the map of all cells: a square a cell, in the colour of its state, the same bytes each time ----------------------
def test_there_is_a_square_for_every_cell_in_the_colour_of_its_state(bench):
    bench.result("first", {"ar": 0.5})
    cells = list(bench.cells(bench.spec()).values())
    figure = draw_map(cells)
    squares = {to_hex(patch.get_facecolor()): list(patch.get_path().codes) for patch in figure.axes[0].patches}
    drawn = {colour: codes.count(Path.MOVETO) for colour, codes in squares.items()}
    expected = Counter(STATES[cell.outcome.state].colour.lower() for cell in cells)
    assert drawn == dict(expected) and len(expected) > 1
    assert next(text.get_text() for text in figure.axes[0].get_legend().get_texts()) == "measured (2)"


def test_the_name_of_a_paper_is_no_formula_on_the_map(bench, tmp_path):
    table = bench.spec()
    table._about = Paper(name="Pay $5_{ or $6")
    save_figure(draw_map(list(bench.cells(table).values())), tmp_path / "map.svg", "map")
    assert "Pay $5_{ or $6" in (tmp_path / "map.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("other", [["--format", "csv"], ["--against", "."]])
def test_a_map_is_not_drawn_in_place_of_what_else_was_asked_for(bench, tmp_path, capsys, other):
    bench.spec()
    command = ["tables", "cells", "--specs", str(bench.folder), "--map", str(tmp_path / "map.svg"), *other]
    assert cli.main(command) != 0 and not (tmp_path / "map.svg").exists()
    assert f"--map, {' '.join(other).removesuffix(' .')}: leave one of them out" in capsys.readouterr().err


def test_every_state_has_a_colour_of_its_own():
    assert len({state.colour for state in STATES.values()}) == len(STATES)


def test_the_files_are_the_same_bytes_each_time(root, tmp_path):
    for name in ("a", "b", "b"):  # a figure of its own is replaced
        files = [str(tmp_path / f"{name}.{suffix}") for suffix in ("svg", "pdf", "png")]
        line = ["--specs", str(root / "paper_tables/msm"), "--results-dir", str(tmp_path), "--map", *files]
        assert cli.main(["tables", "cells", *line]) == 0
    for suffix in ("svg", "pdf", "png"):
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()
    assert b"MSM" in (tmp_path / "a.svg").read_bytes()  # text stays text
    (picture,) = pictures([tmp_path / "a.svg"], tmp_path)
    cells = sum(len(list(table.cells())) for table in load_specs(root / "paper_tables/msm"))
    assert picture.title == "All cells by state" and f"MSM: {cells} cells: " in picture.description
    assert cli.main(["tables", "cells", "--map", str(tmp_path / "a.bmp")]) == 1
