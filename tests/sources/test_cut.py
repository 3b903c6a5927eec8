"""The beginning of a corpus: from a generated mirror as a folder and as a server, which counts what it served."""

import bz2
import hashlib
import json
import lzma
import random
import shutil

import pytest

from stele.artifacts.records import BEGINNING, GENERATED
from stele.command import cli
from stele.corpora.dumps.dump_files import find_dump
from stele.corpora.dumps.xml_dump import read_dump
from stele.sources.download import places
from stele.sources.download.cut import split_documents
from stele.sources.download.http import Failed, Policy
from stele_world import mirror as mirror_command
from tests.jobs import job

CC100 = "data.statmt.org/cc-100/sw.txt.xz"
WIKI = "dumps.wikimedia.org/swwiki/20220801/swwiki-20220801-pages-articles-multistream"
DUMP, INDEX = f"{WIKI}.xml.bz2", f"{WIKI}-index.txt.bz2"


@pytest.fixture(scope="module")
def mirror(tmp_path_factory):
    """A generated mirror of two languages, with more web text and pages than any test takes."""
    folder = tmp_path_factory.mktemp("generated")
    output = folder / "mirror" / "manifest.json"
    world = json.dumps({"entities": 400, "web_documents": 900})
    flags = ["--world", world, "--seed", "1", "--languages", "en", "sw", "--user-data", str(folder / "user_data")]
    mirror_command.run(job(mirror_command, [*flags, "--output", str(output)]))
    return output.parent


@pytest.fixture
def take(mirror, site, tmp_path):
    """take(dataset, first, over="folder") -> (exit code, folder, record) of its Swahili part."""

    def call(dataset, first, over="folder", generated=True, **environment):
        output = tmp_path / over / dataset / str(first) / "record.json"
        place = str(mirror) if over == "folder" else site.address
        where = ["--mirrors", place, "--offline"]
        where += ["--manifest", str(mirror / "manifest.json")] if generated else []
        where += ["--state", str(tmp_path / "state" / over), "--output", str(output)]
        limit = ["--first", str(first)] if first else []
        code = cli.main(["sources", "dataset", "--dataset", dataset, "--part", "sw", *limit, *where])
        return code, output.parent, json.loads(output.read_text()) if output.exists() else None

    return call


@pytest.fixture
def served(mirror, site):
    for path in mirror.rglob("*"):
        if path.is_file():
            site.files[f"/{path.relative_to(mirror).as_posix()}"] = path.read_bytes()
    return site


def sent(site, path):
    return sum(request.sent for request in site.of(f"/{path}"))


def texts(data: bytes) -> list[bytes]:
    return [text for text in data.split(b"\n\n") if text.strip()]


def test_the_first_documents_of_cc100(take, mirror, served):
    whole = (mirror / CC100).read_bytes()
    code, folder, record = take("cc100", 90, "server")
    assert code == 0
    data = lzma.decompress((folder / "sw.txt.xz").read_bytes())
    assert texts(data) == texts(lzma.decompress(whole))[:90]
    facts = record["files"]["sw.txt.xz"]
    read = facts["beginning"]
    assert read["documents"] == 90 and read["of_bytes"] == len(whole) and facts["verified"] == "nothing"
    assert read["bytes"] < len(whole) / 4  # a tenth of it, and what an xz decoder reads ahead
    assert read["sha256"] == hashlib.sha256(whole[: read["bytes"]]).hexdigest()
    assert record["labels"] == sorted([BEGINNING, GENERATED])
    assert sent(served, CC100) <= 2 * max(read["bytes"], places.SMALLEST)
    assert sent(served, CC100) < len(whole) / 2


