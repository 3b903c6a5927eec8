"""An ablation is checked when the workflow is read, by what takes its recipe, not hours later by its job."""

import pytest

from stele.config.sources import Sources
from stele.errors import SteleError
from stele.plan import validation


def check(jobs, **model):
    values = {"models": {"mine": {"base": "xlmr", "recipe": "msm", **model}}}
    validation.check(jobs(scale="paper", **values), Sources([("mine.yaml", values)]))


@pytest.mark.parametrize(
    ("override", "parts"),
    [
        ({"mu": "high"}, ["mu", "'high'"]),
        ({"steps": -3}, ["steps", "-3"]),
        ({"projector": "shard"}, ["projector", "'shard'"]),
        ({"languages": ["en", "swa"]}, ["languages", "'swa'", "'sw'"]),
        ({"languages": "cc10"}, ["'cc10'", "'cc108'"]),
        ({"stepps": 3}, ["'stepps'", "'steps'"]),
        ({"mining": "msm_blocks"}, ["mining", "'msm_blocks'"]),
        ({"mining": {"msm": "msm_block", "mlm": "mlm"}}, ["mining", "'msm_block'", "'msm_blocks'"]),
    ],
)
def test_a_wrong_value_is_named_with_its_place(jobs, override, parts):
    with pytest.raises(SteleError) as error:
        check(jobs, override=override)
    assert all(part in str(error.value) for part in ["models.mine.override", *parts]), str(error.value)


def test_a_right_one_passes(jobs):
    check(jobs, override={"mu": 0.9, "languages": ["en", "sw"], "mining": {"msm": "msm_blocks", "mlm": "mlm"}})


def test_an_override_that_nothing_would_read_is_refused(jobs):
    with pytest.raises(SteleError, match=r"mine\.yaml: models\.mine\.override: mine is not pretrained here"):
        check(jobs, checkpoint="released", override={"mu": 0.9})
    check(jobs, checkpoint="released")
