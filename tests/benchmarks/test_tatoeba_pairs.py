"""Tatoeba without English: the weekly exports become pairs of sentences."""

import logging

import pytest
from written import put

from stele.benchmarks import _tatoeba_exports, tatoeba_pairs
from stele.benchmarks.tatoeba_pairs import TatoebaPairs
from stele.benchmarks.types import QuerySet
from stele.errors import SteleError

SENTENCES = [
    (1, "deu", "Wer hat das getan?"),
    (2, "ell", "Ποιος το έκανε αυτό;"),
    (3, "ell", "Ποιος το έκανε;"),  # a second translation of 1
    (4, "eng", "Who did it to whom?"),
    (5, "deu", "Das ist mein Haus."),
    (6, "ell", "Αυτό είναι το σπίτι μου."),
    (7, "deu", "Das ist mein Haus."),  # 5 again, of another writer
    (8, "ell", "Είναι δικό μου σπίτι."),
    (9, r"\N", "Wer weiß das schon?"),  # of an unknown language
    (10, "deu", "Ja, gut."),  # short, and so is its translation
    (11, "ell", "Ναι, καλά."),
    (12, "deu", "Schreib mir an a@b.de, bitte."),
    (13, "ell", "Γράψε μου εδώ πέρα."),
    (14, "deu", "Er schwieg."),  # short, but its translation is not
    (15, "ell", "Αυτός έμεινε σιωπηλός."),
    (16, "nob", "Jeg vet det ikke."),
    (17, "dan", "Det ved jeg ikke."),
    (18, "nno", "Eg veit ikkje det."),
    (19, "cmn", "我不知道。"),
    (20, "spa", "No sé."),  # short beside a language without spaces
]
LINKS = [(1, 2), (1, 3), (4, 1), (4, 3), (5, 6), (7, 8), (9, 2), (10, 11), (12, 13), (14, 15), (16, 17), (18, 17)]
LINKS += [(19, 20), (4, 14)]


def exports(folder, sentences=SENTENCES, links=LINKS, more: str = ""):
    """Writes both files, every link in both directions; `more` is text behind the sentences."""
    put(folder / "sentences.csv", "".join("\t".join(map(str, row)) + "\n" for row in sentences) + more)
    turned = [link for first, second in links for link in ((first, second), (second, first))]
    put(folder / "links.csv", "".join(f"{first}\t{second}\n" for first, second in turned))
    return {"tatoeba_exports": {"all": folder}}


def texts(data, pair: str) -> list[tuple[str, str]]:
    there, back = TatoebaPairs().query_sets([pair])
    return list(
        zip(*([q.text for q in TatoebaPairs().queries(data, query_set)] for query_set in (there, back)), strict=True)
    )


def test_direct_links_become_pairs_and_each_sentence_stands_once(tmp_path):
    data = exports(tmp_path)
    assert texts(data, "de-el") == [
        ("Wer hat das getan?", "Ποιος το έκανε αυτό;"),
        ("Das ist mein Haus.", "Αυτό είναι το σπίτι μου."),
        ("Er schwieg.", "Αυτός έμεινε σιωπηλός."),
    ]
    assert texts(data, "el-de") == [(greek, german) for german, greek in texts(data, "de-el")]
    assert texts(data, "da-no") == [("Det ved jeg ikke.", "Jeg vet det ikke.")]  # no: Bokmål, not Nynorsk
    assert texts(data, "zh-es") == [("我不知道。", "No sé.")]


def test_query_sets_collections_and_judgments_belong_together(tmp_path):
    data = exports(tmp_path)
    there, back = TatoebaPairs().query_sets(["de-el"])
    assert there == QuerySet("de-el", "de-el", "el-of-de-el") and back == QuerySet("el-de", "de-el", "de-of-de-el")
    assert len({query_set.collection for query_set in TatoebaPairs().query_sets(["it-ru", "ar-ru"])}) == 4
    for query_set, other in ((there, back), (back, there)):
        assert TatoebaPairs().query_collection(query_set) == other.collection
        found = {passage.id: passage.text for passage in TatoebaPairs().passages(data, query_set.collection)}
        assert list(found) == sorted(found, reverse=True)  # among equals the first is first
        asked = {query.id: query.text for query in TatoebaPairs().queries(data, query_set)}
        right = {
            asked[query]: found[next(iter(own))] for query, own in TatoebaPairs().judgments(data, query_set).items()
        }
        pairs = texts(data, "de-el")
        assert right == (dict(pairs) if query_set is there else {greek: german for german, greek in pairs})


def test_directions_doubles_and_dead_links_change_nothing(tmp_path, caplog):
    wanted = texts(exports(tmp_path / "a"), "de-el")
    data = exports(tmp_path / "b", SENTENCES[::-1], LINKS[::-1] * 4 + [(1, 999), (999, 5)])
    with caplog.at_level(logging.INFO):
        assert texts(data, "de-el") == wanted
    assert "116 links, 4 of them to no sentence" in caplog.text
    assert "de-el: 3 pairs of sentences, fewer than 1000" in caplog.text
    put(tmp_path / "b/links.csv", "".join(f"{second}\t{first}\n" for first, second in LINKS) + "1\t1\n")
    assert texts(data, "de-el") == wanted, "some links are there in one direction, some lead to themselves"


