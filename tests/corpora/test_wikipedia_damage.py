"""What a shard does with odd pages and damaged dumps: counted rejects, clear errors, nothing half-written."""

import bz2
import json
import random
import subprocess
import sys
from contextlib import ExitStack, nullcontext

import pytest

from stele.command import cli
from stele.corpora.dumps.dump_files import find_dump
from stele.corpora.wikipedia import Aside
from stele.errors import SteleError
from stele.files.digests import files_digest


@pytest.mark.parametrize(
    ("documents", "rejects", "fails"),
    [(0, 10, False), (0, 11, True), (10_988, 11, True), (10_989, 11, False), (998, 2, False)],
)
def test_more_than_ten_and_more_than_one_in_a_thousand_fail(tmp_path, documents, rejects, fails):
    with ExitStack() as stack:
        aside = Aside(tmp_path, stack)
        for number in range(rejects):
            aside.reject(f"Page {number}", ValueError("odd"))
    with pytest.raises(SteleError, match=f"{rejects} pages could not.*Page 0") if fails else nullcontext():
        aside.check(documents, tmp_path / "dump.xml")
    assert len((tmp_path / "rejects.jsonl").read_text().splitlines()) == rejects


def test_a_page_without_a_title_is_a_reject(wiki, run):
    wiki.add("A", "Text.")
    wiki.add("", "Text.")
    done = run("wikipedia", wiki.write())
    assert (done.record["documents"], done.record["rejects"]) == (1, 1)
    assert "page 2 has no title" in (done.folder / "rejects.jsonl").read_text()


def test_titles_that_come_twice_are_counted_and_kept(wiki, run):
    """Which of them a link means is the knowledge base's business: another shard may have a third."""
    for title in ("A", "B", "A", "a", "C"):
        wiki.add(title, f"Text of {title}.")
    wiki.add("B", "#REDIRECT [[A]]", redirect="A")
    done = run("wikipedia", wiki.write())
    assert (done.record["documents"], done.record["duplicate_titles"]) == (5, 3)


# runs the command and prints the most memory it had, in kB; what getrusage says holds that of the process before it
PEAK = """
import sys
from stele.command import cli
code = cli.main(sys.argv[1:])
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
sys.exit(code)
"""


def test_memory_does_not_grow_with_the_dump(wiki, tmp_path):
    """The same articles, redirects and other pages 4 and 40 times, but for their ids: 3 and 34 MB of XML."""
    letters = random.Random(1)
    for i in range(60):
        wiki.add(f"Page {i}", "Some words and a [[link]] of it. " * 40)
        wiki.add(f"Old {i}", "#REDIRECT", redirect=f"Page {i}")
        wiki.add(f"Template:{i}", letters.randbytes(6000).hex(), namespace=10)
    xml = "".join(xml for _, xml in wiki.pages)
    packed = [bz2.compress(xml.replace("<id>", f"<id>{time}").encode()) for time in range(1000, 1040)]
    peaks = []
    for times in (4, 40):
        blocks = [bz2.compress(wiki.header.encode()), *packed[:times], bz2.compress(b"</mediawiki>\n")]
        record = wiki.write("xwiki-1-pages-articles.xml.bz2", b"".join(blocks))
        output = tmp_path / str(times) / "record.json"
        command = ["corpora", "wikipedia", "--language", "en", "--dataset", record, "--output", output]
        done = subprocess.run([sys.executable, "-c", PEAK, *map(str, command)], check=True, capture_output=True)
        peaks.append(int(done.stdout) / 1024)
        written = json.loads(output.read_text())
        assert (written["documents"], written["redirects"]) == (60 * times, 60 * times)
    assert peaks[1] - peaks[0] < 30 and peaks[1] < 500


@pytest.mark.parametrize("damage", ["cut", "flip", "index", "siteinfo"])
def test_damage_leaves_nothing_new_and_what_was_there_before(wiki, run, tmp_path, damage):
    for i in range(200):
        wiki.add(f"Page {i}", f"Text {i}. " * 50)
    before = run("wikipedia", wiki.multistream(pages_per_block=20), "--shard", "2/2")
    kept = files_digest(before.folder, skip=frozenset())
    ((dump, index, _),) = find_dump(wiki.folder)
    data = dump.read_bytes()
    if damage == "cut":
        dump.write_bytes(data[:-30])
    elif damage == "flip":
        dump.write_bytes(data[:-2000] + bytes([data[-2000] ^ 64]) + data[-1999:])
    elif damage == "index":
        index.write_bytes(bz2.compress(b"1:1:Page 0\n"))
    else:
        (wiki.folder / "xwiki-1-siteinfo-namespaces.json.gz").write_bytes(b"odd")
    for output in ("out", "new"):
        done = run("wikipedia", wiki.record(), "--shard", "2/2", output=output)
        assert done.code == 1 and "Traceback" not in done.error and "xwiki-1-" in done.error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dataset", "out"]
    assert files_digest(before.folder, skip=frozenset()) == kept


@pytest.mark.parametrize("shard", ["1/1", "1/3"])
@pytest.mark.parametrize("packing", ["plain", "multistream"])
def test_a_dump_without_pages_is_refused(wiki, run, packing, shard):
    record = wiki.multistream() if packing == "multistream" else wiki.write()
    done = run("wikipedia", record, "--shard", shard)
    assert done.code == 1 and "pages-articles" in done.error and "<siteinfo> but no page" in done.error
    assert done.record is None


def test_pages_of_one_id_are_refused(wiki, run):
    wiki.add("A", "Text.")
    wiki.add("B", "Text.")
    wiki.add("Old", "#REDIRECT", redirect="A")
    xml = wiki.xml()
    same = run("wikipedia", wiki.write(data=xml.replace("<id>2</id>", "<id>1</id>").encode()))
    assert same.code == 1 and "1 pages have the id of an earlier page" in same.error and same.record is None
    redirect = xml.replace("<id>3</id>", "<id>1</id>")  # no document: nothing is known by its id
    assert run("wikipedia", wiki.write(data=redirect.encode())).record["documents"] == 2


@pytest.mark.parametrize("command", ["wikipedia", "cc100", "page_entities"])
def test_a_mistyped_record_is_noticed_before_the_work(tmp_path, capsys, monkeypatch, command):
    """The data lie beside the record that is meant; without them there would be another error."""
    monkeypatch.setattr("stele.artifacts.records.output_folder", lambda *_: pytest.fail("work was begun"))
    (tmp_path / "swwiki-1-pages-articles.xml").write_text("<mediawiki/>")
    (tmp_path / "sw.txt").write_text("Text.\n")
    (tmp_path / "x-wb_items_per_site.sql.gz").write_bytes(b"")
    flags = ["--wikis", "swwiki"] if command == "page_entities" else ["--language", "sw"]
    output = tmp_path / "out/record.json"
    assert (
        cli.main(["corpora", command, "--dataset", str(tmp_path / "recrod.json"), *flags, "--output", str(output)]) == 1
    )
    assert "recrod.json: no such record" in capsys.readouterr().err and not output.parent.exists()
