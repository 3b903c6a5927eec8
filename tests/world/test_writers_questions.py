"""The files of questions and passages: formats, gold passages that exist and hold the answer, no shared questions."""

import ast
import csv
import io
import json
import re
import zipfile

import pytest

HUB = "https://huggingface.co/datasets"
MRTYDI = {"ar": "arabic", "en": "english", "ja": "japanese", "ru": "russian", "sw": "swahili", "th": "thai"}
DPR = "https://dl.fbaipublicfiles.com/dpr"
XOR = "https://nlp.cs.washington.edu/xorqa/XORQA_site/data"
RAW = "https://raw.githubusercontent.com"
SPLITS = ("train", "dev", "test")


def rows(generated, url):
    return [json.loads(line) for line in generated.open(url).decode().splitlines()]


def tydi(generated, language, split):
    return rows(generated, f"{HUB}/castorini/mr-tydi/resolve/main/mrtydi-v1.1-{MRTYDI[language]}/{split}.jsonl.gz")


def corpus(generated, language):
    name = MRTYDI[language]
    return rows(generated, f"{HUB}/castorini/mr-tydi-corpus/resolve/main/mrtydi-v1.1-{name}/corpus.jsonl.gz")


def hundred(generated, url):
    text = io.StringIO(generated.open(url).decode(), newline="")
    return list(csv.reader(text, delimiter="\t"))


# --- Mr. TyDi
@pytest.mark.parametrize("language", MRTYDI)
def test_mrtydi_judges_passages_of_the_corpus_and_shows_those_of_train(generated, language):
    passages = {row["docid"]: row for row in corpus(generated, language)}
    counts = generated.manifest["counts"]
    assert len(passages) == counts["mrtydi_corpus"]["passages"][language] > 50
    assert all(set(row) == {"docid", "title", "text"} and row["text"] for row in passages.values())
    assert all(re.fullmatch(r"\d+#\d+", docid) for docid in passages)
    ids = []
    for split in SPLITS:
        topics = tydi(generated, language, split)
        dataset = "mrtydi_train" if split == "train" else "mrtydi"
        assert len(topics) == counts[dataset][split][language] > 0
        ids += [t["query_id"] for t in topics]
        gold = {t["query_id"]: [p["docid"] for p in t["positive_passages"]] for t in topics}
        folder = f"{HUB}/castorini/mr-tydi/resolve/main/mrtydi-v1.1-{MRTYDI[language]}/ir-format-data"
        qrels = [line.split("\t") for line in generated.open(f"{folder}/qrels.{split}.txt").decode().splitlines()]
        assert [(q, d) for q, _, d, _ in qrels] == [(q, d) for q, actual in gold.items() for d in actual]
        assert all(iteration == "Q0" and relevance == "1" and d in passages for _, iteration, d, relevance in qrels)
        negatives = [(row["query_id"], p) for row in topics for p in row.get("negative_passages", ())]
        shown = [p for row in topics for p in row["positive_passages"]] + [p for _, p in negatives]
        if split == "train":
            assert all(p == passages[p["docid"]] for p in shown) and len(negatives) > 2 * len(topics)
            assert all(p["docid"] not in gold[name] for name, p in negatives)
        else:
            assert all(p["title"] == p["text"] == "" for p in shown) and not negatives
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("language", MRTYDI)
def test_mrtydi_gold_passages_tell_the_fact_that_is_asked(generated, language):
    """By the world, not by the writer: the paragraph of the gold sentence first, then all others that tell the fact."""
    passages = {row["docid"]: row for row in corpus(generated, language)}
    articles = {a.entity: a for a in generated.world.articles(language)}
    questions = generated.world.questions("mrtydi", language, "test")
    topics = tydi(generated, language, "test")
    assert [t["query"] for t in topics] == [q.text for q in questions]
    for topic, question in zip(topics, questions, strict=True):
        docid, *others = (p["docid"] for p in topic["positive_passages"])
        number, _ = articles[question.entity].paragraph_of(question.sentence)
        assert docid.endswith(f"#{number}") and passages[docid]["title"] == articles[question.entity].title
        assert question.answer in passages[docid]["text"]
        assert {(passages[d]["title"], int(d.partition("#")[2])) for d in (docid, *others)} == {
            (article.title, n)
            for article in articles.values()
            for n, paragraph in enumerate(article.paragraphs())
            if any(sentence.fact == question.fact for sentence in paragraph)
        }
    if language == "en":  # the page of the answer tells some facts, too
        assert {len(topic["positive_passages"]) for topic in topics} == {1, 2}


