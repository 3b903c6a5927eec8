"""A scale that is like another: its own keys over those of the other one."""

from __future__ import annotations

from stele import catalogue
from stele.errors import unknown
from stele.files.strict import Values

LIKE = "like"


def whole_scale(values: Values, where: str) -> Values:
    """All keys of a scale: what its file says, and beneath it what the catalogue's scale that it is `like` says.

    Blocks are joined key by key, at any depth; anything else, a list too, takes the other's place. The values given are
    not changed.

    >>> whole_scale({"like": "miniature", "title": "Mine", "world": {"nouns": 9}}, "mine.yaml")["world"]["entities"]
    200
    """
    if LIKE not in values:
        return values
    own, base = {key: value for key, value in values.items() if key != LIKE}, values[LIKE]
    if base not in (names := catalogue.scale_names()):
        raise unknown("scale", str(base), names, f"{where}: {LIKE}")
    return _over(own, whole_scale(catalogue.load(f"scales/{base}"), f"scales/{base}.yaml"))


def _over(values: Values, base: Values) -> Values:
    joined = dict(base)
    for key, value in values.items():
        there = base.get(key)
        joined[key] = _over(value, there) if isinstance(value, dict) and isinstance(there, dict) else value
    return joined
