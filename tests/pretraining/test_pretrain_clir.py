"""The pretrain command of the CLIR language model: conversion to windows, then QLM and RR on what comes out of it."""

import math
import re
import signal

import numpy as np
import pytest
import torch
from pretrain_runs import SMALL, command
from safetensors.torch import load_file
from test_pretrain_resume import interrupted
from tiny_checkpoint import WIDTH, bert_checkpoint, recorded

from stele.artifacts.records import read_record
from stele.command.cli import main
from stele.encoders.backbone import load_backbone, positions
from stele.pretraining.inputs import load_base
from stele.training.curve import read_csv
from stele.training.heads import bits, characters
from stele.training.hidden_states import first_states
from stele.training.section_store import TokenSection, write_section_store
from tests.forked import forked

MLM = {**SMALL, "objective": "mlm", "mlm_length": 32, "steps": 8}
WINDOWS = {"window": 8, "positions": 40, "global_separators": 2}
CLIR = {name: value for name, value in SMALL.items() if not name.startswith("mlm") and name != "sampling_alpha"}
CLIR |= dict(objective="clir", tasks=["rr", "qlm"], pairs=4, length=36, groups=1, steps=12, mask_probability=0.3)


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return bert_checkpoint(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def sections(tmp_path_factory):
    """ "section:part" -> record, of three pairs of languages."""
    rng, collected = np.random.default_rng(5), {}
    for part in ("de-en", "de-fr", "en-fr"):
        folder = tmp_path_factory.mktemp(part)

        def section(side, page):
            sentences = [rng.integers(5, 79, rng.integers(3, 9)).astype(np.uint32) for _ in range(rng.integers(2, 5))]
            return TokenSection(side, page, sentences)

        texts = [section(side, page) for side in (0, 1) for page in range(9) for _ in range(3)]
        counts = write_section_store(folder, texts, np.array([(3 * page, 27 + 3 * page) for page in range(9)]))
        collected[f"section:{part}"] = recorded(folder, "tokenise", ["generated data"], counts=counts)
    return collected


@pytest.fixture(scope="module")
def windows(tmp_path_factory, bert, pairs):
    place = tmp_path_factory.mktemp("windows")
    assert main(command(place, bert, pairs, MLM, sliding_window=WINDOWS)) == 0
    return place / "out/record.json"


def test_a_conversion_is_a_pretraining_whose_record_has_the_bits_before_between_and_after(windows, bert):
    record = read_record(windows)
    assert record["bits"].keys() == {"before", "converted", "after"}
    for figures in record["bits"].values():
        assert 0 < figures["bits_per_character"] < figures["bits_per_token"] < 2 * math.log2(80)
    before, converted, after = (record["bits"][name]["bits_per_token"] for name in ("before", "converted", "after"))
    assert before == pytest.approx(converted, abs=1e-3) and abs(after - converted) > 1e-3, "these texts are short"
    assert not (windows.parents[1] / "state").exists()
    model, _ = load_base(windows.parent, 0.0, 0)
    assert model.config.model_type == "longformer" and positions(model.config) == 40
    assert load_backbone(windows.parent, "pooler")[0].pooler is not None


def test_bits_are_those_of_the_cross_entropy_over_the_characters_hidden(bert, pairs):
    """The words w0 ... w74 have two or three characters."""
    model, tokenizer = load_base(bert.parent, 0.0, 0)
    ids = torch.tensor([[0, 5, 79, 30, 2]])
    made = {"ids": ids.numpy(), "mask": None, "places": np.array([2, 3]), "targets": np.array([6, 30])}
    found = bits(model, [made], characters(tokenizer, 80), torch.device("cpu"))
    logits = model(ids).logits[0].log_softmax(-1)
    total = -(logits[2, 6] + logits[3, 30]).item() / math.log(2)
    assert tokenizer.convert_ids_to_tokens([6, 30]) == ["w2", "w26"]
    expected = {"bits_per_character": total / 5, "bits_per_token": total / 2}
    assert found == pytest.approx(expected, abs=1e-5)


def test_the_vocabulary_head_of_a_conversion_is_the_one_it_was_trained_with(windows, bert):
    weights = load_file(windows.parent / "model.safetensors")
    before = load_base(bert.parent, 0.0, 0)[0].cls.predictions.transform.dense.weight
    after = load_base(windows.parent, 0.0, 1)[0].lm_head.dense.weight
    assert torch.equal(after, weights["lm_head.dense.weight"]) and not torch.equal(before, after)
    assert (before - after).abs().max() < 0.1, "trained on from the checkpoint's, not new"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sliding_window": {**WINDOWS, "window": 9}}, "sliding_window.window: .*want an even number"),
        ({"sliding_window": {**WINDOWS, "positions": 30}}, "mlm_length: 32 exceeds the 30 positions"),
    ],
)
def test_conversions_that_cannot_be(tmp_path, bert, pairs, changes, message, capsys):
    assert main(command(tmp_path, bert, pairs, MLM, **changes)) == 1
    assert re.search(message, capsys.readouterr().err)


