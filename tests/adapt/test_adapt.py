"""stele adapt: sizes by the rules, the configuration that is written and kept, and what is refused."""

import json
from pathlib import Path

import pytest
import yaml

from stele import catalogue
from stele.adapt import adapt
from stele.adapt.adapt import report
from stele.adapt.planning.configuration import evaluated_keys, sizes_of, steps_within, trained_models
from stele.catalogue import read_yaml, whole
from stele.catalogue.schema.adaptation import AdaptationRules
from stele.command import cli
from stele.config.model import parse_config
from stele.config.user_sets import merged
from stele.errors import SteleError
from stele.evaluate.evaluate import check_checkpoint
from stele.plan.plan import Plan
from stele.recipes.flops import Shape
from tests.conftest import ROOT
from tests.encoders.tiny_models import sentence_transformers_folder
from tests.sealed import write_sealed

RULES = whole(AdaptationRules)
MINILM, BASE, LARGE = Shape(6, 384, 1536, 30522), Shape(12, 768, 3072, 250002), Shape(24, 1024, 4096, 250002)


def test_a_larger_encoder_has_a_lower_rate_and_no_larger_steps():
    sizes = [sizes_of(shape, RULES) for shape in (MINILM, BASE, LARGE)]
    rates, groups = [line.learning_rate for line in sizes], [line.groups for line in sizes]
    assert rates == sorted(rates, reverse=True) and len({*rates}) == 3 and groups == sorted(groups, reverse=True)


def test_words_do_not_make_an_encoder_larger():
    assert sizes_of(MINILM._replace(vocabulary=250_000), RULES) == sizes_of(MINILM, RULES)
    largest = BASE._replace(inner=4974)  # 119,992,320 weights: 12 layers of 4 x 768^2 and twice 768 x 4974
    assert sizes_of(largest, RULES) == sizes_of(BASE, RULES) != sizes_of(BASE._replace(inner=4975), RULES)


