"""Archives that try to write elsewhere, or too much, are refused before a byte is written."""

import bz2
import errno
import gzip
import io
import lzma
import os
import tarfile
import zipfile

import pyarrow
import pytest

from stele.catalogue.schema.datasets import Unpack
from stele.errors import SteleError
from stele.sources.download.unpack import unpack


def zipped(path, members: dict[str, bytes], mode: int = 0o100644):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return path


def tarred(path, *members: tuple[str, bytes, bytes]):
    with tarfile.open(path, "w:gz") as archive:
        for name, kind, data in members:
            info = tarfile.TarInfo(name)
            info.type, info.size = kind, len(data)
            info.linkname = "/etc/passwd"
            archive.addfile(info, io.BytesIO(data))
    return path


def written(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def tar_of(path, members: dict[str, bytes]):
    return tarred(path, *((name, tarfile.REGTYPE, data) for name, data in members.items()))


makers = pytest.mark.parametrize("make", [zipped, tar_of])


@makers
def test_files_come_out_stripped_and_filtered(tmp_path, make):
    archive = make(tmp_path / "a", {"top/x/one.txt": b"1", "top/two.json": b"2", "top/three.bin": b"3"})
    for strip, out in ("top/", tmp_path / "out"), ("top", tmp_path / "other"):
        rules = Unpack(strip=strip, keep=["*.txt", "two.*"], members=["two.json"])
        assert unpack(archive, out, rules) == ["two.json", "x/one.txt"]
        assert written(out) == ["two.json", "x/one.txt"]
        assert (out / "x" / "one.txt").read_bytes() == b"1"
    assert unpack(archive, tmp_path, Unpack(strip="t", keep=["top/t*"])) == ["top/three.bin", "top/two.json"]


@makers
def test_what_a_mac_adds_to_an_archive_is_left_out(tmp_path, make):
    """As hidden files are of a folder: else a reader finds two files, one of which is none of the data set's."""
    added = {"__MACOSX/set/._links.csv": b"\0\5\x16\7", "set/._links.csv": b"\0\5\x16\7", "set/.DS_Store": b"x"}
    archive = make(tmp_path / "a", {"set/links.csv": b"1,2", **added})
    assert unpack(archive, tmp_path / "out") == ["set/links.csv"] == written(tmp_path / "out")


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/evil", "..\\evil", "c:evil"])
@makers
def test_paths_that_leave_the_folder_are_refused(tmp_path, name, make):
    archive = make(tmp_path / "a", {"good.txt": b"1", name: b"2"})
    with pytest.raises(SteleError, match="outside its folder"):
        unpack(archive, tmp_path / "in" / "out", Unpack(keep=["good.txt"]))  # a bad member spoils all, kept or not
    assert written(tmp_path) == ["a"]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_refused(tmp_path, kind):
    archive = tarred(tmp_path / "a", ("good", tarfile.REGTYPE, b"1"), ("link", kind, b""))
    with pytest.raises(SteleError, match=r"link|special"):
        unpack(archive, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_symbolic_link_in_a_zip_is_refused(tmp_path):
    archive = zipped(tmp_path / "a", {"link": b"/etc/passwd"}, mode=0o120777)
    with pytest.raises(SteleError, match="symbolic link"):
        unpack(archive, tmp_path / "out")


def test_more_bytes_than_allowed_are_refused(tmp_path):
    archive = zipped(tmp_path / "a", {"zeros": bytes(1_000_000)})
    with pytest.raises(SteleError, match="more than 999,999 bytes"):
        unpack(archive, tmp_path / "out", Unpack(max_bytes=999_999))
    assert unpack(archive, tmp_path / "out", Unpack(max_bytes=1_000_000)) == ["zeros"]


def test_a_zip_that_lies_about_sizes_is_stopped(tmp_path):
    """The directory at the end says 10 bytes, the member holds a million."""
    data = bytearray(zipped(tmp_path / "a", {"zeros": bytes(1_000_000)}).read_bytes())
    for position in (data.index(b"PK\x01\x02") + 24, data.index(b"PK\x03\x04") + 22):
        data[position : position + 4] = (10).to_bytes(4, "little")
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(SteleError):
        unpack(tmp_path / "a", tmp_path / "out", Unpack(max_bytes=1000))
    assert written(tmp_path) == ["a"]


def test_a_file_in_the_way_is_not_called_a_damaged_archive(tmp_path, monkeypatch):
    archive = zipped(tmp_path / "a", {"x/y": b"text"})
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x").write_text("a file where a folder is wanted")
    with pytest.raises(SteleError, match=r"a: cannot be unpacked \(x: File exists\)"):
        unpack(archive, tmp_path / "out")

    def full(*args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("stele.sources.download.unpack.shutil.copyfileobj", full)
    with pytest.raises(SteleError, match=r"a: cannot be unpacked \(No space left on device\)"):
        unpack(archive, tmp_path / "other")


def test_two_archives_do_not_write_one_file(tmp_path):
    unpack(zipped(tmp_path / "de", {"train": b"eins"}), tmp_path / "out")
    with pytest.raises(SteleError, match="fr: two files would become train; keep one of them"):
        unpack(zipped(tmp_path / "fr", {"train": b"un"}), tmp_path / "out")
    assert (tmp_path / "out" / "train").read_bytes() == b"eins"


def test_a_tar_that_ends_with_a_zip_is_a_tar(tmp_path):
    inner = zipped(tmp_path / "inner", {"inside": b"x"}).read_bytes()
    archive = tar_of(tmp_path / "a", {"corpus": b"text" * 1000, "more.zip": inner})
    archive.write_bytes(gzip.decompress(archive.read_bytes()))
    assert unpack(archive, tmp_path / "out") == ["corpus", "more.zip"]


def test_names_given_twice_missing_members_and_damage_are_errors(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(tmp_path / "twice", "w") as archive:
        archive.writestr("x", "1")
        archive.writestr("x", "2")
    with pytest.raises(SteleError, match="contains 'x' twice"):
        unpack(tmp_path / "twice", tmp_path / "out")
    good = zipped(tmp_path / "good", {"x": b"text" * 1000})
    with pytest.raises(SteleError, match=r"lacks y \(it has x"):
        unpack(good, tmp_path / "out", Unpack(members=["y"]))
    with pytest.raises(SteleError, match="neither a zip nor a tar"):
        (tmp_path / "page").write_text("<html>Sign in</html>")
        unpack(tmp_path / "page", tmp_path / "out")
    damaged = bytearray(good.read_bytes())
    damaged[45] ^= 255
    good.write_bytes(damaged)
    with pytest.raises(SteleError, match="good: damaged archive"):
        unpack(good, tmp_path / "out")
    assert not (tmp_path / "out").exists() or written(tmp_path / "out") == []


@pytest.mark.parametrize("packed", ["", "gz", "xz"])
def test_a_tar_that_was_cut_behind_a_member_is_noticed(tmp_path, packed):
    """Or within a header, or behind the last member: tarfile takes each for the end of the archive."""
    whole = gzip.decompress(tar_of(tmp_path / "whole", {"one": b"1" * 512, "two": b"2" * 512}).read_bytes())
    pack = {"": bytes, "gz": gzip.compress, "xz": lzma.compress}[packed]
    flipped = whole[:1024] + b"x" + whole[1025:]  # the name in the second header, which its checksum does not fit
    for content in (whole[:1024], whole[:1100], whole[:1536], whole[:2048], flipped):
        (tmp_path / "cut").write_bytes(pack(content))
        with pytest.raises(SteleError, match="cut: damaged archive"):
            unpack(tmp_path / "cut", tmp_path / "out")
    (tmp_path / "cut").write_bytes(pack(whole[:2560]))  # one block of zeros closes it
    assert unpack(tmp_path / "cut", tmp_path / "out") == ["one", "two"]


@makers
def test_more_members_than_allowed_are_refused_before_all_are_read(tmp_path, make, monkeypatch):
    monkeypatch.setattr("stele.sources.download.unpack.MAX_MEMBERS", 5)
    for number in (5, 6):
        archive = make(tmp_path / "a", {f"{n}": b"" for n in range(number)})
        if number == 5:
            assert len(unpack(archive, tmp_path / "out")) == 5
    with pytest.raises(SteleError, match="a: holds more than 5 files and folders"):
        unpack(archive, tmp_path / "in")
    monkeypatch.setattr("stele.sources.download.unpack.MAX_DIRECTORY", 200)
    if make is zipped:
        with pytest.raises(SteleError, match=r"a: damaged archive .*its list of members has"):
            unpack(archive, tmp_path / "in")
    assert not (tmp_path / "in").exists()


@pytest.mark.parametrize("compress", [bz2.compress, lzma.compress])
def test_a_damaged_later_stream_is_no_end_of_a_tar(tmp_path, compress):
    """Parallel compressors write several; the standard library's readers end a file at one that begins with damage."""
    whole = gzip.decompress(tar_of(tmp_path / "whole", {"one": b"1" * 512, "two": b"2" * 512}).read_bytes())
    (archive := tmp_path / "a").write_bytes(compress(whole[:1600]) + compress(whole[1600:]))
    assert unpack(archive, tmp_path / "out") == ["one", "two"]
    assert (tmp_path / "out" / "two").read_bytes() == b"2" * 512
    archive.write_bytes(compress(whole) + b"\xff" + compress(whole)[1:])
    with pytest.raises(SteleError, match="a: damaged archive"):
        unpack(archive, tmp_path / "in")


def test_a_tar_of_a_packing_that_is_not_read_is_no_archive(tmp_path):
    packed = pyarrow.compress(tar_of(tmp_path / "whole", {"one": b"1"}).read_bytes(), codec="zstd", asbytes=True)
    (tmp_path / "a").write_bytes(packed)
    with pytest.raises(SteleError, match="a: neither a zip nor a tar archive"):
        unpack(tmp_path / "a", tmp_path / "out")


def test_a_tar_with_too_much_behind_it_is_not_read_on(tmp_path):
    packed = tar_of(tmp_path / "a.tar.gz", {"a.txt": b"x"})
    packed.write_bytes(packed.read_bytes() + gzip.compress(bytes(65 << 20), compresslevel=1))
    with pytest.raises(SteleError, match="more than 64 MB behind its last member"):
        unpack(packed, tmp_path / "out")


def test_a_header_of_a_tar_is_not_read_whole_whatever_its_size(tmp_path):
    """Extended headers and long names are read at once: a small file that unpacks to much would fill the memory."""
    for kind in (tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME):
        (info := tarfile.TarInfo("x")).type, info.size = kind, 1 << 33
        (tmp_path / "a").write_bytes(info.tobuf(tarfile.GNU_FORMAT) + bytes(2048))
        with pytest.raises(SteleError, match=r"a header of 8,589,934,592 bytes"):
            unpack(tmp_path / "a", tmp_path / "out")
