"""The examples of docs/adding, one a page, applied to a copy of the project and run as they stand."""

import json
import os
import re
import subprocess
import sys

import pytest
import yaml

from tests.conftest import ROOT
from tests.workflow.conftest import copy_project, environment, planned, snakemake

PAGES = {path.stem: path.read_text() for path in sorted((ROOT / "docs/adding").glob("*.md"))}
RUN = [page for page in PAGES if page != "paper"]  # which test_adding_a_paper.py puts outside
BLOCK = re.compile(r"^```(yaml|python|diff|sh)\n(.*?)^```$", flags=re.M | re.S)


def merge(old, new):
    """Keys of both, those of the second winning, however deep."""
    both = {key: merge(old[key], new[key]) for key in old.keys() & new.keys() if isinstance(old[key], dict)}
    return {**old, **new, **both}


def insert(project, first, body):
    """Puts a block where its first line says: a file, and for YAML the key below which it belongs."""
    name, _, key = first.removeprefix("# ").partition(" ")
    path = project / name
    if name == "config.yaml":
        merged = merge(yaml.safe_load(path.read_text()), yaml.safe_load(body))
        path.write_text(yaml.safe_dump(merged, sort_keys=False, allow_unicode=True))
    elif key:
        lines = path.read_text().splitlines(keepends=True)
        at = 0
        for part in key.split("."):  # each key below the one before
            pattern = re.compile(rf"^ *{re.escape(part)}: *(\{{.*)?$")
            at = next(n for n in range(at, len(lines)) if pattern.match(lines[n].rstrip()))
        actual = pattern.match(lines[at].rstrip())[1]
        if actual:  # {a: b}, which may go on in the next lines: add inside the braces
            at = next(n for n in range(at, len(lines)) if lines[n].rstrip().endswith("}"))
            inner = ", ".join(line.strip() for line in body.strip().splitlines())
            lines[at] = lines[at].rstrip()[:-1] + f", {inner}}}\n"
        else:
            lines.insert(at + 1, body)
        path.write_text("".join(lines))
    else:
        with open(path, "a", encoding="utf-8") as handle:
            handle.write("\n" + body)


def python_files(project):
    return {path: path.read_bytes() for path in (project / "src").rglob("*.py")}


def run(command, project, **more):
    env = environment(**more)
    env["PATH"] = f"{os.path.dirname(sys.executable)}:{env['PATH']}"
    done = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("page", RUN)
def test_the_example_works_and_changes_no_python_but_by_its_diff(page, request, root, tmp_path):
    """In a clone of the built chain where the page builds something there."""
    of_chain = "work/tiny" in PAGES[page]
    project = request.getfixturevalue("built") if of_chain else copy_project(root, tmp_path / "stele")
    before, blocks = python_files(project), BLOCK.findall(PAGES[page])
    for language, body in blocks:
        if language == "sh":
            run(["bash", "-euc", body], project)
        elif language == "diff":
            (tmp_path / "page.diff").write_text(body)
            run(["git", "apply", "--unsafe-paths", str(tmp_path / "page.diff")], project)
        else:
            first, _, rest = body.partition("\n")
            insert(project, first, rest)
    assert "sh" in dict(blocks)
    if "diff" not in dict(blocks):
        assert before.items() <= python_files(project).items()


def test_the_tutorial_runs_from_top_to_bottom(built):
    """In the short chain, whose scale `results/` holds as it holds the miniature's for a reader."""
    for language, body in BLOCK.findall((ROOT / "docs/tutorial.md").read_text()):
        if language == "sh":
            run(["bash", "-euc", body], built, PYTHONPATH=str(built / "src"))
        else:
            first, _, rest = body.partition("\n")
            (built / first.split()[1]).parent.mkdir(exist_ok=True)
            insert(built, first, rest)
    for table in ("msm/table_10", "my_paper/table_01"):
        assert "MSM with mu .9" in (built / f"results/tables/{table}.md").read_text()


FINGERPRINTS = """
from stele.evaluation.metrics import metric_modules, ranx_lines
from stele.snakemake_support.fingerprint import code
for names in (["mrr@100", "recall@100"], ["map@20"], ["f1"], ["alignment", "uniformity_query"]):
    print(code("scoring.score", *metric_modules(names)), ranx_lines(names))
"""


def test_a_new_metric_leaves_the_results_of_others_alone(root, tmp_path):
    project = copy_project(root, tmp_path / "stele")
    command, source = [sys.executable, "-c", FINGERPRINTS], str(project / "src")
    before = run(command, project, PYTHONPATH=source)
    for language, body in BLOCK.findall(PAGES["metric"]):
        first, _, rest = body.partition("\n")
        if language != "sh":
            insert(project, first, rest)
    assert run(command, project, PYTHONPATH=source) == before


READ = """
from pathlib import Path
from stele.benchmarks.load import load_reader
from stele.benchmarks.reader import RetrievalReader
reader, data = load_reader("my_benchmark", RetrievalReader), {"my_data": {"th": Path("my_data/th")}}
(query_set,) = reader.query_sets(["th"])
print([query.text for query in reader.queries(data, query_set)], reader.judgments(data, query_set))
print([passage.text for passage in reader.passages(data, query_set.collection)])
"""


def test_the_benchmark_of_the_page_is_read(root, tmp_path):
    """A plan does not load it: the files of the page are read by the page's class."""
    project = copy_project(root, tmp_path / "stele")
    for language, body in BLOCK.findall(PAGES["benchmark"]):
        first, _, rest = body.partition("\n")
        if language == "sh":
            run(["bash", "-euc", body.replace("snakemake -n", "true")], project)
        else:
            insert(project, first, rest)
    read = run([sys.executable, "-c", READ], project, PYTHONPATH=str(project / "src"))
    assert read == "['who wrote it'] {'q1': {'p1': 1}}\n['she wrote it', 'he read it']\n"


def test_the_objective_of_the_page_learns_at_scale_tiny(built):
    """SimCSE put into a built short chain: its pretraining alone runs, and its loss falls below chance in 30 steps."""
    for language, body in BLOCK.findall(PAGES["objective"]):
        first, _, rest = body.partition("\n")
        if language != "sh" and first != "# config.yaml":
            insert(built, first, rest)
    small = {"languages": ["en", "ru"], "sentences": 16, "sentence_length": 12, "steps": 30, "warmup_steps": 0}
    small |= {"learning_rate": 3e-3, "precision": "float32"}
    model = {"label": "SimCSE", "base": "xlmr", "recipe": "simcse", "override": small}
    insert(built, "# config.yaml", yaml.safe_dump({"models": {"simcse": model}}))
    record = "work/tiny/encoders/simcse/pt0/record.json"
    assert planned(built, record) == {"pretrain": 1}
    done = snakemake(built, record)
    assert done.returncode == 0, done.stdout
    facts = json.loads((built / record).read_text())
    assert facts["losses"]["simcse"] < facts["chance"]["simcse"] - 0.3


def test_contributing_names_every_page_and_only_files_that_there_are():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    linked = set(re.findall(r"\(docs/adding/(\w+)\.md\)", text))
    assert linked == set(PAGES)
    named = set(re.findall(r"`((?:src|workflow|tests|paper_tables|profiles|envs)/[\w./]+)`", text))
    assert len(named) > 20
    assert not [name for name in named if not (ROOT / name).exists()]
