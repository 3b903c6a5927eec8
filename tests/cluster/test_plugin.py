"""What is added to Snakemake's SLURM executor, on questions and answers alone."""

import asyncio
import types

from stele.cluster.slurm import plugin_patches, submissions


def test_an_answer_is_remembered_while_the_controller_is_away():
    answers, waits = iter([None, 300, None, 10]), []
    ask = plugin_patches.remembered(lambda: next(answers), lambda: waits.append(1))
    assert [ask(), ask(), ask()] == [None, 300, 300] and len(waits) == 2


def test_a_job_that_slurm_does_not_start_again_has_failed_and_one_that_it_does_has_not():
    states = iter(["RUNNING", "PREEMPTED", "PREEMPTED", "PENDING", "NODE_FAIL", "NODE_FAIL", "NODE_FAIL"])

    async def query(*_):
        return {"7": next(states)}, 0.1

    ask = plugin_patches.ending(query)
    seen = [asyncio.run(ask())[0]["7"] for _ in range(7)]
    assert seen == ["RUNNING", "PREEMPTED", "PREEMPTED", "PENDING", "NODE_FAIL", "NODE_FAIL", "FAILED"]

    async def away(*_):
        return None, None

    assert asyncio.run(plugin_patches.ending(away)()) == (None, None)


def test_a_job_that_slurm_has_forgotten_has_ended():
    states = iter([{"7": "RUNNING", "8": "RUNNING"}, {"8": "RUNNING"}, {"7": "RUNNING"}, {}, {}, {"9": "PENDING"}])

    async def query(*_):
        return next(states), 0.1

    ask = plugin_patches.ending(query)
    seen = [asyncio.run(ask())[0] for _ in range(6)]
    assert seen[2] == {"7": "RUNNING"} and seen[4] == {"8": "UNKNOWN"}
    assert seen[5] == {"7": "UNKNOWN", "8": "UNKNOWN", "9": "PENDING"}


def test_a_job_that_is_tried_again_may_be_in_the_queue_though_its_submission_seemed_to_fail(monkeypatch):
    mine, other = "rule_mine_wildcards_en", "rule_mine_wildcards_fi"
    there = [("7", mine, "COMPLETING"), ("8", mine, "PENDING"), ("9", other, "RUNNING")]
    living = [plugin_patches.squeue.Queued(number, "this run", state, comment) for number, comment, state in there]
    monkeypatch.setattr(plugin_patches.squeue, "of_folder", lambda folder: living)
    earlier = plugin_patches.Earlier()
    assert earlier.take(mine, "this run", again=False) is None, "jobs of this run are its own"
    assert earlier.take(mine, "this run", again=True).id == "8"
    assert earlier.take("rule_mine_wildcards_te", "this run", again=True) is None


def job(**changes):
    rule = types.SimpleNamespace(name="mine", shellcmd="python -m stele pairs mine {params}")
    values = {"rule": rule, "input": ["a"], "output": ["b"], "params": [["x", "y"], 1], "resources": {"mem_mb": 1}}
    values |= {"threads": 1, "attempt": 1, "log": ["logs/tiny/mine/b.log"]}
    return types.SimpleNamespace(**values | changes)


def test_a_job_is_its_command_inputs_outputs_and_params_and_not_its_size(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert submissions.submitted(job()) is None
    submissions.note(job())
    assert (
        submissions.submitted(job()) == submissions.content(job()) == submissions.content(job(resources={"mem_mb": 2}))
    )
    others = [job(params=[["x", "z"], 1]), job(input=["c"]), job(output=["d"]), job(params=[["x"], "y", 1])]
    assert submissions.content(job()) not in {submissions.content(other) for other in others}
    assert submissions.submitted(job(output=["d"])) is None, "each output has a note of its own"


def test_the_plugin_that_is_locked_is_the_one_that_is_mended(root):
    """Each name that is replaced is there; with another version of the plugin this test says what to look at."""
    import snakemake_executor_plugin_slurm as slurm
    import snakemake_executor_plugin_slurm_jobstep as jobstep
    from snakemake.persistence import PersistenceBase

    names = ("get_min_job_age", "query_job_status_squeue", "query_job_status_sacct", "query_job_status")
    assert all(callable(getattr(slurm, name)) for name in (*names, "get_job_wildcards", "SubmittedJobInfo"))
    assert callable(slurm.Executor.run_job) and callable(jobstep.Executor.run_job)
    assert callable(slurm.Executor._report_job_submission_threadsafe) and callable(PersistenceBase.finished)
    assert "snakemake-executor-plugin-slurm==2.8.0" in (root / "envs/cpu.lock.txt").read_text()
