"""Made pages of three kinds, each heavy with what costs an extractor most: long articles, tables, short tagged pages.

Their words mean nothing; what counts is how often each mark stands between them.
"""

import random
from collections.abc import Callable

from wikitext_reference import Wiki

from stele.corpora.wikitext.titles import Site

SITE = Site("en", True, {"File": 6, "Category": 14, "Template": 10})
SYLLABLES = ("ba", "co", "di", "fen", "gal", "hor", "in", "ka", "lu", "mer", "no", "pel", "qui", "ros", "sa", "tan")


class Writer:
    """Words, links, references and sentences, drawn from one generator."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.words = ["".join(self.draw.choices(SYLLABLES, k=self.draw.randint(1, 4))) for _ in range(600)]
        self.titles = [self.some_words(self.draw.randint(1, 3)).capitalize() for _ in range(400)]

    def some_words(self, count: int) -> str:
        return " ".join(self.draw.choices(self.words, k=count))

    def link(self) -> str:
        title = self.draw.choice(self.titles)
        return self.draw.choice((f"[[{title}]]", f"[[{title}|{title.lower()}]]", f"[[{title.lower()}]]"))

    def citation(self) -> str:
        year = self.draw.randint(1900, 2020)
        return f"{{{{cite book |title={self.some_words(5)} |year={year} |publisher={self.link()} |page={year % 97}}}}}"

    def reference(self) -> str:
        name = self.draw.choice(self.words)
        return self.draw.choice((
            f"<ref>{self.citation()}</ref>",
            f'<ref name="{name}">{self.citation()}</ref>',
            f'<ref name="{name}" />',
            f"<ref>[http://www.{name}.org/{name}.html {self.some_words(4)}]</ref>",
        ))  # fmt: skip

    def tag(self) -> str:
        first, second = self.draw.choices(self.words, k=2)
        return self.draw.choice((
            f"<ref>{first} {self.link()}</ref>",
            f'<ref name="{first}" />',
            "<br />",
            f"<br>{second}.",
            f" <small>({first} {second})</small>",
            f" <nowiki>''{first}''</nowiki>",
            f" <math>{first}_{{1}}^2</math> {second}.",
            f" H<sub>2</sub>{first}<sup>3</sup>.",
            f'<span style="color:red">{first}</span>',
            f"<!-- {first} --> &amp; {second}",
        ))  # fmt: skip

    def prose(self, sentences: int, after: Callable[[], str], links: float = 0.1) -> str:
        """Sentences of some 15 words, that share of them links; one in two has something `after` it."""
        written = []
        for _ in range(sentences):
            count = self.draw.randint(8, 22)
            words = [self.link() if self.draw.random() < links else self.draw.choice(self.words) for _ in range(count)]
            written.append(f"The {' '.join(words)}.{after() if self.draw.random() < 0.5 else ''}")
        return " ".join(written)


def long_article(writer: Writer) -> str:
    """45,000 characters: an infobox, sections of prose with links, references and files, lists, categories."""
    fields = "".join(f"| {writer.some_words(1)} = {writer.link()}\n" for _ in range(15))
    parts = [f"{{{{Infobox place\n{fields}}}}}\n'''Page''' is {writer.prose(4, writer.reference)}"]
    for title in writer.draw.choices(writer.titles, k=12):
        parts.append(f"== {title} ==\n{{{{Main|{title}}}}}")
        parts.append(f"[[File:{title}.jpg|thumb|left|200px|{writer.prose(1, str, 0.2)}]]")
        parts += [writer.prose(writer.draw.randint(3, 7), writer.reference) for _ in range(4)]
        parts.append(f"''{title}'' &ndash; {writer.prose(3, writer.reference)}")
    parts.append("== See also ==\n" + "\n".join(f"* {writer.link()}, {writer.some_words(4)}" for _ in range(12)))
    parts.append("== References ==\n<references />\n" + "\n".join(f"* {writer.citation()}" for _ in range(10)))
    parts.append("\n".join(f"[[Category:{title}]]" for title in writer.titles[:6]))
    return "\n\n".join(parts)


def page_of_tables(writer: Writer) -> str:
    """18,000 characters: six tables of 25 rows with links, flags and references, a few sentences around each."""
    parts = [writer.prose(3, writer.reference)]
    for title in writer.draw.choices(writer.titles, k=6):
        rows = [
            f"|-\n| {n} || {{{{flag|{writer.words[n]}}}}} {writer.link()} || align=right | {n * 37}\n| {writer.link()}"
            + (writer.reference() if n % 5 == 0 else "")
            for n in range(25)
        ]
        head = '{| class="wikitable sortable"\n! Rank !! Name !! Points\n! Place'
        parts.append(f"== {title} ==\n{writer.prose(2, writer.reference)}\n\n" + "\n".join([head, *rows, "|}"]))
    return "\n\n".join(parts)


def short_tagged_page(writer: Writer) -> str:
    """900 characters: six sentences and as many tags."""
    paragraphs = [writer.prose(3, lambda: writer.tag() + writer.tag()) for _ in range(2)]
    end = f"<references />\n{{{{stub}}}}\n[[Category:{writer.titles[0]}]]"
    return "'''Page''' is " + "\n\n".join([*paragraphs, end])


KINDS = {  # and how many pages
    "long articles": (long_article, 10),
    "tables": (page_of_tables, 30),
    "short tagged pages": (short_tagged_page, 500),
}


def made_wikis(seed: int = 0) -> list[Wiki]:
    """A wiki of each kind of page, of some 500,000 characters each."""
    wikis = []
    for name, (page, count) in KINDS.items():
        writer = Writer(seed)
        wikis.append(Wiki(name, SITE, [(f"Page {n}", page(writer)) for n in range(count)]))
    return wikis
