"""What a run will cost: the arithmetic against the one that trains, against counts by hand, and what it covers."""

import itertools
import json
import re
import subprocess
import sys
from collections import Counter
from copy import copy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from stele import catalogue
from stele.catalogue.schema.benchmarks import Benchmark, TrainingSet
from stele.catalogue.schema.costs import Costs, Fill, Text
from stele.catalogue.schema.datasets import Dataset
from stele.cluster import cost_page, resources, search_costs, sizes, text_costs, training_costs, work
from stele.cluster.requests import estimate
from stele.cluster.sizes import shape_of
from stele.cluster.work import Work, named
from stele.recipes.finetuning import parse_finetuning
from stele.recipes.flops import Shape, encode
from stele.recipes.pretraining import parse_recipe as parse_pretraining
from stele.recipes.search import RotationRecipe
from stele.snakemake_support.patches.planning import planned
from stele.training.objectives.clir import QUERY
from stele.training.objectives.mlm import MaskedLanguageModelling

FULL = Fill(tokens=1, sentences=1)
SHAPE = Shape(layers=12, width=768, inner=3072, vocabulary=250002)


def batch_of(objective: str, recipe) -> dict:
    """A batch of the largest shapes that a recipe allows: what the objective's own count looks at."""
    if objective == "mlm":
        ids = np.empty((recipe.mlm_sequences, recipe.mlm_length))
        places = round(recipe.mask_probability * recipe.mlm_sequences * (recipe.mlm_length - 2))
        return {"ids": ids, "places": np.empty(places)}
    if objective == "msm":
        ids = np.empty((recipe.documents * recipe.sentences, recipe.sentence_length))
        return {"ids": ids, "counts": [recipe.sentences] * recipe.documents}
    if objective in ("crop", "ccp"):
        return {"ids": np.empty((2 * recipe.pairs, recipe.sentence_length)), "queues": [0]}
    if objective == "ict":
        lengths = {"query_ids": recipe.query_length, "passage_ids": recipe.block_length}
    else:
        lengths = {"query_ids": recipe.length, "passage_ids": recipe.length}
    return {name: np.empty((recipe.pairs, length)) for name, length in lengths.items()}


@pytest.mark.parametrize(
    "model", ["msm", "msm_neg_4096", "msm_no_pl", "msm_layers_6", "crop", "ict", "ccp", "kept", "mcontriever_continued"]
)
def test_full_groups_cost_what_their_objective_counts(jobs, model):
    recipe = jobs(scale="paper").pretraining.recipe(model)
    contrastive = recipe.new_objective(recipe.own_tasks()[0]).flops(batch_of(recipe.objective, recipe), SHAPE)
    share, mlm = recipe.mlm_share, 0.0
    if share:
        mlm = MaskedLanguageModelling(recipe).flops(batch_of("mlm", recipe), SHAPE)
    expected = recipe.groups * ((1 - share) * contrastive + share * mlm)
    assert training_costs.pretraining_step(recipe, SHAPE, FULL) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("window", [None, 64])
@pytest.mark.parametrize("tasks", [["rr"], ["qlm"], ["qlm", "rr"]])
def test_full_groups_of_packed_pairs_cost_what_their_tasks_count(tasks, window):
    values = dict(objective="clir", tasks=tasks, pairs=32, length=512, mask_probability=0.3, steps=1, dropout=0.1)
    values |= dict(learning_rate=1e-5, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, clip_norm=5.0)
    recipe, shape = parse_pretraining(values), SHAPE._replace(window=window)
    types = np.broadcast_to(np.arange(512) >= QUERY - 1, (32, 512))  # the last [SEP] is global, too
    places = np.empty(round(0.3 * 32 * QUERY))
    batches = {"rr": {"types": types, "ids": np.empty((64, 512))}}
    batches["qlm"] = {"types": types, "ids": np.empty((32, 512)), "places": places}
    counted = [recipe.new_objective(task).flops(batches[task], shape) for task in tasks]
    assert recipe.flops(shape, *recipe.group_sizes(1, 1)) == pytest.approx(np.mean(counted), rel=1e-4)


