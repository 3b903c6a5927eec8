"""XSA and XDA: which pairs are evaluated, how texts are read, what is lacking without the United Nations' archives."""

import pytest

from stele.artifacts.results import RunKey

SENTENCES, DOCUMENTS = (RunKey(name, "mbert", "direct") for name in ("xsa", "xda"))
PAIRS = ["de-en", "de-es", "de-fr", "en-es", "en-fr", "es-fr"]


@pytest.mark.parametrize("scale", ["miniature", "paper"])
def test_a_pair_is_in_scale_when_both_languages_are(jobs, scale):
    plan = jobs(scale=scale)
    assert plan.data.languages("xsa") == PAIRS and plan.data.languages("xda") == PAIRS[3:]
    some = jobs(scale=scale, languages=["en", "de"])
    assert some.data.languages("xsa") == ["de-en"]


def test_texts_are_read_to_512_tokens_by_their_first_token_whatever_the_model(paper):
    plan = paper(models={"mine": {"base": "mbert", "recipe": "msm"}})
    for benchmark in ("xsa", "xda"):
        for model in ("mbert", "xlmr", "mine", "mbert_gsw"):
            found = plan.retrieval.encoding(benchmark, model)
            assert (found.pooling, found.query_length, found.layer) == ("cls", 512, None), model
        assert plan.retrieval.encoding(benchmark, "xlmr_large").layer is None
    assert plan.retrieval.encoding("mrtydi", "mbert").pooling == "mean", "of this protocol alone"
    # what a folder of sentence-transformers states is not overruled
    assert "pooling" not in plan.retrieval.encoding("xsa", "labse").given()


def test_one_job_encodes_and_one_scores_what_it_wrote(miniature):
    plan = miniature()
    for row in (SENTENCES, DOCUMENTS):
        inputs = plan.rows.inputs(row, "pt0-ft0")
        assert inputs.keys() == {"encoder", "data"} and len(inputs["data"]) == 1
        wildcards = type("w", (), {**row._asdict(), "seeds": "pt0-ft0"})
        assert plan.scoring.inputs(wildcards)["retrieval"].endswith(f"{row.path}/pt0-ft0/vectors.json")
        assert plan.protocols.protocol(wildcards).metrics == ["p@1", "p_forward@1", "p_backward@1"]