def test_the_first_pages_of_a_dump_are_whole_blocks_with_their_index(take, mirror, served):
    whole = (mirror / DUMP).read_bytes()
    code, folder, record = take("wikipedia", 120, "server")
    assert code == 0
    dump = find_dump(folder)
    pages = [page.page_id for page in list(read_dump(dump))[1:]]
    every = [line.split(b":")[1].decode() for line in bz2.decompress((mirror / INDEX).read_bytes()).splitlines()]
    assert pages == every[:200]  # two blocks of a hundred, as 120 pages ask for
    shards = [page.page_id for shard in (1, 2) for page in list(read_dump(dump, shard, 2))[1:]]
    assert shards == pages  # it can be cut like any dump
    read = record["files"][dump[0].articles.name]["beginning"]
    assert (folder / dump[0].articles).read_bytes().startswith(whole[: read["bytes"]])
    assert read["pages"] == 200 and read["bytes"] < read["of_bytes"] == len(whole)
    assert BEGINNING in record["labels"]
    assert read["bytes"] <= sent(served, DUMP) <= read["bytes"] + 2 * places.SMALLEST


def test_folder_and_server_give_the_same_bytes(take, served):
    for dataset in ("cc100", "wikipedia"):
        (_, _, one), (_, _, other) = take(dataset, 50), take(dataset, 50, "server")
        assert one["content"] == other["content"] and one["files"] == other["files"]


@pytest.mark.parametrize(("dataset", "path"), [("cc100", CC100), ("wikipedia", DUMP)])
def test_more_than_there_is_is_all_of_it(take, mirror, served, dataset, path):
    code, folder, record = take(dataset, 10_000_000, "server")
    assert code == 0 and BEGINNING not in record["labels"]
    name = path.rpartition("/")[2]
    read = record["files"][name]["beginning"]
    assert read["bytes"] == read["of_bytes"] == len((mirror / path).read_bytes()) == sent(served, path)
    if dataset == "wikipedia":
        assert (folder / name).read_bytes() == (mirror / path).read_bytes()


def test_a_killed_download_goes_on_where_it_was(take, mirror, served, tmp_path):
    """The connection breaks for good in the third piece; the next run asks for the rest of what it wants only."""
    served.faults[f"/{CC100}"] = [{}, {}, {"end": 1000}, {"status": 503}]
    code, _, _ = take("cc100", 800, "server")
    assert code == 1
    (part,) = (tmp_path / "state/server").glob("*-sw.txt.xz.part")
    have, requests = part.stat().st_size, len(served.of(f"/{CC100}"))
    assert have == 3 * places.SMALLEST + 1000
    code, folder, _ = take("cc100", 800, "server")
    taken, whole = (texts(lzma.decompress(path.read_bytes())) for path in (folder / "sw.txt.xz", mirror / CC100))
    assert code == 0 and taken == whole[:800]
    ranges = [request.range for request in served.of(f"/{CC100}")]
    assert ranges[0] == f"bytes=0-{places.SMALLEST - 1}" and ranges[requests].startswith(f"bytes={have}-")


def test_a_beginning_that_was_killed_is_not_taken_for_the_whole(take, mirror, served, tmp_path):
    """Neither are its bytes fetched twice."""
    served.faults[f"/{CC100}"] = [{}, {"status": 403}]
    assert take("cc100", 800, "server")[0] == 1
    assert take("cc100", None, "server", generated=False)[0] == 0
    assert (tmp_path / "server/cc100/None/sw.txt.xz").read_bytes() == (mirror / CC100).read_bytes()
    assert served.requests[-1].range == f"bytes={places.SMALLEST}-"


def test_a_beginning_that_was_published_is_not_written_over(take, mirror, served, monkeypatch):
    """Killed before its downloads were removed, which share their bytes with the output, and then without a server."""
    monkeypatch.setattr("stele.sources.dataset.drop_claimed", lambda state, job: None)
    code, folder, _ = take("cc100", 90, "server")
    before = (folder / "sw.txt.xz").read_bytes()
    monkeypatch.setattr(places.Beginning, "read", lambda self, number: 1 / 0)
    assert (code, take("cc100", 90, "server")[0]) == (0, 1) and (folder / "sw.txt.xz").read_bytes() == before


def test_a_server_that_ignores_ranges_is_read_no_further(take, mirror, served):
    served.files[f"/{CC100}"] = whole = (mirror / CC100).read_bytes() + random.Random(1).randbytes(30 << 20)
    served.faults[f"/{CC100}"] = [{"whole": True}] * 20
    code, _, record = take("cc100", 60, "server", generated=False)
    assert code == 0 and record["files"]["sw.txt.xz"]["beginning"]["of_bytes"] == len(whole)
    assert all(request.sent < 16 << 20 for request in served.of(f"/{CC100}"))  # what fits into sockets' buffers


