"""Language variants: which text `-{zh-hans:A;zh-hant:B}-` shows, as MediaWiki's ConverterRule reads it.

Flags, parted by semicolons, stand before the first bar; links in the text may have bars of their own, and references
semicolons, so that no bracket stands before flags' bar and a rule begins only with the code of a variant.
"""

from __future__ import annotations

import re

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
_CODE = r"[a-z]{2,3}(?:-[a-z]{2,8})*"
_FLAGS = re.compile(r"([^\[\]{}|:]*+)\|")
_RULES = re.compile(rf";\s*(?=(?:[^;:\[\]]{{0,200}}=>\s*)?{_CODE}\s*:|$)", re.I)
_RULE = re.compile(rf"\s*(?:(.*?)=>\s*)?({_CODE})\s*:(.*)", re.I | re.S)
_HIDDEN = frozenset("THD-+")  # flags of rules that show nothing


def shown(content: str, language: str) -> str:
    """What the content of a block of variants shows on a site.

    >>> shown("zh-hant:[[計算機|電腦]];zh-hans:[[计算机|电脑]]", "zh"), shown("H|zh-cn:A;zh-tw:B", "zh")
    ('[[计算机|电脑]]', '')
    >>> shown("R|A&amp;B", "zh"), shown("[[計算機|電腦]]", "zh")
    ('A&amp;B', '[[計算機|電腦]]')
    """
    flags: set[str] = set()
    if match := _FLAGS.match(content):
        flags = {flag.strip().upper() for flag in match.group(1).split(";")}
        content = content[match.end() :]
    if flags & _HIDDEN:
        return ""
    if "R" in flags:
        return content
    rules = [rule for rule in map(_RULE.fullmatch, _RULES.split(content)) if rule]
    if not rules or len(rules) < len([rule for rule in _RULES.split(content) if rule.strip()]):
        return content
    texts = {rule.group(2).lower(): rule.group(3).strip() for rule in reversed(rules)}
    order = _ORDER.get(language, language).split()
    return next((texts[code] for code in order if code in texts), rules[0].group(3).strip())
