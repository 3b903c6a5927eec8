"""The United Nations Parallel Corpus in TEI: archives in parts, what a document's text is, and what can be wrong."""

import gzip
import tarfile

import pytest

from stele.benchmarks import xda
from stele.benchmarks.xda import Xda
from stele.errors import SteleError
from tests.readers.files import tarred as tar

HEAD = (
    '<?xml version="1.0" encoding="utf-8"?>\n<TEI.2>\n<teiHeader><fileDesc><publicationStmt>'
    '<idno type="symbol">A/45/1</idno><availability><p>No text.</p></availability></publicationStmt></fileDesc>'
    "</teiHeader>\n<text><body>"
)
TAIL = "</body></text></TEI.2>"


def tei(body: str) -> bytes:
    return f"{HEAD}{body}{TAIL}".encode()


def one(text: str) -> bytes:
    return tei(f'<p id="1"><s id="1:1" lang="en">{text}</s></p>')


@pytest.fixture
def corpus(tmp_path):
    """Three documents in each of three languages, and a fourth that Spanish lacks."""
    for language in ("en", "es", "fr"):
        names = ["1990/a/1", "1990/a/2", "2001/s/res/3", *(["2001/s/4"] if language != "es" else [])]
        members = {f"UNv1.0-TEI/{language}/{name}.xml": one(f"{language} {name}") for name in names}
        (tmp_path / f"UNv1.0-TEI.{language}.tar.gz").write_bytes(tar(members))
    return tmp_path


def parallel(folder, *languages: str):
    return Xda().parallel_texts({"uncorpus": {"all": folder}}, languages or ["en", "es"])


# --- a document's text ------------------------------------------------------------------------------------------------
def test_text_is_sentences_in_a_line_paragraphs_in_lines_without_the_header():
    body = (
        '<p id="1"><s id="1:1" lang="en">Distr.</s></p>\n'
        '<p id="2">\n<s id="2:1" lang="en">First   sentence\n of <hi>two</hi> &amp; more.</s>\n'
        '<s id="2:2" lang="en">Second &quot;one&quot; &#233;.</s></p>\n<p id="3"/>\n<p id="4">Loose words.</p>'
    )
    assert xda.text_of(tei(body), "x") == 'Distr.\nFirst sentence of two & more. Second "one" é.\nLoose words.'
    namespaced = tei(body).replace(b"<TEI.2>", b'<TEI.2 xmlns="http://www.tei-c.org/ns/1.0">')
    assert xda.text_of(namespaced, "x") == xda.text_of(tei(body), "x")
    assert xda.text_of(tei('<p id="1">\n</p>'), "x") == ""
    footnote = '<p><s>One<note place="foot"> <p>(see two)</p></note>.</s></p><p><s>Three.</s></p>'
    of_sentences = footnote.replace("(see two)", "<s>(see two)</s>")
    assert [xda.text_of(tei(body), "x") for body in (footnote, of_sentences)] == ["One (see two).\nThree."] * 2


def test_text_ends_after_as_many_words_as_an_encoder_could_read():
    body = "".join(f"<p><s>{' '.join(['word'] * 100)}</s></p>" for _ in range(20))
    assert len(xda.text_of(tei(body), "x").split()) == xda.WORDS == 1024


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (one("cut")[:-20], "damaged or truncated XML"),
        (b"<TEI.2><text></text></TEI.2>", "no <body>"),
        (b"", "damaged or truncated XML"),
        (b"<html><p>Not found", "damaged or truncated XML"),
        (b'<!DOCTYPE TEI.2 [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]>' + one("&b;"), "declares entities"),
        (b'<!DOCTYPE TEI.2 [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + one("&a;"), "declares entities"),
        (one("text").decode().encode("utf-16"), "declares entities, or is not UTF-8"),
        (one("undeclared &b; entity"), "damaged or truncated XML"),
    ],
)
def test_what_is_no_document_is_one_clear_error(content, said):
    with pytest.raises(SteleError, match=f"un.en: {said}"):
        xda.text_of(content, "un.en")


