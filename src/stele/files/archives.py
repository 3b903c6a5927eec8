"""What the standard library's reader of tar archives lets pass: archives that were cut, headers of any size."""

from __future__ import annotations

import tarfile

LONGEST = 1 << 20  # bytes of a long name or of extended headers, which are read at once
_READ_AT_ONCE = b"xgXLK"  # the types of such headers


class Member(tarfile.TarInfo):
    """A member of a tar archive; given to `tarfile.open` as `tarinfo`, nothing wrong with a header is passed over.

    tarfile takes a damaged header, and an end without the block of zeros that closes an archive, for its end: a tar
    that was cut behind a member then looks whole. Here both are errors, and so are sizes that no member can have.
    """

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Member:
        member = super().frombuf(buf, encoding, errors)
        if member.size < 0 or (member.type in _READ_AT_ONCE and member.size > LONGEST):
            raise tarfile.ReadError(f"a header of {member.size:,} bytes")
        return member

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Member:
        try:
            member = super().fromtarfile(archive)
        except tarfile.EOFHeaderError:
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(f"cut short, or a damaged header ({error})") from None
        if member.size < 0 or archive.offset <= member.offset:
            raise tarfile.ReadError(f"member {member.name!r} has a size below zero")
        return member
