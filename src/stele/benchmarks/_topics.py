"""Read topics of test collections in the layouts of TREC, FIRE, CLEF and NTCIR, in similar XML, JSON or TSV.

TREC does not close its tags (`<num> Number: AR26`, `<title> Topic: ...`), FIRE and CLEF do. NTCIR's ACLIA has
`<TOPIC ID="...">` with a `<QUESTION>`, NTCIR's WWW has `<query>` with `<qid>` and `<content>`, TREC's web track has
`<topic number="...">` with a `<query>`; Anserini distributes many topics as `id<TAB>title`. HC4 and NeuCLIR have
lines of JSON with a topic's texts in `topics`: in English, and in other languages by translators and by machine.
Lines from one that begins with `**` to the next blank one are translations (TREC-3 in Spanish) and left out.

The language of a text is stated by an attribute (`lang`, `xml:lang`, `language`) of its field or of an element inside
or around the field, or by the field's name (CLEF's `<FR-title>`): as Stele's code, an ISO 639-3 code, a name, or a code
of NTCIR's. A text without a stated language is taken to be in the requested language.
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from stele import catalogue
from stele.benchmarks._files import identifier, json_lines, refuse_again, refuse_old_line_ends
from stele.benchmarks._trec import BOM, decoded
from stele.catalogue.schema.languages import Language
from stele.errors import SteleError
from stele.files.reading import open_bytes, reading

LARGEST = 1 << 26  # bytes of a file of topics
DEEPEST = 20  # enclosing elements that are considered
FIELDS = {
    **dict.fromkeys(("num", "number", "identifier", "qid"), "id"),
    **dict.fromkeys(("title", "question", "content", "query"), "title"),
    **dict.fromkeys(("desc", "description"), "description"),
    **dict.fromkeys(("narr", "narrative"), "narrative"),
}
JSON_IDS, JSON_TITLES = ("id", "topic_id", "query_id", "qid", "_id"), ("title", "query", "text")
JSON_LANGUAGES = ("lang", "language")
LANGUAGE_FACTS = ("name", "tatoeba", "neuclir", "belebele")  # a language's names; Belebele's is code and script
SIMPLIFIED = "CS"  # NTCIR's simplified Chinese, LANG="CS"; in lower case, or as a field's name, it is Czech
NTCIR = {"zh": (SIMPLIFIED, "ct", "cn"), "ja": ("jp",), "ko": ("kr",), "cs": (SIMPLIFIED,)}  # the preferred first
NUMBERS = ("id", "no")  # these endings of a name (`query_id`) are not languages
ByLanguage = dict[str, dict[str, str]]  # field -> stated language, "" where none is -> text
Topics = Iterator[tuple[str, str, ByLanguage]]  # where, id, texts

_TOPIC = re.compile(r"<(top|topic|query)(?:\s[^<>]*)?>", re.IGNORECASE)
# the beginning of lines `id<TAB>title`, whose titles may have tags, but none that begins a line
_LINES = re.compile(rf"\s*[^\s<>]+\t(?!.*^[ \t]*{_TOPIC.pattern})", re.DOTALL | re.IGNORECASE | re.MULTILINE)
_FIELD = re.compile(rf"<(?:([a-z]+)[-_:])?({'|'.join(FIELDS)})(?:[-_:]([a-z]+))?(?:\s[^<>]*)?>", re.IGNORECASE)
_CDATA = r"<!\[CDATA\[(?:[^]<]|\](?!\]>)|<(?!!\[CDATA\[))*+\]\]>"
_TAG = re.compile(rf"{_CDATA}|<(/?)([A-Za-z][\w:.-]*)((?:\s[^<>]*)?)>")
_CHILD = re.compile(rf"<([A-Za-z]+)((?:\s[^<>]*)?)>((?:[^<]|{_CDATA})*+)</\1>")
_LANGUAGE = re.compile(r"""\s(?:xml:)?lang(?:uage)?\s*=\s*["']?\s*([^\W\d_]+)""", re.IGNORECASE)
_ID = re.compile(r"""\s(?:id|number)\s*=\s*["']?([^"'\s<>]+)""", re.IGNORECASE)
_LABEL = re.compile(r"\s*(?:Number|Topic|Title|Description|Narrative)\s*:", re.IGNORECASE)
_TRANSLATION = re.compile(r"^[ \t]*\*\*.*?(?:\n[ \t\r]*\n|\Z)", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"<!\[CDATA\[|\]\]>|</?[A-Za-z!?][^<>]*>")


