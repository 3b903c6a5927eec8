"""Corpora as they are planned: wikis and the shards of their dumps, dates, caps."""

import json

import pytest

from stele import catalogue
from stele.catalogue.datasets import mirror_path
from stele.cluster.requests import estimate
from stele.config.model import parse_config
from stele.errors import SteleError
from stele.sources import dataset
from tests.jobs import job


def test_a_dump_is_cut_by_its_size(jobs, miniature, plan, tmp_path):
    sizes, part = catalogue.load("dump_sizes"), plan.settings.sizes.shard_bytes["wikipedia"]
    for code in plan.pretraining.languages("kept"):
        size, shards = sizes[plan.corpora.wiki(code)], len(plan.corpora.documents("wikipedia", code))
        assert shards == 1 or part / 2 < size / shards < 2 * part
        assert shards > 1 or size < 1.5 * part
    assert plan.corpora.dump_mb("en", "fr") == (sizes["enwiki"] + sizes["frwiki"]) >> 20
    assert miniature().corpora.dump_mb("en", "fr") == 2
    (tmp_path / "own.yaml").write_text("title: mine\ngenerated: false\n")
    assert jobs(scale=str(tmp_path / "own.yaml")).corpora.shards("en") == 1


def test_a_dump_of_one_s_own_is_cut_by_its_own_size_if_it_can_be_cut(paper, miniature, tmp_path):
    def filed(name, size):
        (tmp_path / "wiki").mkdir(exist_ok=True)
        with open(tmp_path / "wiki" / name, "wb") as handle:
            handle.truncate(size)

    part = paper().settings.sizes.shard_bytes["wikipedia"]
    filed("swwiki-20240801-pages-articles.xml.bz2", 3 * part)
    filed("fiwiki-20240801-pages-articles-multistream.xml.bz2", 3 * part)
    filed("fiwiki-20240801-pages-articles-multistream-index.txt.bz2", 1000)
    plan = paper(user_data={"wikipedia": str(tmp_path / "wiki")})
    assert (plan.corpora.shards("sw"), plan.corpora.shards("fi")) == (1, 3)
    assert plan.corpora.dump_mb("sw") == plan.corpora.dump_mb("fi") == 3 * part >> 20
    assert miniature(user_data={"wikipedia": str(tmp_path / "wiki")}).corpora.shards("sw") == 1
    assert plan.corpora.shards("te") == paper().corpora.shards("te")  # not there: the job says so


def test_wikis_are_called_by_their_databases(plan):
    assert [plan.corpora.wiki(code) for code in ("en", "no", "yue")] == ["enwiki", "nowiki", "zh_yuewiki"]
    with pytest.raises(SteleError, match=r"language ber: languages\.yaml names no Wikipedia"):
        plan.corpora.wiki("ber")


def test_entities_are_looked_up_for_all_languages_in_scale_whoever_is_trained_on_them(paper, miniature, plan, tmp_path):
    assert {plan.corpora.wiki(code) for code in plan.pretraining.languages("kept")} < {*plan.corpora.knowledge_wikis}
    models = {"mine": {"base": "mcontriever", "recipe": "kept", "override": {"languages": ["xh"], "tasks": ["ilk"]}}}
    mine = paper(models=models)
    assert mine.corpora.knowledge_wikis == plan.corpora.knowledge_wikis
    small = miniature()
    assert small.corpora.knowledge_wikis == sorted(f"{code}wiki" for code in small.settings.sizes.languages)
    given = {name: str(tmp_path) for name in ("wikipedia", "wikidata_items")}
    assert miniature(user_data=given).corpora.knowledge_wikis == plan.corpora.knowledge_wikis


def test_dumps_have_a_date_unless_they_are_generated(paper, miniature, tmp_path):
    dated = {"dump_date": 20240801}
    for name in ("wikipedia", "wikidata_items"):
        assert paper(**dated).sources.dump_date(name) == "20240801"
        assert miniature(**dated).sources.dump_date(name) is None
        assert miniature(**dated, user_data={name: str(tmp_path)}).sources.dump_date(name) == "20240801"
        assert all(paper(dump_date=date).sources.dump_date(name) is None for date in (None, 20220801))
    of_date, usual = paper(**dated).sources, paper().sources
    assert of_date.dump_date("cc100") is None
    assert of_date.dataset_entry("cc100", "sw") == usual.dataset_entry("cc100", "sw")
    assert of_date.dataset_entry("wikipedia", "sw") != usual.dataset_entry("wikipedia", "sw")
    for wrong in ("2022", "2024-08-01", "latest"):
        with pytest.raises(SteleError, match=f"dump_date.*{wrong}"):
            parse_config({"dump_date": wrong})


