"""Writer of Mewsli-X: mentions in news of eleven languages, English training pairs from Wikipedia, candidate entities.

Format: mewsli-x.md and mewsli_x/schema.py of google-research/google-research,
dense_representations_for_entity_retrieval/mel.
Upstream's archive has no news texts (`wikinews_mentions_no_text-*.jsonl`); its script get-mewsli-x.sh restores them
from the dumps of WikiNews, on the user's machine. The generated archive has none, either; the output of the script,
`wikinews_mentions-*.jsonl`, is in the user's own data.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from urllib.parse import quote

from stele.files.reading import JsonObject
from stele_world.content.draws import stream
from stele_world.content.generate import mentions
from stele_world.content.model import Mention
from stele_world.site import Site, jsonl, zip_of
from stele_world.writers.library import Library, spans

URL = "https://storage.googleapis.com/gresearch/mewsli/mewsli-x_20220518_6.zip"
NEWS = "mewsli_x_news"
LANGUAGES = ("ar", "de", "en", "es", "fa", "ja", "pl", "ro", "ta", "tr", "uk")
FIRST_ARTICLE = {"dev": 100_000, "test": 200_000}  # numbers of the news articles of a split
DESCRIBED = 3  # sentences of a description, at most


def _span(mention: Mention, sentence: dict[str, int]) -> JsonObject:
    start = sentence["start"] + mention.start
    return {"start": start, "end": start + len(mention.surface), "text": mention.surface}


def example_id(mention: Mention) -> str:
    return hashlib.md5(f"{mention.language} {mention.id}".encode(), usedforsecurity=False).hexdigest()


def _page_url(language: str, title: str) -> str:
    return f"https://{language}.wikipedia.org/wiki/{quote(title.replace(' ', '_'))}"


def descriptions(library: Library, languages: Iterable[str]) -> dict[str, dict[str, JsonObject]]:
    """Descriptions of entities, entity -> language -> the first sentences of its page's lead."""
    by_entity: dict[str, dict[str, JsonObject]] = {}
    for language in languages:
        between = library.between(language)
        for article in library.articles(language):
            texts = [s.text for s in article.sentences()[:DESCRIBED]]
            by_entity.setdefault(article.entity, {})[language] = {
                "entity_id": article.entity,
                "title": article.title,
                "description": between.join(texts),
                "description_language": language,
                "description_url": _page_url(language, article.title),
                "sentence_spans": spans(texts, between),
            }
    return by_entity


def _news(mentions: Sequence[Mention], number: int, library: Library) -> JsonObject:
    """Line of wikinews_mentions*.jsonl: an article built from the shared context of mentions, below a headline."""
    language, title, context = mentions[0].language, mentions[0].surface, mentions[0].context
    between, lead = library.between(language), f"{title}\n\n"
    text = lead + between.join(context)
    sentences = [{"start": 0, "end": len(title)}, *spans(context, between, len(lead))]
    md5 = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
    page = {"curid": str(number), "revid": str(10 * number), "text_md5": md5}
    about = {
        "document_title": title,
        "document_url": f"https://{language}.wikinews.org/wiki?curid={number}",
        "document_id": f"{language}-{number}",
        "language": language,
        "text": text,
        "sentence_spans": sentences,
    }
    listed = [
        {
            "example_id": example_id(mention),
            "mention_span": _span(mention, sentences[1 + mention.sentence]),
            "entity_id": mention.entity,
            "metadata": {**page, "mention_url": _link(library, mention)},
        }
        for mention in mentions
    ]
    return {"context": about, "mentions": listed}


def _link(library: Library, mention: Mention) -> str:
    """Address of the page to which a mention links: in its own language if there is one, else in English; by http."""
    title = library.titles(mention.language).get(mention.entity)
    language = mention.language if title else "en"
    return _page_url(language, title or library.world.entities[mention.entity].names["en"]).replace("https", "http", 1)


def pair(mention: Mention, entity: JsonObject, between: str, page: JsonObject) -> JsonObject:
    """Line of wikipedia_pairs-*.jsonl: a mention in the English page `page`, and the entity that it means."""
    sentences = spans(mention.context, between)
    context = {
        "document_title": page["title"],
        "document_url": page["description_url"],
        "document_id": page["entity_id"],
        "language": mention.language,
        "text": between.join(mention.context),
        "sentence_spans": sentences,
        "section_title": "",
    }
    span = _span(mention, sentences[mention.sentence])
    fields = {"example_id": example_id(mention), "mention_span": span, "entity_id": mention.entity}
    return {"contextual_mention": {"context": context, "mention": fields}, "entity": entity}


def write_mewsli(site: Site, library: Library) -> None:
    world = library.world
    described = descriptions(library, world.languages)
    chosen = {
        entity: by_language[stream(world.seed, "mewsli description", entity).pick(sorted(by_language))]
        for entity, by_language in described.items()
    }
    files = {"candidate_set_entities.jsonl": jsonl(chosen[entity] for entity in sorted(chosen))}
    site.count("mewsli_x", candidates=len(chosen))
    for split in ("train", "dev"):
        rows = [
            pair(m, described[m.entity]["en"], library.between("en"), described[page]["en"])
            for page, m in _in_wikipedia(library, split)
            if "en" in described.get(m.entity, {})
        ]
        files[f"wikipedia_pairs-{split}.jsonl"] = jsonl(rows)
        site.count("mewsli_x", **{split: len(rows)})
    files |= _news_files(site, library)
    files = dict(sorted(files.items()))
    site.put(URL, b"".join(files.values()), zip_of(files))


def _in_wikipedia(library: Library, split: str) -> Iterator[tuple[str, Mention]]:
    """Yields (entity of the page, mention) for entities of the split in English Wikipedia."""
    world, left = library.world, getattr(library.world.sizes.mentions, split)
    for article in library.articles("en"):
        mentions_found = mentions("en", split, left, world.entities, iter(article.paragraphs()))
        left -= len(mentions_found)
        for mention in mentions_found:
            yield article.entity, replace(mention, id=f"wikipedia {article.entity} {mention.id}")


def _news_files(site: Site, library: Library) -> dict[str, bytes]:
    """The archive's files about the news; the output of its script goes to the user's own data."""
    languages = [code for code in LANGUAGES if code in library.world.languages]
    files = {}
    for split in ("dev", "test"):
        released, restored = [], []
        for language in languages:
            mentions_found = library.world.mentions(language, split)
            contexts = [list(group) for _, group in groupby(mentions_found, key=lambda m: m.context)]
            for number, group in enumerate(contexts, FIRST_ARTICLE[split]):
                restored.append(article := _news(group, number, library))
                released.append({**article, "context": {**article["context"], "text": ""}})
            if split == "test":
                for dataset in ("mewsli_x", NEWS):
                    site.count(dataset, language, test=len(mentions_found))
        files[f"wikinews_mentions_no_text-{split}.jsonl"] = jsonl(released)
        site.put_licensed(NEWS, f"wikinews_mentions-{split}.jsonl", jsonl(restored))
    return files
