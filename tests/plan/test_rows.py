"""A row that cannot be built says why, in the user's words; which rule makes a row's result."""

import re

import pytest

from stele import catalogue
from stele.artifacts.results import RunKey
from stele.errors import SteleError

GONE = "/no/such/folder"
MINED, TABLE_2, TERMS = "mrtydi/infoxlm_base/multilingual_kept", "statistics/section_pairs/count", "miracl/bm25/terms"
LEXICAL = {"kind": "lexical", "k1": 0.9, "b": 0.4}
BY_TERMS = {"add_settings": {"miracl": {"terms": LEXICAL}}}
TUNED = {"add_settings": {"miracl": {"tuned": {"kind": "tuned", "split": "dev", "k1": [0.9], "b": [0.4]}}}}
RERANKED = {"add_settings": {"nq": {"mine": {"kind": "reranked", "reranking": "cv5"}}}}
OF_TERMS_AND_VECTORS = {"kind": "fused", "term": "bm25", "dense": "zero_shot_nq"}
FUSED = {"add_settings": {"xor_retrieve": {"term": LEXICAL, "mine": OF_TERMS_AND_VECTORS}}}
NO_ANALYZER = (
    "^catalogue/analyzers.yaml has no analyzer of fa, yo, by which bm25 would split texts into terms; choose other "
    "`languages`, or give Anserini as user_data.anserini$"
)
NO_SPLIT = "^miracl has only the scored split, so nothing tunes k1 and b; give them$"
MRTYDI = "mrtydi is in ar, bn, en, fi, id, ja, ko, ru, sw, te, th; .*none of them is among `languages`: lv$"
ON_LAPTOP = "^the scale laptop has no language of mrtydi"


def users(*names):
    """Datasets of the user's own, in a folder that is there."""
    return {"user_data": dict.fromkeys(names, ".")}


def absent(name):
    return {"user_data": {name: GONE}}


def not_a_folder(name):
    return rf"^user_data\.{name}: {GONE} is not a folder$"