def test_mrtydi_page_numbers_are_those_of_the_wikipedia(generated):
    index = generated.open(
        "https://dumps.wikimedia.org/swwiki/20220801/swwiki-20220801-pages-articles-multistream-index.txt.bz2"
    ).decode()
    titles = {line.split(":", 2)[1]: line.split(":", 2)[2] for line in index.splitlines()}
    assert all(titles[row["docid"].partition("#")[0]] == row["title"] for row in corpus(generated, "sw"))


def test_the_combined_file_is_the_languages_one_after_another(generated):
    combined = rows(generated, f"{HUB}/castorini/mr-tydi/resolve/main/mrtydi-v1.1-combined/train.jsonl.gz")
    order = [language for language in generated.world.languages if language in MRTYDI]
    assert combined == [row for language in order for row in tydi(generated, language, "train")]


# --- DPR: Natural Questions and passages of 100 words
@pytest.mark.parametrize("url", [f"{DPR}/wikipedia_split/psgs_w100.tsv.gz", f"{XOR}/models/enwiki_20190201_w100.tsv"])
def test_hundred_word_passages_are_the_english_articles(generated, url):
    head, *body = hundred(generated, url)
    assert head == ["id", "text", "title"]
    assert [row[0] for row in body] == [str(n) for n in range(1, len(body) + 1)]
    words_of = {a.title: " ".join(s.text for s in a.sentences()).split() for a in generated.world.articles("en")}
    joined = {}
    for _, text, title in body:
        assert 0 < len(text.split()) <= 100
        joined.setdefault(title, []).append(text.split())
    assert {title: [word for block in blocks for word in block] for title, blocks in joined.items()} == words_of
    assert all(len(block) == 100 for blocks in joined.values() for block in blocks[:-1])


def test_every_text_of_psgs_w100_stands_in_quotes(generated):
    lines = generated.open(f"{DPR}/wikipedia_split/psgs_w100.tsv.gz").decode().splitlines()
    assert all(re.fullmatch(r'\d+\t".*"\t[^\t]+', line) for line in lines[1:])


def test_quotes_and_tabs_in_passages_survive_the_tsv():
    from stele_world.writers.dpr import passages_tsv
    from stele_world.writers.library import Passage

    made = [Passage("1", 'The "Title"', 'He said "no".', "Q1", 0, 0), Passage("2", "B", "plain", "Q2", 0, 0)]
    for quote_all in (True, False):
        text = io.StringIO(passages_tsv(made, quote_all).decode(), newline="")
        assert list(csv.reader(text, delimiter="\t"))[1:] == [[p.id, p.text, p.title] for p in made]


@pytest.mark.parametrize(
    ("source", "count"),
    [
        (f"{DPR}/data/retriever/biencoder-nq-train.json.gz", ("nq_dpr", "train")),
        (f"{DPR}/data/retriever/biencoder-nq-dev.json.gz", ("nq_dpr", "dev")),
        ("dpr_train_data.json", ("xor_dpr_train", "train")),
        ("dpr_dev_data.json", ("xor_dpr_train", "dev")),
    ],
)
def test_dpr_examples_have_a_gold_passage_with_the_answer_and_hard_negatives_without(generated, source, count):
    local = not source.startswith("https")
    data = (generated.user_data / "xor_dpr_train" / source).read_bytes() if local else generated.open(source)
    examples = json.loads(data)
    assert len(examples) == generated.manifest["counts"][count[0]][count[1]] > 0
    passages = {i: (text, title) for i, text, title in hundred(generated, f"{DPR}/wikipedia_split/psgs_w100.tsv.gz")}
    hard = 0
    for example in examples:
        assert {"question", "answers", "positive_ctxs", "negative_ctxs", "hard_negative_ctxs"} <= set(example)
        gold, *others = example["positive_ctxs"]
        assert any(answer in gold["text"] for answer in example["answers"])
        assert all(other["title"] in example["answers"] for other in others)  # the page of the answer tells it, too
        for context in [*example["positive_ctxs"], *example["hard_negative_ctxs"]]:
            assert passages[context["passage_id"]] == (context["text"], context["title"])
        for context in example["hard_negative_ctxs"]:
            assert context["passage_id"] not in {right["passage_id"] for right in example["positive_ctxs"]}
            words = re.findall(r"\w+", context["text"])
            assert not any(answer in words for answer in example["answers"])
        hard += len(example["hard_negative_ctxs"])
    assert hard >= 0.8 * len(examples)
    assert "generated data" in generated.manifest["labels"]


