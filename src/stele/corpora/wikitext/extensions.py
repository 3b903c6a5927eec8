"""Comments, extension tags such as <ref> and <math>, language variants, and character references; patterns for long
texts.

Nothing inside comments and extension tags is markup, and hardly any of them shows text. Of a block of variants,
`-{zh-hans:A;zh-hant:B}-`, a site shows one. The block is parsed as by MediaWiki's ConverterRule: flags, separated by
semicolons, precede the first bar. Links in the text may have bars and entities may have semicolons, so no bracket may
precede the bar of the flags, and a rule begins only with the code of a variant. A character reference is decoded only
if a semicolon closes it, as in MediaWiki.
"""

import html
import re
from collections.abc import Callable
from functools import cache, lru_cache

# a tag's content before its ">", which ends the tag even in quotation marks (MediaWiki's preprocessor); a "<" is in
# an attribute in quotation marks, where it begins no tag, or after a letter of an unquoted value (name=p<a>); without
# a ">" near, it is not parsed, so that a page of unclosed tags takes linear time
ATTRIBUTES = (
    "(?=[^>]{0,2999}+>)"
    r"""(?:[^<>"']++|"[^">]*+(?:"|(?=>))|'[^'>]*+(?:'|(?=>))|["']|(?<=[^\s<>"'])<(?![/!])|<(?![a-zA-Z/!]))*+"""
)


def one_of(names: str) -> str:
    """Makes a pattern for any of the names `a|b|...` that rejects other first letters at once, for speed.

    >>> one_of("ref|math|references")
    '(?=[rm])(?:r(?:ef|eferences)|m(?:ath))'
    """
    rests: dict[str, list[str]] = {}
    for name in names.split("|"):
        rests.setdefault(name[0], []).append(name[1:])
    groups = "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in rests.items())
    return f"(?=[{''.join(rests)}])(?:{groups})"


def replaced(pattern: re.Pattern[str], replacement: Callable[[str], str], text: str) -> str:
    """Replaces all matches, like `pattern.sub`, for a pattern in one group; `replacement` gets the matched text.

    With a lookup or a cached function it is nearly twice as fast, because it makes no match objects.

    >>> replaced(re.compile("([ab])"), {"a": "1", "b": "2"}.__getitem__, "abc")
    '12c'
    """
    parts = pattern.split(text)  # text between matches and matches, alternating
    parts[1::2] = map(replacement, parts[1::2])
    return "".join(parts)


_REFERENCE = re.compile(r"(&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)")
_MARK = re.compile(r"([\[\]{}|'=<>*#:;_~\-&!])")
_reference = {mark: f"&#{ord(mark)};" for mark in "[]{}|'=<>*#:;_~-&!"}.__getitem__
_character = lru_cache(maxsize=1 << 10)(html.unescape)  # few distinct ones


def decode(text: str) -> str:
    """Decodes character references: `&eacute;`, `&#233;` and `&#xE9;` become é; all other text stays.

    >>> decode("Caf&eacute; &sect; ?a&section=1")
    'Café § ?a&section=1'
    """
    return replaced(_REFERENCE, _character, text) if "&" in text else text


def escape(text: str) -> str:
    """Replaces all characters that could be markup by character references; existing references do not change."""
    parts = _REFERENCE.split(text)
    parts[0::2] = [replaced(_MARK, _reference, part) for part in parts[0::2]]
    return "".join(parts)


# extension tags whose content is not running text; an unclosed one removes the rest of its line, the rest of its
# paragraph, or nothing
_FORMULAS = "math|chem|ce"
_BLOCKS = (
    "gallery|timeline|score|hiero|source|syntaxhighlight|pre|imagemap|inputbox|graph|mapframe|maplink|templatedata"
)
DROPPED = (
    f"ref|references|{_FORMULAS}|{_BLOCKS}|templatestyles|indicator|includeonly|categorytree|dynamicpagelist|charinsert|quiz"
    "|rss|mapsources|section"
)
_UNCLOSED_END = dict.fromkeys(_FORMULAS.split("|"), re.compile(r"\n|\Z")) | dict.fromkeys(
    _BLOCKS.split("|"), re.compile(r"\n(?=[ \t]*\n|=)|\Z")
)
_OPENING = re.compile(rf"<!--|<({one_of(f'{DROPPED}|nowiki')})(?=[\s/>])({ATTRIBUTES})>", re.I)
# a tag without content; one that ends before another of its name; a comment, with its line if nothing else is on it
_COMMENT = r"--(?:[^-<]++|-(?!->)|<(?!!--))*+-->"
_DROPPED = (
    rf"({one_of(DROPPED)})(?=[\s/>]){ATTRIBUTES}>(?:(?<=/>)|[^<]*+(?:<(?!/?\1[\s/>])[^<]*+)*+</\1\s*>)"
    rf"|!(?:(?<![^\n]<!){_COMMENT}\n|{_COMMENT})"
)
_NOWIKI = rf"nowiki(?=[\s/>]){ATTRIBUTES}>(?:(?<=/>)|([^<]*+(?:<(?!/?nowiki[\s/>])[^<]*+)*+)</nowiki\s*>)"
_WHOLE, _WHOLE_OR_NOWIKI = re.compile(f"<(?:{_DROPPED})", re.I), re.compile(f"<(?:{_DROPPED}|{_NOWIKI})", re.I)
_EXAMPLE = re.compile(r"\[\[|\]\]|\{\{|\}\}|\{\||\|\}|<[/!]?[a-z-]|&lt;[/!]?[a-z-]", re.I)


