"""A tiny checkpoint of an XLM-R kind, with its tokenizer and record."""

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForPreTraining,
    PreTrainedTokenizerFast,
    XLMRobertaConfig,
    XLMRobertaForMaskedLM,
    XLMRobertaModel,
)

from stele.artifacts import records
from stele.files.digests import files_digest

WIDTH = 16
SIZES = dict(vocab_size=80, hidden_size=WIDTH, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32)


def tokenizer(words=80):
    """Like XLM-R's: <s> 0, <pad> 1, </s> 2, <unk> 3, then words, <mask> last."""
    names = ["<s>", "<pad>", "</s>", "<unk>", *(f"w{i}" for i in range(words - 5)), "<mask>"]
    made = Tokenizer(models.WordLevel({name: i for i, name in enumerate(names)}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    special = dict(bos_token="<s>", cls_token="<s>", eos_token="</s>", sep_token="</s>", pad_token="<pad>")
    return PreTrainedTokenizerFast(tokenizer_object=made, unk_token="<unk>", mask_token="<mask>", **special)


def bert_checkpoint(folder, positions=20, seed=7):
    """The same of BERT's kind: two token types, a vocabulary head and a pooler."""
    torch.manual_seed(seed)
    BertForPreTraining(BertConfig(**SIZES, max_position_embeddings=positions, pad_token_id=1)).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return recorded(folder)


def checkpoint(folder, *, head=True, pooler=True, seed=7):
    """A plain transformers folder with its record; returns the record's path."""
    config = XLMRobertaConfig(**SIZES, max_position_embeddings=40, type_vocab_size=1)
    torch.manual_seed(seed)
    body = XLMRobertaModel(config, add_pooling_layer=pooler)
    model = XLMRobertaForMaskedLM(config) if head else body
    model.save_pretrained(folder)
    if head and pooler:  # as XLM-R's own file: a masked language model with a pooler beside it
        weights = load_file(folder / "model.safetensors")
        weights |= {f"roberta.pooler.{k}": v.clone() for k, v in body.pooler.state_dict().items()}
        save_file(weights, folder / "model.safetensors", {"format": "pt"})
    tokenizer().save_pretrained(folder)
    return recorded(folder)


def recorded(folder, job="checkpoint", labels=("stand-in checkpoint",), **facts):
    facts |= {"content": files_digest(folder), "labels": list(labels)}
    records.write_record(folder / "record.json", job=job, inputs={}, **facts)
    return folder / "record.json"