def test_a_budget_is_shared_by_all_trainings_and_one_that_allows_no_step_is_refused():
    assert steps_within(2.0, 3.6, 8, RULES) == 250
    with pytest.raises(SteleError, match=r"--hours 0.01 allows 1 step of 4 s in each of 6 trainings; .*at least 4 m"):
        steps_within(0.01, 4.0, 6, RULES)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with documents in two languages and a folder that names an encoder of MiniLM's sizes."""
    (tmp_path / "config.yaml").write_text((ROOT / "config.yaml").read_text())
    for name in ("text", "encoder", "tatoeba"):
        (tmp_path / name).mkdir()
    (tmp_path / "encoder/config.json").write_text(
        '{"num_hidden_layers": 6, "hidden_size": 384, "intermediate_size": 1536, "vocab_size": 99}'
    )
    (tmp_path / "mine.yaml").write_text(f"user_data: {{tatoeba: {tmp_path / 'tatoeba'}}}\noffline: true\n")
    monkeypatch.chdir(tmp_path)
    for code in ("de", "fr"):
        add_text(code)
    for name in ("paper_tables", "src"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.setattr(adapt, "check_checkpoint", lambda *_, **__: None)
    monkeypatch.setattr(adapt, "report", lambda plan: None)
    started = []
    monkeypatch.setattr(adapt, "build", started.append)
    return started


def call(*words):
    common = ["encoder", "--documents", "text", "--benchmarks", "tatoeba", "--configfile", "mine.yaml"]
    return cli.main(["adapt", *common, "--encoding", "pooling=mean", *words])


def written():
    return yaml.safe_load(open("adapt/encoder.yaml"))


def edited(values):
    Path("adapt/encoder.yaml").write_text(yaml.safe_dump(values))


def planned(**changes):
    """The plan of the written configuration."""
    return Plan(parse_config(merged(read_yaml("config.yaml"), {**written(), **changes})))


def add_text(code):
    Path(f"text/{code}.txt").write_text("A text.\nOf sentences.\n\nAnother one.\n")


def test_the_control_and_other_methods_take_as_many_operations_as_the_first(project):
    assert call("--methods", "msm", "crop", "ict", "ccp", "--steps", "40", "--seeds", "3") == 0
    plan = planned()
    first, *others = [f"encoder-{name}" for name in ("msm", "crop", "ict", "ccp", "mlm")]
    assert plan.pretraining.recipe(first).steps == 40 and plan.pretraining.recipe(first).warmup_steps == 4
    for model in others:
        recipe = plan.pretraining.recipe(model)
        assert recipe.steps is None and (recipe.to_equal().objective, recipe.to_equal().steps) == ("msm", 40)
        assert recipe.learning_rate == plan.pretraining.recipe(first).learning_rate
    assert written()["adapt"]["control"] == "encoder-mlm" and len(plan.adaptation.encoders()) == 15
    assert project[0][:2] == ["results_adapt/encoder/verdict.json", "results_adapt/encoder/card.md"]


def test_the_control_mines_no_store_but_its_own_and_the_first_method_s(project):
    """Another one would be mined for nothing, and the control trained again once a method that reads it is added."""
    assert call("--methods", "crop", "ict", "--steps", "40") == 0
    plan = planned()
    stores = {key: {*plan.pretraining.stores(f"encoder-{key}")} for key in ("crop", "ict", "mlm")}
    assert stores == {"crop": {"crop"}, "ict": {"crop", "mlm", "ict"}, "mlm": {"crop", "mlm"}}


def test_a_call_in_other_words_for_the_same_adaptation_changes_nothing(project, monkeypatch):
    def typed(*words):
        monkeypatch.setattr("sys.argv", ["stele", "adapt", *words])
        assert call(*words) == 0
        return written()

    before = typed("--steps", "40", "--seeds", "3")
    assert typed() == before and "--seeds 3" in before["adapt"]["command"]
    assert "--seeds 4" in typed("--seeds", "4")["adapt"]["command"]


def test_held_out_documents_are_mined_by_no_method(project):
    assert call("--steps", "40") == 0
    plan = planned()
    read = {path for store in ("msm", "mlm") for code in ("de", "fr") for path in plan.mining.documents(store, code)}
    assert read and all("/training/" in path for path in read)
    assert all("/held_out/" in path for path in plan.adaptation.held_out().values())


def my_set():
    """A set of the user's own in BEIR's layout."""
    Path("my_set/qrels").mkdir(parents=True)
    Path("my_set/corpus.jsonl").write_text('{"_id": "1", "title": "", "text": "a"}\n')
    Path("my_set/queries.jsonl").write_text('{"_id": "q", "text": "b"}\n')
    Path("my_set/qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq\t1\t1\n")


def test_a_set_of_one_s_own_is_a_benchmark_by_its_folder_and_stays(project):
    my_set()
    assert call("--data", "my_set", "--steps", "40") == 0
    catalogue.add({})  # as a new process begins
    assert call("--steps", "40") == 0
    assert written()["adapt"]["benchmarks"] == ["tatoeba", "my_set"]
    assert json.loads(planned().adaptation.settings())["benchmarks"]["my_set"] == {
        "setting": "direct",
        "metric": "ndcg@10",
    }


def test_a_second_call_adds_seeds_and_keeps_what_was_edited(project):
    assert call("--steps", "40", "--seeds", "3") == 0
    values = written()
    values["models"]["encoder-msm"]["override"]["learning_rate"] = 1e-6
    edited(values)
    assert call("--steps", "40", "--seeds", "3") == 0 and written()["models"] == values["models"]
    assert call("--seeds", "5") == 0
    after = written()
    assert after["seeds"]["pretraining"] == [0, 1, 2, 3, 4] and after["models"] == values["models"]


def test_the_same_call_keeps_what_was_edited_of_a_set_and_its_language(project, tmp_path):
    """A second language of documents, which the models do not learn, does not make the set one of no known language."""
    my_set()
    (tmp_path / "text/fr.txt").unlink()
    assert call("--data", "my_set", "--steps", "40") == 0
    values = written()
    values["add_benchmarks"]["my_set"]["metrics"] = ["recall@100"]
    edited(values)
    trained()
    add_text("it")
    catalogue.add({})
    assert call("--data", "my_set", "--steps", "40") == 0
    after = written()["add_benchmarks"]["my_set"]
    assert after["metrics"] == ["recall@100"] and after["languages"] == ["de"]


def test_edited_seeds_stay_and_fewer_than_there_are_is_said(project, capsys):
    assert call("--steps", "40", "--seeds", "3") == 0
    edited({**written(), "seeds": {"pretraining": [7, 1, 2]}})
    trained()
    assert call("--seeds", "2") == 0 and written()["seeds"]["pretraining"] == [7, 1, 2]
    assert "--seeds 2: adapt/encoder.yaml has 3 seeds already, which are kept" in capsys.readouterr().out
    assert call("--seeds", "5") == 0 and written()["seeds"]["pretraining"] == [7, 1, 2, 0, 3]
    assert written()["adapt"]["looks"] == [3, 5]  # the result is of the third seed, which is 2


@pytest.mark.parametrize(("seeds", "looks"), [([0, 1, 2, 3, 4], [3, 5]), ([0, 1, 2], [3]), ([4, 5], [2])])
def test_edited_seeds_are_all_judged_by_snakemake_alone(project, seeds, looks):
    assert call("--steps", "40", "--seeds", "3") == 0
    assert json.loads(planned(seeds={"pretraining": seeds}).adaptation.settings())["looks"] == looks


def trained():
    """What a training of the first method leaves, and a result of its third seed."""
    for name in ("work/encoder.scale/encoders/encoder-msm/pt0/record", "results_adapt/encoder/b/encoder-msm/s/pt2-ft0"):
        Path(f"{name}.json").parent.mkdir(parents=True)
        Path(f"{name}.json").write_text("{}")
    Path("results_adapt/encoder/scale.txt").write_text("adapt/encoder.scale.yaml")


def test_a_look_counts_although_its_verdict_is_deleted_before_it_is_built_again(project):
    assert call("--steps", "40", "--seeds", "2") == 0 and call("--seeds", "3") == 0
    trained()
    assert call("--seeds", "5") == 0 and written()["adapt"]["looks"] == [3, 5]
    assert call("--seeds", "7") == 0 and written()["adapt"]["looks"] == [3, 7]  # of five no result was there


def test_a_method_that_is_added_learns_from_the_languages_of_the_others(project, tmp_path, capsys):
    assert call("--steps", "40") == 0
    trained()
    add_text("it")
    assert call("--methods", "crop") == 0
    learnt = [model["override"]["languages"] for model in written()["models"].values() if "override" in model]
    assert learnt == [["de", "fr"]] * 3 and "Documents in it are left out" in capsys.readouterr().out


def test_a_plan_for_more_than_is_trained_binds_no_later_call(project, monkeypatch):
    planned = []
    monkeypatch.setattr(adapt, "cost", lambda targets, path, *_: planned.append(yaml.safe_load(path.read_text())))
    assert call("--steps", "40") == 0
    trained()
    before = written()
    assert call("--seeds", "9", "--methods", "crop", "--plan") == 0 and written() == before
    assert len(planned[0]["seeds"]["pretraining"]) == 9 and "encoder-crop" in planned[0]["adapt"]["methods"]


@pytest.mark.parametrize("option", ["--profile=slurm", "--profile=profiles/slurm"])
def test_the_profile_for_slurm_is_known_however_it_is_written(project, option):
    assert call("--steps", "40", "--snakemake", option) == 0 and read_yaml("adapt/encoder.scale.yaml")["gpus"] == 1


def test_a_dry_run_of_snakemake_ends_without_a_verdict(project, monkeypatch, capsys):
    monkeypatch.setattr(adapt, "report", report)
    assert call("--steps", "40", "--snakemake", "-n") == 0 and not capsys.readouterr().err


def test_what_was_edited_after_a_plan_stays_with_another_budget_and_other_keys_stay(project, monkeypatch):
    monkeypatch.setattr(adapt, "cost", lambda *_, **__: "")
    assert call("--steps", "40", "--plan") == 0
    values = written()
    values["models"]["encoder-msm"]["override"]["learning_rate"] = 1e-6
    values["keep_index"] = True
    values["models"]["mine"] = {"base": "encoder", "recipe": "msm", "override": {"steps": 77}}
    edited(values)
    assert call("--steps", "50") == 0
    after, override = written(), written()["models"]["encoder-msm"]["override"]
    assert after["keep_index"] and override["learning_rate"] == 1e-6
    assert after["models"]["mine"]["override"] == {"steps": 77}
    assert (override["steps"], override["warmup_steps"], override["snapshots"]) == (50, 5, [25])


def test_a_refused_call_leaves_no_scale_and_documents_are_not_read_from_the_project(project, capsys):
    words = "adapt encoder --configfile mine.yaml --encoding pooling=mean"
    assert cli.main([*words.split(), "normalize=5", "--documents", "text"]) == 1
    assert "normalize" in capsys.readouterr().err and not Path("adapt/encoder.scale.yaml").exists()
    assert cli.main([*words.split(), "--documents", "."]) == 1 and "give another one" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "settings", "said"),
    [
        ("sentence_bert_config.json", {"max_seq_length": 65}, "query_length is 65, the model has 64 positions"),
        ("tokenizer_config.json", {"mask_token": None}, "its tokenizer has no mask token"),
        ("config.json", {"model_type": "gemma3_text"}, "transformers has no MLM of type 'gemma3_text'"),
    ],
)
def test_an_encoder_that_cannot_be_adapted_is_refused_when_planned(project, monkeypatch, capsys, file, settings, said):
    monkeypatch.setattr(adapt, "check_checkpoint", check_checkpoint)
    path = sentence_transformers_folder(Path("encoder")) / file
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))
    assert call("--plan") == 1 and said in capsys.readouterr().err and not project