def test_nq_test_questions_have_lists_of_answers_that_stand_in_the_passages(generated):
    actual = hundred(generated, f"{DPR}/data/retriever/nq-test.qa.csv")
    assert len(actual) == generated.manifest["counts"]["nq_test"]["test"] > 0
    texts = [text for _, text, _ in hundred(generated, f"{DPR}/wikipedia_split/psgs_w100.tsv.gz")]
    for question, answers in actual:
        answers = ast.literal_eval(answers)
        assert question and answers and any(a in text for a in answers for text in texts)


# --- XOR-Retrieve
def test_xor_files_keep_the_traps_of_the_release(generated):
    files = {"train": "xor_train_retrieve_eng_span.jsonl", "dev": "xor_dev_retrieve_eng_span_v1_1.jsonl"}
    actual = {split: rows(generated, f"{XOR}/{name}") for split, name in files.items()}
    assert {row["lang"] for row in actual["train"]} == {" ar", "ja", "ru"}
    assert {row["lang"] for row in actual["dev"]} == {"ar", "ja", "ru"}
    assert all(list(row) == ["id", "question", "answers", "lang", "split"] for row in actual["train"] + actual["dev"])
    assert all(len(row["answers"]) == 1 for row in actual["train"])
    assert {len(row["answers"]) for row in actual["dev"]} >= {1, 2}
    assert any(row["answers"][0] in ("yes", "no") for row in actual["train"])
    ids = [row["id"] for of_split in actual.values() for row in of_split]
    assert len(set(ids)) == len(ids) and all(abs(int(i)) < 2**63 for i in ids)
    counts = generated.manifest["counts"]["xor_tydi"]
    assert all(len(of_split) == counts[split] for split, of_split in actual.items())
    countable = [row for row in actual["dev"] if row["answers"][0] not in ("yes", "no")]
    assert len(countable) == sum(counts["dev_countable"].values())
    texts = " ".join(text for _, text, _ in hundred(generated, f"{XOR}/models/enwiki_20190201_w100.tsv"))
    assert all(answer in texts for row in countable for answer in row["answers"])


# --- MARCO
def test_marco_lines_are_tevatrons(generated):
    train = rows(generated, f"{HUB}/Tevatron/msmarco-passage/resolve/main/train.jsonl.gz")
    assert len(train) == generated.manifest["counts"]["msmarco_passage"]["train"] > 0
    for row in train:
        assert list(row) == ["query_id", "query", "positive_passages", "negative_passages"]
        assert len(row["positive_passages"]) in (1, 2) and row["negative_passages"]
        docids = [p["docid"] for p in row["positive_passages"] + row["negative_passages"]]
        assert len(set(docids)) == len(docids)
        assert all(set(p) == {"docid", "title", "text"} for p in row["positive_passages"])
    corpus = rows(generated, f"{HUB}/Tevatron/msmarco-passage-corpus/resolve/main/corpus.jsonl.gz")
    assert len(corpus) == generated.manifest["counts"]["msmarco_passage_corpus"]["passages"]
    by_id = {row["docid"]: row for row in corpus}
    assert len(by_id) == len(corpus)
    assert all(by_id[p["docid"]] == p for row in train for p in row["positive_passages"] + row["negative_passages"])
    dev = rows(generated, f"{HUB}/Tevatron/msmarco-passage/resolve/main/dev.jsonl.gz")
    assert all(set(row) == {"query_id", "query"} for row in dev)
    assert not {row["query_id"] for row in dev} & {row["query_id"] for row in train}


