"""Generated WikiText-103: upstream's format, read by the reader, and the world's English articles in it."""

import io
import zipfile

from stele.corpora.wikitext103 import documents
from stele_world.writers import texts


def read(generated, name):
    with zipfile.ZipFile(io.BytesIO(generated.path(texts.WIKITEXT103).read_bytes())) as archive:
        assert sorted(archive.namelist()) == [
            f"wikitext-103-raw/wiki.{part}.raw" for part in ("test", "train", "valid")
        ]
        return archive.read(f"wikitext-103-raw/wiki.{name}.raw").decode()


def test_every_english_article_is_in_one_part_with_its_sections(generated):
    parts = {name: list(documents(io.StringIO(read(generated, name)), name)) for name in ("train", "valid", "test")}
    articles = generated.world.articles("en")
    assert sum(map(len, parts.values())) == len(articles) and len(parts["train"]) > 0.8 * len(articles)
    assert generated.manifest["counts"]["wikitext103"]["articles"]["en"] == len(parts["train"])
    first, article = parts["train"][0], articles[0]
    assert first.title == article.title
    assert [section.title for section in first.sections] == [s.title for s in article.sections if s.title]
    assert len(first.paragraphs) == sum(len(section.paragraphs) for section in article.sections)


def test_punctuation_stands_apart_from_words(generated):
    lines = [line for line in read(generated, "train").split("\n") if line.strip()]
    assert all(line.startswith(" ") and line.endswith(" ") for line in lines)
    texts = [line for line in lines if not line.startswith(" =")]
    assert texts and all(line.endswith((" . ", " ? ", " ! ")) for line in texts)
