"""Which field of a topic is the query, of collections whose topics have several (TREC, CLEF, FIRE)."""

from __future__ import annotations

from typing import Literal

TopicField = Literal["title", "description", "narrative"]
