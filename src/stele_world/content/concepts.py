"""Types of entities, relations and plain words of the world, read from concepts.yaml and cut to a scale's sizes."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from stele.catalogue import read_yaml
from stele.catalogue.schema import Facts, choice
from stele.catalogue.schema.languages import Syllables
from stele.files.strict import Strict, validate
from stele.recipes.world import WorldSizes
from stele_world.content.draws import stream, syllables

FILE = Path(__file__).with_name("concepts.yaml")
# syllables of invented English words, if the lists are too short
INVENTED = Syllables(
    onsets="b br d dr f fl g gl h j k l m n p pl r sn st t tr v w",
    nuclei="a e i o u oo ea",
    codas="b d g k l m n p r t nk st mp",
)
DIGITS = ("year", "number")  # kinds of values that are written in digits

Words = Annotated[list[str], Field(min_length=1)]
Two = Annotated[tuple[str, str], Field(strict=False)]  # YAML has lists
Number = Annotated[int, Field(ge=0)]
Range = Annotated[tuple[Number, Number], Field(strict=False)]
Role = Literal["object", "in", "of", "from", "by", "with", "for"]


class Definition(Strict):
    """Pattern of an article's first sentence."""

    noun: str = Field(description="type: its own word; else a class of nouns")
    value: str = Field(description="a type")
    role: Role
    tell: str = Field(description="the preposition")


class Statement(Strict):
    """A relation between an entity and a value."""

    value: str = Field(description="a type, `year`, `number`, or a class of nouns")
    role: Role = Field(description="how other languages mark the value")
    word: str = Field(description="the English word that others borrow")
    tell: Words = Field(description="statements; {s} subject, {o} value")
    ask: Words = Field(description="questions, one for each statement")
    inverse: Words | None = Field(None, description="how the page of the value tells the same fact")
    range: Range | None = Field(None, description="of a number or year")
    unit: str | None = Field(None, description="the noun that is counted")


class Relation(Statement):
    """A relation of a world. Articles' first sentences state a type's definition, which no question asks for."""

    name: str = Field(description='"type.relation", also the concept of its verb')
    kind: Literal["entity", "year", "number", "noun"]

    @property
    def is_definition(self) -> bool:
        """Whether this is the relation stated in articles' first sentences."""
        return self.name.endswith(".definition")


class Type(Strict):
    """A type of entity, such as a city."""

    words: Words = Field(description="its names; others borrow or inherit the first")
    pronouns: Words
    titles: Words | None = Field(None, description="what English may write before such a name")
    suffix: Words | None = Field(None, description="what English may write after such a name")
    definition: Definition
    sections: Two = Field(description="headings under which the later relations stand")
    relations: dict[str, Statement] = Field(min_length=1)


class Concepts(Strict):
    """The contents of concepts.yaml: the subjects of the generated world."""

    lead: int = Field(ge=1, description="number of relations told in an article's lead")
    inverse_heading: str
    types: dict[str, Type] = Field(min_length=1)
    classes: dict[str, Words]
    nouns: Words
    verbs: Words
    adjectives: Words
    units: Words
    headings: Words
    functions: Words


class Inventory(Concepts):
    """All concepts of a world; `relations`: name -> relation, by type, with each type's definition first."""

    relations: dict[str, Relation]
    words: dict[str, list[str]] = Field(description="concept -> its English words")
    parts: dict[str, str] = Field(description="concept -> its part of speech")


def check_concepts(values: Facts, where: str) -> None:
    """Validates the file; raises SteleError unless each relation's value is a type, a class or a number."""
    validate(Concepts, values, where)
    valid = [*values["types"], *values["classes"], *DIGITS]
    for name, entry in values["types"].items():
        for key, relation in {"definition": entry["definition"], **entry["relations"]}.items():
            at = ["types", name, *(["relations"] if key != "definition" else []), key]
            choice(relation, "value", valid, where, at)
            choice(relation, "unit", values["units"], where, at)


def inventory(sizes: WorldSizes) -> Inventory:
    """Selects the first `types`, `nouns`, ... of concepts.yaml, as many as the sizes say."""
    data = validate(Concepts, read_yaml(FILE), FILE)
    cut = {
        "types": dict(islice(data.types.items(), sizes.types)),
        "nouns": _enough(data.nouns, sizes.nouns, ""),
        "verbs": _enough(data.verbs, sizes.verbs, "ed"),
        "adjectives": _enough(data.adjectives, sizes.adjectives, "ish"),
    }
    concepts = data.model_copy(update=cut)
    relations = {relation.name: relation for name in concepts.types for relation in _relations(concepts, name)}
    words: dict[str, list[str]] = {}
    parts: dict[str, str] = {}
    for concept, part, english in _spoken(concepts, relations.values()):
        words.setdefault(concept, english)
        parts.setdefault(concept, part)
    return Inventory.model_construct(**dict(concepts), relations=relations, words=words, parts=parts)


def _enough(words: list[str], count: int, ending: str) -> list[str]:
    """Takes the first `count` words; adds invented English words if there are fewer."""
    draws, chosen = stream(0, "invented", ending), words[:count]
    while len(chosen) < count:
        word = "".join(syllables(INVENTED, 2, draws)) + ending
        if word not in chosen:
            chosen.append(word)
    return chosen


def _relations(concepts: Concepts, owner: str) -> Iterator[Relation]:
    """Yields a type's relations, definition first, without those whose value's type the scale leaves out."""
    first = concepts.types[owner].definition
    definition = Statement.model_construct(value=first.value, role=first.role, word=owner, tell=[first.tell], ask=[])
    for key, told in {"definition": definition, **concepts.types[owner].relations}.items():
        kinds = {**dict.fromkeys(concepts.types, "entity"), **dict.fromkeys(concepts.classes, "noun")}
        kind = told.value if told.value in DIGITS else kinds.get(told.value)
        if kind:
            yield Relation.model_construct(**dict(told), name=f"{owner}.{key}", kind=kind)


def _spoken(concepts: Concepts, relations: Iterable[Relation]) -> Iterator[tuple[str, str, list[str]]]:
    """Yields (concept, part of speech, English words) for everything that texts can say."""
    for name, type_ in concepts.types.items():
        yield name, "noun", type_.words
        told = (relation for relation in relations if relation.name.startswith(f"{name}."))
        yield from ((relation.name, "verb", [relation.word]) for relation in told if not relation.is_definition)
    members = [word for name, words in concepts.classes.items() for word in (name, *words)]
    yield from ((word, "noun", [word]) for word in (*members, *concepts.nouns, *concepts.units, *concepts.headings))
    for part, words in (("verb", concepts.verbs), ("adjective", concepts.adjectives), ("function", concepts.functions)):
        yield from ((f"{part}.{word}", part, [word]) for word in words)
