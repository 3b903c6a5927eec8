"""Where data and checkpoints come from: stand-ins, the hub, folders of the user's own; safe in a shell."""

import shlex
from types import SimpleNamespace

import pytest

from stele import catalogue
from stele.artifacts.results import RunKey
from stele.errors import SteleError
from stele.plan.paths import flags

HUB_ID = "sentence-transformers/all-MiniLM-L6-v2"
GENERATED = ["--mirrors", "resources/miniature/mirror", "--offline"]


def checkpoint(plan, model):
    return shlex.split(flags(plan.sources.checkpoint_locations(model)))


def dataset(plan, name):
    return shlex.split(flags(plan.sources.dataset_locations(name)))


def test_only_a_stand_in_comes_from_the_generated_hub(miniature):
    plan = miniature(models={"mine": {"checkpoint": HUB_ID}, "mbert": {"checkpoint": "a/b"}})
    assert checkpoint(plan, "xlmr") == GENERATED
    assert checkpoint(plan, "mine") == checkpoint(plan, "mbert") == []
    assert plan.sources.checkpoint_inputs(SimpleNamespace(model="mine")) == {}
    given = miniature(models={"mine": {"checkpoint": HUB_ID}}, mirrors=["/mirror"], offline=True)
    assert checkpoint(given, "mine") == ["--mirrors", "/mirror", "--offline"]


def test_a_generated_scale_needs_no_network(miniature):
    plan = miniature()
    public = [key for key in plan.models.all if "repo" in catalogue.load("standins").get(key, {})]
    assert public and all(checkpoint(plan, key) == GENERATED for key in public)
    buildable = {row.model for row in plan.requested.all_rows if plan.rows.problem(row) is None}
    models = buildable & plan.models.all.keys()
    roots = {plan.models.root(model) for model in models if plan.models[model].has_encoder}
    assert len(roots) > 5 and all(plan.world.standin(root) for root in roots)


def test_weights_that_the_user_has_take_the_place_of_their_stand_in(miniature, tmp_path):
    (tmp_path / "config.json").write_text("{}")
    w = SimpleNamespace(model="ccp")
    standin = "resources/miniature/standins/ccp_large/record.json"
    assert miniature().sources.checkpoint_inputs(w) == {"standin": standin}
    asked = miniature(models={"ccp": {"checkpoint": "released"}})
    assert asked.sources.checkpoint_inputs(w), "a stand-in of released weights is what `released` means here"
    plan = miniature(user_data={"ccp_large": str(tmp_path)})
    assert plan.sources.checkpoint_inputs(w) == {} and checkpoint(plan, "ccp") == ["--path", str(tmp_path)]
    before = plan.sources.checkpoint_content("ccp")
    (tmp_path / "config.json").write_text("{ }")
    again = miniature(user_data={"ccp_large": str(tmp_path)})
    assert before and again.sources.checkpoint_content("ccp") not in ("", before)


def test_a_training_that_goes_on_in_the_folder_of_a_checkpoint_makes_no_other_checkpoint(paper, tmp_path):
    """What it saves there is not read (`link_folder`), so that it neither reruns the job nor is hashed."""
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_text("{}")

    def content() -> str:
        return paper(models={"mine": {"checkpoint": str(tmp_path)}}).sources.checkpoint_content("mine")

    before = content()
    of_training = ("README.md", "optimizer.pt", "pytorch_model.bin", "trainer_state.json", "runs/events")
    of_steps = ("checkpoint-500/optimizer.pt", "onnx/model.onnx", "0_Transformer/openvino/model.xml")
    for name in (*of_training, *of_steps):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"0")
    assert content() == before != ""
    (tmp_path / "0_Transformer/config.json").write_text("{}")
    assert content() != before


@pytest.mark.parametrize("name", ["with blank & it's", "$HOME `x`;c?d"])
def test_places_are_safe_in_a_shell(paper, tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    values = {"mirrors": [str(folder), "http://a.org/x?y&z"], "user_data": {"squad": str(folder)}}
    plan = paper(**values, models={"mine": {"checkpoint": str(folder)}})
    assert dataset(plan, "squad") == ["--user-data", str(folder)]
    assert dataset(plan, "lareqa") == ["--mirrors", str(folder), "http://a.org/x?y&z"]
    assert checkpoint(plan, "mine") == ["--path", str(folder)]


def test_the_home_folder_is_spelt_out(paper, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "x").mkdir()
    values = {"mirrors": ["~/x"], "user_data": {"squad": "~/x"}, "results_dir": "~/out"}
    plan = paper(**values, models={"mine": {"checkpoint": "~/x"}})
    assert dataset(plan, "squad") == ["--user-data", str(tmp_path / "x")]
    assert dataset(plan, "lareqa") == ["--mirrors", str(tmp_path / "x")]
    assert checkpoint(plan, "mine") == ["--path", str(tmp_path / "x")]
    assert plan.paths.result(RunKey("nq", "msm", "direct")) == f"{tmp_path}/out/nq/msm/direct.json"


@pytest.mark.parametrize("name", ["my results", "a;b", "{a}"])
def test_names_of_folders_that_every_command_has_are_plain(jobs, paper, tmp_path, name):
    with pytest.raises(SteleError, match="results_dir"):
        paper(results_dir=name)
    scale = tmp_path / f"{name}.yaml"
    scale.write_text("title: mine\ngenerated: false\n")
    with pytest.raises(SteleError, match="rename the file"):
        jobs(scale=str(scale))
    with pytest.raises(SteleError, match="a model's key"):
        paper(models={name: {"checkpoint": "x"}})


@pytest.mark.parametrize(("name", "wall"), [("mrtydi", "none"), ("xor_dpr_train", "drive")])
def test_generated_data_lie_in_a_users_folder_only_behind_a_wall(miniature, tmp_path, name, wall):
    assert catalogue.load("datasets")[name]["wall"] == wall
    given = dataset(miniature(), name)
    folder = f"resources/miniature/user_data/{name}"
    assert (given[given.index("--user-data") + 1 :] == [folder]) if wall != "none" else "--user-data" not in given
    mine = miniature(user_data={name: str(tmp_path)})
    assert dataset(mine, name) == ["--user-data", str(tmp_path)]
