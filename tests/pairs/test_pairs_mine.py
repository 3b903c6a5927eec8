"""The command: the same examples whatever the batches, shards and order; labels; wrong recipes."""

import json
import re
from collections import Counter

import pytest
from mining_texts import new_tokenizer, random_documents, text_of

from stele import catalogue
from stele.errors import SteleError
from stele.files.digests import files_digest
from stele.pairs.methods import DocumentMethod, load_method
from stele.pairs.mine import mine
from stele.pairs.mining.segments import encoder
from stele.recipes.mining import parse_recipe
from stele.registry import load_named
from stele.snakemake_support.fingerprint import closure, package_modules

RECIPES = {
    "msm": {"sentences": 5},
    "crop": {"sentences": 5, "window": 2},
    "ict": {"block_tokens": 40},
    "mlm": {"length": 50},
}
methods = pytest.mark.parametrize("method", RECIPES)


def examples(documents, method, batch, seed=3):
    module, recipe = load_method(json.dumps({"method": method, **RECIPES[method]}), DocumentMethod)
    made = mine(documents, encoder(new_tokenizer()), module, recipe, seed, "xx", Counter(), batch)
    return [tuple(tuple(segment.tolist()) for segment in example) for _, group in made for example in group]


@methods
def test_batches_do_not_matter(method):
    documents = random_documents(30)
    whole = examples(documents, method, 10_000)
    assert len(whole) > 30
    assert examples(documents, method, 1) == examples(documents, method, 17) == whole


@methods
def test_order_of_documents_does_not_matter(method):
    """A document gives the same examples wherever it stands, those that are drawn too."""
    documents = random_documents(30)
    backwards = examples(documents[::-1], method, 100)
    assert Counter(backwards) == Counter(examples(documents, method, 100))
    assert backwards != examples(documents, method, 100)


@methods
def test_a_store_of_the_same_seed_has_the_same_bytes(mined, method):
    documents = random_documents(30)
    made = [mined(documents, method=method, **RECIPES[method], seed=seed) for seed in (3, 3, 4)]
    one, same, other = (files_digest(run.folder) for run in made)
    assert one == same == made[0].record["content"]
    assert (one != other) == (method in ("crop", "ict"))  # the others draw nothing


@methods
def test_shards_do_not_matter(mined, method):
    documents = random_documents(31)
    one, three = (mined(documents, method=method, **RECIPES[method], shards=n) for n in (1, 3))
    assert three.examples == one.examples and three.record["content"] == one.record["content"]
    assert three.record["documents"] == 31 and len(three.record["inputs"]) == 4
    assert len(mined(documents, method=method, **RECIPES[method], shards=3, limit=13).examples) < len(one.examples)


@methods
def test_text_that_the_tokenizer_does_not_know_is_named(mined, method, caplog):
    """An English vocabulary and Amharic text; not refused, as KEPT's own languages have Khmer, which mBERT lacks."""
    unknown = [(f"u{n}", ["አዲስ አበባ ናት።"] * 20) for n in range(9)]
    mined([*random_documents(30), *unknown[:1]], method=method, **RECIPES[method])
    assert "of the tokens" not in caplog.text
    mined([*random_documents(2), *unknown], method=method, **RECIPES[method])
    assert re.search("xx: more than half of the tokens are .*unk.*: the tokenizer of checkpoint", caplog.text, re.I)


def test_language_is_part_of_the_seed(mined):
    documents = random_documents(10)
    one, other = (mined(documents, method="crop", language=language).examples for language in ("xx", "yy"))
    assert one != other and len(one) == len(other)


@pytest.mark.parametrize("method", ["crop", "ict"])
def test_documents_draw_apart(method):
    """Twenty documents of one text do not all draw the same."""
    documents = [(f"d{i}", text_of([3, 4, 5])) for i in range(20)]
    made = examples(documents, method, 100)
    size = len(made) // 20
    assert len({tuple(made[i : i + size]) for i in range(0, len(made), size)}) > 2


def test_a_limited_mining_is_the_beginning_of_the_whole(mined):
    documents = random_documents(9)
    few, whole = mined(documents, method="mlm", limit=4), mined(documents, method="mlm")
    assert few.record["documents"] == 4 and whole.examples[: len(few.examples)] == few.examples
    assert few.record["labels"] == ["generated data", "limited", "stand-in checkpoint"]
    assert whole.record["labels"] == ["generated data", "stand-in checkpoint"]


def test_the_record_of_a_mining_counts_what_was_read_and_dropped(mined):
    made = mined([("a", text_of([3, 4, 5])), ("b", text_of([3]))], method="msm")
    record = made.record
    assert (record["documents"], record["examples"], record["segments"], record["tokens"]) == (2, 1, 3, 12)
    assert record["dropped"] == {"short_documents": 1} and set(record["inputs"]) == {"documents:1", "tokenizer"}
    assert record["recipe"]["sentences"] == 32 and record["seed"] == 3 and len(record["tokenizer_probe"]) == 16


def test_a_language_without_examples_has_an_empty_store(mined, caplog):
    made = mined([("a", text_of([3]))], method="msm")
    assert made.examples == [] and made.record["examples"] == 0
    assert "no msm example" in caplog.text


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ('{"method": "msm", "sentense_words": 3}', ["sentense_words", "did you mean 'sentence_words'"]),
        ('{"method": "ictt"}', ["ictt", "did you mean 'ict'", "ict, ilk, mlm, msm, section, uhs_ilk"]),
        ('{"method": "mine"}', ["unknown mining method 'mine'"]),
        ('{"method": "ict", "removal": 1.5}', ["removal", "found 1.5"]),
        ('{"method": "msm", "sentences": 4, "sentences_min": 5}', ["sentences_min: 5", "4 `sentences`"]),
        ('{"unit": "blocks"}', ["`method`", "ict, ilk, mlm, msm, section, uhs_ilk"]),
        ('{"method": ', ["not JSON"]),
    ],
)
def test_wrong_recipes_are_refused(recipe, words):
    with pytest.raises(SteleError) as error:
        load_method(recipe, DocumentMethod)
    assert all(word in str(error.value) for word in ["--recipe", *words])


def test_mining_does_not_depend_on_how_models_are_built():
    """A change of code there mines nothing again."""
    reached = closure(package_modules("pairs"))
    assert "encoders.tokenizer" in reached
    assert not [name for name in reached if name in ("encoders.backbone", "encoders.load", "encoders.encode")]


def test_catalogue_recipes_are_valid():
    """Each mining recipe of the catalogue is one that its method takes; the paper's is the default of `msm`."""
    recipes = catalogue.load("recipes")["pairs"]
    assert {"msm", "msm_blocks", "crop", "ict", "mlm"} <= set(recipes)
    read, languages = {}, {"languages": 1, "language_pairs": 2}
    for name, recipe in recipes.items():
        read[name] = parse_recipe(recipe)
        module = load_named("stele.pairs.methods", read[name].method, "mining method")
        assert "parts" not in recipe or languages[recipe["parts"]] == module.LANGUAGES
    assert read["msm"].unit == "sentences" and read["msm_blocks"].unit == "blocks" and read["msm_blocks"].least == 32
    for name in ("msm", "crop", "ict", "mlm", "ilk", "uhs_ilk", "clk", "ds_clk", "clhed"):
        default = parse_recipe({"method": name}).model_dump(exclude={"sentences_min"})
        assert read[name].model_dump(exclude={"sentences_min"}) == default
    assert read["section_pairs"].model_dump() == parse_recipe({"method": "section"}).model_dump()
