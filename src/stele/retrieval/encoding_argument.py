"""The argument that completes what an encoder's folder does not state of its encoding."""

from __future__ import annotations

import argparse
import json
from typing import Any

from stele.errors import SteleError


def add_encoding_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--encoding", default="{}", help="EncodingSpec as JSON, for folders that do not state one")


def parse_encoding(text: str) -> dict[str, Any] | None:
    """The values given, None for none."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise SteleError(f'--encoding: not JSON ({error}); want for example \'{{"pooling": "mean"}}\'') from None
    if not isinstance(value, dict):
        raise SteleError(f"--encoding: want a JSON object, found {text!r}")
    return value or None
