"""Pairs of languages as they are planned: pairs of sections, which Table 2 counts, and parallel texts."""

from collections import Counter
from types import SimpleNamespace

import pytest

from stele.artifacts.results import RunKey
from stele.cluster import text_costs
from stele.cluster.sizes import costs
from stele.errors import SteleError
from stele.papers.table import load_spec, references

TABLE_2 = RunKey("statistics", "section_pairs", "count")
SIX = ["de-en", "de-es", "de-fr", "en-es", "en-fr", "es-fr"]


def part(name):
    return SimpleNamespace(method="section_pairs", part=name)


def parts(plan, row=TABLE_2):
    return [path.split("/")[-2] for path in plan.rows.inputs(row)["data"]]


def test_a_part_reads_its_languages_alone(plan):
    w, codes = part("de-en"), ("de", "en")
    vectors = {code: f"resources/paper/datasets/fasttext_aligned/{code}/record.json" for code in codes}
    bases = {code: f"work/paper/knowledge_base/{code}/record.json" for code in codes}
    assert (plan.mining.vectors(w), plan.mining.knowledge_bases(w)) == (vectors, bases)
    assert plan.mining.knowledge_documents(w) == {
        code: [
            f"work/paper/documents/wikipedia/{code}/{n}/record.json" for n in range(1, plan.corpora.shards(code) + 1)
        ]
        for code in codes
    }
    with pytest.raises(SteleError, match="pairs/section_pairs/en-de: no such part; want de-en"):
        plan.mining.vectors(part("en-de"))


def test_table_2_counts_all_its_pairs_at_the_papers_size(paper, root):
    plan = paper(papers=["clir_lm"])
    assert plan.rows.problem(TABLE_2) is None and parts(plan) == SIX
    cells = list(references(load_spec(root / "paper_tables/clir_lm/table_02.yaml")))
    assert {reference.result for reference in cells} == {TABLE_2} and len(cells) == 6
    assert sorted(code for reference in cells for code in reference.languages) == SIX
    assert plan.tables.results("clir_lm/02") == [plan.paths.result(TABLE_2)]
    datasets = Counter(path.split("/")[3] for path in plan.rows.downloads(TABLE_2))
    assert datasets == {"fasttext_aligned": 4, "wikidata_items": 1, "wikipedia": 4}


def test_pairs_whose_languages_are_not_built_are_not_in_scale(jobs):
    some = jobs(scale="paper", languages=["de", "en"])
    assert parts(some) == ["de-en"]
    assert [code for code in some.data.languages("statistics") if "-" in code] == ["de-en"]
    assert "sw" in some.data.languages("statistics"), "a dataset is counted in its own languages"
    miniature = jobs(scale="miniature")
    assert parts(miniature) == [p for p in SIX if set(p.split("-")) <= set(miniature.settings.sizes.languages)]


def test_costs_are_of_the_texts_and_the_vectors(plan):
    work = text_costs.section_pairs(plan, part("de-en"))
    assert 8 < work.cpu_seconds < 24 * 3600 and 1e8 < work.kept < 1e11
    assert text_costs.tokenise_sections(plan, part("de-en")).kept > 1e8
    # table 2: 169,900 to 295,800
    assert all(100_000 < text_costs._pairs(plan, part(name), costs().sections_a_megabyte) < 400_000 for name in SIX)


# --- XSA and XDA: which pairs are evaluated, how texts are read -------------------------------------------------------
SENTENCES, DOCUMENTS = (RunKey(name, "mbert", "direct") for name in ("xsa", "xda"))


@pytest.mark.parametrize("scale", ["miniature", "paper"])
def test_a_pair_is_in_scale_when_both_languages_are(jobs, scale):
    plan = jobs(scale=scale)
    assert plan.data.languages("xsa") == SIX and plan.data.languages("xda") == SIX[3:]
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
