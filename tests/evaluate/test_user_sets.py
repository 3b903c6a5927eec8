"""Data sets of one's own by path: no entry of the catalogue; damage is found when they are taken in."""

import json
from pathlib import Path

import pytest
import yaml

from stele import catalogue
from stele.artifacts.results import RunKey
from stele.benchmarks.beir import Beir, checked_judgments
from stele.benchmarks.types import QuerySet
from stele.catalogue.schema.benchmarks import Benchmark
from stele.command import cli
from stele.config.user_sets import earlier_sets, user_sets
from stele.errors import SteleError
from stele.evaluate import evaluate

CORPUS = '{"_id": "d1", "title": "Water", "text": "boils"}\n{"_id": "d2", "text": "freezes"}\n'
QUERIES = '{"_id": "q1", "text": "does water boil?"}\n{"_id": "q2", "text": "does it freeze?"}\n'
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\n"
BEIR = {"corpus.jsonl": CORPUS, "queries.jsonl": QUERIES, "qrels/test.tsv": QRELS, "qrels/train.tsv": QRELS}
LV = {"lv-corpus.jsonl": CORPUS, "lv-queries.jsonl": QUERIES, "lv-qrels/test.tsv": QRELS}


@pytest.fixture(autouse=True)
def additions():
    """What a test adds to the catalogue is gone after it."""
    yield
    catalogue.add({})


def folder(place, files):
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    return place


def test_a_folder_is_a_benchmark_of_its_name(jobs, tmp_path):
    values = user_sets([folder(tmp_path / "My-Facts", BEIR)], ["lv"])
    plan = jobs(scale="paper", cards={"me5_small": ["my_facts"]}, **values)
    assert plan.cards.rows_of("me5_small") == [RunKey("my_facts", "me5_small", "direct")]
    assert plan.data.languages("my_facts") == ["lv"] and plan.data.is_users(["my_facts"])
    assert [file.path for file in plan.data.resolve("my_facts", "all", ["lv"]).files] == [
        "corpus.jsonl",
        "qrels/test.tsv",
        "queries.jsonl",
    ]
    assert catalogue.entry(Benchmark, "my_facts").module == "beir"  # as the commands of jobs know it
    jobs(scale="paper")
    assert "my_facts" not in catalogue.entries(Benchmark)


def test_a_folder_that_is_called_as_one_of_the_results_has_another_name(jobs, tmp_path):
    """results_dir/tables/ holds no benchmark's results: what reads results leaves it out."""
    values = user_sets([folder(tmp_path / "tables", BEIR)], None)
    assert list(values["add_benchmarks"]) == ["tables_own"]
    assert jobs(scale="paper", **values).data.languages("tables_own") == ["und"]


def test_a_dataset_s_languages_are_words_of_no_command_line(jobs, tmp_path):
    values = user_sets([folder(tmp_path / "set", BEIR)], None)
    values["add_datasets"]["set"]["languages"] = ["en; true"]
    with pytest.raises(SteleError, match=r"add_datasets\.set\.languages: found 'en; true'; want a code"):
        jobs(scale="paper", **values)


def test_a_folder_below_the_home_folder_is_one_however_it_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    place, short = folder(tmp_path / "set", BEIR), "~/set"
    assert user_sets([Path(short)], None)["user_data"] == {"set": str(place)}
    assert user_sets([place], None, {"user_data": {"set": short}})["user_data"] == {"set": str(place)}


def test_measures_of_a_set_that_config_yaml_has_stay_and_its_data_are_those_of_the_folder(tmp_path):
    place = folder(tmp_path / "set", BEIR)
    of_config = {"add_benchmarks": {"set": {"metrics": ["mrr@10"], "data": ["of_hub"], "module": "mrtydi"}}}
    entry = user_sets([place], None, of_config)["add_benchmarks"]["set"]
    assert entry == user_sets([place], None)["add_benchmarks"]["set"] | {"metrics": ["mrr@10"]}


