"""The page of recipes in the documentation: written from the models, so that it has every key of every recipe."""

import importlib.util

from stele import catalogue
from stele.catalogue.recipes import KINDS


def test_the_reference_of_recipes_has_each_key_of_each_recipe_under_its_section(root):
    spec = importlib.util.spec_from_file_location("docs_conf", root / "docs/conf.py")
    conf = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(conf)
    sections = dict(text.split("\n", 1) for text in "\n".join(conf.recipes_page()).split("\n## ")[1:])
    assert sections.keys() == KINDS.keys()
    for section, text in sections.items():
        for name, recipe in catalogue.load("recipes")[section].items():
            assert all(f"| `{key}` | " in text for key in recipe), f"{section}.{name}"
    assert "| `mu` | weight of the dynamic bias |" in sections["pretraining"].partition("### pretraining: msm\n")[2]
