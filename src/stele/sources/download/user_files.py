"""Take a dataset from the user's folder: find, check and link its files, without changing them.

Documents in one file each are packed into a single file: else every job would read a record of 831,721 files (FIRE).
"""

import re
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from stele.benchmarks._files import identifier
from stele.benchmarks._tables import all_numbers
from stele.catalogue import user_documents
from stele.catalogue.schema.datasets import Part, PartFile
from stele.catalogue.user_data import PACKED, document_files, exported, find, find_unpacked, listing
from stele.errors import SteleError
from stele.files.digests import sha256
from stele.files.reading import open_unpacked, plain_name
from stele.progress import track
from stele.sources.download.unpack import link_file, unpack
from stele.sources.download.verify import Manifest, Mismatch, check, digests, is_checkable

Facts = dict[str, Any]

NUMBER = re.compile(r"[0-9]+(?:(-of-[0-9]+)(?:-[0-9a-f]{16})?)?(?=\.parquet$)")  # of a table of an export


def collect(source: Part, folder: Path, into: Path, manifest: Manifest | None) -> tuple[Facts, set[str]]:
    """Links the files of a resolved part into `into`; returns their facts by path, and the set of their origins.

    Among the facts is the user's `name` of a file, relative to `folder`.

    Origins are "real" and "generated". Archives are unpacked into `into`; if the user has unpacked one already, its
    files are linked. Raises SteleError, naming the file, if one is missing or wrong.
    """
    where = f"user_data.{source.dataset} ({folder})"
    if source.dataset == user_documents.DATASET:
        names = user_documents.files_of(folder, source.part)
        folder, _ = user_documents.place_of(folder)
    else:
        names = listing(folder)
    facts: Facts = {}
    origins: set[str] = set()
    missing: list[str] = []

    def take(name: str, path: str, file: PartFile) -> None:
        known, origin = _checked(source, folder, name, file, manifest)
        facts[path] = {**known, "name": name}
        origins.add(origin)
        link_file(folder / name, into, path, where)

    for file in source.files:
        matches = find(names, file, source.part, where)
        rules = file.unpack
        if matches and rules is not None:
            archive, origin = _checked(source, folder, matches[0], file, manifest)
            origins.add(origin)
            for path in unpack(folder / matches[0], into, rules):
                about = {"name": matches[0], "verified": archive["verified"], "archive": archive["sha256"]}
                facts[path] = {**digests(into / path), "bytes": (into / path).stat().st_size, **about}
        elif matches:
            for name in matches:
                take(name, _place(name, file, alone=len(matches) == 1), file)
        elif rules is not None and (base := find_unpacked(names, rules.members)) is not None:
            for path in _below(names, base, rules.keep):
                take(f"{base}/{path}" if base else path, path, PartFile(path=path))
        elif not file.optional:
            missing.append(" or ".join([file.path, *file.variants]))
    if not facts and (tables := _of_one_export(exported(names, source), where)):
        missing = []
        for number, name in enumerate(tables):
            take(name, f"{number:05}.parquet", PartFile(path=name))
    if missing:
        raise SteleError(_missing(source, where, missing, names))
    if not source.files:
        packed = source.collection is not None and source.collection.one_a_file
        single = document_files(names, source.collection.documents) if packed else []
        for name in sorted({*names} - {*single}):
            take(name, name, PartFile(path=name))
        if single:
            known = [_checked(source, folder, name, PartFile(path=name), manifest) for name in single]
            origins |= {origin for _, origin in known}
            facts[PACKED] = {**pack(folder, single, into), "verified": known[0][0]["verified"]}
        if not names:
            raise SteleError(f"{where}: the folder is empty; it should hold {source.title}")
    return facts, origins


def _place(name: str, file: PartFile, alone: bool) -> str:
    """Path of a user's file in the dataset: the catalogue's, but its own name if there are several files, or if its
    compression, date or kind differs.
    """
    user_name, path = Path(name).name, file.path
    other = any(fnmatch(user_name, pattern) for pattern in file.variants)
    same_packing = user_name.removeprefix(plain_name(user_name)) == path.removeprefix(plain_name(path))
    return path if alone and not other and same_packing else user_name


