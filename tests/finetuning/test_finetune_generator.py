"""A generator of queries learns from pairs, in any of mBART's forms, and ends in the same bytes after kill -9."""

import json
from pathlib import Path

import pytest

from stele.command.arguments import Job
from stele.encoders.generator import Generator, generate, load_generator, mark_language
from stele.errors import SteleError
from stele.finetuning import finetune_generator
from tests.encoders.tiny_models import make_mbart_folder, random_mbart
from tests.jobs import job
from tests.killing import kill_at, killed
from tests.sealed import write_sealed

WORDS = ["river", "nile", "uganda", "egypt", "novel", "city", "capital", "Africa"]
RECIPE = {"training_set": "jsonl", "pairs": 100, "source_length": 24, "query_length": 8, "batch": 8, "steps": 12}
RECIPE |= {"learning_rate": 3e-3, "warmup_steps": 2, "clip_norm": 1.0}


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    return write_sealed(make_mbart_folder(tmp_path_factory.mktemp("mbart")) / "record.json", {"content": "mbart"})


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> list[str]:
    """A passage says one word among others; its query is "who wrote" and that word."""
    folder, lines = tmp_path_factory.mktemp("pairs"), []
    for number in range(120):
        word = WORDS[number % len(WORDS)]
        lines.append({"query": f"who wrote {word}", "positives": [{"text": f"{word} {number % 7} x y"}]})
    (folder / "train.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return [f"mine:all={write_sealed(folder / 'record.json', {'content': 'pairs'})}"]


def arguments(tmp_path: Path, base: Path, data: list[str], name: str = "out", **changes) -> Job:
    line = ["--model", "mbart", "--recipe", json.dumps({**RECIPE, **changes}), "--generator", str(base)]
    line += ["--training", *data, "--seed", "3", "--state", str(tmp_path / "state" / name)]
    return job(finetune_generator, [*line, "--output", str(tmp_path / name / "record.json")])


def test_it_learns_to_write_queries(tmp_path, base, data):
    finetune_generator.run(arguments(tmp_path, base, data, steps=500))
    facts = json.loads((tmp_path / "out/record.json").read_text())
    assert facts["examples"] == {"given": 120, "drawn": 100} and facts["losses"]["cross_entropy"] < 0.5
    pieces = generate(load_generator(tmp_path / "out"), [f"{word} 3 x y" for word in WORDS], 3, 24, 12, 8)
    written = [text.replace(" ", "").replace("▁", " ").strip() for text in pieces]  # that tokenizer has no decoder
    assert sum(text.startswith("who wrote") for text in written) == len(WORDS)
    assert sum(text == f"who wrote {word}" for text, word in zip(written, WORDS, strict=True)) >= 4, (
        "one would be by chance"
    )


def test_killed_and_started_again_it_ends_in_the_same_bytes(tmp_path, base, data):
    finetune_generator.run(arguments(tmp_path, base, data, "whole"))
    args = arguments(tmp_path, base, data, "out", save_every_seconds=0)
    killed(lambda: finetune_generator.run(args), kill_at(finetune_generator, "step_rows", 7))
    assert list((tmp_path / "state/out").glob("*/training.pt")) and not (tmp_path / "out").exists()
    finetune_generator.run(args)
    for name in ("model.safetensors", "curve.csv"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_every_pair_is_seen_once_an_epoch():
    rows = [row for step in range(6) for row in finetune_generator.step_rows(8, step, 4, 1)]
    assert [sorted(rows[start : start + 8]) for start in (0, 8, 16)] == [list(range(8))] * 3
    assert rows[:8] != rows[8:16]


class Marked:
    """A tokenizer with languages, as mBART's: the mark behind a text (cc25) or before it (50)."""

    unk_token_id, eos_token_id, src_lang = 3, 2, None

    def __init__(self, leads: bool) -> None:
        self.leads = leads

    def convert_tokens_to_ids(self, code: str) -> int:
        return {"hi_IN": 9}.get(code, self.unk_token_id)

    def __call__(self, text_target: str) -> dict:
        return {"input_ids": [9, 5, 2] if self.leads else [5, 2, 9]}


@pytest.mark.parametrize(("leads", "start", "first"), [(False, 9, None), (True, 2, 9)])
def test_generation_begins_with_the_mark_of_the_language(leads, start, first):
    generator = Generator(random_mbart(20), Marked(leads))
    mark_language(generator, "hi_IN")
    config = generator.model.generation_config
    assert (config.decoder_start_token_id, config.forced_bos_token_id) == (start, first)
    assert generator.tokenizer.src_lang == generator.tokenizer.tgt_lang == "hi_IN"
    with pytest.raises(SteleError, match=r"language_code bn_IN: .* has no such language"):
        mark_language(generator, "bn_IN")


def test_a_tokenizer_without_languages_and_a_module_without_training_are_refused(tmp_path, base, data):
    with pytest.raises(SteleError, match="has no such language"):
        finetune_generator.run(arguments(tmp_path, base, data, language_code="hi_IN"))
    with pytest.raises(SteleError, match="lareqa has no training examples"):
        finetune_generator.run(arguments(tmp_path, base, data, training_set="lareqa"))
