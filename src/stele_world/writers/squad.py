"""SQuAD and the sets in its form: SQuAD v1.1 and v2.0, MLQA, LAReQA; and Belebele, of LAReQA's paragraphs."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from stele.files.reading import JsonObject
from stele_world.content.model import Article, Question, Sentence
from stele_world.site import Site, jsonl, zip_of
from stele_world.writers.library import Library, hex_id

SQUAD = "https://raw.githubusercontent.com/rajpurkar/SQuAD-explorer/master/dataset/{split}-v1.1.json"


def question_entry(question: Question, article: Article, sentence_start: int) -> JsonObject:
    """A question with the answer's offset in its paragraph, where the gold sentence begins at `sentence_start`."""
    sentence = article.sentences()[question.gold.sentence]
    start, end = sentence.value
    return {
        "answers": [{"answer_start": sentence_start + start, "text": sentence.text[start:end]}],
        "question": question.text,
        "id": hex_id(question.id),
    }


def by_entity(questions: Iterable[Question]) -> dict[str, list[Question]]:
    """Entity -> the questions whose answers its article has, in their order."""
    groups: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        groups[question.gold.entity].append(question)
    return groups


def _articles(library: Library, articles: list[Article], questions: Iterable[Question]) -> list[JsonObject]:
    """The articles that are asked about, each with the paragraphs that hold an answer and their questions."""
    asked, data = by_entity(questions), []
    for article in articles:
        if article.entity in asked:
            paragraphs = _paragraphs(library, article, asked[article.entity])
            data.append({"title": article.title.replace(" ", "_"), "paragraphs": paragraphs})
    return data


def _paragraphs(library: Library, article: Article, questions: list[Question]) -> list[JsonObject]:
    """The paragraphs of an article that are asked about."""
    between, paragraphs = library.between(article.language), article.paragraphs()
    asked: dict[int, list[JsonObject]] = defaultdict(list)
    for question in questions:
        number, within = article.paragraph_of(question.gold.sentence)
        start = sum(len(sentence.text) + len(between) for sentence in paragraphs[number][:within])
        asked[number].append(question_entry(question, article, start))
    return [
        {"context": between.join(sentence.text for sentence in paragraphs[number]), "qas": qas}
        for number, qas in sorted(asked.items())
    ]


def write_squad(site: Site, library: Library) -> None:
    """SQuAD v1.1: questions about paragraphs of English articles, with the offset of each answer.

    Format: rajpurkar/SQuAD-explorer, dataset/{train,dev}-v1.1.json.
    """
    for split in ("train", "dev"):
        data = _articles(library, library.articles("en"), library.world.questions("squad", "en", split))
        site.put(SQUAD.format(split=split), json.dumps({"data": data, "version": "1.1"}).encode())
        site.count("squad", **{split: sum(len(p["qas"]) for article in data for p in article["paragraphs"])})


SQUAD2 = "https://raw.githubusercontent.com/rajpurkar/SQuAD-explorer/master/dataset/{split}-v2.0.json"
UNANSWERED = 3  # every third question has one without an answer added, as in the real set


def write_squad2(site: Site, library: Library) -> None:
    """SQuAD v2.0: SQuAD's questions, and some about paragraphs that do not answer them.

    Format: rajpurkar/SQuAD-explorer, dataset/{train,dev}-v2.0.json. A question without an answer is a question on
    another entity, asked of a paragraph that does not name that one; what is plausible there is not written.
    """
    for split in ("train", "dev"):
        data = _squad2_articles(library, library.world.questions("squad", "en", split))
        site.put(SQUAD2.format(split=split), json.dumps({"version": "v2.0", "data": data}).encode())
        site.count("squad2", **{split: sum(len(p["qas"]) for article in data for p in article["paragraphs"])})