@pytest.mark.parametrize("block", [64, 1 << 24])
def test_mysql_s_backslashes_are_taken_away(tmp_path, monkeypatch, block):
    monkeypatch.setattr(_tatoeba_exports, "BLOCK", block)
    more = '21\tdeu\tEins\\\\zwei drei\\\tvier\\\nfünf\n22\tell\tένα "δύο" τρία\n'
    more += "23\tdeu\t\\N\n24\tdeu\tzwei drei vier\\\\\n"
    links = [(21, 22), (23, 2), (24, 3)]
    assert texts(exports(tmp_path, links=links, more=more), "de-el") == [
        ("Eins\\zwei drei\tvier\nfünf", 'ένα "δύο" τρία'),
        ("zwei drei vier\\", "Ποιος το έκανε;"),
    ]


def many(count: int, start: int = 1) -> tuple[list, list]:
    numbers = range(start, start + 2 * count, 2)
    told = [row for n in numbers for row in ((n, "deu", f"Satz {n} ist da"), (n + 1, "ell", f"Πρόταση {n} είναι εδώ"))]
    return told, [(n, n + 1) for n in numbers]


def test_a_thousand_are_drawn_by_their_ids_alone(tmp_path):
    told, links = many(1500)
    found = texts(exports(tmp_path / "a", told, links), "de-el")
    numbers = [int(german.split()[1]) for german, _ in found]
    assert len(found) == 1000 and numbers == sorted(numbers)
    assert 300 < sum(number < 1500 for number in numbers) < 700  # not the first thousand
    assert texts(exports(tmp_path / "b", told[::-1], links[::-1]), "de-el") == found
    later, more = many(30, start=5001)  # next week's exports
    kept = set(texts(exports(tmp_path / "c", told + later, links + more), "de-el")) & set(found)
    assert 960 <= len(kept) < 1000


def test_each_file_is_read_once_for_all_pairs(tmp_path, monkeypatch):
    data, read = exports(tmp_path), []
    whole = tatoeba_pairs.read_sentences
    monkeypatch.setattr(tatoeba_pairs, "read_sentences", lambda *args: read.append(args) or whole(*args))
    known = {"tatoeba_pairs": {"languages": ["de-el", "da-no"]}}
    monkeypatch.setattr(
        tatoeba_pairs.catalogue,
        "load",
        lambda name, load=tatoeba_pairs.catalogue.load: known if name == "benchmarks" else load(name),
    )
    for pair in ("de-el", "da-no", "de-el"):
        for query_set in TatoebaPairs().query_sets([pair]):
            list(TatoebaPairs().queries(data, query_set))
            TatoebaPairs().judgments(data, query_set)
    assert len(read) == 1
    put(tmp_path / "links.csv", "16\t17\n")  # other files are read anew
    with pytest.raises(SteleError, match="de-el: no linked sentences in deu and ell pass the filters"):
        texts(data, "de-el")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("sentences.csv", "1\tdeu\tEins zwei drei\n2\tell\tένα", r"sentences\.csv: the file is empty or cut"),
        ("sentences.csv", "", r"sentences\.csv: the file is empty or cut"),
        ("sentences.csv", "1\tdeu\tEins zwei\n2\tell\n", r"Expected 3 columns, got 2.*want id, language and text"),
        ("sentences.csv", "1\tdeu\tEins zwei\n1_0\tell\tένα\n", r"sentences\.csv: .*invalid value '1_0'"),
        ("sentences.csv", "1\tdeu\tEins\n0\tell\tένα\n", r"sentences\.csv: found the id 0, want one from 1 to"),
        ("sentences.csv", "1\tdeu\tEins zwei\n1\tell\tένα\n", r"sentences\.csv: sentence 1 appears twice"),
        (
            "sentences.csv",
            "1\tdeu\tEins zwei\n",
            r"of 28 links 28 lead to no sentence of sentences\.csv; one of the two",
        ),
        ("links.csv", "1\t2\n5\t", r"links\.csv: the file is empty or cut short"),
        ("links.csv", "", r"links\.csv: the file is empty or cut short"),
        ("links.csv", "1\t2\n5\n", r"links\.csv: not a readable export of Tatoeba .*Expected 2 columns"),
        ("links.csv", "1\t2\n5\tx\n", r"links\.csv: not a readable export of Tatoeba .*invalid value 'x'"),
        ("links.csv", "1\t2\n5\t\n", r"links\.csv: not a readable export of Tatoeba"),
        ("links.csv", "16\t17\n", r"links\.csv: de-el: no linked sentences in deu and ell pass the filters"),
    ],
)
def test_damaged_exports_and_a_pair_without_links_get_one_clear_error(tmp_path, name, content, said):
    data = exports(tmp_path)
    put(tmp_path / name, content)
    with pytest.raises(SteleError, match=said):
        TatoebaPairs().judgments(data, TatoebaPairs().query_sets(["de-el"])[0])


def test_text_that_is_not_utf_8_is_named_by_its_sentence(tmp_path):
    data = exports(tmp_path)
    content = (tmp_path / "sentences.csv").read_bytes()
    (tmp_path / "sentences.csv").write_bytes(content.replace("σπίτι μου".encode(), b"\xff\xfe"))
    with pytest.raises(SteleError, match=r"sentences\.csv, sentence 6: not UTF-8"):
        texts(data, "de-el")


def test_laser_s_own_pairs_are_left_out_by_none_of_the_rules(real_data):
    files = sorted((real_data / "tatoeba_v1").glob("*.eng"))
    english = [line for path in files for line in path.read_text().split("\n")[:-1]]
    other = [line for path in files for line in path.with_suffix("." + path.name[8:11]).read_text().split("\n")[:-1]]
    assert len(english) == len(other) == 88_877
    assert not [line for line in english + other if any(part in line for part in tatoeba_pairs.ADDRESSES)]
    assert min(len(line.split()) for line in english) == tatoeba_pairs.WORDS > min(len(line.split()) for line in other)
