"""Which rule makes which result: what the wildcard `benchmark` may be follows from the kinds of settings.yaml."""

import re

import pytest

from stele import catalogue
from stele.artifacts.results import RunKey
from stele.errors import SteleError

SETTINGS = [
    (b, s, entry["kind"]) for b, own in catalogue.load("settings")["settings"].items() for s, entry in own.items()
]
RULES = {"lexical": "bm25", "tuned": "bm25", "reranked": "rerank", "answered": "answer", "fused": "fuse"}
ALIASES = [(b, alias) for b, names in catalogue.load("settings")["aliases"].items() for alias in names]


@pytest.fixture(scope="module")
def rows(miniature):
    return miniature().rows


def may_be(constraint: str, path: str) -> bool:
    """Whether a rule with this constraint on `benchmark` can make the file, as Snakemake matches names of outputs."""
    pattern = (
        rf"(?P<benchmark>{constraint})/(?P<model>[A-Za-z0-9_.-]+)/(?P<setting>[a-z0-9_]+)(/pt\d+-ft\d+/\w+)?\.json"
    )
    return re.fullmatch(pattern, path) is not None


@pytest.mark.parametrize(("benchmark", "setting", "kind"), SETTINGS)
def test_a_ranking_is_made_by_the_one_rule_of_its_kind(rows, benchmark, setting, kind):
    path = f"{benchmark}/m.1/{setting}/pt0-ft0/retrieval.json"
    for rule in ("bm25", "rerank", "answer", "fuse"):
        assert may_be(rows.benchmarks_of(rule), path) == (RULES.get(kind) == rule)
    of_encoders = kind in ("dense", "calibrated", "vectors", "parameters")
    assert may_be(rows.benchmarks_of_no_other("retrieve"), path) == of_encoders
    assert may_be(rows.scored_benchmarks, path) == (kind not in ("parameters", "statistics"))


def test_names_that_nothing_knows_are_explained_by_the_rule_of_encoders(rows):
    for path in ("mrtydi/msm/direkt/pt0-ft0/retrieval.json", "mrtidy/msm/direct/pt0-ft0/retrieval.json"):
        assert may_be(rows.benchmarks_of_no_other("retrieve"), path)
        assert not may_be(rows.benchmarks_of("bm25"), path)


@pytest.mark.parametrize(("benchmark", "setting", "kind"), SETTINGS)
def test_the_mean_of_a_row_is_under_its_setting_s_own_name(rows, benchmark, setting, kind):
    path = f"{benchmark}/m/{setting}.json"
    assert may_be(rows.averaged_benchmarks, path) == (kind != "statistics")
    assert not may_be(rows.alias_benchmarks, path)


@pytest.mark.parametrize(("benchmark", "alias"), ALIASES)
def test_a_short_name_is_a_copy_where_it_is_one(rows, benchmark, alias):
    path = f"{benchmark}/m/{alias}.json"
    assert may_be(rows.alias_benchmarks, path) and not may_be(rows.averaged_benchmarks, path)


@pytest.mark.parametrize(("benchmark", "alias"), ALIASES)
def test_a_short_name_of_a_single_seed_s_result_is_answered_with_the_setting(rows, benchmark, alias):
    setting = rows.protocols.canonical(benchmark, alias)
    with pytest.raises(SteleError, match=f"unknown setting {alias!r}; did you mean {setting!r}"):
        rows.inputs(RunKey(benchmark, "msm", alias), "pt0-ft0")


def test_a_setting_that_begins_like_another_is_another(rows):
    assert not may_be(rows.benchmarks_of("bm25"), "mrtydi/m/tuned_more/pt0-ft0/retrieval.json")
    assert may_be(rows.averaged_benchmarks, "mrtydi/m/zero_shot_nq.json"), "zero_shot is a short name there"
