"""The pages of the documentation that code writes: every key of every recipe, every command with its flags."""

import importlib.util

import pytest

from stele import catalogue
from stele.catalogue.recipes import KINDS
from stele.command import cli


@pytest.fixture
def conf(root):
    spec = importlib.util.spec_from_file_location("docs_conf", root / "docs/conf.py")
    conf = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(conf)
    return conf


def test_the_page_of_commands_has_each_with_its_flags(conf):
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