def topics(path: Path, language: str, encoding: str | None = None) -> dict[str, dict[str, str]]:
    """Reads the topics: id -> field (title, description, narrative) -> text in `language`, in the file's order.

    `encoding` applies if the file is not UTF-8. Raises SteleError for a topic that is in other languages only.
    """
    with reading(path), open_bytes(path) as handle:
        content = handle.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise SteleError(f"{path}: more than {LARGEST >> 20} MB; this is not a file of topics")
    text = decoded(content.removeprefix(BOM), encoding, str(path))
    has_marks = _TOPIC.search(text) and not _LINES.match(text)
    kind = _of_json if text.lstrip()[:1] == "{" else _of_marks if has_marks else _of_lines
    read: dict[str, dict[str, str]] = {}
    foreign: dict[str, tuple[str, list[str]]] = {}  # topic in other languages -> its place, these languages
    for where, name, by_language in kind(path, text):
        fields, languages = _in_language(by_language, language)
        name = identifier(name, where, "topic")
        if languages and not fields:
            foreign.setdefault(name, (where, []))[1].extend(languages)
        else:
            read[refuse_again(name, read, where, "topic")] = fields
    if only := next((name for name in foreign if name not in read), None):
        where, languages = foreign[only]
        stated = ", ".join(sorted(set(languages)))
        raise SteleError(f"{where}: topic {only} is in {stated}, not in {language}; give its text in {language}")
    if not read:
        raise SteleError(f"{path}: no topics found; get the file again")
    return read


def _in_language(by_language: ByLanguage, language: str) -> tuple[dict[str, str], list[str]]:
    """Returns (a topic's fields in a language or in no stated one, the other languages that it has texts in)."""
    names = (*_names(language), "")
    fields = {
        field: next(texts[name] for name in names if texts.get(name))
        for field, texts in by_language.items()
        if any(texts.get(name) for name in names)
    }
    stated = {name for texts in by_language.values() for name, text in texts.items() if text}
    return fields, sorted(stated.difference(names))


def _names(language: str) -> tuple[str, ...]:
    """Possible names of a language in a file of topics, in lower case, its code first.

    >>> _names("ja")
    ('ja', 'japanese', 'jpn', 'jp')
    """
    names = [language.lower()]
    if entry := catalogue.entries(Language).get(language):
        names += [name.partition("_")[0].lower() for key in LANGUAGE_FACTS if (name := getattr(entry, key))]
    return tuple(dict.fromkeys([*names, *NTCIR.get(language, ())]))


def _code(stated: str) -> str:
    """Converts the stated name of a language to the form of `_names`."""
    return stated if stated == SIMPLIFIED else stated.lower()


@cache
def _all_names() -> frozenset[str]:
    return frozenset(name for language in catalogue.entries(Language) for name in _names(language))


def by_judgments(read: dict[str, dict[str, str]], judged: Iterable[str], where: Path) -> dict[str, dict[str, str]]:
    """Selects the judged topics, by their ids in the judgments. Raises SteleError if two have the same judgments.

    >>> by_judgments({"AR26": {"title": "one"}, "AR27": {"title": "two"}}, ["26"], Path("topics.txt"))
    {'26': {'title': 'one'}}
    """
    known = list(judged)
    numbers = {_number(number): number for number in known} | {number: number for number in known}
    names: dict[str, str] = {}
    for name in read:
        number = numbers.get(name, numbers.get(_number(name)))
        if number is not None and names.setdefault(number, name) != name:
            raise SteleError(f"{where}: topics {names[number]} and {name} are both {number} in the judgments; keep one")
    return {number: read[name] for number, name in names.items()}


def _number(name: str) -> str:
    """Removes the letters and zeros before the number in a topic's id.

    >>> _number("AR26"), _number("C041"), _number("301-AH"), _number("ACLIA2-CS-0002")
    ('26', '41', '301-AH', 'ACLIA2-CS-0002')
    """
    match = re.fullmatch(r"[A-Za-z]{0,2}0*([0-9]+)", name)
    return match[1] if match else name


def _of_marks(path: Path, text: str) -> Topics:
    tag = next(_TOPIC.finditer(text))[1]  # <topic> may hold a <query>, which is then a field
    starts = list(re.finditer(rf"<{tag}(\s[^<>]*)?>", text, re.IGNORECASE))
    stated = _stated_languages(text, tag.lower())
    for number, (start, following) in enumerate(pairwise([*starts, None]), start=1):
        body = text[start.end() : following.start() if following else len(text)]
        body = re.split(f"</{tag}>", body, maxsplit=1, flags=re.IGNORECASE)[0]
        fields = _fields(body, start.end(), stated)
        name, attribute = next(iter(fields.pop("id", {}).values()), ""), _ID.search(start[1] or "")
        yield f"{path}, topic {number}", name or (attribute[1] if attribute else ""), fields


