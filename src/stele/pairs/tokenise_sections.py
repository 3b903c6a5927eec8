"""Tokenise section pairs into a store of sections and their pairs (`training/section_store.py`), for one tokenizer.

Sentences are not cut and have no special tokens; a sentence without tokens is left out.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated

from stele import progress
from stele.artifacts.knowledge_base import TextSection, read_pairs, read_sections
from stele.artifacts.records import Record
from stele.command.arguments import NewRecord, record_of
from stele.pairs.methods import SectionMethod
from stele.pairs.mining.segments import Encode, tokenised
from stele.pairs.tokenise import TokenisationJob, tokenise
from stele.training.section_store import EMPTY, TokenSection, write_section_store

JOB = "pairs tokenise_sections"


class TokeniseSections(TokenisationJob):
    output: Annotated[NewRecord, record_of(JOB)]


def run(args: TokeniseSections) -> None:
    def write(folder: Path, recipe: object, record: Record, encode: Encode, counts: Counter[str]) -> dict[str, int]:
        sections = chain.from_iterable(read_sections(args.pairs.parent))
        shown = progress.track(sections, None, f"tokenise {record['part']}", "section")
        pairs = read_pairs(args.pairs.parent)
        stored = write_section_store(folder, token_sections(shown, encode, counts), pairs)
        counts[EMPTY] = stored.pop(EMPTY)
        return stored

    tokenise(args, JOB, SectionMethod, {"method"}, write)


def token_sections(sections: Iterable[TextSection], encode: Encode, counts: Counter[str]) -> Iterator[TokenSection]:
    """Yields each section with its sentences' tokens, in order; counts sentences without tokens in `counts`."""
    waiting: deque[TextSection] = deque()

    def texts() -> Iterator[tuple[str, list[str]]]:
        for section in sections:
            waiting.append(section)
            yield section.heading, section.sentences

    for _, tokens in tokenised(texts(), encode, str, counts):
        section = waiting.popleft()
        yield TokenSection(section.side, section.page, tokens.sentences())
