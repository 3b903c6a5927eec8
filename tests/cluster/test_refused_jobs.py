"""What SLURM, or a run itself, refuses: before anything is submitted, for now, for good."""

import shutil

import pytest

from tests.cluster.edits import before

DOCUMENTS = "work/tiny/documents/cc100/te/record.json"
# in place of sbatch: refuses so many times, then submits
SBATCH = """#!/bin/bash
echo >> {folder}/calls
if [ $(wc -l < {folder}/calls) -le {times} ]; then
  echo "sbatch: error: {reason}" >&2
  echo "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy" >&2
  exit 1
fi
exec {sbatch} "$@"
"""


def test_what_the_cluster_has_not_is_said_at_once_before_anything_is_submitted(cluster, built, drive):
    names = built / "cluster.yaml"
    names.write_text("partitions: {cpu: gpus, gpu: gpu}\ngpu_model: h100\n")
    before(built / "src/stele/corpora/cc100.py", "pass")
    resources = ["--set-resources", "pretrain:gpu=3", "pretrain:slurm_partition=gpu", "pretrain:mem_mb=99999"]
    driver = drive(built, *resources, "--", "results/tables/msm/table_10.md")
    assert driver.end() == 1
    message = driver.output
    assert "no partition 'gpus' (did you mean 'gpu'?); there are cpu, gpu, urgent" in message
    assert "partition gpu has no node with 3 GPUs" in message and "99999 MB" in message
    assert "cluster.yaml" in message and "submitted with" not in message
    names.write_text("partition: {cpu: gpus}\n")
    driver = drive(built, "--", "results/tables/msm/table_10.md")
    assert driver.end() == 1
    assert "cluster.yaml: unknown key 'partition'; did you mean 'partitions'?" in driver.output


@pytest.mark.parametrize("where", ["command line", "profile"])
def test_job_arrays_are_refused_before_anything_is_submitted(cluster, built, drive, where):
    shutil.rmtree((built / DOCUMENTS).parent)
    if where == "profile":
        profile = built / "profiles/slurm/config.v9+.yaml"
        profile.write_text(profile.read_text() + "slurm-array-jobs: cc100\n")
    options = ["--slurm-array-jobs", "cc100"] if where == "command line" else []
    driver = drive(built, *options, "--", DOCUMENTS)
    assert driver.end() == 1
    assert "slurm-array-jobs: cc100: leave this out" in driver.output and "Traceback" not in driver.output
    assert not cluster.jobs(folder=built)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reason", "times", "calls"), [("QOSMaxSubmitJobPerUserLimit", 2, 3), ("Invalid account", 99, 1)]
)
def test_a_refusal_for_now_costs_no_attempt_and_one_for_good_is_no_second_one(
    cluster, built, drive, tmp_path, reason, times, calls
):
    built = built.rename(tmp_path / "a b {x} & 'é")  # nodes too find folders of any name, but for what is refused
    shutil.rmtree((built / DOCUMENTS).parent)
    fake, real = cluster.folder / "bin/sbatch", shutil.which("sbatch")
    fake.write_text(SBATCH.format(folder=tmp_path, times=times, reason=reason, sbatch=real))
    fake.chmod(0o755)
    try:
        driver = drive(built, "--", DOCUMENTS)
        assert driver.end() == (times > 2), driver.output[-3000:]
    finally:
        fake.unlink()
    assert len((tmp_path / "calls").read_text().splitlines()) == calls
    assert driver.output.count("takes no further job for now") == (times <= 2) and reason in driver.output
    # memory grows with each attempt
    assert [job["memory"] for job in cluster.jobs(rule="cc100", folder=built)] == ["8000M"] * (times <= 2)