def test_a_set_of_an_earlier_call_keeps_its_name(jobs, tmp_path):
    """The last plan, which commands read, knows a set of that name by then: it is this one."""
    place = folder(tmp_path / "set", BEIR)
    first = user_sets([place], None)
    jobs(scale="paper", **first)
    assert user_sets([place], None, first) == first and list(first["add_benchmarks"]) == ["set"]
    other = folder(tmp_path / "other/set", BEIR)
    with pytest.raises(SteleError, match="would both be called set"):
        user_sets([other], None, first)
    place.rename(tmp_path / "elsewhere")
    assert user_sets([other], None, first)["user_data"] == {"set": str(other)}, "the set was moved"


def test_subsets_are_languages_and_a_language_that_nobody_describes_is_one(jobs, tmp_path):
    codes = ["lv", "lv-xal", "xal"]
    mteb = {f"{code}-{role}/test.jsonl": CORPUS for code in codes for role in ("corpus", "queries", "qrels")}
    plan = jobs(scale="paper", **user_sets([folder(tmp_path / "set", mteb)], None))
    assert plan.data.languages("set") == codes and plan.settings.language("xal").name == "xal"
    unnamed = jobs(scale="paper", **user_sets([folder(tmp_path / "nq", BEIR)], ["lv", "de"]))
    assert unnamed.data.languages("nq_own") == ["und"], "nothing says its language, and the catalogue has a set nq"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, r"no corpus in it \(found nothing\); want corpus\.jsonl, queries\.jsonl and qrels/test\.tsv"),
        ({"corpus.jsonl": CORPUS, "queries.jsonl": QUERIES}, "no qrels in it"),
        ({**BEIR, "qrels/test.tsv": None, "qrels/dev.tsv": QRELS}, "judgments of dev and train; keep those of one"),
        ({**BEIR, "en-GB-corpus/a.jsonl": CORPUS}, "subset 'en-GB': want a language's code"),
        ({**BEIR, "old-corpus.jsonl": CORPUS}, "set: corpus.jsonl would not be read beside old-corpus; keep"),
        ({**BEIR, "two/qrels/test.tsv": QRELS}, "one file of judgments of one split, found qrels/test.tsv, two/qrels"),
        ({**LV, "de-corpus.jsonl": CORPUS, "de-queries.jsonl": QUERIES, "de-qrels/dev.tsv": QRELS}, "de, found none"),
    ],
)
def test_a_folder_that_lacks_something_is_refused(tmp_path, files, message):
    place = folder(tmp_path / "set", {name: text for name, text in files.items() if text})
    place.mkdir(exist_ok=True)
    with pytest.raises(SteleError, match=message):
        user_sets([place], None)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("corpus.jsonl", CORPUS + '{"_id": "d3", "text": \n', "corpus.jsonl, line 3: not a readable line of JSON"),
        ("qrels/test.tsv", QRELS.replace("\t1\n", "\t0\n"), "qrels/test.tsv: no score above 0"),
        ("qrels/test.tsv", QRELS.replace("\td", "\tx"), "qrels/test.tsv: none of the 2 relevant documents (x1, x2)"),
        ("qrels/test.tsv", QRELS.partition("q2")[0], "qrels/test.tsv: only one query is judged; want at least two"),
        ("queries.jsonl", QUERIES.replace("does it freeze?", " "), "queries.jsonl: query q2 has no text"),
        ("corpus.json", CORPUS, "corpus.jsonl, line 1: _id 'd1' appears twice"),
    ],
)
def test_a_damaged_line_is_found_when_the_set_is_taken_in(tmp_path, capsys, name, text, message):
    place = folder(tmp_path / "set", {**BEIR, "corpus.jsonl~": "a backup", "queries.md": "a note", name: text})
    values = user_sets([place], None)
    catalogue.add({"datasets": values["add_datasets"]})
    words = ["--part", "all", "--user-data", str(place), "--state", str(tmp_path / "state")]
    output = tmp_path / "out" / "record.json"
    assert cli.main(["sources", "dataset", "--dataset", "set", *words, "--output", str(output)]) == 1
    assert f"{place}/{message}" in capsys.readouterr().err and not output.exists()


def test_a_folder_with_several_splits_is_scored_by_the_one_that_was_evaluated(tmp_path):
    """docs/scoring.md: `--data my_set=my_set/` after `stele evaluate --data my_set/`; it was refused."""
    place = folder(tmp_path / "set", {**BEIR, "qrels/train.tsv": QRELS + "q1\td2\t1\n"})
    catalogue.add({"datasets": user_sets([place], None)["add_datasets"]})
    judged = Beir().judgments({"set": {"all": place}}, QuerySet("und", "und", "und"))
    assert judged == {"q1": {"d1": 1}, "q2": {"d2": 1}}