KNOWLEDGE = users("wikipedia", "wikidata_items")
RELEASED = {"models": {"msm": {"checkpoint": "released"}}, **absent("msm_base")}
# what a case is of -> scale, keys of config.yaml, row, words of the reason
UNAVAILABLE = {
    "a wall": ("paper", {}, "xor_retrieve/msm/multilingual", "user_data: {xor_dpr_train"),
    "archives": ("paper", {}, "xda/mbert/direct", "UNv1.0-TEI", "user_data: {uncorpus: YOUR_FOLDER}"),
    "a corpus that is sold": ("paper", {}, "ntcir8_zh/bm25/direct", "LDC2007T38"),
    "CLEF": ("paper", {}, "clef/xlmr/cv5", "user_data: {clef"),
    "bilingual vectors": ("paper", users("clef"), "clef/knrm_smart_shuffling/cv5", "user_data: {smart_shuffling"),
    "a script": (
        "paper",
        {},
        "mewsli_x/mbert/zero_shot",
        "Run get-mewsli-x.sh",
        "user_data: {mewsli_x_news: YOUR_FOLDER}",
    ),
    "translations": ("paper", users("fire2012_bn"), "fire2012_bn/mbert/qgen", "train.jsonl.*translated_marco"),
    "FIRE": ("paper", users("trec3_es"), "fire2012_hi/mbert/qgen", "FIRE"),
    "queries": ("miniature", users("trec2002_ar"), "trec2002_ar/mbert/qgen", "generated texts do not fit real ones"),
    "passages": ("miniature", users("msmarco_passage"), MINED, "msmarco_passage_corpus would be generated"),
    "vectors of words": ("miniature", users("clef"), "clef/bwe_agg_add/direct", "fasttext_aligned would be generated"),
    "vectors": ("miniature", KNOWLEDGE, TABLE_2, "user_data: {fasttext_aligned: YOUR_FOLDER}"),
    "Wikidata": ("miniature", users("wikipedia"), "mrtydi/kept/direct", "user_data: {wikidata_items: YOUR_FOLDER}"),
    "no nq_dpr": ("paper", absent("nq_dpr"), "mrtydi/xlmr/zero_shot_nq", not_a_folder("nq_dpr")),
    "no squad": ("paper", absent("squad"), "lareqa/xlmr/zero_shot", not_a_folder("squad")),
    "no punkt": ("paper", absent("nltk_punkt"), "xor_retrieve/xlmr/zero_shot_nq", not_a_folder("nltk_punkt")),
    "no cc100 to calibrate": ("paper", absent("cc100"), "tatoeba/xlmr_large/calibrated", not_a_folder("cc100")),
    "no released weights": ("paper", RELEASED, "lareqa/msm/zero_shot", not_a_folder("msm_base")),
    "no Wikidata to train": ("miniature", users("wikipedia"), "mrtydi/kept/zero_shot_nq"),
    "no cc100": ("paper", absent("cc100"), "mrtydi/msm/multilingual", not_a_folder("cc100")),
}
NOT_BUILT = {
    "fused by answers": ("paper", FUSED, "xor_retrieve/mbert/mine", "xor_retrieve has no judgments of passages"),
    "reranked by answers": ("miniature", RERANKED, "nq/xlmr/mine", "nq has no judgments of passages"),
    "tuned on no split": ("paper", TUNED | {"languages": ["sw"]}, "miracl/bm25/tuned", NO_SPLIT),
    "no analyzer": ("paper", BY_TERMS, TERMS, NO_ANALYZER),
    "BM25 fine-tuned": ("paper", {}, "mrtydi/bm25/multilingual", "^no rule builds mrtydi/multilingual with bm25 yet$"),
    "an encoder tuned": ("paper", {}, "mrtydi/kept/tuned", "^no rule builds mrtydi/tuned with kept yet$"),
    "BM25 of NQ": ("paper", {"papers": ["kept"], "recompute": "all"}, "nq/bm25/direct"),
    "expansion tuned": ("paper", users("trec3_es"), "mrtydi/bm25_rm3/tuned"),
    "word vectors of Mr. TyDi": ("miniature", {}, "mrtydi/drmm_fasttext/direct"),
    "counts of Tatoeba": ("paper", {}, "statistics/tatoeba/count", "^nothing counts tatoeba yet$"),
    "counts of pairs": ("paper", {}, "statistics/clk/count"),
    "counts of topics": ("paper", {}, "statistics/trec3_es_topics/count"),
    "counts by another name": ("paper", {}, "statistics/mrtydi/cuont"),
}
NOT_IN_SCALE = {
    "some languages": ("paper", {"languages": ["sw"]}, "statistics/mrtydi/count", "counted in all its languages"),
    "no pair": ("paper", {"languages": ["en", "sw"]}, TABLE_2),
    "no documents": ("paper", {"languages": ["en", "de"]}, "xda/mbert/direct"),
    "Latvian": ("paper", {"languages": ["lv"]}, "mrtydi/xlmr/multilingual", MRTYDI),
    "Bengali": ("miniature", {}, "fire2012_bn/mbert/wiki"),
    "Swahili on a laptop": ("laptop", {"languages": ["sw"]}, "mrtydi/me5_small/direct", ON_LAPTOP),
    "Mr. TyDi on a laptop": ("laptop", {}, "mrtydi/me5_small/direct", ON_LAPTOP),
    "XLM-R on a laptop": ("laptop", {}, "tatoeba/xlmr/direct", "xlmr has 277 million weights", "at most 120"),
}
CASES = [
    pytest.param(state, case, id=f"{state}: {name}")
    for state, cases in (("unavailable", UNAVAILABLE), ("not built", NOT_BUILT), ("not in scale", NOT_IN_SCALE))
    for name, case in cases.items()
]


@pytest.mark.parametrize(("expected", "case"), CASES)
def test_a_row_that_cannot_be_built_says_why(jobs, expected, case):
    scale, values, row, *words = case
    state, reason = jobs(scale=scale, **values).rows.problem(RunKey(*row.split("/")))
    assert state == expected and all(re.search(word, reason) for word in words), reason


