"""`pairs pair_statistics`: the table holds what the records say; the map has a square for each part."""

import csv
import re

import pytest
from knowledge_texts import random_wiki

from stele.errors import SteleError
from stele.pairs import pair_statistics
from stele.pairs.mining.knowledge import SIZE, pair_hash, shared, sketch
from tests.jobs import job

WIKIS = {code: random_wiki(code, 40, n, entities=60) for n, code in enumerate(("ar", "en", "sw"))}


@pytest.fixture
def made(knowledge_pairs):
    """Records by (recipe, part): ILK of three languages, CLK of two of their three pairs, CLHED of one."""
    actual = {("ilk", code): knowledge_pairs({code: wiki}, method="ilk") for code, wiki in WIKIS.items()}
    for a, b in (("ar", "en"), ("en", "sw")):
        pair = {a: WIKIS[a], b: WIKIS[b]}
        actual["clk", f"{a}-{b}"] = knowledge_pairs(pair, method="clk")
        actual["clk_one", f"{a}-{b}"] = knowledge_pairs(pair, method="clk", pairing="one", passage_words=10)
    actual["clhed", "ar-en"] = knowledge_pairs(
        {code: WIKIS[code] for code in ("ar", "en")}, method="clhed", max_pairs=5
    )
    return actual


def statistics(folder, given):
    output = folder / "statistics" / "knowledge_pairs.csv"
    pair_statistics.run(job(pair_statistics, ["--pairs", *given, "--output", str(output)]))
    return output


def common(one, other):
    """How many pairs two runs share, whichever side asks."""
    return len(
        set.intersection(*({frozenset((row["query"], row["passage"])) for row in run.rows} for run in (one, other)))
    )


def test_overlaps_of_many_pairs_are_told_from_a_part_of_them():
    one = [pair_hash(f"query{n}", f"passage{n}") for n in range(24_000)]
    other = [pair_hash(f"passage{n}", f"query{n}") for n in range(12_000, 40_000)]
    sketches = [sketch(one), sketch(other[20_000:], sketch(other[:20_000]))]  # whole, and a block after another
    assert [len(hashes) for hashes in sketches] == [SIZE, SIZE]
    assert shared(sketches, [len(one), len(other)]) == pytest.approx(12_000, rel=0.05)
    assert shared([sketch(one[:90]), sketch(one[60:70])], [90, 10]) == 10


def test_table_and_map(tmp_path, made):
    output = statistics(tmp_path, [f"{recipe}={pairs.path}" for (recipe, _), pairs in made.items()])
    with open(output, encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    languages = {row["part"]: row for row in rows if not row["recipe"]}
    for code in WIKIS:
        record = made["ilk", code].record
        assert {name: int(languages[code][name]) for name in record["knowledge"][code]} == record["knowledge"][code]
    parts = {(row["recipe"], row["part"]): row for row in rows if row["recipe"]}
    assert parts.keys() == made.keys()
    for key, row in parts.items():
        record = made[key].record
        assert (int(row["candidates"]), int(row["pairs"])) == (record["candidates"], record["pairs"])
        for other in {name.removeprefix("shared_with_") for name in row if name.startswith("shared_with_")}:
            there = (other, key[1]) in made and other != key[0]
            assert row[f"shared_with_{other}"] == (str(common(made[key], made[other, key[1]])) if there else "")
        dropped = {name.removeprefix("dropped_"): int(n) for name, n in row.items() if name.startswith("dropped_")}
        assert {reason: n for reason, n in dropped.items() if n} == record["dropped"]

    text = output.with_suffix(".md").read_text()
    assert "generated data" in text and [*re.findall("^## (.*)", text, re.M)] == [
        "Languages",
        "clhed",
        "clk",
        "clk_one",
        "ilk",
    ]
    total = sum(made["clk", part].record["pairs"] for part in ("ar-en", "en-sw"))
    assert re.search(rf"^\| all +\|.* {total:,} \|", text, re.M)

    drawn = re.findall(r"<text[^>]*>\s*([^<]+?)\s*</text>", output.with_suffix(".svg").read_text())
    for key in (*(("ilk", code) for code in WIKIS), ("clk", "ar-en"), ("clk", "en-sw")):
        assert str(made[key].record["pairs"]) in drawn or made[key].record["pairs"] > 999
    assert {"ar", "en", "sw"} < set(drawn) and "pale grey: none; white: not mined" in drawn


def test_pair_statistics_of_the_same_records_have_the_same_bytes(tmp_path, made):
    given = [f"{recipe}={pairs.path}" for (recipe, _), pairs in made.items()]
    one, other = (statistics(tmp_path / name, given[::step]) for name, step in (("a", 1), ("b", -1)))
    for suffix in (".csv", ".md", ".svg"):
        assert one.with_suffix(suffix).read_bytes() == other.with_suffix(suffix).read_bytes()


def test_pair_statistics_of_one_language_alone(tmp_path, made):
    output = statistics(tmp_path, [f"ilk={made['ilk', 'en'].path}"])
    assert len(output.read_text().splitlines()) == 3 and output.with_suffix(".svg").stat().st_size > 1000


@pytest.mark.parametrize("name", ["knowledge_pairs.csv", "knowledge_pairs.md", "knowledge_pairs.svg"])
def test_a_page_and_a_picture_of_the_users_stay_and_our_own_are_replaced(tmp_path, made, name):
    given = [f"ilk={made['ilk', 'en'].path}"]
    output = statistics(tmp_path, given)
    output.unlink()
    statistics(tmp_path, given)
    output.unlink()
    output.with_suffix(".md").unlink()
    output.with_name(name).write_text("# My thesis\n\nPairs mined from the knowledge bases\n")
    with pytest.raises(SteleError, match=f"{name}: exists, and (is not an output of this|Stele did not write)"):
        statistics(tmp_path, given)
    assert output.with_name(name).read_text().startswith("# My thesis") and output.exists() == (name == output.name)


def test_a_record_of_something_else_than_pairs_is_refused(tmp_path, made):
    record = made["ilk", "en"].path
    base = record.parents[1] / "base-en" / "record.json"
    for given, words in (
        ([f"ilk={record}", f"ilk={record}"], "ilk of en is given twice"),
        ([f"ilk={base}"], "found a record of 'made'"),
        ([str(record)], "want RECIPE=RECORD"),
    ):
        with pytest.raises(SteleError, match=words):
            statistics(tmp_path, given)
    assert not (tmp_path / "statistics").exists()
