"""A checkpoint of ten tokens and eight dimensions, and the command run on it."""

import json
import shutil
from pathlib import Path

import torch
from runs import SourceRun
from safetensors.torch import load_file
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import AutoModel, BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from stele.command import cli

REPO = "owner/tiny"
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "what", "is", "a", "stele", "?"]


def make(folder: Path, layers: int = 1) -> Path:
    """A transformers folder: a BERT with a language-model head and a WordPiece tokenizer of ten tokens."""
    inner = Tokenizer(models.WordPiece({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    special = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=inner, **special, mask_token="[MASK]").save_pretrained(folder)
    torch.manual_seed(0)
    sizes = {"hidden_size": 8, "num_hidden_layers": layers, "num_attention_heads": 2, "intermediate_size": 16}
    BertForMaskedLM(BertConfig(vocab_size=len(WORDS), max_position_embeddings=40, **sizes)).save_pretrained(folder)
    return folder


def as_pickle(folder: Path) -> None:
    """Turns model.safetensors into what the hub's older repositories have, with its tied weights tied."""
    weights = load_file(folder / "model.safetensors")
    weights["cls.predictions.decoder.weight"] = weights["bert.embeddings.word_embeddings.weight"]
    torch.save(weights, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


def as_modules(folder: Path, kinds: dict[str, str]) -> None:
    """Makes it a sentence-transformers folder of these modules, by their paths."""
    modules = [{"path": path, "type": f"sentence_transformers.models.{kind}"} for path, kind in kinds.items()]
    (folder / "modules.json").write_text(json.dumps(modules))
    if "1_Pooling" in kinds:
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 8}))


def configured(folder: Path, **changes) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def publish(folder: Path, site=None, mirror: Path | None = None, repo: str = REPO, revision: str = "main") -> None:
    """Puts a folder where the hub has it, on a server (as a mirror) or in a mirror folder."""
    for path in folder.rglob("*"):
        if path.is_file():
            place = f"huggingface.co/{repo}/resolve/{revision}/{path.relative_to(folder).as_posix()}"
            if site is not None:
                site.files[f"/{place}"] = path.read_bytes()
            if mirror is not None:
                (mirror / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, mirror / place)


class Run(SourceRun):
    def __init__(self, folder: Path, capsys) -> None:
        super().__init__(folder / "checkpoints/tiny/record.json", folder / "state", capsys)

    def __call__(self, *flags: str, source: dict | None = None) -> int:
        source = {"checkpoint": REPO, "licence": "MIT"} if source is None else source
        where = ["--state", str(self.state), "--output", str(self.output)]
        return cli.main(["sources", "checkpoint", "--model", "tiny", "--source", json.dumps(source), *where, *flags])

    @property
    def folder(self) -> Path:
        return self.output.parent


def embed(folder: Path):
    with torch.no_grad():
        return AutoModel.from_pretrained(folder).eval()(torch.tensor([[2, 5, 6, 7, 8, 3]])).last_hidden_state
