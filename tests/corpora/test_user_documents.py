"""Documents of a user's own: every format gives the same documents, and what is bad in them is counted or refused."""

import bz2
import gzip
import json
import lzma
import tracemalloc
from collections import Counter

import pyarrow
import pyarrow.parquet
import pytest

from stele import catalogue
from stele.artifacts.documents import read_documents
from stele.catalogue import user_documents
from stele.catalogue.schema.languages import Language
from stele.command import cli
from stele.corpora import cc100, documents
from stele.files import document_rows
from tests.corpora.conftest import HEADER, page_xml
from tests.readers.files import lines, packed

TEXTS = {
    "lv": ["Rīga ir pilsēta. Tā ir liela.\nTur ir upe.", "Otrs teksts. Vēl viens teikums."],
    "xal": ["Элст балһсн. Хальмг келн.", "Хойрдгч тескт. Бичг."],
}


def zstd(data):
    return pyarrow.compress(data, codec="zstd", asbytes=True)


ROWS = {code: [{"language": code, "text": text} for text in texts] for code, texts in TEXTS.items()}
ALL = [row for rows in ROWS.values() for row in rows]

FORMATS = {
    "a document a file": {
        "lv/b.txt.bz2": bz2.compress(TEXTS["lv"][1].encode()),
        "lv/a.txt": TEXTS["lv"][0].encode(),
        "xal/1.txt.zst": zstd(TEXTS["xal"][0].encode()),
        "xal/2.txt": TEXTS["xal"][1].encode(),
        "README.txt": b"not a document",
    },
    "blank lines": {f"{code}.txt.gz": gzip.compress("\n\n".join(TEXTS[code]).encode()) for code in TEXTS},
    "line ends of old Macs": {f"{code}.txt": "\r\r".join(TEXTS[code]).replace("\n", "\r").encode() for code in TEXTS},
    "JSON lines of a language": {f"{code}/x.jsonl.xz": lzma.compress(lines(*rows)) for code, rows in ROWS.items()},
    "JSON lines by field": {"all.jsonl": lines(*ALL)},
    "Parquet by field": {"data/part-0.parquet": packed(pyarrow.Table.from_pylist(ALL))},
}


def written(folder, files):
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return folder


@pytest.fixture
def read(tmp_path, monkeypatch, capsys):
    """read(files, language) -> (documents, record, error): what the two commands make of a folder of a user's."""
    monkeypatch.chdir(tmp_path)

    def command(files, language):
        place = written(tmp_path / "mine", files) if isinstance(files, dict) else files
        taken, made = tmp_path / "taken" / language, tmp_path / "made" / language
        source = ["sources", "dataset", "--dataset", "documents", "--part", language, "--user-data", str(place)]
        code = cli.main([*source, "--state", str(tmp_path / "downloads"), "--output", str(taken / "record.json")])
        if code == 0:
            words = ["--language", language, "--dataset", str(taken / "record.json")]
            code = cli.main(["corpora", "documents", *words, "--output", str(made / "record.json")])
        if code:
            return [], None, capsys.readouterr().err
        return list(read_documents(made)), json.loads((made / "record.json").read_text()), capsys.readouterr().err

    return command


@pytest.mark.parametrize("layout", FORMATS)
def test_every_format_gives_the_same_documents(read, layout):
    for code, texts in TEXTS.items():
        actual, record, log = read(FORMATS[layout], code)
        assert sorted(" ".join(document.sentences) for document in actual) == sorted(
            t.replace("\n", " ") for t in texts
        )
        assert {document.language for document in actual} == {code} and record["corpus"] == "documents"
        assert ("xal: no language of the catalogue" in log) is (code == "xal")
    assert set(user_documents.by_language("mine", {"lv": None})) == {"lv", "xal"}


def test_a_single_file_is_a_corpus_of_no_stated_language(read, tmp_path):
    written(tmp_path, {"text/mine.txt": "\n\n".join(TEXTS["lv"]), "text/other.txt": "Left alone."})
    actual, record, log = read(tmp_path / "text" / "mine.txt", "und")
    assert len(actual) == 2 and [*record["dropped"]] == [] and "no language is stated for mine.txt" in log


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("raw/ltgwiki-1-pages-articles.xml", "ltg"),  # `raw` is no language of the catalogue
        ("xml/zh_yuewiki-1-pages-articles.xml.bz2", "yue"),
        ("lv/ltgwiki-1-pages-articles.xml", "lv"),
        ("xal/be_x_oldwiki-1-pages-articles.xml", "xal"),
    ],
)
def test_the_name_of_a_dump_says_its_language_unless_a_folder_of_the_catalogue_does(name, language):
    assert user_documents.language_in(name, catalogue.entries(Language)) == language