def test_a_document_type_elsewhere_is_not_fetched(tmp_path):
    declared = tmp_path / "tei.dtd"
    declared.write_text('<!ENTITY secret "told">')
    document = one("open &secret;").replace(b"<TEI.2>", f'<!DOCTYPE TEI.2 SYSTEM "{declared}">\n<TEI.2>'.encode())
    text = xda.text_of(document, "x")
    assert "told" not in text and text.startswith("open")


# --- archives ---------------------------------------------------------------------------------------------------------
def test_documents_are_those_that_all_languages_of_the_folder_have(corpus):
    en_es = parallel(corpus, "en", "es")
    assert en_es.ids == ["1990/a/1", "1990/a/2", "2001/s/res/3"]
    assert en_es.texts["es"][2] == "es 2001/s/res/3" and set(en_es.texts) == {"en", "es"}
    assert en_es.left_out == {"without_partner": 1, "empty": 0, "damaged": 0}
    assert parallel(corpus, "en", "fr").ids == en_es.ids, "a pair's candidates do not depend on what is evaluated"


def test_parts_are_read_as_one_archive(corpus):
    wanted = parallel(corpus)
    whole = corpus / "UNv1.0-TEI.en.tar.gz"
    content = whole.read_bytes()
    whole.unlink()
    for number, start in enumerate(range(0, len(content), 100)):
        (corpus / f"UNv1.0-TEI.en.tar.gz.{number:02d}").write_bytes(content[start : start + 100])
    assert parallel(corpus) == wanted
    (corpus / "UNv1.0-TEI.en.tar.gz.01").unlink()
    with pytest.raises(SteleError, match=r"want one archive, or all its parts from \.00 on"):
        parallel(corpus)


def test_unpacked_documents_are_read_as_well(corpus, tmp_path_factory):
    wanted, folder = parallel(corpus), tmp_path_factory.mktemp("en")  # a folder named as a language above is none
    for path in corpus.glob("*.tar.gz"):
        with tarfile.open(path) as archive:
            archive.extractall(folder, filter="data")
    assert parallel(folder) == wanted
    one_document = folder / "UNv1.0-TEI/en/1990/a/1.xml"
    one_document.with_suffix(".xml.gz").write_bytes(gzip.compress(one_document.read_bytes()))
    one_document.unlink()
    assert parallel(folder) == wanted


def test_a_folder_may_be_named_by_a_code_of_three_letters(tmp_path):
    for place in ("ceb/ceb", "en/ceb"):  # the second is English
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "1.xml").write_bytes(one(place))
    assert parallel(tmp_path, "ceb", "en").texts == {"ceb": ["ceb/ceb"], "en": ["en/ceb"]}


def test_the_list_says_which_documents_count(corpus):
    (corpus / "UNv1.0.6way.ids").write_text(
        "1990/a/2\tar:1:1\ten:1:1\n1990/a/2 en:1:2\n2001/s/4 en:1:1\n1990/a/7 en:1:1\n"
    )
    made = parallel(corpus)
    assert made.ids == ["1990/a/2"] and made.left_out["without_partner"] == 2
    (corpus / "UNv1.0.6way.ids").write_text("\n")
    with pytest.raises(SteleError, match="nothing in it, want a sentence on each line"):
        parallel(corpus)