@pytest.mark.parametrize(
    ("config", "methods", "said"),
    [
        ({"max_position_embeddings": 127}, ["msm"], "reads at most 127 tokens"),
        ({"max_position_embeddings": 128}, ["msm"], ""),
        ({"max_position_embeddings": 129, "model_type": "xlm-roberta"}, ["msm"], "127 tokens"),
        ({"max_position_embeddings": 130, "model_type": "xlm-roberta"}, ["msm"], ""),
        ({"max_position_embeddings": 191}, ["msm", "ict"], "encoder-ict is trained on texts of 192"),
    ],
)
def test_an_encoder_with_too_few_positions_is_refused_before_anything_is_timed(project, capsys, config, methods, said):
    path = Path("encoder/config.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | config))
    refused = bool(said)
    assert call("--methods", *methods, "--steps", "40") == refused and said in capsys.readouterr().err
    assert Path("adapt/encoder.yaml").exists() == bool(project) == (not refused)


def test_documents_are_in_a_language_that_add_languages_describes(project, tmp_path):
    """Its code of four letters is that of a folder only because it is described; a later call need not say so again."""
    (tmp_path / "text/latg").mkdir()
    for name in ("fr", "de"):
        (tmp_path / f"text/{name}.txt").rename(tmp_path / f"text/latg/{name}.txt")
    latgalian = "{name: Latgalian, script: Latin, script_kind: alphabet, family: baltic}"
    settings = (tmp_path / "mine.yaml").read_text()
    (tmp_path / "mine.yaml").write_text(f"{settings}add_languages: {{latg: {latgalian}}}\n")
    my_set()
    words = ["adapt", "encoder", "--documents", "text", "--encoding", "pooling=mean", "--steps", "40"]
    assert cli.main([*words, "--data", "my_set", "--configfile", "mine.yaml"]) == 0
    assert written()["models"]["encoder-msm"]["override"]["languages"] == ["latg"]
    assert cli.main(words) == 0


def test_languages_of_config_yaml_of_an_earlier_call_and_of_this_one_are_all_described(project, tmp_path):
    """A folder is of its code's language whichever of them describes it, as in the run that follows."""
    entry = {"name": "N", "script": "Latin", "script_kind": "alphabet", "family": "f"}
    for code, name in (("aaaa", "de"), ("bbbb", "fr")):
        (tmp_path / "text" / code).mkdir()
        (tmp_path / f"text/{name}.txt").rename(tmp_path / f"text/{code}/{name}.txt")
    of_project, given = read_yaml("config.yaml"), read_yaml("mine.yaml")
    Path("config.yaml").write_text(yaml.safe_dump(of_project | {"add_languages": {"aaaa": entry}}))
    for code in ("bbbb", "cccc"):
        Path("mine.yaml").write_text(yaml.safe_dump(given | {"add_languages": {code: entry}}))
        assert call("--languages", "sw", "--steps", "40") == 0
        assert written()["models"]["encoder-msm"]["override"]["languages"] == ["aaaa", "bbbb"]
    assert written()["add_languages"].keys() == {"bbbb", "cccc"}


def test_a_language_that_nobody_knows_gets_the_nearest_code_and_too_few_seeds_a_word(project, capsys):
    assert call("--languages", "sww") == 1 and "'sw'" in capsys.readouterr().err
    assert call("--seeds", "2", "--steps", "40") == 0
    assert "a verdict needs 3 seeds or more" in capsys.readouterr().out


def test_hours_set_the_steps_by_measured_steps_which_are_kept(project, monkeypatch, capsys):
    """Eight steps of msm take 16 seconds, as much of mlm 32, and so of crop: 10 s for a step of all three."""
    seconds = {"encoder-measured": 16.0, "encoder-measured-control": 32.0}

    def interrupted(words):
        raise KeyboardInterrupt

    def build(words):
        project.append(words)
        for record in map(Path, words):
            if record.parts[-3:-2] and record.parts[-3] in seconds:
                record.parent.mkdir(parents=True, exist_ok=True)
                write_sealed(record, {"job": "pretrain", "labels": [], "train_seconds": seconds[record.parts[-3]]})

    monkeypatch.setattr(adapt, "build", interrupted)
    assert call("--hours", "1", "--methods", "msm", "crop") != 0
    monkeypatch.setattr(adapt, "build", build)
    assert call("--hours", "1", "--methods", "msm", "crop") == 0
    assert "120 steps, or the same compute, in each of 9 trainings" in capsys.readouterr().out
    values = written()
    assert values["models"]["encoder-msm"]["override"]["steps"] == 120 and values["adapt"]["step_seconds"] == 3.333
    assert not seconds.keys() & values["models"].keys()
    assert call("--hours", "1", "--methods", "msm", "crop") == 0 and len(project) == 3  # measured once
    assert call() == 0 and written()["models"] == values["models"]
    assert call("--hours", "1", "--methods", "msm", "crop", "--seeds", "6") == 0  # twice the trainings, untrained yet
    assert written()["models"]["encoder-msm"]["override"]["steps"] == 60


def test_other_steps_or_documents_under_the_same_name_are_refused(project, tmp_path, capsys):
    assert call("--steps", "40") == 0
    assert call("--steps", "41") == 0  # nothing was trained yet
    trained()
    for other in (["--steps", "42"], ["--hours", "2"]):
        assert call(*other) == 1 and "for 41 steps, unlike this call's; give --name" in capsys.readouterr().err
    (tmp_path / "text").rename(tmp_path / "other")
    words = ["adapt", "encoder", "--documents", "other", "--configfile", "mine.yaml"]
    assert cli.main(words) == 1 and "as its documents, unlike this call; give --name" in capsys.readouterr().err
    # the way out for a folder that was moved
    file = tmp_path / "adapt/encoder.yaml"
    file.write_text(file.read_text().replace(str(tmp_path / "text"), str(tmp_path / "other")))
    assert cli.main(words) == 0 and written()["user_data"]["documents"] == str(tmp_path / "other")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--methods", "mms"], "'msm'"),
        (["--benchmarks", "tatoba"], "'tatoeba'"),
        (["--hours", "1", "--steps", "5"], "the other follows from it"),
        (["--steps", "0"], "--steps: found 0, want a number above 0"),
        (["--seeds", "-1"], "--seeds: found -1, want a number above 0"),
        (["--name", "my.scale"], "--name my.scale: it ends in .scale"),
    ],
)
def test_a_wrong_option_is_one_sentence(project, capsys, words, said):
    assert call(*words) == 1
    assert said in capsys.readouterr().err and not project


