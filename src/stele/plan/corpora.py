"""Corpora: how much of each corpus is read, the shards of a Wikipedia dump, and the knowledge base."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from stele import catalogue
from stele.catalogue import user_documents
from stele.catalogue.schema.costs import Costs
from stele.catalogue.user_data import listing, part_files
from stele.errors import SteleError
from stele.plan.data import Data
from stele.plan.paths import Paths
from stele.plan.settings import Settings, cached_method, unreadable

KNOWLEDGE = ("wikipedia", "wikidata_items")  # the datasets that the knowledge base is made of
PACKED = (".xz", ".bz2", ".gz", ".zst")


def is_articles(name: str) -> bool:
    """Whether a file of a Wikipedia dump holds articles, by its name.

    >>> is_articles("x/enwiki-1-pages-articles.xml"), is_articles("enwiki-1-pages-articles-multistream-index.txt.bz2")
    (True, False)
    """
    return "pages-articles" in (base := Path(name).name) and "index" not in base


def text_a_byte(name: str) -> float:
    """Bytes of plain text per byte of a file, by its suffix."""
    costs = catalogue.whole(Costs)
    if name.endswith(".parquet"):
        return 1 / costs.documents_kept
    return costs.cc100_text if name.endswith(PACKED) else 1.0


@dataclass(frozen=True, eq=False, repr=False)
class Corpora:
    settings: Settings
    paths: Paths
    data: Data

    def first(self, corpus: str) -> int | None:
        """Number of documents or pages of a corpus that the scale reads; None for all, as with the user's own data."""
        return None if self.data.users_folder(corpus) else self.settings.sizes.corpora.first(corpus)

    # --- the user's files ---------------------------------------------------------------------------------------------
    @cached_method
    def _listing(self, folder: str) -> list[str]:
        return listing(folder) if Path(folder).expanduser().is_dir() else []

    @cached_method
    def user_files(self, dataset: str, part: str) -> dict[str, int] | None:
        """Path -> bytes of the user's files for a part of a dataset; None if the user gives none."""
        folder = self.data.users_folder(dataset)
        if not folder:
            return None
        source = self.data.resolve(dataset, part, self.data.part_languages(dataset, part))
        names = part_files(self._listing(folder), source)
        root = Path(folder).expanduser()
        try:
            return {name: (root / name).stat().st_size for name in names}
        except OSError as error:  # a link that leads nowhere
            raise unreadable(error) from None

    # --- sizes of texts, from the user's files, else from the catalogue's sizes and the scale's caps ------------------
    @cached_method
    def bytes_of_text(self, corpus: str, language: str) -> float:
        """Estimated bytes of plain text of a corpus in a language, from the user's files if there are any."""
        costs = catalogue.whole(Costs)
        if corpus == user_documents.DATASET:
            documents = self.settings.documents.get(language)
            return documents.size if documents else 0.0
        if corpus == "wikipedia":
            return float(self.dump_mb(language) << 20) * costs.wikipedia_text
        files = self.user_files(corpus, language)
        if files is not None:
            return sum(size * text_a_byte(name) for name, size in files.items())
        if corpus == "wikitext103":
            return costs.wikitext103_text
        return self.web_bytes(language) * costs.cc100_text

    def web_bytes(self, language: str) -> float:
        """Compressed bytes of CC-100 that are read for a language; 0 if CC-100 lacks the language."""
        whole = catalogue.load("cc100_sizes").get(self.settings.language(language).cc100, 0)
        first, costs = self.first("cc100"), catalogue.whole(Costs)
        return whole if first is None else min(whole, first * costs.web_document / costs.cc100_text)

    def documents(self, corpus: str, language: str) -> list[str]:
        """Records of the documents of a corpus in a language: one, or for Wikipedia one per shard."""
        if corpus != "wikipedia":
            return [self.paths.documents(corpus, language)]
        numbers = range(1, self.shards(language) + 1)
        return [self.paths.documents("wikipedia", f"{language}/{number}") for number in numbers]

    # --- dumps of Wikipedia -------------------------------------------------------------------------------------------
    def wiki(self, language: str) -> str:
        """Database name of a language's Wikipedia: "enwiki", or "zh_yuewiki" for the subdomain zh-yue.

        Raises SteleError if the language has no Wikipedia in languages.yaml.
        """
        entry = self.settings.language(language)
        if entry.wikipedia is None:
            raise SteleError(f"language {language}: languages.yaml names no Wikipedia for this language")
        return f"{entry.wikipedia.replace('-', '_')}wiki"

    def shards(self, language: str) -> int:
        """Number of shards of a Wikipedia dump, each read by one job: the scale's own number, or by the dump's size.

        1 for a user's single file without an index, and for a dump of unknown size.
        """
        users_files, wiki, sizes = (
            self.user_files("wikipedia", language) or {},
            self.wiki(language),
            self.settings.sizes,
        )
        articles = [size for name, size in users_files.items() if is_articles(name)]
        if len(articles) == 1 and not any("index" in Path(name).name for name in users_files):
            return 1
        if "wikipedia" in sizes.shards:
            return sizes.shards["wikipedia"]
        size = sum(articles) if articles else self._known_dumps.get(wiki)
        size = size or catalogue.load("dump_sizes").get(wiki)
        if size is None or "wikipedia" not in sizes.shard_bytes:
            return 1
        return max(1, round(size / sizes.shard_bytes["wikipedia"]))

    def dump_mb(self, *languages: str) -> int:
        """Estimated MB of some Wikipedias' dumps, from which time, memory and disk space are estimated."""
        sizes, xml = [], catalogue.whole(Costs).wikipedia_xml  # bytes per byte of the same dump compressed
        for code in languages:
            files = self.user_files("wikipedia", code)
            if files is None:
                sizes.append(self._known_dumps.get(self.wiki(code), 1 << 20))
            else:
                for name, size in files.items():
                    if is_articles(name):
                        sizes.append(size if name.endswith(PACKED) else round(size / xml))
        return sum(sizes) >> 20

    @cached_property
    def _known_dumps(self) -> dict[str, int]:
        """Estimated bytes that are read of each Wikipedia's dump, by wiki; empty at a generated scale."""
        known = {} if self.settings.generated else catalogue.load("dump_sizes")
        first, page = self.first("wikipedia"), catalogue.whole(Costs).dump_page
        return known if first is None else {wiki: min(size, round(first * page)) for wiki, size in known.items()}

    @cached_property
    def knowledge_wikis(self) -> list[str]:
        """The wikis whose pages are linked to Wikidata: those of all languages in scale, trained on or not.

        Otherwise a model in one more language would rerun the pass over Wikidata, and with it every knowledge base.
        """
        in_scale = self.data.in_scale(KNOWLEDGE)
        have = self.data.languages_of("wikipedia")
        return sorted({self.wiki(code) for code in have if in_scale is None or code in in_scale})
