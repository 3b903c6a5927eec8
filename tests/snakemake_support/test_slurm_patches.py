"""What is added to Snakemake's SLURM executor, on questions and answers alone."""

import asyncio
import threading
import types
from concurrent.futures import ThreadPoolExecutor

import pytest

from stele.cluster import squeue
from stele.errors import SteleError
from stele.snakemake_support.patches import slurm_patches, submissions
from tests.waiting import PATIENCE


def test_an_answer_is_remembered_while_the_controller_is_away():
    answers, waits = iter([None, 300, None, 10]), []
    ask = slurm_patches.remembered(lambda: next(answers), lambda: waits.append(1))
    assert [ask(), ask(), ask()] == [None, 300, 300] and len(waits) == 2


def seen(answers):
    """What is seen of SLURM's answers, each the states of jobs by their ids."""
    states = iter(answers)

    async def query(*_):
        return next(states), 0.1

    ask = slurm_patches.ending(query)
    return [asyncio.run(ask())[0] for _ in answers]


def test_a_job_that_slurm_does_not_start_again_has_failed_and_one_that_it_does_has_not():
    states = ["RUNNING", "PREEMPTED", "PREEMPTED", "PENDING", "NODE_FAIL", "NODE_FAIL"]
    answers = [None, *({"7": state} for state in states)]
    assert seen([*answers, {"7": "NODE_FAIL"}]) == [*answers, {"7": "FAILED"}]


def test_a_job_that_slurm_has_forgotten_has_ended():
    answers = [{"7": "RUNNING", "8": "RUNNING"}, {"8": "RUNNING"}, {"7": "RUNNING"}, {}, {}, {"9": "PENDING"}]
    *_, third, _, fifth, sixth = seen(answers)
    assert third == {"7": "RUNNING"} and fifth == {"8": "UNKNOWN"}
    assert sixth == {"7": "UNKNOWN", "8": "UNKNOWN", "9": "PENDING"}


def test_a_job_that_is_tried_again_may_be_in_the_queue_though_its_submission_seemed_to_fail(monkeypatch):
    mine, other = "rule_mine_wildcards_en", "rule_mine_wildcards_fi"
    there = [("7", mine, "COMPLETING"), ("8", mine, "PENDING"), ("9", other, "RUNNING")]
    living = [squeue.Queued(number, "this run", state, comment) for number, comment, state in there]
    monkeypatch.setattr(squeue, "of_folder", lambda folder: living)
    earlier = submissions.EarlierJobs()
    assert earlier.take(mine, "this run", again=False) is None, "jobs of this run are its own"
    assert earlier.take(mine, "this run", again=True).id == "8"
    assert earlier.take("rule_mine_wildcards_te", "this run", again=True) is None


def job(**changes):
    rule = types.SimpleNamespace(name="mine", shellcmd="python -m stele pairs mine {params}")
    values = {"rule": rule, "input": ["a"], "output": ["b"], "params": [["x", "y"], 1], "resources": {"mem_mb": 1}}
    values |= {"attempt": 1}
    return types.SimpleNamespace(**values | changes)


