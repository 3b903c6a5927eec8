"""Other extractors of plain text from wikitext, made to run alike; one that is not installed is left out.

mwparserfromhell is a requirement of the tests. The others are installed for this benchmark only, best into a folder of
their own that is then put on PYTHONPATH (after `src`), since they need none of our packages to change. The version of
wikiextractor is the one that the ratio is measured against: 3.1 is slower.

    pip install --no-deps --target PEERS wikiextractor==3.0.6 wikitextparser gensim smart_open wcwidth regex wrapt
"""

import html
import importlib.util
import logging
import re
import types
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from stele.corpora.wikitext.titles import Site

_ANCHOR = re.compile(r'<a href="([^"]*)">')


class Peer(NamedTuple):
    """An extractor: its version; wikitext -> plain text; wikitext -> (plain text, targets of links), or None."""

    version: str
    text: Callable[[str], str]
    links: Callable[[str], tuple[str, list[str]]] | None


def peers(site: Site) -> tuple[dict[str, Peer], dict[str, str]]:
    """The installed peers by name, and what is missing by name; `site` gives wikiextractor the local namespaces."""
    makers = {
        "wikiextractor": lambda: _wikiextractor(site),
        "mwparserfromhell": _mwparserfromhell,
        "wikitextparser": _wikitextparser,
        "gensim": _gensim,
    }
    found: dict[str, Peer] = {}
    missing: dict[str, str] = {}
    for name, make in makers.items():
        try:
            text, links = make()
            found[name] = Peer(metadata.version(name), text, links)
        except ImportError as error:
            missing[name] = f"{error}; `pip install {name}`"
    return found, missing


def load_wikiextractor() -> types.ModuleType:
    """Its module `extract`. Python 3.11 refuses two of its patterns for an inline `(?i)` that is not at the start;
    without the two flags it loads, and then takes protocols of external links in lower case only.
    """
    spec = importlib.util.find_spec("wikiextractor")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("wikiextractor is not installed")
    path = Path(spec.submodule_search_locations[0], "extract.py")
    module = types.ModuleType("wikiextractor.extract")
    exec(compile(path.read_text().replace("(?i)", ""), str(path), "exec"), module.__dict__)
    logging.getLogger("wikiextractor").setLevel(logging.ERROR)
    return module


def _wikiextractor(site: Site):
    """Templates dropped, not expanded, as ours; links are read back from its anchors."""
    extract = load_wikiextractor()
    known = {name for name in site.local_names if name}

    def clean(wikitext: str, links: bool) -> str:
        extractor = extract.Extractor("1", "1", "", "A page", [wikitext])
        extractor.keepLinks, extractor.knownNamespaces = links, known
        return "\n".join(extractor.clean_text(wikitext, expand_templates=False, html_safe=False))

    def with_links(wikitext: str) -> tuple[str, list[str]]:
        text = clean(wikitext, True)
        return text, [html.unescape(unquote(target)) for target in _ANCHOR.findall(text)]

    return lambda wikitext: clean(wikitext, False), with_links


def _mwparserfromhell():
    import mwparserfromhell

    def both(wikitext: str) -> tuple[str, list[str]]:
        code = mwparserfromhell.parse(wikitext)
        return code.strip_code(), [str(link.title) for link in code.ifilter_wikilinks(recursive=False)]

    return lambda wikitext: mwparserfromhell.parse(wikitext).strip_code(), both


def _wikitextparser():
    import wikitextparser

    def both(wikitext: str) -> tuple[str, list[str]]:
        page = wikitextparser.parse(wikitext)
        targets = [link.target for link in page.wikilinks]
        return page.plain_text(), targets

    return lambda wikitext: wikitextparser.parse(wikitext).plain_text(), both


def _gensim():
    """Text only: its own links come from another pass over the page."""
    from gensim.corpora.wikicorpus import filter_wiki

    return filter_wiki, None
