"""`pairs knowledge_pairs`: the laws of sampling, and every pair checked back against links and entities."""

from collections import Counter
from itertools import pairwise

import pytest
from knowledge_texts import Article, documents, random_wiki, text

from stele.errors import SteleError
from stele.pairs.mining.segments import join, passages
from tests.sealed import write_sealed

EN, FR = random_wiki("en", 60, 1), random_wiki("fr", 50, 2, entities=70)
WIKIS = {"ilk": {"en": EN}, "uhs_ilk": {"en": EN}, "clk": {"en": EN, "fr": FR}}
WIKIS |= {"ds_clk": WIKIS["clk"], "clhed": WIKIS["clk"]}
methods = pytest.mark.parametrize("method", WIKIS)
WORDS = {"passage_words": 40}


def passages_of(article, limit=40):
    bounds = passages(article.sentences, article.sections, limit)
    return [join(article.sentences[a:b]) for a, b in pairwise(bounds)]


@methods
def test_knowledge_pairs_of_the_same_seed_have_the_same_bytes(knowledge_pairs, method):
    """Another seed gives another order; without a limit, and where nothing else is drawn, of the same pairs."""
    one, same, other = (knowledge_pairs(WIKIS[method], method=method, **WORDS, seed=seed) for seed in (3, 3, 4))
    assert one.record["content"] == same.record["content"] != other.record["content"]
    assert one.rows == same.rows and len(one.rows) > 50
    assert one.rows != other.rows and abs(len(one.rows) - len(other.rows)) < 0.2 * len(one.rows)


@methods
def test_shards_and_threads_do_not_matter(knowledge_pairs, monkeypatch, method):
    one = knowledge_pairs(WIKIS[method], method=method, **WORDS)
    monkeypatch.setattr("stele.artifacts.documents.GROUP_DOCUMENTS", 7)
    four = knowledge_pairs(WIKIS[method], method=method, **WORDS, shards=4, threads=2)
    assert one.record["content"] == four.record["content"]
    assert len(four.record["inputs"]) == 5 * len(WIKIS[method])


def test_order_of_languages_does_not_matter(knowledge_pairs):
    one, other = (knowledge_pairs(dict(w), method="clk") for w in (WIKIS["clk"].items(), [*WIKIS["clk"].items()][::-1]))
    assert one.record["content"] == other.record["content"] and one.record["part"] == "en-fr"


@methods
def test_fewer_pairs_are_the_first_of_more(knowledge_pairs, method):
    whole = knowledge_pairs(WIKIS[method], method=method, **WORDS)
    some = knowledge_pairs(WIKIS[method], method=method, **WORDS, max_pairs=40)
    assert len(some.rows) == 40 and some.rows == whole.rows[:40]
    assert some.record["candidates"] == whole.record["candidates"]
    assert whole.record["candidates"] == whole.record["pairs"] + sum(whole.record["dropped"].values())


def test_ilk_pairs_link_to_each_other(knowledge_pairs):
    """Equation 2 on every pair; every two sentences of it are there, and both pages ask."""
    links = [
        {number: {t for n, t in page.links if n == number} for number in range(len(page.sentences))} for page in EN
    ]
    collected, sides = set(), Counter()
    for row in knowledge_pairs({"en": EN}, method="ilk", **WORDS).rows:
        asking, other = row["query_page"], row["passage_page"]
        sentence = EN[asking].sentences.index(row["query"])
        number = passages_of(EN[other]).index(row["passage"])
        bounds = passages(EN[other].sentences, EN[other].sections, 40)
        inside = range(bounds[number], bounds[number + 1])
        assert asking != other and other in links[asking][sentence]
        assert any(asking in links[other][n] for n in inside)
        collected |= {frozenset([(asking, sentence), (other, n)]) for n in inside if asking in links[other][n]}
        sides[asking < other] += 1
        assert row["query_language"] == row["passage_language"] == "en"
    assert collected == {
        frozenset([(a, n), (b, m)])
        for a in range(len(EN))
        for n, targets in links[a].items()
        for b in targets - {a}
        for m, back in links[b].items()
        if a in back
    }
    assert min(sides[True], sides[False]) > 0.3 * sides.total()


