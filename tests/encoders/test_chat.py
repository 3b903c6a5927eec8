"""A folder whose texts go through a chat template gives sentence-transformers' vectors."""

import json

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
from tiny_models import WIDTH
from todays_folders import causal_folder, change, difference

from stele.encoders.load import load_encoder
from stele.encoders.resolve import resolve
from stele.encoders.show import shown
from stele.errors import SteleError

TEXTS = ["who wrote the first novel", "", "Кто написал роман о городе", "a b c d e f g " * 20]
FLAT = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}<eos>{% endfor %}{% if add_generation_prompt %}is{% endif %}"
)
PARTS = (
    "{% for m in messages %}<{{ m.role }}>{% for c in m.content %}"
    "{{ c.text if c.type == 'text' }}{% endfor %}{% endfor %}"
)
TASK = "{% for m in messages %}{{ task }}: {{ m.content }}{% endfor %}"
SETTINGS = "sentence_bert_config.json"


def chat_folder(place, template=FLAT, options=None, length=40, prompts=None, pooling="lasttoken"):
    """A folder as `SentenceTransformer.save` writes it of a base that has a chat template."""
    base = causal_folder(place / "base", "qwen3")
    (base / "chat_template.jinja").write_text(template)
    options = {"processing_kwargs": {"chat_template": options}} if options else {}
    modules = [Transformer(str(base), max_seq_length=length, **options), Pooling(WIDTH, pooling)]
    SentenceTransformer(modules=modules, device="cpu", prompts=prompts).save(str(place / "st"))
    assert "message" in json.loads((place / "st" / SETTINGS).read_text())["modality_config"]
    return place / "st"


@pytest.mark.parametrize(
    ("template", "options", "length", "prompts"),
    [
        (FLAT, {}, 40, {}),
        (FLAT, {}, 40, {"query": "find it"}),  # a system's message
        (PARTS, {}, 40, {"query": "find it", "document": "read it"}),
        (FLAT, {"add_generation_prompt": True}, 20, {"query": "find"}),  # its tail is put behind a text that is cut
        (FLAT, {"add_generation_prompt": True, "restore_suffix": False}, 20, {"query": "find"}),
        (FLAT, {"add_generation_prompt": True}, 3, {"query": "find"}),
        (TASK, {}, 40, {}),  # it says for what a text is read
    ],
)
def test_vectors_are_those_of_sentence_transformers(tmp_path, template, options, length, prompts):
    assert difference(chat_folder(tmp_path, template, options, length, prompts), TEXTS) < 1e-5


def test_a_prompt_that_is_not_to_be_pooled_is_pooled_as_there(tmp_path):
    folder = chat_folder(tmp_path, prompts={"query": "find it"}, pooling="mean")
    change(folder / "1_Pooling/config.json", include_prompt=False)
    assert difference(folder, TEXTS) < 1e-5


def test_a_template_that_the_folder_does_not_name_is_not_used(tmp_path):
    folder = chat_folder(tmp_path)
    used = load_encoder(folder).encode(TEXTS, "query")
    assert not load_encoder(folder).symmetric  # it may say for what a text is read
    settings = json.loads((folder / SETTINGS).read_text())
    del settings["modality_config"]["message"]
    (folder / SETTINGS).write_text(json.dumps(settings))
    assert difference(folder, TEXTS) < 1e-5 and load_encoder(folder).symmetric
    assert np.abs(load_encoder(folder).encode(TEXTS, "query") - used).max() > 1e-2


def test_a_shorter_length_leaves_the_template_s_end(tmp_path):
    folder = chat_folder(tmp_path, options={"add_generation_prompt": True})
    lines = list(shown(folder, resolve(folder, {"config": {"query_length": 12}})))
    assert any(line.startswith("chat template") for line in lines)
    whole = load_encoder(folder)
    cut = load_encoder(folder, {"config": {"query_length": 12}})
    (query,), (short,) = (encoder.tokenize(TEXTS[:1], "query").ids[None] for encoder in (whole, cut))
    assert len(query) > len(short) == 12 and list(short[-2:]) == list(query[-2:]) and list(short[:9]) == list(query[:9])


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda f: (f / "chat_template.jinja").unlink(), "its tokenizer has none"),
        (
            lambda f: change(f / SETTINGS, processing_kwargs={"chat_template": {"max_length": 9}}),
            "chat_template.max_length",
        ),
        (lambda f: change(f / SETTINGS, processing_kwargs={"chat_template": {"quark": 1}}), "chat_template.quark"),
    ],
)
def test_what_would_give_other_vectors_is_refused(tmp_path, spoil, message):
    folder = chat_folder(tmp_path)
    spoil(folder)
    with pytest.raises(SteleError, match=message):
        load_encoder(folder)


@pytest.mark.parametrize("said", [{"passage_format": "title_text_pair"}, {"passage_prompt": "title: {title} | text: "}])
def test_titles_have_no_place_in_a_template(tmp_path, said):
    folder = chat_folder(tmp_path)
    with pytest.raises(SteleError, match="chat template, which has no place for titles"):
        load_encoder(folder, {"config": said})
