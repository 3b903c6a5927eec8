"""`sources dataset` from a folder of the user's own, and out of archives."""

import gzip
import zipfile

import pytest
from one_file import HOST, TEXT, Run, put, sha, source

from stele.artifacts.integrity import damages
from stele.artifacts.records import content_digest
from stele.benchmarks.collection import AdHocCollection
from stele.benchmarks.types import Passage
from stele.catalogue import datasets
from stele.corpora.dumps.dump_files import find_dump
from stele.files.digests import files_digest


@pytest.fixture
def run(tmp_path, capsys):
    return Run(tmp_path, capsys)


# --- user data --------------------------------------------------------------------------------------------------------
@pytest.fixture
def users_folder(run):
    (run.folder / "own" / "deep" / "er").mkdir(parents=True)
    (run.folder / "own" / "deep" / "er" / "corpus.txt").write_bytes(TEXT)
    return run.folder / "own"


def test_user_data_is_linked_and_never_written(run, users_folder):
    before = files_digest(users_folder)
    for path in [*users_folder.rglob("*"), users_folder]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    assert run(source(file={"sha256": sha(TEXT)}), "--user-data", str(users_folder)) == 0
    link = run.output.parent / "corpus.txt"
    assert link.is_symlink() and link.read_bytes() == TEXT and files_digest(users_folder) == before
    assert run.record["came_from"] == ["user data"] and run.record["files"]["corpus.txt"]["verified"] == "catalogue"
    assert run.record["version"] == "v1"  # as the digest says
    for path in [users_folder, *users_folder.rglob("*")]:
        path.chmod(0o755)


def test_a_users_file_may_be_anywhere_below_the_folder_but_only_once(run, users_folder):
    assert run(source(), "--user-data", str(users_folder)) == 0 and run.record["version"] is None
    (users_folder / "corpus.txt").write_bytes(TEXT)
    message = run.refused(source(file={"path": "corpus.txt"}), "--user-data", str(users_folder))
    assert "corpus.txt, deep/er/corpus.txt" in message
    likest = source(file={"path": "er/corpus.txt"}, counts={})
    assert run(likest, "--user-data", str(users_folder)) == 0


def test_how_a_collection_is_written_is_a_part_of_its_content(run, users_folder):
    """A killed job must not go on from what it read in the same bytes by another encoding or other tags."""
    contents = []
    for collection in (None, {"documents": ["*.txt"]}, {"documents": ["*.txt"], "encoding": "iso8859-1"}):
        entry = source(**({"collection": collection} if collection else {}))
        assert run(entry, "--user-data", str(users_folder)) == 0 and not list(damages(run.output))
        contents.append(content_digest(run.output))
    assert len({*contents}) == 3


def test_a_missing_folder_and_a_damaged_file_of_the_user_are_named(run, users_folder):
    assert "none is not a folder" in run.refused(source(), "--user-data", str(run.folder / "none"))
    (users_folder / "deep" / "er" / "corpus.txt").write_bytes(TEXT[:-1])
    message = run.refused(source(file={"sha256": sha(TEXT)}), "--user-data", str(users_folder))
    assert sha(TEXT) in message and sha(TEXT[:-1]) in message and "corpus.txt" in message
    assert not run.output.parent.exists()


def test_languages_are_not_confused_when_their_files_have_one_name(run):
    for name in ("arabic", "bengali"):
        folder = run.folder / "own" / f"set-{name}"
        folder.mkdir(parents=True)
        (folder / "corpus.txt").write_text(f"{name}\n")
    entry = source(part="bn", counts={}, file={"url": f"{HOST}/set-bengali/corpus.txt", "own_name": False})
    assert run(entry, "--user-data", str(run.folder / "own"), part="bn") == 0
    assert (run.output.parent / "corpus.txt").read_text() == "bengali\n"
    entry = source(part="fi", counts={}, file={"url": f"{HOST}/set-finnish/corpus.txt", "own_name": False})
    assert "lacks corpus.txt" in run.refused(entry, "--user-data", str(run.folder / "own"), part="fi")


def test_user_files_of_other_names_are_found_by_pattern_and_keep_what_their_suffix_says(run):
    folder = run.folder / "own"
    folder.mkdir()
    file = {"path": "w-1.xml.bz2", "url": f"{HOST}/w-1.xml.bz2", "like": ["w*.xml*"]}
    (folder / "w-part1.xml.bz2").write_bytes(b"1")
    assert run(source(file=file, counts={}), "--user-data", str(folder)) == 0
    assert run.have() == ["record.json", "w-1.xml.bz2"]
    assert run.record["files"]["w-1.xml.bz2"]["name"] == "w-part1.xml.bz2"
    (folder / "w-part2.xml.bz2").write_bytes(b"2")
    assert run(source(file=file, counts={}), "--user-data", str(folder)) == 0
    assert run.have() == ["record.json", "w-part1.xml.bz2", "w-part2.xml.bz2"]


