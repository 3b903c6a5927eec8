"""Law 2: a harmless change reruns nothing; a change reruns exactly what it reaches. Seen with -n on a built chain."""

import re

import yaml

from tests.workflow.conftest import TABLE, planned, snakemake

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
