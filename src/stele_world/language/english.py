"""English statements and questions by the patterns of concepts.yaml, with titles and abbreviations around names."""

from stele_world.content.concepts import Relation
from stele_world.content.draws import Draws
from stele_world.content.model import Fact, Sentence
from stele_world.language.grammar import Frame, Grammar, Piece

TITLED = 0.2  # share of names that get a title or an abbreviation: Dr. X, X Co.


class English(Grammar):
    """The grammar of English."""

    def statement(self, frame: Frame, subject: str, draws: Draws) -> Sentence:
        """Writes a fact by one of its relation's patterns; a year comes first or last."""
        fact = frame.fact
        relation = self.concepts.relations[fact.relation]
        if relation.is_definition:
            return self.line(self._definition(frame, relation, draws), self._stop)
        if frame.inverse:
            before, after = draws.pick(relation.inverse).removeprefix("{o} ").split("{s}")
            value = [self.name(fact.subject)]
        else:
            before, after = draws.pick(relation.tell).removeprefix("{s} ").split("{o}")
            value = self.value(fact, relation, draws)[:1]  # the pattern writes the unit of a number itself
        named = self.subject(frame.about, subject, draws)
        if subject == "name":
            named = self._titled(named, frame.about, draws)
        if before.endswith(" a ") and fact.kind == "noun":
            before = before.removesuffix("a ") + self.article(False, value[0].text)
        pieces = [*named, Piece(before.strip()), *value, Piece(after.strip())]
        if frame.dated:
            early = draws.chance(0.5)
            pieces = [Piece(f"In {frame.dated},"), *pieces] if early else [*pieces, Piece(f"in {frame.dated}")]
        return self.line(pieces, self._stop)

    def question(self, fact: Fact, draws: Draws, mark: str | None = None) -> str:
        """Writes a question by a pattern of the relation, or a statement with a gap ("X was born in which city?")."""
        relation = self.concepts.relations[fact.relation]
        question = draws.pick((*relation.ask, *(with_gap(pattern, relation) for pattern in relation.tell)))
        if mark is not None:
            question = question.removesuffix("?") + mark
        return question.replace("{s}", self.entities[fact.subject].names[self.language.code])

    def article(self, definite: bool, before: str) -> str:
        """Chooses the article: "the", or by the next letter "a" or "an"."""
        return "the" if definite else "an" if before[0] in "aeiou" else "a"

    def _definition(self, frame: Frame, relation: Relation, draws: Draws) -> list[Piece]:
        name = self._titled(self.subject(frame.fact.subject, "name", draws), frame.fact.subject, draws)
        value = self.value(frame.fact, relation, draws)
        return [*name, Piece("is"), *self.described(frame, draws), Piece(relation.tell[0]), *value]

    def _titled(self, pieces: list[Piece], entity: str, draws: Draws) -> list[Piece]:
        """Adds, in some sentences, a title before a name or an abbreviation after it."""
        type_ = self.concepts.types[self.entities[entity].type]
        if type_.titles and draws.chance(TITLED):
            return [Piece(draws.pick(type_.titles)), *pieces]
        if type_.suffix and draws.chance(TITLED):
            return [*pieces, Piece(draws.pick(type_.suffix))]
        return pieces


def with_gap(pattern: str, relation: Relation) -> str:
    """Turns a statement's pattern into a question: "which" or "how many" replaces the value."""
    gap = "how many" if relation.unit else "which year" if relation.kind == "year" else f"which {relation.value}"
    for article in ("the {o}", "a {o}", "{o}"):
        if article in pattern:
            return pattern.replace(article, gap) + "?"
    return pattern + "?"
