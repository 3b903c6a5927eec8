"""What datasets hold: hand-made files of known numbers, the real ones where they are at hand, and what is planned."""

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from stele.artifacts.knowledge_base import write_pairs
from stele.artifacts.results import RunKey, read_result
from stele.catalogue import datasets, recipes
from stele.command import cli
from stele.errors import SteleError
from stele.papers.table import load_spec, references
from stele.registry import names_held
from stele.scoring import count_dataset
from stele.scoring.statistics import load_counts
from tests.jobs import job
from tests.retrieval.recorded import put
from tests.sealed import write_sealed

LENGTHS = ("documents", "judged_documents")


def count(folder: Path, dataset: str, *parts: str, labels=("generated data",), more=()) -> dict:
    """Counts a dataset whose parts lie in folders of that name; the metrics of its result."""
    given = []
    for part in parts:
        write_sealed(folder / part / "record.json", {"job": "x", "labels": labels, "content": part})
        given.append(f"{dataset}:{part}={folder / part / 'record.json'}")
    count_dataset.run(
        job(count_dataset, ["--dataset", dataset, "--data", *given, "--output", str(folder / "count.json"), *more])
    )
    result = read_result(folder / "count.json")
    assert (result.benchmark, result.model, result.setting) == ("statistics", dataset, "count")
    assert result.labels == list(labels)
    return {name: metric.languages for name, metric in result.metrics.items()}


# --- hand-made files ---
def test_mr_tydi_queries(tmp_path):
    for language, dev, test in (("sw", 3, 2), ("th", 1, 4)):
        for split, number in (("dev", dev), ("test", test)):
            rows = [{"query_id": str(i), "query": "q"} for i in range(number)]
            # one more query that nobody judged: no pair of a query and a passage
            put(tmp_path / language / f"{split}.jsonl.gz", [*rows, {"query_id": "x", "query": "q"}])
            judged = "".join(f"{i} 0 p{i} 1\n{i} 0 p{i}b 1\n" for i in range(number))
            (tmp_path / language / f"qrels.{split}.txt").write_text(judged)
    assert count(tmp_path, "mrtydi", "sw", "th") == {
        "queries_dev": {"all": 4, "sw": 3, "th": 1},
        "queries_test": {"all": 6, "sw": 2, "th": 4},
        "languages": {"all": 2},
    }


def test_mr_tydi_passages_and_training_queries(tmp_path):
    passage = {"docid": "1#0", "title": "t", "text": "x"}
    for language, number in (("sw", 3), ("te", 5)):
        put(tmp_path / "c" / language / "corpus.jsonl.gz", [{**passage, "docid": f"{i}#0"} for i in range(number)])
        topics = [{"query_id": str(i), "query": "q", "positive_passages": [passage]} for i in range(number * 2)]
        without = {"query_id": "x", "query": "q", "positive_passages": []}
        put(tmp_path / "t" / language / "train.jsonl.gz", [*topics, without])
    assert count(tmp_path / "c", "mrtydi_corpus", "sw", "te") == {
        "passages": {"all": 8, "sw": 3, "te": 5},
        "passage_languages": {"all": 2},
    }
    assert count(tmp_path / "t", "mrtydi_train", "sw", "te") == {"queries_train": {"all": 16, "sw": 6, "te": 10}}


def test_xor_questions_and_passages(tmp_path):
    def question(i: int, language: str) -> dict:
        return {"id": str(i), "question": "q", "answers": ["a"], "lang": language}

    # a public copy of the training file has " ar"
    put(tmp_path / "all/xor_train_retrieve_eng_span.jsonl", [question(i, (" ar", "fi")[i % 2]) for i in range(7)])
    put(tmp_path / "all/xor_dev_retrieve_eng_span_v1_1.jsonl", [question(i, ("ar", "te")[i % 2]) for i in range(4)])
    assert count(tmp_path, "xor_tydi", "all") == {
        "queries_train": {"all": 7, "ar": 4, "fi": 3},
        "queries_dev": {"all": 4, "ar": 2, "te": 2},
        "languages": {"all": 2},
    }
    lines = ["id\ttext\ttitle", '1\t"a\nb"\tT', "2\tc\tT"]  # a header; a text of two lines
    (tmp_path / "w/all").mkdir(parents=True)
    (tmp_path / "w/all/enwiki_20190201_w100.tsv").write_text("\n".join(lines) + "\n")
    assert count(tmp_path / "w", "enwiki_20190201_w100", "all", labels=()) == {
        "passages": {"all": 2, "en": 2},
        "passage_languages": {"all": 1},
    }


