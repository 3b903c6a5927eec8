"""Law 1: the literal commands work from a fresh clone; the workflow is clean."""

import subprocess
import sys

from tests.workflow.conftest import planned, snakemake


def test_a_result_needs_no_flags(fresh):
    jobs = planned(fresh, "results/mrtydi/msm/zero_shot.json")
    assert jobs["pretrain"] == 1 and jobs["finetune"] == 1 and jobs["retrieve"] == 1 and jobs["alias"] == 1


def test_one_table(fresh):
    assert planned(fresh, "results/tables/msm/table_05.md")["table"] == 1


def test_on_a_cluster_it_means_the_papers_sizes(fresh):
    run = snakemake(fresh, "--profile", "slurm", "-n", "all_tables")
    assert run.returncode == 0, run.stdout
    assert "scale paper (the profile's)" in run.stdout
    again = snakemake(fresh, "--profile", "slurm", "-n", "all_tables", "--config", "offline=true")
    assert "scale paper" in again.stdout, "another --config key must not change the scale"


def test_both_scales_run_the_same_rules(fresh):
    miniature = planned(fresh, "all_tables")
    (fresh / "walled").mkdir()  # what upstream keeps behind a page without addresses, the generated internet has
    (fresh / "walled.yaml").write_text("scale: paper\nuser_data: {xor_dpr_train: walled}\n")
    paper = planned(fresh, "all_tables", "--configfile", "walled.yaml")
    # only the generator's own rules are the miniature's; only CC-100's missing languages need Wikipedia at paper scale
    assert set(miniature) - {"mirror", "standin"} == set(paper) - {"wikipedia"}
    for rule in ("pretrain", "finetune", "retrieve", "score", "table"):
        assert miniature[rule] == paper[rule]


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
    run = snakemake(fresh, "-n", "downloads", "--config", "scale=paper", "languages=[sw,th]")
    assert "datasets/mrtydi_corpus/sw/" in run.stdout and "datasets/mrtydi_corpus/th/" in run.stdout


def test_languages_builds_only_those(fresh):
    run = snakemake(fresh, "-n", "-p", "results/mrtydi/xlmr/direct.json", "--config", "languages=[sw,th]")
    assert "--languages sw th " in run.stdout
    assert "datasets/mrtydi/ru" not in run.stdout


def test_an_unknown_name_is_named_with_the_nearest(fresh):
    cases = {
        "results/mrtydi/mms/zero_shot.json": ["'mms'", "'msm'"],
        "results/mrtydi/msm/zero_shoot_nq.json": ["'zero_shoot_nq'", "'zero_shot_nq'"],
        "results/tables/msm/table_55.md": ["msm/55", "'msm/15'"],
    }
    for target, parts in cases.items():
        run = snakemake(fresh, "-n", target)
        assert run.returncode != 0
        assert all(part in run.stdout for part in parts), run.stdout
    run = snakemake(fresh, "-n", "all_tables", "--config", "scale=minature")
    assert run.returncode != 0 and "'miniature'" in run.stdout


def test_a_released_checkpoint_is_asked_for_clearly(fresh):
    (fresh / "released.yaml").write_text("models:\n  msm: {checkpoint: released}\n")
    arguments = ["-n", "results/lareqa/msm/zero_shot.json", "--configfile", "released.yaml", "--config", "scale=paper"]
    run = snakemake(fresh, *arguments)
    assert run.returncode != 0
    assert "shunyuzh/MSM" in run.stdout and "user_data: {msm_base: FOLDER}" in run.stdout
