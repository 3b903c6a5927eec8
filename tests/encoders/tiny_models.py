"""Tiny random encoders with real tokenizers, as plain `transformers` folders."""

from pathlib import Path

TEXTS = [
    "the river Nile flows through Uganda and Egypt",
    "who wrote the first novel of the city",
    "Кто написал роман о городе",
    "ما هي عاصمة أوغندا",
    "กรุงเทพ เป็น เมืองหลวง",
    "日本 の 首都 は 東京",
    "a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7 8 9",
] * 3
WIDTH = 32


def subword_tokenizer():
    """Like XLM-R's: one subword vocabulary, <s> A </s> and <s> A </s></s> B </s>, padding id 1, no token types."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.train_from_iterator(
        TEXTS, trainers.BpeTrainer(vocab_size=300, special_tokens=special, show_progress=False)
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    named = {"bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>"}
    named |= {"unk_token": "<unk>", "pad_token": "<pad>", "mask_token": "<mask>"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **named)


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
    named = {"eos_token": "<eos>", "pad_token": "<pad>", "unk_token": "<unk>", "padding_side": padding_side}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **named)


def _wordpiece_tokenizer():
    """Like BERT's: WordPiece, [CLS] A [SEP] B [SEP] with token types 0 and 1."""
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertTokenizer

    trained = BertWordPieceTokenizer(lowercase=False)
    trained.train_from_iterator(TEXTS, vocab_size=300, min_frequency=1, show_progress=False)
    return BertTokenizer(vocab=trained.get_vocab(), do_lower_case=False, model_max_length=64)


def random_model(config, seed: int = 0, std: float = 0.2, **keywords):
    """A model whose weights are far from the tiny initialisation, so that vectors differ visibly."""
    import torch
    from transformers import AutoModel

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = AutoModel.from_config(config, **keywords)
        for weight in model.parameters():
            torch.nn.init.normal_(weight, std=std) if weight.dim() > 1 else None
    return model


def make_folder(folder: Path, family: str = "xlm-roberta", seed: int = 0, pooler: bool = True, layers: int = 2) -> Path:
    """Saves a random model of the family (bert, distilbert, gpt2 or xlm-roberta) of width 32 and 64 positions."""
    from transformers import AutoConfig

    tokenizer = subword_tokenizer() if family == "xlm-roberta" else _wordpiece_tokenizer()
    shape = {"num_hidden_layers": layers, "hidden_size": WIDTH, "num_attention_heads": 2, "intermediate_size": 48}
    untyped = family in ("distilbert", "gpt2")
    if family == "distilbert":
        shape = {"n_layers": layers, "dim": WIDTH, "n_heads": 2, "hidden_dim": 48}
    config = AutoConfig.for_model(
        family,
        vocab_size=len(tokenizer),
        max_position_embeddings=66 if family == "xlm-roberta" else 64,
        pad_token_id=tokenizer.pad_token_id,
        **({} if untyped else {"type_vocab_size": 1 if family == "xlm-roberta" else 2}),
        **shape,
    )
    keywords = {} if untyped else {"add_pooling_layer": pooler}
    random_model(config, seed, **keywords).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return Path(folder)


def make_gemma_folder(folder: Path, both_ways: bool) -> Path:
    """Saves a random Gemma of two layers, which reads from left to right or both ways."""
    from transformers import Gemma3TextConfig

    tokenizer = _wordpiece_tokenizer()
    sizes = {"hidden_size": WIDTH, "intermediate_size": 48, "num_hidden_layers": 2, "max_position_embeddings": 64}
    sizes |= {"num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 16, "vocab_size": len(tokenizer)}
    config = Gemma3TextConfig(**sizes, pad_token_id=0, use_bidirectional_attention=both_ways)
    random_model(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def random_mbart(words: int, layers: int = 1, **more):
    """A random model that writes text for text."""
    import torch
    from transformers import MBartConfig, MBartForConditionalGeneration

    sizes = {"d_model": WIDTH, "max_position_embeddings": 64, "dropout": 0.1, "forced_eos_token_id": None, **more}
    for side in ("encoder", "decoder"):
        sizes |= {f"{side}_layers": layers, f"{side}_attention_heads": 4, f"{side}_ffn_dim": 64}
    special = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}
    torch.manual_seed(1)
    return MBartForConditionalGeneration(MBartConfig(vocab_size=words, **sizes, **special))


def make_mbart_folder(folder: Path, **sizes) -> Path:
    """Saves a random mBART whose tokenizer knows no languages."""
    tokenizer = subword_tokenizer()
    random_mbart(len(tokenizer), **sizes).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def sentence_transformers_folder(folder: Path) -> Path:
    """The same with modules, as E5's folders have them: mean, normalised, no prompts."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

    base = make_folder(folder.parent / f"base of {folder.name}")
    modules = [Transformer(str(base), max_seq_length=24), Pooling(WIDTH, "mean"), Normalize()]
    SentenceTransformer(modules=modules, device="cpu").save(str(folder))
    (folder / "config_sentence_transformers.json").unlink()
    return folder