def test_mentions_and_entities_of_mewsli_x_are_counted(tmp_path):
    context = {"text": "Rome.", "language": "en", "sentence_spans": [{"start": 0, "end": 5}]}
    mention = {"mention_span": {"start": 0, "end": 4}, "entity_id": "Q1"}
    entity = {"entity_id": "Q1", "description": "City.", "sentence_spans": [{"start": 0, "end": 5}]}
    pair = {"contextual_mention": {"context": context, "mention": mention}, "entity": entity}
    put(tmp_path / "all/wikipedia_pairs-train.jsonl", [pair] * 5)
    put(tmp_path / "all/wikipedia_pairs-dev.jsonl", [pair] * 2)
    articles = [{"context": {**context, "text": "", "language": code}, "mentions": []} for code in ("de", "de", "ta")]
    for article, number in zip(articles, (3, 1, 2), strict=True):  # several mentions an article
        article["mentions"] = [{**mention, "example_id": f"{id(article)}-{i}"} for i in range(number)]
    put(tmp_path / "all/wikinews_mentions_no_text-test.jsonl", articles)
    candidates = [{**entity, "description_language": code} for code in ("af", "de", "de")]
    put(tmp_path / "all/candidate_set_entities.jsonl", candidates)
    assert count(tmp_path, "mewsli_x", "all") == {
        "queries_train": {"all": 5, "en": 5},
        "queries_dev": {"all": 2, "en": 2},
        "queries_test": {"all": 6, "de": 4, "ta": 2},
        "languages": {"all": 2},
        "passages": {"all": 3, "af": 1, "de": 2},
        "passage_languages": {"all": 2},
    }


def test_a_dataset_that_cannot_be_counted_is_an_error(tmp_path, capsys):
    write_sealed(tmp_path / "record.json", {"job": "x", "labels": []})
    for dataset, data, message in (
        ("mrtydy", "mrtydy:all", "did you mean 'mrtydi'"),
        ("mrtydi", "mewsli_x:all", "mewsli_x:all is no part of mrtydi"),
    ):
        line = ["--dataset", dataset, "--data", f"{data}={tmp_path / 'record.json'}"]
        assert cli.main(["scoring", "count_dataset", *line, "--output", str(tmp_path / "o.json")]) == 1
        assert message in capsys.readouterr().err
    assert not (tmp_path / "o.json").exists()


# --- real files ---


def test_the_real_queries_of_mr_tydi(real_data, tmp_path):
    """The topics as Anserini keeps them, put into the layout of the hub's files."""
    source, parts = real_data / "mrtydi_topics_qrels", {}
    for language in datasets.languages_of(datasets.dataset("mrtydi")):
        parts[language] = tmp_path / language
        for split in ("dev", "test"):
            with gzip.open(source / f"topics.mrtydi-v1.1-{language}.{split}.txt.gz", "rt", encoding="utf-8") as lines:
                rows = [dict(zip(("query_id", "query"), line.rstrip("\n").split("\t"), strict=True)) for line in lines]
            put(parts[language] / f"{split}.jsonl.gz", rows)
            judged = (source / f"qrels.mrtydi-v1.1-{language}.{split}.txt").read_bytes()
            (parts[language] / f"qrels.{split}.txt").write_bytes(judged)
    found = load_counts("mrtydi").counts({"mrtydi": parts})
    expected = datasets.dataset("mrtydi").counts
    assert found["queries_test"] == expected["test"].expect and sum(found["queries_test"].values()) == 8661
    assert found["queries_dev"] == expected["dev"].expect and found["languages"] == 11


def test_section_pairs_are_counted_by_part(tmp_path):
    for part, number in (("de-en", 3), ("en-fr", 0)):
        (tmp_path / part).mkdir()
        rows = np.arange(number)
        write_pairs(tmp_path / part, rows, rows + number, rows / 4)
    assert count(tmp_path, "section_pairs", "de-en", "en-fr") == {"pairs": {"all": 3, "de-en": 3, "en-fr": 0}}
    (tmp_path / "de-en/pairs.parquet").write_bytes(b"PAR1")
    with pytest.raises(SteleError, match=r"de-en/pairs\.parquet: not a readable file of section pairs"):
        count(tmp_path, "section_pairs", "de-en")


