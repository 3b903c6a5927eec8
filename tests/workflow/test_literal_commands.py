"""Law 1: the literal commands work from a fresh clone; the workflow is clean."""

import shlex
import subprocess
import sys

import pytest
import yaml

from tests.workflow.conftest import planned, snakemake


def test_a_result_needs_no_flags(fresh):
    jobs = planned(fresh, "results/mrtydi/msm/zero_shot.json")
    assert jobs["pretrain"] == 1 and jobs["finetune"] == 1 and jobs["retrieve"] == 1 and jobs["alias"] == 1


@pytest.fixture(scope="module")
def miniature(fresh):
    """Rule -> number of jobs of every table in miniature."""
    return planned(fresh, "all_tables")


def test_without_a_target_it_means_every_table(fresh, miniature):
    tables = [path for path in fresh.glob("paper_tables/*/table_*.yaml") if path.parent.name != "today"]
    assert planned(fresh) == miniature and miniature["table"] == len(tables) >= 41


def test_the_tables_of_today_s_encoders_are_built_when_they_are_asked_for(fresh, miniature):
    assert "today_tables" not in miniature
    jobs = planned(fresh, "today_tables")
    assert (jobs["table"], jobs["figure"], jobs["today_tables"]) == (7, 1, 1)
    assert planned(fresh, "results/tables/today/table_05.md")["table"] == 1


def test_the_workflow_is_started_from_another_folder(fresh, tmp_path):
    """With its own configuration, or with the one that lies there; nothing is read below that folder else."""
    (tmp_path / "config.yaml").write_text("offline: true\n")
    jobs = planned(fresh, "results/tables/msm/table_05.md")
    assert planned(fresh, "--directory", str(tmp_path), "results/tables/msm/table_05.md") == jobs
    (tmp_path / "config.yaml").unlink()
    assert planned(tmp_path, "-s", str(fresh / "Snakefile"), "results/tables/msm/table_05.md") == jobs


def test_on_a_cluster_it_means_the_papers_sizes(fresh):
    run = snakemake(fresh, "--profile", "slurm", "-n", "results/tables/msm/table_16.md")
    assert run.returncode == 0, run.stdout
    assert "scale paper (the profile's)" in run.stdout
    again = snakemake(fresh, "--profile", "slurm", "-n", "results/tables/msm/table_16.md", "--config", "offline=true")
    assert "scale paper" in again.stdout, "another --config key must not change the scale"


def test_generated_and_paper_scales_run_the_same_rules(fresh, miniature):
    for name in ("walled", "weights"):  # what upstream keeps behind a page, the generated internet has
        (fresh / name).mkdir()
    (fresh / "weights/config.json").write_text("{}")
    (fresh / "walled.yaml").write_text(
        "scale: paper\nuser_data: {xor_dpr_train: walled, mewsli_x_news: walled, ccp_large: weights,\n"
        "  trec2002_ar: walled, clef2006_fr: walled, trec3_es: walled,\n"  # of languages that it has
        "  clef: walled, smart_shuffling: walled, uncorpus: walled}\n"
    )
    paper = planned(fresh, "all_tables", "--configfile", "walled.yaml")
    assert set(miniature) - {"mirror", "standin"} == set(paper)  # only the generator's own rules are the miniature's
    # of KEPT's ten generated languages, German and French; paper scale cuts KEPT's 28 Wikipedias by their sizes
    shards = 2 * 12
    assert miniature["wikipedia"] == shards and paper["knowledge_base"] == 28 < paper["wikipedia"]
    for rule in ("pretrain", "finetune", "retrieve", "score", "table"):
        assert miniature[rule] == paper[rule]


def test_a_large_plan_is_shown_by_rule_and_a_small_one_job_by_job(fresh):
    table, command = "results/tables/msm/table_16.md", " pretraining pretrain --"
    short = snakemake(fresh, "-n", table).stdout
    assert "| pretrain " in short and "add -p" in short and "Pretrain" not in short
    long = snakemake(fresh, "-n", "-p", table).stdout
    assert command in long and "| pretrain " not in long and len(long) > 5 * len(short)
    assert "List the rows" in snakemake(fresh, "-n", "results/tables/context.json").stdout


def test_a_dry_run_leaves_no_trace(fresh):
    assert not (fresh / "results").exists()
    assert not (fresh / "resources").exists()


