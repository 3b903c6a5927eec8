"""Checkpoints, archives, counts and manifests."""

import gzip
import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

from stele.catalogue.schema.datasets import Unpack
from stele.encoders import backbone, sentence_transformers_folder
from stele.errors import SteleError
from stele.recipes import encoding as encoding
from stele.scoring import count_parameters
from stele.sources.download import counts, fetch, http, unpack, verify
from stele.sources.weights import checkpoint_files
from tests.readers.benchmark_files import MENTIONS, SQUAD, W100
from tests.readers.files import Reader, safetensors, tarred, torch_file, zipped

TYPE = "sentence_transformers.models"
PARTS = [{"type": f"{TYPE}.Transformer", "path": ""}, {"type": f"{TYPE}.Pooling", "path": "1_Pooling"}]
MODULES = json.dumps(PARTS).encode()
SPEC = json.dumps({"pooling": "mean", "normalize": True, "query_length": 64}).encode()
POOLING = b'{"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": false}'
SENTENCES = b'{"max_seq_length": 64, "do_lower_case": false}'
PROMPTS = b'{"prompts": {"query": "q: ", "passage": ""}, "default_prompt_name": null}'
MODEL = b'{"model_type": "bert", "type_vocab_size": 1, "max_position_embeddings": 64, "hidden_size": 4}'
MANIFEST = json.dumps({"files": {"a.org/b": {"sha256": "ab", "bytes": 3}}}).encode()
INDEX = json.dumps({"metadata": {"total_size": 16}, "weight_map": {"pooler.w": "model.safetensors"}}).encode()
NOTE = json.dumps({"url": "http://a.org", "etag": '"a"', "total": 5, "sha256": None, "bytes": 5}).encode()
FILES = {"one/a.txt": b"a" * 99, "one/b.txt": b"b"}


def modules(path: Path) -> Any:
    folder = path.parent if path.parent.name != "1_Pooling" else path.parents[1]
    checkpoint_files.refuse_code(folder), checkpoint_files.model_folders(folder)
    with patch.object(sentence_transformers_folder, "load_tokenizer"):  # transformers' own, and slow to import
        return sentence_transformers_folder.read_modules(folder)


def converted(path: Path) -> Any:
    return checkpoint_files.convert(path, path.with_name("model.safetensors"))


def noted(path: Path) -> Any:
    """What is not a sound note is no note, and the download begins again."""
    target = path.with_name("a")
    target.write_bytes(b"a")
    fetch.version_of(path.with_name("a.part"), "http://a.org"), fetch.finished(target, {})
    kind = http.Version if path.name == "a.part.json" else http.Published
    if not (note := fetch.read_download_note(path, kind)):
        raise SteleError(f"{path}: begins again")
    return note


def unpacked(path: Path) -> Any:
    return unpack.unpack(path, path.parent / "out", Unpack(max_bytes=1 << 16))


SOURCES: dict[str, Reader] = {
    "encoding": ("encoding.json", SPEC, lambda path: encoding.read_spec(path.parent)),
    "modules.json": ("modules.json", MODULES, modules),
    "pooling": ("1_Pooling/config.json", POOLING, modules),
    "length of sentence-transformers": ("sentence_bert_config.json", SENTENCES, modules),
    "prompts": ("config_sentence_transformers.json", PROMPTS, modules),
    "config.json": ("config.json", MODEL, modules),
    "safetensors": (
        "model.safetensors",
        safetensors(),
        lambda path: (count_parameters.parameters(path.parent), backbone._has_pooler(path.parent)),
    ),
    "PyTorch weights": ("pytorch_model.bin", torch_file(zipped=True), converted),
    "PyTorch weights, before 1.6": ("pytorch_model.bin", torch_file(zipped=False), converted),
    "index of weights": ("model.safetensors.index.json", INDEX, checkpoint_files.read_weight_map),
    "index of PyTorch weights": (
        "pytorch_model.bin.index.json",
        INDEX.replace(b"model.safetensors", b"pytorch_model-1.bin"),
        checkpoint_files.convert_shards,
    ),
    "note of a download": ("a.part.json", NOTE, noted),
    "published digest": ("a.published.json", b'{"sha256": "%s", "bytes": 1}' % (b"c" * 64), noted),
    "manifest": ("manifest.json", MANIFEST, verify.Manifest),
    "first digests": ("pins.json", b'{"https://a.org/b": "abc"}', lambda path: verify.pin(path, {})),
    "checksums": ("sums.txt", b"0" * 40 + b"  a.txt\n" + b"1" * 40 + b" *b.txt\n", verify.read_checksums),
    "zip": ("files.zip", zipped(FILES), unpacked),
    "tar": ("files.tar.gz", tarred(FILES), unpacked),
    "counted questions": ("en.json", SQUAD, lambda path: (counts.squad_questions(path), counts.squad_sentences(path))),
    "counted mentions": ("m.jsonl", MENTIONS, counts.mentions),
    "counted lines": ("a.txt.gz", gzip.compress(W100), counts.lines),
}
