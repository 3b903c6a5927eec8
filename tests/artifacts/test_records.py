"""Records: labels are inherited, circumstances do not change what a thing is."""

import json

import pytest

from stele.artifacts import records
from stele.errors import SteleError
from stele.files.atomic import digest


def write(path, **facts):
    return records.write_record(path, job="test", inputs=facts.pop("inputs", {}), clock=records.start(), **facts)


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


def test_the_same_thing_made_slower_elsewhere_has_the_same_digest(tmp_path):
    write(tmp_path / "a.json", steps=3)
    other = json.loads((tmp_path / "a.json").read_text()) | {"wall_seconds": 99, "host": "elsewhere", "device": "gpu"}
    (tmp_path / "b.json").write_text(json.dumps(other))
    assert records.content_digest(tmp_path / "a.json") == records.content_digest(tmp_path / "b.json")
    write(tmp_path / "c.json", steps=4)
    assert records.content_digest(tmp_path / "a.json") != records.content_digest(tmp_path / "c.json")


def test_content_alone_decides_where_a_record_has_it(tmp_path):
    write(tmp_path / "a.json", content="x", note="one")
    write(tmp_path / "b.json", content="x", note="two")
    assert records.content_digest(tmp_path / "a.json") == records.content_digest(tmp_path / "b.json")


@pytest.mark.parametrize("text", ["", "[1]", '{"a": '])
def test_a_damaged_record_is_named(tmp_path, text):
    path = tmp_path / "record.json"
    path.write_text(text)
    with pytest.raises(SteleError, match=r"record\.json"):
        records.read_record(path)


def test_a_record_holds_all_that_it_was_made_from(tmp_path):
    def put(name, inputs=(), **facts):
        path = tmp_path / name / "record.json"
        path.parent.mkdir()
        records.write_record(path, inputs={i.parent.name: i for i in inputs}, clock=records.start(), **facts)
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
