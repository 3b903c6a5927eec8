"""What a run that failed says of each row: failed with the log of the job that did, or not run, never an old value."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.iocontainers import InputFiles

from stele.artifacts.results import RunKey
from stele.plan.paths import Paths
from stele.snakemake_support import run_tables
from stele.tables.values.context import Context

ROWS = [RunKey("mrtydi", model, "direct") for model in ("one", "two", "three", "four")]


class Job:
    """As much of a job of Snakemake's as is asked."""

    def __init__(self, rule, output=(), log=()):
        self.rule, self.output, self.log, self.input = SimpleNamespace(name=rule), list(output), list(log), []


class Graph:
    """As much of a run as is asked: jobs in order of their need, which finished, which failed."""

    def __init__(self, dependencies, finished=(), failed=(), touch=False):
        self.dependencies = {job: {other: set() for other in others} for job, others in dependencies.items()}
        self.jobs = list(dependencies)
        self._finished = finished
        self.dag, self.scheduler, self.touch = self, SimpleNamespace(failed=set(failed)), touch

    def needrun(self, job):
        return True

    def finished(self, job):
        return job in self._finished


@pytest.fixture
def plan():
    files = {"results/tatoeba/one/direct/pt0-ft0/projection_ar.csv": "one/direct/tatoeba/projection_ar"}
    results = {f"results/{row.path}.json": row.name for row in ROWS} | files
    return SimpleNamespace(requested=SimpleNamespace(results=lambda: results))


def average(model):
    return Job("average", [f"results/mrtydi/{model}/direct.json"], [f"logs/average/{model}.log"])


def test_a_row_fails_with_the_job_it_waits_for_and_others_are_not_run(plan):
    dataset = Job("dataset", ["resources/record.json"], ["logs/dataset.log"])
    retrieve, slow = Job("retrieve", log=["logs/retrieve/one.log"]), Job("retrieve", log=["logs/retrieve/two.log"])
    one, two, three, four = map(average, ("one", "two", "three", "four"))
    graph = Graph(
        {dataset: [], retrieve: [dataset], slow: [], one: [retrieve], two: [slow], three: [], four: []},
        finished={three},
        failed={dataset, four},
    )
    message = run_tables._rows(plan, graph)
    assert message == {
        "failed": {"one/direct/mrtydi": "logs/dataset.log", "four/direct/mrtydi": "logs/average/four.log"},
        "outdated": ["two/direct/mrtydi"],
    }
    context = Context(**message)
    assert context.known(ROWS[0]).reason == "log: logs/dataset.log"
    assert context.known(ROWS[1]).state == "planned"
    assert [context.is_current(row) for row in ROWS] == [False, False, True, False]


def test_a_file_that_a_figure_draws_fails_by_its_own_name(plan):
    path, name = next(item for item in plan.requested.results().items() if item[0].endswith("csv"))
    project = Job("project", [path, path.replace("csv", "json")], ["logs/project.log"])
    message = run_tables._rows(plan, Graph({project: []}, failed={project}))
    assert message == {"failed": {name: "logs/project.log"}, "outdated": []}
    assert Context(**message).is_current(RunKey("tatoeba", "one", "direct")), "its result did not fail"


def test_a_failed_run_without_tables_renders_none(plan):
    failed = average("one")
    # it would ask the plan for a context, which this plan does not have
    assert not hasattr(plan.requested, "context")
    assert run_tables.finish_tables(plan, Graph({failed: []}, failed={failed})) is None


def test_input_that_is_there_is_not_missing(tmp_path):
    job = Job("table")
    job.input = [str(tmp_path)]
    assert not run_tables._misses(job)
    job.input += [str(tmp_path / "gone")]
    assert run_tables._misses(job)


def test_the_command_gets_the_other_context_and_all_else_as_it_is(tmp_path):
    spec, context, said = str(tmp_path / "spec.yaml"), str(tmp_path / "context.json"), tmp_path / "logs/table/said"
    job = Job("table", log=[str(said)])
    job.input = InputFiles(fromdict={"spec": spec, "context": context})
    job.rule.shellcmd = f"echo {{input.spec}} --context={{input.context}} {context} > {said}"
    job.format_wildcards = lambda text, **variables: text.format(**variables)
    assert run_tables._render(job, tmp_path / "other.json")
    assert said.read_text().split() == [spec, f"--context={tmp_path}/other.json", context]
    assert job.input.context == context


def test_runs_with_other_folders_of_results_hand_over_contexts_of_their_own(jobs, tmp_path, monkeypatch):
    """The rule may read its file after hours, when another run in this folder has written its own."""
    monkeypatch.setattr(Paths, "state", lambda self, path: str(tmp_path / path))
    one, other = jobs(scale="miniature"), jobs(scale="miniature", results_dir="results_b", languages=["sw"])
    run_tables.write_context(one, touch=False)
    written = Path(run_tables.context_file(one)).read_text()
    run_tables.write_context(other, touch=False)
    assert Path(run_tables.context_file(one)).read_text() == written != Path(run_tables.context_file(other)).read_text()
