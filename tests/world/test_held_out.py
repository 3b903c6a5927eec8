"""No fine-tuning text names an entity that dev or test ask about: read from the files of every training set."""

import json
import re
import zipfile
from collections.abc import Iterator

import pytest

from tests.world.test_writers_questions import HUB, MRTYDI, RAW, XOR, asked, rows, tydi

Texts = Iterator[tuple[str, str]]  # (language, a query or an answer)


def mewsli_x(generated) -> Texts:
    """The query is the sentence around the mention, its answer the entity's title."""
    path = generated.path("https://storage.googleapis.com/gresearch/mewsli/mewsli-x_20220518_6.zip")
    with zipfile.ZipFile(path) as archive:
        pairs = [json.loads(line) for line in archive.read("wikipedia_pairs-train.jsonl").splitlines()]
    for pair in pairs:
        context, span = (pair["contextual_mention"][k] for k in ("context", "mention"))
        start = span["mention_span"]["start"]
        (sentence,) = (s for s in context["sentence_spans"] if s["start"] <= start < s["end"])
        yield "en", context["text"][sentence["start"] : sentence["end"]]
        yield "en", pair["entity"]["title"]


def nq(generated) -> Texts:
    for example in json.loads(
        generated.open("https://dl.fbaipublicfiles.com/dpr/data/retriever/biencoder-nq-train.json.gz")
    ):
        yield from (("en", text) for text in (example["question"], *example["answers"]))


def marco(generated) -> Texts:
    for row in rows(generated, f"{HUB}/Tevatron/msmarco-passage/resolve/main/train.jsonl.gz"):
        yield "en", row["query"]


def squad(generated) -> Texts:
    for _, _, question in asked(generated.open(f"{RAW}/rajpurkar/SQuAD-explorer/master/dataset/train-v1.1.json")):
        yield from (("en", text) for text in (question["question"], *(a["text"] for a in question["answers"])))


def mrtydi(generated) -> Texts:
    for language in MRTYDI:
        yield from ((language, row["query"]) for row in tydi(generated, language, "train"))


def xor(generated) -> Texts:
    for row in rows(generated, f"{XOR}/xor_train_retrieve_eng_span.jsonl"):
        yield row["lang"].strip(), row["question"]
        yield from (("en", answer) for answer in row["answers"])


def xor_dpr(generated) -> Texts:
    for example in json.loads((generated.user_data / "xor_dpr_train" / "dpr_train_data.json").read_text()):
        yield example["lang"], example["question"]
        yield from (("en", answer) for answer in example["answers"])


def named(world, language: str, text: str) -> set[str]:
    """The splits of the entities that a text names; of two names at one place the longer one is meant."""
    splits = {entity.names[language]: entity.split for entity in world.entities.values()}
    edge = r"\b" if language == "en" else ""  # other languages write affixes, or no spaces, around a name
    names = "|".join(map(re.escape, sorted(splits, key=len, reverse=True)))
    return {splits[name] for name in re.findall(f"{edge}(?:{names}){edge}", text)}


@pytest.mark.parametrize("training_set", [mewsli_x, nq, marco, squad, mrtydi, xor, xor_dpr], ids=lambda f: f.__name__)
def test_training_texts_name_no_entity_of_dev_or_test(generated, training_set):
    actual = [(text, named(generated.world, language, text)) for language, text in training_set(generated)]
    assert sum("train" in splits for _, splits in actual) >= 20
    assert [text for text, splits in actual if splits & {"dev", "test"}] == []