@pytest.mark.parametrize(("pairing", "most"), [("all", 9), ("aligned", 3), ("one", 1)])
def test_clk_pairs_are_top_passages_of_one_entity(knowledge_pairs, pairing, most):
    """Equation 3 on every pair; exactly the passages that the pairing joins."""
    expected = Counter()
    for a, page in enumerate(EN):
        for b, other in enumerate(FR):
            if page.entity is not None and page.entity == other.entity:
                size, other_size = (min(3, len(passages_of(p))) for p in (page, other))
                expected[a, b] = {"all": size * other_size, "aligned": min(size, other_size), "one": 1}[pairing]
    collected, query_languages = Counter(), Counter()
    for row in knowledge_pairs(WIKIS["clk"], method="clk", **WORDS, pairing=pairing).rows:
        texts = {row[f"{side}_language"]: (row[f"{side}_page"], row[side]) for side in ("query", "passage")}
        (a, text_a), (b, text_b) = texts["en"], texts["fr"]
        ranks = passages_of(EN[a])[:3].index(text_a), passages_of(FR[b])[:3].index(text_b)
        assert pairing != "aligned" or ranks[0] == ranks[1]
        collected[a, b] += 1
        query_languages[row["query_language"]] += 1
    assert collected == expected and max(expected.values()) == most
    assert min(query_languages["en"], query_languages["fr"]) > 0.3 * query_languages.total()


def test_ds_clk_reads_the_whole_page(knowledge_pairs):
    """As many pairs as CLK, of three passages a page that are different ones and anywhere in it."""
    made = {method: knowledge_pairs(WIKIS["clk"], method=method, passage_words=10) for method in ("clk", "ds_clk")}
    assert made["clk"].record["pairs"] == made["ds_clk"].record["pairs"]
    used = {}
    for row in made["ds_clk"].rows:
        for side in ("query", "passage"):
            page = (EN if row[f"{side}_language"] == "en" else FR)[row[f"{side}_page"]]
            place = passages_of(page, 10).index(row[side])
            used.setdefault((row[f"{side}_language"], row[f"{side}_page"]), set()).add(place)
    assert max(map(len, used.values())) == 3 and max(map(max, used.values())) > 5


def test_uhs_ilk_asks_with_every_link(knowledge_pairs):
    made = knowledge_pairs({"en": EN}, method="uhs_ilk", **WORDS)
    links = {(a, n, b) for a, page in enumerate(EN) for n, b in page.links if a != b}
    collected, ranks = set(), Counter()
    for row in made.rows:
        a, b = row["query_page"], row["passage_page"]
        rank = passages_of(EN[b])[:3].index(row["passage"])
        collected.add((a, EN[a].sentences.index(row["query"]), b))
        ranks[rank] += len(passages_of(EN[b])) >= 3
    assert collected == links and len(made.rows) == len(links) and made.record["dropped"] == {}
    assert set(ranks) == {0, 1, 2} and min(ranks.values()) > 0.2 * ranks.total()


def test_clhed_describes_linked_entities_in_the_other_language(knowledge_pairs):
    wikis = {"en": EN, "fr": FR}
    there = {code: {page.entity: n for n, page in enumerate(wikis[code]) if page.entity is not None} for code in wikis}
    expected = Counter()
    for code, other in (("en", "fr"), ("fr", "en")):
        for a, page in enumerate(wikis[code]):
            for n, b in {link for link in page.links if link[1] != a}:
                if (entity := wikis[code][b].entity) in there[other]:
                    expected[code, a, n, there[other][entity]] += 1
    collected = Counter()
    for row in knowledge_pairs(wikis, method="clhed", **WORDS).rows:
        code, other = row["query_language"], row["passage_language"]
        assert code != other and row["passage"] in passages_of(wikis[other][row["passage_page"]])[:3]
        sentence = wikis[code][row["query_page"]].sentences.index(row["query"])
        collected[code, row["query_page"], sentence, row["passage_page"]] += 1
    assert collected == expected and {key[0] for key in collected} == {"en", "fr"}


def test_texts_that_are_no_pair_are_dropped_and_counted(knowledge_pairs):
    """Near-empty, contained in the other, the same pair again (case and spaces apart), a page with fewer passages."""
    long, whole = text("a", 20), text("b", 12)
    first = [
        Article([long], entity=1),
        Article(["Ok 1."], entity=2),
        Article([whole], entity=3),
        Article([long], entity=4),
    ]
    other = [Article([text("c", 20)], entity=1), Article([text("d", 9)], entity=2)]
    other += [Article([text("e", 3), whole.upper()], entity=3), Article([text("c", 20).replace(" ", "  ")], entity=4)]
    made = knowledge_pairs({"en": first, "fr": other}, method="clk", passages=2, passage_words=5)
    assert made.record["dropped"] == {"contained": 1, "duplicates": 1, "near_empty": 1}
    assert made.record["pairs"] == 2 == len(made.rows)
    short = knowledge_pairs(
        {"en": [Article(["One. Two."] * 2, entity=1)], "fr": other[:1]}, method="clk", min_characters=5
    )
    assert short.record["dropped"] == {"fewer_passages": 1} and short.record["pairs"] == 1