DUMP = "swwiki-20230101-pages-articles"


@pytest.mark.parametrize(
    "names",
    [
        [f"{DUMP}-multistream-index.txt.bz2", f"{DUMP}-multistream.xml.bz2"],
        [f"{DUMP}-multistream-index1.txt-p1p9.bz2", f"{DUMP}-multistream1.xml-p1p9.bz2"],
        [f"{DUMP}.xml"],
    ],
)
def test_a_dump_of_another_date_or_kind_keeps_its_names_its_index_and_no_version(run, names):
    (folder := run.folder / "own" / "deep").mkdir(parents=True)
    for name in names:
        (folder / name).write_bytes(b"x")
    entry = datasets.resolve("wikipedia", "sw").given()
    assert run(entry, "--user-data", str(folder.parent), part="sw") == 0
    assert run.have() == sorted([*names, "record.json"])
    assert run.record["version"] is None
    assert {facts["name"] for facts in run.record["files"].values()} == {f"deep/{name}" for name in names}
    (dump,) = find_dump(run.output.parent)
    assert dump.articles.name == names[-1] and (dump.index and dump.index.name) == (names[0] if names[1:] else None)


@pytest.mark.parametrize("target", ["nowhere", "corpus.txt"])
def test_links_that_lead_nowhere_are_named(run, target):
    (folder := run.folder / "own").mkdir()
    (folder / "corpus.txt").symlink_to(target)  # to a file that is gone, or to itself
    for entry in (source(), source(files=[], counts={})):
        message = run.refused(entry, "--user-data", str(folder))
        assert f"{folder}/corpus.txt: cannot be read (a link that leads nowhere" in message


def test_a_wall_without_user_data_says_how_to_get_it(run):
    message = run.refused(source(wall="licence", how="order E0008 at the shop."))
    assert "A set" in message and "order E0008" in message and "user_data: {set: YOUR_FOLDER}" in message


def test_a_collection_without_a_list_of_files_is_taken_whole(run, users_folder):
    (users_folder / ".hidden").write_text("x")
    assert run(source(files=[], counts={}), "--user-data", str(users_folder)) == 0
    assert run.have() == ["deep/er/corpus.txt", "record.json"]
    (run.folder / "empty").mkdir()
    assert "empty" in run.refused(source(files=[], counts={}), "--user-data", str(run.folder / "empty"))


def test_documents_that_are_a_file_each_are_kept_in_one(run):
    """Of FIRE, 831,721: a record of them all would be read by every job. Topics and judgments stay as they are."""
    own = run.folder / "own"
    documents = {
        "a/1.utf8": "\ufeff<DOC>\r\n<DOCNO>1</DOCNO>\r\n<TEXT>one</TEXT>\r\n</DOC>",
        "b/2": "<!-- x --><DOC>\n<TEXT>two</TEXT>",
        "b/3": "",
        "b/4.gz": "<DOC lang=hi>\n<TEXT>four</TEXT>\n</DOC>\n",
        "b/5": "<doc>\n<docno>5</docno>\n<text>five</text>\n</doc>",  # it was read as text of the document before it
        "b/6'6": "<Doc>\n<TEXT>six</TEXT>\n</Doc>",
    }
    for name, text in documents.items():
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    (own / "topics.txt").write_text("7\tx\n")
    given = source(files=[], counts={}, collection={"one_a_file": True})
    assert run(given, "--user-data", str(own)) == 0
    assert run.have() == ["documents.sgml", "record.json", "topics.txt"]
    packed = run.output.parent / "documents.sgml"
    assert run.record["files"]["documents.sgml"]["sha256"] == sha(packed.read_bytes())
    passages = [Passage("1", "", "one"), Passage("2", "", "two"), Passage("4", "", "four")]
    passages += [Passage("5", "", "five"), Passage("6'6", "", "six")]
    assert list(AdHocCollection().passages({"mine": {"all": run.output.parent}}, "hi")) == passages
    one_by_one = list(AdHocCollection().passages({"mine": {"all": own}}, "hi"))
    assert one_by_one == passages
    (own / "b/7.txt").write_text("words")
    assert "b/7.txt: no <DOC>; `one_a_file` packs only SGML documents" in run.refused(given, "--user-data", str(own))
    (own / "b/7.txt").rename(own / "b/7 8.txt").write_text("<DOC>\n<TEXT>x</TEXT>\n</DOC>")  # `7 9.txt` had its id
    assert "b/7 8.txt: id must be a string without white space" in run.refused(given, "--user-data", str(own))


