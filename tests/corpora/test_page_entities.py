"""Wikidata's table of sitelinks: every escape, every wiki apart, damage and other tables refused."""

import gzip
import json
import random
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

from stele.command import cli
from stele.corpora import page_entities
from stele.corpora.dumps import sql_dump
from stele_world.writers.dump import items_per_site
from tests.sealed import write_sealed

END = b"/*!40000 ALTER TABLE `wb_items_per_site` ENABLE KEYS */;\n"
HEAD, TAIL = items_per_site([]).split(END)
INSERT = b"INSERT INTO `wb_items_per_site` VALUES "


def packed(tmp_path, sql: bytes, name: str = "wikidatawiki-1-wb_items_per_site.sql.gz", cut: int | None = None):
    folder = tmp_path / "dataset"
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(gzip.compress(sql)[:cut])
    return write_sealed(folder / "record.json", {"job": "sources dataset", "labels": ["generated data"]})


@pytest.fixture
def run(tmp_path, capsys):
    def command(dataset, *wikis):
        record = tmp_path / "out/record.json"
        argv = ["--dataset", str(dataset), "--wikis", *wikis, "--output", str(record)]
        code = cli.main(["corpora", "page_entities", *argv])
        read = json.loads(record.read_text()) if record.exists() else None
        tables = {path.stem: pq.read_table(path).to_pylist() for path in record.parent.glob("*.parquet")}
        rows = {wiki: [(row["title"], row["entity"]) for row in table] for wiki, table in tables.items()}
        return SimpleNamespace(code=code, error=capsys.readouterr().err, record=read, rows=rows)

    return command


def test_page_entities_of_each_wiki_stand_apart_in_the_table_s_order(tmp_path, run):
    rows = [(5582, "enwiki", "Vincent van Gogh"), (5582, "zhwiki", "文森特·梵高"), (1, "enwiki", "Category:Universe"),
            (2, "enwikibooks", "Earth"), (4_294_967_295, "be_x_oldwiki", "Да"), (3, "wiki", "x")]  # fmt: skip
    done = run(packed(tmp_path, items_per_site(rows)), "enwiki", "zhwiki", "be_x_oldwiki", "tlhwiki")
    assert done.rows == {
        "enwiki": [("Vincent van Gogh", 5582), ("Category:Universe", 1)],
        "zhwiki": [("文森特·梵高", 5582)],
        "be_x_oldwiki": [("Да", 4_294_967_295)],
        "tlhwiki": [],
    }
    assert done.record["rows"] == 6 and done.record["labels"] == ["generated data"]
    assert done.record["wikis"] == {"enwiki": 2, "zhwiki": 1, "be_x_oldwiki": 1, "tlhwiki": 0}
    assert "no item has a page of tlhwiki" in done.error


LITERALS = {  # as written -> as meant
    rb"O\'Neil": "O'Neil",
    rb"\"x\"": '"x"',
    rb"AC\\DC": "AC\\DC",
    rb"ends with one \\": "ends with one \\",
    rb"\\\'\\\\\'": "\\'\\\\'",
    rb"\\n is no newline": "\\n is no newline",
    rb"a\nb\tc\r\0\Z": "a\nb\tc\r\0\x1a",
    rb"a),(9,9,\'enwiki\',\'b": "a),(9,9,'enwiki','b",
    b"a),(9,9,": "a),(9,9,",
    b");": ");",
    b",": ",",
    b"": "",
    b"with_underscore": "with underscore",
    "наш 東京 😀".encode(): "наш 東京 😀",
}


@pytest.mark.parametrize("prefix", [b"", b"_binary ", b"_utf8mb4"])
def test_literals_are_read_as_the_server_would(tmp_path, run, prefix):
    rows = [b"(%d,%d,%s'enwiki',%s'%s')" % (n, n, prefix, prefix, literal) for n, literal in enumerate(LITERALS, 1)]
    done = run(packed(tmp_path, HEAD + INSERT + b",".join(rows) + b";\n" + END + TAIL), "enwiki")
    assert done.rows["enwiki"] == [(meant, n) for n, meant in enumerate(LITERALS.values(), 1)]


def test_strings_in_double_quotes_are_read_and_other_values_refused(tmp_path, run):
    rows = b'(1,1,"enwiki","A ""b"" \\"c\\""),(2,2,"frwiki","")'
    assert run(packed(tmp_path, HEAD + INSERT + rows + b";\n"), "enwiki").rows["enwiki"] == [('A "b" "c"', 1)]
    done = run(packed(tmp_path, HEAD + INSERT + b"(1,1,DATABASE,'A');\n"), "enwiki")
    assert "found b'DATABASE', want a string, a number or NULL" in done.error


