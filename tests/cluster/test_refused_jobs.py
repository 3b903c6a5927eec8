"""What the cluster has not is said, all at once, before anything is submitted."""

from tests.cluster.edits import before


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
