"""Counting what is in files: hand-made ones, compressed ones and broken ones."""

import bz2
import gzip
import inspect
import json
import lzma

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stele import catalogue
from stele.catalogue.schema.datasets import Dataset
from stele.errors import SteleError
from stele.sources.download import counts


@pytest.mark.parametrize(("text", "lines"), [(b"", 0), (b"a", 1), (b"a\n", 1), (b"a\n\nb", 3), (b"\n\n", 2)])
@pytest.mark.parametrize(
    ("suffix", "pack"), [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_lines_with_or_without_a_last_newline_in_any_packing(tmp_path, text, lines, suffix, pack):
    (path := tmp_path / f"f{suffix}").write_bytes(pack(text))
    assert counts.lines(path) == lines
    assert counts.rows(path) == max(0, lines - 1)
    assert counts.filled_lines(path) == len([line for line in text.split(b"\n") if line])


def test_squad_and_mewsli(tmp_path):
    paragraphs = [{"qas": [1, 2], "sentences": ["a", "b", "c"]}, {"qas": [3], "sentences": ["d"]}]
    (path := tmp_path / "s.json").write_text(json.dumps({"data": [{"paragraphs": paragraphs}, {"paragraphs": []}]}))
    assert counts.squad_questions(path) == 3 and counts.squad_sentences(path) == 4
    rows = [{"context": {"language": "ar"}, "mentions": [1, 2]}, {"context": {"language": "ar"}, "mentions": [3]}]
    rows.append({"context": {"language": "fa"}, "mentions": [4]})
    (news := tmp_path / "n.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert counts.mentions(news) == {"ar": 3, "fa": 1}


def test_texts_that_were_put_back_are_those_of_the_release(tmp_path):
    digest = "7ba02aa751ab6d5c67773e0bf923da9e"  # of the text in UTF-8, its no-break space included

    def article(name: str, text: str, *digests: str) -> dict:
        mentions = [{"metadata": {"text_md5": digest}} for digest in digests]
        return {"context": {"document_id": name, "language": "de", "text": text}, "mentions": mentions}

    def count(*articles: dict) -> dict[str, int]:
        (path := tmp_path / "wikinews_mentions-test.jsonl").write_text("\n".join(map(json.dumps, articles)))
        return counts.mentions_in_text(path)

    good = article("de-1", "Titel\n\n\xa0\n\nText.", digest, digest)
    other = article("de-2", "Titel\n\n \n\nText.", digest)
    assert count(good) == {"de": 2}
    with pytest.raises(SteleError, match=r"test\.jsonl: 2 texts differ from the release.*de-2, de-3"):
        count(good, other, article("de-3", "", digest))
    with pytest.raises(SteleError, match=r"lacks context\.text.*get-mewsli-x\.sh"):
        count(good, {"context": {"language": "de"}, "mentions": [{}]})


def test_parallel_files_must_pair_up(tmp_path):
    (one := tmp_path / "x").write_text("a\nb\n")
    (two := tmp_path / "y").write_text("c\nd")
    assert counts.parallel_lines(one, two) == 2
    two.write_text("c\n")
    with pytest.raises(SteleError, match="should pair up"):
        counts.parallel_lines(one, two)


def test_records_of_json_lines_and_of_parquet_together(tmp_path):
    (one := tmp_path / "a.jsonl").write_text('{"a": 1}\n\n{"a": 2}\n')
    pq.write_table(pa.table({"a": [1, 2, 3]}), two := tmp_path / "b.parquet")
    assert counts.records(one, two) == 5 and counts.records(two) == 3
    two.write_bytes(two.read_bytes()[:40])
    with pytest.raises(SteleError, match=r"b.parquet: not a readable Parquet file"):
        counts.records(two)


def test_the_catalogue_counts_several_files_by_ways_that_take_so_many(tmp_path):
    for number in (1, 2, 3):
        (tmp_path / f"{number}.txt").write_bytes(b"1 0 d 3\n\n" * number)
    assert counts.filled_lines(*sorted(tmp_path.glob("*.txt"))) == 6
    for name, entry in catalogue.entries(Dataset).items():
        for what, count in entry.counts.items():
            of = count.files or [count.file]
            try:
                inspect.signature(counts.KINDS.get(count.count)).bind(*of)
            except TypeError as error:
                pytest.fail(f"{name}: {what} of {len(of)} files by {count.count}: {error}")