@pytest.mark.parametrize("name", ["a\\b.txt", "a#b.txt", "a%2fb.txt", "a?b.txt", "a\nb.txt"])
def test_a_name_that_is_no_plain_path_is_refused(run, users_folder, name):
    """It may have come out of somebody's archive, and would be the name of a file of Stele's."""
    (users_folder / name).write_text("x")
    message = run.refused(source(files=[], counts={}), "--user-data", str(users_folder))
    assert repr(name) in message and "outside its folder" in message


# --- archives ---------------------------------------------------------------------------------------------------------
RULES = {"strip": "pack/", "keep": ["*.txt"], "members": ["corpus.txt"], "max_bytes": 100_000}


@pytest.fixture
def archive(run):
    path = run.folder / "pack.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("pack/corpus.txt", TEXT)
        packed.writestr("pack/read.me", "x")
    return path


def packed_source() -> dict:
    return source(file={"path": "pack.zip", "url": f"{HOST}/pack.zip", "unpack": RULES})


def test_archives_are_unpacked(run, archive):
    put(run.folder / "mirror", f"{HOST}/pack.zip", archive.read_bytes())
    assert run(packed_source(), "--mirrors", str(run.folder / "mirror"), "--offline") == 0
    assert run.have() == ["corpus.txt", "record.json"]
    facts = run.record["files"]["corpus.txt"]
    assert facts["sha256"] == sha(TEXT) and facts["archive"] == sha(archive.read_bytes())


def test_a_users_archive_and_a_users_unpacked_folder_give_the_same(run, archive):
    (boxed := run.folder / "boxed").mkdir()
    archive.rename(boxed / "pack.zip")
    assert run(packed_source(), "--user-data", str(boxed)) == 0
    first = run.record["content"]
    (open_ := run.folder / "open" / "unpacked").mkdir(parents=True)
    (open_ / "corpus.txt").write_bytes(TEXT)
    (open_ / "read.me").write_text("x")
    assert run(packed_source(), "--user-data", str(open_.parent)) == 0
    assert run.record["content"] == first and (run.output.parent / "corpus.txt").is_symlink()


def test_a_truncated_file_is_named(run):
    put(run.folder / "mirror", f"{HOST}/c.gz", gzip.compress(TEXT)[:-20])
    counts = {"lines": [{"count": "lines", "files": ["c.gz"]}]}
    entry = source(file={"path": "c.gz", "url": f"{HOST}/c.gz"}, counts=counts)
    message = run.refused(entry, "--mirrors", str(run.folder / "mirror"), "--offline")
    assert "set all: c.gz: the compressed file is cut short or damaged" in message and not run.output.exists()


@pytest.mark.parametrize("together", [{}, {"release": "other"}])
def test_what_a_folder_lacks_is_named_with_the_way_out(run, users_folder, together):
    entry = source(file={"path": "none.txt", "url": f"{HOST}/none.txt"}) | together
    message = run.refused(entry, "--user-data", str(users_folder))
    way = "name their own folder in config.yaml: user_data: {set: FOLDER}" if together else "take user_data.set out of"
    assert "lacks none.txt" in message and "deep/er/corpus.txt" in message and way in message


@pytest.mark.parametrize("data", [TEXT[:-1] + b"x\ny", b"\xff"])
def test_wrong_counts_and_damage_name_the_users_own_file(run, users_folder, data):
    path = users_folder / "deep" / "er" / "corpus.txt"
    path.write_bytes(data)
    kind = "lines" if data[0] != 255 else "squad_questions"
    entry = source(counts={"lines": [{"count": kind, "files": ["corpus.txt"], "expect": 1000}]})
    message = run.refused(entry, "--user-data", str(users_folder))
    assert f"set all: {path}" in message and str(run.output.parent.parent) not in message


def test_where_some_languages_are_there_the_message_says_that_these_can_be_chosen(run):
    (run.folder / "own").mkdir()
    (run.folder / "own" / "en.txt").write_text("one\n")
    files = [{"path": f"{code}.txt", "url": f"{HOST}/{code}.txt"} for code in ("en", "ru")]
    entry = source(languages=["en", "ru"], counts={}) | {"files": files}
    message = run.refused(entry, "--user-data", str(run.folder / "own"))
    assert "lacks ru.txt" in message and "or choose only `languages` in the folder" in message
    (run.folder / "own" / "en.txt").unlink()
    assert "choose only `languages`" not in run.refused(entry, "--user-data", str(run.folder / "own"))
