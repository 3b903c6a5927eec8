"""The benchmarks' native files become query sets, queries, passages, judgments and training examples."""

import json

import pytest
from written import put, rows

from stele.benchmarks._trec import tsv_topics
from stele.benchmarks.marco import Marco
from stele.benchmarks.mewsli_x import MewsliX
from stele.benchmarks.mrtydi import MrTydi
from stele.benchmarks.nq import NaturalQuestions
from stele.benchmarks.types import Passage, Query, QuerySet
from stele.benchmarks.xor_retrieve import XorRetrieve
from stele.errors import SteleError


# --- Mr. TyDi ---
def topic(number: int, *positives: str) -> dict:
    passages = [{"docid": docid} for docid in positives]
    return {"query_id": str(number), "query": f"swali {number}?", "positive_passages": passages}


@pytest.fixture
def swahili(tmp_path):
    put(tmp_path / "t/test.jsonl.gz", rows(topic(7, "1#0", "1#1"), topic(8, "2#0")))
    put(tmp_path / "t/qrels.test.txt", "7\tQ0\t1#0\t1\n7 Q0 1#1 1\n8 Q0 2#0 1\n")
    corpus = [{"docid": d, "title": f"T{d}", "text": f"maandishi {d}"} for d in ("1#0", "1#1", "2#0")]
    put(tmp_path / "c/corpus.jsonl.gz", rows(*corpus))
    return {"mrtydi": {"sw": tmp_path / "t"}, "mrtydi_corpus": {"sw": tmp_path / "c"}}


def test_queries_passages_and_judgments_of_mrtydi_are_read(swahili):
    (query_set,) = MrTydi().query_sets(["sw"])
    assert list(MrTydi().queries(swahili, query_set)) == [Query("7", "swali 7?"), Query("8", "swali 8?")]
    assert next(MrTydi().passages(swahili, "sw")) == Passage("1#0", "T1#0", "maandishi 1#0")
    assert MrTydi().judgments(swahili, query_set) == {"7": {"1#0": 1, "1#1": 1}, "8": {"2#0": 1}}


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("t/test.jsonl.gz", rows(topic(7), topic(7)), r"test\.jsonl\.gz, line 2: query_id '7' appears twice"),
        ("t/test.jsonl.gz", rows(topic(7)) + "{oops\n", r"test\.jsonl\.gz, line 2: not a readable line of JSON"),
        ("t/test.jsonl.gz", '{"query_id": "7"}\n', r"line 1: no field 'query'; found query_id"),
        ("t/test.jsonl.gz", "[7]\n", r"line 1: want a JSON object, found list"),
        ("t/qrels.test.txt", "7 Q0 1#0 1\n7 Q0 1#0 1\n", r"line 2: judgment of query 7 on document '1#0' appears"),
        ("t/test.jsonl.gz", rows(topic(7), topic(8)).replace("\n", "\r"), r"line 1: not a readable line of JSON"),
        ("t/qrels.test.txt", "7 Q0 1#0\n", r"line 1: want `query 0 document relevance`"),
        ("c/corpus.jsonl.gz", rows({"docid": "1 0", "title": "", "text": "x"}), "docid must be a string without white"),
        ("c/corpus.jsonl.gz", rows({"docid": "1", "title": "", "text": 3}), r"'text' must be a string, found int"),
    ],
)
def test_mrtydi_says_what_is_wrong_and_where(swahili, tmp_path, file, text, message):
    put(tmp_path / file, text)
    (query_set,) = MrTydi().query_sets(["sw"])
    with pytest.raises(SteleError, match=message):
        list(MrTydi().queries(swahili, query_set))
        MrTydi().judgments(swahili, query_set)
        list(MrTydi().passages(swahili, "sw"))


def test_line_ends_of_old_macs_are_refused(tmp_path):
    """All of them would be one line: one topic, or one pair of parallel texts, which is always found."""
    topics = put(tmp_path / "topics.tsv", "1\tone\r2\ttwo\r")
    with pytest.raises(SteleError, match=r"topics\.tsv: its lines end as on old Macs; want line feeds"):
        list(tsv_topics(topics))
    assert list(tsv_topics(put(topics, "1\tone\r\n"))) == [Query("1", "one")]


