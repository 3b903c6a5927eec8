"""config.yaml: in sync with its schema and defaults; what is wrong is named with the nearest valid name."""

import json

import pytest

from stele import config
from stele.catalogue import read_yaml
from stele.errors import SteleError


def test_the_shipped_config_states_every_default(root):
    shipped = read_yaml(root / "config.yaml")
    assert set(shipped) == set(config.Config.model_fields)
    assert config.parse(shipped) == config.Config()


def test_the_shipped_schema_is_in_sync(root):
    shipped = json.loads((root / "config.schema.json").read_text())
    assert shipped == config.schema(), "write it anew: python -m stele.config > config.schema.json"


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        ({"modles": {}}, ["modles", "'models'"]),
        ({"papers": ["mms"]}, ["papers.0", "'mms'", "'msm'"]),
        ({"languages": ["sq", "swa"]}, ["languages", "'swa'"]),
        ({"seeds": {"pretrain": [0]}}, ["seeds.pretrain", "'pretraining'"]),
        ({"seeds": {"pretraining": []}}, ["seeds.pretraining"]),
        ({"models": {"msmm": {}}}, ["msmm", "'msm'", "checkpoint"]),
        ({"models": {"mine": {"base": "xlm", "recipe": "msm"}}}, ["models.mine.base", "'xlm'", "'xlmr'"]),
        ({"models": {"mine": {"base": "xlmr", "recipe": "mms"}}}, ["models.mine.recipe", "'mms'", "'msm'"]),
        ({"models": {"mine": {"checkpont": "x"}}}, ["models.mine.checkpont", "'checkpoint'"]),
        ({"models": {"a/b": {"checkpoint": "x"}}}, ["a/b"]),
        ({"user_data": {"laqera": "x"}}, ["user_data", "'laqera'", "'lareqa'"]),
        ({"recompute": "mine"}, ["recompute", "'own'"]),
    ],
)
def test_a_wrong_name_gets_the_key_what_was_found_and_the_nearest(values, parts):
    with pytest.raises(SteleError) as error:
        config.parse(values)
    assert all(part in str(error.value) for part in parts), str(error.value)


def test_an_unknown_scale_and_a_wrong_key_of_ones_own_scale(tmp_path):
    with pytest.raises(SteleError, match=r"'minature'.*'miniature'"):
        config.load_scale("minature")
    path = tmp_path / "mine.yaml"
    path.write_text("title: mine\ngenerated: false\nthreds: 3\n")
    with pytest.raises(SteleError, match="threds"):
        config.load_scale(str(path))
    path.write_text("title: mine\ngenerated: false\nthreads: 3\n")
    assert config.load_scale(str(path))["threads"] == 3


def test_which_scale_and_why(tmp_path):
    def resolve(scale=None, stamp=None, **environment):
        results = tmp_path / f"results-{stamp}"
        if stamp:
            results.mkdir(exist_ok=True)
            (results / "scale.txt").write_text(f"{stamp}\n")
        return config.resolve_scale(config.Config(scale=scale, results_dir=str(results)), environment)[0]

    assert resolve() == "miniature"
    assert resolve(stamp="small") == "small"
    assert resolve(stamp="small", STELE_DEFAULT_SCALE="paper") == "paper"
    assert resolve("miniature", stamp="small", STELE_DEFAULT_SCALE="paper") == "miniature"


def test_a_second_scale_is_refused_with_the_two_ways_out(tmp_path):
    config.check_stamp(tmp_path / "results", "small")
    config.check_stamp(tmp_path / "results", "small")
    with pytest.raises(SteleError, match=r"results_dir=.*remove"):
        config.check_stamp(tmp_path / "results", "paper")