def test_titles_that_are_no_text_are_counted(tmp_path, run):
    cut = "ж".encode()[:1]
    rows = b"(1,1,'enwiki','ok'),(2,2,'enwiki','%s'),(3,3,'enwiki','fine'),(4,4,'frwiki','%s');\n" % (cut, cut)
    done = run(packed(tmp_path, HEAD + INSERT + rows), "enwiki")
    assert done.rows["enwiki"] == [("ok", 1), ("fine", 3)] and done.record["dropped"] == {"not_utf8": 1}


def test_random_tables_come_back_wherever_a_read_ends(tmp_path, monkeypatch):
    rng, wikis = random.Random(7), ["enwiki", "frwiki", "dewiki"]
    letters = "ab'\"\\,();\n 漢ж\t_0"
    rows = [
        (rng.randrange(1, 2**32), rng.choice([*wikis, "svwiki"]), "".join(rng.choices(letters, k=rng.randint(0, 12))))
        for _ in range(5000)
    ]
    monkeypatch.setattr("stele_world.writers.dump.ROWS_OF_AN_INSERT", 37)
    packed(tmp_path, items_per_site(rows))
    path = tmp_path / "dataset/wikidatawiki-1-wb_items_per_site.sql.gz"
    for pending, chunk in ((1, 47), (400, 1000), (1 << 20, sql_dump.CHUNK)):
        monkeypatch.setattr(sql_dump, "CHUNK", chunk)
        read, kept, dropped = page_entities.write_entities(path, wikis, tmp_path, pending=pending)
        assert (read, sum(kept.values()), dropped) == (5000, sum(site in wikis for _, site, _ in rows), {})
        for wiki in wikis:
            table = pq.read_table(tmp_path / f"{wiki}.parquet")
            actual = list(zip(table["entity"].to_pylist(), table["title"].to_pylist(), strict=True))
            assert actual == [(item, title.replace("_", " ")) for item, site, title in rows if site == wiki]


def written(rows: bytes, columns: bytes = b"") -> bytes:
    return HEAD + INSERT.replace(b" VALUES ", b" " + columns + b"VALUES ") + rows + b";\n" + END + TAIL


LAYOUTS = {
    "rows in one line": written(rb"(1,101,'enwiki','One'),(2,102,'frwiki','L\'un'),(3,103,'enwiki','Two),(9,9')"),
    "a row a line": written(b"\n(1,101,'enwiki','One'),\n(2,102,'frwiki','L\\'un'),\n(3,103,'enwiki','Two),(9,9')"),
    "white space": written(
        b"( 1, 101 ,'enwiki' , 'One' ) ,\r\n\t(2,102,'frwiki','L''un') , (3,103,'enwiki','Two),(9,9')\n"
    ),
    "named columns": written(
        b"('One','x',101,'enwiki'),('L''un','y;\n',102,'frwiki'),('Two),(9,9',');\n',103,'enwiki')",
        b"(`ips_site_page`, extra, `ips_item_id`,\n`ips_site_id`) ",
    ),
    "other literals": written(
        b"(NULL,'101',0x656E77696B69,_binary 'One'),(-2,102,x'667277696b69','L' '''un'),"
        b"(3,103,'enwiki',0x54776F292C28392C39),(4,104,NULL,'x')"
    ),
    "a statement a row": HEAD
    + b"".join(
        b"insert ignore into wiki.wb_items_per_site values %s ;" % row
        for row in (b"(1,101,'enwiki','One')", b"(2,102,'frwiki','L\\'un')", b"(3,103,'enwiki','Two),(9,9')")
    ),
    "comments": b"/*M!999999\\- enable the sandbox mode */ \n-- it's a dump;\n# or (not\n"
    + written(b"(1,101,'enwiki','One'),(2,102,'frwiki','L\\'un'),(3,103,'enwiki','Two),(9,9')"),
}


@pytest.mark.parametrize("chunk", [64, 1 << 20])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_dump_is_read_by_grammar_whatever_its_layout(tmp_path, run, monkeypatch, layout, chunk):
    monkeypatch.setattr(sql_dump, "CHUNK", chunk)
    done = run(packed(tmp_path, LAYOUTS[layout]), "enwiki", "frwiki")
    assert done.rows == {"enwiki": [("One", 101), ("Two),(9,9", 103)], "frwiki": [("L'un", 102)]}, done.error


