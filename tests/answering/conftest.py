"""A small training set and a small MLQA, tiny tokenizers, and the command on them."""

import json
import sys
from pathlib import Path

import pytest

from tests.jobs import job
from tests.sealed import write_sealed

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "encoders"))  # tiny_models

from made_questions import PEOPLE, PLACES, write_mlqa, write_training
from tiny_models import random_model, subword_tokenizer

CHARACTERS = "abcdefghijklmnopqrstuvwxyzßıéş0123456789.,?-'"
CJK = "日本首都東京"
WORDS = [*PEOPLE, *PLACES, "lives", "live", "in", "where", "does"]


@pytest.fixture(scope="session")
def uncased():
    """A tokenizer as of BERT's uncased checkpoints: lower case, accents stripped, CJK characters apart."""
    from transformers import BertTokenizer

    pieces = [*CHARACTERS, *CJK, *(f"##{c}" for c in CHARACTERS), *WORDS]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys(pieces)]
    return BertTokenizer(vocab={word: n for n, word in enumerate(words)}, do_lower_case=True, model_max_length=64)


@pytest.fixture(scope="session")
def subwords():
    """A tokenizer like XLM-R's: pieces begin with a blank, two marks stand between the texts."""
    return subword_tokenizer()


def save_bert(folder: Path, tokenizer, seed: int = 0) -> Path:
    from transformers import BertConfig

    sizes = {"num_hidden_layers": 2, "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64}
    config = BertConfig(vocab_size=len(tokenizer), max_position_embeddings=64, **sizes)
    random_model(config, seed, std=0.15).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    record = folder / "record.json"
    return write_sealed(record, {"job": "checkpoint", "content": f"bert {seed}", "labels": ["stand-in checkpoint"]})


@pytest.fixture(scope="session")
def bert(tmp_path_factory, uncased) -> Path:
    return save_bert(tmp_path_factory.mktemp("bert"), uncased)


@pytest.fixture(scope="session")
def training_record(tmp_path_factory) -> Path:
    return write_training(tmp_path_factory.mktemp("squad2"))


@pytest.fixture(scope="session")
def mlqa_record(tmp_path_factory) -> Path:
    return write_mlqa(tmp_path_factory.mktemp("mlqa"))


@pytest.fixture
def answer(tmp_path, bert, training_record, mlqa_record):
    """answer(name, seed, languages, training, data, **recipe) -> the folder of the record."""
    from stele.answering import answer as command

    def call(name, seed=0, languages=("en-en", "de-en"), training=None, data=None, **changes) -> Path:
        recipe = {"training_set": {"module": "squad2", "data": ["squad2"]}, "length": 40, "question_length": 12}
        recipe |= {"stride": 16, "epochs": 2, "batch": 8, "learning_rate": 3e-3, "save_every_seconds": 0}
        line = ["--model", "tiny", "--benchmark", "mlqa", "--languages", *languages]
        line += ["--recipe", json.dumps(recipe | changes), "--encoder", str(bert), "--seed", str(seed)]
        line += ["--data", f"mlqa:all={data or mlqa_record}"]
        line += ["--training-data", f"squad2:all={training or training_record}"]
        line += ["--state", str(tmp_path / name / "state"), "--output", str(tmp_path / name / "out/answers.json")]
        command.run(job(command, line))
        return tmp_path / name / "out"

    return call
