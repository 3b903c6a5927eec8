"""Mr. TyDi v1.1: monolingual retrieval in eleven languages (castorini/mr-tydi, castorini/mr-tydi-corpus).

One search and one pool per language. Judged split: test. Native files: `corpus.jsonl.gz` with {docid, title, text};
`{train,dev,test}.jsonl.gz` with {query_id, query, positive_passages, negative_passages}, where a passage is
{docid, title, text}; `qrels.test.txt` with `query 0 passage relevance`. The dev and test files name their passages
without the texts, so only `train` has training examples.

>>> searches(["sw"])
[Search(name='sw', language='sw', pool='sw')]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from stele.benchmarks._files import field, folder_of, identifier, json_lines, lines, located, refuse_again
from stele.benchmarks._tevatron import training_examples
from stele.benchmarks.types import Data, Passage, Query, Search, TrainingExample
from stele.errors import SteleError

TOPICS = "mrtydi"
CORPUS = "mrtydi_corpus"
LANGUAGES = ("ar", "bn", "en", "fi", "id", "ja", "ko", "ru", "sw", "te", "th")
JUDGED = "test"
AVERAGE = "macro"  # mean over languages


def searches(languages: Sequence[str]) -> list[Search]:
    """One search per language, in its own pool."""
    return [Search(language, language, language) for language in languages]


def queries(data: Data, search: Search) -> Iterator[Query]:
    """The test queries of one language."""
    seen: set[str] = set()
    for where, item in json_lines(_topics(data, search.language, JUDGED)):
        name = refuse_again(identifier(item.get("query_id"), where, "query_id"), seen, where, "query_id")
        seen.add(name)
        yield Query(name, field(item, "query", str, where))


def passages(data: Data, pool: str) -> Iterator[Passage]:
    """The passages of one language, streamed."""
    for where, item in json_lines(located(folder_of(data, CORPUS, pool), "corpus.jsonl.gz")):
        docid = identifier(item.get("docid"), where, "docid")
        yield Passage(docid, field(item, "title", str, where), field(item, "text", str, where))


def judgments(data: Data, search: Search) -> dict[str, dict[str, int]]:
    """Query id -> {passage id: relevance} of one language's test queries."""
    known = {query.id for query in queries(data, search)}
    path = located(folder_of(data, TOPICS, search.language), f"qrels.{JUDGED}.txt")
    judged: dict[str, dict[str, int]] = {}
    for number, line in lines(path):
        where = f"{path}, line {number}"
        columns = line.split()
        if len(columns) != 4 or not columns[3].lstrip("-").isdigit():
            raise SteleError(f"{where}: want `query 0 passage relevance`, found {line[:80]!r}")
        query, _, docid, relevance = columns
        if query not in known:
            raise SteleError(f"{where}: query {query!r} is not among the {len(known)} test queries")
        refuse_again(docid, judged.setdefault(query, {}), where, f"judgment of query {query} on passage")
        judged[query][docid] = int(relevance)
    return judged


def training(data: Data, split: str) -> Iterator[TrainingExample]:
    """Training examples with BM25 hard negatives, language by language."""
    for language in sorted(data.get(TOPICS, {})):
        yield from training_examples(_topics(data, language, split), language)


def _topics(data: Data, language: str, split: str) -> Path:
    return located(folder_of(data, TOPICS, language), f"{split}.jsonl.gz")
