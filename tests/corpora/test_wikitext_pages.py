"""A page of a dump that is larger than any real one: bounded time, a counted reject, the rest kept."""

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
