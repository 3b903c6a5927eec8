"""Datasets of the user's own: used whole, not mixed with generated ones, tracked by the files that a job reads."""

from types import SimpleNamespace

import pytest

from stele import catalogue
from stele.artifacts.results import RunKey
from stele.catalogue import datasets
from stele.cluster.text_costs import documents
from stele.errors import SteleError
from stele.plan import sources as module


def whole(*names, folder="."):
    return dict.fromkeys(names, str(folder))


def test_the_users_data_are_taken_whole(paper, miniature):
    plan = miniature(user_data=whole("tatoeba"))
    assert len(plan.data.languages("tatoeba")) == len(plan.data.part_languages("tatoeba", "all")) == 112
    assert plan.data.languages("lareqa") == ["ar", "en", "es", "ru", "th"]
    asked = miniature(user_data=whole("tatoeba"), languages=["sw"])
    assert asked.data.languages("tatoeba") == ["sw"]
    assert paper().data.languages("tatoeba") == plan.data.languages("tatoeba"), "as are real ones"


def test_the_users_training_sets_are_taken_whole(miniature):
    ours = catalogue.load("training_sets")["mrtydi"]["languages"]
    assert set(miniature().data.training_languages("mrtydi")) < set(ours)
    assert miniature(user_data=whole("mrtydi_train")).data.training_languages("mrtydi") == ours


def test_the_users_text_is_taken_whole_where_all_corpora_are_his(miniature):
    in_scale = miniature().pretraining.languages("msm")
    assert len(in_scale) == 10
    assert miniature(user_data=whole("cc100")).pretraining.languages("msm") == in_scale
    assert len(miniature(user_data=whole("wikipedia", "wikidata_items")).pretraining.languages("kept")) == 28
    both = miniature(user_data=whole("cc100", "wikipedia"))
    assert len(both.pretraining.languages("msm")) == 108
    assert both.rows.problem(RunKey("lareqa", "msm", "direct")) is None


def test_one_folder_of_mr_tydi_serves_judging_and_training(paper, tmp_path):
    one = paper(user_data=whole("mrtydi", folder=tmp_path))
    assert one.data.users_folder("mrtydi_train") == one.data.users_folder("mrtydi") == str(tmp_path)
    assert one.sources.dataset_locations("mrtydi_train") == {"user_data": str(tmp_path)}
    assert one.data.users_folder("mrtydi_corpus") is None
    two = paper(user_data={"mrtydi": "a", "mrtydi_train": "b"})
    assert (two.data.users_folder("mrtydi"), two.data.users_folder("mrtydi_train")) == ("a", "b")


def test_training_data_are_asked_for_by_fine_tuning_only(plan):
    for setting, wanted in (("zero_shot_nq", False), ("multilingual", True)):
        leaves = plan.rows.downloads(RunKey("mrtydi", "xlmr", setting))
        assert any("/mrtydi_train/" in leaf for leaf in leaves) == wanted
        assert any("/mrtydi/" in leaf for leaf in leaves)


@pytest.mark.parametrize(
    ("row", "given", "wanted"),
    [
        (("mrtydi", "xlmr", "direct"), ["mrtydi"], "user_data: {mrtydi_corpus: YOUR_FOLDER}"),
        (("xor_retrieve", "xlmr", "direct"), ["xor_tydi"], "user_data: {enwiki_20190201_w100: YOUR_FOLDER}"),
        (("nq", "xlmr", "direct"), ["psgs_w100"], "user_data: {nq_test: YOUR_FOLDER}"),
    ],
)
def test_real_and_generated_datasets_of_one_benchmark_are_not_mixed(paper, miniature, row, given, wanted):
    state, reason = miniature(user_data=whole(*given)).rows.problem(RunKey(*row))
    assert state == "unavailable" and wanted in reason and row[0] in reason
    assert paper(user_data=whole(*given)).rows.problem(RunKey(*row)) is None, "the others are downloaded"
    every = whole(*catalogue.load("benchmarks")[row[0]]["data"])
    assert miniature(user_data=every).rows.problem(RunKey(*row)) is None


def test_tools_go_with_any_data(miniature):
    plan = miniature(user_data=whole("nltk_punkt"))
    assert plan.rows.problem(RunKey("xor_retrieve", "xlmr", "direct")) is None
    assert plan.data.languages("xor_retrieve") == miniature().data.languages("xor_retrieve")


def test_text_to_pretrain_on_is_not_mixed_either(jobs, tmp_path):
    scale = tmp_path / "mixed.yaml"
    scale.write_text("title: mine\ngenerated: true\nlanguages: [en, sw]\npairs: {chunks: {corpus: cc100}}\n")
    state, reason = jobs(scale=str(scale), user_data=whole("cc100")).rows.problem(RunKey("lareqa", "kept", "direct"))
    assert state == "unavailable" and "pretraining of kept" in reason
    assert "user_data: {wikidata_items: YOUR_FOLDER, wikipedia: YOUR_FOLDER}" in reason


def test_only_the_languages_that_are_read_are_fetched(paper):
    table = catalogue.load("benchmarks")["mewsli_x"]["languages"]
    whole_set = paper().data
    assert set(whole_set.part_languages("mewsli_x", "all")) == set(table)
    assert len(whole_set.part_languages("tatoeba", "all")) == 112
    asked = paper(languages=["sw", "tr"])
    assert asked.data.part_languages("tatoeba", "all") == ["sw", "tr"]
    assert len(asked.data.part_languages("lareqa", "all")) == 11, "one pool of candidates"
    assert len(asked.data.part_languages("xor_tydi", "all")) == 7, "one file, which nothing fetches anew"


