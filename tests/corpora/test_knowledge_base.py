"""Titles, redirects, entities and links of a hand-worked wiki; the same bytes however the work is done."""

import pytest
from wiki_links import knowledge_base, table_of_items

from stele.command import cli
from stele.corpora import knowledge_base as command
from stele.files.atomic import MARK
from stele.files.digests import files_digest
from stele_world.writers.dump import items_per_site

# title, wikitext or redirect; pages are numbered 0 to 6 in this order
PAGES = [
    ("Rome", "In [[Italy]], on the [[tiber]]. See [[Roma]], [[Rome]] and [[#Notes|below]]. Ask [[Nobody]]."),
    ("Italy", "Its capital is [[Eternal City|Rome]]. It has [[École_%C3%A9lite]] and [[:Tiber]]."),
    ("Roma", None, "Eternal City"),  # two steps to Rome
    ("Eternal City", None, "Rome#Name"),
    ("Tiber", "A river of [[italy#Rivers]], [[Italy]] and [[ITALIA]]. By [[Tiber (river)|itself]]."),
    ("ITALIA", None, "Italy"),
    ("Tiber (river)", None, "Tiber"),
    ("École élite", "A school of [[ Loop A ]], [[Hole]] and [[Self]] in [[&Eacute;cole e\u0301lite]]. No [[Loop A]]."),
    ("Loop A", None, "Loop B"),
    ("Loop B", None, "Loop A"),
    ("Self", None, "self"),
    ("Hole", None, "Deeper hole"),
    ("Deeper hole", None, "Nothing at all"),
    ("Rome", "A second page of this name about [[Rome]] and [[Italy]]."),
    ("Italy", None, "Tiber"),  # a page has its title
    ("Roma", None, "Tiber"),  # repeats a redirect
    ("Star Wars: X", "Of [[star Wars: X]], [[Italy]] by [[Talk:Italy]], [[de:Italien]] and [[:fr:Italie]]."),
    ("Alone", "Nothing links here."),
]
ITEMS = [
    (220, "enwiki", "Rome"), (220, "frwiki", "Rome"), (38, "enwiki", "ITALIA"), (12, "enwiki", "Tiber (river)"),
    (9, "enwiki", "Loop A"), (7, "enwiki", "Roma"), (13626, "dewiki", "Tiber"), (5, "enwiki", "Category:Italy"),
    (11, "frwiki", "Alone"), (99, "enwiki", "Star Wars: X"), (98, "enwiki", "Hole"),
]  # fmt: skip


@pytest.fixture
def dump(wiki):
    for title, text, *redirect in PAGES:
        wiki.add(title, text or f"#REDIRECT [[{redirect[0]}]]", redirect=redirect[0] if redirect else "")
    return wiki.multistream()


@pytest.fixture
def base(tmp_path, dump):
    return knowledge_base(tmp_path, dump, table_of_items(tmp_path / "items", items_per_site(ITEMS)))


def test_pages_and_their_entities(base):
    assert base.titles == ["Rome", "Italy", "Tiber", "École élite", "Rome", "Star Wars: X", "Alone"]
    assert [page["doc_id"] for page in base.pages] == ["1", "2", "5", "8", "14", "17", "18"]
    assert [page["sentences"] for page in base.pages] == [3, 2, 2, 2, 1, 1, 1]
    # Rome has its own item and, by the redirect Roma, another; Italy and Tiber have theirs by redirects; the
    # second Rome and what only other wikis or no page at all are linked to have none
    assert [page["entity"] for page in base.pages] == [220, 38, 12, None, None, 99, None]
    record = base.record
    assert (record["pages"], record["repeated_titles"], record["pages_with_entity"]) == (7, 1, 4)
    assert (record["entities_by_redirect"], record["pages_with_several_entities"]) == (2, 1)
    assert record["labels"] == ["generated data"]


def test_links_lead_through_redirects(base):
    assert base.rows == [
        (0, 0, 1), (0, 0, 2),  # Italy; the first letter
        (1, 0, 0), (1, 1, 2), (1, 1, 3),  # a redirect to a section; a colon; underscore and percent
        (2, 0, 1),  # three times: a fragment, plain, a redirect
        (4, 0, 1),
        (5, 0, 1),
    ]  # fmt: skip
    assert base.record["links"] == {
        "found": 21,
        "direct": 12,
        "redirected": 4,
        "unresolved": {"missing_page": 1, "redirect_to_nothing": 1, "redirect_loop": 3},
        "to_itself": 6,
        "repeated": 2,
        "kept": 8,
    }


def test_redirects_are_counted_by_where_they_lead(base):
    want = {
        "redirects": 11, "redirects_with_title_of_a_page": 1, "repeated_redirects": 1, "redirects_to_nothing": 2,
        "redirects_in_a_loop": 3,
    }  # fmt: skip
    assert {key: base.record[key] for key in want} == want


