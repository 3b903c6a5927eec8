"""Pages of a dump that are larger or more nested than any real one: bounded time, a counted reject, the rest kept."""

import json
import time

from stele.artifacts.documents import read_documents


def test_a_page_of_50_mb_is_a_reject_and_the_others_stay(wiki, run):
    wiki.add("Before", "Text.")
    wiki.add("Huge", "A [[b]] {{c}}. " * (50_000_000 // 15))
    wiki.add("After", "More text.")
    started = time.process_time()
    done = run("wikipedia", wiki.write())
    assert time.process_time() - started < 300
    assert [document.title for document in read_documents(done.folder)] == ["Before", "After"]
    (reject,) = map(json.loads, (done.folder / "rejects.jsonl").read_text().splitlines())
    assert reject["title"] == "Huge" and "49,999,995 characters" in reject["reason"] and done.record["rejects"] == 1


def test_ten_thousand_nested_ones_are_a_page_as_any(wiki, run):
    nests = {
        "braces": ("{{a|", "}}"),
        "links": ("[[a|", "]]"),
        "tables": ("\n{|\n|", "\n|}"),
        "files": ("[[File:a|", "]]"),
    }
    for name, (opening, closing) in nests.items():
        wiki.add(name, opening * 10_000 + closing * 10_000 + "\n\nThe end.")
        wiki.add(f"{name}, never closed", "A text.\n\n" + opening * 10_000)
    started = time.process_time()
    done = run("wikipedia", wiki.write())
    assert time.process_time() - started < 100
    documents = {document.title: document.sentences for document in read_documents(done.folder)}
    assert set(documents) == {f"{name}{more}" for name in nests for more in ("", ", never closed")}
    assert all(
        sentences[0 if "never" in name else -1] in ("A text.", "The end.") for name, sentences in documents.items()
    )