def test_what_a_plan_named_is_forgotten_where_nothing_was_trained(project, monkeypatch):
    monkeypatch.setattr(adapt, "cost", lambda *_, **__: "")
    assert call("--methods", "msm", "crop", "--seeds", "5", "--plan") == 0
    assert call("--methods", "msm", "--seeds", "3") == 0
    assert written()["adapt"]["methods"] == ["encoder-msm"] and written()["seeds"]["pretraining"] == [0, 1, 2]
    assert call("--methods", "crop", "msm", "--steps", "40") == 0  # the first sets the compute of all
    assert written()["adapt"]["methods"] == ["encoder-crop", "encoder-msm"]
    assert written()["models"]["encoder-crop"]["override"]["steps"] == 40


@pytest.mark.parametrize(("code", "said"), [("en", "tatoeba"), ("ltg", "no benchmark has its languages (ltg)")])
def test_documents_in_languages_without_a_benchmark_are_said(project, tmp_path, capsys, code, said):
    """English is not among Tatoeba's languages: the other default remains. Latgalian is in none."""
    for path in (tmp_path / "text").iterdir():
        path.unlink()
    add_text(code)
    words = "encoder --documents text --configfile mine.yaml --encoding pooling=mean --steps 40"
    assert cli.main(["adapt", *words.split()]) == (0 if code == "en" else 1)
    if code == "en":
        assert written()["adapt"]["benchmarks"] == ["belebele"]
    else:
        assert said in capsys.readouterr().err and not project


def test_an_encoder_of_the_catalogue_is_trained_as_its_models_entry_says():
    """mContriever's folder states no pooling: its mean must reach the training, and not the recipe's cls."""
    keys = evaluated_keys("mcontriever", ["msm"], RULES)
    models = trained_models("mcontriever", ["msm"], ["de"], sizes_of(BASE, RULES), 20, 0)
    config = {"scale": "paper", "models": models, "adapt": {**keys, "benchmarks": ["tatoeba"]}}
    assert '"pooling":"mean"' in Plan(parse_config(config)).pretraining.encoding("mcontriever-msm")
    with pytest.raises(SteleError, match=r"methods.0: unknown model trained from mcontriever 'mcontriever-mssm'"):
        parse_config({**config, "adapt": {**config["adapt"], "methods": ["mcontriever-mssm"]}})