BUILT = {  # rows that are built, although a similar one is not
    "behind a wall": ("miniature", {}, "xor_retrieve/msm/multilingual"),
    "sentences": ("paper", {}, "xsa/mbert/direct"),
    "sentences of a pair": ("paper", {"languages": ["en", "de"]}, "xsa/mbert/direct"),
    "documents from the archives": ("paper", users("uncorpus"), "xda/mbert/direct"),
    "counts of Mewsli-X": ("paper", {}, "statistics/mewsli_x/count"),
    "Mewsli-X": ("paper", users("mewsli_x"), "mewsli_x/mbert/zero_shot"),
    "counts of one part": ("paper", {"languages": ["sw"]}, "statistics/xor_tydi/count"),
    "without mining": ("miniature", users("msmarco_passage"), "mrtydi/infoxlm_base/multilingual"),
    "mining in a collection of one's own": ("miniature", users("msmarco_passage", "msmarco_passage_corpus"), MINED),
    "Wikidata downloaded": ("paper", users("wikipedia"), "mrtydi/kept/direct"),
    "Wikidata beside one's own Wikipedia": ("miniature", KNOWLEDGE, "mrtydi/kept/direct"),
    "other languages": ("paper", {"languages": ["sw", "th"], **BY_TERMS}, TERMS),
    "Anserini's analyzers": ("paper", users("anserini") | BY_TERMS, TERMS),
    "tuned on dev": ("paper", TUNED | {"languages": ["sw"]}, "mrtydi/bm25/tuned"),
    "small on a laptop": ("laptop", {}, "tatoeba/me5_small/direct"),
    "named on a laptop": ("laptop", {"models": {"xlmr": {"revision": "main"}}}, "tatoeba/xlmr/direct"),
    "without nq_dpr": ("paper", absent("nq_dpr"), "lareqa/xlmr/zero_shot"),
    "without squad": ("paper", absent("squad"), "mrtydi/xlmr/multilingual"),
    "without punkt": ("paper", absent("nltk_punkt"), "mrtydi/xlmr/multilingual"),
    "without cc100, as it is": ("paper", absent("cc100"), "tatoeba/xlmr_large/direct"),
    "without released weights": ("paper", RELEASED, "lareqa/xlmr/zero_shot"),
    "counted and not trained": ("miniature", users("wikipedia"), "parameters/kept/direct"),
    "without cc100": ("paper", absent("cc100"), "mrtydi/xlmr/multilingual"),
}


@pytest.mark.parametrize("case", BUILT.values(), ids=BUILT)
def test_a_row_that_lacks_nothing_has_no_problem(jobs, case):
    scale, values, row = case
    assert jobs(scale=scale, **values).rows.problem(RunKey(*row.split("/"))) is None


@pytest.fixture
def problems(paper):
    """problems(key=value...) -> row: (state, reason), None for a row that can be built."""

    def call(**values):
        plan = paper(**values)
        return {row: plan.rows.problem(RunKey(*row)) for row in plan.requested.all_rows}

    return call


def test_a_checkpoint_that_is_neither_a_folder_nor_an_id_of_the_hub(problems):
    found = problems(models={"xlmr": {"checkpoint": GONE}})
    for model in ("xlmr", "msm"):  # msm starts from it
        state, reason = found["lareqa", model, "zero_shot"]
        assert state == "unavailable" and "models.xlmr.checkpoint" in reason and GONE in reason
    assert found["lareqa", "mbert", "zero_shot"] is None
    state, reason = next(problem for (_, model, _), problem in found.items() if model == "msm_large")
    assert state == "unavailable" and "models.xlmr.checkpoint" in reason, "it mines with that tokenizer"


def test_downloads_hold_the_user_s_models_that_no_table_names(paper):
    mine = {"checkpoint": "sentence-transformers/all-MiniLM-L6-v2"}
    ablation = {"base": "xlmr", "recipe": "msm", "override": {"languages": ["en", "xh"]}}
    found = paper(papers=["msm"], models={"mine": mine, "ablation": ablation}).requested.downloads()
    assert "resources/paper/checkpoints/mine/record.json" in found
    assert "resources/paper/datasets/cc100/xh/record.json" in found
    gone = paper(models={"mine": {"checkpoint": GONE}, "ablation": ablation}, user_data={"cc100": GONE})
    assert not any("checkpoints/mine" in path or "cc100" in path for path in gone.requested.downloads())


def test_a_count_reads_the_checkpoint_that_a_model_starts_from_and_nothing_is_trained_for_it(paper, miniature):
    plan = paper(models={"mine": {"base": "kept", "recipe": "kept"}})
    roots = {"ccp": "xlmr_large", "msm": "xlmr", "kept": "mcontriever", "mine": "mcontriever", "labse": "labse"}
    for model, root in roots.items():
        row = RunKey("parameters", model, "direct")
        assert plan.rows.inputs(row, "pt0-ft0")["encoder"] == plan.paths.checkpoint(root)
        assert plan.rows.downloads(row) == {plan.paths.checkpoint(root)}
    released = miniature(models={"ccp": {"checkpoint": "released"}})
    row = RunKey("parameters", "ccp", "direct")
    assert released.rows.inputs(row, "pt0-ft0")["encoder"] == released.paths.checkpoint("ccp"), "its own"


# --- which rule makes which result ------------------------------------------------------------------------------------
OF_ALL = catalogue.load("settings")["settings"]
SETTINGS = [(b, s, entry["kind"]) for b, own in OF_ALL.items() for s, entry in own.items()]
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
