"""Files of benchmarks and training sets."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stele.benchmarks import mewsli_x, xda
from stele.benchmarks._topics import topics
from stele.benchmarks.clef import Clef
from stele.benchmarks.collection import AdHocCollection
from stele.benchmarks.jsonl import JsonLines
from stele.benchmarks.lareqa import Lareqa
from stele.benchmarks.marco import Marco
from stele.benchmarks.mewsli_x import MewsliX
from stele.benchmarks.mlqa import Mlqa
from stele.benchmarks.mrtydi import MrTydi
from stele.benchmarks.nq import NaturalQuestions
from stele.benchmarks.squad import Squad
from stele.benchmarks.squad2 import Squad2
from stele.benchmarks.tatoeba import Tatoeba
from stele.benchmarks.tatoeba_pairs import TatoebaPairs
from stele.benchmarks.types import QuerySet
from stele.benchmarks.xda import Xda
from stele.benchmarks.xor_retrieve import XorRetrieve
from stele.benchmarks.xsa import Xsa
from stele.evaluation.metrics import passages
from tests.readers.files import Reader, lines, tarred, whole

EN, SW = QuerySet("en", "en", "en"), QuerySet("sw", "sw", "sw")
PASSAGE = {"docid": "7#0", "title": "Tī", "text": "moja mbili"}
TOPICS = lines(*({"query_id": str(n), "query": f"nini {n}?"} for n in range(4)))
EXAMPLE = {"query": "nini?", "positive_passages": [PASSAGE], "negative_passages": [PASSAGE]}
TRAIN = lines(*({"query_id": str(n), **EXAMPLE} for n in range(3)))
CTX = {"title": "T", "text": "one two", "passage_id": "3"}
CONTEXTS = {"positive_ctxs": [CTX], "negative_ctxs": [CTX], "hard_negative_ctxs": [CTX]}
DPR = json.dumps([{"question": "q", "answers": ["a"], **CONTEXTS}] * 3).encode()
W100 = b'id\ttext\ttitle\n1\t"one ""two"""\tT\n2\tthree four\tU\n'
XOR = lines(*({"id": str(n), "question": "q?", "answers": ["yes"], "lang": "sw"} for n in range(3)))
SGML = b"".join(b"<DOC>\n<DOCNO> %d </DOCNO>\n<TEXT>\none &amp; two\n</TEXT>\n</DOC>\n" % n for n in range(3))
TREC = b"".join(
    b"<top>\n<num> Number: %d\n<title> Topic: one\n<desc> Description:\ntwo\n</top>\n" % n for n in range(3)
)
QUESTION = {"id": "a", "question": "q", "answers": [{"text": "Two", "answer_start": 5}]}
PARAGRAPH = {"context": "One. Two.", "sentences": ["One.", "Two."], "sentence_breaks": [[0, 4], [5, 9]]}
SQUAD = json.dumps({"data": [{"paragraphs": [PARAGRAPH | {"qas": [QUESTION]}]}]}).encode()
SPAN = {"start": 0, "end": 3, "text": "One"}
CONTEXT = {"language": "en", "text": "One. Two.", "sentence_spans": [{"start": 0, "end": 4}]}
MENTION = {"example_id": "e1", "mention_span": SPAN, "entity_id": "Q7"}
MENTIONS = lines({"context": CONTEXT, "mentions": [MENTION]})
ENTITY = {"entity_id": "Q7", "description": "One. Two.", "description_language": "en", "sentence_spans": [SPAN]}
PAIRS = lines({"contextual_mention": {"context": CONTEXT, "mention": MENTION}, "entity": ENTITY})
OWN = lines({"query": "q", "positives": [{"title": "t", "text": "x"}], "negatives": [{"text": "y"}], "language": "ru"})
EXPORTED = "1\tdeu\tEins zwei drei\n2\tell\tένα δύο τρία\n".encode()
EXPORTED_LINKS = b"1\t2\n2\t1\n"
FROM_GERMAN = TatoebaPairs().query_sets(["de-el"])[:1]
TEI = b'<TEI.2><text><body><p id="1"><s id="1:1">one &amp; two</s></p></body></text></TEI.2>'
QRELS = b"q1 0 p1 1\nq1\t0\tp2\t0\nq2 0 p1 -1\n"


def of(dataset: str, read: Callable[[dict], Any], part: str = "all") -> Callable[[Path], Any]:
    """A reader of a dataset that is given as the one file."""
    return lambda path: read({dataset: {part: path}})


def tar_gz(*contents: bytes) -> bytes:
    """An archive of English documents of the United Nations."""
    return tarred({f"UNv1.0-TEI/en/1990/a/{number}.xml": content for number, content in enumerate(contents)})