def test_a_chain_that_began_with_a_conversion_has_its_windows(jobs):
    windows = {"window": 64, "positions": 1024, "global_separators": 2}
    mlm = {"steps": 2000, "equal_compute_to": None, "mlm_length": 1024, "mining": {"mlm": "mlm"}, "languages": ["en"]}
    models = {
        "plain": {"base": "mbert", "recipe": "mlm_equal_compute", "override": mlm},
        "windows": {"base": "mbert", "recipe": "mlm_equal_compute", "override": {**mlm, "sliding_window": windows}},
        "after": {"base": "windows", "recipe": "mlm_equal_compute", "override": mlm},
    }
    plan = jobs(scale="paper", models=models)
    shapes = {model: shape_of(plan, model).shape for model in ("mbert", *models)}
    actual = {model: shape.window for model, shape in shapes.items()}
    assert actual == {"mbert": None, "plain": None, "windows": 64, "after": 64}
    assert shapes["after"]._replace(window=None) == shapes["mbert"]


def test_equal_compute_costs_as_much_as_what_it_equals(jobs):
    plan, fill = jobs(scale="paper"), catalogue.whole(Costs).fill
    for equal, other in (("mlm_equal_compute", "msm"), ("crop_equal_compute", "kept")):
        one, steps = training_costs.pretraining_operations(plan.pretraining.recipe(equal), SHAPE, fill)
        two, of_the_other = training_costs.pretraining_operations(plan.pretraining.recipe(other), SHAPE, fill)
        assert one == pytest.approx(two, rel=1e-4) and steps != of_the_other


def test_a_fine_tuning_by_hand():
    """2 layers of width 4 and inner width 8 that read all tokens: a layer costs 8*16 + 4*4*8 a token, 4*T*4 beside."""
    sizes = {"batch": 2, "hard_negatives": 1, "query_length": 5, "passage_length": 9, "epochs": 2, "warmup_steps": 0}
    values = {"training_set": "nq", "towers": "separate", "pooling": "mean", "learning_rate": 1.0, **sizes}
    recipe, by_loss = map(parse_finetuning, (values, {**values, "dev_set": "nq", "selection": "dev_nll"}))
    shape, query, passage = Shape(2, 4, 8, 100), Text(mean=3, longest=7), Text(mean=6, longest=20)

    def encoded(sequences, tokens):
        return 2 * sequences * tokens * (8 * 16 + 4 * 4 * 8 + 4 * tokens * 4)

    step = 3 * (encoded(2, 5) + encoded(4, 9)) + 3 * 2 * 4 * 2 * 4
    # 7 examples are 3 whole groups an epoch
    assert training_costs.finetuning_operations(recipe, shape, query, passage, 7, 0) == (6 * step, 6)
    # a dev set of 5 questions, measured after each epoch: each with its positive and a hard negative
    dev = 2 * 5 * (encoded(1, 3) + 2 * encoded(1, 6))
    assert training_costs.finetuning_operations(by_loss, shape, query, passage, 7, 5)[0] == 6 * step + dev
    # from the second epoch on in a pool of 1 + 60 passages a question
    by_rank = by_loss.model_copy(update={"selection": "average_rank_from_epoch_1"})
    dev = 2 * 5 * encoded(1, 3) + 5 * (2 + 61) * encoded(1, 6)
    assert training_costs.finetuning_operations(by_rank, shape, query, passage, 7, 5)[0] == 6 * step + dev


def test_a_search_by_hand():
    actual = search_costs.encoded(search_costs.Search(2, 10, 3, 6), Shape(2, 4, 8, 100), first_only=False, half=False)
    layer = 8 * 16 + 4 * 4 * 8
    assert actual.flops == {"encoding": 2 * (10 * 6 * (layer + 96) + 2 * 3 * (layer + 48)), "search": 2 * 2 * 10 * 4}
    assert actual.temporary == 10 * 4 * 4
    short = search_costs.encoded(search_costs.Search(2, 10, 3, 6), Shape(2, 4, 8, 100), False, half=True, dimension=3)
    assert short.temporary == 10 * 3 * 2 and short.flops["search"] == 2 * 2 * 10 * 3
    assert short.flops["encoding_half"] == actual.flops["encoding"]


