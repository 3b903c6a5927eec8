"""docs/adding/paper.md as it stands: a paper is planned, checked and drawn by its folder, and nothing else changes."""

import re
import shutil

import pytest

from stele.command import cli
from stele.config.model import parse_config
from stele.errors import SteleError
from tests.conftest import ROOT
from tests.workflow.conftest import clone, planned, shell, snakemake

PAGE = (ROOT / "docs/adding/paper.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^```yaml\n# (\S+)\n(.*?)^```$", PAGE, flags=re.M | re.S))
TABLE = "results/tables/my_paper/table_01.md"
FIGURE = "results/tables/my_paper/figure_01.svg"


@pytest.fixture
def folder(tmp_path):
    """The paper of the page, in a folder outside the project."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "my_paper"


def test_a_paper_outside_is_planned_and_so_are_its_claims(folder, fresh):
    chosen = ["--config", "scale=miniature", f"papers=[{folder}]"]
    assert {"table": 1, "figure": 1, "all_tables": 1}.items() <= planned(fresh, "all_tables", *chosen).items()
    run = snakemake(fresh, "-n", "-p", TABLE, FIGURE, "claim_results", *chosen)
    assert run.returncode == 0, run.stdout
    assert "results/mrtydi/msm/zero_shot_marco/pt0-ft0.json" in run.stdout


def test_a_mistake_in_its_table_is_named_without_a_traceback(folder, fresh):
    spec = folder / "table_01.yaml"
    spec.write_text(spec.read_text().replace("mrr@100", "mr@100"))
    run = snakemake(fresh, "-n", TABLE, "--config", "scale=miniature", f"papers=[{folder}]")
    assert run.returncode == 1 and f"{spec}: mrtydi: unknown metric 'mr@100'; did you mean 'mrr@100'?" in run.stdout
    assert "Traceback" not in run.stdout


def test_the_claims_of_a_paper_in_the_project_s_folder_are_planned_and_judged(folder, fresh, tmp_path):
    project = clone(fresh, tmp_path / "stele")
    shutil.copytree(folder, project / "my_paper")
    chosen = ["--config", "scale=miniature", "papers=[./my_paper]"]
    assert planned(project, "claim_results", *chosen)["claim_results"] == 1
    run = snakemake(project, "-n", "-p", "claims", *chosen)
    assert "--paper my_paper/" in run.stdout, run.stdout


def test_a_folder_in_paper_tables_is_one_paper_more(folder, fresh, tmp_path):
    project = clone(fresh, tmp_path / "stele")
    before = planned(project, "all_tables", "--config", "scale=miniature")
    shutil.copytree(folder, project / "paper_tables/my_paper")
    jobs = planned(project, "all_tables", "--config", "scale=miniature")
    assert (jobs["table"], jobs["figure"]) == (before["table"] + 1, before["figure"] + 1)


def test_what_is_drawn_by_hand_before_any_run_is_still_to_be_built(folder, fresh, tmp_path):
    project = clone(fresh, tmp_path / "stele")
    tables, figure = f"--spec {folder}/table_01.yaml", f"--spec {folder}/figure_01.yaml --output {FIGURE}"
    for command in (f"table {tables}", f"figure {figure}", f"all_tables {tables}"):
        drawn = shell(project, f"python -m stele tables {command}")
        assert drawn.returncode == 0, drawn.stdout
    jobs = planned(project, "all_tables", "--config", "scale=miniature", f"papers=[{folder}]")
    assert {"pretrain": 1, "table": 1, "figure": 1, "all_tables": 1}.items() <= jobs.items()


def test_its_table_figure_and_claim_are_checked_and_drawn(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    results = ["--results-dir", str(tmp_path / "results")]
    pages, spec = tmp_path / "results/tables", ["--spec", str(folder / "table_01.yaml")]
    assert cli.main(["tables", "check", "--specs", str(folder)]) == 0
    assert cli.main(["claims", "check", str(folder)]) == 0
    assert "my_paper: 1 claim, 0 main: 1 holds" in capsys.readouterr().out
    assert cli.main(["tables", "table", *spec, *results]) == 0
    assert (
        cli.main(["tables", "figure", "--spec", str(folder / "figure_01.yaml"), "--output", str(pages / "f.svg")]) == 0
    )
    assert cli.main(["tables", "all_tables", *spec, *results, "--figures"]) == 0
    assert "My paper, Table 1" in (pages / "my_paper/table_01.md").read_text(encoding="utf-8")
    assert "doe2026retrieval" in (pages / "my_paper/table_01.tex").read_text(encoding="utf-8")
    assert "@misc{doe2026retrieval," in (pages / "all_tables.bib").read_text(encoding="utf-8")
    assert "MSM finds more than mBERT." in (pages / "my_paper.html").read_text(encoding="utf-8")
    (tmp_path / "results/scale.txt").write_text("miniature\n")
    assert cli.main(["claims", "judge", str(tmp_path / "results"), "--paper", str(folder)]) == 0
    assert "my_paper: 1 claim that can be checked: 1 no data" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "paper.yaml").unlink(), "no paper.yaml"),
        (lambda folder: (folder / "paper.yaml").write_text("nam: X\n"), "'nam'.*'name'"),
        (lambda folder: folder.rename(folder.with_name("msm")), "the name 'msm' is taken"),
        (lambda folder: folder.rename(folder.with_name("My-paper")), "a-z, 0-9"),
        (
            lambda folder: folder.rename(folder.with_name("all_tables")),
            "the name 'all_tables' is taken",
        ),  # its page is another's
        (lambda folder: folder.symlink_to(folder.rename(f"{folder.parent}_theirs")), "links to .*_theirs, which has"),
    ],
)
def test_a_folder_that_is_no_paper_is_refused(folder, monkeypatch, change, message):
    monkeypatch.chdir(ROOT)
    change(folder)
    (actual,) = (path for path in folder.parent.iterdir() if path.is_dir())
    with pytest.raises(SteleError, match=message):
        parse_config({"papers": [str(actual)]})
