"""Cutting articles into passages and choosing hard negatives, on cases worked by hand."""

from stele_world.content.model import Article, Fact, Question, Section, Sentence
from stele_world.writers.library import Collection, Lexical, Passage, hundred_words, paragraphs


def article(*groups):
    return Article(
        "Q1", "en", "Title", (Section("", tuple(tuple(Sentence(text) for text in group) for group in groups)),)
    )


def question(answer, sentence):
    return Question("q", "en", "When was it?", answer, Fact("Q1", "person.born", "year", answer), sentence)


def test_paragraphs_are_numbered_and_know_their_sentences():
    passages = paragraphs(article(["One.", "Two."], ["Three."]), 7, " ")
    assert [(p.id, p.text, p.first, p.last) for p in passages] == [("7#0", "One. Two.", 0, 1), ("7#1", "Three.", 2, 2)]


def test_a_hundred_words_end_in_the_middle_of_a_sentence():
    long = " ".join(f"w{n}" for n in range(98))
    passages = hundred_words(article([long + ".", "It was in old Rome then."]), 5)
    assert [len(p.text.split()) for p in passages] == [100, 4]
    assert [(p.id, p.first, p.last) for p in passages] == [("5", 0, 1), ("6", 1, 1)]
    assert passages[1].text == "in old Rome then."


def test_the_gold_passage_is_the_one_with_the_answer_not_only_with_a_part_of_the_sentence():
    long = " ".join(f"w{n}" for n in range(98))
    passages = Collection(hundred_words(article([long + ".", "It was in old Rome then."]), 1))
    assert passages.gold(question("Rome", 1)) == 1
    assert passages.gold(question("was in", 1)) is None  # the cut goes through the answer
    assert passages.gold(question("Rome", 0)) is None  # another sentence's answer


def test_hard_negatives_hold_no_answer_and_begin_with_the_same_page():
    texts = [
        ("Q1", "Rome was built in 19."),  # gold
        ("Q1", "Rome has a river."),
        ("Q2", "Rome fell in 19 too."),  # holds the answer
        ("Q3", "Rome had 1901 towers."),  # holds the answer's digits, in another number
        ("Q4", "Paris is far."),
    ]
    collection = Collection(Passage(str(n), "", text, entity, n, n) for n, (entity, text) in enumerate(texts))
    assert collection.hard(question("19", 0), "Rome built", 0, 3) == [1, 3]


def test_what_tells_the_fact_is_a_positive_and_no_hard_negative():
    rome = question("Rome", 0)
    texts = [
        ("Q3", "Born was the man there.", {rome.fact}),  # the page of the answer: without its name
        ("Q1", "The man was born in Rome.", {rome.fact}),  # gold
        ("Q2", "The man was born late.", set()),
    ]
    collection = Collection(
        Passage(str(n), "", text, e, 0, 0, frozenset(facts)) for n, (e, text, facts) in enumerate(texts)
    )
    assert collection.positives(rome) == [1, 0]
    assert collection.hard(rome, "man born", 1, 3) == [2]
    assert collection.positives(question("Paris", 0)) == []  # no gold passage


def test_only_whole_sentences_of_a_hundred_words_tell_their_facts():
    facts = [Fact("Q1", "person.born", "entity", f"Q{n}") for n in range(3)]
    sentences = [Sentence(" ".join(f"w{n}" for n in range(60)), fact=fact) for fact in facts]
    passages = hundred_words(Article("Q1", "en", "Title", (Section("", (tuple(sentences),)),)), 1)
    assert [p.facts for p in passages] == [{facts[0]}, {facts[2]}]  # the second sentence is cut


def test_nearest_passages_share_the_rarest_words():
    texts = ["a red fish", "a red dog", "a blue dog", *["a grey stone"] * 40]
    index = Lexical(texts)
    assert index.nearest("blue dog", 3, ()) == [2, 1]
    assert index.nearest("blue dog", 3, {2}) == [1]
    assert index.nearest("grey", 5, ()) == []  # in 40 of 43 passages: tells nothing


def test_scripts_without_blanks_are_matched_by_trigrams():
    index = Lexical(["ภาษาไทยไม่มีช่องว่างระหว่างคำ", "ตัวอักษรอื่นทั้งหมดไม่เหมือนกัน"])
    assert index.nearest("ไม่มีช่องว่างระหว่าง", 2, ())[0] == 0
