"""Published numbers: each has a source, none is broken, and what sources call a language is one of ours."""

import pytest

from stele.catalogue import entries, references
from stele.catalogue.references import COLUMNS, FILE, language_of, languages_of, published, read_references
from stele.catalogue.schema.models import Model
from stele.catalogue.schema.published import PublishedBenchmark
from stele.errors import SteleError
from stele.files.strict import validate

ROW = {
    "model": "intfloat/multilingual-e5-base", "system": "", "benchmark": "mrtydi", "subset": "sw", "split": "test",
    "metric": "mrr@100", "value": "0.5", "tolerance": "", "source": "paper", "locator": "table 3", "model_revision": "",
    "status": "read", "note": "",
}  # fmt: skip


def written(path, *rows, columns=COLUMNS):
    lines = ["\t".join(columns), *("\t".join(row.get(column, "") for column in columns) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_all_that_is_shipped_is_read_and_none_is_a_percentage():
    scores = read_references(FILE)
    assert len(scores) > 2_000
    assert all(0 <= score.value <= 1 and score.locator for score in scores)


def test_a_number_without_a_tolerance_of_its_own_has_the_common_one(tmp_path):
    (score,) = read_references(written(tmp_path / "r.tsv", ROW))
    assert (score.value, score.tolerance, score.judges) == (0.5, 0.005, True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"source": ""}, r"r.tsv, line 3: source"),
        ({"locator": ""}, r"line 3: locator"),
        ({"value": "0,5"}, r"line 3: value: .* a valid number.* \(found '0,5'\)"),
        ({"value": "nan"}, r"line 3: value"),
        ({"status": "suspect"}, r"line 3: status"),
        ({"tolerance": "0"}, r"line 3: tolerance"),
        ({"note": "said again"}, "twice for one source"),
    ],
)
def test_a_row_that_says_too_little_or_too_much_is_refused_with_its_line(tmp_path, change, message):
    with pytest.raises(SteleError, match=message):
        read_references(written(tmp_path / "r.tsv", ROW, {**ROW, **change}))


def test_other_columns_are_refused(tmp_path):
    with pytest.raises(SteleError, match="want the columns model, system"):
        read_references(written(tmp_path / "r.tsv", ROW, columns=COLUMNS[:-1]))


def test_several_sources_of_one_number_stand_side_by_side(tmp_path):
    assert len(read_references(written(tmp_path / "r.tsv", ROW, {**ROW, "source": "model card"}))) == 2


@pytest.mark.parametrize(
    ("benchmark", "subset", "language"),
    [
        ("mrtydi", "korean", "ko"),
        ("mrtydi", "ko", "ko"),
        ("mrtydi", "avg", "average"),
        ("tatoeba", "cmn-eng", "zh"),
        ("tatoeba", "all 112", "average"),
        ("tatoeba", "cmn", None),
        ("miracl", "mean as printed (languages not named)", None),
    ],
)
def test_what_sources_call_languages_is_ours(benchmark, subset, language):
    assert language_of(benchmark, subset) == language


@pytest.mark.parametrize(
    ("benchmark", "subset", "count", "some"),
    [
        ("belebele", "same language (122)", 122, ["en-en", "arb_Latn-arb_Latn"]),
        ("belebele", "passages X, questions English (121)", 121, ["ru-en"]),
        ("belebele", "passages English, questions X (121)", 121, ["en-ru"]),
        ("neuclir_clir", "clir fas", 1, ["fa"]),
        ("neuclir_clir", "mono fas", 0, []),
        ("miracl", "ko", 0, []),
    ],
)
def test_a_mean_that_sources_name_is_over_languages_of_ours(benchmark, subset, count, some):
    codes = languages_of(benchmark, subset)
    assert len(codes) == count and {*some} <= {*codes}
    assert "en-en" not in codes or subset.startswith("same")


def test_every_subset_that_is_named_here_is_one_of_the_file_s():
    for benchmark, about in entries(PublishedBenchmark).items():
        subsets = {score.subset for score in published()[benchmark]}
        assert {*about.average, *about.subsets} <= subsets and all(
            languages_of(benchmark, one) for one in about.subsets
        )


def test_a_pattern_that_is_none_is_refused():
    with pytest.raises(SteleError, match=r"subsets\.x: .*a valid regular expression"):
        validate(PublishedBenchmark, {"split": "test", "subsets": {"x": "(en"}}, "published.yaml")


def test_every_encoder_of_today_has_a_published_number_to_be_held_against():
    known = {score.model for scores in published().values() for score in scores}
    today = [model for model in entries(Model).values() if model.is_complete]
    assert not [model.label for model in today if not {model.checkpoint, model.same_weights_as} & known]


def test_benchmarks_whose_words_are_not_known_are_left_out():
    assert published().keys() == entries(PublishedBenchmark).keys()
    assert references.published()["mrtydi"] and "bucc_v2" not in published()
