"""Wikimedia's dumps: resumed, verified by the published sums, of any date, from the archive where they are gone."""

import gzip
import hashlib
import json
import random

import pytest

from stele import catalogue
from stele.catalogue import datasets
from stele.command import cli
from stele.errors import SteleError

MAIN, ARCHIVE = "/dumps.wikimedia.org/swwiki/{date}/", "/archive.org/download/swwiki-{date}/"
KINDS = {
    "pages-articles-multistream.xml.bz2": random.Random(1).randbytes(300_000),
    "pages-articles-multistream-index.txt.bz2": b"BZh index",
    "siteinfo-namespaces.json.gz": gzip.compress(b"{}", mtime=0),
}


def publish(site, date="20220801", where=MAIN, kinds=KINDS):
    """Puts a dump and its sums on the server, as a mirror of Wikimedia's or of the archive has them."""
    names = {f"swwiki-{date}-{kind}": data for kind, data in kinds.items()}
    sums = "".join(f"{hashlib.sha1(data).hexdigest()}  {name}\n" for name, data in names.items())
    for name, data in {**names, f"swwiki-{date}-sha1sums.txt": sums.encode()}.items():
        site.files[where.format(date=date) + name] = data


@pytest.fixture
def fetch(site, tmp_path):
    """fetch(flag...) -> (exit code, record or None)."""

    def call(*flags):
        output = tmp_path / "dataset" / "record.json"
        where = ["--state", str(tmp_path / "state"), "--output", str(output)]
        source = ["--dataset", "wikipedia", "--part", "sw", "--mirrors", site.address, "--offline"]
        code = cli.main(["sources", "dataset", *source, *where, *flags])
        return code, json.loads(output.read_text()) if output.exists() else None

    return call


def test_a_dump_that_is_cut_off_goes_on_and_is_verified(site, fetch, tmp_path):
    publish(site)
    path = MAIN.format(date="20220801") + "swwiki-20220801-pages-articles-multistream.xml.bz2"
    site.faults[path] = [{"end": 100_000}, {"status": 503}]
    code, record = fetch()
    assert code == 1 and record is None  # the job ends here; the next one goes on
    code, record = fetch()
    assert code == 0 and record["version"] == "20220801"
    assert [request.range for request in site.of(path)] == [None, "bytes=100000-", "bytes=100000-"]
    verified = {name.partition("-20220801-")[2]: facts["verified"] for name, facts in record["files"].items()}
    assert verified == dict.fromkeys(KINDS, "published list")
    for kind, data in KINDS.items():
        assert (tmp_path / "dataset" / f"swwiki-20220801-{kind}").read_bytes() == data


def test_a_dump_that_was_rotated_off_comes_from_the_archive(site, fetch):
    publish(site, where=ARCHIVE)
    code, record = fetch()
    assert code == 0 and len(record["files"]) == 3
    assert all(facts["url"].startswith("https://archive.org/") for facts in record["files"].values())


def test_a_dump_of_another_date_is_another_dump(site, fetch):
    publish(site), publish(site, "20240801")
    code, record = fetch("--date", "20240801")
    assert code == 0 and record["version"] == "20240801"
    assert all(name.startswith("swwiki-20240801-") for name in record["files"])


@pytest.mark.parametrize("listed", [True, False])
def test_a_dump_of_which_there_is_no_index_and_no_siteinfo(site, fetch, listed):
    """They may be left out of the sums, or be missing although the sums have them."""
    first = "pages-articles-multistream.xml.bz2"
    publish(site, kinds=KINDS if listed else {first: KINDS[first]})
    for kind in set(KINDS) - {first}:
        site.files.pop(MAIN.format(date="20220801") + f"swwiki-20220801-{kind}", None)
    code, record = fetch()
    assert code == 0 and list(record["files"]) == [f"swwiki-20220801-{first}"]


def test_the_dump_itself_must_be_among_the_sums(site, fetch, capsys):
    publish(site, kinds={"siteinfo-namespaces.json.gz": b"x"})
    code, _ = fetch()
    said = "no checksum of swwiki-20220801-pages-articles-multistream.xml.bz2"
    assert code == 1 and said in capsys.readouterr().err


def test_only_dumps_have_a_date():
    with pytest.raises(SteleError, match="'cc100' is not a dated dump"):
        datasets.resolve("cc100", "sw", date="20240801")


def test_every_wikipedia_has_a_size():
    sizes = catalogue.load("dump_sizes")
    named = {row["wikipedia"] for row in catalogue.load("languages").values() if "wikipedia" in row}
    assert set(sizes) == {f"{name.replace('-', '_')}wiki" for name in named}
    assert all(isinstance(size, int) and 100_000 < size < 50e9 for size in sizes.values())
    assert max(sizes, key=sizes.get) == "enwiki"
