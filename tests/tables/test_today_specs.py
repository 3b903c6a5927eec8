"""Specs of the tables of today's encoders: what they must not hold, which rows they have, what a model saw."""

import pytest
from specs import TODAY

from stele.catalogue import entries, load, models
from stele.catalogue.models import seen_questions
from stele.catalogue.references import languages_of
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.languages import Language
from stele.catalogue.schema.models import Model
from stele.errors import SteleError
from stele.papers.paper import papers_in
from stele.papers.table import load_spec, load_specs


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("models: [me5_small, msm]}", "rows: [{key: a, label: A, printed: [1, 2, 3], target: {model: a}}]}",
         "row all/a: published numbers are those of references.tsv"),
        ("models: [me5_small, msm]}", "rows: [{key: a, label: A}]}", "row all/a, column ko: a benchmark, model"),
        ("models: [me5_small, msm]}", "models: [me5_smal]}", r"unknown model 'me5_smal'; did you mean 'me5_small'\?"),
        ("models: [me5_small, msm]}", "models: [msm], rows: [{key: a, label: A}]}", "want `rows`, or `models`"),
        ("key: all, models: [me5_small, msm]", "key: all", "group all: want `rows`, or `models`"),
        ("stub: Model", "stub: Model\nmarks: {x: y}", "`marks` describes a printed table, but no paper prints"),
        ("stub: Model", "stub: Model\nkind: stated", "tables of 'today' must have kind `result`"),
        ("metric: mrr@100}", "metric: mrr@100, averge: [ko]}", "unknown key 'target.averge'; did you mean 'average'"),
        ("number: 99", "number: 98", "belongs at today/table_98.yaml"),
    ],
)  # fmt: skip
def test_a_wrong_spec_is_refused(bench, old, new, message):
    with pytest.raises(SteleError, match=message):
        bench.spec(TODAY, **{old: new})


def test_a_paper_s_table_prints_its_rows(bench):
    with pytest.raises(SteleError, match="row all/msm: `printed` must have the lines value"):
        bench.spec(
            """
            paper: msm
            number: 99
            caption: x
            stub: x
            columns: [{key: ar, header: AR}]
            groups: [{key: all, models: [msm]}]
            """
        )


def test_today_is_every_encoder_that_is_used_as_it_is(bench):
    table = bench.spec(TODAY, **{"models: [me5_small, msm]": "models: today"})
    today = [(key, model.label) for key, model in entries(Model).items() if model.trained_on is not None]
    assert [(row.key, row.label) for _, row in table.rows()] == today and len(today) >= 19


def test_the_papers_specs_are_read_without_those_of_today(root):
    assert {table.paper for table in load_specs(root / "paper_tables")} == {*papers_in()}
    assert [table.number for table in load_specs(root / "paper_tables/today")] == [*range(1, 8)]


def test_belebele_s_directions_are_the_means_that_sources_print(root):
    table = load_spec(root / "paper_tables/today/table_05.yaml")
    means = {column.key: column.target.average for column in table.columns}
    for key, subset in (
        ("same", "same language (122)"),
        ("to_en", "passages X, questions English (121)"),
        ("from_en", "passages English, questions X (121)"),
    ):
        assert {*means[key]} == {*languages_of("belebele", subset)}
    assert sorted(means["all"]) == sorted(entries(Benchmark)["belebele"].languages)
    assert sorted([*means["same"], *means["to_en"], *means["from_en"], *means["scripts"]]) == sorted(means["all"])
    scripts = [
        code for key in means for code in means[key] if key not in ("all", "same", "to_en", "from_en", "scripts")
    ]
    assert sorted(scripts) == sorted(means["same"]), "each variant in one script"


def test_hard_negatives_scripts_hold_every_language_once_but_for_scripts_of_one_language(root):
    table = load_spec(root / "paper_tables/today/table_03.yaml")
    scripts = {
        column.key: column.target.average for column in table.columns if column.target.average and column.key != "avg"
    }
    languages, kinds = entries(Benchmark)["miracl_hard_negatives"].languages, entries(Language)
    assert sorted([*(code for codes in scripts.values() for code in codes), "ru", "hi", "th"]) == sorted(languages)
    assert {kinds[code].script for code in scripts["latin"]} == {"Latin"}
    assert {kinds[code].script for code in scripts["arabic"]} == {"Arabic"}
    alone = [kinds[code].script for code in ("ru", "hi", "th")]
    assert not {*alone} & {kinds[code].script for codes in scripts.values() for code in codes}


@pytest.mark.parametrize(
    ("benchmark", "model", "setting", "seen"),
    [
        ("miracl", "arctic_l_v2", "direct", ("miracl",)),
        ("mrtydi", "arctic_l_v2", "direct", ("miracl",)),  # MIRACL's questions are Mr. TyDi's
        ("miracl", "mcontriever_marco", "direct", ()),
        ("miracl", "msm", "zero_shot_marco", ()),
        ("miracl", "msm", "multilingual", ("miracl",)),
        ("belebele", "me5_small", "direct", ()),
        ("lareqa", "me5_small", "direct", ("xquad",)),
        ("nq", "own_model", "supervised", ("nq",)),
    ],
)
def test_what_a_model_saw_is_of_its_training_and_of_its_fine_tuning(benchmark, model, setting, seen):
    assert seen_questions(benchmark, model, setting) == seen


def test_a_recipe_that_ends_in_a_language_saw_the_questions_of_its_training_set(monkeypatch):
    settings = {"settings": {"mrtydi": {"swahili": {"kind": "dense", "recipe": "mrtydi-sw"}}}}
    monkeypatch.setattr(models, "load", lambda name: settings if name == "settings" else load(name))
    assert seen_questions("mrtydi", "msm", "swahili") == ("mrtydi",)
