"""config.yaml: in sync with its schema and defaults; what is wrong is named with the nearest valid name."""

import json
from types import SimpleNamespace

import pytest

from stele.catalogue import load, read_yaml
from stele.config.model import Config, parse_config
from stele.config.sources import Sources, read_sources
from stele.errors import SteleError
from stele.plan import validation
from stele.recipes.pretraining import parse_recipe as parse_pretraining


def test_the_shipped_config_states_every_default(root):
    shipped = read_yaml(root / "config.yaml")
    assert set(shipped) == set(Config.model_fields)
    assert parse_config(shipped) == Config()


def test_the_shipped_schema_is_in_sync(root):
    shipped = json.loads((root / "config.schema.json").read_text())
    assert shipped == Config.json_schema(), "write it anew: python -m stele.config.model > config.schema.json"


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        ({"modles": {}}, ["config.yaml: unknown key 'modles'", "'models'"]),
        ({"mirors": None}, ["config.yaml: unknown key 'mirors'", "'mirrors'"]),
        ({"papers": ["mms"]}, ["papers.0", "'mms'", "'msm'"]),
        ({"papers": []}, ["papers"]),
        ({"languages": ["sq", "swa"]}, ["languages.1", "'swa'"]),
        ({"languages": "sw"}, ["languages", "list", "; for example languages=[sw, th]"]),
        ({"seeds": {"pretrain": [0]}}, ["seeds.pretrain", "'pretraining'"]),
        ({"seeds": {"pretraining": []}}, ["seeds.pretraining"]),
        ({"seeds": {"pretraining": [-1]}}, ["seeds.pretraining.0", "-1"]),
        ({"seeds": {"finetuning": [0, 1, 0]}}, ["seeds.finetuning", "0 is given twice"]),
        ({"languages": ["sw", "th", "sw"]}, ["languages", "sw is given twice"]),
        ({"models": {"msmm": {}}}, ["msmm", "'msm'", "checkpoint"]),
        ({"models": {"mine": {"base": "xlm", "recipe": "msm"}}}, ["models.mine.base", "'xlm'", "'xlmr'"]),
        ({"models": {"mine": {"base": "xlmr", "recipe": "mms"}}}, ["models.mine.recipe", "'mms'", "'msm'"]),
        ({"models": {"mine": {"base": "mine", "recipe": "msm"}}}, ["models.mine.base", "mine starts from mine"]),
        ({"models": {"mine": {"checkpoint": "train", "recipe": "msm"}}}, ["models.mine: give", "`base` and `recipe`"]),
        ({"models": {"xlmr": {"checkpoint": "train", "recipe": "msm"}}}, ["models.xlmr: give", "`base` and `recipe`"]),
        ({"models": {"criss": {"recipe": "msm"}}}, ["models.criss: give `checkpoint`, or `base` and `recipe`"]),
        (
            {"models": {"mbert_qlm_rr": {"base": "mbert_qlm_rr_5"}}},
            ["mbert_qlm_rr.base: mbert_qlm_rr starts from mbert_qlm_rr_5 starts from mbert_qlm_rr; name another"],
        ),
        (
            {"models": {"xlmr": {"checkpoint": "train", "recipe": "ict", "base": "ccp"}}},
            ["models.xlmr.base: xlmr starts from ccp starts from xlmr_large starts from xlmr"],  # has its tokenizer
        ),
        ({"models": {"mine": {"checkpont": "x"}}}, ["models.mine.checkpont", "'checkpoint'"]),
        ({"models": {"a/b": {"checkpoint": "x"}}}, ["a/b"]),
        ({"models": {"modèle": {"checkpoint": "x"}}}, ["modèle", "letters of English"]),
        ({"models": {"mine": {"checkpoint": "x", "tables": ["msm/99"]}}}, ["models.mine.tables.0", "'msm/9'"]),
        ({"models": {"mine": {"checkpoint": "x", "encoding": {"poling": "mean"}}}}, ["mine.encoding", "'pooling'"]),
        ({"models": {"mine": {"checkpoint": "x", "encoding": {"pooling": "men"}}}}, ["mine.encoding", "'men'"]),
        ({"user_data": {"laqera": "x"}}, ["user_data", "'laqera'", "'lareqa'"]),
        ({"recompute": "mine"}, ["recompute", "'own' or 'all'"]),
        ({"results_dir": "/"}, ["config.yaml: results_dir: found '/' (the project lies in it)", "a folder of its own"]),
        ({"models": {"xlmr": {"label": "abc\u202e"}}}, ["models.xlmr.label", "U+202E (RIGHT-TO-LEFT OVERRIDE) at 4"]),
        ({"models": {"xlmr": {"label": "two\nlines"}}}, ["models.xlmr.label", "U+000A (a control character) at 4"]),
        ({"dump_date": 20221345}, ["dump_date", "an existing day"]),
        ({"dump_date": "2022١٢01"}, ["dump_date"]),
        ({"dump_date": True}, ["dump_date"]),
        ({"seeds": {"pretraining": [True]}}, ["seeds.pretraining.0", "found True"]),
        ({"seeds": {"finetuning": ["1.0"]}}, ["seeds.finetuning.0", "found '1.0'"]),
        ({"seeds": {"finetuning": [10**19]}}, ["seeds.finetuning.0", "4294967295"]),
        ({"user_data": {"lareqa": ""}}, ["user_data.lareqa", "want the path of a folder"]),
        ({"mirrors": ["file:///data"]}, ["mirrors.0", "https://"]),
        ({"mirrors": ["https://"]}, ["mirrors.0", "https://"]),
        ({"mirrors": [" "]}, ["mirrors.0"]),
        ({"models": {"mine": {"base": "bm25", "recipe": "msm"}}}, ["models.mine.base", "bm25 has no encoder"]),
        ({"languages": [False]}, ["languages.0", "YAML reads an unquoted no or off so: put it in quotes"]),
        ({"offline": "yes"}, ["offline", "found 'yes'"]),
        ({"models": {"mine": {"checkpoint": "a/b", "revision": 1234567}}}, ["revision", "put them in quotes"]),
        ({"models": {"mine": {"checkpoint": "x", "tables": ["msm/١"]}}}, ["models.mine.tables.0"]),
        ({"seeds": [0, 1]}, ["; for example seeds={pretraining: [0, 1], finetuning: [0]}"]),
    ],
)
def test_a_wrong_name_gets_the_key_what_was_found_and_the_nearest(values, parts):
    with pytest.raises(SteleError) as error:
        parse_config(values)
    assert all(part in str(error.value) for part in parts), str(error.value)


