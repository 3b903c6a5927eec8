"""Room on disks and in quotas, and places to download from: with a `quota` and a server of the tests' own."""

import http.server
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from stele.cluster import preflight
from stele.cluster.requests import JobRequest
from stele.cluster.work import Work
from stele.config.model import parse_config
from stele.plan.plan import Plan

GB = 10**9


def job(rule="mine", output="work/paper/x.json", work=None, **wildcards):
    return JobRequest(
        "pairs", rule, wildcards, f"logs/paper/{rule}/{'.'.join(wildcards.values())}.log", (output,), 1, {}, work=work
    )


# --- disks ------------------------------------------------------------------------------------------------------------
@pytest.fixture
def free(monkeypatch):
    """free(bytes): every disk has so many free; no quota."""

    def have(size, quota=None):
        monkeypatch.setattr(preflight.shutil, "disk_usage", lambda path: SimpleNamespace(free=size))
        monkeypatch.setattr(preflight, "_left_of_quotas", lambda: quota or {})

    return have


def test_what_is_kept_adds_up_and_the_largest_of_what_lies_beside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jobs = [
        job(work=Work(kept=2 * GB, temporary=5 * GB)),
        job(output="results/x.json", work=Work(kept=GB, temporary=3 * GB)),
    ]
    (size,) = preflight.needed([*jobs, job()]).values()  # one file system
    assert size == 8 * GB
    (at,) = preflight.needed(jobs)
    assert tmp_path.is_relative_to(at) and at.is_mount()


