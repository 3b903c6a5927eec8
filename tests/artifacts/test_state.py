"""The folder of an unfinished run: one for each recipe, inputs, seed and code."""

import shutil

import pytest

from stele.artifacts.state import drop, own_folder
from tests.sealed import write_sealed


@pytest.fixture
def given(tmp_path):
    """Two records of different contents, and the arguments of a run."""
    for name in ("a", "b"):
        write_sealed(tmp_path / f"{name}.json", {"content": name, "host": name})
    inputs = {"base": tmp_path / "a.json"}
    return tmp_path, {"recipe": {"steps": 3}, "inputs": inputs, "seed": 0, "code": "c"}


def test_the_same_run_finds_its_folder(given):
    place, run = given
    folder = own_folder(place / "state", **run)
    (folder / "training.pt").write_text("x")
    (place / "copy.json").write_text((place / "a.json").read_text())
    again = own_folder(place / "state", **{**run, "inputs": {"base": place / "copy.json"}})
    assert again == folder, "contents count, not places"
    assert (folder / "training.pt").exists()


@pytest.mark.parametrize("change", [{"recipe": {"steps": 4}}, {"seed": 1}, {"code": "d"}, {"inputs": "b"}])
def test_another_run_starts_anew_and_drops_what_is_left(given, change):
    place, run = given
    old = own_folder(place / "state", **run)
    (old / "training.pt").write_text("x")
    (place / "state" / "notes").mkdir()  # not ours: no name of a run
    change = {"inputs": {"base": place / "b.json"}} if change == {"inputs": "b"} else change
    second = own_folder(place / "state", **{**run, **change}, first=False)
    assert second != old and old.exists() and not list(second.iterdir()), "only the first process clears up"
    assert own_folder(place / "state", **{**run, **change}) == second
    assert not old.exists() and (place / "state" / "notes").exists()


@pytest.mark.parametrize(
    "clears_up", [drop, lambda folder: own_folder(folder.parent, recipe={}, inputs={}, seed=0, code="")]
)
def test_what_a_kill_leaves_of_a_removed_state_is_nobodys(given, monkeypatch, clears_up):
    """A search whose facts were still there, but not its run, could not be published."""
    place, run = given
    folder = own_folder(place / "state", **run)
    for name in ("sw.json", "sw.trec.gz"):
        (folder / name).write_text("x")

    def killed(folder, **options):
        (folder / "sw.trec.gz").unlink()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(shutil, "rmtree", killed)
        clears_up(folder)
    assert not folder.exists()
    assert own_folder(place / "state", **run) == folder and [*place.glob("state/*")] == [folder]


def test_drop_leaves_nothing(given):
    place, run = given
    folder = own_folder(place / "state", **run)
    (folder / "training.pt").write_text("x")
    drop(folder)
    assert not (place / "state").exists()
    drop(own_folder(place / "state", **run))
    folder = own_folder(place / "state", **run)
    (place / "state" / "mine").write_text("kept")
    drop(folder)
    assert [path.name for path in (place / "state").iterdir()] == ["mine"]