def test_a_file_that_changes_while_it_is_read_is_not_mixed(take, served, capsys, monkeypatch):
    fetch_first = places.fetch_first

    def and_then_it_changes(*args):
        actual = fetch_first(*args)
        served.files[f"/{CC100}"] = served.files[f"/{CC100}"][::-1]
        return actual

    monkeypatch.setattr(places, "fetch_first", and_then_it_changes)
    code, _, record = take("cc100", 300, "server")
    assert code == 1 and record is None and "has changed while it was read" in capsys.readouterr().err


@pytest.mark.parametrize("tags", [True, False])
@pytest.mark.parametrize("size", [0, 9, 1000, places.SMALLEST, 300_000])
def test_a_beginning_is_of_one_version(site, tmp_path, tags, size):
    """Without tags each piece comes from the start again: it goes on only where what was read is still there."""
    body = random.Random(size).randbytes(size)
    site.tags, site.files["/x"] = tags, body
    address, policy = f"{site.address}/x", Policy(attempts=2, base=0.001)
    reader = places.Beginning(address, tmp_path / "same.part", policy)
    assert b"".join(iter(lambda: reader.read(7000), b"")) == body
    reader = places.Beginning(address, tmp_path / "changed.part", policy)
    reader.read(9)
    site.files["/x"] = body[:5] + b"?" + body[6:]
    if size > places.SMALLEST:
        with pytest.raises(Failed, match="/x: the server's file has changed while it was read"):
            list(iter(lambda: reader.read(7000), b""))


def test_the_beginning_is_pinned(take, served, capsys, tmp_path):
    """Nobody publishes a digest of it: a later download of as many bytes must agree with the first one."""
    assert take("cc100", 40, "server")[0] == 0
    (path,) = tmp_path.rglob("*.pins.json")
    ((name, digest),) = json.loads(path.read_text()).items()
    assert name.startswith(f"https://{CC100} bytes 0-") and len(digest) == 64
    path.write_text(json.dumps({name: "0" * 64}))
    shutil.rmtree(tmp_path / "server" / "cc100" / "40")
    assert take("cc100", 40, "server")[0] == 1 and "has changed since its first download" in capsys.readouterr().err


@pytest.mark.parametrize(("dataset", "path", "pack"), [("cc100", CC100, lzma), ("wikipedia", INDEX, bz2)])
def test_a_damaged_later_stream_is_no_end_of_a_corpus(take, served, capsys, dataset, path, pack):
    """It would be kept as whole, with half of its text."""
    text = pack.decompress(served.files[f"/{path}"])
    half = text.index(b"\n\n" if pack is lzma else b"\n", len(text) // 2) + 2 - (pack is bz2)
    first, later = pack.compress(text[:half]), pack.compress(text[half:])
    served.files[f"/{path}"] = first + b"\xff" + later[1:]
    code, _, record = take(dataset, 10_000_000, "server", generated=False)
    assert code == 1 and record is None and "cut short or damaged" in capsys.readouterr().err


def test_only_corpora_are_cut(take, capsys):
    code, _, _ = take("mrtydi", 10)
    assert code == 1 and "always used in full" in capsys.readouterr().err


def test_a_dump_without_an_index_cannot_be_cut(take, served, capsys):
    del served.files[f"/{INDEX}"]
    code, _, record = take("wikipedia", 120, "server")
    assert code == 1 and record is None and "index.txt.bz2" in capsys.readouterr().err


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_documents_end_where_blocks_do_not(size):
    text = b"a\n\n \n\nb\nb\n\n\n\nc\n\nd"
    blocks = [text[n : n + size] for n in range(0, len(text), size)]
    assert b"".join(split_documents(blocks)) == text
    assert [one for one in split_documents(blocks) if one.strip()] == [b"a\n\n", b"b\nb\n\n", b"c\n\n", b"d"]