@pytest.mark.parametrize(
    ("model", "encoding", "numbers", "bytes_of_one"),
    [("bge_m3", {}, 1024, 4), ("qwen3_06b", {}, 1024, 2), ("qwen3_06b", {"dimension": 256}, 256, 2)],
)
def test_a_search_needs_the_disk_of_its_largest_pool(jobs, model, encoding, numbers, bytes_of_one):
    """MIRACL's English passages, one pool of 18, by the numbers of a vector that are kept."""
    models, w = {model: {"encoding": encoding}}, {"benchmark": "miracl", "model": model, "setting": "direct"}
    english, all_pools = 32_893_221, 106_332_152
    work = estimate(jobs(scale="paper", models=models), "retrieve", {**w, "seeds": "pt0-ft0"})
    assert work.temporary == english * numbers * bytes_of_one
    small = jobs(scale="paper", models=models, languages=["sw", "th"])
    assert estimate(small, "retrieve", {**w, "seeds": "pt0-ft0"}).temporary == 542_166 * numbers * bytes_of_one
    kept = estimate(jobs(scale="paper", models=models, keep_index=True), "retrieve", {**w, "seeds": "pt0-ft0"})
    assert kept.kept - work.kept == pytest.approx(all_pools * numbers * bytes_of_one)


def test_sentences_that_are_searched_both_ways_are_encoded_once(jobs):
    plan = jobs(scale="laptop", languages=["th"])
    work = estimate(
        plan, "retrieve", {"benchmark": "tatoeba", "model": "para_minilm", "setting": "direct", "seeds": ""}
    )
    number, shape = 2 * sizes.pinned("tatoeba", "pairs", ("th",)), shape_of(plan, "para_minilm").shape
    assert work.flops["encoding"] == number * encode(1, sizes.costs().texts["short"].mean, shape, first_only=False)


def test_an_encoded_collection_lies_there_with_the_others_that_are_searched_with_it(jobs):
    """NeuCLIRBench's three, each encoded once for its three benchmarks; a search of them makes no vectors."""
    plan, w = jobs(scale="paper"), {"model": "bge_m3", "setting": "direct", "seeds": "pt0-ft0"}
    encoding = {"benchmark": "neuclir_mono", "collection": "fa", **w}
    assert estimate(plan, "encode_collection", encoding).temporary == 10_038_768 * 1024 * 4
    assert estimate(plan, "retrieve", {"benchmark": "neuclir_mlir", **w}).temporary == 0


def test_a_rotation_by_hand():
    """Two epochs of 3 batches, each a step of the discriminator and one of W; 4 criteria and a refinement."""
    sizes = {"epochs": 2, "epoch_vectors": 10, "batch": 4, "discriminator_steps": 1, "refinements": 1}
    layers = {"discriminator_layers": 1, "discriminator_width": 3, "refinement_vectors": 6, "criterion_vectors": 5}
    recipe = RotationRecipe(**sizes, **layers)
    adversarial, compared = 12 * 8 * 6 * (2 * 3 + 3), (4 * 25 + 36) * 2 * (2 * 2)
    assert search_costs.rotation(recipe, 2) == (adversarial + compared, 12)
    from_identity = recipe.model_copy(update={"start": "identity"})
    assert search_costs.rotation(from_identity, 2) == ((2 * 25 + 36) * 2 * (2 * 2), 0)


def test_a_calibration_costs_by_its_languages_and_pairs(jobs):
    """Of both benchmarks; vectors stay where a later pair looks at them."""
    w = {"model": "xlmr_large", "recipe": "ccp", "seeds": "pt0-ft0"}
    plan, two = jobs(scale="paper", languages=["de", "fr"]), jobs(scale="paper", languages=["fr"])
    assert plan.calibration.pairs("ccp") == ["de-en", "fr-en", "fr-de"] and two.calibration.pairs("ccp") == ["fr-en"]
    more, less = (estimate(one, "calibrate", w) for one in (plan, two))
    assert more.flops["encoding"] / less.flops["encoding"] == pytest.approx(3 / 2)
    assert more.flops["search"] / less.flops["search"] == pytest.approx(3)
    vectors = 200_000 * 1024 * 4
    assert (less.temporary, more.temporary) == (vectors, 4 * vectors)


