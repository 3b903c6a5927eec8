"""Topics of test collections, in the layouts of TREC, FIRE, CLEF and NTCIR, in XML of their like, JSON or TSV.

TREC leaves its tags open (`<num> Number: AR26`, `<title> Topic: ...`), FIRE and CLEF close them. ACLIA of NTCIR has
`<TOPIC ID="...">` with a `<QUESTION>`, WWW of NTCIR `<query>` with `<qid>` and `<content>`, TREC's web track
`<topic number="...">` with a `<query>`; Anserini has many as `id<TAB>title`.
Lines from one that begins with `**` to the next blank one are translations (TREC-3 in Spanish) and left out.

A language is stated by an attribute (`lang`, `xml:lang`, `language`) of a field, of what is in it or of what is around
it, or by a field's name (CLEF's `<FR-title>`): as Stele's code, ISO 639-3's, a name, or a code of NTCIR's. What states
none is taken for the one that is wanted.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path

from stele import catalogue
from stele.benchmarks._files import identifier, json_lines, refuse_again
from stele.benchmarks._trec import BOM, decoded
from stele.catalogue.schema.languages import Language
from stele.errors import SteleError
from stele.files.reading import open_bytes, reading

LARGEST = 1 << 26  # bytes of a file of topics
DEEPEST = 20  # elements around another that are looked at
FIELDS = {
    **dict.fromkeys(("num", "number", "identifier", "qid"), "id"),
    **dict.fromkeys(("title", "question", "content", "query"), "title"),
    **dict.fromkeys(("desc", "description"), "description"),
    **dict.fromkeys(("narr", "narrative"), "narrative"),
}
JSON_IDS, JSON_TITLES = ("id", "topic_id", "query_id", "qid", "_id"), ("title", "query", "text")
JSON_LANGUAGES = ("lang", "language")
LANGUAGE_FACTS = ("name", "tatoeba", "neuclir", "belebele")  # its names; Belebele's is a code and a script
SIMPLIFIED = "CS"  # Chinese of NTCIR, LANG="CS"; in small letters, or as a field's name, it is Czech
NTCIR = {"zh": (SIMPLIFIED, "ct", "cn"), "ja": ("jp",), "ko": ("kr",), "cs": (SIMPLIFIED,)}  # the preferred first
NUMBERS = ("id", "no")  # at the end of a name (`query_id`): no language

_TOPIC = re.compile(r"<(top|topic|query)(?:\s[^<>]*)?>", re.IGNORECASE)
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
    """Topic id -> field (title, description, narrative) -> text in `language`, in the file's order.

    Raises SteleError for a topic that is in other languages alone. `encoding` is that of a file that is not UTF-8.
    """
    with reading(path), open_bytes(path) as handle:
        content = handle.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise SteleError(f"{path}: more than {LARGEST >> 20} MB; this is no file of topics")
    text = decoded(content.removeprefix(BOM), encoding, str(path))
    kind = _of_json if text.lstrip()[:1] == "{" else _of_marks if _TOPIC.search(text) else _of_lines
    read: dict[str, dict[str, str]] = {}
    foreign: dict[str, tuple[str, list[str]]] = {}  # topic in other languages -> its place, they
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
        raise SteleError(f"{path}: no topics")
    return read


def _in_language(by_language: ByLanguage, language: str) -> tuple[dict[str, str], list[str]]:
    """The fields of a topic in a language, or that state none; the other languages that it has texts in."""
    names = (*_names(language), "")
    fields = {
        field: next(texts[name] for name in names if texts.get(name))
        for field, texts in by_language.items()
        if any(texts.get(name) for name in names)
    }
    stated = {name for texts in by_language.values() for name, text in texts.items() if text}
    return fields, sorted(stated.difference(names))


def _names(language: str) -> tuple[str, ...]:
    """What a language may be called in a file of topics, lower-case, its code first.

    >>> _names("ja")
    ('ja', 'japanese', 'jpn', 'jp')
    """
    names = [language.lower()]
    if entry := catalogue.entries(Language).get(language):
        names += [name.partition("_")[0].lower() for key in LANGUAGE_FACTS if (name := getattr(entry, key))]
    return tuple(dict.fromkeys([*names, *NTCIR.get(language, ())]))


def _code(stated: str) -> str:
    """A stated language as `_names` has it."""
    return stated if stated == SIMPLIFIED else stated.lower()


@cache
def _all_names() -> frozenset[str]:
    return frozenset(name for language in catalogue.entries(Language) for name in _names(language))


def by_judgments(read: dict[str, dict[str, str]], judged: Iterable[str]) -> dict[str, dict[str, str]]:
    """The topics that are judged, by the ids that they have in the judgments.

    >>> by_judgments({"AR26": {"title": "one"}, "AR27": {"title": "two"}}, ["26"])
    {'26': {'title': 'one'}}
    """
    known = list(judged)
    numbers = {_number(number): number for number in known} | {number: number for number in known}
    names = {name: numbers.get(name, numbers.get(_number(name))) for name in read}
    return {number: read[name] for name, number in names.items() if number is not None}


def _number(name: str) -> str:
    """A topic's id without the letters and zeros before its number.

    >>> _number("AR26"), _number("C041"), _number("301-AH"), _number("ACLIA2-CS-0002")
    ('26', '41', '301-AH', 'ACLIA2-CS-0002')
    """
    match = re.fullmatch(r"[A-Za-z]{0,2}0*([0-9]+)", name)
    return match[1] if match else name


ByLanguage = dict[str, dict[str, str]]  # field -> stated language, "" where none is -> text
Topics = Iterator[tuple[str, str, ByLanguage]]  # where, id, texts


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
    """Place of a start tag -> the language that it, or the nearest element around it, states; "" where none does.

    End tags may be left out: an element ends where the next of its name begins, a field where the next field does.
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
    """The fields of one topic, whose content starts at a place of the file: the first text of each language."""
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
    """The beginning of a text up to the end tag of a field's start tag, all of it where none comes."""
    name = re.split(r"[\s>]", mark[0][1:], maxsplit=1)[0].lower()
    ends = (tag.start() for tag in _TAG.finditer(raw) if tag[1] and tag[2].lower() == name)
    return raw[: next(ends, len(raw))]


def _field_marks(body: str) -> list[re.Match[str]]:
    """The start tags of fields; what stands before or after a field's name is a language, or it is another name."""
    names = _all_names()
    return [
        mark
        for mark in _FIELD.finditer(body)
        if (mark[1] or "en").lower() in names and (mark[3] or "en").lower() in names.difference(NUMBERS)
    ]


def _parts(raw: str, language: str) -> list[tuple[str, str]]:
    """(language, text) of a field's content: its own, or those of the elements in it that state theirs."""
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
        title = next((item[key] for key in JSON_TITLES if isinstance(item.get(key), str)), "")
        rest = {key: item[key] for key in ("description", "narrative") if isinstance(item.get(key), str)}
        language = next((str(item[key]) for key in JSON_LANGUAGES if item.get(key)), "")
        language = _code(re.split("[-_]", language)[0])
        yield where, name, {field: {language: value} for field, value in {"title": title, **rest}.items()}
