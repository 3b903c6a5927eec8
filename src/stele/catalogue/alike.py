"""A scale that is like another: its own keys over those of the other one."""

from __future__ import annotations

from stele import catalogue
from stele.errors import unknown
from stele.files.strict import Values

OWN = ("title", "generated")  # each scale says these itself


def whole_scale(values: Values, where: str) -> Values:
    """All keys of a scale: what its file says, and beneath it what the catalogue's scale that it is `like` says.

    Blocks are joined key by key, at any depth; anything else, a list too, takes the other's place. The values given are
    not changed. Its title, and whether its data are generated, a scale says itself.

    >>> whole_scale({"like": "miniature", "title": "Mine", "world": {"nouns": 9}}, "mine.yaml")["world"]["entities"]
    200
    """
    if not isinstance(base := values.get("like"), str):
        return values
    if base not in (names := catalogue.scale_names()):
        raise unknown("scale", base, names, f"{where}: like")
    beneath = whole_scale(catalogue.load(f"scales/{base}"), f"scales/{base}.yaml")
    return _over(values, {key: value for key, value in beneath.items() if key not in OWN})


def _over(values: Values, base: Values) -> Values:
    joined = dict(base)
    for key, value in values.items():
        there = base.get(key)
        joined[key] = _over(value, there) if isinstance(value, dict) and isinstance(there, dict) else value
    return joined
