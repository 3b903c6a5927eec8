"""Projected sentence pairs: components as computed another way, their signs, the first 1,000 pairs."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from calibrations import drawn
from recorded import record

from stele.command import cli
from stele.encoders.calibration import load_calibration
from stele.encoders.load import load_encoder
from stele.errors import SteleError
from stele.files.digests import sha256
from stele.retrieval.project import PAIRS, principal_components

SPEC = {"pooling": "mean", "query_length": 16, "passage_length": 16}
WORDS = {
    "eng": ["river", "nile", "flows", "through", "uganda", "egypt", "who", "wrote", "first", "novel", "city"],
    "ara": ["ما", "هي", "عاصمة", "أوغندا"],
}


# --- components -------------------------------------------------------------------------------------------------------
@pytest.fixture
def vectors() -> np.ndarray:
    rng = np.random.default_rng(3)
    return (rng.normal(size=(200, 7)) * [5, 3, 2, 1, 1, 0.5, 0.1] + rng.normal(size=7)).astype(np.float32)


def test_the_axes_of_a_projection_are_the_eigenvectors_of_the_covariance(vectors):
    points, shares = principal_components(vectors)
    values, axes = np.linalg.eigh(np.cov(vectors.astype(np.float64), rowvar=False))
    axes = axes[:, [-1, -2]]
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])  # the largest loading is positive
    expected = (vectors - vectors.mean(axis=0, dtype=np.float64)) @ axes
    np.testing.assert_allclose(points, expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(shares, values[[-1, -2]] / values.sum(), rtol=1e-9)


def test_vectors_that_have_no_two_directions_are_refused(vectors):
    line = np.arange(20)[:, None] * np.ones((1, 3))
    for flat in (np.ones((5, 3)), line, vectors[:1], vectors[:, :1]):
        with pytest.raises(SteleError, match="do not spread over 2 directions"):
            principal_components(flat)
    vectors[4, 2] = np.nan
    with pytest.raises(SteleError, match="vector 4 of 200 is not finite"):
        principal_components(vectors)


# --- the command ------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def pairs(tmp_path_factory) -> Path:
    """More pairs than are projected."""
    folder, rng = tmp_path_factory.mktemp("tatoeba"), np.random.default_rng(1)
    for code, words in WORDS.items():
        lines = [" ".join(rng.choice(words, 1 + n % 6)) for n in range(PAIRS + 30)]
        (folder / f"tatoeba.ara-eng.{code}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return record(folder, content="pairs", labels=["generated data"])


def project(encoder: Path, pairs: Path, output: Path, language: str = "ar", *more: str) -> int:
    line = ["--language", language, "--encoder", str(encoder), "--encoding", json.dumps(SPEC), "--threads", "1", *more]
    return cli.main(["retrieval", "project", *line, "--data", f"tatoeba:all={pairs}", "--output", str(output)])


def test_the_first_pairs_of_the_file_are_projected_together(encoder, pairs, tmp_path):
    out = tmp_path / "projection_ar.csv"
    assert project(encoder, pairs, out) == 0
    with open(out, encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert list(rows[0]) == ["line", "language", "x", "y"]
    places = [(line, language) for language in ("en", "ar") for line in range(PAIRS)]
    assert [(int(row["line"]), row["language"]) for row in rows] == places
    lines = [(pairs.parent / f"tatoeba.ara-eng.{c}").read_text(encoding="utf-8").splitlines()[:PAIRS] for c in WORDS]
    texts = [line for side in lines for line in side]
    expected, _ = principal_components(load_encoder(encoder.parent, SPEC).encode(texts, "query"))
    actual = np.array([(float(row["x"]), float(row["y"])) for row in rows])
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
    written = json.loads(out.with_suffix(".json").read_text())
    assert written["labels"] == ["generated data", "stand-in checkpoint"]
    assert (written["job"], written["language"], written["pairs"]) == ("project", "ar", PAIRS)
    assert written["content"] == sha256(out) and set(written["inputs"]) == {"encoder", "tatoeba:all"}
    assert written["encoding"]["pooling"] == "mean"
    first, second = written["explained"]
    assert 1 > first > second > 0


def test_calibrated_sides_are_projected_as_they_are_compared(encoder, pairs, tmp_path):
    learnt, out = drawn(tmp_path / "calibration", encoder, SPEC, ["en", "ar"], ["ar-en"]), tmp_path / "p.csv"
    assert project(encoder, pairs, out, "ar", "--calibration", str(learnt), "--operation", "calibrated") == 0
    own = load_encoder(encoder.parent, SPEC)
    calibration, both = load_calibration(learnt, encoder, own.spec), []
    for language, code in (("en", "eng"), ("ar", "ara")):
        lines = (pairs.parent / f"tatoeba.ara-eng.{code}").read_text(encoding="utf-8").splitlines()[:PAIRS]
        both.append(calibration.apply(own.encode(lines, "query"), "calibrated", language, "ar-en"))
    expected, _ = principal_components(np.concatenate(both))
    with open(out, encoding="utf-8", newline="") as handle:
        actual = np.array([(float(row["x"]), float(row["y"])) for row in csv.DictReader(handle)])
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
    written = json.loads(out.with_suffix(".json").read_text())
    assert written["operation"] == "calibrated" and set(written["inputs"]) == {"encoder", "calibration", "tatoeba:all"}


def test_vectors_that_cannot_be_projected_leave_no_output(encoder, pairs, tmp_path, capsys):
    out = tmp_path / "p.csv"
    for language, message in (("en", "pairs English with other languages"), ("sw", "no file tatoeba.swh-eng.swh")):
        assert project(encoder, pairs, out, language) == 1
        assert message in capsys.readouterr().err
    short = tmp_path / "short"
    short.mkdir()
    (short / "tatoeba.ara-eng.ara").write_text("a\nb\n")
    (short / "tatoeba.ara-eng.eng").write_text("a\n")
    assert project(encoder, record(short, content="short"), out) == 1
    assert "translations line by line" in capsys.readouterr().err
    assert not out.exists() and not out.with_suffix(".json").exists()