def _stated_languages(text: str, topic: str) -> dict[int, str]:
    """Maps start tags (by position) to the language stated by the tag or the nearest enclosing element, or "".

    End tags may be missing: an element ends where the next one of its name begins, a field where the next field begins.
    """
    around: list[tuple[str, str]] = []  # (name, language) of the open elements, the innermost last
    stated: dict[int, str] = {}
    for match in _TAG.finditer(text):
        if match[2] is None:  # CDATA
            continue
        name = match[2].lower()
        ends = {name, *(FIELDS.keys() - {topic} if name in FIELDS and name != topic and not match[1] else ())}
        place = next((place for place, (open_name, _) in enumerate(around) if open_name in ends), len(around))
        del around[place:]
        if not match[1]:
            attribute = _LANGUAGE.search(match[3])
            language = _code(attribute[1]) if attribute else around[-1][1] if around else ""
            stated[match.start()] = language
            around = [*around[-DEEPEST:], (name, language)] if attribute or name in (*FIELDS, topic) else around
    return stated


def _fields(body: str, start: int, stated: Mapping[int, str]) -> ByLanguage:
    """Parses the fields of a topic whose content begins at `start`: the first text of each field and language."""
    fields: ByLanguage = {}
    for mark, following in pairwise([*_field_marks(body), None]):
        end = following.start() if following else len(body)
        label = _LABEL.match(body, mark.end(), end)
        raw = _until_closed(body[label.end() if label else mark.end() : end], mark)
        by_name = (mark[1] or mark[3] or "").lower()
        for language, value in _parts(raw, by_name or stated.get(start + mark.start(), "")):
            value = _TRANSLATION.sub("\n", value)
            value = " ".join(html.unescape(_MARK.sub(" ", value)).split())
            fields.setdefault(FIELDS[mark[2].lower()], {}).setdefault(language, value)
    return fields


def _until_closed(raw: str, mark: re.Match[str]) -> str:
    """Cuts a text at the end tag that belongs to a field's start tag; returns all of it if there is none."""
    name = re.split(r"[\s>]", mark[0][1:], maxsplit=1)[0].lower()
    ends = (tag.start() for tag in _TAG.finditer(raw) if tag[1] and tag[2].lower() == name)
    return raw[: next(ends, len(raw))]


def _field_marks(body: str) -> list[re.Match[str]]:
    """Start tags of fields; a prefix or suffix of the field's name must be a language (`<FR-title>`)."""
    names = _all_names()
    return [
        mark
        for mark in _FIELD.finditer(body)
        if (mark[1] or "en").lower() in names and (mark[3] or "en").lower() in names.difference(NUMBERS)
    ]


def _parts(raw: str, language: str) -> list[tuple[str, str]]:
    """Splits a field's content into (language, text): one for each element with a stated language, else one."""
    children = list(_CHILD.finditer(raw))
    attributes = [_LANGUAGE.search(child[2]) for child in children]
    if any(attributes):
        return [
            (_code(attribute[1]) if attribute else language, child[3])
            for child, attribute in zip(children, attributes, strict=True)
        ]
    named = {child[1].lower() for child in children}
    if len(named) > 1 and named <= _all_names() and not _MARK.sub("", _CHILD.sub("", raw)).strip():
        return [(child[1].lower(), child[3]) for child in children]
    return [(language, raw)]


def _of_lines(path: Path, text: str) -> Topics:
    if "\n" not in text.strip():
        refuse_old_line_ends(text.strip(), path)
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            name, tab, title = line.strip("\r").partition("\t")
            where = f"{path}, line {number}"
            if not tab:
                raise SteleError(f"{where}: want <top> ... </top>, or an id, a tab and a title; found {line[:60]!r}")
            yield where, name.strip(), {"title": {"": " ".join(title.split())}}


def _of_json(path: Path, text: str) -> Topics:
    for where, item in json_lines(path):
        name = next((item[key] for key in JSON_IDS if key in item), "")
        if isinstance(item.get("topics"), list):
            yield where, name, _translated(item["topics"], where)
            continue
        title = next((item[key] for key in JSON_TITLES if isinstance(item.get(key), str)), "")
        rest = {key: item[key] for key in ("description", "narrative") if isinstance(item.get(key), str)}
        language = next((str(item[key]) for key in JSON_LANGUAGES if item.get(key)), "")
        language = _code(re.split("[-_]", language)[0])
        yield where, name, {field: {language: value} for field, value in {"title": title, **rest}.items()}


def _translated(topics: list[Any], where: str) -> ByLanguage:
    """A topic's texts in HC4's and NeuCLIR's layout; a translator's have priority over a machine's."""
    if not all(isinstance(topic, dict) for topic in topics):
        raise SteleError(f"{where}: `topics` must be a list of objects; get the file again")
    fields: ByLanguage = {}
    for topic in sorted(topics, key=lambda topic: "human" not in str(topic.get("source"))):
        for key in ("title", "description"):
            if isinstance(value := topic.get(f"topic_{key}"), str):
                fields.setdefault(key, {}).setdefault(_code(str(topic.get("lang", ""))), value)
    return fields