def test_a_snapshot_is_what_a_run_of_so_many_steps_makes(tmp_path, bert, sections):
    """Its learning rate is constant, and what a step draws does not depend on how many follow."""
    recipe = CLIR | {"schedule": "constant", "warmup_steps": 0, "length": 20}
    long, short = tmp_path / "long", tmp_path / "short"
    assert main(command(long, bert, sections, recipe, snapshots=[6])) == 0
    assert main(command(short, bert, sections, recipe, steps=6)) == 0
    names = ("model.safetensors", "rr_head.safetensors")
    kept, whole = (
        [(folder / name).read_bytes() for name in names] for folder in (long / "out/snapshots/step-6", short / "out")
    )
    assert kept == whole != [(long / "out" / name).read_bytes() for name in names]


@pytest.mark.parametrize("ranking", ["pairwise", "pointwise"])
def test_qlm_and_rr_go_on_from_a_converted_model_and_keep_the_head(tmp_path, windows, sections, ranking, capsys):
    code = main(command(tmp_path, windows, sections, CLIR, ranking=ranking, snapshots=[6]))
    assert code == 0, capsys.readouterr().err
    out = tmp_path / "out"
    rows = read_csv(out / "curve.csv")
    assert [name for row in rows for name in ("rr", "qlm") if name in row] == [*["rr"] * 3, *["qlm"] * 3] * 2
    record = read_record(out / "record.json")
    assert record["chance"] == pytest.approx({"qlm": math.log(80), "rr": math.log(2)}, abs=1e-5)
    assert record["languages"]["rr"].keys() == {"de-en", "de-fr", "en-fr"}
    assert all(about["probability"] == pytest.approx(1 / 3, abs=1e-5) for about in record["languages"]["qlm"].values())
    assert record["counts"]["groups_rr"] == record["counts"]["groups_qlm"] == 6
    assert 0 < record["counts"]["hard_negatives_rr"] < 6 * 4
    width = {"pairwise": {"weight": (1, WIDTH)}, "pointwise": {"weight": (2, WIDTH), "bias": (2,)}}[ranking]
    heads = [load_file(folder / "rr_head.safetensors") for folder in (out, out / "snapshots/step-6")]
    assert all({name: tuple(value.shape) for name, value in head.items()} == width for head in heads)
    assert not torch.equal(heads[0]["weight"], heads[1]["weight"])
    before, after = (load_backbone(folder, "pooler")[0] for folder in (windows.parent, out))
    same = torch.equal(before.pooler.dense.weight, after.pooler.dense.weight)
    assert same == (ranking == "pairwise"), "the pooler is trained where it makes the score"
    ids = torch.tensor([[0, 7, 8, 2, 9, 10, 2]])
    types = torch.tensor([[0, 0, 0, 0, 1, 1, 1]])
    assert first_states(after.eval(), ids, None, types=types).shape == (1, WIDTH)


def test_a_killed_conversion_ends_in_the_same_bytes_and_the_same_bits(tmp_path, bert, pairs):
    recipe = {**MLM, "sliding_window": WINDOWS, "save_every_seconds": 0}
    calm, rough = (command(tmp_path / name, bert, pairs, recipe) for name in ("calm", "rough"))
    assert main(calm) == 0
    assert interrupted(rough, 5, signal.SIGKILL) == -signal.SIGKILL
    assert main(rough) == 0
    one, two = (tmp_path / name / "out" for name in ("calm", "rough"))
    assert (one / "model.safetensors").read_bytes() == (two / "model.safetensors").read_bytes()
    assert read_record(one / "record.json")["bits"] == read_record(two / "record.json")["bits"]


def test_two_processes_convert_as_one_does(tmp_path, bert, pairs):
    """The first process converts the base; every piece draws its own dropout."""

    def work(rank):
        assert main(command(folder, bert, pairs, MLM, sliding_window=WINDOWS, encode_chunk=1, steps=4)) == 0

    curves, of_runs = [], []
    for number in (1, 2):
        folder = tmp_path / str(number)
        assert forked(number, work) == [0] * number
        curves.append(read_csv(folder / "out/curve.csv"))
        of_runs.append(read_record(folder / "out/record.json"))
    assert [record["processes"] for record in of_runs] == [1, 2]
    for one, other in zip(*curves, strict=True):
        assert other == pytest.approx(one, rel=1e-4, abs=1e-5)
    bits, shared = (record["bits"] for record in of_runs)
    assert of_runs[0]["counts"] == of_runs[1]["counts"] and bits["converted"] == shared["converted"]
    assert shared["after"] == pytest.approx(bits["after"], rel=1e-4)


def test_inputs_past_the_positions_are_refused_before_the_first_step(tmp_path, bert, sections, capsys):
    assert main(command(tmp_path, bert, sections, CLIR)) == 1
    assert "length is 36, but the model has only 20 positions" in capsys.readouterr().err