def test_a_dump_of_which_a_part_is_missing_is_read_with_a_note(read):
    part = HEADER.format(language="lv", file="File", category="Category") + page_xml(7, "A", "Rīga ir pilsēta.")
    _, record, log = read({"lvwiki-1-pages-articles2.xml-p6p9": part + "</mediawiki>"}, "lv")
    assert record["notes"][0].endswith("parts are missing: no file has pages p1p5") and record["notes"][0] in log


def test_all_files_that_are_named_by_their_language_hold_many_documents(read):
    texts = ["Ein Satz. Noch einer.\n\nEin anderer Text. Er ist kurz.", "Das dritte. Es ist da.\n\nDas vierte. Schon."]
    actual, _, _ = read({"de.txt": texts[0], "de.news.txt.gz": gzip.compress(texts[1].encode())}, "de")
    assert len(actual) == 4


def test_a_title_and_paragraphs_are_kept_and_left_out_rows_are_counted(read, caplog):
    rows = [
        {"text": "One.\nTwo.\n\nThree.", "title": "A", "language": "de"},
        *[{"text": "Yes.", "language": "en"}] * 100,
        {"text": " "},
        {"title": "no text"},
        {"text": "... ---"},
    ]
    data = "".join(json.dumps(row) + "\n" for row in rows) + "no JSON\n" + json.dumps({"text": "x " * 3000}) + "\n"
    document_rows.LINE_BYTES, before = 4096, document_rows.LINE_BYTES
    try:
        actual, record, log = read({"de.jsonl": data}, "de")
    finally:
        document_rows.LINE_BYTES = before
    assert [(d.title, d.sentences, d.paragraphs) for d in actual] == [("A", ["One.", "Two.", "Three."], [0, 2])]
    wanted = {"rows_without_text": 2, "rows_of_another_language": 100, "empty_documents": 1, "lines_not_json": 1}
    assert record["dropped"] == {**wanted, "lines_too_long": 1, "empty_paragraphs": 1}
    assert "1 lines too long" in log and "one document only" in log


def test_rows_that_state_another_language_than_a_file_of_an_unknown_one_are_read_in_theirs(read):
    rows = [*ROWS["xal"], {"text": "Бичг. Келн."}, *ROWS["lv"]]
    _, record, log = read({"xal.jsonl": lines(*rows)}, "xal")
    assert record["documents"] == 3 and not record["dropped"] and "left out" not in log
    assert user_documents.by_language("mine", {"lv": None})["xal"].files == ("xal.jsonl",)


def test_a_language_whose_only_file_is_empty_is_no_language_of_the_documents(read):
    _, record, log = read({"de.txt": "Ein Satz. Noch einer.", "fr.txt": "", "it.jsonl": b""}, "de")
    assert record["documents"] == 1 and "2 empty files are ignored: fr.txt, it.jsonl" in log
    assert [*user_documents.by_language("mine", {"de": None, "fr": None, "it": None})] == ["de"]


def test_a_shard_of_blank_texts_and_views_of_texts_are_read(read, tmp_path):
    """Newer writers of Parquet store views; a shard without a text is no other kind of file."""
    (tmp_path / "mine").mkdir()
    table = pyarrow.table({"text": pyarrow.array(["Ein Satz. Noch einer."], pyarrow.string_view())})
    pyarrow.parquet.write_table(table, tmp_path / "mine" / "de.1.parquet")
    _, record, log = read({"de.2.jsonl": lines({"text": " "})}, "de")
    assert record["documents"] == 1 and record["dropped"]["rows_without_text"] == 1, log


def test_links_to_folders_are_followed_and_not_in_circles(read, tmp_path):
    written(tmp_path, {"disk/lv/a.txt": "\n\n".join(TEXTS["lv"])})
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/lv").symlink_to(tmp_path / "disk/lv")
    (tmp_path / "disk/lv/up").symlink_to(tmp_path / "disk")
    (tmp_path / "other").mkdir()
    (tmp_path / "disk/lv/other").symlink_to(tmp_path / "other")
    (tmp_path / "other/back").symlink_to(tmp_path / "disk/lv")
    _, record, _ = read({}, "lv")
    assert record["documents"] == 2 and "repeated_documents" not in record["dropped"]