def test_a_part_is_tracked_by_its_own_files(paper, tmp_path):
    def contents():
        plan = paper(user_data=whole("cc100", folder=tmp_path))
        return {part: plan.sources.user_content("cc100", part) for part in ("sw", "th")}

    for code in ("sw", "th"):
        (tmp_path / f"{code}.txt.xz").write_bytes(b"text")
    before = contents()
    (tmp_path / "th.txt.xz").write_bytes(b"other text")
    (tmp_path / "notes.txt").write_text("of no part")
    after = contents()
    assert after["sw"] == before["sw"] and after["th"] != before["th"]
    assert paper().sources.user_content("cc100", "sw") == ""


def test_files_of_the_user_are_read_once_a_run(paper, tmp_path, monkeypatch):
    (tmp_path / "sw.txt.xz").write_bytes(b"text")
    (tmp_path / "config.json").write_text("{}")
    read = []
    monkeypatch.setattr(module, "content_digest", lambda folder, memory, files=None: read.append(files) or "digest")
    models = {"mine": {"checkpoint": str(tmp_path)}}
    plan = paper(user_data=whole("cc100", folder=tmp_path), models=models)
    for _ in range(3):
        assert plan.sources.user_content("cc100", "sw") == plan.sources.checkpoint_content("mine") == "digest"
    assert read == [["sw.txt.xz"], ["config.json"]]


def test_what_mewsli_x_s_own_script_makes_lies_in_its_folder(paper, tmp_path):
    made = paper(user_data=whole("mewsli_x", folder=tmp_path))  # it holds the release, too
    places = [made.sources.dataset_locations(name) for name in ("mewsli_x", "mewsli_x_news")]
    assert places == [{"user_data": str(tmp_path)}] * 2


def test_every_dataset_of_the_user_has_a_content(paper, tmp_path):
    assert datasets.dataset("clef").files == []

    def contents():
        plan = paper(user_data=whole("mewsli_x", "clef", folder=tmp_path))
        return plan.sources.user_content("mewsli_x", "all"), plan.sources.user_content("clef", "all")

    mentions, pairs = "wikinews_mentions_no_text-test.jsonl", "wikipedia_pairs-{}.jsonl"
    for path in ("candidate_set_entities.jsonl", pairs.format("train"), pairs.format("dev"), mentions):
        (tmp_path / path).write_text("x")
    before = contents()
    (tmp_path / "candidate_set_entities.jsonl").write_text("y")
    after = contents()
    assert before[0] != after[0] and before[1] != after[1]


# --- documents of one's own in place of CC-100, in the languages that their folder holds ------------------------------
@pytest.fixture
def learning(checked, tmp_path):
    """learning(languages) -> the plan of such a model that learns from a folder in lv, fr and xal."""
    (tmp_path / "mine" / "xal").mkdir(parents=True)
    for name in ("lv.txt", "fr.txt", "xal/a.txt", "xal/b.txt"):
        (tmp_path / "mine" / name).write_text("Teksts. Vēl viens.\n" * 50)

    def make(languages, recipe="msm"):
        model = {"base": "xlmr", "recipe": recipe, "override": {"languages": languages}}
        return checked(scale="paper", user_data={"documents": str(tmp_path / "mine")}, models={"mine": model})

    return make


@pytest.mark.parametrize("recipe", ["msm", "ccp"])
def test_a_recipe_reads_them_and_the_catalogue_needs_no_entry(learning, recipe):
    made = learning(["lv", "xal"], recipe)
    assert made.pretraining.texts("mine") == [("documents", "lv"), ("documents", "xal")]
    mining = next(iter(made.pretraining.stores("mine").values()))
    assert made.mining.documents(mining, "xal") == [made.paths.documents("documents", "xal")]
    assert made.settings.language("xal").name == "xal" and made.data.problem(["documents"]) is None


def test_a_language_that_they_lack_is_refused_with_those_that_they_have(learning):
    with pytest.raises(SteleError, match=r"override\.languages: user_data\.documents .* in de; .*\[fr, lv, xal"):
        learning(["lv", "de"])
    state, reason = learning(["lv", "xal"]).rows.problem(RunKey("lareqa", "msm", "direct"))
    assert state == "unavailable" and "msm: user_data.documents has no text in " in reason


def test_their_own_bytes_are_what_is_reckoned_with(learning):
    made = learning(["lv", "xal"])
    assert made.mining.bytes_of_text("msm", "xal") == 2 * made.mining.bytes_of_text("msm", "lv") == 2 * 50 * 20
    assert documents(made, SimpleNamespace(part="xal")).kept < 2000


def test_another_byte_is_another_job_of_its_language_alone(jobs, tmp_path):
    for name in ("lv.txt", "xal.txt"):
        (tmp_path / name).write_text("Teksts.")
    values = {"user_data": {"documents": str(tmp_path)}, "scale": "paper"}
    digests = [jobs(**values).sources.user_content("documents", code) for code in ("lv", "xal")]
    (tmp_path / "xal.txt").write_text("Tekste.")
    changed = [jobs(**values).sources.user_content("documents", code) for code in ("lv", "xal")]
    assert digests[0] == changed[0] and digests[1] != changed[1]


def test_a_link_that_leads_nowhere_is_named(paper, tmp_path):
    for dataset, name in (("documents", "lv.txt"), ("cc100", "lv.txt.xz")):
        (tmp_path / dataset).mkdir()
        (tmp_path / dataset / name).symlink_to(tmp_path / "disk" / name)
        plan = paper(user_data={dataset: str(tmp_path / dataset)})
        with pytest.raises(SteleError, match=rf"{dataset}/{name}: cannot be read \(No such file or directory\)"):
            plan.corpora.bytes_of_text(dataset, "lv")
