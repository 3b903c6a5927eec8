"""Curves of losses: drawn by the tests of that alone, since a picture takes longer than a small training."""

import pytest

from stele.training import curve

DRAW = curve.draw


def _empty(path, rows, title):
    for kind in (".png", ".pdf"):
        path.with_suffix(kind).write_bytes(b"")


@pytest.fixture(scope="session", autouse=True)
def undrawn():
    """Trainings write empty pictures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(curve, "draw", _empty)
        yield


@pytest.fixture
def drawn(monkeypatch):
    """Trainings of this test draw their curves."""
    monkeypatch.setattr(curve, "draw", DRAW)