def test_a_gzip_file_cut_short_is_an_error(swahili, tmp_path):
    passages = ({"docid": str(i), "title": "", "text": "x" * 99} for i in range(500))
    path = put(tmp_path / "c/corpus.jsonl.gz", rows(*passages))
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(
        SteleError, match=r"corpus\.jsonl\.gz, after line 489: the compressed file is cut short or damaged"
    ):
        list(MrTydi().passages(swahili, "sw"))


def test_missing_data_and_files_are_named(swahili, tmp_path):
    with pytest.raises(SteleError, match=r"needs the data mrtydi:th; given: mrtydi:sw, mrtydi_corpus:sw"):
        list(MrTydi().queries(swahili, QuerySet("th", "th", "th")))
    (tmp_path / "t/qrels.test.txt").unlink()
    with pytest.raises(SteleError, match=r"no file qrels\.test\.txt; found test\.jsonl\.gz"):
        MrTydi().judgments(swahili, QuerySet("sw", "sw", "sw"))


def test_mrtydi_training_reads_every_language_and_refuses_bare_ids(swahili, tmp_path):
    full = {"docid": "1#0", "title": "T", "text": "x"}
    example = {"query_id": "1", "query": "q", "positive_passages": [full], "negative_passages": [full | {"docid": "2"}]}
    lonely = {"query_id": "2", "query": "q", "positive_passages": [], "negative_passages": []}
    put(tmp_path / "t/train.jsonl.gz", rows(example, lonely))
    data = {"mrtydi_train": swahili["mrtydi"]}
    (examples,) = MrTydi().training(data, "train")
    assert (examples.query, examples.language) == ("q", "sw")
    assert [passage.id for passage in examples.positives + examples.negatives] == ["1#0", "2"]
    with pytest.raises(SteleError, match="has no text: this split has only ids of passages"):
        list(MrTydi().training(data, "test"))


def test_marco_is_tevatrons_layout(tmp_path):
    passage, title_alone = {"docid": "5", "title": "", "text": "x"}, {"docid": "7", "title": "T", "text": ""}
    empty = {"docid": "8", "title": "", "text": ""}  # fine-tuning leaves it out and counts it
    example = {"query_id": "1", "query": "q", "positive_passages": [passage, title_alone], "negative_passages": [empty]}
    put(tmp_path / "train.jsonl.gz", rows(example))
    (examples,) = Marco().training({"msmarco_passage": {"all": tmp_path}}, "train")
    assert examples.positives == [Passage("5", "", "x"), Passage("7", "T", "")]
    assert examples.language == "en" and examples.negatives == [Passage("8", "", "")]
    put(tmp_path / "c/corpus.jsonl.gz", rows(passage, {"docid": 6, "title": "T", "text": "y"}))
    corpus = {"msmarco_passage_corpus": {"all": tmp_path / "c"}}
    assert list(Marco().passages(corpus, "en")) == [Passage("5", "", "x"), Passage("6", "T", "y")]


# --- XOR-Retrieve and NQ ---
W100 = 'id\ttext\ttitle\n1\tplain text\tA\n2\t"he said ""yes"" here"\t"B ""x"""\n30\t6\' 2 tall\tC\n'


@pytest.fixture
def xor(tmp_path):
    dev = [
        {"id": "-5", "question": "س؟", "answers": ["1914", "yes"], "lang": " ar", "split": "dev"},
        {"id": "6", "question": "q?", "answers": ["no"], "lang": "te", "split": "dev"},
    ]
    put(tmp_path / "q/xor_dev_retrieve_eng_span_v1_1.jsonl", rows(*dev))
    put(tmp_path / "p/enwiki_20190201_w100.tsv", W100)
    return {"xor_tydi": {"all": tmp_path / "q"}, "enwiki_20190201_w100": {"all": tmp_path / "p"}}


def test_questions_of_xor_retrieve_share_the_english_collection(xor):
    arabic, telugu = XorRetrieve().query_sets(["ar", "te"])
    assert arabic.collection == telugu.collection == "en"
    assert [q.id for q in XorRetrieve().queries(xor, arabic)] == ["-5"]  # the blank before "ar" does not count
    assert XorRetrieve().answers(xor, telugu) == {"6": ["no"]}
    assert [p.id for p in XorRetrieve().passages(xor, "en")] == ["1", "2", "30"]
    assert list(XorRetrieve().passages(xor, "en"))[1] == Passage("2", 'B "x"', 'he said "yes" here')


