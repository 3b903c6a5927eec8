"""Language variants: which text `-{zh-hans:A;zh-hant:B}-` shows, as MediaWiki's ConverterRule reads it.

Flags, parted by semicolons, stand before the first bar; links in the text may have bars of their own, and entities
semicolons, so that no bracket stands before flags' bar and a rule begins only with the code of a variant.
"""

from __future__ import annotations

import re
from functools import cache

# what a site in its main variant shows: the first of these that a rule has (MediaWiki's fallbacks), else the first rule
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
_CODE = r"[a-z]{2,3}(?:-[a-z]{2,8})*+"  # of a site in a language without variants, any
_FLAGS = re.compile(r"([^\[\]{}|:]*+)\|")
_ENTITY = re.compile("(&[#a-zA-Z0-9]++);")
_KEPT = "\1"  # for the semicolon of an entity, which parts no rules


def shown(content: str, language: str) -> str:
    """What the content of a block of variants shows on a site.

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
        return ""  # of N and D a name of a variant, which is not known here
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
    """A variant's code, and what parts the rules of a block."""
    code = "|".join(_ORDER.get(language, _CODE).split())
    rules = rf";\s*+(?=(?:[^;\[\]]*?=>\s*+)?(?:{code})\s*+:|\Z)"
    return re.compile(code, re.I), re.compile(rules, re.I)
