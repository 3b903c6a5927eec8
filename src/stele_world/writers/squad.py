"""Writers of SQuAD and sets in its form: SQuAD v1.1 and v2.0, MLQA, LAReQA; and of Belebele."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from stele.files.reading import JsonObject
from stele_world.content.model import Article, Question, Sentence
from stele_world.site import Site, jsonl, zip_of
from stele_world.writers.library import Library, hex_id, spans

Asked = dict[int, list[Question]]
SQUAD = "https://raw.githubusercontent.com/rajpurkar/SQuAD-explorer/master/dataset/{split}-v1.1.json"


def question_entry(library: Library, article: Article, question: Question) -> JsonObject:
    """Formats a question with the answer's offset in its paragraph."""
    number, within = article.paragraph_of(question.sentence)
    paragraph = article.paragraphs()[number]
    between = library.between(article.language)
    offset = sum(len(sentence.text) + len(between) for sentence in paragraph[:within])
    start, end = paragraph[within].value
    return {
        "answers": [{"answer_start": offset + start, "text": paragraph[within].text[start:end]}],
        "question": question.text,
        "id": hex_id(question.id),
    }


def asked_about(articles: Iterable[Article], questions: Iterable[Question]) -> Iterator[tuple[Article, Asked]]:
    """Yields the articles with questions, each with its questions by paragraph number."""
    of_entity: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        of_entity[question.entity].append(question)
    for article in articles:
        asked: Asked = defaultdict(list)
        for question in of_entity[article.entity]:
            asked[article.paragraph_of(question.sentence)[0]].append(question)
        if asked:
            yield article, asked


def _paragraph(library: Library, article: Article, number: int, questions: list[Question]) -> JsonObject:
    context = library.text(article.language, article.paragraphs()[number])
    return {"context": context, "qas": [question_entry(library, article, question) for question in questions]}


def _articles(
    library: Library, articles: Iterable[Article], questions: Iterable[Question], paragraph: Callable = _paragraph
) -> list[JsonObject]:
    """Formats articles: the paragraphs that contain an answer, each with its questions."""
    return [
        {
            "title": article.title.replace(" ", "_"),
            "paragraphs": [paragraph(library, article, number, asked[number]) for number in sorted(asked)],
        }
        for article, asked in asked_about(articles, questions)
    ]


def _put(site: Site, url: str, dataset: str, split: str, answer: JsonObject) -> None:
    site.put(url, json.dumps(answer).encode())
    site.count(dataset, **{split: sum(len(p["qas"]) for article in answer["data"] for p in article["paragraphs"])})


def write_squad(site: Site, library: Library) -> None:
    """Writes SQuAD v1.1: questions about paragraphs of English articles, with the offset of each answer.

    Format: rajpurkar/SQuAD-explorer, dataset/{train,dev}-v1.1.json.
    """
    for split in ("train", "dev"):
        data = _articles(library, library.articles("en"), library.world.questions("squad", "en", split))
        _put(site, SQUAD.format(split=split), "squad", split, {"data": data, "version": "1.1"})


SQUAD2 = "https://raw.githubusercontent.com/rajpurkar/SQuAD-explorer/master/dataset/{split}-v2.0.json"
UNANSWERED = 3  # every third question has one without an answer added, as in the real set


def write_squad2(site: Site, library: Library) -> None:
    """Writes SQuAD v2.0: SQuAD's questions, and some about paragraphs that do not answer them.

    Format: rajpurkar/SQuAD-explorer, dataset/{train,dev}-v2.0.json. A question without an answer is a question about
    another entity that its paragraph does not name; `plausible_answers` are not written.
    """
    for split in ("train", "dev"):
        data = _squad2_articles(library, library.world.questions("squad", "en", split))
        _put(site, SQUAD2.format(split=split), "squad2", split, {"version": "v2.0", "data": data})


def _squad2_articles(library: Library, questions: list[Question]) -> list[JsonObject]:
    others = {q.id: questions[number - 1] for number, q in enumerate(questions) if number % UNANSWERED == 0}

    def paragraph(library: Library, article: Article, number: int, asked: list[Question]) -> JsonObject:
        sentences, qas = article.paragraphs()[number], []
        for question in asked:
            qas.append({**question_entry(library, article, question), "is_impossible": False})
            other = others.get(question.id)
            if other and not _names(sentences, article.entity, other.entity):
                name = hex_id(f"{other.id} {article.entity}")
                qas.append({"answers": [], "question": other.text, "id": name, "is_impossible": True})
        return {"qas": qas, "context": library.text("en", sentences)}

    return _articles(library, sorted(library.articles("en"), key=lambda a: a.entity), questions, paragraph)