def test_a_job_is_its_command_inputs_outputs_and_params_and_not_its_size(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert submissions.submitted(job()) is None
    submissions.note(job())
    same = [submissions.submitted(job()), submissions.content(job(resources={"mem_mb": 2}))]
    assert same == [submissions.content(job())] * 2
    others = [job(params=[["x", "z"], 1]), job(input=["c"]), job(output=["d"]), job(params=[["x"], "y", 1])]
    assert submissions.content(job()) not in {submissions.content(other) for other in others}
    assert submissions.submitted(job(output=["d"])) is None, "each output has a note of its own"


def test_two_jobs_of_a_rule_never_share_a_comment():
    """Joined by `_`, as the plugin does it, these would; and a second scale's have the same wildcards."""
    named = [("a_b", "c", "results"), ("a", "b_c", "results"), ("a", "b_c", "results_study")]
    jobs = [job(name="score", wildcards=[x, y], output=[f"{to}/{x}/{y}.json"]) for x, y, to in named]
    comments = [submissions.comment_of(one) for one in jobs]
    assert len(set(comments)) == 3 and comments == [submissions.comment_of(one) for one in jobs]
    assert [comment[:-8] for comment in comments[:2]] == ["rule_score_wildcards_a_b,c,", "rule_score_wildcards_a,b_c,"]


FAILED = "SLURM sbatch failed. The error message was '{}'.\n    sbatch call:\n        sbatch --wrap temporarily unable"
LIMIT = "sbatch: error: QOSMaxSubmitJobPerUserLimit\nsbatch: error: Batch job submission failed"
TIMED_OUT = "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation"
POLICY = "sbatch: error: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"
ACCOUNT = "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified"


@pytest.fixture
def submitting(tmp_path, monkeypatch):
    """submitting(refusals, queue=..., made=None) -> what `submit` does with a job that SLURM refuses so, in a row.

    `queue`: whether the user has jobs in the queue; `made`: the job that the first refusal made all the same.
    """
    monkeypatch.chdir(tmp_path)
    submissions._say_that_it_waits.cache_clear()

    def run(refusals, queue=False, made=None):
        seen = types.SimpleNamespace(submitted=[], pauses=[], taken=[])
        mine = squeue.Queued("8", "this run", "PENDING", submissions.comment_of(this))
        monkeypatch.setattr(squeue, "of_folder", lambda folder: [mine] if made and seen.submitted else [])
        monkeypatch.setattr(squeue, "living", lambda: ["7"] if queue else [])
        monkeypatch.setattr(squeue, "controller", lambda: None)
        monkeypatch.setattr(squeue, "pause", seen.pauses.append)
        texts = iter(refusals)

        def run_job(executor, job):
            seen.submitted.append((job.attempt, job.resources["mem_mb"]))
            executor.guessed = "account"  # as the plugin remembers things
            if (text := next(texts, None)) is not None:
                executor._report_job_error_threadsafe("info", FAILED.format(text))

        executor = types.SimpleNamespace(
            run_uuid="this run",
            slurm_logdir=tmp_path,
            logger=types.SimpleNamespace(info=lambda text: None),
            _report_job_submission_threadsafe=seen.taken.append,
        )
        plugin = types.SimpleNamespace(SubmittedJobInfo=lambda job, external_jobid, aux: external_jobid)
        seen.refusal = submissions.submit(plugin, run_job, executor, this, submissions.EarlierJobs())
        assert executor.guessed == "account"
        return seen

    this = job(name="mine", wildcards=["en"], jobid=1)
    return run


@pytest.mark.parametrize("text", [LIMIT, TIMED_OUT, "sbatch: error: Slurm temporarily unable to accept job", POLICY])
def test_a_refusal_that_passes_costs_no_attempt_and_is_told_once(submitting, capsys, text):
    seen = submitting([text] * 9, queue=True)
    assert seen.refusal is None and seen.submitted == [(1, 1)] * 10, "the same request, as the first attempt"
    assert seen.pauses == [5, 10, 20, 40, 80, 160, 300, 300, 300]
    told = capsys.readouterr().err
    assert told.count("takes no further job for now") == 1 and text.splitlines()[0] in told and "--wrap" not in told


@pytest.mark.parametrize(("text", "queue"), [(ACCOUNT, True), (ACCOUNT, False), (POLICY, False)])
def test_a_refusal_that_does_not_pass_is_told_at_once(submitting, text, queue):
    seen = submitting([text] * 9, queue=queue)
    assert text in seen.refusal and len(seen.submitted) == 1 and not seen.pauses


def test_a_limit_that_no_job_s_end_lifts_is_an_error_after_an_hour(submitting):
    seen = submitting([LIMIT] * 99)
    assert LIMIT in seen.refusal and sum(seen.pauses) == pytest.approx(3600, abs=300)


def test_a_submission_that_timed_out_and_made_a_job_is_not_repeated(submitting):
    assert submitting([TIMED_OUT], made=True).taken == ["8"]
    garbled = submitting(["No valid SLURM job ID found in: Welcome"], made=True)
    assert garbled.taken == ["8"] and garbled.refusal is None and len(garbled.submitted) == 1


def test_a_final_refusal_uses_up_all_attempts_since_further_ones_request_more(monkeypatch):
    reports = []
    monkeypatch.setattr(slurm_patches, "submit", lambda *_: "refused")
    run = slurm_patches._careful(types.SimpleNamespace(SubmittedJobInfo=lambda job: job), lambda *_: None, None)
    executor = types.SimpleNamespace(_report_job_error_threadsafe=lambda info, text: reports.append((info, text)))
    this = job(restart_times=3)
    run(executor, this)
    assert reports == [(this, "refused")] and not this.restart_times > this.attempt - 1, "Snakemake's own condition"


def test_an_interrupt_ends_what_waits_for_slurm_and_reports_nothing_of_it(monkeypatch):
    done, interrupted = [], threading.Event()
    monkeypatch.setattr(squeue, "interrupted", interrupted)
    monkeypatch.setattr(squeue, "query", lambda command, timeout: done.append(command))
    monkeypatch.setattr(slurm_patches, "submit", lambda *_: squeue.pause(PATIENCE))
    run = slurm_patches._careful(types.SimpleNamespace(SubmittedJobInfo=str), lambda *_: None, None)
    threads = ThreadPoolExecutor(max_workers=1)
    executor = types.SimpleNamespace(
        run_uuid="this run",
        _job_submission_executor=threads,
        _report_job_error_threadsafe=lambda *told: done.append(told),
    )
    submissions = [threads.submit(run, executor, job()) for _ in range(3)]
    slurm_patches._at_once(lambda self: done.append("its jobs"))(executor)
    assert submissions[0].done() and submissions[2].cancelled()
    assert done == ["its jobs", ["scancel", "--name=this run"]], "those that were submitted meanwhile too"


def workflow(arrays=None, groups=(), extra="--signal=TERM@120"):
    executor, group = types.SimpleNamespace(array_jobs=arrays), types.SimpleNamespace(overwrite_groups=groups)
    rules = [types.SimpleNamespace(resources={"slurm_extra": types.SimpleNamespace(raw=extra)})]
    return types.SimpleNamespace(executor_settings=executor, group_settings=group, basedir="/stele", rules=rules)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"arrays": "all"}, "slurm-array-jobs: all"),
        ({"extra": "--signal=TERM@120 --array=0-3"}, "slurm_extra: .*--array=0-3"),
        ({"extra": "'-a 1,2'"}, "slurm_extra: '-a 1,2'"),
        ({"groups": {"score": "eval"}}, "groups: score"),
        ({"environment": "1-9"}, "SBATCH_ARRAY_INX: 1-9"),
    ],
)
def test_what_gives_several_jobs_one_name_is_refused(monkeypatch, options, named):
    slurm_patches.refuse(workflow(extra="--account=me --nice=-a"))
    monkeypatch.setenv("SBATCH_ARRAY_INX", options.get("environment", ""))
    options.pop("environment", None)
    with pytest.raises(SteleError, match=named):
        slurm_patches.refuse(workflow(**options))


@pytest.mark.parametrize("name", ["a$HOME", "a`b", "50%", "a\\b", 'q"'])
def test_a_folder_that_sbatch_takes_for_another_is_refused(tmp_path, monkeypatch, name):
    (tmp_path / "a b{x}q'é&b").mkdir()
    monkeypatch.chdir(tmp_path / "a b{x}q'é&b")
    slurm_patches.refuse(workflow())
    (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / name)
    with pytest.raises(SteleError, match="rename the folder") as error:
        slurm_patches.refuse(workflow())
    assert name in str(error.value)