def test_time_falls_with_the_number_of_gpus_and_no_further_than_the_steps():
    training = Work({"training": 1e19}, steps=1000)
    one, eight = (work.gpu_seconds(training, "a100", devices) for devices in (1, 8))
    fixed = 180 + 0.2 * 1000
    assert (one - fixed) == pytest.approx(8 * (eight - fixed)) and one - fixed == pytest.approx(1e19 / 312e12 / 0.3)
    assert work.gpu_seconds(training, "h100", 8) < eight < work.gpu_seconds(training, "v100", 8)


def test_the_longest_chain_is_that_of_all_paths():
    rng = np.random.default_rng(2)
    for _ in range(50):
        seconds = rng.integers(1, 9, 7).tolist()
        after = [tuple(rng.choice(n, rng.integers(0, n + 1), replace=False).tolist()) if n else () for n in range(7)]
        subsets = (path for size in range(1, 8) for path in itertools.combinations(range(7), size))
        paths = [path for path in subsets if all(a in after[b] for a, b in itertools.pairwise(path))]
        actual = cost_page.longest_chain(seconds, after)
        assert tuple(actual) in paths
        assert sum(seconds[n] for n in actual) == max(sum(seconds[n] for n in path) for path in paths)


def is_private(names) -> bool:
    """Whether only their owner has some datasets, and so knows their sizes."""
    return all(catalogue.entry(Dataset, name).wall == "private" for name in names)


def test_everything_that_is_trained_or_searched_has_its_numbers(jobs):
    """An estimate must never stop a plan: it is part of every GPU job's time."""
    plan = jobs(scale="paper")
    for model in filter(plan.models.is_trained, plan.models.all):
        assert estimate(plan, "pretrain", {"model": model, "pt": "0"}).operations > 1e16
    for recipe in catalogue.load("recipes")["finetuning"]:
        training = estimate(plan, "finetune", {"model": "xlmr", "recipe": recipe, "seeds": "pt0-ft0"})
        training_set = plan.finetuning.train_and_dev(recipe)[0]
        assert training.operations > 1e16 if training else is_private(catalogue.entry(TrainingSet, training_set).data)
    settings = catalogue.load("settings")["settings"]
    for benchmark, setting, kind in ((b, s, entry["kind"]) for b, own in settings.items() for s, entry in own.items()):
        row = {"benchmark": benchmark, "model": "xlmr", "setting": setting, "seeds": "pt0-ft0"}
        rule = {"dense": "retrieve", "calibrated": "retrieve", "vectors": "encode_pairs"}.get(kind)
        if rule:
            lender = catalogue.entry(Benchmark, benchmark).collections_of
            collections = plan.data.read_languages(benchmark) if lender else ()
            encodings = [row | {"benchmark": lender, "collection": collection} for collection in collections]
            works = [estimate(plan, rule, row), *(estimate(plan, "encode_collection", w) for w in encodings)]
            measured = None not in works and sum(work.operations for work in works) > 1e13
            assert measured or is_private(catalogue.entry(Benchmark, benchmark).data)
        if kind == "answered":
            assert estimate(plan, "answer", row).operations > 1e16
    encoders = {key: model for key, model in plan.models.all.items() if model.has_encoder and not model.unavailable}
    known = {key for key in encoders if not plan.models.pretraining_of(key)}
    assert known <= catalogue.load("checkpoint_sizes").keys()