BENCHMARKS: dict[str, Reader] = {
    "xsa table": (
        "xnli.15way.orig.tsv",
        b'de\ten\nEins "zwei\ttwo\ndrei\tthree\n',
        of("xnli_15way", lambda d: Xsa().parallel_texts(d, ["de", "en"])),
    ),
    "xda archive": ("UN.en.tar.gz", tar_gz(TEI, TEI, TEI), of("uncorpus", lambda d: Xda().parallel_texts(d, ["en"]))),
    "xda document": (
        "one.xml",
        TEI,
        lambda path: [xda.text_of(xml, str(path)) for _, xml in xda.documents(path.parent, [path], "en")],
    ),
    "mrtydi queries": ("test.jsonl.gz", gzip.compress(TOPICS), of("mrtydi", lambda d: whole(MrTydi().queries(d, SW)))),
    "mrtydi passages": (
        "corpus.jsonl",
        lines(PASSAGE, {**PASSAGE, "docid": "8"}),
        of("mrtydi_corpus", lambda d: whole(MrTydi().passages(d, "sw"))),
    ),
    "mrtydi judgments": ("qrels.test.txt", QRELS, of("mrtydi", lambda d: MrTydi().judgments(d, SW), part="sw")),
    "mrtydi training": (
        "train.jsonl.gz",
        gzip.compress(TRAIN),
        of("mrtydi_train", lambda d: whole(MrTydi().training(d, "train"))),
    ),
    "marco training": ("train.jsonl", TRAIN, of("msmarco_passage", lambda d: whole(Marco().training(d, "train")))),
    "nq answers": (
        "nq-test.qa.csv",
        b"who?\t['a', \"b\"]\nwhat?\t['c']\n",
        of("nq_test", lambda d: NaturalQuestions().answers(d, EN)),
    ),
    "nq training": (
        "biencoder-nq-train.json",
        DPR,
        of("nq_dpr", lambda d: whole(NaturalQuestions().training(d, "train"))),
    ),
    "nq dev": (
        "biencoder-nq-dev.json.gz",
        gzip.compress(DPR),
        of("nq_dpr", lambda d: whole(NaturalQuestions().training(d, "dev"))),
    ),
    "nq passages": (
        "psgs_w100.tsv.gz",
        gzip.compress(W100),
        of("psgs_w100", lambda d: whole(NaturalQuestions().passages(d, "en"))),
    ),
    "xor texts": (
        "enwiki_20190201_w100.tsv",
        W100,
        of("enwiki_20190201_w100", lambda d: XorRetrieve().texts(d, "en", {"1"})),
    ),
    "xor answers": ("xor.jsonl", XOR, of("xor_tydi", lambda d: XorRetrieve().answers(d, SW))),
    "lareqa": ("en.json", SQUAD, lambda path: Lareqa().judgments({"lareqa": {"en": path.parent}}, EN)),
    "squad": ("train-v1.1.json", SQUAD, of("squad", lambda d: whole(Squad().training(d, "train")))),
    "squad2": ("train-v2.0.json", SQUAD, of("squad2", lambda d: whole(Squad2().training_questions(d, "train")))),
    "mlqa": (
        "test-context-en-question-en.json",
        SQUAD,
        of("mlqa", lambda d: Mlqa().answers(d, Mlqa().query_sets(["en"])[0])),
    ),
    "mewsli_x queries": (
        "mentions.jsonl",
        MENTIONS,
        of("mewsli_x_news", lambda d: whole(MewsliX().queries(d, QuerySet("en", "en", "all")))),
    ),
    "mewsli_x judgments": (
        "mentions.jsonl",
        MENTIONS,
        of("mewsli_x", lambda d: MewsliX().judgments(d, QuerySet("en", "en", "all"))),
    ),
    "mewsli_x passages": (
        "candidates.jsonl",
        lines(ENTITY),
        of("mewsli_x", lambda d: (whole(MewsliX().passages(d, "all")), whole(mewsli_x.candidate_languages(d)))),
    ),
    "mewsli_x training": ("pairs.jsonl", PAIRS, of("mewsli_x", lambda d: whole(MewsliX().training(d, "train")))),
    "tatoeba": (
        "tatoeba.fra-eng.fra",
        b"un\ndeux\n",
        lambda path: Tatoeba().judgments({"tatoeba": {"fr": path.parent}}, Tatoeba().query_sets(["fr"])[0]),
    ),
    "tatoeba sentences": (
        "sentences.csv",
        EXPORTED,
        lambda path: TatoebaPairs().judgments({"tatoeba_exports": {"all": path.parent}}, *FROM_GERMAN),
    ),
    "tatoeba links": (
        "links.csv",
        EXPORTED_LINKS,
        lambda path: TatoebaPairs().judgments({"tatoeba_exports": {"all": path.parent}}, *FROM_GERMAN),
    ),
    "judgments of a collection": (
        "qrels.txt",
        QRELS,
        of("clef", lambda d: Clef().judgments(d, Clef().query_sets(["en-de"])[0])),
    ),
    "documents in SGML": ("docs.sgml", SGML, of("mine", lambda d: whole(AdHocCollection().passages(d, "en")))),
    "documents in JSON": (
        "docs.jsonl",
        lines(*({"id": str(n), "contents": "one two"} for n in range(3))),
        of("mine", lambda d: whole(AdHocCollection().passages(d, "en"))),
    ),
    "topics of TREC": ("topics.txt", TREC, lambda path: list(topics(path, "en").values())),
    "training set of one's own": ("train.jsonl", OWN, of("mine", lambda d: whole(JsonLines().training(d, "train")))),
    "Punkt model": (
        "ortho_context.tab",
        b"one\t12\ntwo\t3\n",
        lambda path: passages.word_tokenizer(path.parent)("One two."),
    ),
}
