"""The facts of the world: entities with names, and relations between them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from stele.catalogue.schema.languages import Syllables
from stele.errors import SteleError
from stele.recipes.world import WorldSizes
from stele_world.content.concepts import Inventory, Relation
from stele_world.content.draws import Draws, stream, syllables
from stele_world.content.model import Entity, Fact
from stele_world.language.lexicon import LATIN, Lexicon, foreign_writings, written_name

FIRST_ID = 101
SHARES = {"person": 30, "city": 24, "company": 16, "film": 14, "river": 9, "country": 7, "university": 8, "book": 10}
NAME_SOUNDS = Syllables(onsets="p t k b d g m n s f v l r z h", nuclei="a e i o u", codas="- - - - n r s l")
NAME_LENGTHS = {"person": (2, 2, 3), "country": (3, 3, 4), "river": (2, 2, 3)}
NAME_ENDINGS = {"country": ("ia", "land", "stan")}
GIVEN_NAMES = 60
# similar sounds: two names must differ in more than these
_ALIKE = str.maketrans("bfvdgzloehw", "ppptksrui''")


def entities(concepts: Inventory, sizes: WorldSizes, lexicons: Mapping[str, Lexicon], seed: int) -> dict[str, Entity]:
    """Makes all entities, by id and in the order of ids.

    Types come in fixed proportions; splits and languages are drawn for each entity, so that they do not depend on the
    languages that are generated.
    """
    names = _names(_types(concepts, sizes.entities, seed), seed)
    result = {}
    for i, (type_, sounds) in enumerate(names):
        id_ = f"Q{FIRST_ID + i}"
        covered = frozenset(
            code
            for code, lexicon in lexicons.items()
            if stream(seed, "coverage", code, id_).chance(lexicon.language.facts.coverage)
        )
        spelled = {code: lexicon.name(sounds, id_) for code, lexicon in lexicons.items()}
        result[id_] = Entity(id_, type_, spelled, covered, _split(sizes, stream(seed, "pool", id_)))
    return result


def _types(concepts: Inventory, count: int, seed: int) -> list[str]:
    """Chooses each entity's type, in the proportions of SHARES but at least two of each; the last ones give way."""
    shares = [name for name in concepts.types for _ in range(SHARES[name])]
    cycle = stream(seed, "types").shuffled(shares)
    types = [cycle[i % len(cycle)] for i in range(count)]
    lacking = [name for name in concepts.types for _ in range(2 - types.count(name))]
    while lacking:
        spare = next(i for i in range(count - 1, -1, -1) if types.count(types[i]) > 2)
        types[spare] = lacking.pop()
    return types


def _split(sizes: WorldSizes, draws: Draws) -> str:
    pools = sizes.pools
    # 1000 tickets: a share is a count of them
    ticket = draws.between(0, 999)
    for name in ("train", "dev", "test"):
        share = round(1000 * getattr(pools, name))
        if ticket < share:
            return name
        ticket -= share
    return "none"


def _names(types: Sequence[str], seed: int) -> list[tuple[str, tuple[str, ...]]]:
    """Draws a name for each type, as sounds of words; no two sound or look alike in any language."""
    draws = stream(seed, "names")
    given_names = [_name_word("given", draws, 0) for _ in range(GIVEN_NAMES)]
    writings = {"Latin": LATIN, **foreign_writings()}  # whichever languages are built
    taken: set[tuple[str, ...]] = set()
    result = []
    for type_ in types:
        for attempt in range(1000):
            longer = attempt // 20
            words = (_name_word(type_, draws, longer),)
            if type_ == "person":
                words = (draws.pick(given_names), *words)
            titles = {(language, written_name(writing, words)) for language, writing in writings.items()}
            titles.add(("sounds", "".join(map(_alike, words))))
            if taken.isdisjoint(titles):
                taken |= titles
                break
        else:
            raise SteleError(f"world: too few distinct names for {len(types)} entities; want fewer")
        result.append((type_, words))
    return result


def _name_word(type_: str, draws: Draws, longer: int) -> str:
    lengths = NAME_LENGTHS.get(type_, (2, 3))
    stem = "".join(syllables(NAME_SOUNDS, draws.pick(lengths) + longer, draws))
    if type_ not in NAME_ENDINGS:
        return stem
    return stem.rstrip("aeiou") + draws.pick(NAME_ENDINGS[type_])


def _alike(word: str) -> str:
    """Key of a word that easily confused words share."""
    broken = []
    for sound in word.translate(_ALIKE):
        if broken and sound not in "aiu" and broken[-1] not in "aiun":
            broken.append("u")
        broken.append(sound)
    return "".join(broken).rstrip("u")


class Facts:
    """All facts of the world, by entity and in the order of its article; the definition comes first."""

    def __init__(self, concepts: Inventory, entities: Mapping[str, Entity], sizes: WorldSizes, seed: int) -> None:
        self._by_type: dict[str, list[str]] = {name: [] for name in concepts.types}
        self._by_topic: dict[tuple[str, int], list[str]] = {}
        self._topic = {id_: stream(seed, "topic", id_).between(0, sizes.topics - 1) for id_ in entities}
        for id_, entity in entities.items():
            self._by_type[entity.type].append(id_)
            self._by_topic.setdefault((entity.type, self._topic[id_]), []).append(id_)
        self.concepts, self.entities, self.sizes, self.seed = concepts, entities, sizes, seed
        of_type: dict[str, list[Relation]] = defaultdict(list)
        for relation in concepts.relations.values():
            of_type[relation.name.partition(".")[0]].append(relation)
        self.of: dict[str, tuple[Fact, ...]] = {}
        for id_, entity in entities.items():
            draws = stream(seed, "facts", id_)
            told = of_type[entity.type]
            self.of[id_] = tuple(Fact(id_, r.name, r.kind, self._value(entity, r, draws)) for r in told)
        # facts (without definitions) with this value, which its own page may state inverted
        self.about: dict[str, list[Fact]] = {id_: [] for id_ in entities}
        for fact in (fact for facts in self.of.values() for fact in facts[1:] if fact.kind == "entity"):
            self.about[fact.value].append(fact)

    def _value(self, entity: Entity, relation: Relation, draws: Draws) -> str:
        if relation.range is not None:
            return str(draws.between(*relation.range))
        if relation.kind == "noun":
            return draws.zipf(self.concepts.classes[relation.value])
        near = self._by_topic.get((relation.value, self._topic[entity.id]), [])
        everywhere = self._by_type[relation.value]
        for _ in range(20):
            choices = near if near and draws.chance(self.sizes.dials.topic) else everywhere
            value = draws.zipf(choices)
            if value != entity.id:
                return value
        return next(id_ for id_ in everywhere if id_ != entity.id)
