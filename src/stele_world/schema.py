"""The models of this package's YAML files, which are checked when the workflow is read: no job depends on these."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from stele.catalogue import read_yaml
from stele.catalogue.schema import Facts, choice
from stele.files.strict import Strict, Values, validate

Words = Annotated[list[str], Field(min_length=1)]
Two = Annotated[tuple[str, str], Field(strict=False)]  # YAML has lists
Number = Annotated[int, Field(ge=0)]
Range = Annotated[tuple[Number, Number], Field(strict=False)]
Role = Literal["object", "in", "of", "from", "by", "with", "for"]
Letters = dict[str, str]


class Definition(Strict):
    """The first sentence of an article."""

    noun: str = Field(description="type: its own word; else a class of nouns")
    value: str = Field(description="a type")
    role: Role
    tell: str = Field(description="the preposition")


class Relation(Strict):
    """A relation between an entity and a value."""

    value: str = Field(description="a type, `year`, `number`, or a class of nouns")
    role: Role = Field(description="how other languages mark the value")
    word: str = Field(description="the English word that others borrow")
    tell: Words = Field(description="statements; {s} subject, {o} value")
    ask: Words = Field(description="questions, one for each statement")
    inverse: Words | None = Field(None, description="how the page of the value tells the same fact")
    range: Range | None = Field(None, description="of a number or year")
    unit: str | None = Field(None, description="the noun that is counted")


class Type(Strict):
    """A type of entity."""

    words: Words = Field(description="its names; others borrow or inherit the first")
    pronouns: Words
    titles: Words | None = Field(None, description="what English may write before such a name")
    suffix: Words | None = Field(None, description="what English may write after such a name")
    definition: Definition
    sections: Two = Field(description="headings under which the later relations stand")
    relations: dict[str, Relation] = Field(min_length=1)


class Concepts(Strict):
    """The whole of content/concepts.yaml: what the generated world is about."""

    lead: int = Field(ge=1, description="so many relations stand in an article's lead")
    inverse_heading: str
    types: dict[str, Type] = Field(min_length=1)
    classes: dict[str, Words]
    nouns: Words
    verbs: Words
    adjectives: Words
    units: Words
    headings: Words
    functions: Words


def check_concepts(values: Facts, where: str) -> None:
    """The file, and that every value of a relation is of a type, a class, or a number."""
    validate(Concepts, values, where)
    valid = [*values["types"], *values["classes"], "year", "number"]
    for name, entry in values["types"].items():
        for key, relation in {"definition": entry["definition"], **entry["relations"]}.items():
            at = ["types", name, *(["relations"] if key != "definition" else []), key]
            choice(relation, "value", valid, where, at)
            choice(relation, "unit", values["units"], where, at)


class Script(Strict):
    """The keys of every script of language/scripts.yaml: how generated languages write."""

    kind: str
    stop: str = Field(".", description="what closes a sentence")
    stops: dict[str, str] = Field({}, description="of a language that has another one")
    dot: str = Field(" ", description="between the words of a foreign name")


class Alphabet(Script):
    letters: Letters = Field(description="sound -> letters")
    final: Letters = Field({}, description="letter -> its form at the end of a word")


class Abjad(Script):
    letters: Letters
    dropped: str = Field(description="sounds that are not written inside a word")
    initial: Letters = Field(description="of sounds at a word's beginning")


class Abugida(Script):
    letters: Letters
    virama: str = Field(description="between consonants without a vowel")
    final_virama: bool = Field(description="and behind a last one")
    signs: Letters = Field(description="vowels behind a consonant")
    vowels: Letters = Field(description="vowels that stand alone")


class Thai(Script):
    letters: Letters
    signs: Letters = Field(description="vowels; {} is the consonant")
    bearer: str = Field(description="the consonant of a vowel that stands alone")


class Hangul(Script):
    initials: dict[str, Number] = Field(description="sound -> its place among the first letters of blocks")
    medials: dict[str, Number]
    finals: dict[str, Number]


class Kana(Script):
    rows: dict[str, str] = Field(description="consonant -> the syllables with a i u e o")
    merged: dict[str, str] = Field(description="sounds that are written as others")


class Han(Script):
    rows: dict[str, str] = Field(description="consonant -> characters with a e i o u; a lone consonant takes the last")
    merged: dict[str, str]
    native: str = Field(description="characters of which native words are made")


SCRIPTS = {
    "alphabet": Alphabet,
    "abjad": Abjad,
    "abugida": Abugida,
    "thai": Thai,
    "hangul": Hangul,
    "kana": Kana,
    "han": Han,
}


def check_scripts(values: Facts, where: str) -> None:
    """Every script, by its kind."""
    validate(dict[str, Values], values, where)
    for name, entry in values.items():
        validate(SCRIPTS[choice(entry, "kind", SCRIPTS, where, [name], required=True)], entry, where, [name])


class Wiki(Strict):
    """A Wikipedia of writers/namespaces.yaml: its names of namespaces, and of redirects."""

    file: str
    category: str
    template: str
    talk: str
    redirect: str
    file_aliases: Words | None = Field(None, description="further names that the wiki accepts")
    category_aliases: Words | None = None


def check_namespaces(values: Facts, where: str) -> None:
    """Every language's names."""
    validate(dict[str, Wiki], values, where)


FILES: dict[str, Callable[[Facts, str], None]] = {
    "stele_world/content/concepts.yaml": check_concepts,
    "stele_world/language/scripts.yaml": check_scripts,
    "stele_world/writers/namespaces.yaml": check_namespaces,
}


def read(name: str) -> Values:
    """One of FILES."""
    return read_yaml(Path(__file__).parents[1] / name)


@cache
def check_files() -> None:
    """Raises SteleError for the first file that says what it may not: the file, the key, the nearest valid key."""
    for name, check in FILES.items():
        check(read(name), name)
