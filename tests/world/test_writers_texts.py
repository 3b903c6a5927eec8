"""CC-100, WikiText-103, Tatoeba, translation pairs, Punkt and Mewsli-X, read back."""

import hashlib
import io
import json
import tarfile
import zipfile
from collections import Counter

import pytest

from stele.benchmarks.tatoeba_pairs import TatoebaPairs
from stele.corpora.wikitext103 import documents
from stele_world.writers.texts import WIKITEXT103

RAW = "https://raw.githubusercontent.com"
CODES = {"ar": "ara", "de": "deu", "ja": "jpn", "ru": "rus", "sw": "swh", "th": "tha"}


@pytest.mark.parametrize("language", ["en", "ja", "th"])
def test_cc100_documents_are_apart_by_an_empty_line_and_paragraphs_by_a_newline(generated, language):
    text = generated.open(f"https://data.statmt.org/cc-100/{language}.txt.xz").decode()
    documents = text.split("\n\n")
    assert documents.pop() == ""
    between = "" if language == "ja" else " "
    told = list(generated.world.web_documents(language))
    assert [d.split("\n") for d in documents] == [[between.join(p) for p in d] for d in told]
    assert len(documents) == generated.manifest["counts"]["cc100"]["documents"][language]


@pytest.mark.parametrize("language", CODES)
def test_tatoeba_and_translation_pairs_are_the_world_s_and_share_none(generated, language):
    code, counts, tested = CODES[language], generated.manifest["counts"], generated.world.parallel(language, "tatoeba")
    stem = f"{RAW}/facebookresearch/LASER/main/data/tatoeba/v1/tatoeba.{code}-eng"
    foreign, english = (generated.open(f"{stem}.{side}").decode().splitlines() for side in (code, "eng"))
    assert len(foreign) == counts["tatoeba"]["pairs"][code] > 0
    assert list(zip(english, foreign, strict=True)) == tested
    assert len(set(foreign)) == len(set(english)) == len(english) and all(foreign) and all(english)
    lines = generated.open(f"https://generated/parallel/{language}.tsv.gz").decode().splitlines()
    pairs = [tuple(line.split("\t")) for line in lines]
    assert len(pairs) == counts["generated_parallel"]["pairs"][language] > 0
    assert all(len(pair) == 2 for pair in pairs) and not set(pairs) & set(tested)


# --- Tatoeba's weekly exports
@pytest.fixture(scope="module")
def unpacked(generated, tmp_path_factory):
    folder = tmp_path_factory.mktemp("exports")
    for name in ("sentences", "links"):
        data = generated.open(f"https://downloads.tatoeba.org/exports/{name}.tar.bz2")
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            assert archive.getnames() == [f"{name}.csv"]
            archive.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="module")
def exports(generated, unpacked):
    texts = {name: (unpacked / f"{name}.csv").read_bytes().decode() for name in ("sentences", "links")}
    rows = {name: [line.split("\t") for line in text.removesuffix("\n").split("\n")] for name, text in texts.items()}
    assert {name: len(of) for name, of in rows.items()} == generated.manifest["counts"]["tatoeba_exports"]
    return rows


def test_the_exports_have_what_the_real_ones_have(exports):
    told = {name: (code, text) for name, code, text in exports["sentences"]}
    assert len(told) == len(exports["sentences"]) and list(told) == sorted(told, key=int)
    assert {code for code, _ in told.values()} == {*CODES.values(), "eng", r"\N"}
    links = [tuple(row) for row in exports["links"]]
    alive = {link for link in links if set(link) <= told.keys()}
    assert 0 < len(links) - len([link for link in links if link in alive]) < len(links) / 20  # dead ones
    assert len(set(links)) < len(links)  # doubles
    turned = [(two, one) in alive for one, two in alive if r"\N" not in (told[one][0], told[two][0])]
    assert all(turned)
    texts = [row for row in told.values() if row[0] != r"\N"]
    assert len(set(texts)) < len(texts)  # a sentence is there again