def _squad2_articles(library: Library, questions: list[Question]) -> list[JsonObject]:
    """The paragraphs that answer a question, with all that is asked of them."""
    between, articles = library.between("en"), {article.entity: article for article in library.articles("en")}
    asked: dict[tuple[str, int], list[JsonObject]] = defaultdict(list)
    places = [(q.entity, *articles[q.entity].paragraph_of(q.gold.sentence)) for q in questions]
    for number, (question, (entity, paragraph, within)) in enumerate(zip(questions, places, strict=True)):
        texts = articles[entity].paragraphs()[paragraph]
        start = sum(len(sentence.text) + len(between) for sentence in texts[:within])
        entry = {**question_entry(question, articles[entity], start), "is_impossible": False}
        asked[entity, paragraph].append(entry)
        other = questions[number - 1]
        if number % UNANSWERED == 0 and not _names(texts, entity, other.entity):
            name = hex_id(f"{other.id} {entity}")
            asked[entity, paragraph].append({"answers": [], "question": other.text, "id": name, "is_impossible": True})
    data: dict[str, list[JsonObject]] = defaultdict(list)
    for (entity, paragraph), qas in sorted(asked.items()):
        context = between.join(sentence.text for sentence in articles[entity].paragraphs()[paragraph])
        data[entity].append({"qas": qas, "context": context})
    return [
        {"title": articles[entity].title.replace(" ", "_"), "paragraphs": paragraphs}
        for entity, paragraphs in data.items()
    ]


def _names(paragraph: tuple[Sentence, ...], subject: str, entity: str) -> bool:
    """Whether a paragraph about `subject` is about an entity or names it."""
    return entity == subject or any(link.entity == entity for sentence in paragraph for link in sentence.mentions)


MLQA = "https://dl.fbaipublicfiles.com/MLQA/MLQA_V1.zip"
MLQA_LANGUAGES = ("ar", "de", "en", "es", "hi", "vi", "zh")
MLQA_DEV = 3  # every third article is dev's


def write_mlqa(site: Site, library: Library) -> None:
    """MLQA: the same questions in several languages about the same paragraphs in several, in a zip of SQuAD-like files.

    Format: facebookresearch/MLQA, MLQA_V1.zip: `MLQA_V1/{dev,test}/{split}-context-X-question-Y.json`; a question has
    the same id in all files. The paragraphs and questions are LAReQA's; some articles are dev's, the others test's.
    """
    world = library.world
    languages = [code for code in MLQA_LANGUAGES if code in world.languages]
    questions = {code: world.questions("lareqa", code, "test") for code in languages}
    texts = {code: {question.fact: question.text for question in asked} for code, asked in questions.items()}
    articles = {code: world.parallel_articles(code) for code in languages}
    members = {}
    for split in ("dev", "test"):
        for context in languages:
            chosen = [a for n, a in enumerate(articles[context]) if (n % MLQA_DEV == 0) == (split == "dev")]
            for asked in languages:
                translated = [
                    replace(question, text=texts[asked][question.fact])
                    for question in questions[context]
                    if question.fact in texts[asked]
                ]
                data = _articles(library, chosen, translated)
                name = f"MLQA_V1/{split}/{split}-context-{context}-question-{asked}.json"
                members[name] = json.dumps({"data": data, "version": "1.0"}).encode()
    site.put(MLQA, zip_of(members))


LAREQA = "https://raw.githubusercontent.com/google-research-datasets/lareqa/master/xquad-r/{language}.json"
LAREQA_LANGUAGES = ("ar", "de", "el", "en", "es", "hi", "ru", "th", "tr", "vi", "zh")


def _lareqa_paragraph(
    article: Article, texts: Sequence[str], between: str, questions: Sequence[tuple[int, Question]]
) -> JsonObject:
    """A paragraph with its sentences and the (sentence of the paragraph, question) pairs that are asked about it."""
    breaks, position = [], 0
    for text in texts:
        breaks.append([position, position + len(text)])
        position += len(text) + len(between)
    return {
        "context": between.join(texts),
        "qas": [dict(sorted(question_entry(question, article, breaks[n][0]).items())) for n, question in questions],
        "sentence_breaks": breaks,
        "sentences": list(texts),
    }


