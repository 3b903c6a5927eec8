"""The best span of a window, and of a question's windows the best; answers are texts of the paragraph, never empty."""

import numpy as np
import pytest
import torch
from made_questions import as_read, asked, lives, recipe
from tiny_models import make_gemma_folder
from transformers import BertForQuestionAnswering

from stele.answering.reading import reader as reader_module
from stele.answering.reading.reader import best_span, loss_of, new_reader, predictions
from stele.answering.reading.windows import labels, make_windows
from stele.encoders.sliding_window import convert
from stele.errors import SteleError
from stele.recipes.pretraining import SlidingWindow

RECIPE = recipe(length=24, question_length=10, stride=6)
QUESTIONS = [as_read(lives(n, "q", answered=n % 3 != 0)) for n in range(12)]


@pytest.fixture
def windows(uncased):
    return make_windows(uncased, QUESTIONS, RECIPE, segments=True)


@pytest.fixture
def reader(bert):
    return new_reader(bert.parent, 0, RECIPE, seed=0)


def by_hand(starts, ends, possible):
    """All spans one by one; of equal ones the earliest end, then the earliest start."""
    places = [n for n in range(len(starts)) if possible[n]]
    spans = [(starts[i] + ends[j], -j, -i) for i in places for j in places if i <= j]
    score, last, first = max(spans)
    return score, -first, -last


def test_the_best_span_is_that_of_all_spans():
    draws = np.random.default_rng(0)
    for size in [1, 2, 5, 9] * 20:
        starts, ends = draws.integers(-4, 4, (2, size)).astype(np.float64)
        possible = draws.random(size) < 0.7
        if possible.any():
            assert best_span(starts, ends, possible) == by_hand(starts, ends, possible)


def test_without_a_possible_token_there_is_no_span():
    assert best_span(np.ones(2), np.ones(2), np.zeros(2, bool))[0] == -np.inf


