"""Law 2: a harmless change reruns nothing; a change reruns exactly what it reaches. Seen with -n on a built chain."""

import csv
import json
import os
import re

import pytest
import yaml

from tests.workflow.conftest import TABLE, copy_project, planned, snakemake

AFTER_PRETRAINING = {"pretrain", "finetune", "retrieve", "score", "average", "table"}


def edit(path, old, new, count=1):
    text = path.read_text()
    assert old in text, (path, old)
    path.write_text(text.replace(old, new, count))


def rules(project, *arguments):
    """The rules that would run, without the alias copies."""
    return set(planned(project, TABLE, *arguments)) - {"alias"}


def test_a_plan_after_a_build_has_nothing_to_do(built):
    assert rules(built) == set()


def test_comments_docstrings_and_formatting_rerun_nothing(built):
    for path in (built / "src/stele").rglob("*.py"):
        text = path.read_text()
        path.write_text(re.sub(r'^"""', '"""Read me. ', text, count=1) + "\n# a comment\n")
    edit(built / "src/stele/catalogue/recipes.yaml", "objective: msm", "objective:   msm   # here")
    assert rules(built) == set()


def test_a_change_of_the_objective_retrains_but_mines_nothing(built):
    (built / "src/stele/training/objectives/msm.py").open("a").write("\nCHANGED = True\n")
    assert rules(built) == AFTER_PRETRAINING


def test_modules_and_facts_that_no_job_of_the_chain_reads_rerun_nothing(built):
    for folder, module in (("stele/training/objectives", "crop"), ("stele_world/standins", "denoising")):
        (built / f"src/{folder}/{module}.py").open("a").write("\nCHANGED = True\n")
        (built / f"src/{folder}/brand_new.py").write_text("CHANGED = True\n")
    catalogue = built / "src/stele/catalogue"
    with open(catalogue / "languages.yaml", "a") as handle:
        handle.write("xx: {name: New, script: Latin, script_kind: alphabet, family: None, wikipedia: xx, cc100: xx}\n")
    edit(catalogue / "languages.yaml", "  cc100: sw\n", "  cc100: swa\n")  # Swahili is not in this scale
    edit(catalogue / "datasets.yaml", "title: CC-100, monolingual", "title: CC-100, one-language")
    edit(catalogue / "datasets.yaml", "note: stands in for", "note: is read for")
    edit(catalogue / "datasets.yaml", "licence: no claim by those", "licence: nothing claimed by those")
    edit(catalogue / "recipes.yaml", "    objective: ict\n", "    objective: ict\n    snapshots: [1]\n")
    assert rules(built) == set()


def test_a_fact_about_a_language_of_the_chain_reruns_what_reads_it(built):
    edit(built / "src/stele/catalogue/languages.yaml", "  cc100: ru\n", "  cc100: rus\n")
    assert {"mirror", "dataset", "standin", "pretrain"} <= rules(built)


def test_what_the_package_offers_its_users_reruns_what_reads_results_alone(built):
    (built / "src/stele/artifacts/results.py").open("a").write("\nCHANGED = True\n")
    (built / "src/stele/__init__.py").open("a").write("\nCHANGED = True\n")
    assert rules(built) <= {"average", "table"}


def test_a_change_of_scoring_scores_and_renders(built):
    (built / "src/stele/scoring/score.py").open("a").write("\nCHANGED = True\n")
    assert rules(built) == {"score", "average", "table"}


def test_a_caption_renders(built):
    spec = built / "paper_tables/msm/table_10.yaml"
    table = yaml.safe_load(spec.read_text())
    spec.write_text(yaml.safe_dump(table | {"caption": "Another caption."}, allow_unicode=True, sort_keys=False))
    assert rules(built) == {"table"}


def test_a_detail_of_a_cell_renders_the_paper_s_page_again(built):
    for name in ("claims.yaml", "corrections.yaml"):  # about other tables
        (built / "paper_tables/msm" / name).unlink()
    assert snakemake(built, "all_tables").returncode == 0
    (built / TABLE).with_suffix(".html").open("a").write("<!-- an unrounded number -->")
    assert set(planned(built, "all_tables")) == {"all_tables"}