def _names(paragraph: tuple[Sentence, ...], subject: str, entity: str) -> bool:
    return entity == subject or any(link.entity == entity for sentence in paragraph for link in sentence.mentions)


MLQA = "https://dl.fbaipublicfiles.com/MLQA/MLQA_V1.zip"
MLQA_LANGUAGES = ("ar", "de", "en", "es", "hi", "vi", "zh")
MLQA_DEV = 3  # every third article is dev's


def write_mlqa(site: Site, library: Library) -> None:
    """Writes MLQA: questions and paragraphs, both in several languages, in a zip of SQuAD-like files.

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


def write_lareqa(site: Site, library: Library) -> None:
    """Writes LAReQA's XQuAD-R: equal paragraphs and questions in every language, with sentence boundaries.

    Format: google-research-datasets/lareqa, xquad-r/{language}.json: SQuAD v1.1 with `sentence_breaks` (character
    spans) and `sentences` in each paragraph. A question has the same id in all languages, and its answer is in one
    sentence in each.
    """
    world = library.world
    for language in (code for code in LAREQA_LANGUAGES if code in world.languages):
        questions, articles = world.questions("lareqa", language, "test"), world.parallel_articles(language)
        data = _articles(library, articles, questions, _marked_paragraph)
        answer = {"data": data, "version": "1.1"}
        site.put(LAREQA.format(language=language), json.dumps(answer, sort_keys=True).encode())
        paragraphs = [p for article in data for p in article["paragraphs"]]
        asked, sentences = sum(len(p["qas"]) for p in paragraphs), sum(len(p["sentences"]) for p in paragraphs)
        site.count("lareqa", language, questions=asked, candidates=sentences)


def _marked_paragraph(library: Library, article: Article, number: int, questions: list[Question]) -> JsonObject:
    sentences = [sentence.text for sentence in article.paragraphs()[number]]
    breaks = [[*span.values()] for span in spans(sentences, library.between(article.language))]
    return {**_paragraph(library, article, number, questions), "sentence_breaks": breaks, "sentences": sentences}


BELEBELE = (
    "https://huggingface.co/datasets/facebook/belebele/resolve/75b399394a9803252cfec289d103de462763db7c"
    "/data/{variant}.jsonl"
)
BELEBELE_LINK = "https://en.wikibooks.org/wiki/{entity}/{paragraph}"
ANSWERS = 4
BELEBELE_DATE = "2023-05-03"


def write_belebele(site: Site, library: Library) -> None:
    """Writes Belebele: the paragraphs of LAReQA's parallel articles with their questions, a file per variant.

    Format: facebook/belebele, data/{variant}.jsonl: {link, question_number, flores_passage, question, mc_answer1 ...
    mc_answer4, correct_answer_num, dialect, ds}. Rows are parallel over the variants; rows with the same link share a
    passage.
    """
    for language, variant in library.languages_with("belebele").items():
        rows = list(_belebele_rows(library, language, variant))
        site.put(BELEBELE.format(variant=variant), jsonl(rows))
        site.count("belebele", variant, questions=len(rows))


def _belebele_rows(library: Library, language: str, variant: str) -> Iterator[JsonObject]:
    """Yields a row per question; wrong answers come from the neighbouring questions."""
    articles = {article.entity: article for article in library.world.parallel_articles(language)}
    questions = library.world.questions("lareqa", language, "test")
    numbers = Counter()
    for place, question in enumerate(questions):
        article = articles[question.entity]
        paragraph, _ = article.paragraph_of(question.sentence)
        link = BELEBELE_LINK.format(entity=article.entity, paragraph=paragraph)
        numbers[link] += 1
        around = [questions[(place + n) % len(questions)].answer for n in range(ANSWERS)]
        right = place % ANSWERS  # the place of the right answer, around[0]
        answers = [*around[1 : right + 1], around[0], *around[right + 1 :]]
        yield {
            "link": link,
            "question_number": numbers[link],
            "flores_passage": library.text(language, article.paragraphs()[paragraph]),
            "question": question.text,
            **{f"mc_answer{n}": answer for n, answer in enumerate(answers, start=1)},
            "correct_answer_num": str(right + 1),
            "dialect": variant,
            "ds": BELEBELE_DATE,
        }