def test_lint_and_format_are_clean(fresh):
    run = snakemake(fresh, "--lint")
    assert run.returncode == 0, run.stdout
    command = [sys.executable, "-m", "snakefmt", "--check", "Snakefile", "workflow"]
    formatted = subprocess.run(command, cwd=fresh, capture_output=True, text=True)
    assert formatted.returncode == 0, formatted.stderr


def test_downloads_are_what_the_choice_needs_and_nothing_else(fresh):
    jobs = planned(fresh, "downloads", "--config", "scale=paper", "papers=[msm]")
    assert set(jobs) == {"dataset", "checkpoint", "downloads"}
    run = snakemake(fresh, "-n", "-p", "downloads", "--config", "scale=paper", "languages=[sw,th]")
    assert "datasets/mrtydi_corpus/sw/" in run.stdout and "datasets/mrtydi_corpus/th/" in run.stdout


def test_an_unknown_name_is_named_with_the_nearest(fresh):
    cases = {
        "results/mrtydi/mms/zero_shot.json": ["'mms'", "'msm'"],
        "results/mrtydi/msm/zero_shoot_nq.json": ["'zero_shoot_nq'", "'zero_shot_nq'"],
        "results/mrtydi/msm/zero_sho.json": ["'zero_sho'", "'zero_shot'"],  # a short name
        "results/tables/msm/table_5.md": ["table_05.md?"],
        "results/tables/msm/table_55.md": ["msm/55", "'msm/15'"],
    }
    for target, parts in cases.items():
        run = snakemake(fresh, "-n", target)
        assert run.returncode != 0
        assert all(part in run.stdout for part in parts), run.stdout
    run = snakemake(fresh, "-n", "all_tables", "--config", "scale=minature")
    assert run.returncode != 0 and "'miniature'" in run.stdout


def test_folders_with_blanks_reach_their_commands_whole(fresh, tmp_path):
    place = tmp_path / "it's my data & more; all"
    place.mkdir()
    (place / "nq-test.qa.csv").write_text("")
    values = {
        "mirrors": [str(place)],
        "user_data": {"nq_test": str(place)},
        "models": {"m": {"checkpoint": str(place)}},
    }
    (fresh / "blanks.yaml").write_text(yaml.safe_dump(values))
    choice = ["--configfile", "blanks.yaml", "--config", "scale=paper"]
    run = snakemake(fresh, "-n", "-p", *choice, "--", "results/nq/m/direct.json")
    assert run.returncode == 0, run.stdout
    jobs = [shlex.split(line) for line in run.stdout.splitlines() if "python -m stele sources" in line]
    after = [words[words.index(str(place)) - 1] for words in jobs]
    assert sorted(after) == ["--mirrors", "--path", "--user-data"]


def test_what_is_wrong_in_a_file_is_said_with_its_name(fresh):
    twice = fresh / "twice.yaml"
    twice.write_text("offline: true\nmodels: {}\noffline: false\n")
    run = snakemake(fresh, "-n", "all_tables", "--configfile", "twice.yaml")
    assert run.returncode != 0 and "twice.yaml, line 1: key 'offline' is given twice" in run.stdout
    twice.write_text("models: {mine: {base: xlmr, recipe: msm, override: {mu: high}}}\n")
    run = snakemake(fresh, "-n", "all_tables", "--configfile", "twice.yaml")
    assert run.returncode != 0 and "twice.yaml: models.mine.override: mu" in run.stdout
    run = snakemake(fresh, "-n", "all_tables", "--config", "mirors=[]")
    assert run.returncode != 0 and "--config: unknown key 'mirors'; did you mean 'mirrors'?" in run.stdout


@pytest.mark.slow
def test_a_run_does_not_gather_threads(chain):
    """Snakemake itself, a thread for each core and for five more; a timer for each job that ended would be 40."""
    threads = int((chain.parent / "done").read_text())
    assert 0 < threads <= 12


def test_benchmarks_of_the_same_documents_have_them_encoded_once(fresh):
    results = [f"results/neuclir_{one}/labse/direct.json" for one in ("mono", "clir", "mlir")]
    jobs = planned(fresh, *results)
    assert (jobs["encode_collection"], jobs["retrieve"]) == (3, 3)
    assert planned(fresh, results[0], "--config", "languages=[ru]")["encode_collection"] == 1