# --- SQuAD and LAReQA
def asked(text):
    """(article, paragraph, question) of a file of SQuAD's form; each answer stands where its offset says."""
    for article in json.loads(text)["data"]:
        for paragraph in article["paragraphs"]:
            for question in paragraph["qas"]:
                for answer in question["answers"]:
                    assert paragraph["context"][answer["answer_start"] :].startswith(answer["text"]) and answer["text"]
                yield article, paragraph, question


@pytest.mark.parametrize("split", ["train", "dev"])
def test_squad_has_one_answer_a_question_and_squad_2_further_ones_without(generated, split):
    address = f"{RAW}/rajpurkar/SQuAD-explorer/master/dataset/{split}-v"
    one, two = (generated.open(f"{address}{version}.json") for version in ("1.1", "2.0"))
    assert (json.loads(one)["version"], json.loads(two)["version"]) == ("1.1", "v2.0")
    answered = {question["id"]: (p["context"], question) for _, p, question in asked(one)}
    assert all(len(q["answers"]) == 1 and re.fullmatch(r"[0-9a-f]{24}", name) for name, (_, q) in answered.items())
    assert len(answered) == generated.manifest["counts"]["squad"][split] > 0
    contexts = {question["question"]: context for context, question in answered.values()}
    questions = [(paragraph["context"], question) for _, paragraph, question in asked(two)]
    assert len({question["id"] for _, question in questions}) == len(questions)
    assert len(questions) == generated.manifest["counts"]["squad2"][split] > len(answered)
    for context, question in questions:
        if not question.pop("is_impossible"):
            assert answered.pop(question["id"]) == (context, question)
        else:
            assert question["answers"] == [] and contexts[question["question"]] != context
    assert not answered


def test_mlqa_asks_the_same_in_all_pairs_of_its_languages(generated):
    content = zipfile.ZipFile(io.BytesIO(generated.open("https://dl.fbaipublicfiles.com/MLQA/MLQA_V1.zip")))
    codes = ("ar", "de", "en")  # of MLQA's, those of this world
    names = [f"MLQA_V1/{s}/{s}-context-{c}-question-{q}.json" for s in ("dev", "test") for c in codes for q in codes]
    assert sorted(content.namelist()) == sorted(names)
    read = {name: {q["id"]: (p["context"], q) for _, p, q in asked(content.read(name))} for name in names}
    assert all(len(question["answers"]) == 1 for own in read.values() for _, question in own.values())
    for split in ("dev", "test"):
        of = {(c, q): read[f"MLQA_V1/{split}/{split}-context-{c}-question-{q}.json"] for c in codes for q in codes}
        assert len({frozenset(own) for own in of.values()}) == 1 and of["en", "en"]
        for name, (context, question) in of["de", "ar"].items():
            assert context == of["de", "de"][name][0] and question["answers"] == of["de", "de"][name][1]["answers"]
            assert question["question"] == of["ar", "ar"][name][1]["question"]
    dev, test = (
        {context for name, own in read.items() if f"/{split}/" in name for context, _ in own.values()}
        for split in ("dev", "test")
    )
    assert not dev & test


def test_lareqa_asks_the_same_in_every_language_with_the_sentences_marked(generated):
    ids, counts = {}, generated.manifest["counts"]["lareqa"]
    for language in ("ar", "de", "en", "ru", "th"):
        text = generated.open(f"{RAW}/google-research-datasets/lareqa/master/xquad-r/{language}.json")
        candidates = 0
        for paragraph in (p for article in json.loads(text)["data"] for p in article["paragraphs"]):
            assert list(paragraph) == ["context", "qas", "sentence_breaks", "sentences"]
            actual = [paragraph["context"][start:end] for start, end in paragraph["sentence_breaks"]]
            assert actual == paragraph["sentences"] and len(set(actual)) == len(actual)
            candidates += len(actual)
        ids[language] = []
        for _, paragraph, question in asked(text):
            (answer,) = question["answers"]
            assert sum(a <= answer["answer_start"] < b for a, b in paragraph["sentence_breaks"]) == 1
            ids[language].append(question["id"])
        assert (len(ids[language]), candidates) == (counts["questions"][language], counts["candidates"][language])
    assert ids["en"] and all(sorted(actual) == sorted(ids["en"]) for actual in ids.values())
