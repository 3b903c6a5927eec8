"""The encoding that a protocol has for large models (Tatoeba in CCP, section 4.2): layer 14 of 24, mean."""

import pytest

from stele import catalogue


def test_large_public_models_are_read_at_layer_14(jobs):
    plan = jobs(scale="paper")
    for model in ("xlmr_large", "infoxlm_large", "ccp"):
        found = plan.retrieval.encoding("tatoeba", model)
        assert (found.layer, found.pooling) == (14, "mean")
        assert plan.retrieval.encoding("mrtydi", model).layer is None, "of this protocol alone"
    assert all(plan.retrieval.encoding("tatoeba", model).layer is None for model in ("xlmr", "labse"))
    assert plan.retrieval.encoding("tatoeba", "mbert").pooling == "mean"


@pytest.mark.parametrize(("scale", "layers", "layer"), [("miniature", 4, 2), ("small", 8, 5)])
def test_a_stand_in_is_read_at_the_same_share_of_its_depth(jobs, scale, layers, layer):
    plan = jobs(scale=scale)
    assert plan.world.recipe("xlmr_large").layers == layers
    assert layer == round(layers * 14 / 24)
    for model in ("xlmr_large", "infoxlm_large", "ccp"):  # the last two continue from the first
        assert plan.retrieval.encoding("tatoeba", model).layer == layer


def test_the_protocol_of_large_models_is_there_and_names_models():
    """A key or a model that is misspelt would leave large models as the others are, without a word."""
    large = {name: entry["large"] for name, entry in catalogue.load("benchmarks").items() if "large" in entry}
    assert large.keys() == {"tatoeba", "tatoeba_pairs"} and large["tatoeba"] == large["tatoeba_pairs"]
    assert large["tatoeba"].keys() == {"models", "layer", "of", "pooling"}
    assert set(large["tatoeba"]["models"]) and set(large["tatoeba"]["models"]) <= catalogue.load("models").keys()
