"""The vocabularies of the English stand-ins fit the text of their scale."""

from __future__ import annotations

import pytest

from stele import catalogue
from stele.recipes import standins
from stele.recipes.world import world_sizes
from stele_world.content.generate import generate
from stele_world.standins import models


@pytest.mark.parametrize("scale", ["miniature", "small"])
def test_few_names_are_one_token(scale):
    """A piece that is a whole name is learnt for itself: BERT ranks far worse where most names are (standins.yaml)."""
    sizes = catalogue.load(f"scales/{scale}")
    world = generate(world_sizes(sizes["world"]), ["en"], sizes["seed"])
    texts = [sentence for d in world.web_documents("en") for p in d for sentence in p]
    names = sorted({word for entity in world.entities.values() for word in entity.names["en"].split()})
    for key in ("bert", "roberta"):
        recipe = {**catalogue.load("standins")[key], **sizes["standins"].get(key, {})}["tokenizer"]
        tokenizer = models.make_tokenizer(standins.Tokenizer(**recipe), texts)
        assert len(tokenizer) == recipe["size"]
        whole = sum(len(tokenizer.tokenize(f" {name}")) == 1 for name in names)
        assert 0 < whole < 0.2 * len(names), (key, whole, len(names))