def test_expansion_and_fusion_have_their_costs(jobs):
    plan = jobs(scale="paper")
    rows = [{"benchmark": "mrtydi", "model": model, "setting": "tuned"} for model in ("bm25", "bm25_rm3")]
    plain, expanded = (estimate(plan, "bm25", row).cpu_seconds for row in rows)
    assert 1.5 * plain < expanded < 3 * plain
    fusion = estimate(plan, "fuse", {"benchmark": "lareqa", "model": "mbert", "setting": "x", "seeds": "pt0-ft0"})
    assert 100 < fusion.cpu_seconds < 200  # 13,090 questions


def test_a_benchmark_of_one_s_own_has_no_estimate_and_a_day(jobs):
    plan = jobs(scale="paper")
    w = {"benchmark": "my_questions", "model": "msm", "setting": "zero_shot_nq", "seeds": "pt0-ft0"}
    assert estimate(plan, "retrieve", w) is None and estimate(plan, "score", w) is not None
    assert resources.runtime_minutes("retrieve", plan, 2)(w) == 24 * 60
    assert resources.disk_mb("retrieve", plan)(w) == 1000
    own = SimpleNamespace(train_and_dev=lambda name: ("my_examples", "nq"), recipe=plan.finetuning.recipe)
    of_own = copy(plan)
    of_own.finetuning = own
    assert estimate(of_own, "finetune", {"model": "msm", "recipe": "nq"}) is None


def test_an_unknown_checkpoint_is_taken_for_a_known_one_and_a_folder_is_as_large_as_it_says(jobs, tmp_path):
    """Also under the key of a model of another size."""
    numbers = {"num_hidden_layers": 3, "hidden_size": 64, "intermediate_size": 128, "vocab_size": 500}
    (tmp_path / "config.json").write_text(json.dumps(numbers))
    plan = jobs(scale="paper", models={"mine": {"checkpoint": "a/b"}, "me5_small": {"checkpoint": str(tmp_path)}})
    fetched, assumed, here = (
        text_costs.checkpoint(plan, SimpleNamespace(model=model)).download for model in ("mine", "xlmr", "me5_small")
    )
    assert fetched == assumed > 10**9 and here == 0
    assert sizes.shape_of(plan, "mine") == (sizes.shape_of(plan, "xlmr").shape, False)
    assert sizes.shape_of(plan, "me5_small") == (Shape(layers=3, width=64, inner=128, vocabulary=500), True)


