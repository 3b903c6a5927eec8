"""Small corpora in upstream's formats, written by hand-made code that shares nothing with the readers."""

import bz2
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from xml.sax.saxutils import escape

import pytest

from stele.command import cli
from tests.sealed import write_sealed

HEADER = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" version="0.10" xml:lang="{language}">
  <siteinfo><sitename>Wikipedia</sitename><dbname>{language}wiki</dbname><case>first-letter</case>
    <namespaces><namespace key="-1">Special</namespace><namespace key="0" /><namespace key="1">Talk</namespace>
      <namespace key="6">{file}</namespace><namespace key="10">Template</namespace>
      <namespace key="14">{category}</namespace></namespaces></siteinfo>
"""


def page_xml(
    number: int, title: str, text: str, namespace: int = 0, redirect: str = "", model: str = "wikitext"
) -> str:
    target = f'<redirect title="{escape(redirect)}" />' if redirect else ""
    return (
        f"<page><title>{escape(title)}</title><ns>{namespace}</ns><id>{number}</id>{target}<revision><id>1</id>"
        f'<model>{model}</model><text xml:space="preserve">{escape(text)}</text></revision></page>\n'
    )


class Wiki:
    """A dump in the making: pages are added, then it is written plain, compressed or multistream."""

    def __init__(self, folder: Path, language: str = "en", file: str = "File", category: str = "Category") -> None:
        self.folder = folder
        self.header = HEADER.format(language=language, file=file, category=category)
        self.pages: list[tuple[str, str]] = []

    def add(self, title: str, text: str, **facts) -> None:
        self.pages.append((title, page_xml(len(self.pages) + 1, title, text, **facts)))

    def xml(self) -> str:
        return self.header + "".join(xml for _, xml in self.pages) + "</mediawiki>\n"

    def write(self, name: str = "xwiki-1-pages-articles.xml", data: bytes | None = None) -> Path:
        self.folder.mkdir(parents=True, exist_ok=True)
        data = self.xml().encode() if data is None else data
        path = self.folder / name
        path.write_bytes(bz2.compress(data) if name.endswith(".bz2") and data[:3] != b"BZh" else data)
        return self.record()

    def multistream(self, pages_per_block: int = 2) -> Path:
        """Streams of `pages_per_block` pages between a header and a footer stream, and the index."""
        data, index = bz2.compress(self.header.encode()), ""
        for first in range(0, len(self.pages), pages_per_block):
            block = self.pages[first : first + pages_per_block]
            index += "".join(f"{len(data)}:{first + i + 1}:{title}\n" for i, (title, _) in enumerate(block))
            data += bz2.compress("".join(xml for _, xml in block).encode())
        data += bz2.compress(b"</mediawiki>\n")
        self.write("xwiki-1-pages-articles-multistream-index.txt.bz2", bz2.compress(index.encode()))
        return self.write("xwiki-1-pages-articles-multistream.xml.bz2", data)

    def record(self) -> Path:
        path = self.folder / "record.json"
        return write_sealed(path, {"job": "sources dataset", "labels": ["generated data"]})


@pytest.fixture
def wiki(tmp_path) -> Wiki:
    return Wiki(tmp_path / "dataset")


@pytest.fixture
def dataset(tmp_path) -> Callable[..., Path]:
    """dataset(data, name) -> the record of a dataset of one file, packed as its name says."""
    folder = tmp_path / "dataset"
    folder.mkdir()
    write_sealed(folder / "record.json", {"labels": ["generated data"]})

    def write(data, name="en.txt.xz"):
        data = data.encode() if isinstance(data, str) else data
        (folder / name).write_bytes(lzma.compress(data) if name.endswith("xz") and data[:1] != b"\xfd" else data)
        return folder / "record.json"

    return write


@pytest.fixture
def run(tmp_path, capsys) -> Callable[..., SimpleNamespace]:
    """Runs a command of the stage; gives its exit code, error text, record and output folder."""

    def command(name: str, dataset: Path, *flags: str, language: str = "en", output: str = "out") -> SimpleNamespace:
        record = tmp_path / output / "record.json"
        code = cli.main(
            ["corpora", name, "--language", language, "--dataset", str(dataset), "--output", str(record), *flags]
        )
        written = json.loads(record.read_text()) if record.exists() else None
        return SimpleNamespace(code=code, error=capsys.readouterr().err, record=written, folder=record.parent)

    return command
