"""Values that YAML makes of what was typed, and values out of range: refused with the key, or read as meant."""

import pytest

from stele.catalogue import load, read_yaml
from stele.config.model import parse_config
from stele.errors import SteleError
from stele.recipes.finetuning import parse_finetuning as parse_finetuning
from stele.recipes.pretraining import parse_recipe as parse_pretraining

MODEL = {"models": {"mine": {"base": "bm25", "recipe": "msm"}}}
MSM = load("recipes")["pretraining"]["msm"]
TUNING = {key: value for key, value in load("recipes")["finetuning"]["nq"].items() if key != "start"}


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        ({"dump_date": 20221345}, ["dump_date", "a day that there is"]),
        ({"dump_date": "2022١٢01"}, ["dump_date"]),
        ({"dump_date": True}, ["dump_date"]),
        ({"seeds": {"pretraining": [True]}}, ["seeds.pretraining.0", "found True"]),
        ({"seeds": {"finetuning": ["1.0"]}}, ["seeds.finetuning.0", "found '1.0'"]),
        ({"seeds": {"finetuning": [10**19]}}, ["seeds.finetuning.0", "4294967295"]),
        ({"user_data": {"lareqa": ""}}, ["user_data.lareqa", "want the path of a folder"]),
        ({"mirrors": ["file:///data"]}, ["mirrors.0", "https://"]),
        ({"mirrors": ["ftp://example.org"]}, ["mirrors.0", "https://"]),
        ({"mirrors": ["https://"]}, ["mirrors.0", "https://"]),
        ({"mirrors": [" "]}, ["mirrors.0"]),
        (MODEL, ["models.mine.base", "bm25 has no encoder"]),
        ({"languages": [False]}, ["languages.0", "YAML reads an unquoted no or off so: put it in quotes"]),
        ({"offline": "yes"}, ["offline", "found 'yes'"]),
        ({"offline": 1}, ["offline", "found 1"]),
        ({"models": {"mine": {"checkpoint": "a/b", "revision": 1234567}}}, ["revision", "put them in quotes"]),
        ({"models": {"mine": {"checkpoint": "x", "tables": ["msm/١"]}}}, ["models.mine.tables.0"]),
    ],
)
def test_a_value_that_is_none_is_refused_with_its_key(values, parts):
    with pytest.raises(SteleError) as error:
        parse_config(values)
    assert all(part in str(error.value) for part in parts), str(error.value)


def test_config_values_are_read_as_they_are_meant():
    assert parse_config({"dump_date": 20220801}).dump_date == "20220801"
    numbers = {"pretraining": ["0", "12"], "finetuning": [1]}  # as Snakemake reads them from a command line
    assert parse_config({"seeds": numbers}).seeds.pretraining == [0, 12]
    mirrors = ["/data", "https://example.org/x", "HTTP://example.org"]
    assert parse_config({"mirrors": mirrors}).mirrors == mirrors


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"mu": 7}, "mu: Input should be less than or equal to 1"),
        ({"mu": True}, "mu: Input should be a valid number .found True"),
        ({"mu": "0.5"}, "mu: .*a number in YAML has no quotes"),
        ({"learning_rate": "1e-5"}, r"learning_rate: .*a point before its e \(1\.0e-5\)"),
        ({"learning_rate": float("inf")}, "learning_rate"),
        ({"eps": float("nan")}, "eps"),
        ({"eps": 0}, "eps"),
        ({"weight_decay": -1}, "weight_decay"),
        ({"clip_norm": 0}, "clip_norm"),
        ({"betas": [0.9, 1.0]}, r"betas\.1"),
        ({"betas": [0.9, True]}, r"betas\.1"),
        ({"documents": 4.5}, "documents"),
        ({"documents": True}, "documents"),
        ({"intra_negatives": "no"}, "intra_negatives"),
    ],
)
def test_a_key_of_a_pretraining_recipe_has_a_type_and_a_range(changes, said):
    recipe = {key: value for key, value in MSM.items() if key != "mining"} | {"languages": ["en"]}
    parse_pretraining(recipe)
    with pytest.raises(SteleError, match=said):
        parse_pretraining(recipe | changes)


@pytest.mark.parametrize(
    "changes", [{"batch": True}, {"epochs": "3"}, {"betas": [1, 0.9]}, {"eps": -1}, {"clip_norm": 0}]
)
def test_a_key_of_a_finetuning_recipe_has_a_type_and_a_range(changes):
    parse_finetuning(TUNING)
    with pytest.raises(SteleError, match=f"--recipe: {next(iter(changes))}"):
        parse_finetuning(TUNING | changes)


def test_a_folder_and_a_list_are_no_configuration(tmp_path):
    (tmp_path / "one.yaml").mkdir()
    (tmp_path / "two.yaml").write_text("- a\n")
    for name, said in (("one", "a folder, want a file"), ("two", "want keys and values, found list")):
        with pytest.raises(SteleError, match=rf"{name}\.yaml: {said}"):
            read_yaml(tmp_path / f"{name}.yaml")


@pytest.mark.parametrize("key", ["offline", "keep_index", "verify_inputs"])
def test_flags_may_be_given_on_the_command_line_as_yaml_writes_them(key):
    read = [getattr(parse_config({key: text}), key) for text in ("true", "false")]
    assert read == [True, False]
