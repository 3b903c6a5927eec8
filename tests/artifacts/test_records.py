"""Records: labels are inherited, circumstances do not change what a thing is."""

import json
import subprocess

import pytest

from stele.artifacts import records
from stele.artifacts.results import read_result
from stele.command import cli
from stele.errors import Damaged
from stele.files.digests import digest
from tests.sealed import write_sealed


def write(path, **facts):
    records.write_record(path, job="test", inputs=facts.pop("inputs", {}), **facts)
    return json.loads(path.read_text())


def test_the_commit_of_changed_code_ends_in_a_plus(tmp_path, monkeypatch):
    code = tmp_path / "src/stele/artifacts/records.py"
    monkeypatch.setattr(records, "__file__", str(code))
    assert records._commit() is None
    code.parent.mkdir(parents=True)
    code.write_text("")
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@x", "-C", str(tmp_path)]
    for line in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "x"], ["tag", "-m", "x", "v1"]):
        subprocess.run([*git, *line], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    (tmp_path / "untracked").touch()
    assert records._commit() == head
    code.write_text("changed")
    assert records._commit() == f"{head}+"


def test_labels_come_down_from_all_inputs(tmp_path):
    write(tmp_path / "data.json", labels=[records.GENERATED])
    write(tmp_path / "model.json", labels=[records.STAND_IN])
    write(tmp_path / "clean.json")
    inputs = {name: tmp_path / f"{name}.json" for name in ("data", "model", "clean")}
    assert write(tmp_path / "out.json", inputs=inputs)["labels"] == ["generated data", "stand-in checkpoint"]
    assert write(tmp_path / "real.json", inputs={"clean": tmp_path / "clean.json"})["labels"] == []


def test_a_diverged_pretraining_is_known_to_all_that_is_made_from_it(tmp_path):
    """Its fine-tuning, and a pretraining that goes on from it; not a model beside it."""

    def put(name, *inputs, **facts):
        write(tmp_path / f"{name}.json", content=name, inputs={i.stem: i for i in inputs}, **facts)
        return tmp_path / f"{name}.json"

    base = put("base")
    wrecked = put("wrecked", base, model="ccp", diverged="cosine .99", labels=[records.DIVERGED])
    healthy = put("healthy", base, model="msm", diverged=None)
    later = put("later", wrecked, model="later", diverged=None)
    assert records.divergence([put("of_wrecked", put("tuned", wrecked))]) == "ccp: cosine .99"
    assert records.divergence([put("of_later", later), healthy]) == "ccp: cosine .99"
    assert records.divergence([put("of_healthy", healthy)]) is None
    assert records.read_record(tmp_path / "of_later.json")["labels"] == ["diverged pretraining"]


def test_a_record_holds_all_that_it_was_made_from(tmp_path):
    def put(name, inputs=(), **facts):
        path = tmp_path / name / "record.json"
        path.parent.mkdir()
        records.write_record(path, inputs={i.parent.name: i for i in inputs}, **facts)
        return path

    data = put("data", job="sources dataset", dataset="cc100", part="sw", content="d", files={"a": "left out"})
    base = put("base", job="sources checkpoint", model="xlmr", content="b")
    encoder = put("encoder", [data, base], job="pretrain", model="msm", seed=3, recipe={"steps": 2}, content="e")
    result = put("result", [encoder, base], job="score", content="r")
    ancestry = json.loads(result.read_text())["ancestry"]
    assert sorted(one["job"] for one in ancestry.values()) == ["pretrain", "sources checkpoint", "sources dataset"]
    # the way back is by digests
    made = ancestry[records.content_digest(encoder)]
    assert (made["model"], made["seed"], made["recipe"]) == ("msm", 3, {"steps": 2})
    assert ancestry[made["inputs"]["data"]]["dataset"] == "cc100"
    assert not any({"files", "wall_seconds", "host", "device"} & one.keys() for one in ancestry.values())
    # and what a thing is does not depend on how its ancestors are described
    assert records.content_digest(result) == digest("r")


def sealed_record(folder):
    """A record of a trained model on generated data with a stand-in checkpoint, as the writer writes it."""
    path = folder / "record.json"
    labels = [records.GENERATED, records.STAND_IN]
    write(
        path, labels=labels, content="c", searches={"sw": {"runs": 3}}, steps=10, sizes=(1, 2), by_step={10: 1.5, 9: 2}
    )
    return path


@pytest.mark.parametrize(
    "change",
    [
        lambda record: {},
        lambda record: {**record, "labels": []},
        lambda record: {**record, "content": "d"},
        lambda record: {**record, "searches": {"sx": {"runs": 3}}},
        lambda record: {**record, "steps": 10.5},
        lambda record: {**record, "wall_seconds": 1e9},
        lambda record: {**record, "more": None},
        lambda record: {**record, "digest": None},
        lambda record: {**record, "digest": "0" * 16},
        *(lambda record, key=key: {k: v for k, v in record.items() if k != key}
          for key in ("job", "labels", "content", "inputs", "ancestry", "searches", "digest")),
    ],
)  # fmt: skip
def test_a_record_that_was_changed_anywhere_is_an_error_where_it_is_read(tmp_path, change):
    path = sealed_record(tmp_path)
    whole = json.loads(path.read_text())
    path.write_text(json.dumps(whole, indent=4))  # another layout is no other record
    assert records.read_record(path)["labels"] == ["generated data", "stand-in checkpoint"]
    path.write_text(json.dumps(change(whole)))
    for read in (records.read_record, records.content_digest, lambda p: records.ancestry_of([p])):
        with pytest.raises(Damaged, match=r"record\.json: .*rebuild with `snakemake --force"):
            read(path)
    with pytest.raises(Damaged, match=r"record\.json"):
        write(tmp_path / "next.json", inputs={"encoder": path})
    assert not (tmp_path / "next.json").exists()


def test_the_digest_of_a_record_is_no_content(tmp_path):
    """Else a slower machine would make another thing, and what was built would be built again."""
    path = sealed_record(tmp_path)
    record = json.loads(path.read_text())
    facts = {key: value for key, value in record.items() if key not in (*records.CIRCUMSTANCES, records.ANCESTRY)}
    assert "digest" not in facts and records.content_digest(path) == digest("c")
    write(tmp_path / "without.json", steps=3)
    plain = {"job": "test", "inputs": {}, "labels": [], "steps": 3, "threads": facts["threads"]}
    assert records.content_digest(tmp_path / "without.json") == digest(plain)


def test_what_a_user_says_of_data_of_their_own_is_read_and_labelled_for_good(tmp_path):
    path = tmp_path / "record.json"
    path.write_text(json.dumps({"job": "sources dataset", "labels": []}))
    write(tmp_path / "out.json", inputs={"dataset": path})
    assert write(tmp_path / "later.json", inputs={"made": tmp_path / "out.json"})["labels"] == ["record without digest"]
    of_jobs = [{"content": "c"}, {"metrics": {}}, {"encoding": {}}, {"job": "pretrain"}, {"job": "sources checkpoint"}]
    for changes in of_jobs:
        path.write_text(json.dumps({"job": "sources dataset", "labels": [], **changes}))
        with pytest.raises(Damaged, match="no digest of itself"):
            records.read_record(path)


def test_results_of_an_earlier_version_are_read_as_their_manifest_has_them(tmp_path, capsys):
    metrics = {"mrr@100": {"languages": {"sw": 0.5}}}
    facts = {
        "job": "score",
        "benchmark": "mrtydi",
        "model": "msm",
        "setting": "direct",
        "metrics": metrics,
        "labels": [],
    }
    path = tmp_path / "mrtydi/msm/direct.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(facts | {"content": digest(metrics), "intervals": {"low": 0.1}}))
    command = ["tables", "manifest", "--results-dir", str(tmp_path)]
    with pytest.raises(Damaged, match="no digest of itself"):
        read_result(path)
    assert cli.main(command) == 0
    assert read_result(path).model == "msm" and records.read_record(path)["intervals"] == {"low": 0.1}
    text = path.read_text()
    path.write_text(text.replace("0.1", "0.4"))
    for read in (read_result, records.read_record):
        with pytest.raises(Damaged, match="no digest of itself"):
            read(path)
    path.write_text(text)
    manifest = tmp_path / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"labels": []', '"labels": ["x"]'))
    with pytest.raises(Damaged, match="no digest of itself"):
        read_result(path)


def test_a_result_without_its_content_or_with_another_interval_is_an_error(tmp_path):
    metrics = {"mrr@100": {"languages": {"sw": 0.5}}}
    facts = {"benchmark": "mrtydi", "model": "msm", "setting": "direct", "metrics": metrics, "intervals": {"low": 0.1}}
    write(path := tmp_path / "direct.json", content=digest(metrics), **facts)
    assert read_result(path).labels == []
    for old, new in (
        ('"low": 0.1', '"low": 0.2'),
        ('"labels": []', '"labels": ["limited"]'),
        (digest(metrics), "0" * 16),
    ):
        write(path, content=digest(metrics), **facts)
        path.write_text(path.read_text().replace(old, new))
        with pytest.raises(Damaged, match=r"direct\.json: (not as it was written|its values are not)"):
            read_result(path)
    write_sealed(path, {**facts, "content": None})
    with pytest.raises(Damaged, match="values"):
        read_result(path)