def test_the_exports_translate_directly_or_by_way_of_others(generated, exports):
    same = [told for told in generated.world.translations()]
    assert len(same) == 2 * len(generated.world.parallel("ar", "tatoeba"))
    assert all(set(told) <= set(generated.world.languages) for told in same)
    texts = {name: text for name, code, text in exports["sentences"]}
    direct = {(texts[one], texts[two]) for one, two in exports["links"] if one in texts and two in texts}
    both = [(told["ar"], told["ru"]) for told in same if {"ar", "ru"} <= told.keys()]
    assert 0.5 < sum(pair in direct for pair in both) / len(both) < 1
    training = {text for code in CODES for pair in generated.world.parallel(code, "training") for text in pair}
    assert training.isdisjoint(texts.values())


def test_the_exports_are_read_back_as_pairs(generated, unpacked):
    data = {"tatoeba_exports": {"all": unpacked}}
    there, back = TatoebaPairs().query_sets(["ar-ru"])
    arabic, russian = ([query.text for query in TatoebaPairs().queries(data, side)] for side in (there, back))
    same = {(told.get("ar"), told.get("ru")) for told in generated.world.translations()}
    assert len(arabic) > 10 and set(zip(arabic, russian, strict=True)) <= same
    assert len(set(arabic)) == len(set(russian)) == len(arabic)


# --- Punkt
@pytest.fixture(scope="module")
def punkt(generated, tmp_path_factory):
    folder = tmp_path_factory.mktemp("nltk_data") / "tokenizers"
    path = generated.path(f"{RAW}/nltk/nltk_data/gh-pages/packages/tokenizers/punkt_tab.zip")
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        archive.extractall(folder)
    return folder / "punkt_tab" / "english"


def test_nltk_loads_the_punkt_model_and_splits_sentences_with_it(punkt, monkeypatch):
    import nltk
    from nltk.tokenize import word_tokenize

    monkeypatch.setattr(nltk.data, "path", [str(punkt.parents[2])])
    tokens = word_tokenize("Dr. Kunta was born in 1901. It lies on the river.")
    assert tokens[:2] == ["Dr.", "Kunta"]  # learnt as an abbreviation
    assert tokens[2:] == ["was", "born", "in", "1901", ".", "It", "lies", "on", "the", "river", "."]


def test_punkt_files_have_the_released_models_form(punkt, generated):
    names = {"abbrev_types.txt", "collocations.tab", "ortho_context.tab", "sent_starters.txt"}
    assert {p.name for p in punkt.iterdir()} == names
    counts = generated.manifest["counts"]["nltk_punkt"]
    assert len((punkt / "abbrev_types.txt").read_text().split("\n")) == counts["abbreviations"] > 0
    for line in (punkt / "ortho_context.tab").read_text().split("\n"):
        word, context = line.split("\t")
        assert word == word.lower() and 0 <= int(context) < 128


# --- Mewsli-X
@pytest.fixture(scope="module")
def mewsli(generated):
    """Name -> text of the archive's members."""
    path = generated.path("https://storage.googleapis.com/gresearch/mewsli/mewsli-x_20220518_6.zip")
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


@pytest.fixture(scope="module")
def restored(generated):
    """Split -> the articles with their texts, as the release's script makes them on a user's machine."""
    folder = generated.user_data / "mewsli_x_news"
    return {split: lines((folder / f"wikinews_mentions-{split}.jsonl").read_text()) for split in ("dev", "test")}


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def check_spans(context, mention):
    """The rules of mewsli_x/schema.py: spans within the text, the mention's text at its span, in one sentence."""
    text, span = context["text"], mention["mention_span"]
    assert all(0 <= s["start"] < s["end"] <= len(text) for s in context["sentence_spans"])
    assert text[span["start"] : span["end"]] == span["text"]
    assert sum(s["start"] <= span["start"] and span["end"] <= s["end"] for s in context["sentence_spans"]) == 1


def test_mewsli_archive_holds_what_upstream_lists_and_no_text_of_news(mewsli):
    news = [f"wikinews_mentions_no_text-{split}.jsonl" for split in ("dev", "test")]
    pairs = [f"wikipedia_pairs-{split}.jsonl" for split in ("dev", "train")]
    assert list(mewsli) == ["candidate_set_entities.jsonl", *news, *pairs]
    assert not any(item["context"]["text"] for name in news for item in lines(mewsli[name]))