def test_a_cut_or_flipped_archive_is_noticed_to_its_last_byte(corpus):
    path = corpus / "UNv1.0-TEI.fr.tar.gz"
    content = path.read_bytes()
    for damaged in (content[:-1], content[:-12], content[: len(content) // 2], content[:200] + b"\0" + content[201:]):
        path.write_bytes(damaged)
        with pytest.raises(SteleError, match=r"UNv1\.0-TEI\.fr\.tar\.gz.*(cut short or damaged|not a readable tar)"):
            parallel(corpus)
    plain = gzip.decompress(content)
    path.write_bytes(gzip.compress(plain[:1024]))  # behind the first member, which a tar without an end would be
    with pytest.raises(SteleError, match=r"UNv1\.0-TEI\.fr\.tar\.gz.*cut short"):
        parallel(corpus)
    path.write_bytes(b"<html>not found</html>")
    with pytest.raises(SteleError, match="not a readable tar archive"):
        parallel(corpus)


def test_documents_without_text_are_counted(corpus):
    members = {f"UNv1.0-TEI/es/{name}.xml": one(name) for name in ("1990/a/1", "1990/a/2")}
    members["UNv1.0-TEI/es/2001/s/res/3.xml"] = tei("<p/>")
    (corpus / "UNv1.0-TEI.es.tar.gz").write_bytes(tar(members))
    made = parallel(corpus)
    assert made.ids == ["1990/a/1", "1990/a/2"]
    assert made.left_out == {"without_partner": 2, "empty": 1, "damaged": 0}


def test_few_damaged_documents_are_left_out_and_many_are_an_error(corpus, monkeypatch, caplog):
    members = {f"UNv1.0-TEI/es/{name}.xml": one(name) for name in ("1990/a/1", "1990/a/2")}
    members["UNv1.0-TEI/es/2001/s/res/3.xml"] = one("cut")[:-5]
    (corpus / "UNv1.0-TEI.es.tar.gz").write_bytes(tar(members))
    with pytest.raises(SteleError, match=r"document 2001/s/res/3: damaged .*; 1 of 3 documents there cannot be read"):
        parallel(corpus)
    monkeypatch.setattr(xda, "DAMAGED", 0.5)
    made = parallel(corpus)
    assert made.ids == ["1990/a/1", "1990/a/2"] and made.left_out["damaged"] == 1
    assert "document 2001/s/res/3: damaged" in caplog.text


def test_a_folder_without_a_language_or_without_partners_is_an_error(corpus):
    with pytest.raises(SteleError, match=r"no documents in ru; want .* UNv1\.0-TEI\.ru\.tar\.gz.*found en, es, fr"):
        parallel(corpus, "en", "ru")
    (corpus / "UNv1.0-TEI.es.tar.gz").write_bytes(tar({"UNv1.0-TEI/es/1999/other.xml": one("x")}))
    with pytest.raises(SteleError, match="no document exists in all of en, es, fr"):
        parallel(corpus)


def test_a_document_that_is_there_twice_is_an_error(corpus):
    members = {"UNv1.0-TEI/es/1990/a/1.xml": one("x"), "1990/a/1.xml": one("y")}
    (corpus / "UNv1.0-TEI.es.tar.gz").write_bytes(tar(members))
    with pytest.raises(SteleError, match="document '1990/a/1' appears twice"):
        parallel(corpus)


def test_a_name_that_a_run_cannot_hold_is_an_error(tmp_path):
    for language in ("en", "es"):
        (tmp_path / language).mkdir()
        (tmp_path / language / "annual report.xml").write_bytes(one("text"))
    with pytest.raises(SteleError, match="string without white space, found 'annual report'"):
        parallel(tmp_path)


def test_a_document_that_is_too_large_is_none(corpus, monkeypatch):
    monkeypatch.setattr(xda, "LARGEST", 300)
    (corpus / "UNv1.0-TEI.es.tar.gz").write_bytes(tar({"UNv1.0-TEI/es/1990/a/1.xml": one("x" * 300)}))
    with pytest.raises(SteleError, match=r"es\.tar\.gz: .*a/1\.xml: a document of more than"):
        parallel(corpus, "es")


def test_a_size_that_no_file_has_ends_the_archive(corpus):
    """tarfile would pass over the member to where the next one should be, which takes ages."""
    with tarfile.open(corpus / "UNv1.0-TEI.es.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        (info := tarfile.TarInfo("UNv1.0-TEI/es/1990/a/1.txt")).pax_headers = {"size": "9" * 20}
        archive.addfile(info)
    (corpus / "UNv1.0-TEI.es.tar.gz").unlink()
    with pytest.raises(SteleError, match=r"es\.tar: .*1\.txt: a document of more than"):
        parallel(corpus, "es")
