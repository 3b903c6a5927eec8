"""A tokenizer that gives other ids than in training is refused when the encoder is loaded."""

import pytest
from tiny_models import make_folder
from todays_folders import change

from stele.encoders.backbone import load_backbone
from stele.encoders.load import load_encoder
from stele.encoders.save import save_encoder
from stele.encoders.tokenizer import PROBE_FILE, load_tokenizer, tokenizer_probe
from stele.errors import SteleError
from stele.recipes.encoding import EncodingSpec


@pytest.fixture
def saved(tmp_path, folders):
    spec = EncodingSpec(pooling="cls", query_length=20, passage_length=20)
    save_encoder(tmp_path / "e", load_backbone(folders["bert"], "cls")[0], None, load_tokenizer(folders["bert"]), spec)
    return tmp_path / "e"


def test_a_tokenizer_that_lower_cases_is_refused(saved):
    change(saved / "tokenizer_config.json", do_lower_case=True)
    with pytest.raises(SteleError, match=r"no longer gives the ids .*Uganda"):
        load_encoder(saved)


def test_a_damaged_probe_is_refused(saved):
    (saved / PROBE_FILE).write_text("{}")
    with pytest.raises(SteleError, match="not a readable tokenizer probe"):
        load_encoder(saved)


@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "distilbert"])
def test_a_folder_without_a_vocabulary_is_refused(tmp_path, family):
    """As `model.save_pretrained` alone leaves it: every word would be unknown, and texts of one length all alike."""
    folder = make_folder(tmp_path, family)
    for path in folder.glob("tokenizer*"):
        path.unlink()
    with pytest.raises(SteleError, match=r"its tokenizer has only special tokens, no vocabulary"):
        load_encoder(folder, {"pooling": "mean", "max_length": 20})


def test_the_probe_ignores_truncation(folders):
    tokenizer = load_tokenizer(folders["bert"])
    whole = tokenizer_probe(tokenizer)
    tokenizer("a b c", truncation=True, max_length=4)
    assert tokenizer_probe(tokenizer) == whole
    assert max(map(len, whole["ids"])) > 20