def test_the_disk_for_a_user_s_checkpoint_is_by_its_own_files(jobs, tmp_path, monkeypatch):
    """A folder is linked to, and its PyTorch weights are converted; of the hub's the settings say how large it is."""
    for name in ("safe/model.safetensors", "safe/pytorch_model.bin", "torch/pytorch_model.bin"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(bytes(1000))
    folders = {name: {"checkpoint": str(tmp_path / name)} for name in ("safe", "torch")}
    plan = jobs(scale="paper", models={**folders, "mine": {"checkpoint": "a/b"}})
    works = [estimate(plan, "checkpoint", {"model": name}) for name in folders]
    assert [(work.download, work.kept, work.waiting) for work in works] == [(0, 0, 0), (0, 1000, 0)]
    stated = Shape(layers=36, width=4096, inner=12288, vocabulary=151665)
    monkeypatch.setattr(Shape, "in_folder", lambda _: stated)
    work = estimate(plan, "checkpoint", {"model": "mine"})
    assert work.download == work.kept and 20e9 < work.kept < 30e9, "7 billion weights, not those of XLM-R"


def test_shapes_give_the_known_numbers_of_parameters(jobs):
    """Parameters of public checkpoints in millions (facts about them: 278 M for XLM-R base, 178 M for mBERT, ...)."""
    for model, millions in {"xlmr": 278.0, "xlmr_large": 559.9, "mbert": 177.9, "labse": 471.5, "bert": 109.5}.items():
        shape = sizes.shape_of(jobs(scale="paper"), model).shape
        assert sizes.saved_bytes(shape) / 4e6 == pytest.approx(millions, rel=0.015)
    small, large = (sizes.shape_of(jobs(scale="miniature"), model).shape for model in ("msm", "msm_large"))
    assert small == Shape(2, 64, 128, 3500) and large == small._replace(layers=3)


def test_the_time_of_a_job_needs_no_torch(root):
    """It is reckoned whenever the Snakefile is read, on every node."""
    code = "import stele.cluster.resources, sys; sys.exit(bool({'torch', 'transformers', 'pandas'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=root).returncode == 0


def test_a_user_s_own_data_are_no_download(jobs, tmp_path):
    w = SimpleNamespace(dataset="squad", part="all")
    assert text_costs.dataset(jobs(scale="paper"), w).download == 30288272 + 4854279
    assert text_costs.dataset(jobs(scale="paper", user_data={"squad": str(tmp_path)}), w).download == 0


@pytest.fixture
def words_of_small():
    """The head of the scale's file."""
    text = (Path(catalogue.__file__).parent / "scales/small.yaml").read_text(encoding="utf-8")
    return " ".join(text.partition("title:")[0].split("\n# "))


def test_the_words_of_small_agree_with_its_sizes(jobs, words_of_small):
    """They say how long an MSM pretraining takes; the sizes below them decide that."""
    steps, minutes = re.search(r"([\d,]+) steps of [\d.]+ CPU-seconds, (\d+) minutes", words_of_small).groups()
    done = estimate(jobs(scale="small"), "pretrain", {"model": "msm", "pt": "0"})
    assert done.steps == int(steps.replace(",", ""))
    assert work.cpu_seconds(done) / 60 == pytest.approx(int(minutes), rel=0.1)


@pytest.mark.slow
def test_the_hours_in_the_words_of_small_are_those_of_the_cost_report(root, monkeypatch, words_of_small):
    """By the command that they name, of MSM's and KEPT's tables, and of all five papers'."""
    monkeypatch.chdir(root)
    assert "`stele cluster cost -- --config scale=small papers='[msm,kept]'`" in words_of_small
    said = re.search(
        r"the stand-ins ([\d.]+) CPU-hours, once; all tables of MSM and KEPT of one seed (\d+) more, of which "
        r"pretraining takes (\d+) and fine-tuning ([\d.]+): .* All five papers: (\d+), of which re-ranking takes "
        r"([\d.]+), pretraining (\d+) and answering ([\d.]+)\.",
        words_of_small,
    ).groups()
    two, five = _hours("papers=[msm,kept]"), _hours()
    world, pretrained, finetuned = (two[stage] for stage in ("world", "pretraining", "finetuning"))
    found = [world, sum(two.values()) - world, pretrained, finetuned, sum(five.values())]
    found += [five[stage] for stage in ("reranking", "pretraining", "answering")]
    assert [float(hours) for hours in said] == pytest.approx(found, rel=0.03)


def _hours(*config):
    """Stage -> CPU-hours of all tables at `small`, nothing of them built."""
    _, planned_jobs = planned(["all_tables", "--config", "scale=small", *config], everything=True, leave_out="cost")
    hours = Counter()
    for job in planned_jobs:
        hours[job.stage] += cost_page.core_seconds(job) / 3600
    return hours


def test_plain_numbers_of_a_benchmark_are_those_of_the_chosen_languages(jobs):
    """Belebele's 122 variants have 900 questions each."""
    row = SimpleNamespace(benchmark="belebele", model="me5_small", setting="direct", seeds="pt0-ft0")
    every, english = (jobs(scale="paper", **some) for some in ({}, {"languages": ["en"]}))
    assert sizes.of_languages([109800], "belebele", english.data.languages("belebele")) == 900
    alone, whole = (search_costs.retrieve(plan, row) for plan in (english, every))
    assert whole.flops["encoding"] == pytest.approx(122 * alone.flops["encoding"], rel=0.02)
    assert alone.memory < 3e9


def test_at_most_four_names_are_listed_by_the_sum_of_their_sizes():
    assert named([("a", 1), ("b", 4), ("c", 2), ("a", 2), ("d", 1)]) == "b, a, c, d"
    assert named([("a", 1), ("b", 1), ("c", 1), ("d", 1), ("e", 2)]) == "e, a, b, c, ..."
