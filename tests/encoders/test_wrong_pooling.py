"""Each family of today's encoders with another pooling gives other vectors, and its settings alone let it pass."""

import json
import shutil

import pytest
from test_todays_families import FAMILIES, PASSAGES, QUERIES, distance, made

from stele.encoders.load import load_encoder
from stele.sources.weights.checkpoint_checks import check_settings

MODES = {"cls": "cls", "mean": "mean", "last": "lasttoken"}  # ours, and how folders call it


@pytest.fixture(scope="module", params=FAMILIES)
def family(request, tmp_path_factory):
    """(folder, the encoding that is wanted of it)."""
    folder, _, wanted, *_ = made(tmp_path_factory.mktemp(request.param), request.param)
    return folder, wanted


@pytest.mark.parametrize("other", MODES)
def test_a_folder_of_another_pooling_gives_other_vectors(family, tmp_path, other):
    folder, wanted = family
    right = load_encoder(folder, wanted)
    wrong = shutil.copytree(folder, tmp_path / "wrong")
    path = wrong / "1_Pooling/config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "pooling_mode": MODES[other]}))
    found = load_encoder(wrong, wanted)
    assert found.spec.pooling == other
    differ = 0.0 if other == right.spec.pooling else 1e-3
    for texts, kind in ((QUERIES, "query"), ([right.spec.passage(*one) for one in PASSAGES], "passage")):
        away = distance(found.encode(texts, kind), right.encode(texts, kind))
        assert away > differ if differ else away == 0.0


def test_its_settings_let_it_pass(family):
    """Before any benchmark is known that fills an {instruction} in, and before there are weights."""
    folder, wanted = family
    check_settings(folder, wanted if "models" in wanted else {"models": wanted})