# --- judged documents ---
def test_clef_is_counted_by_the_language_of_its_documents(tmp_path):
    """Topic 3 has no relevant document in German and does not count; a negative relevance is no judgment."""
    for language, qrels in (
        ("de", "1 0 a 1\n1 0 b 0\n1 0 c 0\n2 0 a 1\n2 0 b 2\n2 0 z 0\n2 0 c -1\n3 0 a 0\n"),
        ("en", "1 0 e 0\n"),
    ):
        folder = tmp_path / "all" / language
        folder.mkdir(parents=True)
        (folder / "qrels.txt").write_text(qrels)
        (folder / "topics.txt").write_text("")
    lengths = {"number": 4, "tokens": 10}, {"number": 0, "tokens": 0}
    record = {"job": "x", "labels": [], "language": "de"} | dict(zip(LENGTHS, lengths, strict=True))
    write_sealed(tmp_path / "lengths_de.json", record)
    assert count(tmp_path, "clef", "all", more=("--lengths", str(tmp_path / "lengths_de.json"))) == {
        "queries": {"all": 2, "de": 2},
        "relevant_per_query": {"de": 1.5},
        "nonrelevant_per_query": {"de": 1.5},
        "tokens_per_document": {"de": 2.5},
    }


# --- the plan ---
def test_every_number_of_kept_s_first_table_can_be_built(jobs, root):
    spec = load_spec(root / "paper_tables/kept/table_01.yaml")
    wanted = Counter(reference.result for reference in references(spec))
    assert sum(wanted.values()) == 18  # three datasets, six numbers each; XOR's test set has none
    for scale in ("miniature", "paper"):
        of_scale = jobs(scale=scale, papers=["kept"])
        assert {row: of_scale.rows.problem(row) for row in wanted} == dict.fromkeys(wanted)
        assert set(of_scale.tables.results("kept/01")) == {of_scale.paths.result(row) for row in wanted}
    for row in wanted:
        assert of_scale.rows.downloads(row) == {*of_scale.data.all_records(row[1]).values()}
    assert len(of_scale.data.all_records("mrtydi_corpus")) == 11


def test_a_folder_that_is_gone_is_named(jobs):
    state, reason = jobs(user_data={"mewsli_x": "/no/folder"}).rows.problem(RunKey("statistics", "mewsli_x", "count"))
    assert state == "unavailable" and "/no/folder" in reason


def test_a_collection_is_counted_with_its_topics_where_its_language_is_in_scale(jobs, tmp_path):
    of_miniature, of_paper = jobs(papers=["dense_clt"]), jobs(scale="paper", papers=["dense_clt"])
    for name, language in (("trec3_es", "es"), ("trec2002_ar", "ar"), ("clef2006_fr", "fr"), ("fire2012_hi", None)):
        row = RunKey("statistics", name, "count")
        problem = of_miniature.rows.problem(row)
        assert problem is None if language else problem[0] == "not in scale"
        state, reason = of_paper.rows.problem(row)
        assert state == "unavailable" and f"user_data: {{{name}: YOUR_FOLDER}}" in reason
    row = RunKey("statistics", "trec3_es", "count")
    assert [path.split("/")[3] for path in of_miniature.rows.inputs(row)["data"]] == ["trec3_es", "trec3_es_topics"]
    assert jobs(scale="paper", user_data={"trec3_es": str(tmp_path)}).rows.problem(row) is None
    state, reason = jobs(user_data={"trec3_es": str(tmp_path)}).rows.problem(row)
    assert state == "unavailable" and "user_data: {trec3_es_topics: YOUR_FOLDER}" in reason  # of two worlds


def test_topics_and_documents_of_a_collection(tmp_path):
    texts = {"ism_1": (1, 2), "ism_2": (2, 3)}
    folder = tmp_path / "c/all"
    folder.mkdir(parents=True)
    for name, numbers in texts.items():
        (folder / name).write_text("".join(f"<DOC><DOCNO>{n}</DOCNO><TEXT>x</TEXT></DOC>\n" for n in numbers))
    (folder / "topics.txt").write_text("1\tx\n2\ty\n3\tz\n")
    (folder / "qrels.txt").write_text("1 0 1 1\n2 0 9 0\n4 0 1 1\n")  # the third topic is not judged
    assert count(tmp_path / "c", "trec3_es", "all") == {
        "topics": {"all": 2, "es": 2},
        "documents": {"all": 3, "es": 3},
        "repeated": {"all": 1, "es": 1},
    }


def test_what_is_counted_are_datasets_mining_recipes_and_test_collections():
    for name in names_held("stele.scoring.statistics", "COUNTED"):
        assert name == "collection" or name in recipes.names("pairs") or datasets.dataset(name)
    with pytest.raises(SteleError):
        datasets.dataset("mrtydy")
