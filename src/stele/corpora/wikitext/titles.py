"""Page titles and link targets: namespaces, interwiki prefixes and the normal form of a title.

The names of namespaces come from a dump's own siteinfo. catalogue/wikitext.yaml adds names that a siteinfo lacks.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from urllib.parse import unquote

from stele import catalogue
from stele.catalogue.schema.languages import Wikitext
from stele.corpora.wikitext.extensions import decode

UNKNOWN = "\0"  # replaces a template in a link's target; no page of an export has this character
MAIN, FILE, CATEGORY = 0, 6, 14
REMEMBERED = 1 << 15  # resolved link targets that a site caches, about 10 MB


MEDIA_TYPES = "jpe?g|png|gif|svg|tiff?|webp|xcf|pdf|djvu|og[agv]|webm|mp3|midi?|wav|flac|stl"
_MEDIA = re.compile(rf"\.(?:{MEDIA_TYPES})[ _]*$", re.I)
_SIMPLE_TITLE = re.compile(r"[a-zA-Z0-9.,()'-]++(?: [a-zA-Z0-9.,()'-]++)*+")  # is its own normal form
_DIRECTION = re.compile("[\u200e\u200f\u202a-\u202e]")  # marks of writing direction, which no title keeps
_BLANK = " _\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
_DOTTED_I = frozenset(("tr", "az", "kaa"))  # MediaWiki's LanguageTr, LanguageAz and LanguageKaa: i becomes İ
_FRAGMENT_OR_END = re.compile("#.*", re.S)


@cache
def _prefixes() -> tuple[frozenset[str], frozenset[str]]:
    """Prefixes of links to other languages, and to other projects."""
    names = catalogue.whole(Wikitext)
    return frozenset(names.languages.split()), frozenset(names.projects.split())


@dataclass(frozen=True)
class Site:
    """A dump's siteinfo: its language, whether titles begin with a capital, and local names of namespaces."""

    language: str = ""
    first_letter: bool = True
    local_names: dict[str, int] = field(default_factory=dict)

    @cached_property
    def namespaces(self) -> dict[str, int]:
        """Maps lower-case names of namespaces to numbers; the wiki's own names have priority."""
        names = old_names(self.language) | {"media": -2, "special": -1} | catalogue.whole(Wikitext).namespaces
        return names | {name.lower(): number for name, number in self.local_names.items() if name}

    def shows_nothing(self, prefix: str, rest: str) -> bool:
        """Whether a link `[[prefix:rest` shows no text: a link to a category, or to a file by prefix or file type.

        A link to `Media:` shows its text.
        """
        number = self._namespace(prefix)
        return number in (FILE, CATEGORY) or (number is None and _MEDIA.search(rest) is not None)

    @cached_property
    def _namespace(self) -> Callable[[str], int | None]:
        """Cached function from a link's prefix, as written, to its namespace's number; None for an unknown prefix."""

        def namespace(prefix: str) -> int | None:
            name = " ".join(prefix.replace("_", " ").strip(_BLANK).split()).lower()
            return self.namespaces.get(name) if name else MAIN

        return lru_cache(maxsize=1 << 10)(namespace)

    def prefix(self, title: str) -> tuple[int | None, str]:
        """Splits a title without a leading colon into (namespace, rest); for a title of another wiki the namespace is
        None, and the rest is "lang" or "project".
        """
        head, colon, rest = title.partition(":")
        if not colon:
            return MAIN, title
        name = " ".join(head.replace("_", " ").split()).lower()
        number = self.namespaces.get(name)
        if number is not None:
            return number, rest
        languages, projects = _prefixes()
        if name in languages:
            return None, "lang"
        return (None, "project") if name in projects else (MAIN, title)

    @cached_property
    def resolve(self) -> Callable[[str], tuple[str | None, str]]:
        """Cached function from a link target, as written, to (text that the link shows without a label, article).

        The text is None for files, categories and links to other languages; the article is "" if there is none. Recent
        targets are cached because pages of one topic are close in a dump and link to the same articles.
        """
        return lru_cache(maxsize=REMEMBERED)(self._resolve)

    def _resolve(self, target: str) -> tuple[str | None, str]:
        if _SIMPLE_TITLE.fullmatch(target):
            return target, self._capitalise(target) if self.first_letter and target[0].islower() else target
        if UNKNOWN in target:
            return " ".join(target.replace(UNKNOWN, "").split()) or " ", ""
        stripped = target.strip(_BLANK)
        colon = stripped.startswith(":")
        name = stripped[1:] if colon else stripped
        namespace, rest = self.prefix(decode(name)) if ":" in name or "&" in name else (MAIN, name)
        if not colon and (namespace in (FILE, CATEGORY) or (namespace is None and rest == "lang")):
            return None, ""
        return name if colon else target, self.normalise(name) if namespace == MAIN else ""

    def normalise(self, title: str) -> str:
        """Normalises a title to the page's form (spaces, no fragment, NFC, first letter); "" for a link within a page.

        >>> Site().normalise("foo_bar%21#Section")
        'Foo bar!'
        """
        if "&" in title:
            title = decode(title)
        if "%" in title:
            plain = unquote(title, errors="replace")
            title = title if "\ufffd" in plain else plain
        if "#" in title:
            title = _FRAGMENT_OR_END.sub("", title)
        if not title.isascii():
            title = unicodedata.normalize("NFC", _DIRECTION.sub("", title))
        title = " ".join(title.replace("_", " ").split())
        return self._capitalise(title) if self.first_letter else title

    def _capitalise(self, title: str) -> str:
        return "İ" + title[1:] if title[:1] == "i" and self.language in _DOTTED_I else capitalise(title)


def capitalise(title: str) -> str:
    """Capitalises the first letter as MediaWiki does: one character stays one, and Georgian has no capitals.

    >>> capitalise("ßtraße"), capitalise("école")
    ('ßtraße', 'École')
    """
    first = title[:1]
    upper = first.upper()
    return title if len(upper) != 1 or "\u10d0" <= first <= "\u10ff" else upper + title[1:]


def old_names(language: str) -> dict[str, int]:
    """Maps a language's old lower-case names of namespaces to their numbers; empty for a language without any.

    >>> old_names("sv")
    {'fil': 6, 'bild': 6, 'kategori': 14}
    """
    for old in catalogue.whole(Wikitext).old_names:
        if language in old.languages.split():
            pairs = (FILE, old.files), (CATEGORY, old.categories)
            return {name.replace("_", " "): number for number, words in pairs for name in words.split()}
    return {}