def drop_extensions(text: str) -> str:
    """Removes comments and extension tags. The content of `nowiki` stays, escaped so that no later layer takes it for
    markup, unless it is an example of markup, which is removed as in `pre` and `source`.
    """
    for whole, replacement in ((_WHOLE, ""), (_WHOLE_OR_NOWIKI, lambda match: _shown(match.group(2) or ""))):
        short = whole.sub(replacement, text)
        if "<" not in short or not _OPENING.search(short):  # most pages; others are read piece by piece
            return short
    pieces: list[str] = []
    done = position = 0
    absent: set[str] = set()  # tags that are not closed later
    while match := _OPENING.search(text, position):
        start, position = match.span()
        name = (match.group(1) or "").lower()
        replacement = ""
        if not name:
            position = text.find("-->", position)
            position = len(text) if position < 0 else position + 3
            if text[start - 1 : start] in ("", "\n") and text[position : position + 1] == "\n":
                position += 1  # a line with only a comment is dropped
        elif not match.group(2).endswith("/"):
            closing = None if name in absent else _closing(name).search(text, position)
            if closing is None:
                absent.add(name)
                if name in _UNCLOSED_END:
                    position = _UNCLOSED_END[name].search(text, position).start()
            else:
                if name == "nowiki":
                    replacement = _shown(text[position : closing.start()])
                position = closing.end()
        pieces += (text[done:start], replacement)
        done = position
    return "".join([*pieces, text[done:]]) if pieces else text


def _shown(content: str) -> str:
    """Text to show for the content of `nowiki`: escaped, or "" for an example of markup."""
    return "" if _EXAMPLE.search(content) else escape(content)


@cache
def _closing(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{name}\s*>", re.I)


# a site's main variant shows the first of these that has a rule (MediaWiki's fallbacks), else the first rule
_ORDER = {
    "zh": "zh zh-hans zh-hant zh-cn zh-tw zh-hk zh-sg zh-mo zh-my",
    "gan": "gan gan-hans gan-hant",
    "kk": "kk kk-cyrl kk-latn kk-arab kk-kz kk-tr kk-cn",
    "ku": "ku ku-latn ku-arab",
    "sr": "sr sr-ec sr-cyrl sr-el sr-latn",
    "sh": "sh sh-latn sh-cyrl",
    "shi": "shi shi-tfng shi-latn",
    "tg": "tg tg-latn",
    "uz": "uz uz-latn uz-cyrl",
    "iu": "iu ike-cans ike-latn",
    "crh": "crh crh-latn crh-cyrl",
}
_CODE = r"[a-z]{2,3}(?:-[a-z]{2,8})*+"  # any code, for a language without variants
_FLAGS = re.compile(r"([^\[\]{}|:]*+)\|")
_ENTITY = re.compile("(&[#a-zA-Z0-9]++);")
_KEPT = "\1"  # replaces an entity's semicolon, which does not separate rules


def shown(content: str, language: str) -> str:
    """Text that a site in this language shows for the content of a block of variants.

    >>> shown("zh-hant:[[計算機|電腦]];zh-hans:[[计算机|电脑]]", "zh"), shown("H|zh-cn:A;zh-tw:B", "zh")
    ('[[计算机|电脑]]', '')
    >>> shown("R|A&amp;B", "zh"), shown("[[計算機|電腦]]", "zh")
    ('A&amp;B', '[[計算機|電腦]]')
    """
    flags: set[str] = set()
    if match := _FLAGS.match(content):
        flags = {flag.strip() for flag in match.group(1).split(";")}
        content = content[match.end() :]
    if "R" in flags:
        return content
    if flags & {"N", "-", "H", "D"} or ("T" in flags and "A" not in flags):
        return ""  # N and D show the name of a variant, which is not known here
    code, rules = _patterns(language)
    if any(map(code.fullmatch, flags)):
        return content
    both_ways: dict[str, str] = {}
    one_way: list[str] = []
    for rule in rules.split(_ENTITY.sub(rf"\1{_KEPT}", content) if "&" in content else content):
        variant, colon, text = rule.partition(":")
        replaced, arrow, variant = variant.rpartition("=>")
        variant, text = variant.strip().lower(), text.strip().replace(_KEPT, ";")
        if colon and not code.fullmatch(variant):
            return content
        if arrow and replaced.strip():
            one_way.append(text)
        elif text and not arrow:
            both_ways[variant] = text
    order = _ORDER.get(language, language).split()
    texts = [both_ways[variant] for variant in order if variant in both_ways]
    return next(iter([*texts, *both_ways.values(), *one_way]), content)


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Compiles two patterns: for a variant's code, and for the semicolon between the rules of a block."""
    code = "|".join(_ORDER.get(language, _CODE).split())
    rules = rf";\s*+(?=(?:[^;\[\]]*?=>\s*+)?(?:{code})\s*+:|\Z)"
    return re.compile(code, re.I), re.compile(rules, re.I)