@pytest.mark.parametrize("name", ["enwiki_20190201_w100.tsv", "enwiki_20190201_w100.tsv.gz"])
@pytest.mark.parametrize(
    "text",
    [W100, W100 + '4\t"two\nlines"\tD\n', W100.replace("1\tplain text\tA", '"1"\t"plain text"\t"A"')],
    ids=["one line each", "quoted line break", "quoted id"],
)
def test_the_texts_of_some_passages_are_those_of_the_full_reading(xor, tmp_path, name, text):
    (tmp_path / "p/enwiki_20190201_w100.tsv").unlink()
    put(tmp_path / "p" / name, text)
    full = {p.id: p.text for p in XorRetrieve().passages(xor, "en")}
    assert XorRetrieve().texts(xor, "en", {"2", "30"}) == {"2": full["2"], "30": full["30"]}
    assert XorRetrieve().texts(xor, "en", set(full)) == full
    with pytest.raises(SteleError, match="no passage '9', which the run retrieved"):
        XorRetrieve().texts(xor, "en", {"1", "9"})


def dpr(**other) -> dict:
    passage = {"title": "T", "text": "gold", "score": 1.0, "title_score": 0, "passage_id": "11"}
    hard = {"title": "H", "text": "hard", "score": 0.5, "title_score": 0}
    return {"dataset": "x", "question": "q", "answers": ["a"], "positive_ctxs": [passage], "negative_ctxs": [],
            "hard_negative_ctxs": [hard]} | other  # fmt: skip


@pytest.mark.parametrize("indent", [None, 4], ids=["one line", "indented"])
def test_dpr_training_files_are_streamed(tmp_path, monkeypatch, indent):
    monkeypatch.setattr("stele.benchmarks._files.BLOCK", 64)  # so that items reach across blocks
    items = [dpr(question="q0"), dpr(positive_ctxs=[]), dpr(question="last", lang="te")]
    put(tmp_path / "biencoder-nq-train.json.gz", json.dumps(items, indent=indent))
    examples = list(NaturalQuestions().training({"nq_dpr": {"all": tmp_path}}, "train"))
    assert [example.query for example in examples] == ["q0", "last"]
    assert [example.language for example in examples] == ["en", "te"]
    assert examples[0].positives == [Passage("11", "T", "gold")]
    assert examples[0].negatives[0].id == examples[1].negatives[0].id != ""  # no id given: made from the content


def test_dpr_dev_examples_have_the_first_30_negatives_of_both_kinds(tmp_path):
    """What mDPR's average rank takes (val_av_rank_hard_neg and _other_neg); training takes the hard ones alone."""
    kinds = {kind: [{"title": "", "text": f"{kind} {n}"} for n in range(35)] for kind in ("hard", "other")}
    for split in ("train", "dev"):
        item = dpr(hard_negative_ctxs=kinds["hard"], negative_ctxs=kinds["other"])
        put(tmp_path / f"biencoder-nq-{split}.json.gz", json.dumps([item]))
    train, dev = (
        next(NaturalQuestions().training({"nq_dpr": {"all": tmp_path}}, split)).negatives for split in ("train", "dev")
    )
    assert [p.text for p in train] == [f"hard {n}" for n in range(35)]
    assert [p.text for p in dev] == [f"{kind} {n}" for kind in ("hard", "other") for n in range(30)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"question": "q"}]', "line 1: no field 'positive_ctxs'"),
        ("[\n" + json.dumps(dpr()) + ',\n{"question": ', "line 3: not JSON, or cut short"),
        ("[" + json.dumps(dpr()), "line 1: the JSON array is not closed"),
        ('{"question": 1}', r"line 1: want a JSON array, found '\{'"),
        (f"[{json.dumps(dpr())}\n]\n[{json.dumps(dpr())}]", r"line 2: found '\[\{\"dataset.* after the JSON array"),
    ],
)
def test_a_damaged_dpr_file_names_the_line(tmp_path, text, message):
    put(tmp_path / "dpr_train_data.json", text)
    with pytest.raises(SteleError, match=r"dpr_train_data\.json, " + message):
        list(XorRetrieve().training({"xor_dpr_train": {"all": tmp_path}}, "train"))