def test_a_circle_through_several_models_is_named():
    models = {name: {"base": base, "recipe": "msm"} for name, base in (("a", "b"), ("b", "c"), ("c", "a"))}
    with pytest.raises(SteleError, match="a starts from b starts from c starts from a"):
        parse_config({"models": models})
    with pytest.raises(SteleError, match="xlmr starts from msm starts from xlmr"):
        parse_config({"models": {"xlmr": {"base": "msm", "recipe": "msm"}, "msm": {"label": "its base stays"}}})


def test_an_empty_value_is_the_default():
    empty = dict.fromkeys(Config.model_fields)
    assert parse_config(empty) == parse_config({"languages": [], "models": {}}) == Config()


def test_a_folder_s_name_is_taken_without_its_trailing_slash():
    assert parse_config({"results_dir": "out/"}).results_dir == "out"
    assert parse_config({"results_dir": "./out//mine"}).results_dir == "out/mine"


def test_the_folder_of_results_that_nobody_named_is_refused_with_its_name(tmp_path, monkeypatch):
    (tmp_path / "results").mkdir()
    (tmp_path / "results/thesis.tex").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SteleError, match=r"results_dir: found 'results' \(it holds other files"):
        parse_config({})


def test_an_error_names_the_file_that_says_it():
    sources = [("config.yaml", {"models": {}}), ("mine.yaml", {"models": {"mine": {"base": "xlm"}}})]
    where = Sources([*sources, ("--config", {"papers": ["mms"]})])
    values = {"models": {"mine": {"base": "xlm", "recipe": "msm"}}, "papers": ["msm"]}
    with pytest.raises(SteleError, match=r"^mine\.yaml: models\.mine\.base"):
        parse_config(values, where)
    with pytest.raises(SteleError, match=r"^--config: papers\.0"):
        parse_config({"papers": ["mms"]}, where)


def test_config_values_are_read_as_they_are_meant():
    assert parse_config({"dump_date": 20220801}).dump_date == "20220801"
    numbers = {"pretraining": ["0", "12"], "finetuning": [1]}  # as Snakemake reads them from a command line
    assert parse_config({"seeds": numbers}).seeds.pretraining == [0, 12]
    mirrors = ["/data", "https://example.org/x", "HTTP://example.org"]
    assert parse_config({"mirrors": mirrors}).mirrors == mirrors


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"mu": 7}, "mu: Input should be less than or equal to 1"),
        ({"mu": True}, "mu: Input should be a valid number .found True"),
        ({"mu": "0.5"}, "mu: .*a number in YAML has no quotes .* in blocks of --config all is text"),
        ({"learning_rate": "1e-5"}, r"learning_rate: .*a point before its e \(1\.0e-5\)"),
        ({"learning_rate": float("inf")}, "learning_rate"),
        ({"eps": 0}, "eps"),
        ({"betas": [0.9, 1.0]}, r"betas\.1"),
        ({"documents": 4.5}, "documents"),
    ],
)
def test_a_key_of_a_pretraining_recipe_has_a_type_and_a_range(changes, said):
    recipe = {**load("recipes")["pretraining"]["msm"], "languages": ["en"]}
    del recipe["mining"]
    parse_pretraining(recipe)
    with pytest.raises(SteleError, match=said):
        parse_pretraining(recipe | changes)


def test_a_folder_and_a_list_are_no_configuration(tmp_path):
    (tmp_path / "one.yaml").mkdir()
    (tmp_path / "two.yaml").write_text("- a\n")
    for name, said in (("one", "a folder, want a file"), ("two", "want keys and values, found list")):
        with pytest.raises(SteleError, match=rf"{name}\.yaml: {said}"):
            read_yaml(tmp_path / f"{name}.yaml")