@pytest.mark.parametrize("shared", ["corpus", "queries"])
def test_what_subsets_share_is_held_against_what_each_has(tmp_path, shared):
    """A corpus and judgments of all languages' questions, or questions and judgments of all languages' corpora."""
    own, texts = ("queries", QUERIES) if shared == "corpus" else ("corpus", CORPUS)
    both = {**BEIR, f"de-{own}.jsonl": texts, f"fr-{own}.jsonl": texts}
    files = {name: text for name, text in both.items() if name not in (f"{own}.jsonl", "qrels/train.tsv")}
    place = folder(tmp_path / "set", files)
    paths = [place / name for name in files]
    assert checked_judgments(paths) == 2
    (place / f"fr-{own}.jsonl").write_text(texts.replace('"d', '"x').replace('"q', '"x'))
    with pytest.raises(SteleError, match=r"relevant documents .* is in the corpus|judged queries are not in it"):
        checked_judgments(paths)


@pytest.fixture
def project(tmp_path, monkeypatch, root):
    """A project in which nothing is fetched or built."""
    monkeypatch.chdir(tmp_path)
    for name in ("config.yaml", "paper_tables"):
        (tmp_path / name).symlink_to(root / name)
    monkeypatch.setattr(evaluate, "build", lambda arguments: None)
    monkeypatch.setattr(evaluate, "cost", lambda *_: "")
    monkeypatch.setattr(evaluate, "check_checkpoint", lambda plan, name: None)
    return tmp_path


def test_the_command_writes_a_configuration_and_keeps_the_sets_of_before(project, tmp_path, capsys):
    one, two = folder(tmp_path / "one", BEIR), folder(tmp_path / "two", BEIR)
    assert cli.main(["evaluate", "me5_small", "--data", str(one)]) == 0
    (tmp_path / "results_evaluate" / "one" / "me5_small").mkdir(parents=True)
    (tmp_path / "results_evaluate" / "one" / "me5_small" / "direct.json").write_text("{}")
    with (tmp_path / "evaluate" / "me5_small.yaml").open("a") as file:
        file.write("keep_index: true\n")  # edited by hand
    assert cli.main(["evaluate", "me5_small", "--data", str(two)]) == 0
    written = yaml.safe_load((tmp_path / "evaluate" / "me5_small.yaml").read_text())
    assert written["cards"] == {"me5_small": ["one", "two"]} and written["keep_index"] is True
    assert written["user_data"] == {"one": str(one), "two": str(two)}
    assert {*written["add_benchmarks"]} == {*written["add_datasets"]} == {*written["add_settings"]} == {"one", "two"}
    assert json.dumps(written)  # plain values
    other = folder(tmp_path / "other/one", BEIR)
    assert cli.main(["evaluate", "me5_base", "--data", str(other)]) == 1, "of this model there are no results"
    assert f"{one} and {other} would both be called one" in capsys.readouterr().err
    assert cli.main(["evaluate", "me5_base", "--data", str(other), "--results-dir", "results_other"]) == 0


@pytest.fixture
def planned(project):
    """The configuration, once written by a plan, of a model that has results now."""
    assert cli.main(["evaluate", "me5_small", "--benchmarks", "mrtydi", "--plan"]) == 0
    (results := project / "results_evaluate/mrtydi/me5_small/direct.json").parent.mkdir(parents=True)
    results.write_text("{}")
    (project / "results_evaluate/scale.txt").write_text("paper")
    return project / "evaluate/me5_small.yaml"


def test_a_plan_changes_nothing_that_later_calls_know_of_the_results(planned):
    """The card would lose the benchmarks with results."""
    before = planned.read_text()
    assert cli.main(["evaluate", "me5_small", "--benchmarks", "mrtydi", "--plan", "--languages", "sw"]) == 0
    assert planned.read_text() == before


