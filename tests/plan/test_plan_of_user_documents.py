"""Documents of a user's own take the place of CC-100, in the languages that their folder holds."""

from types import SimpleNamespace

import pytest

from stele.artifacts.results import RunKey
from stele.cluster.text_costs import documents
from stele.errors import SteleError


@pytest.fixture
def plan(checked, tmp_path):
    """plan(languages) -> the plan of such a model that learns from a folder in lv, fr and xal."""
    (tmp_path / "mine" / "xal").mkdir(parents=True)
    for name in ("lv.txt", "fr.txt", "xal/a.txt", "xal/b.txt"):
        (tmp_path / "mine" / name).write_text("Teksts. Vēl viens.\n" * 50)

    def make(languages, recipe="msm"):
        model = {"base": "xlmr", "recipe": recipe, "override": {"languages": languages}}
        return checked(scale="paper", user_data={"documents": str(tmp_path / "mine")}, models={"mine": model})

    return make


@pytest.mark.parametrize("recipe", ["msm", "ccp"])
def test_a_recipe_reads_them_and_the_catalogue_needs_no_entry(plan, recipe):
    made = plan(["lv", "xal"], recipe)
    assert made.pretraining.texts("mine") == [("documents", "lv"), ("documents", "xal")]
    mining = next(iter(made.pretraining.stores("mine").values()))
    assert made.mining.documents(mining, "xal") == [made.paths.documents("documents", "xal")]
    assert made.settings.language("xal").name == "xal" and made.data.problem(["documents"]) is None


def test_a_language_that_they_lack_is_refused_with_those_that_they_have(plan):
    with pytest.raises(SteleError, match=r"override\.languages: user_data\.documents .* in de; .*\[fr, lv, xal"):
        plan(["lv", "de"])
    state, reason = plan(["lv", "xal"]).rows.problem(RunKey("lareqa", "msm", "direct"))
    assert state == "unavailable" and "msm: user_data.documents has no text in " in reason


def test_their_own_bytes_are_what_is_reckoned_with(plan):
    made = plan(["lv", "xal"])
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
