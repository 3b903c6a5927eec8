"""Tiny folders of the families that today's encoders are of, each made by sentence-transformers as its original is."""

from __future__ import annotations

import json
from pathlib import Path

from tiny_models import TEXTS, WIDTH, make_folder

LENGTH = 24
INSTRUCTION = "Given a question, retrieve passages that answer it"


def tokenizer_ending_in_eos(padding_side="left"):
    """Like Qwen3's: no token at the beginning, one at the end, and padding on the left."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    special = ["<pad>", "<eos>", "<unk>"]
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        TEXTS, trainers.BpeTrainer(vocab_size=400, special_tokens=special, show_progress=False)
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A <eos>", pair="$A $B <eos>", special_tokens=[("<eos>", 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<eos>",
        pad_token="<pad>",
        unk_token="<unk>",
        padding_side=padding_side,
        model_max_length=64,
    )


def causal_folder(folder: Path, model_type: str, bidirectional: bool = False, shards: bool = False) -> Path:
    """A random decoder of a family, `qwen3` or `gemma3_text`, of width 32."""
    import torch
    from transformers import AutoConfig, AutoModel

    tokenizer = tokenizer_ending_in_eos()
    own = {"use_bidirectional_attention": True} if bidirectional else {}
    config = AutoConfig.for_model(
        model_type,
        vocab_size=len(tokenizer),
        hidden_size=WIDTH,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=16,
        max_position_embeddings=64,
        pad_token_id=0,
        eos_token_id=1,
        **own,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = AutoModel.from_config(config)
        for weight in model.parameters():
            torch.nn.init.normal_(weight, std=0.2) if weight.dim() > 1 else None
    model.save_pretrained(folder, **({"max_shard_size": "20KB"} if shards else {}))
    tokenizer.save_pretrained(folder)
    return folder


def gte_folder(folder: Path) -> Path:
    """A random model of type gte, with XLM-R's kind of tokenizer."""
    import torch
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(make_folder(folder / "base"))
    shape = {"num_hidden_layers": 2, "hidden_size": WIDTH, "num_attention_heads": 2, "intermediate_size": 48}
    config = AutoConfig.for_model(
        "gte", vocab_size=len(tokenizer), pad_token_id=1, max_position_embeddings=64, type_vocab_size=1, **shape
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = AutoModel.from_config(config)
    model.save_pretrained(folder / "gte")
    tokenizer.save_pretrained(folder / "gte")
    return folder / "gte"


def modernbert_folder(folder: Path) -> Path:
    """A random model of type modernbert, whose layers but the first see 8 tokens, with XLM-R's kind of tokenizer."""
    import torch
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(make_folder(folder / "base"))
    shape = {"num_hidden_layers": 3, "hidden_size": WIDTH, "num_attention_heads": 2, "intermediate_size": 48}
    ids = {"pad_token_id": 1, "bos_token_id": 0, "cls_token_id": 0, "eos_token_id": 2, "sep_token_id": 2}
    config = AutoConfig.for_model(
        "modernbert", vocab_size=len(tokenizer), max_position_embeddings=64, local_attention=8, **ids, **shape
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = AutoModel.from_config(config)
        for weight in model.parameters():
            torch.nn.init.normal_(weight, std=0.2) if weight.dim() > 1 else None
    model.save_pretrained(folder / "modernbert")
    tokenizer.save_pretrained(folder / "modernbert")
    return folder / "modernbert"


def sentence_transformer(place, base: Path, pooling: str, dense=(), prompts=None, normalize=True, length=LENGTH):
    """(the folder, the model) of a base with its modules, as sentence-transformers saves and loads them in float32."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer

    modules = [Transformer(str(base), max_seq_length=length), Pooling(WIDTH, pooling)]
    width = WIDTH
    for wide in dense:
        modules.append(Dense(width, wide, bias=False, activation_function=torch.nn.Identity()))
        width = wide
    if normalize:
        modules.append(Normalize())
    SentenceTransformer(modules=modules, device="cpu", prompts=prompts).save(str(place))
    theirs = SentenceTransformer(str(place), device="cpu", model_kwargs={"dtype": torch.float32})
    return Path(place), theirs


def change(path: Path, **values) -> None:
    settings = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps({**settings, **values}), encoding="utf-8")
