"""The user's file of a cluster's names: every key reaches the jobs, a wrong one is named with what is meant."""

import pytest
import yaml

from stele.catalogue.schema.costs import on_gpus
from stele.cluster import resources, settings
from stele.cluster.work import FORMULAS, Work
from stele.errors import SteleError
from tests.workflow.conftest import snakemake

TARGET = "work/paper/encoders/msm/pt0/record.json"
MINE = """
partitions: {cpu: milan, gpu: accel}
account: p1234
qos: long
gpu_model: h100
gpus: {retrieve: 8}
nodes: {finetune: 2}
hours: {cpu: 2, gpu: 24}
gigabytes: {cpu: 6, gpu: 100}
"""


@pytest.fixture
def given(tmp_path, monkeypatch):
    """given(text) -> the names in a file of that text."""

    def write(text):
        path = tmp_path / f"names-{len(list(tmp_path.iterdir()))}.yaml"
        path.write_text(text)
        monkeypatch.setenv(settings.VARIABLE, str(path))
        return path

    return write


def test_the_example_has_every_key_and_says_nothing(root):
    example = settings.read(root / "profiles/slurm/cluster.example.yaml")
    assert example == settings.ClusterSettings()
    keys = yaml.safe_load((root / "profiles/slurm/cluster.example.yaml").read_text())
    assert set(keys) == set(settings.ClusterSettings.model_fields)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("partition: {cpu: a}", "unknown key 'partition'; did you mean 'partitions'?"),
        ("partitions: {gpus: a}", "unknown key 'partitions.gpus'; did you mean 'gpu'?"),
        ("hours: {cpu: -1}", "hours.cpu: Input should be greater than 0 (found -1)"),
        ("gpu_model: 'h100; rm'", "gpu_model"),
        ("gpus: {pretran: 2}", "unknown key 'gpus.pretran'; did you mean 'pretrain'?"),
        ("gpus: {project: 2}", "gpus.project: Input should be less than or equal to 1 (found 2)"),
        ("gpus: {retrieve: 1.5}", "gpus.retrieve: Input should be a valid integer (found 1.5)"),
        ("nodes: {project: 2}", "unknown key 'nodes.project'"),
        ("nodes: {pretrain: 0}", "nodes.pretrain: Input should be greater than or equal to 1 (found 0)"),
        ("setup: module load", "setup: Input should be a valid list"),
        ("a: [", "not a readable YAML file"),
    ],
)
def test_a_wrong_value_in_the_cluster_s_file_is_named_with_the_file(given, text, message):
    path = given(text)
    with pytest.raises(SteleError) as error:
        settings.read()
    assert str(path) in str(error.value) and message in str(error.value)


def test_a_file_that_the_variable_names_must_be_there(monkeypatch, tmp_path):
    monkeypatch.setenv(settings.VARIABLE, str(tmp_path / "nowhere.yaml"))
    with pytest.raises(SteleError, match=r"nowhere\.yaml, which does not exist"):
        settings.read()


def test_gpu_work_asks_for_gpus_at_the_papers_sizes_and_for_none_at_a_generated_scale(jobs, given):
    given(MINE)
    paper, generated = (resources.job_resources("pretrain", jobs(scale=scale)) for scale in ("paper", "miniature"))
    assert (paper["gpu"], paper["gpu_model"], paper["slurm_partition"]) == (4, "h100", "accel")
    assert (generated["gpu"], generated["slurm_partition"]) == (0, "milan") and "gpu_model" not in generated
    several = {"pretrain": 4, "encode_collection": 2, "retrieve": 8, "hard_negatives": 2}
    wanted = dict.fromkeys(on_gpus(), 1) | several
    assert {rule: resources.gpus(rule, jobs(scale="paper")) for rule in on_gpus()} == wanted
    one = resources.job_resources("project", jobs(scale="paper"))
    assert [one["mem_mb"](None, attempt) for attempt in (1, 2, 4)] == [32_000, 64_000, 100_000]
    msm = {"model": "msm", "pt": "0"}  # longer than the cluster allows
    assert [paper["runtime"](msm, attempt) for attempt in (1, 2)] == [24 * 60, 24 * 60]
    assert [generated["mem_mb"](None, attempt) for attempt in (1, 2)] == [4_000, 6_000]


def test_a_job_is_estimated_once_for_all_that_it_requests(jobs, monkeypatch):
    estimated, job = [], {"model": "msm", "pt": "0"}
    monkeypatch.setitem(FORMULAS, "pretrain", lambda plan, wildcards: estimated.append(wildcards.model) or Work())
    requested = resources.job_resources("pretrain", jobs(scale="paper"))
    assert requested["runtime"](job, 1) and requested["disk_mb"](job) and estimated == ["msm"]


def test_several_nodes_are_asked_for_in_the_plugin_s_other_form(jobs, given):
    """A node's GPUs as `gres`, one task a node, and no srun of the plugin's; the command line is told the same."""
    given("nodes: {pretrain: 2}\ngpus: {pretrain: 8}\ngpu_model: h100\n")
    plan = jobs(scale="paper")
    actual = resources.job_resources("pretrain", plan)
    form = {"gpus": 8, "nodes": 2, "tasks": 2, "mpi": "srun", "tasks_per_gpu": 0, "gres": "gpu:h100:8"}
    assert form.items() <= actual.items() and not {"gpu", "gpu_model"} & set(actual)
    assert resources.job_threads("pretrain", plan) == 64
    assert actual["mem_mb"](None, 1) - resources.job_resources("finetune", plan)["mem_mb"](None, 1) == 7 * 16_000


