"""Law 2 for what is mined from a knowledge base: a change reruns what it reaches. Nothing is built; -n tells."""

import pytest

from tests.workflow.conftest import clone, copy_project, planned, snakemake
from tests.workflow.test_rerun_law import edit

MODELS = """
models:
  mine: {base: mcontriever, recipe: kept, override: {languages: [da, sw]}}
  other: {base: mcontriever, recipe: kept, override: {languages: [da, fi, sw], tasks: [crop, clk, clhed]}}
"""
CHOICE = ("--configfile", "models.yaml", "--config", "scale=paper", "--")
ENCODER = "work/paper/encoders/{}/pt0/record.json"


@pytest.fixture(scope="module")
def _touched(root, tmp_path_factory):
    """The project with all that one model is made from: empty files, marked as made with the code as it is."""
    project = copy_project(root, tmp_path_factory.mktemp("knowledge") / "stele")
    (project / "models.yaml").write_text(MODELS)
    target = (*CHOICE, ENCODER.format("mine"))
    lines = snakemake(project, "--summary", *target).stdout.splitlines()
    for path in (line.split("\t")[0] for line in lines if line.startswith(("resources/", "work/"))):
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text("{}")
    run = snakemake(project, "--touch", "--forceall", *target)
    assert run.returncode == 0, run.stdout
    return project


@pytest.fixture
def touched(_touched, tmp_path):
    return clone(_touched, tmp_path / "stele")


def jobs(project, model="mine"):
    return planned(project, *CHOICE, ENCODER.format(model))


def test_a_method_reruns_its_own_pairs(touched):
    (touched / "src/stele/pairs/methods/clk.py").open("a").write("\nCHANGED = True\n")
    assert jobs(touched) == {"knowledge_pairs": 1, "tokenise": 1, "pretrain": 1}


def test_another_objective_reruns_nothing(touched):
    (touched / "src/stele/training/objectives/moco.py").open("a").write("\nCHANGED = True\n")
    (touched / "src/stele/pairs/methods/ds_clk.py").open("a").write("\nCHANGED = True\n")
    assert jobs(touched) == {}


def test_another_length_in_tokens_mines_no_text(touched):
    edit(touched / "src/stele/catalogue/recipes.yaml", "    query_tokens: 128 ", "    query_tokens: 96 ")
    assert jobs(touched) == {"tokenise": 3, "pretrain": 1}


def test_another_corpus_of_crops_mines_no_knowledge(touched):
    edit(touched / "src/stele/catalogue/recipes.yaml", "corpus: wikipedia ", "corpus: cc100 ")
    assert jobs(touched) == {"dataset": 2, "cc100": 2, "mine": 2, "pretrain": 1}


def test_a_model_with_a_language_and_a_task_more_builds_these_alone(touched):
    """Wikidata's table is read once for all languages: no knowledge base that is there is made anew."""
    shards = 2  # of the Finnish Wikipedia
    assert jobs(touched, "other") == {
        "dataset": 1,
        "wikipedia": shards,
        "knowledge_base": 1,
        "mine": 1,
        "knowledge_pairs": 5,  # clk of da-fi and fi-sw, clhed of these and da-sw
        "tokenise": 5,
        "pretrain": 1,
    }


def test_another_date_of_the_dumps_reruns_what_comes_of_them(touched):
    (touched / "models.yaml").write_text(f"dump_date: 20240801\n{MODELS}")
    assert jobs(touched)["dataset"] == 3 and jobs(touched)["knowledge_pairs"] == 3