@pytest.mark.parametrize("shards, memory, threads", [(1, 864, 1), (1, 2000, 2), (3, 1000, 2)])
def test_the_same_bytes_however_it_is_made(tmp_path, dump, base, shards, memory, threads):
    items = table_of_items(tmp_path / "again/items", items_per_site(ITEMS))
    again = knowledge_base(tmp_path / "again", dump, items, shards=shards, memory=memory, threads=threads)
    assert again.record["content"] == base.record["content"] == files_digest(base.path.parent)
    assert {path.name for path in again.path.parent.iterdir()} == {
        MARK,
        "links.parquet",
        "pages.parquet",
        "record.json",
    }


def test_a_wiki_without_items_has_pages_without_entities(tmp_path, dump, capsys):
    items = table_of_items(tmp_path / "items", items_per_site([(1, "frwiki", "Rome")]))
    base = knowledge_base(tmp_path, dump, items)
    message = capsys.readouterr().err
    assert set(base.entities.values()) == {None} and len(base.links) == 8
    assert "no item has a page of enwiki" in message and "none of 7 pages has an entity" in message


def test_a_wiki_without_articles(tmp_path, wiki):
    wiki.add("Talk:A", "talk", namespace=1)
    items = table_of_items(tmp_path / "items", items_per_site(ITEMS))
    base = knowledge_base(tmp_path, wiki.write(), items)
    assert base.pages == base.links == [] and base.record["links"]["found"] == 0


def refused(capsys, folder, *changes, **given) -> str:
    flags = {
        "--language": ["en"], "--wiki": ["enwiki"], "--documents": [folder / "documents/1/record.json"],
        "--page-entities": [folder / "page_entities/record.json"], "--memory-mb": [900], "--threads": [1],
        "--output": [folder / "other/record.json"],
    }  # fmt: skip
    flags |= {f"--{key.replace('_', '-')}": value for key, value in given.items()}
    capsys.readouterr()
    argv = [str(word) for flag, values in flags.items() for word in (flag, *values)]
    assert cli.main(["corpora", "knowledge_base", *argv]) == 1
    assert not (folder / "other").exists() and not list(folder.glob(".other*"))
    return capsys.readouterr().err


def test_bad_input_is_named_and_leaves_nothing(tmp_path, base, capsys):
    assert "unknown wiki 'frwiki'; did you mean 'enwiki'?" in refused(capsys, tmp_path, wiki=["frwiki"])
    assert "found language 'en', want 'fr'" in refused(capsys, tmp_path, language=["fr"])
    one = tmp_path / "documents/1/record.json"
    assert "found shard '1/1', want '1/2'" in refused(capsys, tmp_path, documents=[one, one])
    assert "--memory-mb 800: want at least 864" in refused(capsys, tmp_path, memory_mb=[800])
    assert "threads 0: want at least 1" in refused(capsys, tmp_path, threads=[0])
    for path in (tmp_path / "page_entities/enwiki.parquet", one.parent / "shard-00000.parquet"):
        whole = path.read_bytes()
        path.write_bytes(whole[:-9])
        message = refused(capsys, tmp_path)
        assert f"{path}: " in message and f"snakemake --force {path.parent / 'record.json'}" in message
        path.write_bytes(whole)
    (one.parent / "redirects.parquet").unlink()
    assert "redirects.parquet: " in refused(capsys, tmp_path)
    assert (base.path.parent / "links.parquet").exists()


def test_a_full_disk_is_told(tmp_path, base, monkeypatch, capsys):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(command, "write_rows", full)
    assert "the disk is full, or a quota" in refused(capsys, tmp_path)


def test_first_letters_follow_the_wiki(tmp_path, wiki):
    wiki.header = wiki.header.replace("first-letter", "case-sensitive")
    wiki.add("mi", "To [[prami]], not [[Prami]], and [[sutra]].")
    wiki.add("prami", "Of [[Mi]] or [[mi]].")
    wiki.add("Mi", "Another.")
    wiki.add("sutra", "#REDIRECT [[Mi]]", redirect="Mi")
    items = table_of_items(tmp_path / "items", items_per_site([(1, "enwiki", "mi"), (2, "enwiki", "Mi")]))
    base = knowledge_base(tmp_path, wiki.write(), items)
    assert base.links == [("mi", 0, "prami"), ("mi", 0, "Mi"), ("prami", 0, "mi"), ("prami", 0, "Mi")]
    assert base.entities == {"mi": 1, "prami": None, "Mi": 2}
    assert base.record["links"]["unresolved"]["missing_page"] == 1
