"""A wiki's names of namespaces and words for redirects, from a dump's header and the file beside the dump.

The <siteinfo> in a dump's header names each namespace of the wiki once. {wiki}-{date}-siteinfo-namespaces.json.gz
beside the dump is the answer of MediaWiki's api.php?action=query&meta=siteinfo with namespaces, namespacealiases and
magicwords (in either of its two formats): names that a wiki still accepts, and its words for a redirect.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from stele.corpora.wikitext.titles import Site
from stele.errors import SteleError
from stele.files.reading import JsonObject, parse_json, reading

LARGEST = 16 << 20  # bytes of the file: Wikimedia's have some 200 kB
# what redirects begin with (MediaWiki's languages/messages): needed for exports before format 0.4, which mark none
_REDIRECT_WORDS = """
    تحويل пренасочване виж পুনর্নির্দেশ পুনঃনির্দেশ redirecció přesměruj ail-cyfeirio omdirigering
    weiterleitung ανακατευθυνση redirección redireccion suuna birzuzendu تغییر_مسیر تغییرمسیر
    ohjaus uudelleenohjaus redirection athsheoladh הפניה अनुप्रेषित पुनर्प्रेषित preusmjeri
    átirányítás alih tilvísun rinvia rinvio 転送 リダイレクト ｒｅｄｉｒｅｃｔ გადამისამართება 넘겨주기 peradresavimas
    пренасочување види തിരിച്ചുവിടുക पुनर्निर्देशन पुर्ननिर्देशन lencong doorverwijzing patrz
    przekieruj tam redirecionamento redirecteaza перенаправление перенапр преусмери preusmeri
    presmeruj preusmeritev ridrejto வழிமாற்று దారిమార్పు เปลี่ยนทาง yönlendirme юнәлтү
    перенаправлення رجوع_مکرر đổi 重定向 ווייטערפירן
"""


class Siteinfo(NamedTuple):
    """Further names of namespaces (name -> number) and words for redirects, in lower case without `#`."""

    names: dict[str, int]
    redirect_words: tuple[str, ...]


def site_of(language: str, case: str, names: Iterable[tuple[str | None, str | None]], siteinfo: Siteinfo) -> Site:
    """The Site of an export's header, whose `names` are (number, name) and come before those of `siteinfo`."""
    local = {name: int(key) for key, name in names if name and re.fullmatch("-?[0-9]{1,9}", key or "")}
    return Site(language, case != "case-sensitive", {**siteinfo.names, **local})


def read_siteinfo(path: Path | None) -> Siteinfo:
    """The names and words in the file beside a dump; none without one. Raises SteleError for a damaged file."""
    if path is None:
        return Siteinfo({}, ())
    what = "siteinfo of a wiki", "fetch it again or remove it"
    with reading(path, *what):
        with gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb") as handle:
            text = handle.read(LARGEST + 1)
        if len(text) > LARGEST:
            raise SteleError(f"{path}: more than {LARGEST >> 20} MB unpacked: no siteinfo of a wiki; fetch it again")
        answer = parse_json(text, path, *what)["query"]
        return Siteinfo(_names(answer), _words(answer))


def _names(answer: JsonObject) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for alias in answer.get("namespacealiases", ()):
        numbers[alias.get("alias") or alias["*"]] = int(alias["id"])
    for space in answer["namespaces"].values():
        numbers |= {space[key]: int(space["id"]) for key in ("canonical", "name", "*") if space.get(key)}
    return numbers


def _words(answer: JsonObject) -> tuple[str, ...]:
    words = (word["aliases"] for word in answer.get("magicwords", ()) if word["name"] == "redirect")
    return tuple(alias.lstrip("#").lower() for aliases in words for alias in aliases)


def redirect_pattern(siteinfo: Siteinfo) -> re.Pattern[str]:
    """Matches the beginning of a redirect's text; group 1 is its target."""
    words = "|".join(
        map(re.escape, sorted({*_REDIRECT_WORDS.split(), *siteinfo.redirect_words}, key=len, reverse=True))
    )
    return re.compile(rf"\s*#(?:\s*redirect|{words})(?!\w)[^\[\n]*\[\[([^\[\]|#\n]+)", re.I)
