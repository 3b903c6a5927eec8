"""Pretraining on a pretended GPU: no objective mixes devices, and its first losses equal those of a CPU."""

import pytest
from pretrain_runs import OWN, arguments

from stele.command.cli import main
from stele.training.curve import read_csv
from tests.pretended_gpu import on_pretended_gpu


@pytest.mark.parametrize("objective", OWN)
def test_losses_are_those_of_a_cpu(tmp_path, base, pairs, objective):
    def train(place):
        changes = {"precision": "float16", "encode_chunk": 4}
        assert main(arguments(tmp_path / place, base, pairs, objective, **changes)) == 0

    train("cpu")
    assert on_pretended_gpu(lambda: train("gpu")) == 0
    on_cpu, on_gpu = (read_csv(tmp_path / place / "out/curve.csv") for place in ("cpu", "gpu"))
    assert on_gpu[:2] == [pytest.approx(row, rel=1e-3) for row in on_cpu[:2]]
