"""CC-100 text to Documents through the command."""

import lzma
from collections import Counter

import pytest

from stele.artifacts.documents import read_documents
from stele.corpora import cc100
from stele.corpora.documents import RULES as OWN_TEXT
from stele.corpora.dumps import dump_files
from stele.errors import SteleError
from stele.files.digests import files_digest

TEXT = """First one. And second.
A new paragraph.

Another document: «quoted».
---
12 345

\t
...

Last without an end"""


def test_blank_lines_part_documents_and_lines_part_paragraphs(dataset, run):
    done = run("cc100", dataset(TEXT))
    documents = list(read_documents(done.folder))
    assert [d.sentences for d in documents] == [
        ["First one.", "And second.", "A new paragraph."],
        ["Another document: «quoted».", "12 345"],
        ["Last without an end"],
    ]
    assert [d.paragraphs for d in documents] == [[0, 2], [0, 1], [0]]
    assert [d.doc_id for d in documents] == ["cc100-en-0", "cc100-en-1", "cc100-en-2"]
    assert all(d.language == "en" and d.title == "" and not d.links for d in documents)
    record = done.record
    assert (record["documents"], record["paragraphs"], record["sentences"]) == (3, 5, 6)
    assert record["characters"] == sum(len(s) for d in documents for s in d.sentences)
    assert record["dropped"] == {"empty_paragraphs": 2, "empty_documents": 1}
    assert record["labels"] == ["generated data"]
    assert record["content"] == files_digest(done.folder)


@pytest.mark.parametrize("change", ["\r\n", "\ufeff", "plain", "streams"])
def test_line_ends_marks_and_packing_do_not_matter(dataset, run, change):
    data = TEXT.replace("\n", "\r\n") if change == "\r\n" else change + TEXT if change == "\ufeff" else TEXT
    if change == "streams":
        half = len(TEXT) // 2
        data = lzma.compress(TEXT[:half].encode()) + lzma.compress(TEXT[half:].encode())
    expected = run("cc100", dataset(TEXT), output="expected")
    actual = run("cc100", dataset(data, "en.txt" if change == "plain" else "en.txt.xz"), output="found")
    assert actual.record["content"] == expected.record["content"]


def test_limit_takes_the_first_and_says_so(dataset, run):
    done = run("cc100", dataset(TEXT), "--limit", "2")
    assert done.record["documents"] == 2
    assert done.record["labels"] == ["generated data", "limited"]


def test_documents_may_fall_across_blocks_of_any_size(dataset, run, monkeypatch):

    text = "\n\n".join(f"Document {i} begins.\nIt ends, ünï {i}." for i in range(3000))
    whole = run("cc100", dataset(text), output="whole").record["content"]
    monkeypatch.setattr(dump_files, "CHUNK", 97)
    parts = run("cc100", dataset(text), output="parts").record
    assert parts["documents"] == 3000 and parts["content"] == whole


def test_a_document_without_end_is_cut_at_a_line(dataset, run, monkeypatch):
    monkeypatch.setattr(cc100, "DOCUMENT_BYTES", 1 << 16)
    monkeypatch.setattr(dump_files, "CHUNK", 1 << 14)
    lines = [f"This is line number {i}." for i in range(20_000)]
    done = run("cc100", dataset("\n".join(lines)))
    assert done.record["dropped"]["cut_documents"] == done.record["documents"] - 1 >= 3
    assert [s for d in read_documents(done.folder) for s in d.sentences] == lines


def test_a_few_foreign_bytes_are_counted_many_are_refused(dataset, run):
    good = "\n\n".join(f"Line {i}." for i in range(50)).encode()
    done = run("cc100", dataset(good + b"\n\nbad \xff line\nand a good one."))
    assert done.record["dropped"]["lines_not_utf8"] == 1 and done.record["documents"] == 51
    bad = run("cc100", dataset(good + b"\n\nbad \xff line" * 20), output="bad")
    assert bad.code == 1 and "en.txt.xz" in bad.error and "not UTF-8" in bad.error and bad.record is None


@pytest.mark.parametrize(
    ("rules", "lines", "most"), [(cc100.CC100, 100, 10), (cc100.CC100, 20_000, 20), (OWN_TEXT, 200, 2)]
)
def test_of_many_lines_a_share_may_be_foreign(rules, lines, most):
    dropped: Counter[str] = Counter()
    of_most, of_more = (b"\n".join([b"\xff"] * bad + [b"good"] * (lines - bad)) for bad in (most, most + 1))
    first, *_ = cc100.read_texts([of_most], "a.txt", dropped, rules)
    assert first == ["good"] * (lines - most) and dropped["lines_not_utf8"] == most
    with pytest.raises(SteleError, match=f"{most + 1} of {lines} lines are not UTF-8"):
        list(cc100.read_texts([of_more], "a.txt", dropped, rules))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (lzma.compress(TEXT.encode() * 100)[:-30], "cut short"),
        (b"\xfd7zXZ\x00garbage that is no xz stream", "damaged"),
        ("---\n\n...\n", "found no document"),
        ("", "found no document"),
        (b"a" * (1 << 23), "not a CC-100 text"),
    ],
)
def test_bad_files_are_named_and_leave_nothing(dataset, run, data, message, tmp_path):
    done = run("cc100", dataset(data))
    assert done.code == 1 and message in done.error and "en.txt.xz" in done.error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dataset"]


def test_a_folder_without_text_lists_what_is_there(dataset, run):
    done = run("cc100", dataset(b"x", "readme.md"))
    assert done.code == 1 and "readme.md" in done.error and "en.txt.xz" in done.error


def test_of_several_texts_none_is_taken_silently(dataset, run):
    record = dataset(TEXT)
    (record.parent / "sw.txt.xz").write_bytes(lzma.compress(b"Habari."))
    done = run("cc100", record)
    assert done.code == 1 and "found several: en.txt.xz, sw.txt.xz" in done.error
    (record.parent / "sw.txt.xz").rename(record.parent / "sw.txt")  # unpacked: the packed one is meant
    assert run("cc100", record, output="packed").code == 0