@pytest.mark.parametrize(
    ("language", "texts", "number", "message"),
    [
        ("de", ["Ein Text. Er kommt oft."] * 1000 + ["Ein anderer."], 2, "999 repeated documents"),
        ("de", ["Ein Satz.", "Noch einer.", "Und hier. Zwei."], 3, "2 of 3 documents have one sentence; MSM, CROP and"),
        ("lv", TEXTS["xal"], 2, "100% of the letters are Cyrillic, but Latvian is written in Latin"),
    ],
)
def test_what_looks_wrong_is_said(read, language, texts, number, message):
    _, record, log = read({f"{language}.txt": "\n\n".join(texts)}, language)
    assert record["documents"] == number
    assert message in log and any(message in note for note in record["notes"])


def test_a_script_whose_name_has_two_words_is_recognised(read, monkeypatch):
    santali = Language(name="Santali", script="Ol Chiki", script_kind="alphabet", family="Munda")
    entries = catalogue.entries
    known = {**entries(Language), "sat": santali}
    monkeypatch.setattr(catalogue, "entries", lambda kind: known if kind is Language else entries(kind))
    _, record, _ = read({"sat.txt": "ᱱᱚᱣᱟ ᱫᱚ ᱚᱞ ᱠᱟᱱᱟ ᱾ ᱱᱚᱣᱟ ᱦᱚᱸ ᱾\n\nᱚᱱᱟ ᱫᱚ ᱵᱟᱝ ᱾ ᱱᱚᱣᱟ ᱫᱚ ᱦᱩᱭ ᱾"}, "sat")
    assert [note for note in record["notes"] if "one sentence" not in note] == []


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "it is empty"),
        ({"a.pdf": "x"}, "no documents in it (found a.pdf)"),
        ({"de.txt": "... ---\n\n!!!"}, "found no document with a sentence"),
        ({"de.txt": "für\nüber\nöde".encode("latin-1")}, "3 of 3 lines are not UTF-8"),
        ({"de.txt": "Ein Text.".encode("utf-16")}, "as UTF-16"),
        ({"de.jsonl": '{"body": "x"}\n'}, "no row has a `text`; found body"),
        ({"de/1.txt": "gut\nöde".encode("latin-1")}, "1 of 2 lines are not UTF-8"),
        ({"de.jsonl": "nein\n" * 9}, "9 of 9 lines are not JSON"),
        ({"x.jsonl": '{"text": "x", "language": "deu_Latn"}\n'}, "x.jsonl, line 1: language 'deu_Latn'"),
        ({"de.parquet": "no Parquet"}, "de.parquet"),
        ({"de.txt.gz": gzip.compress(b"Ein Text. " * 999)[:-9]}, "cut short"),
    ],
)
def test_bad_files_are_named_as_the_user_knows_them(read, tmp_path, files, message):
    (tmp_path / "mine").mkdir()
    _, record, error = read(files, "de")
    assert record is None and message in error and f"{tmp_path}/mine" in error and "Traceback" not in error


def test_languages_that_cannot_be_remembered_are_read_again(read, tmp_path):
    """In a folder that is not to be written to, or beneath a link to a disk that was cleared."""
    (tmp_path / "state").symlink_to("cleared")
    texts, record, error = read({"all.jsonl": lines(*ALL)}, "lv")
    assert len(texts) == 2 and record and "state" not in error


def test_a_line_without_end_is_cut_and_memory_is_bounded(tmp_path):
    """64 MB in one line, without a space, need no more memory than some documents of the greatest length."""
    with open(tmp_path / "th.txt", "wb") as handle:
        for _ in range(64):
            handle.write("ก".encode() * ((1 << 20) // 3))
    dropped: Counter[str] = Counter()
    tracemalloc.start()
    texts = documents._plain_texts(tmp_path / "th.txt", True, dropped)
    size = sum(len(line) for lines in texts for line in lines)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size == 64 * ((1 << 20) // 3) and dropped["cut_documents"] >= 10
    assert peak < 8 * cc100.DOCUMENT_BYTES
