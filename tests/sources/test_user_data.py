"""A user's own folder: what is found in it, whether it changed, and the real LAReQA and Tatoeba files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from stele import cli
from stele.catalogue import datasets, user_data

REAL = os.environ.get("STELE_REAL_DATA")
real_data = pytest.mark.skipif(not REAL, reason="STELE_REAL_DATA names no folder with real data")


def test_a_digest_sees_content_names_and_sizes_but_not_places(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name / "x").mkdir(parents=True)
        (tmp_path / name / "x" / "a.txt").write_text("text")
    first = user_data.sampled_digest(tmp_path / "one")
    assert user_data.sampled_digest(tmp_path / "two") == first
    (tmp_path / "two" / "x" / "a.txt").write_text("Text")
    assert user_data.sampled_digest(tmp_path / "two") != first
    (tmp_path / "one" / "b.txt").write_text("more")
    assert user_data.sampled_digest(tmp_path / "one") != first
    assert user_data.sampled_digest(tmp_path / "one", ["x/a.txt"]) == first


def test_large_files_are_read_at_both_ends_only(tmp_path, monkeypatch):
    monkeypatch.setattr(user_data, "WHOLE", 1000)
    monkeypatch.setattr(user_data, "SAMPLE", 100)
    path = tmp_path / "large"

    def digest_with(position):
        content = bytearray(5000)
        if position is not None:
            content[position] = 1
        path.write_bytes(content)
        return user_data.sampled_digest(tmp_path)

    plain = digest_with(None)
    assert digest_with(99) != plain and digest_with(4900) != plain
    assert digest_with(2500) == plain
    path.write_bytes(bytes(5001))
    assert user_data.sampled_digest(tmp_path) != plain


@real_data
@pytest.mark.parametrize("base", ["lareqa_xquad_r", "lareqa_xquad_r/xquad-r"])
def test_real_lareqa_verifies(tmp_path, base):
    record = _bring(tmp_path, datasets.resolve("lareqa", "all", ["en"]), Path(REAL, base))
    assert record["origin"] == "real" and record["labels"] == []
    assert record["counts"]["questions"]["all"] == 13_090 and record["counts"]["candidates"]["all"] == 13_014
    assert all(facts["verified"] == "catalogue" for facts in record["files"].values()) and len(record["files"]) == 11


@real_data
def test_real_tatoeba_verifies(tmp_path):
    record = _bring(tmp_path, datasets.resolve("tatoeba", "all"), Path(REAL, "tatoeba_v1"))
    assert record["counts"]["pairs"]["all"] == 88_877 and len(record["files"]) == 224
    assert record["counts"]["pairs"]["swh"] == 390


@real_data
def test_real_punkt_and_xor_verify(tmp_path):
    record = _bring(tmp_path, datasets.resolve("nltk_punkt", "all"), Path(REAL, "nltk_punkt_tab"))
    assert record["counts"] == {"abbreviations": 156, "collocations": 37, "sentence_starters": 39}
    record = _bring(tmp_path / "xor", datasets.resolve("xor_tydi", "all"), Path(REAL, "xor_tydi"))
    assert record["counts"] == {"train": 15_250, "dev": 2_110}


@real_data
def test_a_damaged_copy_of_real_data_is_refused(tmp_path, capsys):
    (copy := tmp_path / "copy").mkdir()
    for path in Path(REAL, "lareqa_xquad_r", "xquad-r").iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    text = (copy / "th.json").read_bytes()
    (copy / "th.json").write_bytes(text.replace(b"0", b"1", 1))
    assert _run(tmp_path, datasets.resolve("lareqa", "all"), copy) == 1
    said = capsys.readouterr().err
    assert "th.json" in said and "sha256" in said


def _bring(tmp_path: Path, source: dict, folder: Path) -> dict:
    assert _run(tmp_path, source, folder) == 0
    return json.loads((tmp_path / "out" / "all" / "record.json").read_text())


def _run(tmp_path: Path, source: dict, folder: Path) -> int:
    where = ["--user-data", str(folder), "--state", str(tmp_path / "state")]
    where += ["--output", str(tmp_path / "out" / "all" / "record.json"), "--offline"]
    name = source["dataset"]
    return cli.main(["sources", "dataset", "--dataset", name, "--part", "all", "--source", json.dumps(source), *where])