def test_mewsli_candidates_have_one_description_each_in_some_language(mewsli, generated):
    candidates = lines(mewsli["candidate_set_entities.jsonl"])
    ids = [c["entity_id"] for c in candidates]
    assert len(set(ids)) == len(ids) == generated.manifest["counts"]["mewsli_x"]["candidates"]
    assert len({c["description_language"] for c in candidates}) > 3
    for candidate in candidates:
        sentences = [candidate["description"][s["start"] : s["end"]] for s in candidate["sentence_spans"]]
        assert 1 <= len(sentences) <= 3
        article = generated.world.article(candidate["description_language"], candidate["entity_id"])
        assert sentences == [s.text for s in article.sentences()[: len(sentences)]]
        assert candidate["title"] == article.title


def test_mewsli_mentions_with_and_without_text_agree_and_point_at_candidates(mewsli, restored, generated):
    candidates = {c["entity_id"] for c in lines(mewsli["candidate_set_entities.jsonl"])}
    for split, whole in restored.items():
        counts = Counter()
        for item, without in zip(whole, lines(mewsli[f"wikinews_mentions_no_text-{split}.jsonl"]), strict=True):
            context = item["context"]
            assert without["context"] == context | {"text": ""} and without["mentions"] == item["mentions"]
            for mention in item["mentions"]:
                assert mention["metadata"]["text_md5"] == hashlib.md5(context["text"].encode()).hexdigest()
                check_spans(context, mention)
                assert mention["entity_id"] in candidates
                counts[context["language"]] += 1
        ids = [m["example_id"] for item in whole for m in item["mentions"]]
        assert len(set(ids)) == len(ids)
        assert len({item["context"]["document_id"] for item in whole}) == len(whole)
    assert counts == generated.manifest["counts"]["mewsli_x"]["test"]


def test_mewsli_pairs_are_english_and_train_no_entity_of_dev_or_test(mewsli, generated):
    entities = {}
    for split in ("train", "dev"):
        pairs = lines(mewsli[f"wikipedia_pairs-{split}.jsonl"])
        assert len(pairs) == generated.manifest["counts"]["mewsli_x"][split] > 0
        for pair in pairs:
            context, mention = pair["contextual_mention"]["context"], pair["contextual_mention"]["mention"]
            check_spans(context, mention)
            assert context["language"] == pair["entity"]["description_language"] == "en"
            assert pair["entity"]["entity_id"] == mention["entity_id"]
        entities[split] = {pair["entity"]["entity_id"] for pair in pairs}
    news = {m["entity_id"] for i in lines(mewsli["wikinews_mentions_no_text-test.jsonl"]) for m in i["mentions"]}
    assert not entities["train"] & (entities["dev"] | news)


# --- WikiText-103
def part(generated, name):
    with zipfile.ZipFile(io.BytesIO(generated.path(WIKITEXT103).read_bytes())) as archive:
        assert sorted(archive.namelist()) == [
            f"wikitext-103-raw/wiki.{name}.raw" for name in ("test", "train", "valid")
        ]
        return archive.read(f"wikitext-103-raw/wiki.{name}.raw").decode()


def test_every_english_article_is_in_one_part_with_its_sections(generated):
    parts = {name: list(documents(io.StringIO(part(generated, name)), name)) for name in ("train", "valid", "test")}
    articles = generated.world.articles("en")
    assert sum(map(len, parts.values())) == len(articles) and len(parts["train"]) > 0.8 * len(articles)
    assert generated.manifest["counts"]["wikitext103"]["articles"]["en"] == len(parts["train"])
    first, article = parts["train"][0], articles[0]
    assert first.title == article.title
    assert [section.title for section in first.sections] == [s.title for s in article.sections if s.title]
    assert len(first.paragraphs) == sum(len(section.paragraphs) for section in article.sections)


def test_punctuation_stands_apart_from_words(generated):
    lines = [line for line in part(generated, "train").split("\n") if line.strip()]
    assert all(line.startswith(" ") and line.endswith(" ") for line in lines)
    texts = [line for line in lines if not line.startswith(" =")]
    assert texts and all(line.endswith((" . ", " ? ", " ! ")) for line in texts)
