"""A tiny encoder with its record, the same for all tests of retrieval, and what it encodes."""

from pathlib import Path

import pytest
from recorded import record

from tests.encoders.tiny_models import make_folder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> Path:
    folder = make_folder(tmp_path_factory.mktemp("encoder"))
    return record(folder, content="tiny", labels=["stand-in checkpoint"])


@pytest.fixture
def kinds(monkeypatch) -> list[str]:
    """The kinds of the texts that are encoded, as they come."""
    from stele.encoders.encode import Encoder

    seen, original = [], Encoder._encode

    def spy(self, tokens, kind, *options, **more):
        seen.extend([kind] * len(tokens.lengths))
        return original(self, tokens, kind, *options, **more)

    monkeypatch.setattr(Encoder, "_encode", spy)
    return seen
