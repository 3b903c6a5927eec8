"""The command: what it writes, that it learns, that it goes on after a kill, and what it refuses."""

import signal

import numpy as np
import pytest
from test_sentence_transformers_folder import st_folder
from tiny_models import make_folder
from tiny_runs import RECIPE, XTREME, example, finetune, write_set

from stele.encoders.load import load_encoder
from stele.errors import SteleError
from stele.files.digests import files_digest
from stele.training import loop
from stele.training.curve import read_csv
from tests.killing import kill_after, killed
from tests.pretended_gpu import on_pretended_gpu
from tests.sealed import write_sealed

DEV = {**RECIPE, "dev_set": "jsonl", "selection": "dev_nll"}


@pytest.fixture(scope="module")
def trained(base, data, tmp_path_factory):
    place = tmp_path_factory.mktemp("trained")
    return finetune(
        base, data, place, {**DEV, "steps": 60, "learning_rate": 1e-2, "schedule": "constant"}
    ), place / "out"


def test_the_files_that_finetune_writes(trained, base):
    record, folder = trained
    assert {p.name for p in folder.iterdir()} >= {"query", "passage", "encoding.json", "probe.json", "curve.csv"}
    assert record["job"] == "finetune"
    assert record["labels"] == ["generated data", "stand-in checkpoint"]
    assert set(record["inputs"]) == {"encoder", "own:all"}
    assert (record["global_batch"], record["negatives_per_query"]) == (8, 15)
    assert record["contrastive_group"] == {"queries": 8, "passages_at_most": 16}
    assert record["examples"]["examples"] == 40
    assert record["steps"] == 60
    assert record["epochs"] == 12
    assert record["seed"] == 0
    assert record["encoding"]["towers"] == "separate"
    assert [row["step"] for row in record["dev_curve"]] == list(range(5, 61, 5))  # once an epoch
    best = min(record["dev_curve"], key=lambda row: row["dev_nll"])
    assert record["selected"] == {"step": best["step"], "by": "dev_nll", "value": pytest.approx(best["dev_nll"])}
    assert not (folder.parent / "state").exists()


def test_the_weights_written_are_the_selected_ones(trained):
    record, folder = trained
    encoder, items = load_encoder(folder), [example(i) for i in range(100, 110)]
    passages = [p for item in items for p in (item["positives"][0], item["negatives"][0])]
    queries = encoder.encode([item["query"].removesuffix("?") for item in items], "query")
    vectors = encoder.encode([encoder.spec.passage(**p) for p in passages], "passage")
    scores, total = queries @ vectors.T, 0.0
    for i, row in enumerate(scores):
        total += np.log(np.exp(row - row[2 * i]).sum())
    assert total / len(items) == pytest.approx(record["selected"]["value"], rel=1e-4)
    assert record["dev_curve"][-1]["dev_nll"] > record["selected"]["value"] * 1.01


@pytest.mark.parametrize("recipe", [DEV, {**XTREME, "precision": "float16"}])
def test_on_a_gpu_the_losses_are_the_same(base, data, tmp_path, recipe):
    finetune(base, data, tmp_path / "cpu", recipe)
    assert on_pretended_gpu(lambda: finetune(base, data, tmp_path / "gpu", recipe)) == 0
    on_cpu, on_gpu = (read_csv(tmp_path / name / "out/curve.csv") for name in ("cpu", "gpu"))
    assert on_gpu == [pytest.approx(row, rel=1e-3) for row in on_cpu]