def test_a_capped_corpus_is_read_as_far_as_the_scale_says_but_for_one_s_own(jobs, paper, tmp_path):
    text = "corpora: {cc100: {documents: 5000}, wikipedia: {pages: 100000}}\nshard_bytes: {wikipedia: 536870912}\n"
    (tmp_path / "capped.yaml").write_text(f"title: t\ngenerated: false\n{text}")
    whole, plan = paper(), jobs(scale=str(tmp_path / "capped.yaml"))
    first = {name: plan.corpora.first(name) for name in ("cc100", "wikipedia", "wikidata_items")}
    assert first == {"cc100": 5000, "wikipedia": 100_000, "wikidata_items": None}
    assert whole.corpora.first("cc100") is None and whole.corpora.shards("en") == 39 > plan.corpora.shards("en") == 2
    assert plan.corpora.dump_mb("en") == 10_000 * 100_000 >> 20
    assert plan.corpora.dump_mb("sw") == whole.corpora.dump_mb("sw")
    assert whole.corpora.dump_mb("en") > 20_000
    web, dump = (estimate(plan, "dataset", {"dataset": name, "part": "en"}).download for name in ("cc100", "wikipedia"))
    assert web < 5000 * 1000 and dump == plan.corpora.dump_mb("en") << 20
    own = jobs(scale=str(tmp_path / "capped.yaml"), user_data={"cc100": str(tmp_path)})
    assert own.corpora.first("cc100") is None and own.corpora.first("wikipedia") == 100_000


LATGALIAN = {"name": "Latgalian", "script": "Latin", "script_kind": "alphabet", "family": "Baltic", "wikipedia": "ltg"}


def test_a_language_that_the_catalogue_lacks_is_read_like_all_others(checked, tmp_path):
    models = {"mine": {"base": "mcontriever", "recipe": "kept", "override": {"languages": ["lv", "ltg"]}}}
    plan = checked(scale="paper", add_languages={"ltg": LATGALIAN}, models=models)
    assert ("wikipedia", "ltg") in plan.pretraining.texts("mine")
    assert plan.mining.parts("clk", plan.pretraining.languages("mine")) == ["ltg-lv"]
    assert "ltgwiki" in plan.corpora.knowledge_wikis and plan.corpora.shards("ltg") == 1
    assert plan.sources.added_source("wikipedia", "lv") is None
    # the job knows of it what it is given
    source = plan.sources.added_source("wikipedia", "ltg")
    url = json.loads(source)["files"][2]["url"]
    (path := tmp_path / "mirror" / mirror_path(url)).parent.mkdir(parents=True)
    path.write_bytes(b"")
    flags = ["--dataset", "wikipedia", "--part", "ltg", "--source", source, "--mirrors", str(tmp_path / "mirror")]
    places = ["--offline", "--state", str(tmp_path / "state"), "--output", str(tmp_path / "out/ltg/record.json")]
    with pytest.raises(SteleError, match=r"wikipedia ltg ltgwiki-20220801-pages-articles-multistream\.xml\.bz2"):
        dataset.run(job(dataset, [*flags, *places]))  # it looks for the dump, which is not there


def test_a_language_may_read_what_another_reads_which_keeps_it(paper):
    """Swiss German reads CC-100's German here, and the German Wikipedia; German stays a language of both."""

    def seen(plan):
        return {
            "entries": [plan.sources.dataset_entry(name, "de") for name in ("cc100", "wikipedia")],
            "wikis": plan.corpora.knowledge_wikis,
            "tatoeba": plan.data.languages_of("tatoeba"),  # one file a code
            "left out": plan.calibration.left_out("tatoeba"),
        }

    before = seen(plan := paper())
    languages = {name: plan.data.languages_of(name) for name in ("cc100", "wikipedia")}
    codes = {"cc100": "de", "wikipedia": "de", "tatoeba": "deu"}
    plan = paper(add_languages={"gsw": {**LATGALIAN, "name": "Swiss German", **codes}})
    assert seen(plan) == before
    assert {name: plan.data.languages_of(name) for name in languages} == {
        name: [*of_name, "gsw"] for name, of_name in languages.items()
    }


@pytest.mark.parametrize(
    ("added", "wanted"),
    [
        ({"en": LATGALIAN}, r"add_languages\.en: the catalogue has it already \(English\)"),
        ({"ltg": LATGALIAN | {"wikipdia": "ltg"}}, r"unknown key 'add_languages\.ltg\.wikipdia'; did you mean 'wikip"),
        ({"ltg": {"name": "Latgalian"}}, r"add_languages\.ltg\.script: Field required"),
        ({"LTG": LATGALIAN}, r"add_languages.*pattern"),
    ],
)
def test_a_wrong_language_is_refused_by_name(added, wanted):
    with pytest.raises(SteleError, match=wanted):
        parse_config({"add_languages": added})