def other_order() -> bytes:
    columns = "  `ips_site_id` varbinary(32) NOT NULL,\n  `ips_item_id` int(10) unsigned NOT NULL,\n"
    usual = "  `ips_item_id` int(10) unsigned NOT NULL,\n  `ips_site_id` varbinary(32) NOT NULL,\n"
    return HEAD.replace(usual.encode(), columns.encode())


GOOD = INSERT + b"(1,1,'enwiki','a');\n"
WRONG = {
    "found a dump of the table page, want wb_items_per_site": HEAD.replace(b"wb_items_per_site", b"page") + GOOD,
    "row 1: found b\"(1,1,'enwiki','a')\", want a number as ips_item_id": other_order() + GOOD,
    "columns ips_item_id, ips_site_id, want": HEAD + GOOD.replace(b" VALUES", b" (ips_item_id, ips_site_id) VALUES"),
    "ends before its UNLOCK TABLES": HEAD + b"LOCK TABLES `wb_items_per_site` WRITE;\n" + GOOD,
    "ends within a statement": HEAD + GOOD + b"LOCK TABLES `wb_items",
    "row 2: found b\"(2,2,'enwiki','b')\"": HEAD + INSERT + b"(1,1,'x','a'),\n(2,2,'enwiki','b') (3,3,'x','c');\n",
    "INSERT 1, row 1: found NULL": HEAD + INSERT + b"(1,1,'enwiki',NULL);\n",
    "found no CREATE TABLE before its rows": GOOD,
    "no CREATE TABLE in it": b"<mediawiki>\n",
    "the table has no rows": HEAD + END + TAIL,
    "want rows of wb_items_per_site": HEAD + b"INSERT INTO `page` VALUES (1,1,'enwiki','a');\n",
    "INSERT 2: does not end with a whole row": HEAD + GOOD + INSERT + b"(2,2,'enwiki','b'),(3,3,'enw",
    "INSERT 1: does not end": HEAD + INSERT + b"(2,2,'enwiki','its);\n",
    "INSERT 1, row 2: found b\"(x,'enwiki','b')\"": HEAD + INSERT + b"(2,2,'enwiki','a'),(x,'enwiki','b');\n",
    "row 1: found b\"(1,'enwiki','a')\"": HEAD + INSERT + b"(1,'enwiki','a');\n",
    "row 1: found b\"(1,1,'enwiki','a',0)\"": HEAD + INSERT + b"(1,1,'enwiki','a',0),(1,1,'enwiki','a');\n",
    "row 1: found b\"(1,1,'en','wiki'": HEAD + INSERT + b"(1,1,'en','wiki','c','d');\n",
}


@pytest.mark.parametrize("message", WRONG)
def test_an_sql_dump_of_another_table_or_shape_is_refused(tmp_path, run, message):
    done = run(packed(tmp_path, WRONG[message]), "enwiki")
    assert done.code == 1 and message in done.error and "wb_items_per_site.sql.gz" in done.error
    assert not done.rows and sorted(path.name for path in tmp_path.iterdir()) == ["dataset"]


def test_damaged_and_missing_files_are_refused(tmp_path, run):
    sql = items_per_site((n, "enwiki", f"Title {random.Random(n).random()}") for n in range(1, 3000))
    record = packed(tmp_path, sql, cut=-4000)
    done = run(record, "enwiki")
    assert done.code == 1 and "cut short or damaged (Compressed file ended before" in done.error
    assert "; fetch it again" in done.error and not (tmp_path / "out").exists()
    record.with_name("wikidatawiki-1-wb_items_per_site.sql.gz").unlink()
    assert "found none (files: record.json)" in run(record, "enwiki").error


def test_a_line_without_end_is_refused_in_bounded_memory(tmp_path, run, monkeypatch):
    monkeypatch.setattr(sql_dump, "LONGEST", 1 << 20)
    monkeypatch.setattr(sql_dump, "CHUNK", 1 << 18)
    done = run(packed(tmp_path, HEAD + INSERT + b"(1,1,'enwiki','" + b"a" * (3 << 20)), "enwiki")
    assert done.code == 1 and "a row of more than 1 MB: not a mysqldump" in done.error


def test_names_of_wikis_are_no_paths(tmp_path, run):
    done = run(packed(tmp_path, HEAD + GOOD), "../enwiki")
    assert done.code == 1 and "not the name of a wiki's database" in done.error