@pytest.mark.parametrize("key", ["offline", "keep_index", "verify_inputs"])
def test_flags_may_be_given_on_the_command_line_as_yaml_writes_them(key):
    assert [getattr(parse_config({key: text}), key) for text in ("true", "false")] == [True, False]


def check_override(jobs, **model):
    values = {"models": {"mine": {"base": "xlmr", "recipe": "msm", **model}}}
    validation.check(jobs(scale="paper", **values), Sources([("mine.yaml", values)]))


@pytest.mark.parametrize(
    ("override", "parts"),
    [
        ({"mu": "high"}, ["mu", "'high'"]),
        ({"steps": -3}, ["steps", "-3"]),
        ({"projector": "shard"}, ["projector", "'shard'"]),
        ({"languages": ["en", "swa"]}, ["languages", "'swa'", "'sw'"]),
        ({"languages": "cc10"}, ["'cc10'", "'cc108'"]),
        ({"stepps": 3}, ["'stepps'", "'steps'"]),
        ({"pairs": 3}, ["'pairs'"]),  # of another objective
        ({"mining": "msm_blocks"}, ["mining", "'msm_blocks'"]),
        ({"mining": {"msm": "msm_block", "mlm": "mlm"}}, ["mining", "'msm_block'", "'msm_blocks'"]),
        ({"objective": "msmm"}, ["objective: unknown objective 'msmm'; did you mean 'msm'"]),
        ({"objective": None}, ["objective: unknown objective 'None'"]),
        ({"languages": [["en"]]}, ["languages: unknown language \"['en']\""]),
        ({"steps": None, "equal_compute_to": "msmm"}, ["equal_compute_to", "'msmm'", "'msm'"]),
        ({"steps": None, "equal_compute_to": "labse"}, ["equal_compute_to", "'labse'"]),  # nothing trains it here
        ({"steps": None, "equal_compute_to": {"steps": 3}}, ["equal_compute_to", "{'steps': 3}"]),
        ({"steps": None, "equal_compute_to": "mine"}, ["equal_compute_to", "mine has no `steps`"]),
    ],
)
def test_a_wrong_value_is_named_with_its_place(jobs, override, parts):
    with pytest.raises(SteleError) as error:
        check_override(jobs, override=override)
    assert all(part in str(error.value) for part in ["mine.yaml: models.mine.override", *parts]), str(error.value)


def test_an_override_that_nothing_would_read_is_refused(jobs):
    check_override(jobs, override={"mu": 0.9, "languages": ["en", "sw"], "mining": {"msm": "msm_blocks", "mlm": "mlm"}})
    with pytest.raises(SteleError, match=r"mine\.yaml: models\.mine\.override: mine is not pretrained here"):
        check_override(jobs, checkpoint="released", override={"mu": 0.9})
    check_override(jobs, checkpoint="released")


def workflow(*more, own=("config.yaml",), **said):
    settings = SimpleNamespace(config=said)
    return SimpleNamespace(overwrite_configfiles=list(more), configfiles=[*more, *own], config_settings=settings)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.yaml").write_text("offline: false\n")
    return tmp_path


def test_the_file_of_the_command_line_overrules_config_yaml_and_config_overrules_both(folder):
    with open("config.yaml", "a") as handle:
        handle.write("models: {first: {base: xlmr}}\n")
    (folder / "mine.yaml").write_text("offline: true\nmodels: {mine: {base: xlm}}\n")
    where = read_sources(workflow(folder / "mine.yaml", papers=["msm"]))
    assert [name for name, _ in where.files] == ["config.yaml", "mine.yaml", "--config"]
    assert where("offline") == "mine.yaml: offline"
    assert where("models", "mine", "base") == "mine.yaml: models.mine.base"
    assert where("models", "first", "base") == "config.yaml: models.first.base", "the key below decides"
    assert where("papers", 0) == "--config: papers.0"
    assert where("seeds") == "config.yaml: seeds"


@pytest.mark.parametrize("name", ["config.yaml", "mine.yaml"])
def test_a_key_given_twice_is_named_with_its_file_and_line(folder, name):
    (folder / "mine.yaml").write_text("offline: true\n")
    with open(folder / name, "a") as handle:
        handle.write("papers: [msm]\npapers: [kept]\n")
    with pytest.raises(SteleError, match=rf"{name}, line \d: key 'papers' is given twice"):
        read_sources(workflow(folder / "mine.yaml"))


@pytest.mark.parametrize(("number", "read"), [("010", 8), ("1:30", 90), ("0x1F", 31)])
def test_a_number_to_another_base_is_refused(tmp_path, number, read):
    (tmp_path / "mine.yaml").write_text(f"seeds:\n  finetuning: [{number}]\n")
    with pytest.raises(SteleError, match=f"mine.yaml, line 2: YAML reads {number} as {read}"):
        read_yaml(tmp_path / "mine.yaml")
