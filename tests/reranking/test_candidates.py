"""CLEF's folders as candidates: topics by title and description, newspapers in Latin-1, what is absent and counted."""

import pytest
from made_clef import TOPICS, name_of, text_of, write_clef

from stele.benchmarks.clef import Clef
from stele.errors import SteleError
from stele.reranking.folds.candidates import read_candidates

(PAIR,) = Clef().query_sets(["en-de"])


def test_all_judged_documents_of_a_topic_are_its_candidates(clef_record):
    data = {"clef": {"all": clef_record.parent}}
    candidates = read_candidates(Clef(), data, PAIR)
    assert candidates.topics == [str(n) for n in range(1, TOPICS)]  # the last has nothing relevant
    assert candidates.queries[6] == "topic7 find topic7 please"
    own = candidates.document_of[candidates.topic_of == 6]
    assert [candidates.documents[n] for n in own] == [name_of(place) for place in range(24, 28)]
    assert candidates.relevant.tolist() == [True, False, False, False] * (TOPICS - 1)
    texts = dict(zip(candidates.documents, candidates.texts, strict=True))
    assert texts[name_of(1)] == f"Über 1\n\n{text_of(1)}"
    assert texts[name_of(0)] == f"Über 0\n\n{text_of(0)}", "keywords are none of the tags that count"
    assert candidates.counts == {
        "topics": TOPICS - 1,
        "topics_without_relevant": 1,
        "topics_without_negative": 0,
        "documents": 4 * (TOPICS - 1),
        "documents_absent": 1,
    }


def test_judgments_are_those_of_the_topics_that_the_query_language_has(tmp_path):
    folder = write_clef(tmp_path / "clef").parent
    (folder / "en/topics-en-2001.txt").unlink()
    data = {"clef": {"all": folder}}
    assert list(Clef().judgments(data, PAIR)) == ["1", "2", "3", "4", "5", "6"]
    assert len(Clef().all_judgments(data, PAIR)) == TOPICS
    counts = read_candidates(Clef(), data, PAIR).counts
    assert (counts["topics"], counts["topics_without_relevant"]) == (6, 0)  # that one has no query here


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"en/topics-en-2000.txt": None, "en/topics-en-2001.txt": None}, "no topics in en"),
        (
            {"en/topics-en-2001.txt": "<top><num>C001</num><title>x</title><desc>x</desc></top>"},
            "topic 'C001' appears twice",
        ),
        ({"de/qrels_de_2001": "1 0 a 1\n"}, "topic '1' appears twice"),
        (
            {"de/spiegel.sgml": None, "de/rundschau.sgml": "<DOC><DOCNO>x</DOCNO><TEXT>y</TEXT></DOC>"},
            "none of its 45 judged",
        ),
    ],
)
def test_input_that_makes_no_sense_is_refused(tmp_path, changes, message):
    folder = write_clef(tmp_path / "clef").parent
    for name, text in changes.items():
        (folder / name).unlink()
        if text is not None:
            (folder / name).write_text(text)
    with pytest.raises(SteleError, match=message):
        read_candidates(Clef(), {"clef": {"all": folder}}, PAIR)


def test_a_topic_without_description_and_a_folder_without_languages_are_refused(tmp_path):
    folder = write_clef(tmp_path / "clef", description=False).parent
    with pytest.raises(SteleError, match="topics in en: topic 2 has no description"):
        read_candidates(Clef(), {"clef": {"all": folder}}, PAIR)
    with pytest.raises(SteleError, match="no folder de in it"):
        next(iter(Clef().passages({"clef": {"all": tmp_path}}, "de")))


def test_topics_without_a_negative_are_counted_and_what_is_not_judged_is_no_candidate(tmp_path):
    folder = write_clef(tmp_path / "clef").parent
    lines = (folder / "de/qrels_de_2000").read_text().splitlines()
    alone = [line for line in lines if not line.startswith("3 ") or line.endswith(" 1")]
    changed = [line.removesuffix(" 0") + " -1" if line == f"4 0 {name_of(13)} 0" else line for line in alone]
    assert len(changed) == len(lines) - 3 and changed != alone
    changed.append(f"5 0 {name_of(13)} 0")
    (folder / "de/qrels_de_2000").write_text("".join(f"{line}\n" for line in changed))
    candidates = read_candidates(Clef(), {"clef": {"all": folder}}, PAIR)
    assert candidates.counts["topics_without_negative"] == 1
    sizes = [int((candidates.topic_of == place).sum()) for place in range(5)]
    assert sizes == [4, 4, 1, 3, 5]