def test_languages_rerun_what_names_them(built):
    actual = rules(built, "--config", "scale=tiny.yaml", "languages=[ru]")
    assert actual == {"retrieve", "score", "average", "table", "context"}


def test_a_recipes_value_reruns_its_training(built):
    edit(built / "src/stele/catalogue/recipes.yaml", "temperature: 0.1 ", "temperature: 0.2 ")
    assert rules(built) == AFTER_PRETRAINING


def test_places_rerun_nothing(built):
    assert rules(built, "--config", "scale=tiny.yaml", "mirrors=[/somewhere/else]", "offline=true") <= {"context"}


def test_a_harmless_change_of_code_is_accepted_with_one_command(built):
    (built / "src/stele/scoring/score.py").open("a").write("\nCHANGED = True\n")
    assert snakemake(built, "--touch", TABLE).returncode == 0
    assert rules(built) == set()


def test_a_new_row_builds_only_itself(built):
    (built / "row.yaml").write_text(
        "models:\n  msm_mu_0.9: {base: xlmr, recipe: msm, override: {mu: 0.9}, tables: [msm/10]}\n"
    )
    jobs = planned(built, TABLE, "--configfile", "row.yaml")
    assert {**jobs, "alias": 1} == dict.fromkeys([*AFTER_PRETRAINING, "context", "alias"], 1)


# --- benchmark files stand beside logs, measure the job itself, and rerun nothing -------------------------------------
def test_what_the_worker_runs_for_a_job_is_measured(built):
    """Not the client that waits for it, which takes 14 MB."""
    (timing,) = (built / "logs").rglob("pretrain/*.benchmark.tsv")
    with open(timing) as lines:
        (measured,) = csv.DictReader(lines, delimiter="\t")
    assert float(measured["max_rss"]) > 150 and float(measured["cpu_time"]) > 0.1


def test_what_was_measured_is_no_reason_to_build_anything(built):
    timings = sorted((built / "logs").rglob("*.benchmark.tsv"))
    assert len(timings) > 15
    for number, path in enumerate(timings):
        os.utime(path, (1, 1) if number % 2 else None)
    assert planned(built, TABLE) == {}
    for path in timings:
        path.unlink()
    assert planned(built, TABLE, "mirror", "context") == {}
    assert snakemake(built, "--touch", TABLE).returncode == 0, "nothing to accept either"


# --- rule context: what the plan tells tables, of any length, built anew when it changes ------------------------------
CONTEXT = "results/tables/context.json"
LONG = 200_000  # characters: more than one argument of a command may have


@pytest.fixture
def project(root, tmp_path):
    return copy_project(root, tmp_path / "stele")


def label(project, text):
    """config.yaml with a model of that label, which stands in the context."""
    model = {"base": "xlmr", "recipe": "msm", "label": text, "tables": ["msm/9"]}
    (project / "config.yaml").write_text(json.dumps({"models": {"mine": model}}))


def written_label(project):
    rows = json.loads((project / CONTEXT).read_text())["extra_rows"]
    return next(row["label"] for row in rows if row["model"] == "mine")


def test_a_context_of_any_length_is_written_and_follows_the_plan(project):
    label(project, "x" * LONG)
    run = snakemake(project, "--printshellcmds", CONTEXT)
    assert run.returncode == 0, run.stdout[-2000:]
    assert "cp state/miniature/context-" in run.stdout and len(run.stdout) < LONG, "no command line holds it"
    assert len(written_label(project)) == LONG
    assert planned(project, CONTEXT) == {}
    label(project, "y")
    assert planned(project, CONTEXT) == {"context": 1}
    assert snakemake(project, CONTEXT).returncode == 0
    assert written_label(project) == "y"
    label(project, "z")
    assert snakemake(project, "--touch", CONTEXT).returncode == 0
    assert written_label(project) == "z" and planned(project, CONTEXT) == {}