def test_what_lies_behind_a_link_counts_where_the_link_leads(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("work").mkdir()
    Path("work/paper").symlink_to("/proc/stele")
    ((at, size),) = preflight.needed([job(work=Work(kept=GB))]).items()
    assert (at, size) == (Path("/proc"), GB)


def test_what_cannot_fit_is_told_from_what_may_not(free, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jobs = [job(work=Work(kept=20 * GB))]
    for size, expected in ((21 * GB, (0, 0)), (10 * GB, (0, 1)), (6 * GB, (1, 0))):
        free(size)
        assert tuple(map(len, preflight.disk_problems(jobs))) == expected
    (at,) = preflight.needed(jobs)
    free(100 * GB, {at: 3 * GB})
    ((line,), _) = preflight.disk_problems(jobs)
    assert "keeps about 20.0 GB there, and 3.0 GB are left of your quota: free some space" in line
    free(100 * GB, {Path("/elsewhere"): 0})
    assert preflight.disk_problems(jobs) == ([], [])
    free(0)
    ((line,), _) = preflight.disk_problems([job(work=Work(kept=2e6))])
    assert "keeps about 2 MB there, and 0 MB are free" in line


def test_quota_s_own_words_are_read(tmp_path, monkeypatch):
    (tmp_path / "quota").write_text(
        "#!/bin/sh\n"
        'case "$*" in *--show-mntpoint*--hide-device*) ;; *) exit 1;; esac\n'
        "echo 'Disk quotas for user ada (uid 1000): '\n"
        "echo '     Filesystem  blocks   quota   limit   grace   files   quota   limit   grace'\n"
        "echo '           /home 1048576* 1000000 2097152 1700000000     123       0       0       0'\n"
        "echo '           /data  123456       0       0       0      12       0       0       0'\n"
        "exit 1  # over the soft limit\n"
    )
    (tmp_path / "quota").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert preflight._left_of_quotas() == {Path("/home"): 1024 * 1048576}
    (tmp_path / "quota").write_text("#!/bin/sh\necho 'quota: Mountpoint not found' >&2; exit 1\n")
    assert preflight._left_of_quotas() == {}
    (tmp_path / "quota").unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert preflight._left_of_quotas() == {}


# --- places -----------------------------------------------------------------------------------------------------------
class Refuses(http.server.BaseHTTPRequestHandler):
    """A server that is there and has nothing."""

    def log_message(self, *arguments):
        pass

    def do_HEAD(self):
        self.send_error(403)


@pytest.fixture(scope="module")
def server():
    """(address of a server, address where nobody listens)."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refuses) as there:
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refuses) as gone:
            closed = f"http://127.0.0.1:{gone.server_port}"
        threading.Thread(target=there.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{there.server_port}", closed
        there.shutdown()


@pytest.fixture
def lacking():
    """lacking(jobs, key=value...) -> what reach.lacks says at the papers' sizes."""
    return lambda jobs, **values: preflight.network_problems(Plan(parse_config({"scale": "paper", **values})), jobs)


CC100 = [job("dataset", dataset="cc100", part=part) for part in ("sw", "th")]
XLMR = job("checkpoint", model="xlmr")


def test_an_answer_of_any_kind_is_one(server):
    there, gone = server
    assert preflight.unanswered({"there": f"{there}/x", "gone": f"{gone}/x"}) == {"gone": "ConnectionError"}


def test_a_host_is_asked_once_and_named_with_what_needs_it(lacking, monkeypatch):
    requests = []
    monkeypatch.setattr(
        preflight, "unanswered", lambda urls: requests.append(dict(urls)) or {"data.statmt.org": "Timeout"}
    )
    actual = lacking([*CC100, XLMR, job("score", benchmark="nq")])
    assert [sorted(urls) for urls in requests] == [["data.statmt.org", "huggingface.co"]]
    (line,) = actual
    assert line == "no answer from data.statmt.org (Timeout); jobs affected: 2 (dataset cc100.sw, dataset cc100.th)"
    assert actual[line] == [job.log for job in CC100]


def test_one_of_several_equally_good_hosts_is_enough(lacking, monkeypatch):
    dumps = [job("dataset", dataset="wikipedia", part="sw")]
    monkeypatch.setattr(preflight, "unanswered", lambda urls: {"dumps.wikimedia.org": "Timeout"})
    assert lacking(dumps) == {}
    monkeypatch.setattr(preflight, "unanswered", lambda urls: dict.fromkeys(urls, "Timeout"))
    assert "dumps.wikimedia.org (Timeout), archive.org (Timeout); jobs affected: 1" in next(iter(lacking(dumps)))


def test_a_mirror_that_answers_stands_for_the_network(lacking, server, monkeypatch):
    there, gone = server
    assert lacking(CC100, mirrors=[there], offline=True) == {}
    (line,) = lacking(CC100, mirrors=[gone], offline=True)
    assert line.startswith(f"no answer from {gone.removeprefix('http://')} (ConnectionError); jobs affected: 2")


def test_folders_are_looked_into(lacking, tmp_path, monkeypatch):
    path = tmp_path / "data.statmt.org/cc-100/sw.txt.xz"
    path.parent.mkdir(parents=True)
    path.touch()
    monkeypatch.setattr(preflight, "unanswered", lambda urls: pytest.fail("nobody is asked") if urls else {})
    assert lacking(CC100[:1], mirrors=[str(tmp_path)]) == {}
    (line,) = actual = lacking(CC100, mirrors=[str(tmp_path)], offline=True)
    assert line == "not in any mirror, and the network is off (offline: true); jobs affected: 1 (dataset cc100.th)"
    assert actual[line] == [CC100[1].log]
    actual = lacking(CC100, mirrors=[str(tmp_path / "none")], offline=True)
    assert f"mirrors: {tmp_path}/none is not a folder" in actual and len(actual) == 2


def test_what_the_user_gives_or_the_world_makes_is_not_fetched(lacking, tmp_path, monkeypatch):
    monkeypatch.setattr(preflight, "unanswered", lambda urls: pytest.fail("nobody is asked"))
    assert lacking(CC100, user_data={"cc100": str(tmp_path)}) == {}
    assert lacking([*CC100, XLMR], scale="miniature") == {}
    assert lacking([XLMR], models={"xlmr": {"checkpoint": str(tmp_path)}}) == {}
