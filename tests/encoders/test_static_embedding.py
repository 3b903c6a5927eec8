"""StaticEmbedding: the mean of tokens' vectors is sentence-transformers', of its own folders and of model2vec's."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense, Normalize, StaticEmbedding
from tiny_models import make_folder
from todays_folders import change, difference
from tokenizers import Tokenizer

from stele.encoders.load import load_encoder
from stele.encoders.resolve import resolve
from stele.encoders.show import shown
from stele.errors import SteleError

TEXTS = ["who wrote the first novel", "", "Кто написал роман о городе", "a b c d e f g " * 200]
PROMPTS = {"query": "who: ", "document": "the: "}


@pytest.fixture(scope="module")
def tokenizer_file(tmp_path_factory):
    return make_folder(tmp_path_factory.mktemp("static") / "base") / "tokenizer.json"


def static_folder(place, tokenizer_file, kinds=("Normalize",), cut=None):
    """A folder of vectors of 24 numbers, below as releases before 6 wrote it."""
    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    tokenizer.enable_truncation(cut) if cut else tokenizer.no_truncation()
    torch.manual_seed(0)
    made = {"Normalize": Normalize, "Dense": lambda: Dense(24, 8)}
    modules = [StaticEmbedding(tokenizer, embedding_dim=24), *(made[kind]() for kind in kinds)]
    SentenceTransformer(modules=modules, device="cpu", prompts=PROMPTS).save(str(place))
    move(place, "0_StaticEmbedding")
    return place


def move(folder, path):
    """The module's files into another folder."""
    listing = json.loads((folder / "modules.json").read_text())
    before = folder / listing[0]["path"]
    (folder / path).mkdir(exist_ok=True)
    for name in ("tokenizer.json", "model.safetensors"):
        (before / name).rename(folder / path / name)
    (folder / "modules.json").write_text(json.dumps([{**listing[0], "path": path}, *listing[1:]]))


def as_model2vec(folder):
    """Its weights under model2vec's names, a row for several tokens and a weight a token, at the top."""
    move(folder, ".")
    vectors = load_file(folder / "model.safetensors")["embedding.weight"]
    torch.manual_seed(1)
    few = {"embeddings": vectors[:50].clone(), "mapping": torch.arange(len(vectors)) % 50}
    save_file({**few, "weights": torch.rand(len(vectors)).double()}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"model_type": "model2vec", "hidden_dim": 24}))


def pad_with_a_new_token(folder):
    """Padding of a token that the vocabulary lacks; sentence-transformers never pads here."""
    tokenizer = Tokenizer.from_file(str(folder / "0_StaticEmbedding/tokenizer.json"))
    tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")
    tokenizer.save(str(folder / "0_StaticEmbedding/tokenizer.json"))


@pytest.mark.parametrize(
    ("kinds", "cut", "edit"),
    [
        ((), None, lambda f: None),
        (("Normalize",), None, lambda f: None),
        (("Dense",), None, lambda f: None),
        (("Normalize",), 5, lambda f: None),
        (("Normalize",), None, lambda f: change(f / "config_sentence_transformers.json", truncate_dim=8)),
        (("Normalize",), None, as_model2vec),
        (("Normalize",), None, pad_with_a_new_token),
    ],
    ids=["plain", "Normalize", "Dense", "cut", "truncate_dim", "model2vec", "padding"],
)
def test_vectors_are_those_of_sentence_transformers(tmp_path, tokenizer_file, kinds, cut, edit):
    folder = static_folder(tmp_path / "st", tokenizer_file, kinds, cut)
    edit(folder)
    assert difference(folder, TEXTS) < 1e-5


def test_no_special_tokens_are_read(tmp_path, tokenizer_file):
    folder = static_folder(tmp_path / "st", tokenizer_file)
    lines = list(shown(folder, resolve(folder)))
    query = next(line for line in lines if line.startswith("a query:"))
    assert "<s>" not in query and "</s>" not in query


def test_weights_that_do_not_fit_are_refused(tmp_path, tokenizer_file):
    folder = static_folder(tmp_path / "st", tokenizer_file)
    path = folder / "0_StaticEmbedding/model.safetensors"
    save_file({"embedding.weight": load_file(path)["embedding.weight"][:9].clone()}, path)
    with pytest.raises(SteleError, match="its tokenizer has more tokens than its weights have vectors, 9"):
        load_encoder(folder)
    with pytest.raises(SteleError, match="state pooling: 'mean', but 'cls' is requested"):
        load_encoder(folder, {"pooling": "cls"})
