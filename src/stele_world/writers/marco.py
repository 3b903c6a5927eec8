"""MS MARCO: Tevatron's files of it, and its translations."""

from collections.abc import Iterable

from stele.catalogue.datasets import dataset, languages_of
from stele_world.content.model import Question
from stele_world.site import Site, jsonl, lines
from stele_world.writers.library import Library

MARCO = "https://huggingface.co/datasets/Tevatron/msmarco-passage/resolve/main/{split}.jsonl.gz"
MARCO_CORPUS = "https://huggingface.co/datasets/Tevatron/msmarco-passage-corpus/resolve/main/corpus.jsonl.gz"
NEGATIVES = 4  # per query; upstream has 30


def answered(library: Library) -> list[tuple[Question, list[int]]]:
    """The training questions, with ids from 0, and the numbers of the passages that answer each."""
    collection = library.paragraphs("en")
    asked = [(question, collection.positives(question)) for question in library.world.questions("marco", "en", "train")]
    return [(question, positives) for question, positives in asked if positives]


def write_marco(site: Site, library: Library) -> None:
    """Writes MS MARCO as in Tevatron: training lines (query, positive, BM25 negatives), and all passages.

    Formats: the datasets Tevatron/msmarco-passage and Tevatron/msmarco-passage-corpus on the Hugging Face hub
    (msmarco-passage.py, msmarco-passage-corpus.py there); dev has queries only. A passage has the same id in both.
    """
    collection = library.paragraphs("en")

    def passage(number: int) -> dict[str, str]:
        chosen = collection.passages[number]
        return {"docid": str(number), "title": chosen.title, "text": chosen.text}

    rows = [
        {
            "query_id": str(number),
            "query": asked.text,
            "positive_passages": [passage(n) for n in positives],
            "negative_passages": [passage(n) for n in collection.hard(asked, asked.text, positives[0], NEGATIVES)],
        }
        for number, (asked, positives) in enumerate(answered(library))
    ]
    dev = [
        {"query_id": str(len(rows) + n), "query": q.text}
        for n, q in enumerate(library.world.questions("marco", "en", "dev"))
    ]
    site.put(MARCO.format(split="train"), jsonl(rows))
    site.put(MARCO.format(split="dev"), jsonl(dev))
    site.count("msmarco_passage", train=len(rows), dev=len(dev))
    site.put(MARCO_CORPUS, jsonl(map(passage, range(len(collection.passages)))))
    site.count("msmarco_passage_corpus", passages=len(collection.passages))


MMARCO = "https://huggingface.co/datasets/unicamp-dl/mmarco/resolve/main/data/google"
QRELS = "https://msmarco.z22.web.core.windows.net/msmarcoranking/qrels.train.tsv"
TRANSLATED = "translated_marco"  # for the languages that mMARCO lacks


def write_mmarco(site: Site, library: Library) -> None:
    """Writes MS MARCO in other languages: mMARCO's files and judgments, and a user's pairs for languages it lacks.

    Formats: the dataset unicamp-dl/mmarco on the Hugging Face hub (folder google) and qrels.train.tsv of MS MARCO. A
    translation states the facts of the English text in newly drawn words of the language.
    """
    asked = answered(library)
    judged = [(row, passage) for row, (_, passages) in enumerate(asked) for passage in passages]
    site.put(QRELS, lines(f"{row}\t0\t{passage}\t1" for row, passage in judged))
    names = library.languages_with("mmarco")
    for language in library.world.languages:
        if language in languages_of(dataset("mmarco")):
            queries = (library.world.asked_again(language, question) for question, _ in asked)
            site.put(f"{MMARCO}/queries/train/{names[language]}_queries.train.tsv", _numbered(queries))
            passages = (translated(library, language, n) for n in range(len(library.paragraphs("en").passages)))
            site.put(f"{MMARCO}/collections/{names[language]}_collection.tsv", _numbered(passages))
        elif language in languages_of(dataset(TRANSLATED)):
            pairs = (
                {
                    "query": library.world.asked_again(language, question),
                    "positives": [{"text": translated(library, language, passages[0])}],
                }
                for question, passages in asked
            )
            site.put_licensed(TRANSLATED, "train.jsonl", jsonl(pairs))


def translated(library: Library, language: str, number: int) -> str:
    """Translates a passage of the English collection."""
    passage = library.paragraphs("en").passages[number]
    article = library.world.article("en", passage.entity)
    sentences = article.sentences()[passage.first : passage.last + 1] if article else []
    return library.between(language).join(library.world.told_again(language, sentences, number))


def _numbered(texts: Iterable[str]) -> bytes:
    return lines(f"{number}\t{text}" for number, text in enumerate(texts))
