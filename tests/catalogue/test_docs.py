"""What the documentation says of the catalogue: its list of encoders, and the pages of recipes and commands."""

import importlib.util
import re

import pytest

from stele import catalogue
from stele.catalogue import entries
from stele.catalogue.recipes import KINDS
from stele.catalogue.schema.models import Model
from stele.command import cli

COLUMNS = ("pooling", "normalised", "queries", "passages", "licence", "saw", "not_verified")


def listed(root):
    """Key -> (repository, the other cells by column) of the list's rows."""
    text = (root / "docs/today.md").read_text(encoding="utf-8")
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if re.match(r"\| `\w+` \|", line)]
    rows = [[cell.removeprefix(" ").removesuffix(" ").replace("\\|", "|") for cell in row] for row in rows]
    return {row[0].strip("`"): (row[1], dict(zip(COLUMNS, row[2:], strict=True))) for row in rows if len(row) == 9}


def test_each_encoder_is_listed_as_the_catalogue_has_it(root):
    today = {key: model for key, model in entries(Model).items() if model.is_complete}
    rows = listed(root)
    assert rows.keys() == today.keys()
    for key, model in today.items():
        repository, row = rows[key]
        given = model.encoding.given()
        prompts = [given.get(name, "").replace("\n", "\\n") for name in ("query_prompt", "passage_prompt")]
        assert repository == model.checkpoint and row["licence"] == model.licence, key
        assert [row["queries"].strip("`"), row["passages"].strip("`")] == prompts, key
        assert row["saw"].split(", ") == model.trained_on, key
        assert given.get("pooling", row["pooling"]) == row["pooling"], key
        assert given.get("normalize", row["normalised"] == "yes") == (row["normalised"] == "yes"), key
        # what was read at its source is held against the folder: another pooling there is an error
        assert "pooling" in given or "pooling" in row["not_verified"], key


@pytest.fixture
def conf(root):
    spec = importlib.util.spec_from_file_location("docs_conf", root / "docs/conf.py")
    conf = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(conf)
    return conf


def test_the_page_of_commands_has_each_with_its_flags(conf):
    assert not conf.smartquotes, "or --data becomes –data"
    page = "\n".join(conf.commands_page())
    for stage in cli.GROUPS:
        for command in cli.commands(stage):
            assert f"stele {stage}" + ("" if command == stage else f" {command}") in page
    assert "--encoder" in page.partition("finetuning finetune")[2].partition("###")[0]


def test_the_reference_of_recipes_has_each_key_of_each_recipe_under_its_section(conf):
    sections = dict(text.split("\n", 1) for text in "\n".join(conf.recipes_page()).split("\n## ")[1:])
    assert sections.keys() == KINDS.keys()
    for section, text in sections.items():
        for name, recipe in catalogue.load("recipes")[section].items():
            assert all(f"| `{key}` | " in text for key in recipe), f"{section}.{name}"
    assert "| `mu` | weight of the dynamic bias, " in sections["pretraining"].partition("### pretraining: msm\n")[2]
