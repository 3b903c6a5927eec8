"""Jobs that end badly come back with more memory and time, to the same bytes; what cannot run is said beforehand."""

import pytest

from tests.cluster.conftest import change, wait_for

DOCUMENTS = [f"work/tiny/documents/cc100/{part}/record.json" for part in ("en", "ru", "te")]
FIRST_TRY = """    clock = records.start()
    import os, signal, time

    first = not os.path.exists(f"tried-{args.language}")
    open(f"tried-{args.language}", "w").close()
    if first and args.language == "en":
        raise MemoryError("too little for it")
    if first:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
"""


def documents(project):
    return {path.name: path.read_bytes() for path in (project / "work/tiny/documents").rglob("shard*.parquet")}


@pytest.mark.slow
def test_failed_cancelled_and_out_of_time_jobs_are_tried_again_with_more(cluster, here, built, drive):
    """At once: one fails for want of memory, one is cancelled by somebody, one does not end before its limit.

    That one is above two minutes: below, the notice of the limit would come before the command can ignore it.
    """
    change(built / "src/stele/corpora/cc100.py", "    clock = records.start()\n", FIRST_TRY)
    driver = drive(built, "--set-resources", "cc100:runtime=5*attempt-2", "--", *DOCUMENTS)

    def tries(part):
        return [job for job in cluster.jobs(rule="cc100", folder=built) if job["comment"].endswith(f"_{part}")]

    wait_for(lambda: (built / "tried-ru").exists(), what="the job to cancel")
    cluster.run("scancel", tries("ru")[0]["id"])
    assert driver.end() == 0, driver.said[-6000:]
    states = {part: [job["state"] for job in tries(part)] for part in ("en", "ru", "te")}
    assert states == {
        part: [state, "COMPLETED"] for part, state in {"en": "FAILED", "ru": "CANCELLED", "te": "TIMEOUT"}.items()
    }
    for part in states:
        before, after = tries(part)
        assert (before["memory"], after["memory"]) == ("8000M", "16000M")
        assert (before["limit"], after["limit"]) == ("3:00", "8:00")
    assert documents(built) == documents(here)
    assert "too little for it" in driver.said, "the failed job's own log is shown"


def test_what_the_cluster_has_not_is_said_at_once_before_anything_is_submitted(cluster, built, drive):
    names = built / "cluster.yaml"
    names.write_text("partitions: {cpu: gpus, gpu: gpu}\ngpu_model: h100\n")
    change(
        built / "src/stele/corpora/cc100.py", "    clock = records.start()\n", "    clock = records.start()\n    1\n"
    )
    resources = ["--set-resources", "pretrain:gpu=3", "pretrain:slurm_partition=gpu", "pretrain:mem_mb=99999"]
    driver = drive(built, *resources, "--", "results/tables/msm/table_10.md")
    assert driver.end() == 1
    said = driver.said
    assert "no partition 'gpus' (did you mean 'gpu'?); there are cpu, gpu, urgent" in said
    assert "partition gpu has no node with 3 GPUs" in said and "99999 MB" in said
    assert "cluster.yaml" in said and "submitted with" not in said
    names.write_text("partition: {cpu: gpus}\n")
    driver = drive(built, "--", "results/tables/msm/table_10.md")
    assert driver.end() == 1
    assert "cluster.yaml: partition: unknown key; did you mean 'partitions'?" in driver.said
