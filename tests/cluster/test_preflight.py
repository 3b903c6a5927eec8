"""What a cluster lacks for jobs is found in what `sinfo` says of it."""

import pytest

from stele.cluster.preflight import gpus, lacks, minutes, nodes

SINFO = """\
short*|4:00:00|64|256000|(null)|100
accel|2-00:00:00|32|512000|gpu:h100:4(S:0-1)|8
accel|2-00:00:00|32|1024000+|gpu:a100:8|2
endless|infinite|16|64000|nvme:1|1
"""


@pytest.mark.parametrize(
    ("resources", "threads", "problem"),
    [
        ({"mem_mb": 8000, "runtime": 240}, 8, None),
        ({"slurm_partition": "accel", "gpu": 8, "nodes": 1, "runtime": 2880}, 8, None),
        ({"slurm_partition": "accel", "gpu": 8, "nodes": 2, "gpu_model": "h100"}, 8, None),
        ({"slurm_partition": "endless", "runtime": 10**6}, 8, None),
        ({"slurm_partition": "short,accel", "gpu": 4}, 8, None),
        (
            {"slurm_partition": "accel", "gpu": 8, "nodes": 1, "gpu_model": "h100"},
            8,
            "no node with 8 GPUs of model h100",
        ),
        ({"gpu": 1}, 8, "partition short has no node with 1 GPUs; partitions with such GPUs: accel"),
        ({"slurm_partition": "accell"}, 8, "no partition 'accell' (did you mean 'accel'?)"),
        ({"runtime": 300}, 8, "ends jobs after 4 hours: give hours.cpu: 4"),
        ({"mem_mb": 300_000}, 8, "no node with 300000 MB"),
        ({}, 65, "no node with 65 CPUs"),
    ],
)
def test_what_is_missing_is_named_with_the_way_out(resources, threads, problem):
    found = lacks(resources, threads, nodes(SINFO))
    assert (found == []) if problem is None else (len(found) == 1 and problem in found[0]), found


def test_a_cluster_without_a_default_partition_wants_a_name():
    (found,) = lacks({"gpu": 1}, 1, nodes(SINFO.replace("*", "")))
    assert "name one as partitions.gpu; there are accel, endless, short" in found


def test_sinfo_s_words_are_read():
    assert [minutes(text) for text in ("2-00:00:00", "1:30:00", "10:00", "30", "infinite")] == [2880, 90, 10, 0.5, None]
    assert gpus("gpu:h100:4(S:0-1),gpu:a100:2,nvme:1") == {"h100": 4, "a100": 2}
    assert gpus("gpu:2") == {"": 2} and gpus("gpu") == {"": 1} and gpus("(null)") == {}
