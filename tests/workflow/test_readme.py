"""The commands of the README and the pipelines of the papers' pages, as planned; links and make targets exist."""

import importlib
import json
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections import Counter
from functools import partial

import pytest

from stele.command import cli
from tests.conftest import ROOT
from tests.jobs import job
from tests.workflow.conftest import copy_project, environment, snakemake

README, USE = (ROOT / "README.md").read_text(), (ROOT / "docs/use.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", f"{README}\n{USE}", flags=re.M | re.S)
LINES = [line.partition("#")[0].strip() for kind, body in BLOCKS if kind == "sh" for line in body.splitlines()]
COMMANDS = [line for line in LINES if line.startswith("snakemake ")]


def test_the_readme_has_commands():
    assert len(COMMANDS) >= 6
    assert "make tables" in LINES and "make test" in LINES


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_plans(command, fresh, tmp_path):
    arguments = shlex.split(command)[1:]
    if "mine.yaml" in arguments:
        folders = {name: tmp_path / name for name in ("checkpoint", "lareqa", "tatoeba")}
        for folder in folders.values():
            folder.mkdir()
        body = next(body for kind, body in BLOCKS if kind == "yaml" and body.startswith("# mine.yaml"))
        for actual, folder in zip(re.findall(r"/\S+?(?=[}\s])", body), folders.values(), strict=True):
            body = body.replace(actual, str(folder))
        (fresh / "mine.yaml").write_text(body)
    run = snakemake(fresh, "-n", *(a for a in arguments if a != "-n"))
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize("line", [line for line in LINES if line.startswith("stele ")])
def test_a_command_of_stele_is_one_and_takes_these_arguments(line):
    _, stage, *rest = shlex.split(line, comments=True)
    command, *arguments = rest if rest[0] in cli.commands(stage) else [stage, *rest]
    assert job(importlib.import_module(f"stele.{stage}.{command}"), arguments)


@pytest.mark.slow
def test_after_the_installation_the_package_and_its_command_work_from_any_folder(root, tmp_path):
    """The lines of "Without make" as they stand; the packages of the lock file are borrowed."""
    lines = USE.partition("## Without make")[2].partition("```sh\n")[2].partition("```")[0].splitlines()
    assert lines[1] == ".venv/bin/python -m pip install -r envs/cpu.lock.txt"
    project = copy_project(root, tmp_path / "stele")
    run = partial(subprocess.run, shell=True, capture_output=True, text=True, env=environment())
    made = run(lines[0].replace("python3.11", sys.executable), cwd=project)
    assert made.returncode == 0, made.stderr
    packages = next((project / ".venv/lib").glob("python*/site-packages"))
    for bundled in packages.glob("setuptools*"):  # the lock file's replaces it
        shutil.rmtree(bundled)
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    made = run(lines[2], cwd=project)
    assert made.returncode == 0, made.stderr
    python = f"{project}/.venv/bin/python"
    actual = run(f"{python} -c 'import stele; print(stele.__file__, stele.load_results)'", cwd=tmp_path)
    assert actual.stdout.startswith(f"{project}/src/stele/"), actual.stderr
    for command in (f"{project}/.venv/bin/stele", f"{python} -m stele"):
        done = run(f"{command} scoring --help", cwd=tmp_path)
        assert done.returncode == 0 and "STAGE COMMAND [--flags]" in done.stdout, done.stderr
        assert run(f"{command} scorin", cwd=tmp_path).returncode == 2


def test_make_does_the_same_as_without_make():
    makefile = (ROOT / "Makefile").read_text()
    options = "--quiet --disable-pip-version-check"
    assert f"$(BIN)/python -m pip install {options} -r $(LOCK)\n" in makefile
    assert f"$(BIN)/python -m pip install {options} --no-deps --no-build-isolation -e .\n" in makefile
    assert "--no-build-isolation -e .\n" in USE


def test_make_tables_is_the_miniature_whatever_else_is_chosen():
    makefile = (ROOT / "Makefile").read_text()
    for target in ("all_tables", "results/tables/msm/table_16.md"):
        assert f"\n\t$(OVERVIEW) $(BIN)/snakemake {target} --config scale=miniature\n" in makefile
    assert "`make tables` says `miniature`" in USE


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_every_page_of_the_documentation_is_linked():
    """Those of docs/adding by CONTRIBUTING.md (test_contributing.py)."""
    linked = set(re.findall(r"\]\((docs/[^)#]+\.md)", README))
    pages = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/*.md")}
    assert pages - {"docs/index.md"} == linked


def test_where_things_are_names_every_package():
    table = (ROOT / "CONTRIBUTING.md").read_text().partition("## Packages")[2].partition("\n## ")[0]
    named = {name for row in re.findall(r"^\| (`.*?) \|", table, re.M) for name in re.findall(r"`(\w+)`", row)}
    assert named == {path.parent.name for path in (ROOT / "src/stele").glob("*/__init__.py")}


def test_the_words_of_the_glossary_are_used_elsewhere():
    """On another page or in a docstring or message of the code: a word that nothing uses needs no explanation."""
    words = re.findall(r"^\| \*\*(.+?)\*\* \|", (ROOT / "docs/glossary.md").read_text(), re.M)
    pages = [path for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")] if path.name != "glossary.md"]
    text = "".join(path.read_text() for path in [*pages, *(ROOT / "src").rglob("*.py")])
    assert len(words) > 20 and words == list(dict.fromkeys(words))
    assert not [word for word in words if not re.search(rf"\b{word}s?\b", text)]


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in {line.split()[1] for line in LINES if line.startswith("make ")}:
        assert re.search(rf"^{target}:", makefile, flags=re.M), target


# --- a paper's pipeline as its page lists it, beside what Snakemake plans at the papers' sizes ------------------------
PLAN = """
import json, sys
from stele.snakemake_support.patches.planning import planned
jobs = planned(["--config", "scale=paper", f"papers=[{sys.argv[1]}]", "--", "all_tables"], True, "")[1]
print(json.dumps([(job.rule, dict(job.wildcards)) for job in jobs]))
"""


def listed(paper):
    """Rule -> (what it is for: wildcard -> values, number of jobs), in the order of the page."""
    section = (
        (ROOT / f"docs/{paper}.md").read_text().partition("## The pipeline at paper scale")[2].partition("\n## ")[0]
    )
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\| (\d+) \|$", section, re.M)
    return {rule: (dict(map(values, of.split(";"))) if of.strip() else {}, int(jobs)) for rule, of, jobs in rows}


def values(text):
    """("model", {"msm", "xlmr"}) of "model: `msm` `xlmr`"."""
    return text.partition(":")[0].strip(), set(re.findall(r"`([^`]+)`", text))


@pytest.mark.slow
@pytest.mark.parametrize("paper", ["msm", "kept", "ccp"])
def test_the_pipeline_on_a_papers_page_is_the_one_that_snakemake_plans(paper, fresh):
    run = subprocess.run(
        [sys.executable, "-c", PLAN, paper],
        cwd=fresh,
        env=environment(PYTHONPATH=str(fresh / "src")),
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    jobs = [(rule, wildcards) for rule, wildcards in json.loads(run.stdout) if rule != "all_tables"]
    page = listed(paper)
    assert {rule: number for rule, (_, number) in page.items()} == Counter(rule for rule, _ in jobs)
    for rule, (of, _) in page.items():
        planned = {key: {wildcards[key] for name, wildcards in jobs if name == rule} for key in of}
        assert planned == of, rule