@pytest.mark.parametrize(("best", "height"), [("b", 5.0), ("r", 5.0), ("b", 3.0)])  # in the first window, in the last
def test_the_answer_is_that_of_the_best_window_of_the_paragraph(uncased, monkeypatch, best, height):
    """A reader that points at the tokens it is told, wherever they are; of equal windows the first counts."""
    context = "a b c d e f g h i j k l m n o p q r s t"
    item = asked(context)
    windows = make_windows(uncased, [item], RECIPE, segments=False)
    heights = {uncased.convert_tokens_to_ids(word): height if word == best else 3.0 for word in "br"}

    class Pointing(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.head = torch.nn.Linear(1, 1)
            self.backbone = torch.nn.Module()
            self.backbone.config = type("Config", (), {"hidden_size": 1})

        def forward(self, windows, rows):
            ids = [windows.tokens.ids[slice(*windows.tokens.offsets[row : row + 2])] for row in rows]
            width = max(map(len, ids))
            logits = torch.full((len(rows), width), -9.0)
            logits[:, 0] = 99.0  # [CLS]: no answer, which is never predicted
            for row, own in enumerate(ids):
                for place, id_ in enumerate(own.tolist()):
                    logits[row, place] = heights.get(id_, logits[row, place])
            return logits, logits

    assert len(windows) > 1
    assert predictions(Pointing(), windows) == {"q": best}
    monkeypatch.setattr(reader_module, "default_batch_tokens", lambda *given: 1)
    assert predictions(Pointing(), windows) == {"q": best}


def test_answers_are_never_empty_and_stand_in_the_paragraph(reader, windows):
    texts = predictions(reader, windows)
    assert {item.id for item in QUESTIONS if not item.answers} <= texts.keys(), "unanswerable ones, too"
    for item in QUESTIONS:
        assert texts[item.id].strip() and texts[item.id] in item.context


def test_neither_the_batch_nor_the_order_of_questions_changes_an_answer(reader, uncased, windows, monkeypatch):
    one = predictions(reader, windows)
    turned = make_windows(uncased, QUESTIONS[::-1], RECIPE, segments=True)
    for tokens in (1, 50, 10_000):
        monkeypatch.setattr(reader_module, "default_batch_tokens", lambda *given, tokens=tokens: tokens)
        assert predictions(reader, turned) == one


def test_a_question_whose_paragraph_has_no_token_has_no_answer(reader, uncased):
    items = [QUESTIONS[1], asked("\u200b")]
    assert predictions(reader, make_windows(uncased, items, RECIPE, segments=True)).keys() == {QUESTIONS[1].id}


def test_a_reader_that_has_diverged_is_an_error(reader, windows):
    torch.nn.init.constant_(reader.head.weight, float("nan"))
    with pytest.raises(SteleError, match="training diverged"):
        predictions(reader, windows)


# --- the model
def test_the_loss_is_that_of_transformers_on_a_window_without_padding(reader, uncased, bert, tmp_path):
    items = [asked("anna lives in rome .", "rome", "where does anna live ?")]
    windows = make_windows(uncased, items, RECIPE, segments=True)
    marked = labels(windows)
    theirs = BertForQuestionAnswering.from_pretrained(bert.parent, local_files_only=True).eval()
    theirs.qa_outputs.load_state_dict(reader.head.state_dict())
    given = {
        "input_ids": torch.from_numpy(windows.tokens.ids[None].astype(np.int64)),
        "token_type_ids": torch.from_numpy(windows.tokens.types[None].astype(np.int64)),
        "start_positions": torch.from_numpy(marked.starts),
        "end_positions": torch.from_numpy(marked.ends),
    }
    own = loss_of(reader.eval(), windows, marked, np.array([0]))
    assert own.item() == pytest.approx(theirs(**given).loss.item(), abs=1e-5)


def test_padding_has_no_part_in_the_loss(reader, uncased):
    """The mean loss of windows together is that of each alone."""
    windows = make_windows(uncased, QUESTIONS[:6], RECIPE, segments=True)
    marked = labels(windows)
    assert len(set(windows.tokens.lengths.tolist())) > 1
    places = np.arange(len(marked.rows))
    reader.eval()
    alone = [loss_of(reader, windows, marked, places[n : n + 1]).item() for n in places]
    assert loss_of(reader, windows, marked, places).item() == pytest.approx(np.mean(alone), abs=1e-5)


def test_the_head_is_drawn_by_the_seed(reader, bert):
    same, other = (new_reader(bert.parent, 0, RECIPE, seed).head.weight for seed in (0, 1))
    assert torch.equal(same, reader.head.weight) and not torch.equal(same, other)


def test_layers_and_head_are_trained_and_embeddings_are_not(reader, windows):
    loss_of(reader, windows, labels(windows), np.arange(4)).backward()
    moved = {name for name, value in reader.named_parameters() if value.grad is not None and value.grad.abs().sum() > 0}
    assert {name.partition("encoder.layer.")[2][:1] for name in moved if "layer" in name} == {"0", "1"}
    assert {"head.weight", "head.bias"} <= moved and not any("embeddings" in name for name in moved)


def test_a_model_whose_embeddings_have_another_name_reads_too(uncased, tmp_path):
    """EmbeddingGemma's kind, which has no position embeddings: it ended in a traceback."""
    reader = new_reader(make_gemma_folder(tmp_path / "gemma", both_ways=True), 0, RECIPE, seed=0)
    frozen = [name for name, value in reader.named_parameters() if not value.requires_grad]
    assert frozen == ["backbone.embed_tokens.weight"]


def test_windows_that_cover_an_input_change_no_logit_and_the_question_sees_all(bert, windows, tmp_path):
    """A model with sliding windows; narrower ones do change logits."""
    logits = []
    for name, width in (("wide", 64), ("narrow", 4)):
        folder = tmp_path / name
        convert(bert.parent, folder, SlidingWindow(window=width, positions=128, global_separators=2))
        reader = new_reader(folder, 0, RECIPE, seed=0).eval()
        logits.append(torch.cat(reader(windows, np.arange(len(windows)))))
    full = torch.cat(new_reader(bert.parent, 0, RECIPE, seed=0).eval()(windows, np.arange(len(windows))))
    assert torch.allclose(logits[0], full, atol=1e-5) and not torch.allclose(logits[1], full, atol=1e-2)