def test_a_generated_scale_uses_the_gpus_that_are_named(jobs, given, monkeypatch):
    """For rehearsals, and for small scales; on the cluster, not on the machine where one types."""
    given("gpus: {finetune: 2}\npartitions: {gpu: accel}\n")
    assert resources.job_resources("finetune", jobs(scale="miniature"))["gpus"] == 0
    monkeypatch.setenv("STELE_ON_CLUSTER", "1")
    actual = resources.job_resources("finetune", jobs(scale="miniature"))
    assert (actual["gpu"], actual["gpus"], actual["slurm_partition"]) == (2, 2, "accel")
    assert resources.job_threads("finetune", jobs(scale="miniature")) == 2
    assert resources.job_resources("pretrain", jobs(scale="miniature"))["gpus"] == 0


def test_the_names_reach_every_job_of_the_plan_and_each_asks_for_memory_and_time(fresh, given):
    path = given(MINE)
    run = snakemake(fresh, "--profile", "slurm", "-n", "-p", TARGET, STELE_CLUSTER=str(path))
    assert run.returncode == 0, run.stdout
    lines = [line for line in run.stdout.splitlines() if line.strip().startswith("resources:")]
    on_nodes = [line for line in lines if "slurm_partition" in line]
    assert any("gpu=4" in line and "gpu_model=h100" in line and "slurm_partition=accel" in line for line in on_nodes)
    assert any("slurm_partition=milan" in line and "mem_mb=6000" in line for line in on_nodes)
    assert "threads: 32" in run.stdout and not any("<TBD>" in line.partition("disk_mb")[2] for line in on_nodes)
    for line in on_nodes:
        assert all(key in line for key in ("mem_mb=", "runtime=", "slurm_account=p1234", "qos=long"))


def requests(run):
    """What each job of a plan requests, those of the same size together: a plan's order is no promise."""
    assert run.returncode == 0, run.stdout
    lines = [line.partition("resources: ")[2] for line in run.stdout.splitlines() if "resources: " in line]
    jobs = [dict(item.split("=", 1) for item in line.split(", ")) for line in lines]
    return sorted(jobs, key=lambda job: sorted(item for item in job.items() if not item[0].startswith("slurm")))


def test_a_user_s_default_resources_add_to_what_each_job_requests(fresh, given):
    """As the SLURM plugin's documentation teaches; a profile's default-resources would be replaced by them."""
    path = given("gigabytes: {cpu: 6}")
    more = {"slurm_partition": "accel", "slurm_account": "me", "slurm_extra": "--constraint=x"}
    options = ["--default-resources", *(f"{name}={value}" for name, value in more.items())]
    plans = [["--profile", "slurm", "-n", "-p", *given_options, "--", TARGET] for given_options in ([], options)]
    without, added = (requests(snakemake(fresh, *plan, STELE_CLUSTER=str(path))) for plan in plans)
    assert len(without) == len(added) > 10
    for usual, request in zip(without, added, strict=True):
        signal = usual.pop("slurm_extra")
        assert signal == ("--signal=TERM@300" if usual.get("gpu") == "4" else "--signal=TERM@120")
        assert set(request.pop("slurm_extra").split()) == {signal, "--constraint=x"} and "runtime" in usual
        assert request == {**usual, "slurm_partition": "accel", "slurm_account": "me"}
    run = snakemake(fresh, "--profile", "slurm", "-n", "-p", "--default-resources", "mem_mb=3000", "--", TARGET)
    assert {"3000", "112000"} <= {request["mem_mb"] for request in requests(run)}, "a rule's own stays"


def test_options_of_a_user_s_own_leave_a_gpu_s_job_its_time_to_save(fresh, given):
    """By `--set-resources`, which replaces what the rule has."""
    own = ["--set-resources", "pretrain:slurm_extra=--exclusive", "mine:slurm_extra=--exclusive"]
    run = snakemake(fresh, "--profile", "slurm", "-n", "-p", *own, "--", TARGET, STELE_CLUSTER=str(given("{}")))
    options = {request["slurm_extra"]: request.get("gpu") for request in requests(run)}
    assert options["--signal=TERM@300 --exclusive"] == "4" and options["--signal=TERM@120 --exclusive"] is None


def test_a_signal_of_a_user_s_own_is_that_of_all_jobs(fresh, given):
    """sbatch uses the last of equal options, which was the rule's for jobs with a GPU."""
    own = ["--default-resources", "slurm_extra=--signal=TERM@900"]
    run = snakemake(fresh, "--profile", "slurm", "-n", "-p", *own, "--", TARGET, STELE_CLUSTER=str(given("{}")))
    assert {request["slurm_extra"] for request in requests(run)} == {"--signal=TERM@900"}


def test_the_local_profile_knows_nothing_of_the_cluster_s(fresh, given):
    path = given(MINE)
    run = snakemake(fresh, "-n", "results/mrtydi/msm/zero_shot_nq.json", STELE_CLUSTER=str(path))
    assert run.returncode == 0 and "p1234" not in run.stdout and "scale miniature" in run.stdout