def _lareqa_article(article: Article, between: str, questions: Sequence[Question]) -> JsonObject:
    by_paragraph: dict[int, list[tuple[int, Question]]] = defaultdict(list)
    for question in questions:
        paragraph, sentence = article.paragraph_of(question.gold.sentence)
        by_paragraph[paragraph].append((sentence, question))
    texts = [[s.text for s in paragraph] for paragraph in article.paragraphs()]
    paragraphs = [_lareqa_paragraph(article, texts[n], between, pairs) for n, pairs in sorted(by_paragraph.items())]
    return {"paragraphs": paragraphs, "title": article.title.replace(" ", "_")}


def write_lareqa(site: Site, library: Library) -> None:
    """LAReQA's XQuAD-R: the same paragraphs and questions in every language, with the sentences marked.

    Format: google-research-datasets/lareqa, xquad-r/{language}.json: SQuAD v1.1 with `sentence_breaks` (character
    spans) and `sentences` in each paragraph; a question has the same id in all languages, and its answer one sentence
    in each.
    """
    world = library.world
    for language in (code for code in LAREQA_LANGUAGES if code in world.languages):
        questions = by_entity(world.questions("lareqa", language, "test"))
        data = [
            _lareqa_article(article, library.between(language), questions[article.entity])
            for article in world.parallel_articles(language)
            if article.entity in questions
        ]
        site.put(LAREQA.format(language=language), json.dumps({"data": data, "version": "1.1"}).encode())
        paragraphs = [p for article in data for p in article["paragraphs"]]
        asked, sentences = sum(len(p["qas"]) for p in paragraphs), sum(len(p["sentences"]) for p in paragraphs)
        site.count("lareqa", language, questions=asked, candidates=sentences)


BELEBELE = (
    "https://huggingface.co/datasets/facebook/belebele/resolve/75b399394a9803252cfec289d103de462763db7c"
    "/data/{variant}.jsonl"
)
BELEBELE_LINK = "https://en.wikibooks.org/wiki/{entity}/{paragraph}"
ANSWERS = 4
BELEBELE_DATE = "2023-05-03"


def write_belebele(site: Site, library: Library) -> None:
    """Belebele: the paragraphs of LAReQA's parallel articles with their questions, a file a variant.

    Format: facebook/belebele, data/{variant}.jsonl: {link, question_number, flores_passage, question, mc_answer1 ...
    mc_answer4, correct_answer_num, dialect, ds}. Rows are parallel over the variants; a link is a passage's.
    """
    world = library.world
    for language, variant in library.languages_with("belebele").items():
        articles = {article.entity: article for article in world.parallel_articles(language)}
        questions = [q for q in world.questions("lareqa", language, "test") if q.gold.entity in articles]
        rows = list(_belebele_rows(questions, articles, library.between(language), variant))
        site.put(BELEBELE.format(variant=variant), jsonl(rows))
        site.count("belebele", variant, questions=len(rows))


def _belebele_rows(
    questions: list[Question], articles: dict[str, Article], between: str, variant: str
) -> Iterator[JsonObject]:
    """A row a question; the wrong answers are those of the questions around it."""
    numbers: dict[str, int] = {}
    for place, question in enumerate(questions):
        article = articles[question.gold.entity]
        paragraph, _ = article.paragraph_of(question.gold.sentence)
        link = BELEBELE_LINK.format(entity=article.entity, paragraph=paragraph)
        numbers[link] = numbers.get(link, 0) + 1
        around = [questions[(place + n) % len(questions)].answers[0] for n in range(ANSWERS)]
        right = place % ANSWERS  # where the right answer stands: around[0] goes there
        answers = [*around[1 : right + 1], around[0], *around[right + 1 :]]
        yield {
            "link": link,
            "question_number": numbers[link],
            "flores_passage": between.join(sentence.text for sentence in article.paragraphs()[paragraph]),
            "question": question.text,
            **{f"mc_answer{n}": answer for n, answer in enumerate(answers, start=1)},
            "correct_answer_num": str(right + 1),
            "dialect": variant,
            "ds": BELEBELE_DATE,
        }