def test_questions_of_nq_have_answers_and_its_passages_titles(tmp_path):
    put(tmp_path / "q/nq-test.qa.csv", "who?\t['A', \"B's\"]\nwhen?\t['1914']\n")
    put(tmp_path / "p/psgs_w100.tsv.gz", W100)
    data = {"nq_test": {"all": tmp_path / "q"}, "psgs_w100": {"all": tmp_path / "p"}}
    (query_set,) = NaturalQuestions().query_sets(["en"])
    assert list(NaturalQuestions().queries(data, query_set)) == [Query("0", "who?"), Query("1", "when?")]
    assert NaturalQuestions().answers(data, query_set) == {"0": ["A", "B's"], "1": ["1914"]}
    assert NaturalQuestions().texts(data, "en", {"1"}) == {"1": "plain text"}
    put(tmp_path / "q/nq-test.qa.csv", "who?\t__import__('os')\n")
    with pytest.raises(SteleError, match=r"nq-test\.qa\.csv, line 1: want a list of answer strings"):
        NaturalQuestions().answers(data, query_set)


# --- Mewsli-X ---
TEXT = "First {one}.\nThe  verdict came for Smith, who {left}. Last."


def article(language: str = "en", text: str = TEXT, start: int = 31, mention: str = "Smith") -> dict:
    first, last = TEXT.index("The"), TEXT.index(" Last")
    spans = [{"start": 0, "end": 12}, {"start": first, "end": last}, {"start": last + 1, "end": len(TEXT)}]
    span = {"start": start, "end": start + len(mention), "text": mention}
    context = {"document_title": "D", "document_url": "u", "document_id": "d1", "language": language, "text": text,
               "sentence_spans": spans}  # fmt: skip
    return {"context": context, "mentions": [{"example_id": "e1", "mention_span": span, "entity_id": " Q7"}]}


def entity(name: str = "Q7") -> dict:
    spans = [{"start": 0, "end": 17}, {"start": 18, "end": 26}]
    return {"entity_id": name, "title": "Smith", "description": "Smith is a\njudge. He left.", "description_url": "u",
            "description_language": "en", "sentence_spans": spans}  # fmt: skip


def test_mentions_of_mewsli_x_are_marked_in_their_context(tmp_path):
    start = TEXT.index("Smith")
    articles = article(start=start), article("de", start=start)
    put(tmp_path / "news/wikinews_mentions-test.jsonl", rows(*articles))
    for item in articles:
        item["context"]["text"] = ""
    put(tmp_path / "released/wikinews_mentions_no_text-test.jsonl", rows(*articles))
    put(tmp_path / "released/candidate_set_entities.jsonl", rows(entity(), entity("Q8")))
    data = {"mewsli_x": {"all": tmp_path / "released"}, "mewsli_x_news": {"all": tmp_path / "news"}}
    english, german = MewsliX().query_sets(["en", "de"])
    # utils_mewslix.preprocess_mention: the surface, one sentence, braces around the mention, others become parentheses,
    # double blanks made single once ("The  verdict" and the blank before the comma come from there)
    assert list(MewsliX().queries(data, english)) == [
        Query("e1", "Smith: The verdict came for { Smith } , who (left).")
    ]
    assert MewsliX().judgments(data, german) == {"e1": {"Q7": 1}}
    assert list(MewsliX().passages(data, "all"))[1] == Passage("Q8", "", "Smith is a judge. He left.")


def test_mewsli_x_training(tmp_path):
    item = article(start=TEXT.index("Smith"))
    pair = {"contextual_mention": {"context": item["context"], "mention": item["mentions"][0]}, "entity": entity()}
    put(tmp_path / "wikipedia_pairs-train.jsonl", rows(pair))
    (examples,) = MewsliX().training({"mewsli_x": {"all": tmp_path}}, "train")
    assert examples.query.startswith("Smith: The verdict")
    assert examples.positives == [Passage("Q7", "", "Smith is a judge. He left.")]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (article(text=""), "the article's text is empty, as in the released files"),
        (article(start=3), "the text at 3-8 is .* its span says 'Smith'"),
        (article(start=500), "the span 500-505 is not within the text"),
        (article(start=10, mention=TEXT[10:15]), "no sentence holds the whole mention at 10-15"),
    ],
)
def test_mewsli_x_refuses_spans_that_do_not_fit(tmp_path, item, message):
    put(tmp_path / "wikinews_mentions-test.jsonl", rows(item))
    with pytest.raises(SteleError, match=r"wikinews_mentions-test\.jsonl, line 1: " + message):
        list(MewsliX().queries({"mewsli_x_news": {"all": tmp_path}}, QuerySet("en", "en", "all")))