def test_a_group_of_one_passage_s_queries_is_refused_before_the_first_step(base, tmp_path, monkeypatch):
    """The loss ended such a run at this step, and again each time it was resumed."""
    items = [{**example(i), "positives": example(i // 20)["positives"], "negatives": []} for i in range(40)]
    data = write_set(tmp_path / "set", items)
    monkeypatch.setattr(loop, "train", lambda *arguments, **options: pytest.fail("trained"))
    with pytest.raises(SteleError, match=r"step \d+ of 60 .* no candidate besides its own .* group of 2"):
        finetune(base, data, tmp_path, {**RECIPE, "batch": 2, "hard_negatives": 0, "steps": 60})


def test_finetuning_with_the_same_seed_gives_the_same_bytes_with_another_others(base, data, tmp_path):
    records = [finetune(base, data, tmp_path / str(i), {**RECIPE, "steps": 4}, seed=s) for i, s in enumerate((1, 1, 2))]
    assert records[0]["content"] == records[1]["content"] != records[2]["content"]


def test_a_later_stage_takes_up_the_towers(trained, base, data, tmp_path):
    """Both towers go on as they were: with a learning rate of almost nothing they stay what they were."""
    _, folder = trained
    record = finetune(folder, data, tmp_path, {**RECIPE, "steps": 1, "learning_rate": 1e-12})
    assert record["starts_from"] == "fine-tuned towers"
    for kind in ("query", "passage"):
        texts = [example(i)["query"] for i in range(5)]
        before, after = (load_encoder(f).encode(texts, kind) for f in (folder, tmp_path / "out"))
        assert np.allclose(before, after, atol=1e-5)
    assert not np.allclose(*(load_encoder(folder).encode(["alpha"], kind) for kind in ("query", "passage")), atol=1e-3)
    with pytest.raises(SteleError, match="was fine-tuned with pooling: 'mean', but the recipe says 'cls'"):
        finetune(folder, data, tmp_path / "x", {**RECIPE, "pooling": "cls"})
    with pytest.raises(SteleError, match="was fine-tuned with separate towers"):
        finetune(folder, data, tmp_path / "y", {**RECIPE, "towers": "shared"})


def test_the_xtreme_recipe_trains_and_selects_by_its_dev_set(base, data, tmp_path):
    recipe = {**XTREME, "batch": 4, "accumulation": 2, "steps": 30}
    recipe |= {"dev_set": "jsonl", "selection": "dev_nll", "evaluate_every": 10}
    record = finetune(base, data, tmp_path, recipe)
    assert record["global_batch"] == 8
    assert record["negatives_per_query"] == 3
    assert record["encoding"]["normalize"] is True
    assert record["scale"] != 100.0
    assert [row["step"] for row in record["dev_curve"]] == [10, 20, 30]
    vectors = load_encoder(tmp_path / "out").encode(["alpha", "beta"], "query")
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    curve = read_csv(tmp_path / "out" / "curve.csv")
    assert len(curve) == 30
    assert np.mean([row["nll"] for row in curve[-5:]]) < np.mean([row["nll"] for row in curve[:5]])


def test_a_sentence_transformers_base_loses_its_dense_layer(data, tmp_path):
    """As in the released code of MSM, which loads the backbone of LaBSE alone."""
    folder, _ = st_folder(tmp_path / "labse", "bert", "cls", dense=16)
    write_sealed(folder / "record.json", {"content": "l"})
    record = finetune(folder, data, tmp_path, {**RECIPE, "steps": 2, "pooling": "cls"})
    encoder = load_encoder(tmp_path / "out")
    assert encoder.dimension == 32
    assert encoder.spec.normalize is False
    assert record["starts_from"] == "base encoder"
    assert "normalize: True became False" in record["encoding_changes"]


def test_training_and_dev_sets_of_ones_own_side_by_side(base, data, tmp_path):
    other = write_set(tmp_path / "other", [], [example(i) for i in range(50, 57)])
    recipe = {**RECIPE, "steps": 2, "selection": "dev_nll"}
    recipe |= {"training_set": {"module": "jsonl", "data": ["own"]}, "dev_set": {"module": "jsonl", "data": ["other"]}}
    record = finetune(base, f"{data} other:all={other}", tmp_path, recipe)
    assert record["examples"]["examples"] == 40
    assert record["dev_examples"]["examples"] == 7
    assert set(record["inputs"]) == {"encoder", "other:all", "own:all"}


def test_masked_duplicates_are_counted(base, tmp_path):
    same = example(0)["positives"]
    items = [{**example(i), "positives": same} if i < 16 else example(i) for i in range(32)]
    record = finetune(base, write_set(tmp_path / "d", items), tmp_path, {**RECIPE, "batch": 32, "steps": 2})
    assert record["counts"]["masked_duplicates"] == 2 * 16 * 15


def test_dev_questions_without_a_second_candidate_are_left_out_and_counted(base, tmp_path):
    """The real dev set of SQuAD ends so: the last group of 8 is two questions about one sentence, without negatives."""
    dev = [{**example(i), "negatives": []} for i in range(8)]
    dev += [{**example(i), "positives": example(7)["positives"], "negatives": []} for i in (8, 9)]
    train = [{**example(i), "negatives": []} for i in range(40)]
    recipe = {**XTREME, "batch": 4, "steps": 4, "dev_set": "jsonl", "selection": "dev_nll", "evaluate_every": 2}
    record = finetune(base, write_set(tmp_path / "d", train, dev), tmp_path, {**recipe, "dev_batch": 8})
    assert record["dev_examples"]["examples"] == 10
    assert record["dev_examples"]["without_second_candidate"] == 2
    assert [row["step"] for row in record["dev_curve"]] == [2, 4]


def test_a_missing_dev_set_is_told_before_the_training_set_is_read(base, tmp_path):
    data = write_set(tmp_path / "d", [example(i) for i in range(40)])
    with pytest.raises(SteleError, match=r"dev\.jsonl"):
        finetune(base, data, tmp_path, {**DEV, "steps": 1})
    assert not [*(tmp_path / "state").rglob("training")]


def test_a_limited_dev_set_is_drawn_from_its_whole_length(base, tmp_path):
    """Its first half is unusable here; in XOR-Retrieve's file the first 1,000 of 2,110 have no question in Arabic."""
    dev = [{**example(i), "query": "?"} for i in range(30)] + [example(i) for i in range(30, 60)]
    data = write_set(tmp_path / "d", [example(i) for i in range(40)], dev)
    found = [finetune(base, data, tmp_path / str(seed), {**DEV, "steps": 1, "dev_limit": 20}, seed) for seed in (0, 1)]
    counts = found[0]["dev_examples"]
    assert counts["examples_read"] == 20 and 5 < counts["examples"] < 15
    assert found[1]["dev_examples"] == counts, "all seeds choose by the same questions"


def stopped(base, data, tmp_path, monkeypatch, recipe, **more):
    with monkeypatch.context() as patch, pytest.raises(SteleError, match="after step 3 of"):
        patch.setattr(*kill_after(3, signal.SIGTERM))
        finetune(base, data, tmp_path, recipe, **more)
    assert [path.name for path in (tmp_path / "state").rglob("*.pt")] == ["training.pt"]


@pytest.mark.parametrize("changed", ["nothing", "recipe", "encoder", "data", "limit", "seed", "code"])
def test_broken_off_and_run_again_as_another_run_it_starts_anew(base, data, tmp_path, monkeypatch, caplog, changed):
    """The bytes are those of a clean run of the second command; the same command goes on instead."""
    recipe = {**RECIPE, "steps": 6}
    stopped(base, data, tmp_path, monkeypatch, recipe)
    more = {"limit": {"limit": 10}, "seed": {"seed": 3}, "code": {"code": "another"}}.get(changed, {})
    if changed == "recipe":
        recipe |= {"temperature": 0.5, "hard_negatives": 2}
    if changed == "encoder":
        base = make_folder(tmp_path / "other", "xlm-roberta", seed=1)
        write_sealed(base / "record.json", {"content": "other"})
    if changed == "data":
        data = write_set(tmp_path / "set", [example(i) for i in range(60, 90)])
        write_sealed(data, {"content": "y"})
    caplog.set_level("INFO")
    caplog.clear()
    recipe_read = finetune(base, data, tmp_path, recipe, **more)
    assert ("resuming after step 3" in caplog.text) == (changed == "nothing")
    assert (tmp_path / "state").exists() == (changed == "limit"), "a quick try leaves the state of the real run alone"
    clean = finetune(base, data, tmp_path / "clean", recipe, **more)
    assert recipe_read["content"] == clean["content"] and recipe_read["examples"] == clean["examples"]


def test_mixed_precision_is_recorded_and_near_float32(base, data, tmp_path):
    one = finetune(base, data, tmp_path / "1", {**DEV, "steps": 5, "dropout": 0.0})
    two = finetune(base, data, tmp_path / "2", {**DEV, "steps": 5, "dropout": 0.0, "precision": "bfloat16"})
    assert two["precision"] == "bfloat16"
    assert two["encoding"]["precision"] == "float32"  # how it is read afterwards is another matter
    assert two["dev_curve"][0]["dev_nll"] == pytest.approx(one["dev_curve"][0]["dev_nll"], rel=0.1)
    assert one["content"] != two["content"]


def test_a_limited_finetuning_reads_so_many_examples_and_says_so(base, data, tmp_path):
    record = finetune(base, data, tmp_path, {**RECIPE, "steps": 2}, limit=10)
    assert record["examples"]["examples"] == 10
    assert "limited" in record["labels"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"training_set": "nq2"}, "unknown training set 'nq2'; did you mean 'nq'"),
        ({"training_set": "tatoeba"}, "tatoeba has no training examples"),
        ({"passage_length": 100}, "passage_length: 100 exceeds the 64 positions"),
        ({"batch": 64}, "40 usable examples, but one optimiser step takes 64 x 1"),
        ({"dev_set": "squad", "selection": "dev_nll"}, "squad"),
    ],
)
def test_a_refused_finetuning_leaves_no_output(base, data, tmp_path, change, message):
    with pytest.raises(SteleError, match=message):
        finetune(base, data, tmp_path, {**RECIPE, **change})
    assert not (tmp_path / "out").exists()


def test_killed_and_started_again_it_ends_in_the_same_bytes(base, data, tmp_path, monkeypatch):
    recipe = {**DEV, "steps": 20, "save_every_seconds": 0}
    whole = finetune(base, data, tmp_path / "whole", {**recipe, "save_every_seconds": 60})
    rough, original, steps = tmp_path / "rough", loop.train, []
    killed(lambda: finetune(base, data, rough, recipe), kill_after(13))
    assert list((rough / "state").glob("*/best/best.json")) and not (rough / "out").exists()

    def train(module, batches, *given, **more):
        noted = batches._replace(loss_at=lambda step: (steps.append(step), batches.loss_at(step))[1])
        return original(module, noted, *given, **more)

    monkeypatch.setattr(loop, "train", train)
    again = finetune(base, data, rough, recipe)
    assert steps == [*range(12, 20)]
    assert again["content"] == whole["content"]
    assert files_digest(rough / "out") == files_digest(tmp_path / "whole" / "out")
    assert again["dev_curve"] == whole["dev_curve"]
    assert not (rough / "state").exists()
