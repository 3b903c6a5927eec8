"""Every recipe of every scale is one that its command takes; shared jobs are shared; nothing is planned for nothing."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

from stele.artifacts.results import RunKey
from stele.errors import SteleError


@pytest.fixture(params=["miniature", "small", "paper"])
def plan(request, jobs):
    return jobs(scale=request.param)


def test_every_pretraining_and_mining_recipe_is_valid_and_no_longer_than_its_objective(plan):
    for key in filter(plan.models.is_trained, plan.models.all):
        recipe, stores = plan.pretraining.recipe(key), plan.pretraining.stores(key)
        assert recipe.languages
        assert {store: plan.mining.recipe(mining).method for store, mining in stores.items()} == {s: s for s in stores}
        if recipe.objective == "msm":
            assert plan.mining.recipe("msm").sentences <= recipe.sentences


def test_one_nq_fine_tuning_serves_three_benchmarks(paper):
    plan = paper()
    tested = [("mrtydi", "zero_shot_nq"), ("xor_retrieve", "zero_shot_nq"), ("nq", "supervised")]
    rows = [RunKey(benchmark, "msm", setting) for benchmark, setting in tested]
    assert len({plan.rows.inputs(row, "pt0-ft0")["encoder"] for row in rows}) == 1
    assert plan.finetuning.training_sets("mrtydi") == ["mrtydi", "nq"], "its epoch is chosen on the questions of nq"


def test_seeds_multiply_results_and_a_public_checkpoint_has_no_pretraining_seed(paper):
    plan = paper(seeds={"pretraining": [0, 1], "finetuning": [0, 1, 2]})
    assert plan.rows.seeds(RunKey("nq", "xlmr", "supervised")) == ["pt0-ft0", "pt0-ft1", "pt0-ft2"]
    averaged = plan.scoring.seed_results(SimpleNamespace(benchmark="nq", model="msm", setting="supervised"))
    assert len({*averaged}) == 6 and averaged[-1] == "results/nq/msm/supervised/pt1-ft2.json"


def test_a_row_without_fine_tuning_is_no_mean_over_copies(paper):
    """Equal results once per fine-tuning seed would make a mean's deviation, and a test's error, too small."""
    plan = paper(seeds={"pretraining": [2, 3], "finetuning": [4, 5]})
    assert plan.rows.seeds(RunKey("nq", "xlmr", "direct")) == ["pt0-ft0"]
    assert plan.rows.seeds(RunKey("nq", "msm", "direct")) == ["pt2-ft0", "pt3-ft0"]


def test_a_table_with_seeds_of_its_own_uses_the_configured_ones_of_the_other_kind(paper):
    plan = paper(seeds={"pretraining": [4, 5], "finetuning": [9]})
    for table in ("kept/02", "kept/04", "kept/07", "kept/09"):
        results = [path.removeprefix("results/") for path in plan.tables.results(table)]
        benchmark = "xor_retrieve" if table == "kept/04" else "mrtydi"
        own = {path.rpartition("/")[2] for path in results if path.startswith(f"{benchmark}/kept/zero_shot_nq/")}
        assert own == {f"pt{p}-ft{f}.json" for p in (4, 5) for f in (0, 1, 2)}
        public = {path.rpartition("/")[2] for path in results if path.startswith(f"{benchmark}/mcontriever/")}
        assert public == {f"pt0-ft{f}.json" for f in (0, 1, 2)}
        rows = plan.requested.context()["table_seeds"][table.replace("/0", "/")]
        assert {f"{name}.json" for names in rows.values() for name in names} == own | public
    assert "results/parameters/kept/direct.json" in plan.tables.results("kept/02"), "nothing is fine-tuned to count it"
    path = "results/mrtydi/kept_no_ilk/zero_shot_nq/pt5-ft1.json"
    assert plan.tables.seed_files()[path] == "kept_no_ilk/zero_shot_nq/mrtydi"
    assert "results/mrtydi/msm/zero_shot_nq.json" in plan.tables.results("msm/14"), "a table without: the shared mean"


def test_a_table_s_own_seeds_are_those_of_each_row_that_has_such_a_training(miniature, tmp_path):
    """Also of rows that are answered, re-ranked, fused, or only pretrained: their settings name no recipe."""
    rows = {
        "mlqa/mbert_gsw/zero_shot": ("de-en", "f1", ["pt1-ft3", "pt2-ft3"]),
        "clef/mbert/cv5": ("de-en", "ap_judged", ["pt0-ft3"]),
        "clef2006_fr/mbert/qgen_fused": ("fr", "ap@1000", ["pt0-ft3"]),
        "nq/msm/direct": ("en", "r@20", ["pt1-ft0", "pt2-ft0"]),
        "nq/xlmr/direct": ("en", "r@20", []),
    }
    lines = []
    for number, (row, (language, metric, _)) in enumerate(rows.items()):
        benchmark, model, setting = row.split("/")
        named = {"benchmark": benchmark, "model": model, "setting": setting, "language": language, "metric": metric}
        lines.append({"key": f"row{number}", "label": row, "target": named, "printed": [0.1]})
    groups, columns = [{"key": "all", "rows": lines}], [{"key": "x", "header": "X"}]
    spec = {"paper": "mine", "number": 1, "caption": "x", "stub": "y", "columns": columns, "groups": groups}
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "paper.yaml").write_text("name: Mine\n")

    def seeds(**of_table) -> dict[str, list[str]]:
        (folder / "table_01.yaml").write_text(json.dumps({**spec, "seeds": of_table}))
        plan = miniature(papers=[str(folder)])
        read = {row: [] for row in rows}
        for path in plan.tables.results("mine/01"):
            row, _, name = path.removeprefix("results/").removesuffix(".json").rpartition("/")
            read.setdefault(row, []).append(name)
        assert {*plan.requested.context()["table_seeds"]} == {"mine/1"}, "else the spec's seeds are looked for"
        return {row: read[row] for row in rows}

    assert seeds(pretraining=[1, 2], finetuning=[3]) == {row: names for row, (*_, names) in rows.items()}
    assert seeds(pretraining=[1])["nq/xlmr/direct"] == seeds(finetuning=[1])["nq/msm/direct"] == []


def test_mining_is_chosen_by_an_override(paper):
    mining = {"msm": "msm_blocks", "mlm": "mlm"}
    plan = paper(models={"mine": {"base": "xlmr", "recipe": "msm", "override": {"mining": mining}}})
    assert plan.pretraining.stores("mine") == mining and "mining" not in plan.pretraining.recipe("mine").given()


def test_an_override_leaves_the_catalogue_s_other_keys_but_those_of_another_recipe(paper):
    changed = {"override": {"learning_rate": 1e-5}}
    plan = paper(models={"msm_mu_0.3": changed, "kept_no_ilk": {"recipe": "msm", **changed}})
    recipe = plan.pretraining.recipe("msm_mu_0.3")
    assert (recipe.mu, recipe.learning_rate) == (0.3, 1e-5) and plan.pretraining.recipe("kept_no_ilk").mu == 0.5


def test_a_part_of_the_plan_is_named_in_few_letters(jobs):
    """Snakemake makes a text of each function of inputs, and with it of its object, whenever a workflow is read."""
    plan = jobs()
    parts = [plan, *vars(plan).values()]
    assert len(parts) > 20 and max(len(str(part)) for part in parts) < 200


def test_planning_needs_no_torch():
    program = """if True:
        import sys; from stele.config.model import parse_config; from stele.plan.plan import Plan
        model = {'base': 'xlmr', 'recipe': 'msm', 'override': {'clip_norm': 1.0}}
        Plan(parse_config({'scale': 'paper', 'models': {'m': model}})).pretraining.recipe('m')
        print('torch' in sys.modules)"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("False\n", 0), done.stderr