def test_a_part_without_pairs_is_an_empty_file(knowledge_pairs, caplog):
    alone = [Article([text("a")]), Article([text("b")])]
    for method, wikis in (("ilk", {"en": alone}), ("clk", {"en": alone, "fr": alone})):
        made = knowledge_pairs(wikis, method=method)
        assert made.rows == [] and made.record["pairs"] == 0 and made.record["dropped"] == {}
    assert "no clk pair among 0 candidates" in caplog.text


def test_the_record_of_knowledge_pairs_has_their_recipe_and_labels(knowledge_pairs):
    record = knowledge_pairs({"en": EN, "fr": FR}, method="clk").record
    assert record["recipe"]["passages"] == 3 and record["languages"] == ["en", "fr"]
    assert "query_tokens" not in record["recipe"], "no tokens yet"
    assert record["labels"] == ["generated data"] and record["seed"] == 3
    assert set(record["inputs"]) == {
        f"{kind}{code}{n}" for code in ("en", "fr") for kind, n in (("knowledge_base:", ""), ("documents:", ":1"))
    }
    links = {(a, n, b) for a, page in enumerate(EN) for n, b in page.links if a != b}
    with_entity = sum(page.entity is not None for page in EN)
    assert record["knowledge"]["en"] == {"pages": 60, "pages_with_entity": with_entity, "links": len(links)}


@pytest.mark.parametrize(
    ("recipe", "wikis", "words"),
    [
        ({"method": "clk", "pairings": "one"}, ["en", "fr"], ["unknown key 'pairings'", "did you mean 'pairing'"]),
        ({"method": "clk", "pairing": "some"}, ["en", "fr"], ["pairing", "'all', 'aligned' or 'one'"]),
        ({"method": "clk"}, ["en"], ["--part en", "two languages"]),
        ({"method": "ilk"}, ["en", "fr"], ["--part en-fr", "one language"]),
        ({"method": "msm"}, ["en"], ["msm", "`pairs mine`"]),
    ],
)
def test_wrong_recipes_and_parts_are_refused(knowledge_pairs, tmp_path, recipe, wikis, words):
    with pytest.raises(SteleError) as error:
        knowledge_pairs({code: EN[:2] for code in wikis}, **recipe)
    assert all(word in str(error.value) for word in words)
    assert not list(tmp_path.rglob("pairs.parquet"))


def test_a_shard_too_few_is_refused(knowledge_pairs):
    with pytest.raises(SteleError, match="not made of 6 documents but of 9"):
        knowledge_pairs({"en": EN[:9]}, method="ilk", shards=3, write=lambda *given: documents(*given)[:-1])


def test_shards_in_another_order_are_refused(knowledge_pairs):
    """Pages are numbered through the shards: in another order every text would be another page's."""

    def turned(folder, *given):
        return documents(folder, *given)[:: -1 if folder.name == "others" else 1]

    with pytest.raises(SteleError, match=r"not made of these documents of en in this order: \S+, \S+; build"):
        knowledge_pairs({"en": EN}, method="ilk", shards=2, others={"en": EN}, write=turned)
    assert knowledge_pairs({"en": EN}, method="ilk", shards=2, others={"en": EN}).rows


def test_a_record_of_other_than_documents_is_refused(knowledge_pairs, tmp_path):
    write_sealed(wrong := tmp_path / "record.json", {"job": "sources dataset"})

    def mistaken(folder, *given):
        return [wrong] if folder.name == "others" else documents(folder, *given)

    with pytest.raises(SteleError, match=r"not made of these documents of en in this order: \S+record.json; build"):
        knowledge_pairs({"en": EN}, method="ilk", others={"en": EN}, write=mistaken)


@pytest.mark.parametrize("method", ["clk", "ds_clk"])
def test_many_dropped_candidates_do_not_make_fewer_pairs(knowledge_pairs, method):
    """Three short sentences are one passage: one candidate of nine is a pair. As many are drawn as it takes."""
    wikis = {
        code: [Article([text(f"{code}{n}", 3, i) for i in range(3)], entity=n) for n in range(90)]
        for code in ("en", "fr")
    }
    whole = knowledge_pairs(wikis, method=method)
    assert whole.record["candidates"] == 810 and whole.record["pairs"] == 90
    for most in (20, 85):
        some = knowledge_pairs(wikis, method=method, max_pairs=most)
        assert some.rows == whole.rows[:most] and some.record["candidates"] == 810
