"""The encoding that a protocol has for large models (Tatoeba in CCP, section 4.2): layer 14 of 24, mean."""

import pytest

BENCHMARKS = ["tatoeba", "tatoeba_pairs"]
TRAINED = {"mine": {"base": "xlmr_large", "recipe": "msm"}, "again": {"base": "mine", "recipe": "crop"}}
LARGE = ["xlmr_large", "infoxlm_large", "ccp", "msm_large", *TRAINED]


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_large_public_models_and_all_trained_from_them_are_read_at_layer_14(paper, benchmark):
    plan = paper(models=TRAINED)
    for model in LARGE:
        found = plan.retrieval.encoding(benchmark, model)
        assert (found.layer, found.pooling) == (14, "mean"), model
        assert plan.retrieval.encoding("mrtydi", model).layer is None, "of this protocol alone"
    assert all(plan.retrieval.encoding(benchmark, model).layer is None for model in ("xlmr", "labse", "msm", "kept"))
    assert plan.retrieval.encoding(benchmark, "mbert").pooling == "mean"


@pytest.mark.parametrize(("scale", "layers", "layer"), [("miniature", 4, 2), ("small", 8, 5)])
def test_a_stand_in_and_all_trained_from_it_are_read_at_the_same_share_of_their_depth(jobs, scale, layers, layer):
    plan = jobs(scale=scale, models=TRAINED)
    assert plan.world.recipe("xlmr_large").layers == layers
    assert layer == round(layers * 14 / 24)
    for model in LARGE:  # all continue from the first
        assert plan.retrieval.encoding("tatoeba", model).layer == layer, model


def test_a_checkpoint_of_the_user_s_has_its_own_layers(miniature, tmp_path):
    plan = miniature(models={"xlmr_large": {"checkpoint": str(tmp_path)}, **TRAINED})
    assert {plan.retrieval.encoding("tatoeba", model).layer for model in ("xlmr_large", *TRAINED)} == {14}


def test_an_encoder_of_today_is_read_as_it_was_trained_however_deep_it_is(plan):
    for model in ("me5_large", "bge_m3", "embeddinggemma"):
        found = plan.retrieval.encodings("tatoeba", model)
        assert "layer" not in {key for values in found.values() for key in values}, model
        assert not {"pooling"} & found["benchmark"].keys(), model
