"""Today's benchmarks in the mirror: as their own readers, and ours, read them; explicit 0; pools; parallel rows."""

import gzip
import json
from types import SimpleNamespace

import pytest

from stele.benchmarks._files import name_in_files
from stele.benchmarks.beir import Beir
from stele.benchmarks.belebele import Belebele
from stele.benchmarks.ciral import Ciral
from stele.benchmarks.miracl import Miracl
from stele.benchmarks.types import QuerySet
from stele.catalogue import datasets
from stele.command import cli

LANGUAGES = ["en", "ar", "de", "ja", "ru", "sw", "th"]


@pytest.fixture(scope="module")
def data(generated, tmp_path_factory):
    """A dataset's parts as the rule `dataset` lays them out: the files of the mirror under the catalogue's paths."""

    def laid_out(*names: str):
        data: dict = {}
        for name in names:
            entry, root = datasets.dataset(name), tmp_path_factory.mktemp(name)
            have = [code for code in LANGUAGES if code in datasets.languages_of(entry)]
            for part in have if entry.parts == "languages" else ["all"]:
                source = datasets.resolve(name, part, have, generated=True)
                for file in source.files:
                    (path := root / part / file.path).parent.mkdir(parents=True, exist_ok=True)
                    path.symlink_to(generated.path(file.url))
                data.setdefault(name, {})[part] = root / part
        return data

    return laid_out


def of(path):
    """What ir_datasets takes for a download."""
    return SimpleNamespace(
        path=lambda *_: path, stream=lambda: (gzip.open if path.suffix == ".gz" else open)(path, "rb")
    )


@pytest.mark.parametrize("language", ["sw", "th"])
def test_miracl_reads_as_ir_datasets_reads_it(data, language):
    formats = pytest.importorskip("ir_datasets.formats")
    own, query_set = data("miracl", "miracl_corpus"), QuerySet(language, language, language)
    folder = own["miracl"][language] / "dev"
    theirs = {q.query_id: q.text for q in formats.TsvQueries(of(folder / "topics.tsv")).queries_iter()}
    assert {q.id: q.text for q in Miracl().queries(own, query_set)} == theirs and theirs
    judged = [(q.query_id, q.doc_id, q.relevance) for q in formats.TrecQrels(of(folder / "qrels.tsv"), {}).qrels_iter()]
    ours = Miracl().judgments(own, query_set)
    assert judged == [(query, name, rel) for query, of_query in ours.items() for name, rel in of_query.items()]
    assert {relevance for *_, relevance in judged} == {0, 1}
    shards = sorted((own["miracl_corpus"][language] / "docs").iterdir())
    passages = [p.id for p in Miracl().passages(own, language)]
    assert passages == [
        json.loads(line)["docid"] for shard in shards for line in gzip.decompress(shard.read_bytes()).splitlines()
    ]
    assert len(passages) == len(set(passages)) and {name for _, name, _ in judged} <= set(passages)
    assert len(shards) == datasets.dataset("miracl_corpus").files[0].shards[language]


def test_miracl_s_training_topics_are_other_ones_and_have_negatives(data):
    own = data("miracl", "miracl_train", "miracl_corpus")
    assert "de" not in own["miracl_train"] and "de" in own["miracl"]  # upstream has none
    asked = {
        q.text for language in own["miracl"] for q in Miracl().queries(own, QuerySet(language, language, language))
    }
    examples = list(Miracl().training(own, "train"))
    assert {example.language for example in examples} == set(own["miracl_train"])
    assert not asked & {example.query for example in examples}
    assert all(example.positives for example in examples) and any(example.negatives for example in examples)


def test_a_pool_of_hard_negatives_has_every_judged_passage_and_more(data, caplog):
    own, whole = data("miracl_hard_negatives"), data("miracl", "miracl_corpus")
    for language in ("en", "ja"):
        query_set = QuerySet(language, language, language)
        pool = {p.id: p.text for p in Beir().passages(own, language)}
        judged = Beir().judgments(own, query_set)
        assert judged == Miracl().judgments(whole, query_set)
        assert {name for of_query in judged.values() for name in of_query} < set(pool)
        texts = {p.id: p.text for p in Miracl().passages(whole, language)}
        assert pool.items() <= texts.items() and len(pool) < len(texts)
        assert [q.id for q in Beir().queries(own, query_set)] == list(judged)
    assert not caplog.text


def test_belebele_s_rows_are_parallel_over_variants(data, generated):
    own = data("belebele")
    links = {}
    for language in LANGUAGES:
        path = own["belebele"]["all"] / f"data/{name_in_files(language, 'belebele')}.jsonl"
        rows = [json.loads(line) for line in path.open()]
        links[language] = sorted(row["link"] for row in rows)
        assert all(row["correct_answer_num"] in "1234" for row in rows)
        right = [row[f"mc_answer{row['correct_answer_num']}"] in row["flores_passage"] for row in rows]
        assert all(right), language
    for pair in Belebele().query_sets(["sw-en", "en-th"]):
        assert len(Belebele().judgments(own, pair)) == len(list(Belebele().queries(own, pair))) > 5
    assert set(links["en"]) == set(links["sw"]) == set(links["th"])


def test_ciral_asks_in_english_about_passages_that_are_there(data):
    own, swahili = data("ciral", "ciral_corpus"), QuerySet("sw", "sw", "sw")
    passages = {p.id for p in Ciral().passages(own, "sw")}
    judged = Ciral().judgments(own, swahili)
    assert {q.id for q in Ciral().queries(own, swahili)} == set(judged) and len(judged) > 3
    assert {name for of_query in judged.values() for name in of_query} <= passages
    assert all(q.text.isascii() for q in Ciral().queries(own, swahili))


def test_a_repository_with_code_of_its_own_is_refused_by_the_name_of_its_twin(generated, tmp_path, capsys, jobs):
    """As the plan asks for it, offline, from the mirror: nothing but its settings is there to be fetched."""
    config = {"models": {"mine": {"checkpoint": "Alibaba-NLP/gte-multilingual-base"}}, "scale": "paper"}
    source = jobs(**config).sources.checkpoint_params("mine")
    output = tmp_path / "checkpoint/record.json"
    given = ["--model", "mine", "--source", json.dumps(source), "--mirrors", str(generated.folder), "--offline"]
    assert cli.main(["sources", "checkpoint", *given, "--state", str(tmp_path / "state"), "--output", str(output)]) == 1
    error = capsys.readouterr().err
    assert "auto_map" in error and "alibaba-nlp-community/gte-multilingual-base" in error and not output.exists()
