"""Tokenise section pairs into a store of sections and their pairs (`training/section_store.py`), for one tokenizer.

Sentences are not cut and have no special tokens; a sentence without tokens is left out.
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Annotated

from stele import progress
from stele.artifacts import records
from stele.artifacts.knowledge_base import TextSection, read_pairs, read_sections
from stele.command.arguments import NewRecord, record_of
from stele.files.atomic import atomic_directory
from stele.pairs.methods import SectionMethod
from stele.pairs.mining.segments import Encode, encoder, tokenised
from stele.pairs.tokenise import TokenisationJob, open_tokenisation
from stele.training.section_store import EMPTY, TokenSection, write_section_store

log = logging.getLogger(__name__)

JOB = "pairs tokenise_sections"


class TokeniseSections(TokenisationJob):
    output: Annotated[NewRecord, record_of(JOB)]


def run(args: TokeniseSections) -> None:
    clock = records.start()
    recipe, made, tokenizer, probe = open_tokenisation(args, SectionMethod)
    counts: Counter[str] = Counter()
    sections = progress.track(
        chain.from_iterable(read_sections(args.pairs.parent)), None, f"tokenise {made['part']}", "section"
    )
    with atomic_directory(args.output.parent, JOB) as folder:
        pairs = read_pairs(args.pairs.parent)
        stored = write_section_store(folder, token_sections(sections, encoder(tokenizer), counts), pairs)
        dropped = stored.pop(EMPTY)
        records.write_folder_record(
            folder / args.output.name,
            job=JOB,
            inputs={"pairs": args.pairs, "tokenizer": args.tokenizer},
            clock=clock,
            method=recipe.method,
            recipe={"method": recipe.method},
            language=made["part"],
            tokenizer_probe=probe,
            **stored,
            dropped={EMPTY: dropped} if dropped else {},
            counts={name: number for name, number in sorted(counts.items()) if number},
        )
    log.info("%s %s: %s", recipe.method, made["part"], stored)


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