def _of_one_export(tables: list[str], where: str) -> list[str]:
    """Checks that Parquet files form one complete export. Raises SteleError for two exports or a missing number."""
    if len({NUMBER.sub(r"\1", name) for name in tables}) > 1:
        raise SteleError(f"{where}: tables of more than one export: {', '.join(tables[:5])}; keep only one export")
    all_numbers(list(map(Path, tables)))
    return tables


def _below(names: Sequence[str], base: str, keep: Sequence[str]) -> list[str]:
    prefix = f"{base}/" if base else ""
    below = [name.removeprefix(prefix) for name in names if name.startswith(prefix)]
    return [path for path in below if not keep or any(fnmatch(path, pattern) for pattern in keep)]


def _checked(source: Part, folder: Path, name: str, file: PartFile, manifest: Manifest | None) -> tuple[Facts, str]:
    """Checks a user's file by the manifest (generated) or the catalogue (real); returns its facts and origin."""
    path = folder / name
    if manifest is not None:
        generated = manifest.licensed(source.dataset, name) or manifest.expected(file.url or "")
        among_generated = (manifest.path.resolve().parent.parent / "user_data") in path.resolve().parents
        try:
            if generated is None:
                raise Mismatch(f"{path}: not among the generated data ({manifest.path})")
            return {"sha256": check(path, generated), "bytes": path.stat().st_size, "verified": "manifest"}, "generated"
        except Mismatch:
            if among_generated:  # it lies among generated data, so it is damaged and not real
                raise
    expected = file.expected
    try:
        sha = check(path, expected)
    except Mismatch as mismatch:
        raise SteleError(
            f"{mismatch}. The file differs from the catalogue's {file.path} of {source.title} ({source.version}); "
            f"fetch it again{f' from {file.url}' if file.url else ''} or take "
            f"user_data.{source.dataset} out of config.yaml"
        ) from None
    verified = "catalogue" if is_checkable(expected) else "nothing"
    return {"sha256": sha, "bytes": path.stat().st_size, "verified": verified}, "real"


def _missing(source: Part, where: str, missing: Sequence[str], names: Sequence[str]) -> str:
    few = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
    have = ", ".join(names[:5]) + ("..." if len(names) > 5 else "") if names else "nothing"
    if source.exports:
        few += f" (or its tables, as {source.exports[0]})"
    way = f"take user_data.{source.dataset} out of config.yaml"
    if len(missing) < len(source.files) > 1 < len(source.languages):
        way += ", or choose only `languages` in the folder"
    if source.release:  # the folder may be that of a dataset published together with this one
        way = f"name their own folder in config.yaml: user_data: {{{source.dataset}: FOLDER}}"
    return (
        f"{where}: lacks {few} of {source.title} ({source.version}), part {source.part}; the folder holds "
        f"{have}. Put the files there or {way}"
    )


_START = re.compile(rb"<DOC(\s[^<>]*)?>", re.IGNORECASE)
_NAMED = re.compile(rb"<DOCNO>|<DOC\s[^<>]*\bid\s*=", re.IGNORECASE)


def pack(folder: Path, names: Sequence[str], into: Path) -> dict[str, Any]:
    """Concatenates the SGML files `names` of a folder into one file in `into`; returns the new file's facts.

    A document without an id gets the name of its file. All start tags become <DOC>, since readers expect one spelling
    per file. Empty files are skipped. Raises SteleError if a file has no <DOC>.
    """
    with open(into / PACKED, "xb") as packed:
        for name in track(names, len(names), "pack documents"):
            with open_unpacked(folder / name) as handle:
                content = handle.read()
            content = content.removeprefix(b"\xef\xbb\xbf").strip()
            if not content:
                continue
            if not (start := _START.search(content)):
                raise SteleError(f"{folder / name}: no <DOC>; `one_a_file` packs only SGML documents")
            if len(_START.findall(content)) == 1 and not _NAMED.search(content):
                number = identifier(plain_name(Path(name).name), str(folder / name)).encode()
                content = content[: start.start()] + b"<DOC>\n<DOCNO>%s</DOCNO>\n" % number + content[start.end() :]
            packed.write(re.sub(rb"%s(?=[\s>])" % start[0][: len("<DOC")], b"<DOC", content) + b"\n")
    path = into / PACKED
    return {"sha256": sha256(path), "bytes": path.stat().st_size, "name": "", "packed": len(names)}
