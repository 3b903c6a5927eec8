"""Types of entities, relations and plain words of the world, read from concepts.yaml and cut to a scale's sizes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from stele.catalogue import read_yaml
from stele.catalogue.schema.languages import Syllables
from stele.files.strict import Values
from stele.recipes.world import WorldSizes
from stele_world.content.draws import stream, syllables

# syllables of the English words that are made up where the lists are too short
INVENTED = Syllables(
    onsets="b br d dr f fl g gl h j k l m n p pl r sn st t tr v w",
    nuclei="a e i o u oo ea",
    codas="b d g k l m n p r t nk st mp",
)


@dataclass(frozen=True, slots=True)
class Relation:
    """`name` is "type.relation", also the concept of its verb; `kind` is entity, year, number or noun.

    `inverse`: English patterns that tell the fact on the page of its value; only relations between entities have them.
    """

    name: str
    kind: str
    target: str
    role: str
    word: str
    tell: tuple[str, ...]
    ask: tuple[str, ...]
    inverse: tuple[str, ...]
    range: tuple[int, int] | None
    unit: str | None

    @property
    def is_definition(self) -> bool:
        """Whether it is the relation of articles' first sentences, which nobody asks for."""
        return self.name.endswith(".definition")


@dataclass(frozen=True, slots=True)
class Type:
    """A type of entity; `definition` is the relation that an article's first sentence tells."""

    name: str
    words: tuple[str, ...]
    pronouns: tuple[str, ...]
    titles: tuple[str, ...]
    suffix: tuple[str, ...]
    definition: Relation
    definition_noun: str
    sections: tuple[str, str]
    relations: tuple[Relation, ...]


@dataclass(frozen=True, slots=True)
class Inventory:
    """All concepts of a world. `words` maps a concept to its English words, `classes` to their part of speech."""

    types: dict[str, Type]
    lead: int
    inverse_heading: str
    classes: dict[str, tuple[str, ...]]
    nouns: tuple[str, ...]
    verbs: tuple[str, ...]
    adjectives: tuple[str, ...]
    words: dict[str, tuple[str, ...]]
    parts: dict[str, str]
    relations: dict[str, Relation]


def inventory(sizes: WorldSizes) -> Inventory:
    """The first `types`, `nouns`, ... of concepts.yaml."""
    return _inventory(sizes.types, sizes.nouns, sizes.verbs, sizes.adjectives)


@cache
def _inventory(n_types: int, n_nouns: int, n_verbs: int, n_adjectives: int) -> Inventory:
    data = read_yaml(Path(__file__).with_name("concepts.yaml"))
    classes = {name: tuple(words) for name, words in data["classes"].items()}
    names = list(data["types"])[:n_types]
    types = {name: _type(name, data["types"][name], names, classes) for name in names}
    nouns = _enough(data["nouns"], n_nouns, "")
    verbs = _enough(data["verbs"], n_verbs, "ed")
    adjectives = _enough(data["adjectives"], n_adjectives, "ish")
    words: dict[str, tuple[str, ...]] = {}
    parts: dict[str, str] = {}

    def add(concept: str, part: str, *english: str) -> None:
        words.setdefault(concept, english)
        parts.setdefault(concept, part)

    for type_ in types.values():
        add(type_.name, "noun", *type_.words)
        for relation in type_.relations:
            add(relation.name, "verb", relation.word)
    for name, members in classes.items():
        for word in (name, *members):
            add(word, "noun", word)
    for word in (*nouns, *data["units"], *data["headings"]):
        add(word, "noun", word)
    for word in verbs:
        add(f"verb.{word}", "verb", word)
    for word in adjectives:
        add(f"adjective.{word}", "adjective", word)
    for word in data["functions"]:
        add(f"function.{word}", "function", word)
    relations = {r.name: r for type_ in types.values() for r in (type_.definition, *type_.relations)}
    return Inventory(
        types, data["lead"], data["inverse_heading"], classes, nouns, verbs, adjectives, words, parts, relations
    )


def _enough(words: list[str], count: int, ending: str) -> tuple[str, ...]:
    """The first `count` words; a scale that wants more than there are gets invented English ones."""
    draws, chosen = stream(0, "invented", ending), words[:count]
    while len(chosen) < count:
        word = "".join(syllables(INVENTED, 2, draws)) + ending
        if word not in chosen:
            chosen.append(word)
    return tuple(chosen)


def _type(name: str, entry: Values, names: list[str], classes: dict[str, tuple[str, ...]]) -> Type:
    definition = entry["definition"]
    relations = [_relation(name, key, value, names, classes) for key, value in entry["relations"].items()]
    as_relation = {**definition, "word": name, "tell": [definition["tell"]], "ask": []}
    return Type(
        name=name,
        words=tuple(entry["words"]),
        pronouns=tuple(entry["pronouns"]),
        titles=tuple(entry.get("titles", ())),
        suffix=tuple(entry.get("suffix", ())),
        definition=_relation(name, "definition", as_relation, names, classes),
        definition_noun=definition["noun"],
        sections=tuple(entry["sections"]),
        relations=tuple(r for r in relations if r is not None),
    )


def _relation(
    owner: str, key: str, entry: Values, names: list[str], classes: dict[str, tuple[str, ...]]
) -> Relation | None:
    """The relation, or None when its value is of a type that the scale leaves out."""
    target = entry["value"]
    if target in ("year", "number"):
        kind = target
    elif target in classes:
        kind = "noun"
    elif target in names:
        kind = "entity"
    else:
        return None
    return Relation(
        name=f"{owner}.{key}",
        kind=kind,
        target=target,
        role=entry["role"],
        word=entry["word"],
        tell=tuple(entry["tell"]),
        ask=tuple(entry["ask"]),
        inverse=tuple(entry.get("inverse", ())),
        range=tuple(entry["range"]) if "range" in entry else None,
        unit=entry.get("unit"),
    )
