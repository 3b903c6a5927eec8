"""How the files of the readers' tests are written, and what a reader is.

A reader is `name -> (file, content, read)`: `read(path)` is called with the path of that file in a folder of its own.
"""

import gzip
import io
import json
import struct
import tarfile
import zipfile
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet

Reader = tuple[str, bytes, Callable[[Path], Any]]


def whole(items: Iterable[Any]) -> None:
    deque(items, maxlen=0)


def lines(*items: Any) -> bytes:
    return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items).encode()


def packed(table: pyarrow.Table) -> bytes:
    pyarrow.parquet.write_table(table, buffer := io.BytesIO())
    return buffer.getvalue()


def zipped(files: dict[str, bytes]) -> bytes:
    with zipfile.ZipFile(buffer := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def tarred(files: dict[str, bytes]) -> bytes:
    with tarfile.open(fileobj=(buffer := io.BytesIO()), mode="w") as archive:
        for name, content in files.items():
            (info := tarfile.TarInfo(name)).size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return gzip.compress(buffer.getvalue(), mtime=0)


def array(rows: list) -> bytes:
    np.save(buffer := io.BytesIO(), np.array(rows, np.float32))
    return buffer.getvalue()


def torch_file(zipped: bool) -> bytes:
    """Weights as `pytorch_model.bin` has them, a zip or as before PyTorch 1.6; the pooler's two share memory."""
    import torch

    pooler = torch.arange(12.0).reshape(3, 4)
    tensors = {"pooler.w": pooler, "pooler.v": pooler, "bias": torch.ones(5, dtype=torch.float16)}
    torch.save(tensors, buffer := io.BytesIO(), _use_new_zipfile_serialization=zipped)
    return buffer.getvalue()


def safetensors() -> bytes:
    header = json.dumps({"pooler.w": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}}).encode()
    return struct.pack("<Q", len(header)) + header + bytes(16)


def in_folder(file: str, content: bytes, read: Callable[[Path], Any]) -> Reader:
    """A reader of a whole folder of which the file at `file` is damaged."""
    return Path(file).name, content, lambda path: read(path.parents[file.count("/")])


def beside(file: str, files: dict[str, bytes]) -> dict[str, bytes]:
    """The other files of a folder, as paths from where the damaged one lies."""
    return {f"{'../' * file.count('/')}{other}": content for other, content in files.items() if other != file}
