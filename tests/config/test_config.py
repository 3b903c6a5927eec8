"""config.yaml: in sync with its schema and defaults; what is wrong is named with the nearest valid name."""

import json

import pytest

from stele.catalogue import read_yaml
from stele.config import model
from stele.config.model import Config, parse_config
from stele.config.sources import Sources
from stele.errors import SteleError


def test_the_shipped_config_states_every_default(root):
    shipped = read_yaml(root / "config.yaml")
    assert set(shipped) == set(Config.model_fields)
    assert parse_config(shipped) == Config()


def test_the_shipped_schema_is_in_sync(root):
    shipped = json.loads((root / "config.schema.json").read_text())
    assert shipped == model.schema(), "write it anew: python -m stele.config.model > config.schema.json"


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        ({"modles": {}}, ["config.yaml: unknown key 'modles'", "'models'"]),
        ({"mirors": None}, ["config.yaml: unknown key 'mirors'", "'mirrors'"]),
        ({"papers": ["mms"]}, ["papers.0", "'mms'", "'msm'"]),
        ({"papers": []}, ["papers"]),
        ({"languages": ["sq", "swa"]}, ["languages.1", "'swa'"]),
        ({"languages": "sw"}, ["languages", "list"]),
        ({"seeds": {"pretrain": [0]}}, ["seeds.pretrain", "'pretraining'"]),
        ({"seeds": {"pretraining": []}}, ["seeds.pretraining"]),
        ({"seeds": {"pretraining": [-1]}}, ["seeds.pretraining.0", "-1"]),
        ({"seeds": {"finetuning": [0, 1, 0]}}, ["seeds.finetuning", "0 is given twice"]),
        ({"models": {"msmm": {}}}, ["msmm", "'msm'", "checkpoint"]),
        ({"models": {"mine": {"base": "xlm", "recipe": "msm"}}}, ["models.mine.base", "'xlm'", "'xlmr'"]),
        ({"models": {"mine": {"base": "xlmr", "recipe": "mms"}}}, ["models.mine.recipe", "'mms'", "'msm'"]),
        ({"models": {"mine": {"base": "mine", "recipe": "msm"}}}, ["models.mine.base", "mine starts from mine"]),
        ({"models": {"mine": {"checkpont": "x"}}}, ["models.mine.checkpont", "'checkpoint'"]),
        ({"models": {"a/b": {"checkpoint": "x"}}}, ["a/b"]),
        ({"models": {"modèle": {"checkpoint": "x"}}}, ["modèle", "letters of English"]),
        ({"models": {"mine": {"checkpoint": "x", "tables": ["msm/99"]}}}, ["models.mine.tables.0", "'msm/9'"]),
        ({"models": {"mine": {"checkpoint": "x", "tables": ["msm/9", "msm2"]}}}, ["models.mine.tables.1", "'msm/2'"]),
        ({"models": {"mine": {"checkpoint": "x", "encoding": {"poling": "mean"}}}}, ["mine.encoding", "'pooling'"]),
        ({"models": {"mine": {"checkpoint": "x", "encoding": {"pooling": "men"}}}}, ["mine.encoding", "'men'"]),
        ({"user_data": {"laqera": "x"}}, ["user_data", "'laqera'", "'lareqa'"]),
        ({"recompute": "mine"}, ["recompute", "'own' or 'all'"]),
        ({"results_dir": "."}, ["results_dir", "'.'"]),
        ({"results_dir": "my results"}, ["results_dir", "'my results'"]),
        ({"results_dir": "/"}, ["config.yaml: results_dir: found '/' (the project lies in it)", "a folder of its own"]),
        (
            {"models": {"xlmr": {"label": "abc\u202edef"}}},
            ["models.xlmr.label", "U+202E (RIGHT-TO-LEFT OVERRIDE) at 4"],
        ),
        ({"models": {"xlmr": {"label": "abc\0"}}}, ["models.xlmr.label", "U+0000 (a control character) at 4"]),
        ({"models": {"xlmr": {"label": "two\nlines"}}}, ["models.xlmr.label", "U+000A (a control character) at 4"]),
    ],
)
def test_a_wrong_name_gets_the_key_what_was_found_and_the_nearest(values, parts):
    with pytest.raises(SteleError) as error:
        parse_config(values)
    assert all(part in str(error.value) for part in parts), str(error.value)


def test_a_circle_through_several_models_is_named():
    models = {name: {"base": base, "recipe": "msm"} for name, base in (("a", "b"), ("b", "c"), ("c", "a"))}
    with pytest.raises(SteleError, match="a starts from b starts from c starts from a"):
        parse_config({"models": models})
    with pytest.raises(SteleError, match="xlmr starts from msm starts from xlmr"):
        parse_config({"models": {"xlmr": {"base": "msm", "recipe": "msm"}}})


def test_an_empty_value_is_the_default():
    empty = dict.fromkeys(Config.model_fields)
    assert parse_config(empty) == parse_config({"languages": [], "models": {}}) == Config()


def test_a_folder_s_name_is_taken_without_its_trailing_slash():
    assert parse_config({"results_dir": "out/"}).results_dir == "out"
    assert parse_config({"results_dir": "./out//mine"}).results_dir == "out/mine"


@pytest.mark.parametrize("name", ["msm/9", "msm/09", "all"])
def test_a_table_may_be_named_in_either_way(name):
    parsed = parse_config({"models": {"mine": {"checkpoint": "x", "tables": [name]}}})
    assert parsed.models["mine"].tables == [name]


def test_an_error_names_the_file_that_says_it():
    sources = [("config.yaml", {"models": {}}), ("mine.yaml", {"models": {"mine": {"base": "xlm"}}})]
    where = Sources([*sources, ("--config", {"papers": ["mms"]})])
    values = {"models": {"mine": {"base": "xlm", "recipe": "msm"}}, "papers": ["msm"]}
    with pytest.raises(SteleError, match=r"^mine\.yaml: models\.mine\.base"):
        parse_config(values, where)
    with pytest.raises(SteleError, match=r"^--config: papers\.0"):
        parse_config({"papers": ["mms"]}, where)