def test_weights_that_nobody_released_are_not_waited_for(jobs, paper):
    state, reason = jobs(models={"crop": {"checkpoint": "released"}}).availability.model_problem("crop")
    assert state == "unavailable"
    assert "no weights of crop were released" in reason and "leave `checkpoint` out" in reason
    state, reason = paper(models={"msm": {"checkpoint": "released"}}).availability.model_problem("msm")
    assert state == "unavailable" and "user_data: {msm_base: FOLDER}" in reason


def test_every_shard_of_a_corpus_is_mined(jobs, tmp_path):
    scale = tmp_path / "shards.yaml"
    scale.write_text("title: mine\ngenerated: false\nshards: {wikipedia: 3}\n")
    plan = jobs(scale=str(scale))
    folder = "work/shards/documents"
    assert plan.mining.documents("msm", "als") == [f"{folder}/wikipedia/als/{n}/record.json" for n in (1, 2, 3)]
    assert plan.mining.documents("msm", "sw") == [f"{folder}/cc100/sw/record.json"]
    for wrong in ("shards: {cc100: 3}", "shards: {wikipedia: 0}"):
        scale.write_text(f"title: mine\ngenerated: false\n{wrong}\n")
        with pytest.raises(SteleError, match="shards"):
            jobs(scale=str(scale))
