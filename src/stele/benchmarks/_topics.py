"""Topics of test collections, in the layouts of TREC, FIRE, CLEF and NTCIR, in XML of their like, JSON or TSV.

TREC leaves its tags open (`<num> Number: AR26`, `<title> Topic: ...`), FIRE and CLEF close them, CLEF puts the language
before the name (`<FR-title>`). ACLIA of NTCIR has `<TOPIC ID="...">` with a `<QUESTION>`, WWW of NTCIR `<query>` with
`<qid>` and `<content>`, TREC's web track `<topic number="...">` with a `<query>`; Anserini has many as `id<TAB>title`.
Lines from one that begins with `**` to the next blank one are translations (TREC-3 in Spanish) and left out.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from stele.benchmarks._files import identifier, json_lines, open_bytes, refuse_again
from stele.benchmarks._trec import BOM, decoded
from stele.errors import SteleError
from stele.files.reading import reading

LARGEST = 1 << 26  # bytes of a file of topics
FIELDS = {
    **dict.fromkeys(("num", "number", "identifier", "qid"), "id"),
    **dict.fromkeys(("title", "question", "content", "query"), "title"),
    **dict.fromkeys(("desc", "description"), "description"),
    **dict.fromkeys(("narr", "narrative"), "narrative"),
}
JSON_IDS, JSON_TITLES = ("id", "topic_id", "query_id", "qid", "_id"), ("title", "query", "text")

_TOPIC = re.compile(r"<(top|topic|query)(?:\s[^<>]*)?>", re.IGNORECASE)
_FIELD = re.compile(rf"<(?:([a-z]{{2}})-)?({'|'.join(FIELDS)})(?:\s[^<>]*)?>", re.IGNORECASE)
_ID = re.compile(r"""\s(?:id|number)\s*=\s*["']?([^"'\s<>]+)""", re.IGNORECASE)
_LABEL = re.compile(r"\s*(?:Number|Topic|Title|Description|Narrative)\s*:", re.IGNORECASE)
_TRANSLATION = re.compile(r"^[ \t]*\*\*.*?(?:\n[ \t\r]*\n|\Z)", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"<!\[CDATA\[|\]\]>|</?[A-Za-z!?][^<>]*>")


def topics(path: Path, language: str, encoding: str | None = None) -> dict[str, dict[str, str]]:
    """Topic id -> field (title, description, narrative) -> text, in the file's order.

    `language` chooses among fields that the file has in several; `encoding` is that of a file that is not UTF-8.
    """
    with reading(path), open_bytes(path) as handle:
        content = handle.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise SteleError(f"{path}: more than {LARGEST >> 20} MB; this is no file of topics")
    text = decoded(content.removeprefix(BOM), encoding, str(path))
    kind = _of_json if text.lstrip()[:1] == "{" else _of_marks if _TOPIC.search(text) else _of_lines
    read: dict[str, dict[str, str]] = {}
    for where, name, fields in kind(path, text, language):
        read[refuse_again(identifier(name, where, "topic"), read, where, "topic")] = fields
    if not read:
        raise SteleError(f"{path}: no topics")
    return read


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


Topics = Iterator[tuple[str, str, dict[str, str]]]


def _of_marks(path: Path, text: str, language: str) -> Topics:
    tag = next(_TOPIC.finditer(text))[1]  # <topic> may hold a <query>, which is then a field
    starts = list(re.finditer(rf"<{tag}(\s[^<>]*)?>", text))
    for number, (start, following) in enumerate(pairwise([*starts, None]), start=1):
        body = text[start.end() : following.start() if following else len(text)]
        body = body.partition(f"</{tag}>")[0]
        fields = _fields(body, language)
        name, attribute = fields.pop("id", ""), _ID.search(start[1] or "")
        yield f"{path}, topic {number}", name or (attribute[1] if attribute else ""), fields


def _fields(body: str, language: str) -> dict[str, str]:
    """The fields of one topic; of one in several languages the first of the one that is wanted, else the first."""
    marks = list(_FIELD.finditer(body))
    fields: dict[str, tuple[bool, str]] = {}
    for mark, following in pairwise([*marks, None]):
        end = following.start() if following else len(body)
        name, own = FIELDS[mark[2].lower()], (mark[1] or "").lower() == language
        label = _LABEL.match(body, mark.end(), end)
        value = _TRANSLATION.sub("\n", body[label.end() if label else mark.end() : end])
        value = " ".join(html.unescape(_MARK.sub(" ", value)).split())
        if name not in fields or (own and not fields[name][0]):
            fields[name] = own, value
    return {name: value for name, (_, value) in fields.items()}


def _of_lines(path: Path, text: str, language: str) -> Topics:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            name, tab, title = line.strip("\r").partition("\t")
            where = f"{path}, line {number}"
            if not tab:
                raise SteleError(f"{where}: want <top> ... </top>, or an id, a tab and a title; found {line[:60]!r}")
            yield where, name.strip(), {"title": " ".join(title.split())}


def _of_json(path: Path, text: str, language: str) -> Topics:
    for where, item in json_lines(path):
        name = next((item[key] for key in JSON_IDS if key in item), "")
        title = next((item[key] for key in JSON_TITLES if isinstance(item.get(key), str)), "")
        rest = {key: item[key] for key in ("description", "narrative") if isinstance(item.get(key), str)}
        yield where, name, {"title": title, **rest}