def test_a_call_for_another_folder_hides_nothing_of_the_first_one(planned, capsys):
    """The card there would lose its benchmarks, and another encoding could have results there under this name."""
    other = ["evaluate", "me5_small", "--benchmarks", "lareqa", "--encoding", "pooling=cls"]
    for _ in range(2):
        assert cli.main([*other, "--results-dir", "apart"]) == 0
    apart = planned.parent / "apart/me5_small.yaml"
    assert yaml.safe_load(apart.read_text())["results_dir"] == "apart"
    for _ in range(2):
        assert cli.main([*other, "--results-dir", "in/apart"]) == 0  # a third one, called as the second
    assert yaml.safe_load(apart.read_text())["results_dir"] == "apart" and len([*planned.parent.rglob("*.yaml")]) == 3
    assert cli.main(other) == 1 and "has results of me5_small with model" in capsys.readouterr().err
    assert cli.main(["evaluate", "me5_small", "--benchmarks", "lareqa"]) == 0
    assert yaml.safe_load(planned.read_text())["cards"] == {"me5_small": ["mrtydi", "lareqa"]}


def test_an_earlier_benchmark_keeps_the_datasets_that_have_other_names(tmp_path):
    """Those of a --configfile that a later call does not give; else they would be downloaded, or be unknown."""
    sets = user_sets([folder(tmp_path / "facts", BEIR)], None)
    sets["add_benchmarks"]["quiz"] = {**sets["add_benchmarks"].pop("facts"), "judgments": ["key"]}
    sets["add_settings"]["quiz"] = sets["add_settings"].pop("facts")
    sets["add_datasets"]["key"] = sets["add_datasets"]["facts"]
    sets["user_data"] |= {"mrtydi": "a", "mrtydi_corpus": "b"}
    path = tmp_path / "m.yaml"
    path.write_text(yaml.safe_dump({**sets, "user_data": {**sets["user_data"], "tatoeba": "c"}}))
    assert earlier_sets(path, ["quiz", "mrtydi", "of_config_yaml"]) == sets and earlier_sets(path, []) == {}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"add_benchmarks": {"nq": {}}}, "the catalogue has it"),
        (
            {"add_benchmarks": {"set": {"data": ["sett"]}}},
            "add_benchmarks.set.data: unknown dataset 'sett'; did you mean",
        ),
        ({"add_benchmarks": {"set": {"judgments": ["sett"]}}}, "add_benchmarks.set.judgments: unknown dataset 'sett'"),
        (
            {"add_benchmarks": {"set": {"judgments": []}}},
            "set.judgments: empty; name at least one dataset",
        ),
        ({"add_benchmarks": {"set": {"module": "bier"}}}, "unknown module 'bier'; did you mean 'beir'"),
        ({"add_settings": {}}, "it has no settings; add some"),
        ({"add_settings": {"nq": {"direct": {"kind": "dense"}}}}, "add_settings.nq.direct: the catalogue has it"),
        ({"add_settings": {"mrtydi": {"zero_shot": {"kind": "dense"}}}}, "mrtydi.zero_shot: the catalogue has it"),
        ({"add_benchmarks": {"tables": {}}}, r"add_benchmarks.tables: results_dir has a folder tables/ of its own"),
        ({"add_benchmarks": {"set": {"languages": ["../lv"]}}}, r"add_benchmarks.set.languages: found '../lv'; want"),
        ({"add_benchmarks": {"set": {"languages": ["$(date)"]}}}, r"set.languages: found '\$\(date\)'; want a code"),
        ({"cards": {"me5_smal": ["set"]}}, "cards.me5_smal: unknown model 'me5_smal'; did you mean 'me5_small'"),
        ({"cards": {"me5_small": ["sett"]}}, "unknown benchmark 'sett'; did you mean 'set'"),
    ],
)
def test_additions_are_checked(jobs, tmp_path, changes, message):
    values = user_sets([folder(tmp_path / "set", BEIR)], None)
    for key, entries in changes.items():
        whole = values.get("add_benchmarks", {}).get("set", {})
        if key == "add_benchmarks":
            entries = {name: {**whole, **entry} for name, entry in entries.items()}
        values[key] = {**values.get(key, {}), **entries} if entries else {}
    with pytest.raises(SteleError, match=message):
        jobs(scale="paper", **values)
