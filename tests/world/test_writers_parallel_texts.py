"""XNLI's table and the TEI of the United Nations, written and read back by the readers of the real ones."""

import io
import zipfile

import pytest

from stele.benchmarks import xda
from stele.benchmarks.xda import Xda
from stele.benchmarks.xsa import Xsa
from stele_world.writers import texts


@pytest.fixture(scope="module")
def written_world(written):
    sizes = {"entities": 80, "parallel": {"xnli": 60, "uncorpus": 40, "training": 200}}
    return written(sizes, ["en", "de", "es", "fi", "fr"], texts.write_xnli, texts.write_uncorpus)


def test_sentences_say_the_same_in_all_of_xnlis_languages(site, library, tmp_path):
    with zipfile.ZipFile(io.BytesIO((site.mirror / texts.XNLI.removeprefix("https://")).read_bytes())) as archive:
        archive.extractall(tmp_path)
    parallel = Xsa().parallel_texts({"xnli_15way": {"all": tmp_path}}, ["de", "fr"])
    assert len(parallel.ids) == site.counts["xnli_15way"]["sentences"] == 60 and parallel.left_out == {"empty": 0}
    told = list(library.world.translated_sentences(["de", "en", "es", "fr"]))
    assert [text["fr"] for text in told] == parallel.texts["fr"]
    assert all(len(set(texts)) == 60 for texts in parallel.texts.values()), "else no translation is the right one"
    header = (tmp_path / "XNLI-15way/xnli.15way.tok.tsv").read_text().splitlines()[0]
    assert header == "de\ten\tes\tfr"  # Finnish is none of XNLI's


def test_sentences_are_none_that_stand_ins_are_trained_on(library):
    pairs = [pair for language in ("de", "fr") for pair in library.world.parallel(language, "training")]
    trained = {text for pair in pairs for text in pair}
    told = {text for texts in library.world.translated_sentences(["de", "en", "fr"]) for text in texts.values()}
    assert len(pairs) == 400 and not trained & told


def test_documents_are_read_as_the_real_ones(site, library):
    folder = site.user_data / "uncorpus"
    assert sorted(path.name for path in folder.iterdir()) == [
        "UNv1.0-TEI.en.tar.gz.00", "UNv1.0-TEI.en.tar.gz.01", "UNv1.0-TEI.es.tar.gz.00", "UNv1.0-TEI.es.tar.gz.01",
        "UNv1.0-TEI.fr.tar.gz.00", "UNv1.0-TEI.fr.tar.gz.01", "UNv1.0.6way.ids",
    ]  # fmt: skip
    parallel = Xda().parallel_texts({"uncorpus": {"all": folder}}, ["en", "fr"])
    assert len(parallel.ids) == site.counts["uncorpus"]["documents"] and 25 < len(parallel.ids) < 40
    assert parallel.left_out == {"without_partner": 0, "empty": 0, "damaged": 0}  # the list has what all have
    articles = {texts.un_path(n): article for n, article in enumerate(library.world.translated_documents("fr"))}
    for name, text in zip(parallel.ids, parallel.texts["fr"], strict=True):
        assert [s.text for s in articles[name].sentences()] == [
            part for line in text.split("\n") for part in _sentences(line, articles[name])
        ]


def _sentences(line: str, article) -> list[str]:
    """The sentences of an article that a paragraph is made of, in their order."""
    return [s.text for s in article.sentences() if s.text in line]


def test_without_the_list_documents_count_that_all_languages_have(site, tmp_path):
    for path in (site.user_data / "uncorpus").glob("*.tar.gz.*"):
        (tmp_path / path.name).symlink_to(path)
    parallel = Xda().parallel_texts({"uncorpus": {"all": tmp_path}}, ["en", "es"])
    listed = Xda().parallel_texts({"uncorpus": {"all": site.user_data / "uncorpus"}}, ["en", "es"])
    assert (parallel.ids, parallel.texts) == (listed.ids, listed.texts)
    assert parallel.left_out["without_partner"] > 0 and parallel.left_out["empty"] > 0
    names = {name for name, _ in xda.documents(tmp_path, sorted(tmp_path.glob("*.en.*")), "en")}
    assert set(parallel.ids) < names
